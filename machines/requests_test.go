package machines_test

import (
	"context"
	"encoding/json"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"interlock/internal/engine"
	"interlock/internal/llm"
	"interlock/internal/machine"
	"interlock/internal/store"
	"interlock/internal/tool"
)

// A fixedTool gives the same result to every call.
type fixedTool struct {
	spec   tool.Spec
	result string
}

func (f fixedTool) Spec() tool.Spec { return f.spec }
func (f fixedTool) Call(context.Context, json.RawMessage) (tool.Result, error) {
	return tool.Result{JSON: json.RawMessage(f.result)}, nil
}

// A describingTool describes a dataset of 150 columns as far as there is room.
type describingTool struct{ spec tool.Spec }

func (d describingTool) Spec() tool.Spec { return d.spec }
func (d describingTool) Call(_ context.Context, args json.RawMessage) (tool.Result, error) {
	var in struct {
		MaxChars int `json:"max_chars"`
	}
	if err := json.Unmarshal(args, &in); err != nil {
		return tool.Result{}, err
	}
	const column = "- amount DOUBLE, 1 to 5: In euro.\n"
	about := "Dataset shop\n" + strings.Repeat(column, min(150, in.MaxChars/len(column)))
	raw, err := json.Marshal(map[string]any{"dataset_id": "shop", "complete": true, "about": about})
	return tool.Result{JSON: raw}, err
}

// oneMachine is a library of one machine and one model.
type oneMachine struct {
	m     *machine.Machine
	model llm.Model
}

func (o oneMachine) Get(string) (*machine.Machine, error) { return o.m, nil }
func (o oneMachine) Model(string) (llm.Model, error)      { return o.model, nil }

// A smallModel is a scripted model with a context of so many tokens; 0 for one that is not
// known.
type smallModel struct {
	*llm.Scripted
	context int
}

func (s smallModel) ContextTokens() int { return s.context }

// analystRequests plays turns of analyst with a scripted model and gives what the model
// was sent.
func analystRequests(t *testing.T, turns []string, lines ...llm.Line) []llm.Request {
	t.Helper()
	return requestsOf(t, "analyst", 0, turns, lines...)
}

// requestsOf plays turns of a machine with a scripted model and gives what the model was
// sent. The description of the dataset has as many lines as it has room for.
func requestsOf(t *testing.T, name string, context int, turns []string, lines ...llm.Line) []llm.Request {
	t.Helper()
	return requestsIn(t, engine.Opening{Machine: name, Owner: "ann", Dataset: "shop"}, context, turns, lines...)
}

// requestsIn does the same in a thread that is opened so.
func requestsIn(t *testing.T, opening engine.Opening, context int, turns []string, lines ...llm.Line) []llm.Request {
	t.Helper()
	m, err := load(opening.Machine)
	if err != nil {
		t.Fatal(err)
	}
	model := smallModel{llm.Script(lines...), context}
	results := map[string]string{
		"schema_search":   `{"tables":[{"fully_qualified_name":"orders","source_id":"shop","sql_dialect":"duckdb","relevancy":0.9,"columns":[{"name":"secret_column"}]}],"max_relevancy":0.9,"note":"One table.","about":"Dataset found later"}`,
		"document_search": `{"chunks":[],"max_relevancy":0}`,
		"describe_tables": `{"schema":{"id":"shop","tables":[]},"location":""}`,
		"load_dictionary": `{"dictionary":{}}`,
		"check_sql":       `{"safety":{"is_safe":true,"sanitized_query":"SELECT * FROM (SELECT 5) AS capped LIMIT 100","limit_enforced":true,"max_rows":100}}`,
		"run_query":       `{"result":{"columns":["n"],"column_types":["BIGINT"],"query":"SELECT * FROM (SELECT 5) AS capped LIMIT 100","rows":[[5]],"row_count":1,"total_rows":1},"stats":{"execution_time_ms":3,"limit_enforced":true}}`,
		"write_answer":    `{"output":{"response":"It is 5."},"entry":{"query":"What is the sum?"}}`,
		"sql_select":      `{"columns":["n"],"rows":[[5]],"row_count":1,"limited":false}`,
		"run_sql":         `{"name":"sales","result_id":"r1","columns":["note","sum"],"column_types":["VARCHAR","DOUBLE"],"rows":[["a \u003e b",11632.369999999999]],"row_count":1,"limited":false,"intent":{"name":"sales","fetched":"sales","dimensions":[],"measures":[],"row_count":1,"span":""}}`,
		"execute_sql":     `{"status":"success","columns":["note","sum"],"rows":[["a \u003e b",11632.369999999999]],"row_count":1,"limited":false,"total_rows":1,"exec_time_ms":3,"column_types":["VARCHAR","DOUBLE"]}`,
	}
	var tools []tool.Tool
	for name, spec := range specs() {
		if results[name] == "" {
			results[name] = `{}`
		}
		if name == "describe_dataset" {
			tools = append(tools, describingTool{spec})
			continue
		}
		tools = append(tools, fixedTool{spec, results[name]})
	}
	log, err := store.Open(store.Config{DSN: filepath.Join(t.TempDir(), "log.db")})
	if err != nil {
		t.Fatal(err)
	}
	defer log.Close()
	one := oneMachine{m, model}
	eng, err := engine.New(engine.Config{Store: log, Machines: one, Models: one, Tools: tool.NewSet(nil, tools...)})
	if err != nil {
		t.Fatal(err)
	}
	defer eng.Close()
	thread, err := eng.Open(t.Context(), opening)
	if err != nil {
		t.Fatal(err)
	}
	for _, text := range turns {
		if _, err := eng.Send(t.Context(), thread, engine.Input{User: "ann", Text: text}); err != nil {
			t.Fatal(err)
		}
		if err := eng.Wait(t.Context(), thread); err != nil {
			t.Fatal(err)
		}
	}
	return model.Requests()
}

