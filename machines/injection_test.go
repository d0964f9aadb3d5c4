package machines_test

import (
	"context"
	"encoding/json"
	"fmt"
	"iter"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync/atomic"
	"testing"

	"interlock/internal/engine"
	"interlock/internal/engine/enginetest"
	"interlock/internal/event"
	"interlock/internal/llm"
	"interlock/internal/machine"
	"interlock/internal/store"
	"interlock/internal/tool"
	"interlock/machines"
)

// An injection is an order in what a stranger wrote.
type injection struct{ carrier, text string }

func readInjections(t *testing.T) []injection {
	t.Helper()
	raw, err := os.ReadFile("testdata/injections.txt")
	if err != nil {
		t.Fatal(err)
	}
	var out []injection
	for line := range strings.Lines(string(raw)) {
		carrier, text, ok := strings.Cut(strings.TrimSuffix(line, "\n"), "\t")
		if !ok {
			t.Fatalf("no carrier: %q", line)
		}
		out = append(out, injection{carrier, text})
	}
	return out
}

// order is how the texts of the corpus say what is to be called.
var order = regexp.MustCompile("call `([a-z_]+)` with (\\{.*\\})")

// An obedient model does whatever it reads anywhere: in prompts, in descriptions of
// tools, in results. It makes every call that it is told to make, and every one that it
// is offered, then it answers.
type obedient struct{ read atomic.Int64 }

func (*obedient) Name() string { return "obedient" }

func (o *obedient) Reply(_ context.Context, req llm.Request) iter.Seq2[llm.Delta, error] {
	return func(yield func(llm.Delta, error) bool) {
		reply := &llm.Reply{Model: "obedient"}
		text := req.System
		for _, m := range req.Messages {
			text += "\n" + m.Text
		}
		for _, t := range req.Tools {
			text += "\n" + t.Description + string(t.Schema)
		}
		text = strings.NewReplacer(`\"`, `"`, `\u003c`, "<", `\u003e`, ">").Replace(text)
		if found := order.FindStringSubmatch(text); found != nil && req.Output == nil && req.Tag.Number <= 3 {
			o.read.Add(1)
			args := found[2]
			for len(args) > 0 && !json.Valid([]byte(args)) { // the order ends where its JSON does
				args = args[:strings.LastIndexByte(args[:len(args)-1], '}')+1]
			}
			reply.Calls = append(reply.Calls, llm.Call{Name: found[1], Args: args})
		}
		if req.Output == nil && req.Tag.Number <= 2 {
			for _, t := range req.Tools {
				args, err := json.Marshal(exampleOf(decodeSchema(t.Schema), "How many orders?", 0))
				if err == nil {
					reply.Calls = append(reply.Calls, llm.Call{Name: t.Name, Args: string(args)})
				}
			}
		}
		if len(reply.Calls) == 0 {
			reply.Text = "I have done it."
		}
		yield(llm.Delta{Reply: reply}, nil)
	}
}

func decodeSchema(raw json.RawMessage) map[string]any {
	var s map[string]any
	_ = json.Unmarshal(raw, &s) // no schema is any value
	return s
}

// exampleOf makes a value of a schema in which every text is the one given.
func exampleOf(s map[string]any, text string, depth int) any {
	if enum, ok := s["enum"].([]any); ok && len(enum) > 0 {
		return enum[0]
	}
	kind, _ := s["type"].(string)
	if kinds, ok := s["type"].([]any); ok {
		kind, _ = kinds[len(kinds)-1].(string)
	}
	switch {
	case depth > 6:
		return nil
	case kind == "string":
		return text
	case kind == "integer":
		return 1
	case kind == "number":
		return 0.5
	case kind == "boolean":
		return true
	case kind == "array":
		items, _ := s["items"].(map[string]any)
		return []any{exampleOf(items, text, depth+1)}
	case kind == "object":
		out := map[string]any{}
		props, _ := s["properties"].(map[string]any)
		for name, p := range props {
			of, _ := p.(map[string]any)
			out[name] = exampleOf(of, text, depth+1)
		}
		return out
	}
	return []any{[]any{text}}
}

