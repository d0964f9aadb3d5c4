package machines_test

import (
	"context"
	"encoding/json"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"interlock/internal/engine"
	"interlock/internal/event"
	"interlock/internal/fault"
	"interlock/internal/llm"
	"interlock/internal/machine"
	"interlock/internal/store"
	"interlock/internal/tool"
)

var updatePrompts = flag.Bool("update-prompts", false, "write the golden prompts of the assistant anew")

// An assistant is the machine in an engine, with discovery that gives the scores of a case.
type assistant struct {
	*engine.Engine
	m      *machine.Machine
	scores scores
	greed  greedy // the model, unless a play brings its own
	play   llm.Model
	log    store.Store
}

// scores are what discovery finds.
type scores struct {
	rag, schema float64
	tools       int
	listed      bool // tool search is off: the tools come as a list
}

func (a *assistant) Get(string) (*machine.Machine, error) { return a.m, nil }

func (a *assistant) Model(string) (llm.Model, error) {
	if a.play != nil {
		return a.play, nil
	}
	return &a.greed, nil
}

// found is a tool of an MCP server, numbered.
func found(n int) map[string]any {
	return map[string]any{
		"name": fmt.Sprintf("crm_lookup_%d", n), "server": "crm", "description": "Looks a customer up.",
		"schema": map[string]any{"type": "object", "properties": map[string]any{"id": map[string]any{"type": "string"}}}, "read_only": false,
	}
}

// CallFound answers calls of tools of the MCP server.
func (a *assistant) CallFound(context.Context, tool.Found, json.RawMessage) (tool.Result, error) {
	return tool.Result{JSON: json.RawMessage(`{"text":"Miller, Berlin"}`)}, nil
}

// result returns what a tool returns for the scores. Python prints what it is told to and
// warns if its code says so.
func (a *assistant) result(name, args string) any {
	switch s := a.scores; name {
	case "document_search":
		chunks := []any{}
		if s.rag > 0 {
			chunks = append(chunks, map[string]any{"content": "Goods can be sent back within 30 days.", "source_file": "terms.md", "place": "Returns", "relevancy": s.rag})
		}
		return map[string]any{"chunks": chunks, "max_relevancy": s.rag}
	case "schema_search":
		tables := []any{}
		if s.schema > 0 {
			tables = append(tables, map[string]any{"fully_qualified_name": "shop.orders", "source_id": "shop", "sql_dialect": "duckdb", "relevancy": s.schema, "columns": []any{"id", "amount"}})
		}
		return map[string]any{"tables": tables, "max_relevancy": s.schema, "note": fmt.Sprintf("%d tables", len(tables))}
	case "list_mcp_tools":
		list := []any{}
		for i := range s.tools {
			if s.listed {
				list = append(list, found(i))
			}
		}
		return map[string]any{"count": s.tools, "tools": list, "known": []any{}}
	case "tool_search":
		return map[string]any{"tools": []any{found(0)}, "added": []any{found(0)}, "note": "One tool was found."}
	case "sql_select":
		return map[string]any{"columns": []any{"month", "returned"}, "rows": []any{[]any{"2026-07", 4711}, []any{"2026-08", 815}}, "row_count": 2, "limited": false}
	case "python_execution":
		stderr := ""
		if strings.Contains(args, "warn") {
			stderr = "UserWarning: the sample is small"
		}
		return map[string]any{"stdout": "mean 2763", "stderr": stderr, "artifacts": []any{}}
	case "request_capability":
		return map[string]any{"name": "x", "note": "It is at hand now."}
	}
	return exampleOf(decodeSchema(specs()[name].Output), "x", 0)
}

// scoreTool is a tool of discovery that returns the scores of the case.
type scoreTool struct {
	spec tool.Spec
	a    *assistant
}

func (t scoreTool) Spec() tool.Spec { return t.spec }

func (t scoreTool) Call(_ context.Context, args json.RawMessage) (tool.Result, error) {
	if t.spec.Name == "python_execution" && strings.Contains(string(args), "fail") {
		return tool.Result{}, fault.New(fault.ToolFailed, "the code took more than 10 seconds")
	}
	raw, err := json.Marshal(t.a.result(t.spec.Name, string(args)))
	return tool.Result{JSON: raw}, err
}