// wire is a request in the order in which providers cache it: tools, system, history, turn.
func wire(t *testing.T, r llm.Request) string {
	t.Helper()
	raw, err := json.Marshal([]any{r.Tools, r.System, r.History})
	if err != nil {
		t.Fatal(err)
	}
	messages, err := json.Marshal(r.Messages)
	if err != nil {
		t.Fatal(err)
	}
	joined := strings.TrimSuffix(string(raw), "]]") // history and turn are one list to a provider
	if len(r.History) > 0 {
		joined += ","
	}
	return joined + strings.TrimPrefix(string(messages), "[")
}

// TestAnalystRequests looks at what the model of a conversation is sent.
func TestAnalystRequests(t *testing.T) {
	t.Parallel()
	query := func(sql string) llm.Line {
		return llm.Ask("execute_sql", `{"dataset_id":"shop","answer":true,"sql":"`+sql+`"}`)
	}
	sent := analystRequests(t, []string{"What is the sum?", "And by note?", "Only a?"},
		query("SELECT sum(amount)"), llm.Say("It is 11,632.37."), query("SELECT note, sum(amount)"), llm.Say("It is 11,632.37."), query("SELECT note"), llm.Say("It is 11,632.37."))
	if len(sent) != 6 {
		t.Fatalf("%d requests for three turns", len(sent))
	}
	first := sent[0]
	if !strings.Contains(first.System, "## The data\nDataset shop") {
		t.Error("the prompt does not describe the dataset")
	}
	if text := first.Messages[0].Text; !strings.Contains(text, "[dataset_id: shop]") || !strings.Contains(text, "[today: 20") {
		t.Errorf("the person's text: %q", text)
	}
	if raw, err := json.Marshal(first.Tools); err != nil || len(raw) > 3000 || strings.Contains(string(raw), "execute_query_plan") {
		t.Errorf("%d bytes of tools, %v", len(raw), err)
	}
	for i := 1; i < len(sent); i++ {
		before, now := wire(t, sent[i-1]), wire(t, sent[i])
		same := 0
		for same < len(before) && same < len(now) && before[same] == now[same] {
			same++
		}
		if share := float64(same) / float64(len(before)); share < 0.9 {
			t.Errorf("request %d repeats %.0f %% of the one before it, up to %.80q", i+1, 100*share, before[max(0, same-40):same])
		}
	}
	followUp, err := json.Marshal(sent[2].History)
	if err != nil || !strings.Contains(string(followUp), "SELECT sum(amount)") || !strings.Contains(string(followUp), "11632.37") {
		t.Errorf("the follow-up does not see the statement and its result: %s", followUp)
	}
	result := sent[1].Messages[len(sent[1].Messages)-1].Text
	if strings.Contains(result, `\u003e`) || strings.Contains(result, "11632.369999") || strings.Contains(result, "exec_time_ms") || !strings.Contains(result, "a > b") {
		t.Errorf("the result as it is sent: %s", result)
	}
}

