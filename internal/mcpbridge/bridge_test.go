package mcpbridge_test

import (
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"os"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"interlock/internal/fault"
	"interlock/internal/mcpbridge"
	"interlock/internal/tool"
)

// stdio is a server that runs as a process of its own.
func stdio(t *testing.T, which string) mcpbridge.Server {
	t.Helper()
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	return mcpbridge.Server{Type: "stdio", Command: self, Env: map[string]string{serverEnv: which}, Timeout: 20}
}

// overHTTP is a server that speaks streamable HTTP and wants a key.
func overHTTP(t *testing.T, which string) mcpbridge.Server {
	t.Helper()
	server := testServer(which)
	h := mcp.NewStreamableHTTPHandler(func(*http.Request) *mcp.Server { return server }, nil)
	web := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Header.Get("Authorization") != "Bearer key" {
			http.Error(w, "no", http.StatusUnauthorized)
			return
		}
		h.ServeHTTP(w, r)
	}))
	t.Cleanup(web.Close)
	return mcpbridge.Server{Type: "http", URL: web.URL, Headers: map[string]string{"Authorization": "Bearer key"}, Timeout: 20}
}

// open makes a bridge whose users have the servers given.
func open(t *testing.T, byOwner map[string]map[string]mcpbridge.Server) *mcpbridge.Bridge {
	t.Helper()
	b, err := mcpbridge.New(mcpbridge.Config{Servers: func(owner string) (map[string]mcpbridge.Server, error) { return byOwner[owner], nil }})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := b.Close(); err != nil {
			t.Error(err)
		}
	})
	return b
}

func forAnn(t *testing.T, name string, s mcpbridge.Server) *mcpbridge.Bridge {
	t.Helper()
	return open(t, map[string]map[string]mcpbridge.Server{"ann": {name: s}})
}

func find(t *testing.T, tools []tool.Found, name string) tool.Found {
	t.Helper()
	i := slices.IndexFunc(tools, func(f tool.Found) bool { return f.Name == name })
	if i < 0 {
		t.Fatalf("there is no %s among %v", name, names(tools))
	}
	return tools[i]
}

func names(tools []tool.Found) []string {
	var out []string
	for _, f := range tools {
		out = append(out, f.Name)
	}
	return out
}

// call calls a tool for a user and returns what came.
func call(t *testing.T, b *mcpbridge.Bridge, owner string, f tool.Found, args string) (mcpbridge.Result, error) {
	t.Helper()
	res, err := b.CallFound(tool.With(t.Context(), tool.Call{Owner: owner}), f, json.RawMessage(args))
	var out mcpbridge.Result
	if err == nil {
		if err := json.Unmarshal(res.JSON, &out); err != nil {
			t.Fatal(err)
		}
	}
	return out, err
}

func code(err error) fault.Code {
	if err == nil {
		return ""
	}
	return fault.From(err).Code
}

func TestToolsOverBothTransports(t *testing.T) {
	t.Setenv("OPENAI_API_KEY", "secret")
	for name, make := range map[string]func(*testing.T, string) mcpbridge.Server{"stdio": stdio, "http": overHTTP} {
		t.Run(name, func(t *testing.T) {
			server := make(t, "kind")
			server.Trusted = true
			b := forAnn(t, "home", server)
			tools, err := b.Tools(t.Context(), "ann")
			if err != nil {
				t.Fatal(err)
			}
			weather := find(t, tools, "home__weather")
			if !weather.ReadOnly || weather.Server != "home" {
				t.Errorf("a trusted server's word is not taken: %+v", weather)
			}
			res, err := call(t, b, "ann", weather, `{"city":"Oslo"}`)
			if err != nil || string(res.Structured) != `{"degrees":21.5}` {
				t.Errorf("%s %v", res.Structured, err)
			}
			if _, err := call(t, b, "ann", weather, `{"city":"nowhere"}`); code(err) != fault.ToolFailed || !strings.Contains(err.Error(), "no city") {
				t.Errorf("an error of the tool: %v", err)
			}
			mail := tools[slices.IndexFunc(tools, func(f tool.Found) bool { return strings.HasPrefix(f.Name, "home__send_mail_now_") })]
			if res, err := call(t, b, "ann", mail, `{}`); err != nil || res.Text != "sent" || mail.ReadOnly {
				t.Errorf("a name that models cannot have: %+v %v", res, err)
			}
			if env, err := call(t, b, "ann", find(t, tools, "home__whoami"), `{}`); name == "stdio" && (err != nil || strings.Contains(env.Text, "secret")) {
				t.Errorf("the server's process has our keys: %v", err)
			}
			if _, err := call(t, b, "bob", weather, `{"city":"Oslo"}`); code(err) != fault.Unavailable {
				t.Errorf("another user called ann's server: %v", err)
			}
		})
	}
}

