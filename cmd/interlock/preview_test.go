package main

import (
	"encoding/json"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"testing"

	"interlock/internal/engine"
	"interlock/internal/event"
	"interlock/internal/machine"
	"interlock/machines"
)

// TestLaunchFlags turns the flags of a launch into settings of a machine.
func TestLaunchFlags(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name    string
		machine string
		flags   launchFlags
		set     []string
		want    string // settings as JSON, or what the error says
	}{
		{"none", "assistant", launchFlags{}, nil, `{}`},
		{"--no-python", "assistant", launchFlags{off: [6]bool{3: true}}, nil, `{"python":false}`},
		{"every --no", "assistant", launchFlags{off: [6]bool{true, true, true, true, true, true}}, nil, `{"documents":false,"mcp":false,"python":false,"schema_search":false,"sql":false,"tool_search":false}`},
		{"--only sql,documents", "assistant", launchFlags{only: []string{"sql", "documents"}}, nil, `{"mcp":false,"python":false}`},
		{"--only mcp --no-tool-search", "assistant", launchFlags{only: []string{"mcp"}, off: [6]bool{5: true}}, nil, `{"documents":false,"python":false,"sql":false,"tool_search":false}`},
		{"--tools a,b", "assistant", launchFlags{tools: []string{"a", "b"}}, nil, `{"mcp_only":"a,b"}`},
		{"--set goes before flags", "assistant", launchFlags{only: []string{"sql"}}, []string{"python=true"}, `{"documents":false,"mcp":false,"python":true}`},
		{"--only where the rest cannot be switched off", "analyst", launchFlags{only: []string{"python"}}, nil, "has no switch documents"},
		{"--only what the machine lacks", "analyst", launchFlags{only: []string{"mcp"}}, nil, `has no capability "mcp"`},
		{"--only a setting that is no capability", "assistant", launchFlags{only: []string{"max_rows"}}, nil, `has no capability "max_rows"`},
		{"--no of what the machine lacks", "analyst", launchFlags{off: [6]bool{2: true}}, nil, "has no switch mcp"},
		{"--tools where there are none", "analyst", launchFlags{tools: []string{"a"}}, nil, "has no switch mcp_only"},
	} {
		dir, err := machines.FS(c.machine)
		if err != nil {
			t.Fatal(err)
		}
		m, err := machine.Load(dir)
		if err != nil {
			t.Fatal(err)
		}
		got, err := c.flags.settings(m, c.set)
		switch {
		case err != nil && !strings.Contains(err.Error(), c.want):
			t.Errorf("%s: %v, want %s", c.name, err, c.want)
		case err == nil && toJSON(got) != c.want:
			t.Errorf("%s: the settings are %s, want %s", c.name, toJSON(got), c.want)
		}
	}
}