// TestUnfoundedFigures holds that figures which no result gave come back once, named, behind
// a request that is otherwise the same, and that the second answer ends the turn.
func TestUnfoundedFigures(t *testing.T) {
	t.Parallel()
	sent := analystRequests(t, []string{"What is the sum?"}, llm.Ask("execute_sql", `{"dataset_id":"shop","sql":"SELECT note, sum(amount) AS sum FROM orders GROUP BY note"}`),
		llm.Say("It is 11,632.37, of which 97 % are paid."), llm.Say("It is 11,632.37, of which 97 % are paid."))
	if len(sent) != 3 {
		t.Fatalf("%d requests", len(sent))
	}
	second, third := sent[1], sent[2]
	last := third.Messages[len(third.Messages)-1]
	if last.Role != llm.User || !strings.Contains(last.Text, "97 %") || strings.Contains(last.Text, "11,632") {
		t.Errorf("the model is told %q", last.Text)
	}
	if third.System != second.System || len(third.Messages) != len(second.Messages)+2 {
		t.Error("the request begins differently than the one before it")
	}
	if asked := analystRequests(t, []string{"What is the sum?"}, llm.Say("Do you mean 2031 or 2032?")); len(asked) != 1 {
		t.Error("a question back was sent back")
	}
	told := analystRequests(t, []string{"What is the sum?"}, llm.Ask("execute_sql", `{"dataset_id":"shop","sql":"SELECT sum(amount) FROM orders"}`),
		llm.Say("Two remarks: the sum is 11,632.37, with amounts of 1 to 5 euro."))
	if len(told) != 2 {
		t.Errorf("what the description and the statement say was sent back: %v", told[len(told)-1].Messages)
	}
	next := analystRequests(t, []string{"What is the sum?", "And now?"}, llm.Ask("execute_sql", `{"dataset_id":"shop","sql":"SELECT sum(amount) FROM orders"}`),
		llm.Say("The sum is 11,632.37, which is 97 % more."), llm.Say("The sum is 11,632.37."), llm.Say("The same."))
	past, err := json.Marshal(next[len(next)-1].History)
	if err != nil || strings.Contains(string(past), "97 %") || !strings.Contains(string(past), "The sum is 11,632.37.") {
		t.Errorf("the next turn is told of an answer that nobody saw: %s %v", past, err)
	}
}

// TestPipelineRequests looks at what the judge and the planner after a failure are sent: the
// statement once, no trace of its cap, and the error once.
func TestPipelineRequests(t *testing.T) {
	t.Parallel()
	plan := func(sql string) llm.Line {
		return llm.Say(`{"plan":{"sql":"` + sql + `","type":"sql_plan","target_table":"orders"},"quality":"high","explain":"The sum.","questions":[],"decline":""}`)
	}
	sent := requestsOf(t, "pipeline", 0, []string{"What is the sum?"}, plan("SELECT 5"),
		llm.Say(`{"satisfaction":"satisfied","notes":"It is 5.","issues":[],"improvements":[]}`))
	if len(sent) != 2 {
		t.Fatalf("%d requests", len(sent))
	}
	// A model that is held to a schema writes in its order: the query before what is said of it.
	for i, fields := range [][]string{{"plan", "explain", "quality", "questions", "decline"}, {"issues", "improvements", "satisfaction", "notes"}} {
		at := 0
		for _, name := range fields {
			next := strings.Index(string(sent[i].Output), `"`+name+`":{`)
			if next < at {
				t.Errorf("%s stands at %d after %d: %s", name, next, at, sent[i].Output)
			}
			at = next
		}
	}
	judged := sent[1].Messages[0].Text
	if strings.Count(judged, "SELECT") != 1 || strings.Contains(judged, "limit_enforced") || !strings.Contains(judged, `"rows":[[5]]`) || !strings.Contains(judged, "- amount DOUBLE") {
		t.Errorf("the judge is sent %.3000s", judged)
	}
	if data, question := strings.Index(judged, `"data"`), strings.Index(judged, `"question"`); data < 0 || question < data {
		t.Error("what stays the same does not stand first")
	}
}