func newAssistant(t *testing.T) *assistant {
	t.Helper()
	m, err := load("assistant")
	if err != nil {
		t.Fatal(err)
	}
	a := &assistant{m: m}
	var tools []tool.Tool
	for _, spec := range specs() {
		tools = append(tools, scoreTool{spec, a})
	}
	s, err := store.Open(store.Config{DSN: filepath.Join(t.TempDir(), "log.db")})
	if err != nil {
		t.Fatal(err)
	}
	a.log = s
	if a.Engine, err = engine.New(engine.Config{Store: s, Machines: a, Models: a, Tools: tool.NewSet(a, tools...)}); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := a.Engine.Close(); err != nil {
			t.Error(err)
		}
		if err := s.Close(); err != nil {
			t.Error(err)
		}
	})
	return a
}

func (a *assistant) preview(t *testing.T, s scores, settings map[string]any) engine.Preview {
	t.Helper()
	a.scores = s
	if off, isSet := settings["tool_search"]; isSet && off == false {
		a.scores.listed = true
	}
	p, err := a.Preview(t.Context(), engine.PreviewRequest{Machine: "assistant", Owner: "ann", Settings: settings, Text: "How many orders were returned?"})
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range p.Discovered {
		if c.Error != "" {
			t.Fatalf("%s: %s", c.Tool, c.Error)
		}
	}
	return p
}

// TestAssistantChoice is the table of the choice, row by row, with its boundaries, with
// what is switched off and with the flags of a launch. The defaults are 0.3 for excerpts,
// 0.2 for tables, 0.4 for SQL and 0.6 for documents alone.
func TestAssistantChoice(t *testing.T) {
	a := newAssistant(t)
	off := func(names ...string) map[string]any {
		out := map[string]any{}
		for _, n := range names {
			out[n] = false
		}
		return out
	}
	for _, c := range []struct {
		name     string
		scores   scores
		settings map[string]any
		state    string
		sql      bool // sql_select is offered
	}{
		{"documents dominate", scores{rag: 0.8, schema: 0.9}, nil, "rag_retrieval", false},
		{"documents dominate at the threshold", scores{rag: 0.6, schema: 0.9}, nil, "rag_retrieval", false},
		{"documents below dominance", scores{rag: 0.599, schema: 0.9}, nil, "hybrid", true},
		{"both pass at their thresholds", scores{rag: 0.3, schema: 0.2}, nil, "hybrid", false},
		{"both pass, SQL at its threshold", scores{rag: 0.3, schema: 0.4}, nil, "hybrid", true},
		{"both pass, SQL below its threshold", scores{rag: 0.3, schema: 0.399}, nil, "hybrid", false},
		{"only documents", scores{rag: 0.3, schema: 0.199}, nil, "rag_retrieval", false},
		{"only the schema", scores{rag: 0.299, schema: 0.4}, nil, "sql_retrieval", true},
		{"only the schema, below SQL", scores{rag: 0.299, schema: 0.399}, nil, "sql_retrieval", false},
		{"only the schema, at its threshold", scores{schema: 0.2}, nil, "sql_retrieval", false},
		{"neither", scores{rag: 0.299, schema: 0.199}, nil, "conversational", false},
		{"nothing found", scores{}, nil, "conversational", false},
		{"neither, tools are there", scores{rag: 0.1, schema: 0.1, tools: 3}, nil, "tool_orchestration", false},
		{"neither, Python first", scores{tools: 3}, map[string]any{"primary_capability": "python"}, "code_execution", false},
		{"neither, Python first and off", scores{tools: 3}, map[string]any{"primary_capability": "python", "python": false}, "tool_orchestration", false},
		{"neither, Python first, no tools", scores{}, map[string]any{"primary_capability": "python"}, "code_execution", false},
		{"neither, another first", scores{}, map[string]any{"primary_capability": "sql"}, "conversational", false},
		{"Python first, but documents pass", scores{rag: 0.5}, map[string]any{"primary_capability": "python"}, "rag_retrieval", false},
		{"documents off", scores{rag: 0.9, schema: 0.5}, off("documents"), "sql_retrieval", true},
		{"SQL off", scores{rag: 0.5, schema: 0.9}, off("sql"), "rag_retrieval", false},
		{"documents and SQL off", scores{rag: 0.9, schema: 0.9, tools: 1}, off("documents", "sql"), "tool_orchestration", false},
		{"MCP off", scores{tools: 3}, off("mcp"), "conversational", false},
		{"schema search off keeps the scores", scores{schema: 0.5}, off("schema_search"), "sql_retrieval", true},
		{"tool search off", scores{tools: 2}, off("tool_search"), "tool_orchestration", false},
		{"a threshold of 0 and a score of 0", scores{}, map[string]any{"rag_chunk_min": 0, "schema_table_min": 0, "sql_enable_min": 0}, "conversational", false},
		{"a threshold of 0 and a small score", scores{schema: 0.001}, map[string]any{"schema_table_min": 0, "sql_enable_min": 0}, "sql_retrieval", true},
		{"dominance at 0", scores{rag: 0.3, schema: 0.9}, map[string]any{"rag_dominant_threshold": 0}, "rag_retrieval", false},
		{"dominance below the excerpts' threshold", scores{rag: 0.2, schema: 0.9}, map[string]any{"rag_dominant_threshold": 0.1}, "sql_retrieval", true},
		{"a threshold of 1 and a score of 1", scores{rag: 1}, map[string]any{"rag_chunk_min": 1}, "rag_retrieval", false},
		{"--only python", scores{rag: 0.9, schema: 0.9, tools: 9}, off("documents", "sql", "mcp"), "conversational", false},
		{"all off", scores{rag: 0.9, schema: 0.9, tools: 9}, off("documents", "sql", "mcp", "python", "schema_search", "tool_search"), "conversational", false},
	} {
		t.Run(c.name, func(t *testing.T) {
			p := a.preview(t, c.scores, c.settings)
			if p.Active != c.state {
				t.Fatalf("begins in %s because %q saw %v, want %s", p.Active, p.When, p.Saw, c.state)
			}
			if got := slices.Contains(toolNames(stateOf(t, p, c.state)), "sql_select"); got != c.sql {
				t.Errorf("sql_select offered: %v, want %v", got, c.sql)
			}
			if c.state == "rag_retrieval" && c.scores.rag >= 0.6 && p.Scores["schema_relevancy"] != 0.0 {
				t.Errorf("documents dominate, but the tables keep the score %v", p.Scores["schema_relevancy"])
			}
		})
	}
}