// TestPreview asks for previews on the command line and over HTTP under many settings:
// both show the same states, prompts, tools and scores, and what a turn then really gets.
func TestPreview(t *testing.T) {
	t.Parallel()
	w := newWorld(t, map[string]string{"handbook/policy.md": "# Policy\n\n## Returns\n\nCustomers may return goods within 30 days after the delivery.\n"})
	if out, errs, code := w.run("docs", "add", "handbook", "--collection", "handbook"); code != 0 {
		t.Fatalf("%s%s", out, errs)
	}
	p := w.serve()
	const returns, orders = "Within how many days may customers return goods?", "How many orders are there?"
	codeStates := []string{"code_execution", "code_execution_handoff"}
	for _, c := range []struct {
		name     string
		flags    []string // nil: over HTTP alone
		settings string
		question string
		active   string
		missing  []string // states that are not possible
		silent   string   // a word in no prompt, tool or data
	}{
		{"documents", []string{}, "", returns, "rag_retrieval", nil, ""},
		{"a table", nil, "", orders, "sql_retrieval", nil, ""},
		{"documents off", nil, `{"documents":false}`, returns, "", []string{"rag_retrieval", "rag_context_injected"}, "document"},
		{"SQL off", []string{"--no-sql"}, `{"sql":false}`, orders, "", []string{"sql_retrieval", "schema_context_injected", "sql_result_commentary"}, "sql"},
		{"SQL alone", []string{"--only", "sql"}, `{"documents":false,"mcp":false,"python":false}`, orders, "sql_retrieval", codeStates, "python"},
		{"a slider at its end", nil, `{"rag_chunk_min":1}`, returns, "", nil, ""},
		{"Python first", []string{"--only", "python", "--set", "primary_capability=python"}, `{"documents":false,"sql":false,"mcp":false,"primary_capability":"python"}`, returns, "code_execution", []string{"rag_retrieval", "sql_retrieval"}, "excerpt"},
		{"no question", nil, "", "", "conversational", nil, ""},
	} {
		query := url.Values{}
		if c.question != "" {
			query.Set("question", c.question)
		}
		if c.settings != "" {
			query.Set("settings", c.settings)
		}
		var overHTTP, onLine engine.Preview
		p.call("GET", "/api/machines/assistant/preview?"+query.Encode(), "", http.StatusOK, &overHTTP)
		if c.flags != nil {
			out, errs, code := w.run(append([]string{"machine", "preview", "assistant", "--json", "--question", c.question}, c.flags...)...)
			if err := json.Unmarshal([]byte(out), &onLine); code != 0 || err != nil {
				t.Fatalf("%s: exit code %d, %v\n%s%s", c.name, code, err, out, errs)
			}
			if toJSON(onLine) != toJSON(overHTTP) {
				t.Errorf("%s: the command line and the API differ:\n%s\n%s", c.name, toJSON(onLine), toJSON(overHTTP))
			}
		}
		if c.active != "" && overHTTP.Active != c.active {
			t.Errorf("%s: begins in %s because %s saw %v, want %s", c.name, overHTTP.Active, overHTTP.When, overHTTP.Saw, c.active)
		}
		if (len(overHTTP.Discovered) > 0) != (c.question != "" && c.active != "code_execution") {
			t.Errorf("%s: the searches %v were made", c.name, overHTTP.Discovered)
		}
		active := 0
		for _, st := range overHTTP.States {
			if st.Active {
				active++
			}
			if slices.Contains(c.missing, st.Name) {
				t.Errorf("%s: %s is shown as possible", c.name, st.Name)
			}
			if c.silent != "" && strings.Contains(strings.ToLower(st.Prompt+toJSON(st.Tools)), c.silent) {
				t.Errorf("%s: %s says %q:\n%s", c.name, st.Name, c.silent, st.Prompt)
			}
		}
		if active != 1 || len(overHTTP.States)+len(c.missing) > 11 {
			t.Errorf("%s: %d active states of %d", c.name, active, len(overHTTP.States))
		}
		if c.question == "" {
			continue
		}
		var turn struct {
			Run string `json:"run_id"`
		}
		body := map[string]any{"machine": "assistant", "message": c.question}
		if c.settings != "" {
			body["settings"] = json.RawMessage(c.settings)
		}
		p.call("POST", "/chat", toJSON(body), http.StatusOK, &turn)
		var kept struct {
			Models []struct {
				State  string
				System string `json:"system_hash"`
				Tools  []string
			} `json:"model_calls"`
		}
		p.call("GET", "/runs/"+turn.Run, "", http.StatusOK, &kept)
		i := slices.IndexFunc(overHTTP.States, func(s engine.PreviewState) bool { return s.Active })
		if st := overHTTP.States[i]; len(kept.Models) == 0 || kept.Models[0].State != st.Name || kept.Models[0].System != event.Hash([]byte(st.Prompt)) || len(kept.Models[0].Tools) != len(st.Tools) {
			t.Errorf("%s: the preview shows %s, the turn was %+v", c.name, st.Name, kept.Models)
		}
	}
	for _, bad := range []string{`{"rag_chunk_min":1.5}`, `{"no_such":1}`, `{"python":"perhaps"}`, `[1]`} {
		p.call("GET", "/api/machines/assistant/preview?settings="+url.QueryEscape(bad), "", http.StatusUnprocessableEntity, nil)
	}
	p.call("GET", "/api/machines/nothing/preview", "", http.StatusNotFound, nil)
	if out, errs, code := w.run("machine", "preview", "assistant", "--set", "rag_chunk_min=1.5"); code == 0 || !strings.Contains(errs, "between 0 and 1") {
		t.Errorf("a setting outside its bounds: exit code %d\n%s%s", code, out, errs)
	}
}
