package machines_test

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"

	"interlock/internal/capsule"
	"interlock/internal/engine"
	"interlock/internal/engine/enginetest"
	"interlock/internal/event"
	"interlock/internal/llm"
	"interlock/internal/machine"
)

// A scene is a turn up to some point: what discovery finds, what the model's own searches
// find later, and the calls that the model makes one after the other.
type scene struct {
	scores, later scores
	settings      map[string]any
	calls         []llm.Call
}

// Calls of the model.
var (
	searchDocuments = llm.Call{Name: "document_search", Args: `{"query":"returns"}`}
	searchSchema    = llm.Call{Name: "schema_search", Args: `{"query":"returns"}`}
	searchTools     = llm.Call{Name: "tool_search", Args: `{"query":"customer"}`}
	otherQuery      = llm.Call{Name: "sql_select", Args: `{"source_id":"shop","sql":"SELECT month, returned FROM orders WHERE returned > 1","purpose":"returns by month"}`}
	query           = llm.Call{Name: "sql_select", Args: `{"source_id":"shop","sql":"SELECT month, returned FROM orders","purpose":"returns by month"}`}
	run             = llm.Call{Name: "python_execution", Args: `{"code":"print(1)"}`}
	runWithWarning  = llm.Call{Name: "python_execution", Args: `{"code":"warn()"}`}
	runThatFails    = llm.Call{Name: "python_execution", Args: `{"code":"fail()"}`}
)

// request asks for a capability.
func request(name string) llm.Call {
	return llm.Call{Name: "request_capability", Args: fmt.Sprintf(`{"name":%q,"why":"it is needed"}`, name)}
}

var (
	everything  = scores{rag: 0.5, schema: 0.5, tools: 2}
	pythonFirst = map[string]any{"primary_capability": "python"}
)

// reach leads into each state of the machine by the shortest way.
var reach = map[string]scene{
	"conversational":          {scores: scores{}},
	"rag_retrieval":           {scores: scores{rag: 0.8, tools: 2}},
	"sql_retrieval":           {scores: scores{schema: 0.5, tools: 2}},
	"tool_orchestration":      {scores: scores{tools: 2}},
	"code_execution":          {scores: scores{tools: 2}, settings: pythonFirst},
	"hybrid":                  {scores: everything},
	"rag_context_injected":    {scores: everything, calls: []llm.Call{searchDocuments}},
	"schema_context_injected": {scores: everything, calls: []llm.Call{searchSchema}},
	"sql_result_commentary":   {scores: scores{schema: 0.5, tools: 2}, calls: []llm.Call{query}},
	"code_execution_handoff":  {scores: scores{tools: 2}, settings: pythonFirst, calls: []llm.Call{runWithWarning}},
	"tools_discovered":        {scores: scores{tools: 2}, calls: []llm.Call{searchTools}},
}

// A turnLog is a turn that was played.
type turnLog struct {
	path   []string // the states, in order
	moves  []event.StateEntered
	events []event.Event
	asked  []llm.Request
	reply  engine.Reply
	run    string
}

// enact plays a scene. After its calls the model says what end returns for a request; nil
// stands for a plain answer.
func (a *assistant) enact(t *testing.T, s scene, end func(llm.Request) llm.Reply) turnLog {
	t.Helper()
	var out turnLog
	a.scores = s.scores
	a.play = llm.ScriptFunc(func(req llm.Request) (llm.Reply, error) {
		if s.later != (scores{}) {
			a.scores = s.later
		}
		out.asked = append(out.asked, req)
		switch n := len(out.asked); {
		case n <= len(s.calls):
			return llm.Reply{Calls: []llm.Call{s.calls[n-1]}}, nil
		case end != nil:
			return end(req), nil
		}
		return llm.Reply{Text: "Done."}, nil
	})
	thread, run, err := a.Start(t.Context(), engine.Opening{Machine: "assistant", Owner: "ann", Settings: s.settings}, engine.Input{User: "ann", Text: "How many orders were returned?"})
	if err != nil {
		t.Fatal(err)
	}
	if err := a.Wait(t.Context(), thread); err != nil {
		t.Fatal(err)
	}
	out.run = run
	for ev, err := range a.Events(t.Context(), thread, 0) {
		if err != nil {
			t.Fatal(err)
		}
		out.events = append(out.events, ev)
		if b, ok := ev.Body.(event.StateEntered); ok {
			out.path, out.moves = append(out.path, b.To), append(out.moves, b)
		}
	}
	if err := enginetest.Audit(a.m, out.events); err != nil {
		t.Error(err)
	}
	if out.reply, err = a.Reply(t.Context(), run); err != nil {
		t.Fatal(err)
	}
	return out
}