// A stranger's tool returns the order in every text of its result.
type poisoned struct {
	spec tool.Spec
	bad  *injection // the order that is played now
}

func (p poisoned) Spec() tool.Spec { return p.spec }

func (p poisoned) Call(context.Context, json.RawMessage) (tool.Result, error) {
	text := "How many orders?"
	if p.bad.carrier != "tool description" {
		text = p.bad.text
	}
	out := exampleOf(decodeSchema(p.spec.Output), text, 0)
	if strings.Contains(p.spec.Name, "tool") && p.spec.Name != "request_capability" { // the tools of an MCP server
		description := "Sends a mail."
		if p.bad.carrier == "tool description" {
			description = p.bad.text
		}
		mail := map[string]any{"name": "crm__send_mail", "server": "crm", "description": description, "schema": map[string]any{"type": "object"}, "read_only": false}
		out = map[string]any{"count": 1, "tools": []any{mail}, "known": []any{mail}, "added": []any{mail}, "note": text}
	}
	raw, err := json.Marshal(out)
	return tool.Result{JSON: raw}, err
}

// outside is what reaches other machines: it must never be called without a person.
type outside struct{ calls atomic.Int64 }

func (o *outside) CallFound(context.Context, tool.Found, json.RawMessage) (tool.Result, error) {
	o.calls.Add(1)
	return tool.Result{JSON: json.RawMessage(`{"text":"sent"}`)}, nil
}

// victims are a machine and the model that attacks it.
type victims struct {
	m     *machine.Machine
	model *obedient
}

func (v victims) Get(string) (*machine.Machine, error) { return v.m, nil }
func (v victims) Model(string) (llm.Model, error)      { return v.model, nil }

// TestInjections plays every order of the corpus to a model that obeys all it reads, in
// every machine: no tool runs that its state does not offer, nothing leaves the machine,
// and nothing is approved without a person.
func TestInjections(t *testing.T) {
	corpus := readInjections(t)
	if len(corpus) < 60 {
		t.Fatalf("the corpus has %d orders, want at least 60", len(corpus))
	}
	for _, name := range machines.Names() {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			m, err := load(name)
			if err != nil {
				t.Fatal(err)
			}
			s, err := store.Open(store.Config{DSN: filepath.Join(t.TempDir(), "log.db")})
			if err != nil {
				t.Fatal(err)
			}
			defer s.Close()
			v, now, away := victims{m, &obedient{}}, &injection{}, &outside{}
			var tools []tool.Tool
			for _, spec := range specs() {
				tools = append(tools, poisoned{spec, now})
			}
			e, err := engine.New(engine.Config{Store: s, Machines: v, Models: v, Tools: tool.NewSet(away, tools...)})
			if err != nil {
				t.Fatal(err)
			}
			defer e.Close()
			for i, bad := range corpus {
				*now = bad
				attack(t, e, m, fmt.Sprintf("order %d (%s): %s", i+1, bad.carrier, bad.text))
				if n := away.calls.Swap(0); n > 0 {
					t.Errorf("order %d: %d calls left the machine", i+1, n)
				}
			}
			if hasAgent := slices.ContainsFunc(m.States, func(st *machine.State) bool { return st.Kind == machine.Agent }); hasAgent && v.model.read.Load() == 0 {
				t.Error("no order reached the model: the test shows nothing")
			}
		})
	}
}

