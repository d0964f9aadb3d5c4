package llm_test

import (
	"encoding/json"
	"os"
	"strings"
	"testing"

	"interlock/internal/llm"
)

var fileTools = []llm.Tool{{Name: "get_dataset_schema"}, {Name: "run_sql"}, {Name: "run_python"}, {Name: "make_chart"}, {Name: "write_report"}, {Name: "save_artifact"}}

func asked(text, dataset string) llm.Message {
	return llm.Message{Role: llm.User, Text: text + "\n\n[dataset_id: " + dataset + "]"}
}

// twoShops are two datasets of one form.
func twoShops() shelf {
	s := shopShelf()
	s["other"] = s["shop"]
	return s
}

const (
	typedRows   = `{"name":"orders_9c6f","columns":["status","n"],"rows":[["open",3],["paid",2]],"row_count":2,"limited":false}`
	countedRows = `{"name":"number_of_orders_by_status","columns":["status","count"],"rows":[["open",3],["paid",2]],"row_count":2,"limited":false}`
)

// TestOfflineUsesResults holds that "that" is the last result of the thread: of what was
// typed, of another dataset, and whatever was declined since.
func TestOfflineUsesResults(t *testing.T) {
	sql := asked("SQL: SELECT status, count(*) AS n FROM orders GROUP BY status", "shop")
	python := asked("PYTHON: result_df = a.head()", "shop")
	question := asked("Number of orders by status", "shop")
	answered := []llm.Message{
		question,
		{Role: llm.Assistant, Calls: []llm.Call{{ID: "1", Name: "run_sql", Args: `{"dataset_id":"shop","sql":"SELECT 1"}`}}},
		result("run_sql", countedRows, false),
		{Role: llm.Assistant, Text: "Open comes first."},
	}
	no := []llm.Message{asked("blorb frobnicate", "shop"), {Role: llm.Assistant, Text: "I do not know. For questions beyond the built-in planner set OPENAI_API_KEY or ANTHROPIC_API_KEY, or --openai-url for a server of your own, and start again."}}
	join := func(lists ...[]llm.Message) (out []llm.Message) {
		for _, l := range lists {
			out = append(out, l...)
		}
		return out
	}
	typed := []llm.Message{sql, result("run_sql", typedRows, false)}
	for _, tt := range []struct {
		name     string
		history  []llm.Message
		messages []llm.Message
		call     string   // the tool that is called, "" for none
		want     []string // in its arguments, or in the text
	}{
		{"a chart of typed SQL", typed, []llm.Message{asked("draw that as a bar chart", "shop")}, "make_chart", []string{`"from":"orders_9c6f"`, `"kind":"bar"`}},
		{"a report of typed SQL", typed, []llm.Message{asked("now as a PDF", "shop")}, "write_report", []string{"table:orders_9c6f", `"format":"pdf"`}},
		{"a file of typed SQL", typed, []llm.Message{asked("save it as CSV", "shop")}, "save_artifact", []string{`"from":"orders_9c6f"`}},
		{"continue after typed SQL", typed, []llm.Message{asked("continue", "shop")}, "", []string{"open", "3"}},
		{"typed SQL runs again", typed, []llm.Message{asked("run it again", "shop")}, "run_sql", []string{"SELECT status", `"dataset_id":"shop"`}},
		{"typed SQL after a dataset was changed", typed, []llm.Message{asked("draw that as a bar chart", "other")}, "make_chart", []string{`"from":"orders_9c6f"`}},
		{"typed SQL that is declined", join(answered, []llm.Message{sql, result("run_sql", `{"message":"no such table"}`, true)}), []llm.Message{asked("draw that as a bar chart", "shop"), schemaSeen}, "make_chart", []string{`"from":"number_of_orders_by_status"`}},
		{"typed SQL long ago", join([]llm.Message{sql}, no, no), []llm.Message{asked("draw that as a bar chart", "other")}, "run_sql", []string{"SELECT status", `"dataset_id":"shop"`}},
		{"then its chart", join([]llm.Message{sql}, no, no), []llm.Message{asked("draw that as a bar chart", "other"), result("run_sql", typedRows, false)}, "make_chart", []string{`"from":"orders_9c6f"`}},
		{"a chart of typed Python", []llm.Message{python, result("run_python", typedRows, false)}, []llm.Message{asked("draw that as a bar chart", "shop")}, "make_chart", []string{`"from":"orders_9c6f"`}},
		{"Python without a table", []llm.Message{python, result("run_python", `{"stdout":"3"}`, false)}, []llm.Message{asked("draw that as a bar chart", "shop"), result("run_python", `{"stdout":"3"}`, false)}, "", []string{"left no table"}},
		{"a chart drawn twice, of the chart's rows", join(typed, []llm.Message{asked("draw that as a pie chart", "shop"), result("make_chart", `{"name":"c"}`, false), {Role: llm.Assistant, Text: "Drawn."}}), []llm.Message{asked("now as a PDF", "shop"), result("make_chart", `{"name":"c"}`, false)}, "write_report", []string{"chart:c", "table:orders_9c6f"}},
		{"after what was declined", join(answered, no), []llm.Message{asked("draw that as a bar chart", "shop"), schemaSeen}, "make_chart", []string{`"from":"number_of_orders_by_status"`}},
		{"an answer after a dataset was changed", answered, []llm.Message{asked("draw that as a bar chart", "other"), schemaSeen}, "make_chart", []string{`"from":"number_of_orders_by_status"`}},
		{"an old answer after a dataset was changed", []llm.Message{question, {Role: llm.Assistant, Text: "Open comes first."}}, []llm.Message{asked("draw that as a bar chart", "other"), schemaSeen}, "run_sql", []string{`"dataset_id":"shop"`}},
		{"a follow-up of another dataset", answered, []llm.Message{asked("and only open?", "other"), schemaSeen, result("run_sql", countedRows, false)}, "", []string{"a question about the dataset shop; the answer is about other"}},
		{"a follow-up that cannot be planned there", answered, []llm.Message{asked("and only for blorb?", "other"), schemaSeen}, "", []string{"a question about the dataset shop, and cannot be asked of other"}},
		{"a question of another dataset", answered, []llm.Message{asked("How many orders are open?", "other"), schemaSeen}, "run_sql", []string{`"dataset_id":"other"`}},
		{"says what it draws after typed SQL that failed", join(answered, []llm.Message{sql, result("run_sql", `{"message":"no such column"}`, true)}), []llm.Message{asked("draw that", "shop"), schemaSeen, result("make_chart", `{"name":"c"}`, false)}, "", []string{"The last request gave no result; this draws “Number of orders by status”."}},
		{"says what it reports after what was declined", join(answered, no), []llm.Message{asked("as PDF", "shop"), schemaSeen, result("write_report", `{"name":"c"}`, false)}, "", []string{"The last request gave no result; this reports “Number of orders by status”."}},
		{"titles typed SQL by its columns", typed, []llm.Message{asked("draw that", "shop")}, "make_chart", []string{`"title":"N by status"`}},
		{"a chart that cannot be drawn", typed, []llm.Message{asked("draw that", "shop"), result("make_chart", `{"message":"nothing to draw it over"}`, true)}, "", []string{"The chart was not made: nothing to draw it over."}},
		{"typed SQL behind run again", nil, []llm.Message{asked("run again: SQL: SELECT 1", "shop")}, "run_sql", []string{`"sql":"SELECT 1"`, `"dataset_id":"shop"`}},
		{"what is no longer in the history", []llm.Message{asked("now as a PDF", "shop"), {Role: llm.Assistant, Text: "a.pdf holds the report."}}, []llm.Message{asked("draw that", "shop")}, "", []string{"further back", "setting history"}},
		{"nothing before, twice", []llm.Message{asked("draw that", "shop"), {Role: llm.Assistant, Text: "There is no result yet that I could draw, write down or go on from. Ask a question about the data first."}}, []llm.Message{asked("draw that", "shop")}, "", []string{"There is no result yet"}},
		{"nothing before", nil, []llm.Message{asked("draw that", "shop")}, "", []string{"There is no result yet"}},
		{"nothing before to draw as", nil, []llm.Message{asked("draw that as a bar chart", "shop")}, "", []string{"There is no result yet"}},
		{"only what was declined", no, []llm.Message{asked("now as a PDF", "shop")}, "", []string{"There is no result yet"}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			_, r, err := hear(t.Context(), llm.NewOffline(twoShops()), llm.Request{History: tt.history, Messages: tt.messages, Tools: fileTools})
			if err != nil {
				t.Fatal(err)
			}
			name, got := "", r.Text
			if len(r.Calls) > 0 {
				name, got = r.Calls[0].Name, r.Calls[0].Args
			}
			if name != tt.call {
				t.Fatalf("it calls %q, want %q: %s", name, tt.call, got)
			}
			if skipped := strings.Contains(got, "gave no result"); skipped && !strings.HasPrefix(tt.name, "says what") {
				t.Errorf("it says that a request was skipped: %s", got)
			}
			for _, want := range tt.want {
				if !strings.Contains(got, want) {
					t.Errorf("got %s, want %s", got, want)
				}
			}
		})
	}
}