// TestAssistantMoves plays every move of the definition and checks the states of each
// turn, in the log and in the audit document, which show the history of states.
func TestAssistantMoves(t *testing.T) {
	t.Parallel()
	a := newAssistant(t)
	lowScore := scores{rag: 0.5, schema: 0.3}
	taken := map[string]bool{}
	for _, c := range []struct {
		name  string
		scene scene
		path  string
	}{
		{"documents, then a relevant table", scene{scores: scores{rag: 0.8}, later: scores{rag: 0.8, schema: 0.5}, calls: []llm.Call{searchSchema}}, "rag_retrieval hybrid conversational"},
		{"documents, and no table fits", scene{scores: scores{rag: 0.8}, later: scores{rag: 0.8, schema: 0.199}, calls: []llm.Call{searchSchema}}, "rag_retrieval conversational"},
		{"a table at its threshold", scene{scores: scores{rag: 0.8}, later: scores{rag: 0.8, schema: 0.2}, calls: []llm.Call{searchSchema}}, "rag_retrieval hybrid conversational"},
		{"a query is commented on", scene{scores: scores{schema: 0.5}, calls: []llm.Call{query}}, "sql_retrieval sql_result_commentary conversational"},
		{"a query is corrected by another", scene{scores: scores{schema: 0.5}, calls: []llm.Call{query, request("sql"), otherQuery}}, "sql_retrieval sql_result_commentary hybrid sql_result_commentary conversational"},
		{"tables are background only", scene{scores: scores{schema: 0.3}}, "sql_retrieval conversational"},
		{"tables, then Python", scene{scores: scores{schema: 0.5}, calls: []llm.Call{request("python"), run}}, "sql_retrieval code_execution conversational"},
		{"a tool is found and called", scene{scores: scores{tools: 2}, calls: []llm.Call{searchTools}}, "tool_orchestration tools_discovered conversational"},
		{"tools, then several steps", scene{scores: scores{tools: 2}, calls: []llm.Call{request("python"), run}}, "tool_orchestration code_execution conversational"},
		{"code with a warning, then again", scene{settings: pythonFirst, calls: []llm.Call{runWithWarning, run}}, "code_execution code_execution_handoff code_execution conversational"},
		{"code with a warning, then a summary", scene{settings: pythonFirst, calls: []llm.Call{runWithWarning}}, "code_execution code_execution_handoff conversational"},
		{"code that fails, then again", scene{settings: pythonFirst, calls: []llm.Call{runThatFails, run}}, "code_execution code_execution_handoff code_execution conversational"},
		{"code that gives no answer to read", scene{settings: pythonFirst}, "code_execution conversational"},
		{"hybrid looks for passages", scene{scores: everything, calls: []llm.Call{searchDocuments}}, "hybrid rag_context_injected rag_retrieval conversational"},
		{"no passage fits", scene{scores: everything, later: scores{rag: 0.1, schema: 0.5}, calls: []llm.Call{searchDocuments}}, "hybrid conversational"},
		{"passages, then tables", scene{scores: everything, calls: []llm.Call{searchDocuments, searchSchema}}, "hybrid rag_context_injected schema_context_injected sql_retrieval conversational"},
		{"passages, then a query", scene{scores: everything, calls: []llm.Call{searchDocuments, query}}, "hybrid rag_context_injected sql_result_commentary conversational"},
		{"passages, then a tool", scene{scores: everything, calls: []llm.Call{searchDocuments, searchTools}}, "hybrid rag_context_injected tools_discovered conversational"},
		{"passages, then Python", scene{scores: everything, calls: []llm.Call{searchDocuments, run}}, "hybrid rag_context_injected code_execution conversational"},
		{"hybrid looks for tables and queries", scene{scores: everything, calls: []llm.Call{searchSchema, query}}, "hybrid schema_context_injected sql_retrieval sql_result_commentary conversational"},
		{"tables found, answered without a query", scene{scores: everything, calls: []llm.Call{searchSchema}}, "hybrid schema_context_injected sql_retrieval conversational"},
		{"tables found below the threshold of SQL", scene{scores: lowScore, calls: []llm.Call{searchSchema}}, "hybrid schema_context_injected conversational"},
		{"hybrid queries", scene{scores: everything, calls: []llm.Call{query}}, "hybrid sql_result_commentary conversational"},
		{"hybrid looks for tools", scene{scores: everything, calls: []llm.Call{searchTools}}, "hybrid tools_discovered conversational"},
		{"hybrid calculates", scene{scores: everything, calls: []llm.Call{run}}, "hybrid code_execution conversational"},
		{"conversation alone", scene{}, "conversational"},
		{"conversation, then documents", scene{calls: []llm.Call{request("documents")}}, "conversational hybrid conversational"},
		{"conversation, then data", scene{calls: []llm.Call{request("sql")}}, "conversational hybrid conversational"},
		{"data, then a server's tools", scene{scores: scores{schema: 0.5, tools: 1}, calls: []llm.Call{request("mcp")}}, "sql_retrieval tool_orchestration conversational"},
	} {
		got := a.enact(t, c.scene, nil)
		if path := strings.Join(got.path, " "); path != c.path {
			t.Errorf("%s: the states were %s, want %s", c.name, path, c.path)
			continue
		}
		if got.reply.Outcome != "answered" || got.reply.State != "conversational" || len(got.moves) > 1 && !got.moves[len(got.moves)-1].Rest {
			t.Errorf("%s: the turn ended %s in %s", c.name, got.reply.Outcome, got.reply.State)
		}
		kept, err := capsule.Build(t.Context(), a.log, got.run)
		if err != nil {
			t.Fatal(err)
		}
		history := []string{}
		for _, st := range kept.States {
			history = append(history, st.To)
		}
		if !slices.Equal(history, got.path) {
			t.Errorf("%s: the audit document shows the states %v, the log %v", c.name, history, got.path)
		}
		for _, m := range got.moves {
			if tr := transitionOf(a.m, m); tr != nil {
				taken[fmt.Sprint(tr.Pos)] = true
			}
		}
	}
	for _, st := range a.m.States {
		for _, tr := range st.Go {
			if !taken[fmt.Sprint(tr.Pos)] {
				t.Errorf("line %v of the definition: no turn went from %s to %v on %v %v", tr.Pos, st.Name, tr.To, tr.On, tr.Tool)
			}
		}
	}
	for _, tr := range a.m.Go {
		if !taken[fmt.Sprint(tr.Pos)] {
			t.Errorf("line %v of the definition: no turn went to %v on %v %v", tr.Pos, tr.To, tr.On, tr.Tool)
		}
	}
}