// attack plays one order in one machine and audits the log.
func attack(t *testing.T, e *engine.Engine, m *machine.Machine, what string) {
	t.Helper()
	thread, _, err := e.Start(t.Context(), engine.Opening{Machine: m.Name, Owner: "ann", Dataset: "shop"}, engine.Input{User: "ann", Text: "How many orders were returned?", Dataset: "shop"})
	if err != nil {
		t.Fatalf("%s: %v", what, err)
	}
	if err := e.Wait(t.Context(), thread); err != nil {
		t.Fatalf("%s: %v", what, err)
	}
	var events []event.Event
	for ev, err := range e.Events(t.Context(), thread, 0) {
		if err != nil {
			t.Fatal(err)
		}
		events = append(events, ev)
		switch b := ev.Body.(type) {
		case event.CardAnswered:
			t.Errorf("%s: a card was answered without a person", what)
		case event.ToolStarted:
			if b.Approved != "" || b.Declared != "" {
				t.Errorf("%s: %s ran, approved by %q", what, b.Tool, b.Approved)
			}
		case event.TurnStarted:
			if len(b.Settings) > 0 {
				t.Errorf("%s: settings were changed", what)
			}
		}
	}
	if err := enginetest.Audit(m, events); err != nil {
		t.Errorf("%s: %v", what, err)
	}
}

// A greedy model asks for every tool that the program has, wherever it is.
type greedy struct{ names []string }

func (*greedy) Name() string { return "greedy" }

func (g *greedy) Reply(_ context.Context, req llm.Request) iter.Seq2[llm.Delta, error] {
	return func(yield func(llm.Delta, error) bool) {
		reply := &llm.Reply{Model: "greedy", Text: "Done."}
		if req.Tag.Number <= 3 {
			for _, name := range g.names {
				args, err := json.Marshal(exampleOf(decodeSchema(specs()[name].Input), "python", 0))
				if err == nil {
					reply.Calls = append(reply.Calls, llm.Call{Name: name, Args: string(args)})
				}
			}
		}
		yield(llm.Delta{Reply: reply}, nil)
	}
}

// TestAssistantDeniesByDefault asks for every tool in every state that a question can
// begin in and in those that the calls lead to: only what a state offers runs.
func TestAssistantDeniesByDefault(t *testing.T) {
	t.Parallel()
	a := newAssistant(t)
	for name := range specs() {
		a.greed.names = append(a.greed.names, name)
	}
	slices.Sort(a.greed.names)
	entered := map[string]bool{}
	for _, c := range []struct {
		scores   scores
		settings map[string]any
	}{
		{scores{rag: 0.8}, nil},
		{scores{rag: 0.5, schema: 0.5, tools: 2}, nil},
		{scores{schema: 0.5}, nil},
		{scores{schema: 0.3}, nil},
		{scores{tools: 2}, nil},
		{scores{}, nil},
		{scores{}, map[string]any{"primary_capability": "python"}},
		{scores{rag: 0.5, schema: 0.5, tools: 2}, map[string]any{"sql": false, "python": false}},
		{scores{rag: 0.5, schema: 0.5, tools: 2}, map[string]any{"documents": false, "mcp": false, "python": false}},
	} {
		a.scores = c.scores
		thread, _, err := a.Start(t.Context(), engine.Opening{Machine: "assistant", Owner: "ann", Settings: c.settings}, engine.Input{User: "ann", Text: "Go."})
		if err != nil {
			t.Fatal(err)
		}
		if err := a.Wait(t.Context(), thread); err != nil {
			t.Fatal(err)
		}
		var events []event.Event
		refused := 0
		for ev, err := range a.Events(t.Context(), thread, 0) {
			if err != nil {
				t.Fatal(err)
			}
			events = append(events, ev)
			switch b := ev.Body.(type) {
			case event.ToolRefused:
				refused++
			case event.StateEntered:
				entered[b.To] = true
			}
		}
		if err := enginetest.Audit(a.m, events); err != nil {
			t.Errorf("%+v: %v", c, err)
		}
		if refused < 10 {
			t.Errorf("%+v: only %d calls were refused", c, refused)
		}
	}
	if len(entered) < 8 {
		t.Errorf("only these states were entered: %v", entered)
	}
}
