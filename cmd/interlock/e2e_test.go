package main

import (
	"encoding/json"
	"io"
	"net/http"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"interlock/internal/llm/aimock"
)

// A call and its result as the stream tells them.
type (
	toldCall struct {
		Name string `json:"name"`
		Call string `json:"call_id"`
	}
	toldResult struct {
		Name      string          `json:"name"`
		Call      string          `json:"call_id"`
		Status    string          `json:"status"`
		Reason    string          `json:"reason"`
		TriesLeft *int            `json:"tries_left"`
		Output    json.RawMessage `json:"output"`
	}
)

// revenue is a turn with everything that goes wrong in one: two calls in a reply, a
// statement that fails and comes back with the tries left, calls that nobody offered.
// Each line waits for a word of the result before it, so that the turn only ends when
// the model was told what it must be told.
var revenue = []aimock.Fixture{
	{User: "revenue", Text: "Let me look at the data first.", Calls: []aimock.Call{
		{ID: "call_a", Name: "get_dataset_schema", Args: `{"dataset_id":"shop"}`},
		{ID: "call_b", Name: "execute_sql", Args: `{"dataset_id":"shop","sql":"SELECT sum(revenue) FROM orders"}`},
	}},
	{User: "revenue", Result: `"tries_left":2`, Calls: []aimock.Call{
		{ID: "call_c", Name: "describe_tables", Args: `{"dataset_id":"shop"}`},
		{ID: "call_d", Name: "launch_rockets", Args: `{"where":"moon"}`},
	}},
	{User: "revenue", Result: "unknown_tool", Calls: []aimock.Call{
		{ID: "call_e", Name: "execute_sql", Args: `{"dataset_id":"shop","sql":"SELECT c.city, sum(o.amount) AS total FROM orders o JOIN customers c ON c.id = o.customer_id WHERE o.status = 'paid' GROUP BY c.city ORDER BY c.city"}`},
	}},
	{User: "revenue", Result: "130.74", Text: "Paid orders brought 130.74, all of it from Bern."},
	{User: "thanks", Text: "You are welcome."},
}

// TestTurn takes a turn through the real process with the real streams of both
// providers, and then drives it again from its recording.
func TestTurn(t *testing.T) {
	if testing.Short() {
		t.Skip("starts a Node process")
	}
	url := aimock.Start(t, revenue...)
	for provider, set := range map[string]struct{ flags, env []string }{
		"anthropic": {[]string{"--provider", "anthropic", "--anthropic-url", url}, []string{"ANTHROPIC_API_KEY=sk-test-secret"}},
		"openai":    {[]string{"--provider", "openai", "--openai-url", url + "/v1", "--model", "gpt-4.1"}, []string{"OPENAI_API_KEY=sk-test-secret"}},
	} {
		t.Run(provider, func(t *testing.T) {
			w := newWorld(t)
			w.flags, w.env = append(w.flags, set.flags...), append(w.env, set.env...)
			p := w.serve()
			all := p.say(`{"message":"What is the revenue by city?","dataset_id":"shop"}`)
			chat := checkTurn(t, all)
			checkCapsule(t, p, chat)
			checkLater(t, p, chat)
			if code := p.stop(); code != 0 {
				t.Errorf("the server ended with %d:\n%s", code, p.log)
			}
			if strings.Contains(p.log.String(), "sk-test-secret") {
				t.Error("the key is in the log")
			}
			out, errs, code := w.run("replay", chat.Run)
			if code != 0 || !strings.Contains(out, "the same byte for byte") {
				t.Errorf("replay gave %d: %s%s", code, out, errs)
			}
			out, errs, code = w.run("replay", chat.Run, "--data")
			if code != 0 || strings.Count(out, " same") != 3 {
				t.Errorf("replay --data gave %d: %s%s", code, out, errs)
			}
		})
	}
}

// checkTurn holds the stream of the turn against what it must tell, in order.
func checkTurn(t *testing.T, all []told) chatResponse {
	t.Helper()
	var tokens []string
	for _, tok := range pick[struct{ Text string }](t, all, "token") {
		tokens = append(tokens, tok.Text)
	}
	if text := strings.Join(tokens, ""); text != "Let me look at the data first.Paid orders brought 130.74, all of it from Bern." || len(tokens) < 6 {
		t.Errorf("%d tokens %q", len(tokens), tokens)
	}
	var calls, results []string
	for _, c := range pick[toldCall](t, all, "tool_call") {
		calls = append(calls, c.Name)
	}
	tries := map[string]int{}
	for _, r := range pick[toldResult](t, all, "tool_result") {
		results = append(results, strings.Join([]string{r.Name, r.Status, r.Reason}, " "))
		if r.TriesLeft != nil {
			tries[r.Name] = *r.TriesLeft
		}
	}
	if want := []string{"describe_dataset", "get_dataset_schema", "execute_sql", "describe_tables", "launch_rockets", "execute_sql"}; !slices.Equal(calls, want) {
		t.Errorf("calls %q", calls)
	}
	if diff := cmp.Diff([]string{
		"describe_dataset ok ", "get_dataset_schema ok ", "execute_sql failed sql_error", "describe_tables refused tool_not_allowed",
		"launch_rockets refused unknown_tool", "execute_sql ok ",
	}, results); diff != "" {
		t.Error(diff)
	}
	if tries["execute_sql"] != 2 {
		t.Errorf("tries left %v", tries)
	}
	if n := len(all); n < 2 || all[n-2].name != "result" || all[n-1].name != "done" {
		t.Fatalf("the stream does not end in result and done: %+v", all)
	}
	chat := the[chatResponse](t, all, "result")
	done := the[map[string]string](t, all, "done")
	if done["run_id"] != chat.Run || chat.Run == "" || chat.Thread == "" {
		t.Errorf("done %v of %+v", done, chat)
	}
	if chat.Status != "succeeded" || chat.Assistant != "Paid orders brought 130.74, all of it from Bern." || chat.Result.Error != nil {
		t.Errorf("%+v", chat)
	}
	if diff := cmp.Diff([][]any{{"Bern", 130.74}}, chat.Result.Rows); diff != "" || chat.Result.RowCount != 1 || !slices.Equal(chat.Result.Columns, []string{"city", "total"}) {
		t.Errorf("result %+v %s", chat.Result, diff)
	}
	if chat.Details["dataset_id"] != "shop" || chat.Details["query_mode"] != "sql" || !strings.Contains(chat.Details["compiled_sql"].(string), "GROUP BY") {
		t.Errorf("details %v", chat.Details)
	}
	for _, key := range []string{"plan_json", "python_code"} {
		if v, there := chat.Details[key]; !there || v != nil {
			t.Errorf("details.%s is %v", key, v)
		}
	}
	return chat
}