// TestLastCallAnswers holds that the last model call of a turn offers no tools.
func TestLastCallAnswers(t *testing.T) {
	t.Parallel()
	var lines []llm.Line
	for i := range 24 {
		lines = append(lines, llm.Ask("execute_sql", `{"dataset_id":"shop","sql":"SELECT `+strings.Repeat("1", i+1)+`"}`))
	}
	sent := analystRequests(t, []string{"Go on."}, append(lines, llm.Say("That is all."))...)
	if len(sent) != 25 {
		t.Fatalf("%d requests", len(sent))
	}
	note := func(r llm.Request) string { return r.Messages[len(r.Messages)-1].Text }
	if len(sent[23].Tools) == 0 || !strings.Contains(note(sent[23]), "one time more") {
		t.Errorf("the last call with tools: %d tools, %q", len(sent[23].Tools), note(sent[23]))
	}
	if len(sent[24].Tools) != 0 || !strings.Contains(note(sent[24]), "Answer now") {
		t.Errorf("the last call: %d tools, %q", len(sent[24].Tools), note(sent[24]))
	}
}

// TestWorkbenchRequests looks at what the model of a longer analysis is sent: the data, the
// date, no definition of a tool that is too long, and what stays the same first.
func TestWorkbenchRequests(t *testing.T) {
	t.Parallel()
	query := func(sql string) llm.Line {
		return llm.Ask("run_sql", `{"dataset_id":"shop","name":"sales","sql":"`+sql+`"}`)
	}
	sent := requestsOf(t, "workbench", 0, []string{"What is the sum?", "And by note?"},
		query("SELECT sum(amount)"), llm.Say("It is 11,632.37."), query("SELECT note, sum(amount)"), llm.Say("It is 11,632.37."))
	if len(sent) != 4 {
		t.Fatalf("%d requests for two turns", len(sent))
	}
	for i, r := range sent {
		data := strings.Index(r.System, "## The data\nDataset shop")
		if data < 0 || !strings.Contains(r.System, "- amount DOUBLE, 1 to 5: In euro.") {
			t.Fatalf("request %d does not describe the data:\n%.2000s", i+1, r.System)
		}
		// Tools and the description of the data stay the same over states and turns.
		before, now := wire(t, sent[0]), wire(t, r)
		if end := strings.Index(now, "In euro.\\n\\nReport only"); end < 0 || len(before) < end || before[:end] != now[:end] {
			t.Errorf("request %d begins differently than the first", i+1)
		}
	}
	if text := sent[0].Messages[0].Text; !strings.Contains(text, "[dataset_id: shop]") || !strings.Contains(text, "[today: 20") {
		t.Errorf("the person's text: %q", text)
	}
	if raw, err := json.Marshal(sent[0].Tools); err != nil || len(raw) > 8000 {
		t.Errorf("%d bytes of tools, %v", len(raw), err)
	}
	if result := sent[1].Messages[len(sent[1].Messages)-1].Text; strings.Contains(result, "intent") || !strings.Contains(result, "11632.37") {
		t.Errorf("the result as it is sent: %s", result)
	}
	followUp, err := json.Marshal(sent[2].History)
	if err != nil || !strings.Contains(string(followUp), "SELECT sum(amount)") || !strings.Contains(string(followUp), "11632.37") || strings.Contains(string(followUp), "11632.369") {
		t.Errorf("the follow-up does not see the statement and its result: %s %v", followUp, err)
	}
}

// TestOutputFormatRequests holds that the form of the answer stands in every request of the
// thread, and no other form.
func TestOutputFormatRequests(t *testing.T) {
	t.Parallel()
	forms := map[string]string{"json": "one JSON document and nothing else", "table": "one Markdown table with plain headings", "report": "call `write_report` once"}
	for set := range forms {
		sent := requestsIn(t, engine.Opening{Machine: "workbench", Owner: "ann", Dataset: "shop", Settings: map[string]any{"output_format": set}}, 0, []string{"What is the sum?"},
			llm.Ask("run_sql", `{"dataset_id":"shop","name":"sales","sql":"SELECT 1"}`), llm.Ask("run_python", `{"code":"print(sales)"}`), llm.Say("It is 11,632.37."))
		for i, r := range sent {
			for form, text := range forms {
				if strings.Contains(r.System, text) != (form == set) {
					t.Errorf("%s: request %d has %s: %v", set, i+1, form, form != set)
				}
			}
		}
		if len(sent) != 3 {
			t.Errorf("%s: %d requests", set, len(sent))
		}
	}
}

