package machines_test

import (
	"context"
	"slices"
	"strings"
	"testing"
	"time"

	"interlock/internal/engine"
	"interlock/internal/event"
	"interlock/internal/llm"
)

// returnedTo gives what the person and the model get of the first result of a tool.
func returnedTo(t *testing.T, events []event.Event, tool string) (person, model string) {
	t.Helper()
	for _, ev := range events {
		if b, ok := ev.Body.(event.ToolReturned); ok && b.Tool == tool {
			return string(engine.VisibleFields(b.Result.JSON, b.Person)), string(engine.VisibleFields(b.Result.JSON, b.Model))
		}
	}
	t.Fatalf("%s returned nothing", tool)
	return "", ""
}

// hasSeen follows a thread as a person's page does until a tool has returned.
func (a *assistant) hasSeen(t *testing.T, thread, tool string) bool {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	for ev, err := range a.Follow(ctx, thread, 0) {
		if err != nil {
			t.Error(err)
			return false
		}
		if b, ok := ev.Body.(event.ToolReturned); ok && b.Tool == tool {
			return true
		}
	}
	return false
}

// conversationOf returns all that a request says besides its system prompt.
func conversationOf(req llm.Request) string {
	var b strings.Builder
	for _, m := range slices.Concat(req.History, req.Messages) {
		b.WriteString(m.Text + "\n")
	}
	return b.String()
}

// TestAssistantShowsTablesOnce checks the two channels of a query: the person has the
// table before the model says a word about it; the model gets the rows with the order not
// to repeat them, no tool to fetch them again, and a prompt in which they are not.
func TestAssistantShowsTablesOnce(t *testing.T) {
	t.Parallel()
	a := newAssistant(t)
	for _, s := range []scene{reach["sql_result_commentary"], {scores: everything, calls: []llm.Call{query}}} {
		seen := false
		got := a.enact(t, s, func(req llm.Request) llm.Reply {
			seen = req.Tag.State == "sql_result_commentary" && a.hasSeen(t, req.Tag.Thread, "sql_select")
			return llm.Reply{Text: "July had most of the returns."}
		})
		if !seen {
			t.Error("the model was asked for a commentary before the person had the table")
		}
		person, model := returnedTo(t, got.events, "sql_select")
		if want := `"rows":[["2026-07",4711],["2026-08",815]]`; !strings.Contains(person, want) || !strings.Contains(model, want) {
			t.Errorf("the person got %s, the model %s", person, model)
		}
		last := got.asked[len(got.asked)-1]
		if !strings.Contains(last.System, "The person has the result as a table. Do not repeat its rows.") || strings.Contains(last.System, "4711") {
			t.Errorf("the prompt of the commentary is\n%s", last.System)
		}
		if n := strings.Count(conversationOf(last), "4711"); n != 1 {
			t.Errorf("the model has the rows %d times, want once", n)
		}
		if len(last.Tools) != 1 || last.Tools[0].Name != "request_capability" {
			t.Errorf("the commentary has the tools %v", last.Tools)
		}
		if said := string(got.reply.Fields["result"]) + string(got.reply.Fields["details"]); !strings.Contains(said, `"rows":[["2026-07",4711],["2026-08",815]]`) || !strings.Contains(said, `"compiled_sql":"SELECT month, returned FROM orders"`) {
			t.Errorf("the reply carries %s, want the table and its statement", said)
		}
		tables := 0
		for _, shown := range got.reply.Shown {
			if shown.Tool == "sql_select" {
				tables++
			}
		}
		if tables != 1 || got.reply.Text != "July had most of the returns." {
			t.Errorf("the reply shows %d tables and says %q", tables, got.reply.Text)
		}
	}
}

// TestAssistantRepeatsNoTable: a model that disobeys and writes the table out again has it
// taken out of its answer, in the reply and in the log; a table that says something new
// stays, and where nothing else was said a sentence stands for it.
func TestAssistantRepeatsNoTable(t *testing.T) {
	t.Parallel()
	a := newAssistant(t)
	const repeated, other = "| month | returned |\n|---|---|\n| 2026-07 | 4,711 |\n| 2026-08 | 815 |", "| month | change |\n|---|---|\n| 2026-08 | -82.7 % |"
	for _, s := range []scene{reach["sql_result_commentary"], {scores: everything, calls: []llm.Call{query}}, {scores: everything, calls: []llm.Call{query, request("documents")}}} {
		for said, want := range map[string]string{
			"July leads.\n\n" + repeated + "\n\nShall I look at August?": "July leads.\n\nShall I look at August?",
			"July leads.\n\n" + other:                                    "July leads.\n\n" + other,
			repeated:                                                     "The table above is the answer.",
		} {
			got := a.enact(t, s, func(llm.Request) llm.Reply { return llm.Reply{Text: said} })
			ended, ok := got.events[len(got.events)-1].Body.(event.TurnEnded)
			if got.reply.Text != want || !ok || ended.Text != want {
				t.Errorf("the model said\n%s\nthe person read\n%s", said, got.reply.Text)
			}
		}
	}
}

// TestAssistantShowsOutputOnce checks the two channels of Python: what it prints goes to
// the person at once, its errors go to the model alone and only in the code states, and a
// run without errors ends the turn without another model call.
func TestAssistantShowsOutputOnce(t *testing.T) {
	t.Parallel()
	a := newAssistant(t)
	seen := false
	got := a.enact(t, reach["code_execution_handoff"], func(req llm.Request) llm.Reply {
		seen = a.hasSeen(t, req.Tag.Thread, "python_execution")
		return llm.Reply{Text: "The sample is small."}
	})
	person, model := returnedTo(t, got.events, "python_execution")
	if !seen || !strings.Contains(person, "mean 2763") || strings.Contains(person, "UserWarning") || !strings.Contains(model, "UserWarning") {
		t.Errorf("seen at once: %v; the person got %s, the model %s", seen, person, model)
	}
	for _, req := range got.asked[1:] {
		if !strings.HasPrefix(req.Tag.State, "code_execution") || !strings.Contains(req.System, "UserWarning") {
			t.Errorf("the errors were handed on in %s with\n%s", req.Tag.State, req.System)
		}
	}
	got = a.enact(t, scene{settings: pythonFirst, calls: []llm.Call{run}}, nil)
	if len(got.asked) != 1 || got.reply.Outcome != "answered" || got.reply.Text != "" || len(got.reply.Shown) == 0 {
		t.Errorf("a run without errors: %d model calls, %+v", len(got.asked), got.reply)
	}
}

// TestAssistantShowsSources checks who sees the excerpts of a search: the person if the
// setting says so, the model only as a part of its prompt.
func TestAssistantShowsSources(t *testing.T) {
	t.Parallel()
	a := newAssistant(t)
	for _, visible := range []bool{true, false} {
		s := reach["rag_context_injected"]
		s.settings = map[string]any{"show_sources": visible}
		got := a.enact(t, s, nil)
		person, model := returnedTo(t, got.events, "document_search")
		if strings.Contains(person, "30 days") != visible || strings.Contains(model, "30 days") {
			t.Errorf("show_sources %v: the person got %s, the model %s", visible, person, model)
		}
		if last := got.asked[len(got.asked)-1]; strings.Count(last.System, "within 30 days") != 1 {
			t.Errorf("show_sources %v: the prompt is\n%s", visible, last.System)
		}
	}
}