func stateOf(t *testing.T, p engine.Preview, name string) engine.PreviewState {
	t.Helper()
	i := slices.IndexFunc(p.States, func(s engine.PreviewState) bool { return s.Name == name })
	if i < 0 {
		t.Fatalf("the state %s is not possible", name)
	}
	return p.States[i]
}

func toolNames(s engine.PreviewState) []string {
	var names []string
	for _, t := range s.Tools {
		names = append(names, t.Name)
	}
	return names
}

// subjects are the words of a capability that must not occur where it is off.
var subjects = map[string]string{
	"documents":     `document|excerpt|passage`,
	"sql":           `sql|select|the query|\btables?\b|schema|database|dialect`,
	"mcp":           `mcp|server|tool_search|crm_`,
	"python":        `python|stdout|stderr|sandbox|pandas|\bcode\b`,
	"schema_search": `schema_search`,
	"tool_search":   `tool_search`,
}

// TestAssistantLeavesNoTrace looks for the words of every capability that is off, in the
// prompts, the names, the descriptions and the schemas of tools of every possible state.
func TestAssistantLeavesNoTrace(t *testing.T) {
	a := newAssistant(t)
	names := []string{"documents", "sql", "mcp", "python", "schema_search", "tool_search"}
	for mask := range 1 << len(names) {
		settings := map[string]any{}
		for i, n := range names {
			settings[n] = mask&(1<<i) == 0
		}
		for _, s := range []scores{{rag: 0.5, schema: 0.5, tools: 2}, {rag: 0.5, schema: 0.3, tools: 2}, {tools: 2}} {
			p := a.preview(t, s, settings)
			for _, st := range p.States {
				text := st.Prompt
				for _, tl := range st.Tools {
					text += "\n" + tl.Name + " " + tl.Description + " " + string(tl.Schema)
				}
				for _, n := range names {
					if settings[n] == true {
						continue
					}
					if hit := regexp.MustCompile(`(?i)` + subjects[n]).FindString(text); hit != "" {
						t.Fatalf("%s is off, but %s says %q under %v:\n%s", n, st.Name, hit, settings, text)
					}
				}
			}
		}
	}
}