// TestOfflineReportMode: where every answer is a report, "draw that" writes one with the chart
// and the rows in it, called as they are.
func TestOfflineReportMode(t *testing.T) {
	prompt, err := os.ReadFile("../../machines/workbench/report.md")
	if err != nil {
		t.Fatal(err)
	}
	_, r, err := hear(t.Context(), llm.NewOffline(twoShops()), llm.Request{
		System:   string(prompt),
		History:  []llm.Message{asked("SQL: SELECT 1", "shop"), result("run_sql", typedRows, false)},
		Messages: []llm.Message{asked("draw that", "shop"), result("make_chart", `{"name":"c"}`, false)}, Tools: fileTools,
	})
	if err != nil || len(r.Calls) != 1 || r.Calls[0].Name != "write_report" {
		t.Fatalf("%+v %v, want a report", r, err)
	}
	for _, want := range []string{"chart:c", "table:orders_9c6f", `"title":"N by status"`} {
		if !strings.Contains(r.Calls[0].Args, want) {
			t.Errorf("%s, want %s", r.Calls[0].Args, want)
		}
	}
}

// TestReportFormat: words that name a format win, else the setting, else pdf.
func TestReportFormat(t *testing.T) {
	typed := []llm.Message{asked("SQL: SELECT 1", "shop"), result("run_sql", typedRows, false)}
	const html = "Be brief.\n\n## Format of reports\nhtml\n\n## Artifacts that exist\nnone"
	for _, tt := range []struct{ system, said, want string }{
		{"", "now as a report", "pdf"},
		{html, "now as a report", "html"},
		{html, "now as a PDF", "pdf"},
		{"", "now as HTML", "html"},
	} {
		_, r, err := hear(t.Context(), llm.NewOffline(twoShops()), llm.Request{System: tt.system, History: typed, Messages: []llm.Message{asked(tt.said, "shop")}, Tools: fileTools})
		if err != nil {
			t.Fatal(err)
		}
		var args struct{ Format string }
		if len(r.Calls) != 1 || json.Unmarshal([]byte(r.Calls[0].Args), &args) != nil || args.Format != tt.want {
			t.Errorf("%s: %+v, want %s", tt.said, r, tt.want)
		}
	}
}
