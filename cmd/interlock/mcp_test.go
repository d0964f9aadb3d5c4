package main

import (
	"context"
	"encoding/json"
	"net/http"
	"os"
	"os/exec"
	"slices"
	"strings"
	"testing"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"interlock/internal/llm/aimock"
)

// mcpClient connects the SDK's client.
func mcpClient(t *testing.T, transport mcp.Transport) *mcp.ClientSession {
	t.Helper()
	cs, err := mcp.NewClient(&mcp.Implementation{Name: "test", Version: "1"}, nil).Connect(t.Context(), transport, nil)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = cs.Close() }) // the program may have ended
	return cs
}

// callMCP calls a tool and returns its text and whether it is an error.
func callMCP(t *testing.T, cs *mcp.ClientSession, name string, args map[string]any, into any) (string, bool) {
	t.Helper()
	res, err := cs.CallTool(t.Context(), &mcp.CallToolParams{Name: name, Arguments: args})
	if err != nil {
		t.Fatalf("%s: %v", name, err)
	}
	text := ""
	if c, ok := res.Content[0].(*mcp.TextContent); ok {
		text = c.Text
	}
	if !res.IsError && into != nil {
		raw, err := json.Marshal(res.StructuredContent)
		if err != nil {
			t.Fatal(err)
		}
		if err := json.Unmarshal(raw, into); err != nil {
			t.Fatalf("%s: %v in %s", name, err, raw)
		}
	}
	return text, res.IsError
}

// TestMCPServer drives the program's MCP server with the SDK's client, over standard
// input and output and over HTTP.
func TestMCPServer(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	p := w.serve()
	defer p.kill()
	over := map[string]mcp.Transport{
		"stdio": &mcp.CommandTransport{Command: w.command("mcp", "--state", w.path("other"))},
		"http":  &mcp.StreamableClientTransport{Endpoint: p.url + "/mcp", DisableStandaloneSSE: true},
	}
	for name, transport := range over {
		t.Run(name, func(t *testing.T) {
			cs := mcpClient(t, transport)
			tools, err := cs.ListTools(t.Context(), nil)
			if err != nil {
				t.Fatal(err)
			}
			for _, want := range []string{"list_datasets", "get_dataset_schema", "execute_sql", "execute_query_plan", "search_documents", "search_tables", "ask", "reconcile"} {
				i := slices.IndexFunc(tools.Tools, func(x *mcp.Tool) bool { return x.Name == want })
				if i < 0 || tools.Tools[i].OutputSchema == nil {
					t.Errorf("%s is not offered with a schema of its output", want)
					continue
				}
				raw, err := json.Marshal(tools.Tools[i].InputSchema)
				var in struct{ Properties map[string]any }
				if err != nil || json.Unmarshal(raw, &in) != nil || strings.HasPrefix(want, "search_") && len(in.Properties) != 1 {
					t.Errorf("%s takes %s, want the query alone", want, raw)
				}
			}
			var rows struct {
				Rows [][]any `json:"rows"`
			}
			if text, bad := callMCP(t, cs, "execute_sql", map[string]any{"dataset_id": "shop", "sql": "SELECT count(*) FROM customers"}, &rows); bad || len(rows.Rows) != 1 || rows.Rows[0][0] != 3.0 {
				t.Errorf("a statement: %s", text)
			}
			for says, args := range map[string]map[string]any{
				"SELECT":     {"dataset_id": "shop", "sql": "DROP TABLE customers"},
				"read_text":  {"dataset_id": "shop", "sql": "SELECT * FROM read_text('/etc/passwd')"},
				"nosuch":     {"dataset_id": "shop", "sql": "SELECT nosuch FROM customers"},
				`"none"`:     {"dataset_id": "none", "sql": "SELECT 1"},
				"got number": {"dataset_id": 3},
			} {
				if text, bad := callMCP(t, cs, "execute_sql", args, nil); !bad || strings.Contains(text, "root:") || !strings.Contains(text, says) {
					t.Errorf("%v: %s does not name %s", args, text, says)
				}
			}
			list, err := cs.ListResources(t.Context(), nil)
			if err != nil || len(list.Resources) != 1 {
				t.Fatalf("resources: %v %v", list, err)
			}
			read, err := cs.ReadResource(t.Context(), &mcp.ReadResourceParams{URI: list.Resources[0].URI})
			if err != nil || !strings.Contains(read.Contents[0].Text, `"customers"`) {
				t.Errorf("the schema as a resource: %v", err)
			}
			var got struct{ Outcome, Answer string }
			if text, bad := callMCP(t, cs, "ask", map[string]any{"message": "How many customers are there?", "dataset_id": "shop"}, &got); bad || got.Outcome != "answered" || !strings.Contains(got.Answer, "3") {
				t.Errorf("a question: %s", text)
			}
		})
	}
}