// TestAssistantRequests looks at what the model that queries a found table is sent: the
// dataset of the table in words, the table without its columns, and the date.
func TestAssistantRequests(t *testing.T) {
	t.Parallel()
	sent := requestsOf(t, "assistant", 0, []string{"How many orders are there?", "And paid ones?"},
		llm.Ask("sql_select", `{"source_id":"shop","sql":"SELECT count(*) FROM orders"}`), llm.Say("There are 5."),
		llm.Ask("sql_select", `{"source_id":"shop","sql":"SELECT count(*) FROM orders WHERE paid"}`), llm.Say("There are 5."))
	if len(sent) != 4 {
		t.Fatalf("%d requests for two turns", len(sent))
	}
	first := sent[0]
	for _, want := range []string{"## The data\nDataset shop", "- amount DOUBLE, 1 to 5: In euro.", `"fully_qualified_name":"orders"`} {
		if !strings.Contains(first.System, want) {
			t.Errorf("the prompt lacks %q:\n%.3000s", want, first.System)
		}
	}
	if strings.Contains(first.System, "secret_column") {
		t.Error("the columns stand twice in the prompt")
	}
	if text := first.Messages[0].Text; !strings.Contains(text, "[today: 20") {
		t.Errorf("the person's text: %q", text)
	}
	followUp, err := json.Marshal(sent[2].History)
	if err != nil || !strings.Contains(string(followUp), "SELECT count(*) FROM orders") {
		t.Errorf("the follow-up does not see the statement: %s %v", followUp, err)
	}
	later := requestsOf(t, "assistant", 0, []string{"How many orders are there?"}, llm.Ask("request_capability", `{"name":"documents","why":"to look"}`),
		llm.Ask("schema_search", `{"query":"orders"}`), llm.Say("I do not know."))
	if len(later) != 3 || !strings.Contains(later[2].System, "## The data\nDataset found later") {
		t.Errorf("%d requests; what a search in the middle of a turn found is not described", len(later))
	}
	small := requestsOf(t, "assistant", 4096, []string{"How many orders are there?"}, llm.Say("I do not know."))
	if n := len(small[0].System); n > 2*4096 {
		t.Errorf("the prompt of a model with a small context has %d bytes", n)
	}
}

// TestSmallContext holds that a model with a small context is sent less: less about the
// data, shorter results, and the newest of the earlier turns.
func TestSmallContext(t *testing.T) {
	t.Parallel()
	var turns []string
	var lines []llm.Line
	for i := range 8 {
		turns = append(turns, fmt.Sprintf("Question %d?", i+1))
		lines = append(lines, llm.Ask("execute_sql", fmt.Sprintf(`{"dataset_id":"shop","sql":"SELECT %d"}`, i)), llm.Say(strings.Repeat("The sum is 11,632.37. ", 40)))
	}
	const context = 4096
	sent := requestsOf(t, "analyst", context, turns, lines...)
	last := sent[len(sent)-1]
	if n := len(last.System); n > 2*context {
		t.Errorf("the prompt has %d bytes", n)
	}
	if !strings.Contains(last.System, "- amount DOUBLE") {
		t.Error("nothing is said about the data")
	}
	raw, err := json.Marshal(last.History)
	if err != nil || len(raw) > context || len(last.History) == 0 {
		t.Fatalf("%d messages of %d bytes go along, %v", len(last.History), len(raw), err)
	}
	if first := last.History[0]; first.Role != llm.User || !strings.Contains(string(raw), "Question 7?") || strings.Contains(string(raw), "Question 1?") {
		t.Errorf("the history begins with %+v", first)
	}
	total := len(wire(t, last))
	if total*2/7 > context*7/8 { // a token has some 3.5 bytes, and the reply needs room
		t.Errorf("the whole request has %d bytes", total)
	}
}

// TestSlipsUseUpNoTool holds that wrong arguments are told to the model and that the tool
// stays offered, however often they come.
func TestSlipsUseUpNoTool(t *testing.T) {
	t.Parallel()
	var lines []llm.Line
	for i := range 5 {
		lines = append(lines, llm.Ask("get_dataset_schema", fmt.Sprintf(`{"dataset_id":{"name":%d}}`, i)))
	}
	sent := analystRequests(t, []string{"What is there?"}, append(lines, llm.Say("I do not know."))...)
	if len(sent) != 6 {
		t.Fatalf("%d requests", len(sent))
	}
	last := sent[5]
	if !slices.ContainsFunc(last.Tools, func(tool llm.Tool) bool { return tool.Name == "get_dataset_schema" }) {
		t.Error("the tool is no longer offered")
	}
	for _, m := range last.Messages {
		if m.Role == llm.ToolRole && (!m.Failed || !strings.Contains(m.Text, "dataset_id")) {
			t.Errorf("the model is told %q", m.Text)
		}
	}
}