// TestAssistantPrompts holds the prompt and tools of every state under each setting
// against its golden file.
func TestAssistantPrompts(t *testing.T) {
	a := newAssistant(t)
	for _, c := range []struct {
		name     string
		scores   scores
		settings map[string]any
	}{
		{"all", scores{rag: 0.5, schema: 0.5, tools: 2}, nil},
		{"low-scores", scores{rag: 0.35, schema: 0.3, tools: 2}, nil},
		{"hidden-sources", scores{rag: 0.5}, map[string]any{"show_sources": false}},
		{"no-documents", scores{rag: 0.5, schema: 0.5, tools: 2}, map[string]any{"documents": false}},
		{"no-sql", scores{rag: 0.5, schema: 0.5, tools: 2}, map[string]any{"sql": false}},
		{"no-mcp", scores{rag: 0.5, schema: 0.5, tools: 2}, map[string]any{"mcp": false}},
		{"no-python", scores{rag: 0.5, schema: 0.5, tools: 2}, map[string]any{"python": false}},
		{"no-schema-search", scores{rag: 0.5, schema: 0.5, tools: 2}, map[string]any{"schema_search": false}},
		{"no-tool-search", scores{rag: 0.5, schema: 0.5, tools: 2}, map[string]any{"tool_search": false}},
		{"python-first", scores{rag: 0.1, schema: 0.1, tools: 2}, map[string]any{"primary_capability": "python"}},
		{"limits", scores{rag: 0.5, schema: 0.5, tools: 2}, map[string]any{"max_rows": 5, "python_seconds": 99, "max_chunks": 1, "max_tables": 1}},
		{"nothing", scores{}, map[string]any{"documents": false, "sql": false, "mcp": false, "python": false}},
	} {
		t.Run(c.name, func(t *testing.T) {
			p := a.preview(t, c.scores, c.settings)
			var b strings.Builder
			fmt.Fprintf(&b, "begins in %s\n", p.Active)
			for _, s := range p.States {
				fmt.Fprintf(&b, "\n======== %s\n[%s]\n\n%s\n", s.Name, strings.Join(toolNames(s), " "), s.Prompt)
			}
			comparePrompts(t, c.name, b.String())
		})
	}
}

// comparePrompts holds prompts against their golden file.
func comparePrompts(t *testing.T, name, got string) {
	t.Helper()
	file := filepath.Join("testdata", "prompts", name+".txt")
	if *updatePrompts {
		if err := os.WriteFile(file, []byte(got), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(file)
	if err != nil || string(want) != got {
		t.Errorf("%s differs (run with -update-prompts to accept): %v\n%s", file, err, got)
	}
}

// TestPreviewIsExact compares the prompt and the tools that a preview shows with those
// that a real turn sends.
func TestPreviewIsExact(t *testing.T) {
	a := newAssistant(t)
	for _, s := range []scores{{rag: 0.8}, {rag: 0.5, schema: 0.5, tools: 2}, {schema: 0.5}, {tools: 2}, {}} {
		p := a.preview(t, s, nil)
		thread, _, err := a.Start(t.Context(), engine.Opening{Machine: "assistant", Owner: "ann"}, engine.Input{User: "ann", Text: "How many orders were returned?"})
		if err != nil {
			t.Fatal(err)
		}
		if err := a.Wait(t.Context(), thread); err != nil {
			t.Fatal(err)
		}
		for ev, err := range a.Events(t.Context(), thread, 0) {
			if err != nil {
				t.Fatal(err)
			}
			b, ok := ev.Body.(event.ModelCalled)
			if !ok {
				continue
			}
			st := stateOf(t, p, p.Active)
			if b.State != p.Active || b.System != event.Hash([]byte(st.Prompt)) || !slices.Equal(b.Offered, toolNames(st)) {
				t.Errorf("%+v: the turn was in %s with %v, the preview shows %s with %v, or another prompt", s, b.State, b.Offered, p.Active, toolNames(st))
			}
			break
		}
	}
}