func TestServersBelongToTheirUsers(t *testing.T) {
	t.Parallel()
	b := open(t, map[string]map[string]mcpbridge.Server{"ann": {"home": stdio(t, "kind")}, "bob": {"work": overHTTP(t, "many")}})
	for owner, want := range map[string]int{"ann": 3, "bob": 501, "eve": 0} {
		tools, err := b.Tools(t.Context(), owner)
		if err != nil || len(tools) != want {
			t.Errorf("%s has %d tools, want %d: %v", owner, len(tools), want, err)
		}
	}
}

// TestSearchAmongManyTools finds one tool among 501 and gives no more than asked for.
func TestSearchAmongManyTools(t *testing.T) {
	t.Parallel()
	b := forAnn(t, "books", overHTTP(t, "many"))
	tools, err := b.Tools(t.Context(), "ann")
	if err != nil {
		t.Fatal(err)
	}
	if got := mcpbridge.Search(tools, "which invoice did the customer not pay?", 5); len(got) == 0 || got[0].Name != "books__findOpenInvoices" {
		t.Errorf("found %v", names(got))
	}
	if got := mcpbridge.Search(tools, "update a record", 5); len(got) != 5 {
		t.Errorf("%d tools, want 5", len(got))
	}
	if got := mcpbridge.Search(tools, "zebra", 5); len(got) != 0 {
		t.Errorf("found %v", names(got))
	}
}

// TestHostileServer meets a server that lies, floods, dies and changes its mind.
func TestHostileServer(t *testing.T) {
	t.Parallel()
	patient, hasty := stdio(t, "hostile"), stdio(t, "hostile")
	patient.Timeout, hasty.Timeout = 60, 5 // what must answer may be slow on a busy machine
	b := open(t, map[string]map[string]mcpbridge.Server{"ann": {"evil": patient, "hasty": hasty}})
	tools, err := b.Tools(t.Context(), "ann")
	if err != nil {
		t.Fatal(err)
	}
	for _, bad := range []string{"evil__reads_files", "evil__no_schema", "evil__huge_schema"} {
		if slices.Contains(names(tools), bad) {
			t.Errorf("%s is offered", bad)
		}
	}
	posing := find(t, tools, "evil__sql_select")
	if posing.ReadOnly {
		t.Error("an untrusted server's word about itself is taken")
	}
	if len(posing.Description) > 1100 || strings.ContainsRune(posing.Description, '\x1b') {
		t.Errorf("its description has %d bytes, or control characters", len(posing.Description))
	}
	if res, err := call(t, b, "ann", find(t, tools, "evil__long"), `{}`); err != nil || !res.Truncated || len(res.Text) > 256<<10 {
		t.Errorf("a long result: %d bytes, %v", len(res.Text), err)
	}
	for name, want := range map[string]fault.Code{"evil__endless": fault.ToolFailed, "hasty__silent": fault.ToolTimeout, "evil__dies": fault.ToolFailed} {
		start := time.Now()
		if _, err := call(t, b, "ann", find(t, tools, name), `{}`); code(err) != want && code(err) != fault.ToolTimeout {
			t.Errorf("%s: %v, want %s", name, err, want)
		}
		if took := time.Since(start); took > time.Minute {
			t.Errorf("%s took %s", name, took)
		}
		if _, err := call(t, b, "ann", find(t, tools, strings.SplitAfter(name, "__")[0]+"lies"), `{}`); err != nil {
			t.Errorf("after %s the server is not begun anew: %v", name, err)
		}
	}
	changes := find(t, tools, "evil__changes")
	if _, err := call(t, b, "ann", changes, `{}`); err != nil {
		t.Fatal(err)
	}
	// The notice of the change may come a moment after the result.
	deadline := time.Now().Add(time.Minute)
	for {
		_, err = call(t, b, "ann", changes, `{}`)
		if code(err) == fault.ToolChanged || time.Now().After(deadline) {
			break
		}
	}
	if code(err) != fault.ToolChanged {
		t.Errorf("a tool that changed after it was found: %v", err)
	}
}

