package mcpserver_test

import (
	"context"
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"path/filepath"
	"strings"
	"testing"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"interlock/internal/engine"
	"interlock/internal/llm"
	"interlock/internal/machine"
	"interlock/internal/mcpserver"
	"interlock/internal/store"
	"interlock/internal/tool"
)

// desk asks which year is meant, then lets a model send something, which a person must
// allow.
const desk = `
name: desk
facts:
  year: {type: string, for: turn, by: person}
start: asking
states:
  asking: {kind: ask, card: which, in: {question: turn.text}, go: [{to: working}]}
  working:
    kind: agent
    prompt: p.md
    requires: [year]
    tools: [{name: send, approve: always}]
    go: [{on: final, to: done}]
  done: {kind: final}
cards:
  which:
    title: Which year do you mean?
    content: {question: string}
    answers:
      say:
        label:     This one
        fields:    {year: string}
        when:      event.fields.year != "never"
        otherwise: '"There was no such year."'
        set:       {year: event.fields.year}
`

type sendIn struct {
	To string `json:"to"`
}

type sendOut struct {
	Sent string `json:"sent"`
}

// A bench is a server over a real engine with a scripted model.
type bench struct {
	m     *machine.Machine
	model *llm.Scripted
	sent  []string
	cfg   mcpserver.Config
}

func (b *bench) Get(string) (*machine.Machine, error) { return b.m, nil }
func (b *bench) Model(string) (llm.Model, error)      { return b.model, nil }

func newBench(t *testing.T, lines ...llm.Line) *bench {
	t.Helper()
	m, err := machine.Parse(map[string]string{machine.File: desk, "p.md": "Work."})
	if err != nil {
		t.Fatal(err)
	}
	b := &bench{m: m, model: llm.Script(lines...)}
	tools := tool.NewSet(nil, tool.New(tool.Spec{Name: "send", Description: "Sends.", Effect: tool.Writes}, func(_ context.Context, in sendIn) (sendOut, error) {
		b.sent = append(b.sent, in.To)
		return sendOut{in.To}, nil
	}))
	s, err := store.Open(store.Config{DSN: filepath.Join(t.TempDir(), "log.db")})
	if err != nil {
		t.Fatal(err)
	}
	e, err := engine.New(engine.Config{Store: s, Machines: b, Models: b, Tools: tools})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := e.Close(); err != nil {
			t.Error(err)
		}
		if err := s.Close(); err != nil {
			t.Error(err)
		}
	})
	b.cfg = mcpserver.Config{
		Engine: e, Tools: tools, Questions: []mcpserver.Question{{Name: "ask", Description: "Asks.", Machine: "desk"}},
		OwnerOf: func(ctx context.Context, thread string) (string, error) {
			row, err := s.Thread(ctx, thread)
			return row.Owner, err
		},
	}
	return b
}

// A person answers what a client asks. A nil person cannot be asked.
type person func(*mcp.ElicitRequest) *mcp.ElicitResult

// connect returns a client of the server of a user over a stream, as over standard input
// and output.
func (b *bench) connect(t *testing.T, owner, revision string, p person) *mcp.ClientSession {
	t.Helper()
	s, err := mcpserver.New(b.cfg, owner)
	if err != nil {
		t.Fatal(err)
	}
	there, here := mcp.NewInMemoryTransports()
	if _, err := s.Connect(t.Context(), there, nil); err != nil {
		t.Fatal(err)
	}
	return client(t, here, revision, p)
}

type ownerKey struct{}

// serve returns the address of the handler, whose users are named by a header.
func (b *bench) serve(t *testing.T) string {
	t.Helper()
	h, err := mcpserver.Handler(b.cfg, func(ctx context.Context) string {
		owner, _ := ctx.Value(ownerKey{}).(string)
		return owner
	})
	if err != nil {
		t.Fatal(err)
	}
	srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		h.ServeHTTP(w, r.WithContext(context.WithValue(r.Context(), ownerKey{}, r.Header.Get("X-Owner"))))
	}))
	t.Cleanup(func() { srv.CloseClientConnections(); srv.Close() })
	return srv.URL
}

// An ownerHeader sends requests as a user.
type ownerHeader string

func (o ownerHeader) RoundTrip(r *http.Request) (*http.Response, error) {
	r = r.Clone(r.Context())
	r.Header.Set("X-Owner", string(o))
	return http.DefaultTransport.RoundTrip(r)
}

// connectHTTP returns a client over streamable HTTP.
func (b *bench) connectHTTP(t *testing.T, owner, revision string, p person) *mcp.ClientSession {
	t.Helper()
	return client(t, &mcp.StreamableClientTransport{Endpoint: b.serve(t), HTTPClient: &http.Client{Transport: ownerHeader(owner)}}, revision, p)
}