// transitionOf returns the first transition that can have made a move.
func transitionOf(m *machine.Machine, b event.StateEntered) *machine.Transition {
	made := func(tr *machine.Transition) bool {
		when := ""
		if tr.When != nil {
			when = tr.When.Source
		}
		on, tool, _ := strings.Cut(b.Cause, " ")
		return slices.Contains(tr.To, b.To) && when == b.When && slices.Contains(tr.On, on) && (len(tr.Tool) == 0 || slices.Contains(tr.Tool, tool))
	}
	own := m.State(b.From)
	if own == nil {
		return nil
	}
	if i := slices.IndexFunc(own.Go, made); i >= 0 {
		return own.Go[i]
	}
	if i := slices.IndexFunc(m.Go, func(tr *machine.Transition) bool { return (tr.Any || slices.Contains(tr.From, b.From)) && made(tr) }); i >= 0 {
		return m.Go[i]
	}
	return nil
}

// TestAssistantRests answers from every state: the turn comes to rest in conversational
// with that one answer.
func TestAssistantRests(t *testing.T) {
	t.Parallel()
	a := newAssistant(t)
	for _, st := range a.m.States {
		name := st.Name
		s, ok := reach[name]
		if !ok {
			t.Errorf("no scene leads to %s", name)
			continue
		}
		got := a.enact(t, s, nil)
		if !slices.Contains(got.path, name) {
			t.Errorf("the scene of %s went through %v", name, got.path)
		}
		if last := got.asked[len(got.asked)-1].Tag.State; last != name {
			t.Errorf("%s: the answer was given in %s", name, last)
		}
		if len(got.asked) != len(s.calls)+1 || got.reply.Text != "Done." || got.path[len(got.path)-1] != "conversational" {
			t.Errorf("%s: %d model calls, the answer %q, the states %v", name, len(got.asked), got.reply.Text, got.path)
		}
	}
}