// checkCapsule holds the audit document of the run against the same facts.
func checkCapsule(t *testing.T, p *process, chat chatResponse) {
	t.Helper()
	var c struct {
		Run      string `json:"run_id"`
		Question string
		Dataset  string `json:"dataset_id"`
		Version  string `json:"dataset_version_hash"`
		Status   string
		Answer   string `json:"assistant_message"`
		Usage    struct{ Input, Output int }
		Models   []struct{ Model string } `json:"model_calls"`
		Tools    []struct {
			Tool, Outcome, Code string
			Result              json.RawMessage
		} `json:"tool_calls"`
	}
	p.call("GET", "/runs/"+chat.Run, "", http.StatusOK, &c)
	if c.Run != chat.Run || c.Question != "What is the revenue by city?" || c.Dataset != "shop" || c.Version == "" || c.Status != "succeeded" || c.Answer != chat.Assistant {
		t.Errorf("capsule %+v", c)
	}
	if len(c.Models) != 4 || len(c.Tools) != 6 {
		t.Fatalf("%d model calls, %d tool calls", len(c.Models), len(c.Tools))
	}
	if strings.HasPrefix(c.Models[0].Model, "gpt") && (c.Usage.Input == 0 || c.Usage.Output == 0) { // the other server counts nothing
		t.Errorf("usage %+v", c.Usage)
	}
	if last := c.Tools[len(c.Tools)-1]; last.Outcome != "returned" || !strings.Contains(string(last.Result), "130.74") {
		t.Errorf("the last call %+v", last)
	}
	var status map[string]string
	p.call("GET", "/runs/"+chat.Run+"/status", "", http.StatusOK, &status)
	if status["status"] != "succeeded" {
		t.Errorf("status %v", status)
	}
}

// checkLater goes on in the thread, and reads it as a client that comes back does.
func checkLater(t *testing.T, p *process, chat chatResponse) {
	t.Helper()
	var next chatResponse
	p.call("POST", "/chat", `{"message":"thanks","thread_id":"`+chat.Thread+`"}`, http.StatusOK, &next)
	if next.Assistant != "You are welcome." || next.Thread != chat.Thread || next.Run == chat.Run || next.Details["query_mode"] != "chat" {
		t.Errorf("%+v", next)
	}
	var said struct {
		Messages []struct{ Role, Content string }
	}
	p.call("GET", "/threads/"+chat.Thread+"/messages", "", http.StatusOK, &said)
	if len(said.Messages) != 4 || said.Messages[1].Content != chat.Assistant || said.Messages[2].Content != "thanks" {
		t.Errorf("messages %+v", said)
	}
	// All that was told after the first event, once more and without saying it again.
	res, err := p.request("POST", "/chat/stream", `{"message":"What is the revenue by city?"}`, "Last-Event-ID", chat.Thread+":1")
	if err != nil {
		t.Fatal(err)
	}
	defer res.Body.Close()
	raw, err := io.ReadAll(res.Body)
	if err != nil || res.StatusCode != http.StatusOK || strings.Count(string(raw), "event: tool_result\n") != 6 {
		t.Errorf("%v %s: %s", err, res.Status, raw)
	}
}

// TestShortcut runs a statement without any model: no token is told, and what the
// policy refuses is refused.
func TestShortcut(t *testing.T) {
	w := newWorld(t)
	w.flags = append(w.flags, "--provider", "offline")
	p := w.serve()
	all := p.say(`{"message":"sql: SELECT name FROM customers ORDER BY name","dataset_id":"shop"}`)
	var names []string
	for _, ev := range all {
		if ev.name != "state" {
			names = append(names, ev.name)
		}
	}
	if !slices.Equal(names, []string{"tool_call", "tool_result", "result", "done"}) {
		t.Errorf("told %q", names)
	}
	chat := the[chatResponse](t, all, "result")
	if diff := cmp.Diff([][]any{{"Ada"}, {"Ben"}, {"Cleo"}}, chat.Result.Rows); diff != "" {
		t.Error(diff)
	}
	p.call("POST", "/chat", `{"message":"SQL: DROP TABLE orders","dataset_id":"shop"}`, http.StatusOK, &chat)
	if chat.Status != "rejected" || chat.Result.Error == nil || chat.Result.Error.Type != "SQL_POLICY_VIOLATION" {
		t.Errorf("%+v", chat)
	}
	p.call("POST", "/chat", `{"message":"hello","dataset_id":"nowhere"}`, http.StatusNotFound, nil)
	p.call("GET", "/runs/r_none", "", http.StatusNotFound, nil)
}