// TestMCPAsksThePerson asks a question that needs another one back, over standard input
// and output and over HTTP, in the present revision of the protocol and in an older one:
// the person behind the client is asked and the answer leads on.
func TestMCPAsksThePerson(t *testing.T) {
	t.Parallel()
	w := newWorld(t, map[string]string{"data/lab/samples.csv": "id,weight\n1,2.5\n"})
	p := w.serve()
	defer p.kill()
	for _, c := range []struct {
		name, revision string
		transport      mcp.Transport
	}{
		{"stdio", "", &mcp.CommandTransport{Command: w.command("mcp", "--state", w.path("other"))}},
		{"stdio, older", "2025-06-18", &mcp.CommandTransport{Command: w.command("mcp", "--state", w.path("third"))}},
		{"http", "", &mcp.StreamableClientTransport{Endpoint: p.url + "/mcp"}},
		{"http, older", "2025-06-18", &mcp.StreamableClientTransport{Endpoint: p.url + "/mcp"}},
	} {
		var asked []string
		opts := &mcp.ClientOptions{ElicitationHandler: func(_ context.Context, req *mcp.ElicitRequest) (*mcp.ElicitResult, error) {
			asked = append(asked, req.Params.Message)
			return &mcp.ElicitResult{Action: "accept", Content: map[string]any{"answer": "answer", "dataset": "shop"}}, nil
		}}
		cs, err := mcp.NewClient(&mcp.Implementation{Name: "test", Version: "1"}, opts).Connect(t.Context(), c.transport, &mcp.ClientSessionOptions{ProtocolVersion: c.revision})
		if err != nil {
			t.Fatalf("%s: %v", c.name, err)
		}
		var got struct{ Outcome, Answer string }
		text, bad := callMCP(t, cs, "ask", map[string]any{"message": "How many customers are there?"}, &got)
		if bad || got.Outcome != "answered" || !strings.Contains(got.Answer, "3") || len(asked) != 1 || !strings.Contains(asked[0], "Which dataset") {
			t.Errorf("%s: asked %q, then %s", c.name, asked, text)
		}
		if err := cs.Close(); err != nil {
			t.Errorf("%s: %v", c.name, err)
		}
	}
}

// withToken sends a token with every request.
type withToken string

func (w withToken) RoundTrip(r *http.Request) (*http.Response, error) {
	r = r.Clone(r.Context())
	r.Header.Set("Authorization", string(w))
	return http.DefaultTransport.RoundTrip(r)
}

// TestMCPKeepsOwners: over /mcp, too, people find their own documents alone, do not go on in
// another's thread, and without a token find nothing at all.
func TestMCPKeepsOwners(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.write("people", "ann analyst ann-token-0123456789\nbob analyst bob-token-0123456789\n")
	if err := os.Chmod(w.path("people"), 0o600); err != nil {
		t.Fatal(err)
	}
	w.flags = append(w.flags, "--provider", "offline", "--tokens", w.path("people"))
	p := w.serve()
	defer p.kill()
	const ann, bob = "Bearer ann-token-0123456789", "Bearer bob-token-0123456789"
	if status, text := p.uploadAs(ann, "/api/documents?collection=own", "vault.md", "# Vault\n\nThe vault opens at noon."); status != http.StatusOK {
		t.Fatalf("%d %s", status, text)
	}
	at := p.url + "/mcp"
	sessions := map[string]*mcp.ClientSession{}
	for name, token := range map[string]string{"ann": ann, "bob": bob} {
		sessions[name] = mcpClient(t, &mcp.StreamableClientTransport{Endpoint: at, DisableStandaloneSSE: true, HTTPClient: &http.Client{Transport: withToken(token)}})
	}
	thread := ""
	for _, name := range []string{"ann", "bob"} {
		text, bad := callMCP(t, sessions[name], "search_documents", map[string]any{"query": "When does the vault open?"}, nil)
		if bad || strings.Contains(text, "at noon") != (name == "ann") {
			t.Errorf("%s finds %s", name, text)
		}
		args := map[string]any{"message": "How many customers are there?", "dataset_id": "shop"}
		if thread != "" {
			args["thread_id"] = thread
		}
		var got struct {
			Thread string `json:"thread_id"`
		}
		text, bad = callMCP(t, sessions[name], "ask", args, &got)
		if bad != (name == "bob") || bad && !strings.Contains(text, "thread_not_found") {
			t.Errorf("%s asks in %q: %s", name, thread, text)
		}
		thread = got.Thread
	}
	if _, err := mcp.NewClient(&mcp.Implementation{Name: "test", Version: "1"}, nil).Connect(t.Context(), &mcp.StreamableClientTransport{Endpoint: at}, nil); err == nil {
		t.Error("a client without a token was let in")
	}
}

// TestMCPInspector drives the server with the command line of the MCP inspector.
func TestMCPInspector(t *testing.T) {
	if testing.Short() {
		t.Skip("starts Node processes")
	}
	inspector := aimock.Program(t, "mcp-inspector-cli")
	w := newWorld(t)
	p := w.serve()
	defer p.kill()
	for _, c := range []struct {
		args []string
		want string
	}{
		{[]string{"--method", "tools/list"}, `"execute_query_plan"`},
		{[]string{"--method", "tools/call", "--tool-name", "execute_sql", "--tool-arg", "dataset_id=shop", "--tool-arg", "sql=SELECT count(*) AS n FROM customers"}, `"structuredContent"`},
		{[]string{"--method", "resources/list"}, "interlock://datasets/shop/schema"},
		{[]string{"--method", "resources/read", "--uri", "interlock://datasets/shop/schema"}, "customers"},
	} {
		out, err := exec.CommandContext(t.Context(), inspector, append([]string{"--cli", p.url + "/mcp", "--transport", "http"}, c.args...)...).CombinedOutput()
		if err != nil || !strings.Contains(string(out), c.want) {
			t.Errorf("%v: %v\n%s", c.args, err, out)
		}
	}
	near := w.command("mcp", "--state", w.path("other"))
	cmd := exec.CommandContext(t.Context(), inspector, slices.Concat([]string{"--cli"}, near.Args, []string{"--method", "tools/list"})...)
	cmd.Dir, cmd.Env = near.Dir, append(near.Env, "HOME="+t.TempDir())
	if out, err := cmd.CombinedOutput(); err != nil || !strings.Contains(string(out), `"execute_query_plan"`) {
		t.Errorf("over standard input and output: %v\n%s", err, out)
	}
}
