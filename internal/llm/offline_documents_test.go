package llm_test

import (
	"strings"
	"testing"

	"interlock/internal/llm"
)

// searched asks the offline model with passages and tables in the prompt.
func searched(t *testing.T, system string, tools []string, messages ...llm.Message) *llm.Reply {
	t.Helper()
	req := llm.Request{System: system, Messages: messages}
	for _, name := range tools {
		req.Tools = append(req.Tools, llm.Tool{Name: name})
	}
	_, reply, err := hear(t.Context(), llm.NewOffline(shopShelf()), req)
	if err != nil {
		t.Fatal(err)
	}
	return reply
}

const ordersTable = `{"columns":[],"fully_qualified_name":"orders","relevancy":0.8,"source_id":"shop","sql_dialect":"duckdb"}`

func TestOfflineQuotesPassages(t *testing.T) {
	long := strings.Repeat("The building has many rooms and a yard. ", 20)
	system := "Answer from the excerpts.\n\n## Excerpts\n" +
		`{"content":"Visitors park behind the house.","place":"Parking","relevancy":0.31,"source_file":"house.md"}` + "\n" +
		`{"content":"` + long + `Goods may be returned within thirty days. ` + long + `","place":"page 7","relevancy":0.9,"source_file":"terms.pdf"}` + "\n" +
		`{"content":"Returned goods are inspected.\nThen they are paid back.","place":"Returns","relevancy":0.7,"source_file":"policy.md"}`
	r := searched(t, system, []string{"request_capability"}, llm.Message{Role: llm.User, Text: "Within how many days may goods be returned?"})
	for _, want := range []string{"Goods may be returned within thirty days.", "terms.pdf, page 7 (relevancy 0.90)", "> Returned goods are inspected.\n> Then they are paid back.", "policy.md, Returns (relevancy 0.70)", "> … Goods may"} {
		if !strings.Contains(r.Text, want) {
			t.Errorf("the answer lacks %q:\n%s", want, r.Text)
		}
	}
	if strings.Count(searched(t, system+strings.ReplaceAll(system[strings.Index(system, "\n{"):], "policy.md", "copy.md"), nil, llm.Message{Role: llm.User, Text: "Are returned goods inspected?"}).Text, "are inspected") != 1 {
		t.Error("a passage that stands in two documents is quoted twice")
	}
	misspelt := strings.ReplaceAll(system, `"source_file"`, `"read_as":"May goods be returned?","source_file"`)
	if said := searched(t, misspelt, nil, llm.Message{Role: llm.User, Text: "May godos be returnd?"}).Text; !strings.HasPrefix(said, "I read the question as: May goods be returned?\n\nThe documents say:") {
		t.Errorf("the answer does not say how a misspelt question was read:\n%s", said)
	}
	if strings.Contains(r.Text, "Visitors") || len(r.Text) > 1600 {
		t.Errorf("the answer quotes what does not answer:\n%s", r.Text)
	}
}

func TestOfflineSaysThatNothingAnswers(t *testing.T) {
	question := llm.Message{Role: llm.User, Text: "Who won the game?"}
	r := searched(t, "Talk.", []string{"request_capability"}, question)
	if r.Stop != llm.StopRefusal || !strings.Contains(r.Text, "No passage of the documents answers this, and no table fits it") {
		t.Errorf("nothing found: %+v", r)
	}
	r = searched(t, "## Tables\n"+ordersTable, []string{"request_capability"}, question)
	if r.Stop != llm.StopRefusal || !strings.Contains(r.Text, "orders of shop") {
		t.Errorf("only a table that may not be queried: %+v", r)
	}
}

func TestOfflineQueriesFoundTables(t *testing.T) {
	question := llm.Message{Role: llm.User, Text: "How many orders are there?"}
	system := "## Tables\n" + ordersTable
	r := searched(t, system, []string{"sql_select", "request_capability"}, question)
	if len(r.Calls) != 1 || r.Calls[0].Name != "sql_select" || !strings.Contains(r.Calls[0].Args, `"source_id":"shop"`) || !strings.Contains(r.Calls[0].Args, "count(") && !strings.Contains(r.Calls[0].Args, "COUNT(") {
		t.Fatalf("the query: %+v", r)
	}
	call := r.Calls[0]
	r = searched(t, "Comment.", []string{"request_capability"}, question, llm.Message{Role: llm.Assistant, Calls: []llm.Call{call}},
		llm.Message{Role: llm.ToolRole, Name: call.Name, CallID: call.ID, Text: `{"columns":["count"],"rows":[[5]],"row_count":1,"limited":false}`})
	if !strings.Contains(r.Text, "5") || len(r.Calls) > 0 {
		t.Errorf("the answer: %+v", r)
	}
	// A passage that fits better than an unsure reading is quoted.
	r = searched(t, system+"\n"+`{"content":"Orders are blue.","place":"A","relevancy":0.5,"source_file":"a.md"}`, []string{"sql_select"}, llm.Message{Role: llm.User, Text: "What colour do the frobnicated orders have?"})
	if !strings.Contains(r.Text, "> Orders are blue.") {
		t.Errorf("the answer: %+v", r)
	}
}