// TestServersAskNobody: a server that asks the person in Interlock's name, the model or for
// folders is refused, over both transports, in the middle of a call.
func TestServersAskNobody(t *testing.T) {
	t.Parallel()
	b := open(t, map[string]map[string]mcpbridge.Server{"ann": {"near": stdio(t, "hostile"), "far": overHTTP(t, "hostile")}})
	tools, err := b.Tools(t.Context(), "ann")
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"near__asks", "far__asks"} {
		if res, err := call(t, b, "ann", find(t, tools, name), `{}`); err != nil || res.Text != "refused" {
			t.Errorf("%s: %q, %v", name, res.Text, err)
		}
	}
}

func TestEndlessListIsCut(t *testing.T) {
	t.Parallel()
	b := forAnn(t, "list", overHTTP(t, "endless list"))
	tools, err := b.Tools(t.Context(), "ann")
	if err != nil || len(tools) == 0 || len(tools) > 2000 {
		t.Errorf("%d tools: %v", len(tools), err)
	}
}

// TestServerThatCannotBeReached leaves the others usable and says what is wrong.
func TestServerThatCannotBeReached(t *testing.T) {
	t.Parallel()
	b := open(t, map[string]map[string]mcpbridge.Server{"ann": {
		"none": {Type: "stdio", Command: "/nonexistent/server"}, "shut": {Type: "http", URL: "http://127.0.0.1:1/"},
		"mute": {Type: "stdio", Command: "true"}, "home": stdio(t, "kind"), "off": {Type: "stdio", Command: "false", Disabled: true},
	}})
	tools, err := b.Tools(t.Context(), "ann")
	if err != nil || len(tools) != 3 {
		t.Errorf("%v: %v", names(tools), err)
	}
	list, err := b.Status(t.Context(), "ann")
	if err != nil || len(list) != 4 {
		t.Fatalf("%v %v", list, err)
	}
	for _, s := range list {
		if (s.Error == nil) != (s.Server == "home") {
			t.Errorf("%s: %v", s.Server, s.Error)
		}
	}
}

func TestParseServers(t *testing.T) {
	t.Setenv("TOKEN", "abc")
	servers, err := mcpbridge.ParseServers([]byte(`{"mcpServers": {
		"files": {"command": "npx", "args": ["-y", "server"], "env": {"KEY": "${TOKEN}"}},
		"web":   {"type": "streamable-http", "url": "https://example.org/mcp", "headers": {"Authorization": "Bearer ${TOKEN}"}}}}`))
	if err != nil {
		t.Fatal(err)
	}
	if f, w := servers["files"], servers["web"]; f.Type != "stdio" || f.Env["KEY"] != "abc" || w.Type != "http" || w.Headers["Authorization"] != "Bearer abc" {
		t.Errorf("%+v", servers)
	}
	_, err = mcpbridge.ParseServers([]byte(`{"mcpServers": {"a": {}, "b": {"url": "ftp://x"}, "c/d": {"command": "x"}, "e": {"type": "pigeon"}, "f": {"command": "x", "timeout": -1}}}`))
	for _, want := range []string{"a: ", "b: ", `"c/d"`, "pigeon", "timeout"} {
		if code(err) != fault.BadSetting || !strings.Contains(err.Error(), want) {
			t.Errorf("%v does not name %s", err, want)
		}
	}
	for _, bad := range []string{`[]`, `{"mcpServers": {"a": {"comand": "x"}}}`, ``} {
		if _, err := mcpbridge.ParseServers([]byte(bad)); code(err) != fault.BadSetting {
			t.Errorf("%s: %v", bad, err)
		}
	}
}