func client(t *testing.T, transport mcp.Transport, revision string, p person) *mcp.ClientSession {
	t.Helper()
	opts := &mcp.ClientOptions{}
	if p != nil {
		opts.ElicitationHandler = func(_ context.Context, req *mcp.ElicitRequest) (*mcp.ElicitResult, error) { return p(req), nil }
	}
	cs, err := mcp.NewClient(&mcp.Implementation{Name: "test", Version: "1"}, opts).Connect(t.Context(), transport, &mcp.ClientSessionOptions{ProtocolVersion: revision})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = cs.Close() })
	return cs
}

// answer is what `ask` returns.
type answer struct {
	Outcome, Answer, Waiting string
	Thread                   string `json:"thread_id"`
}

func ask(t *testing.T, cs *mcp.ClientSession, args map[string]any) (answer, *mcp.CallToolResult) {
	t.Helper()
	res, err := cs.CallTool(t.Context(), &mcp.CallToolParams{Name: "ask", Arguments: args})
	if err != nil {
		t.Fatal(err)
	}
	raw, err := json.Marshal(res.StructuredContent)
	if err != nil {
		t.Fatal(err)
	}
	var a answer
	if err := json.Unmarshal(raw, &a); err != nil && !res.IsError {
		t.Fatal(err)
	}
	return a, res
}

func said(text string, calls ...llm.Call) llm.Line {
	l := llm.Line{Calls: calls}
	if text != "" {
		l.Text = []string{text}
	}
	return l
}

// TestQuestionsReachThePerson has a clarification and an approval answered by the person
// behind the client, over a stream and over HTTP, in the present revision of the protocol
// and in an older one.
func TestQuestionsReachThePerson(t *testing.T) {
	t.Parallel()
	connect := map[string]func(*bench, *testing.T, string, string, person) *mcp.ClientSession{"stream": (*bench).connect, "http": (*bench).connectHTTP}
	for over, connect := range connect {
		for _, revision := range []string{"", "2025-11-25", "2025-06-18"} {
			for _, allow := range []string{"allow_once", "refuse", "decline"} {
				t.Run(over+" "+revision+" "+allow, func(t *testing.T) {
					b := newBench(t, said("", llm.Call{Name: "send", Args: `{"to":"ann"}`}), said("Done."))
					var asked []string
					cs := connect(b, t, "ann", revision, func(req *mcp.ElicitRequest) *mcp.ElicitResult {
						asked = append(asked, strings.SplitN(req.Params.Message, "\n", 2)[0])
						if len(asked) == 1 {
							return &mcp.ElicitResult{Action: "accept", Content: map[string]any{"answer": "say", "year": "2025"}}
						}
						if allow == "decline" {
							return &mcp.ElicitResult{Action: "decline"}
						}
						return &mcp.ElicitResult{Action: "accept", Content: map[string]any{"answer": allow}}
					})
					a, res := ask(t, cs, map[string]any{"message": "Send it."})
					if res.IsError || a.Outcome != "answered" || a.Answer != "Done." {
						t.Fatalf("%+v %+v", a, res.Content)
					}
					if got := strings.Join(asked, ", "); got != "Which year do you mean?, May send run?" {
						t.Errorf("the person was asked %q", got)
					}
					if (len(b.sent) == 1) != (allow == "allow_once") {
						t.Errorf("after %s it was sent to %v", allow, b.sent)
					}
				})
			}
		}
	}
}

// TestWrongAnswerIsAskedAgain gives an answer that the card does not take: the person is
// told why and asked again.
func TestWrongAnswerIsAskedAgain(t *testing.T) {
	t.Parallel()
	for _, revision := range []string{"", "2025-11-25"} {
		b := newBench(t, said("Done."))
		var asked []string
		cs := b.connectHTTP(t, "ann", revision, func(req *mcp.ElicitRequest) *mcp.ElicitResult {
			asked = append(asked, strings.SplitN(req.Params.Message, "\n", 2)[0])
			year := "never"
			if len(asked) == 2 {
				year = "2025"
			}
			return &mcp.ElicitResult{Action: "accept", Content: map[string]any{"answer": "say", "year": year}}
		})
		a, res := ask(t, cs, map[string]any{"message": "Send it."})
		if a.Answer != "Done." || strings.Join(asked, " ") != "Which year do you mean? There was no such year." {
			t.Errorf("revision %q: asked %q, then %+v %+v", revision, asked, a, res.Content)
		}
	}
}