// Where documents fit well no tables are shown: a question for a figure looks for them once.
func TestOfflineLooksForTables(t *testing.T) {
	system := `{"content":"Orders are shipped on the day.","place":"A","relevancy":0.9,"source_file":"a.md"}`
	question := llm.Message{Role: llm.User, Text: "How many orders are there per city?"}
	r := searched(t, system, []string{"schema_search", "request_capability"}, question)
	if len(r.Calls) != 1 || r.Calls[0].Name != "schema_search" || !strings.Contains(r.Calls[0].Args, "per city") {
		t.Fatalf("the first step: %+v", r)
	}
	call := r.Calls[0]
	r = searched(t, system, []string{"schema_search", "request_capability"}, question, llm.Message{Role: llm.Assistant, Calls: []llm.Call{call}},
		llm.Message{Role: llm.ToolRole, Name: call.Name, CallID: call.ID, Text: `{"note":"no table fits"}`})
	if len(r.Calls) > 0 || !strings.Contains(r.Text, "> Orders are shipped on the day.") {
		t.Errorf("after nothing was found: %+v", r)
	}
	r = searched(t, system, []string{"schema_search"}, llm.Message{Role: llm.User, Text: "When are orders shipped?"})
	if len(r.Calls) > 0 {
		t.Errorf("a question for words: %+v", r)
	}
}

// TestOfflineAnswersTwoQuestions takes one question of a text to the tables and the other to the documents, or says
// which of them it left out.
func TestOfflineAnswersTwoQuestions(t *testing.T) {
	const both = "Within how many days may goods be returned, and how many orders are there?"
	const passage = `{"content":"Goods may be returned within thirty days.","place":"Returns","relevancy":0.9,"source_file":"policy.md"}`
	question := llm.Message{Role: llm.User, Text: both}
	r := searched(t, "## Excerpts\n"+passage, []string{"schema_search", "request_capability"}, question)
	if len(r.Calls) != 1 || r.Calls[0].Name != "schema_search" {
		t.Fatalf("it looks for no table: %+v", r)
	}
	r = searched(t, "## Excerpts\n"+passage+"\n\n## Tables\n"+ordersTable, []string{"sql_select"}, question)
	if len(r.Calls) != 1 || r.Calls[0].Name != "sql_select" || !strings.Contains(r.Calls[0].Args, `"purpose":"how many orders are there?"`) {
		t.Fatalf("it asks the table nothing: %+v", r)
	}
	call := r.Calls[0]
	result := []llm.Message{question, {Role: llm.Assistant, Calls: []llm.Call{call}}, {Role: llm.ToolRole, Name: call.Name, CallID: call.ID, Text: `{"columns":["count"],"rows":[[5]],"row_count":1,"limited":false}`}}
	for system, wanted := range map[string][]string{
		"## Excerpts\n" + passage: {"5", "Within how many days may goods be returned? The documents say:", "> Goods may be returned within thirty days.", "policy.md, Returns"},
		"## Excerpts\n" + strings.Replace(passage, "{", `{"question":"how many orders are there?",`, 1): {"5", `I left out "Within how many days`},
		"Comment.": {"5", `I left out "Within how many days may goods be returned?": no passage`},
	} {
		r := searched(t, system, []string{"request_capability"}, result...)
		for _, want := range wanted {
			if !strings.Contains(r.Text, want) {
				t.Errorf("the answer lacks %q:\n%s", want, r.Text)
			}
		}
	}
	question.Text = "May goods be returned? How many frobnications are there?"
	if r := searched(t, "## Excerpts\n"+passage+"\n\n## Tables\n"+ordersTable, []string{"sql_select"}, question); !strings.Contains(r.Text, "> Goods may be returned") || !strings.Contains(r.Text, `I left out "How many frobnications are there?": no table`) {
		t.Errorf("the answer: %s", r.Text)
	}
}
