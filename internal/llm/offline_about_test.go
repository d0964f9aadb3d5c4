package llm_test

import (
	"strings"
	"testing"

	"interlock/internal/llm"
)

// Who says hello or asks what there is gets an answer: the schema is read, and then told.
func TestOfflineSpeaksAboutTheData(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{"hello": "for example", "What tables do you have?": "these tables", "help": "queries", "Welche Tabellen gibt es?": "diese Tabellen"} {
		first := turn(t, shopShelf(), nil, user(text))
		if len(first.Calls) != 1 || first.Calls[0].Name != "get_dataset_schema" {
			t.Errorf("%q: %+v does not read the schema", text, first)
		}
		r := turn(t, shopShelf(), nil, user(text), result("get_dataset_schema", "{}", false))
		if !strings.Contains(r.Text, want) || r.Stop == llm.StopRefusal || len(r.Calls) > 0 {
			t.Errorf("%q: %+v", text, r)
		}
	}
	if r := turn(t, shopShelf(), nil, user("danke!")); !strings.Contains(r.Text, "Gern") || len(r.Calls) > 0 {
		t.Errorf("thanks: %+v", r)
	}
	if r := turn(t, twoShops(), nil, asked("what can I ask?", "")); !strings.Contains(r.Text, "these datasets") {
		t.Errorf("of several datasets: %+v", r)
	}
}

// A question and the order of files may stand in one message, and typed statements name their files.
func TestOfflineTakesOrdersBehindAQuestion(t *testing.T) {
	t.Parallel()
	hearFiles := func(history []llm.Message, messages ...llm.Message) *llm.Reply {
		_, reply, err := hear(t.Context(), llm.NewOffline(shopShelf()), llm.Request{History: history, Messages: messages, Tools: fileTools})
		if err != nil {
			t.Fatal(err)
		}
		return reply
	}
	say := user("How many orders per status? Draw a bar chart and write a PDF report.")
	first := hearFiles(nil, say, schemaSeen)
	if len(first.Calls) != 1 || first.Calls[0].Name != "run_sql" {
		t.Fatalf("no rows are fetched: %+v", first)
	}
	second := hearFiles(nil, say, schemaSeen, result("run_sql", countedRows, false))
	if len(second.Calls) != 1 || second.Calls[0].Name != "make_chart" || !strings.Contains(second.Calls[0].Args, `"kind":"bar"`) {
		t.Fatalf("no chart is drawn: %+v", second)
	}
	typed := user("SQL: SELECT status, count(*) AS n FROM orders GROUP BY 1")
	chart := hearFiles([]llm.Message{typed, result("run_sql", typedRows, false)}, user("draw that as a bar chart"))
	if len(chart.Calls) != 1 || !strings.Contains(chart.Calls[0].Args, `"title":"N by status"`) {
		t.Errorf("the title is not that of the columns: %+v", chart)
	}
}