// TestClientThatCannotAsk gets the question as a result; nothing runs, and nothing that
// the client's model says can answer it.
func TestClientThatCannotAsk(t *testing.T) {
	b := newBench(t)
	cs := b.connect(t, "ann", "2025-11-25", nil)
	a, _ := ask(t, cs, map[string]any{"message": "Send it."})
	if want := "Which year do you mean?\n\nquestion: Send it."; a.Outcome != "waiting" || a.Waiting != want || len(b.sent) > 0 {
		t.Errorf("%+v, want the question in words: %q", a, want)
	}
	if _, res := ask(t, cs, map[string]any{"message": " "}); !res.IsError || !strings.HasSuffix(res.Content[0].(*mcp.TextContent).Text, "call again with corrected arguments.") {
		t.Errorf("the client's model is not told what to do: %+v", res.Content)
	}
	tools, err := cs.ListTools(t.Context(), nil)
	if err != nil || len(tools.Tools) != 1 {
		t.Errorf("%v %v", tools, err)
	}
}

// TestThreadsOfOthers cannot be continued, nor their cards answered with a forged state.
func TestThreadsOfOthers(t *testing.T) {
	b := newBench(t)
	ann := b.connect(t, "ann", "2025-11-25", nil)
	a, _ := ask(t, ann, map[string]any{"message": "Send it."})
	eve := b.connect(t, "eve", "", nil)
	if _, res := ask(t, eve, map[string]any{"message": "Go on.", "thread_id": a.Thread}); !res.IsError {
		t.Error("eve continued ann's thread")
	}
	state, err := json.Marshal(map[string]string{"thread": a.Thread, "run": "r", "card": "c"})
	if err != nil {
		t.Fatal(err)
	}
	res, err := eve.CallTool(t.Context(), &mcp.CallToolParams{
		Name: "ask", Arguments: map[string]any{"message": "x"}, RequestState: string(state),
		InputResponses: mcp.InputResponseMap{"card": &mcp.ElicitResult{Action: "accept", Content: map[string]any{"answer": "say", "year": "1"}}},
	})
	if err != nil || !res.IsError || !strings.Contains(res.Content[0].(*mcp.TextContent).Text, "thread_not_found") {
		t.Errorf("eve answered ann's card: %v %v", res, err)
	}
}

// TestSessionsOfOthers shows that a session belongs to the user who opened it, that a
// client which cannot ask gets none, and that beyond the bound requests are served without.
func TestSessionsOfOthers(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	at := b.serve(t)
	post := func(owner, session, body string) *http.Response {
		t.Helper()
		req, err := http.NewRequestWithContext(t.Context(), http.MethodPost, at, strings.NewReader(body))
		if err != nil {
			t.Fatal(err)
		}
		req.Header.Set("Content-Type", "application/json")
		req.Header.Set("Accept", "application/json, text/event-stream")
		if session != "" {
			req.Header.Set("Mcp-Session-Id", session)
		}
		res, err := ownerHeader(owner).RoundTrip(req)
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { _ = res.Body.Close() })
		return res
	}
	opening := func(capabilities string) string {
		return `{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-11-25","capabilities":` + capabilities + `,"clientInfo":{"name":"t","version":"1"}}}`
	}
	const list = `{"jsonrpc":"2.0","id":2,"method":"tools/list"}`
	res := post("ann", "", opening(`{"elicitation":{}}`))
	session := res.Header.Get("Mcp-Session-Id")
	if res.StatusCode != http.StatusOK || session == "" {
		t.Fatalf("a client that can ask got %s and the session %q", res.Status, session)
	}
	if res := post("ann", session, list); res.StatusCode != http.StatusOK {
		t.Errorf("ann in her session: %s", res.Status)
	}
	if res := post("eve", session, list); res.StatusCode != http.StatusNotFound {
		t.Errorf("eve in the session of ann: %s", res.Status)
	}
	if res := post("ann", "", opening(`{}`)); res.StatusCode != http.StatusOK || res.Header.Get("Mcp-Session-Id") != "" {
		t.Errorf("a client that cannot ask: %s, session %q", res.Status, res.Header.Get("Mcp-Session-Id"))
	}
	if res := post("ann", "", `{`); res.StatusCode != http.StatusBadRequest {
		t.Errorf("what is no JSON: %s", res.Status)
	}
	for range 31 {
		post("ann", "", opening(`{"elicitation":{}}`))
	}
	if res := post("ann", "", opening(`{"elicitation":{}}`)); res.StatusCode != http.StatusOK || res.Header.Get("Mcp-Session-Id") != "" {
		t.Errorf("the session beyond the bound: %s, session %q", res.Status, res.Header.Get("Mcp-Session-Id"))
	}
	if res := post("eve", "", opening(`{"elicitation":{}}`)); res.Header.Get("Mcp-Session-Id") == "" {
		t.Error("the sessions of ann left none for eve")
	}
}