// TestAssistantCapabilities asks for every capability that a state lets the model ask for,
// in every state. Together with the state's own tools they are all that are on: no state
// is a dead end.
func TestAssistantCapabilities(t *testing.T) {
	t.Parallel()
	a := newAssistant(t)
	leadsTo := map[string]string{"python": "code_execution", "mcp": "tool_orchestration", "documents": "hybrid", "sql": "hybrid"}
	toolOf := map[string]string{"python": "python_execution", "mcp": "tool_search", "documents": "document_search", "sql": "sql_select"}
	for name, s := range reach {
		s.scores.tools = 2 // so that MCP is there to be asked for
		if name == "conversational" {
			s.settings = map[string]any{"mcp": false}
		}
		offered := lastOffers(a.enact(t, s, nil), name)
		var names struct {
			Properties struct{ Name struct{ Enum []string } }
		}
		if raw, ok := offered["request_capability"]; ok {
			if err := json.Unmarshal(raw, &names); err != nil {
				t.Fatal(err)
			}
		}
		for capability, tool := range toolOf {
			_, here := offered[tool]
			canAsk := slices.Contains(names.Properties.Name.Enum, capability)
			switch own := map[string]string{"rag_retrieval": "documents", "rag_context_injected": "documents", "sql_result_commentary": "sql"}[name]; {
			case capability == "mcp" && s.settings["mcp"] == false:
				if canAsk || here {
					t.Errorf("%s: %s is off and can be had", name, capability)
				}
			case !here && !canAsk && own != capability:
				t.Errorf("%s: %s is on and cannot be had", name, capability)
			case canAsk:
				next := s
				next.calls = append(slices.Clone(s.calls), request(capability))
				got := a.enact(t, next, nil)
				if i := len(got.moves) - 2; i < 0 || got.moves[i].Cause != "returned request_capability" || got.path[i] != leadsTo[capability] {
					t.Errorf("%s: after the request for %s the states were %v", name, capability, got.path)
				}
			}
		}
	}
}

// lastOffers returns the tools of the last model call in a state with their schemas.
func lastOffers(l turnLog, state string) map[string]json.RawMessage {
	out := map[string]json.RawMessage{}
	for _, req := range l.asked {
		if req.Tag.State == state {
			clear(out)
			for _, tl := range req.Tools {
				out[tl.Name] = tl.Schema
			}
		}
	}
	return out
}

// TestAssistantDeniesInEveryState has a model in every state ask for every tool of the
// program that the state does not offer: each is refused, none runs, and nothing moves.
func TestAssistantDeniesInEveryState(t *testing.T) {
	t.Parallel()
	a := newAssistant(t)
	all := slices.Sorted(maps.Keys(specs()))
	for name, s := range reach {
		var asked []string
		got := a.enact(t, s, func(req llm.Request) llm.Reply {
			if len(asked) > 0 {
				return llm.Reply{Text: "Done."}
			}
			var r llm.Reply
			for _, tool := range append(all, "crm_lookup_9", "shell") {
				if !slices.ContainsFunc(req.Tools, func(o llm.Tool) bool { return o.Name == tool }) {
					args, err := json.Marshal(exampleOf(decodeSchema(specs()[tool].Input), "python", 0))
					if err != nil {
						t.Fatal(err)
					}
					asked = append(asked, tool)
					r.Calls = append(r.Calls, llm.Call{Name: tool, Args: string(args)})
				}
			}
			return r
		})
		var refused []string
		for _, ev := range got.events {
			switch b := ev.Body.(type) {
			case event.ToolRefused:
				if refused = append(refused, b.Tool); b.State != name {
					t.Errorf("%s: %s was refused in %s", name, b.Tool, b.State)
				}
			case event.ToolStarted:
				if b.By == "model" && slices.Contains(asked, b.Tool) && !slices.ContainsFunc(s.calls, func(c llm.Call) bool { return c.Name == b.Tool }) {
					t.Errorf("%s: %s ran", name, b.Tool)
				}
			}
		}
		if len(asked) < len(all)-8 || !slices.Equal(refused, asked) {
			t.Errorf("%s: of %d tools asked for these were refused: %v", name, len(asked), refused)
		}
	}
}

// TestAssistantPlayedPrompts holds what a model really got in each state, with what the
// course of the turn brought, against a golden file.
func TestAssistantPlayedPrompts(t *testing.T) {
	t.Parallel()
	a := newAssistant(t)
	var b strings.Builder
	for _, st := range a.m.States {
		got := a.enact(t, reach[st.Name], nil)
		last := got.asked[len(got.asked)-1]
		names := []string{}
		for _, tl := range last.Tools {
			names = append(names, tl.Name)
		}
		fmt.Fprintf(&b, "\n======== %s\n[%s]\n\n%s\n", st.Name, strings.Join(names, " "), last.System)
	}
	comparePrompts(t, "played", b.String())
}
