package server_test

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/google/go-cmp/cmp"

	"interlock/internal/capsule"
	"interlock/internal/event"
	"interlock/internal/fault"
	"interlock/internal/llm"
	"interlock/internal/machine"
	"interlock/internal/server"
	shipped "interlock/machines"
)

// These tests run the server on the shipped machines.

// regions answers every statement with more rows than fit into an event.
func regions(_ context.Context, in queryIn) (queryOut, error) {
	if strings.Contains(in.SQL, "DROP") {
		return queryOut{}, fault.New(fault.SQLPolicy, "DROP may not run here")
	}
	rows := [][]any{{"North", 12.5}}
	for range 200 { // large enough to be a blob of the store
		rows = append(rows, []any{"South", 7})
	}
	return queryOut{Status: "ok", Columns: []string{"region", "revenue"}, Rows: rows, RowCount: len(rows), CompiledSQL: "SELECT 1"}, nil
}

// startReal serves the shipped machines with a scripted model.
func startReal(t *testing.T, lines ...llm.Line) *rig { return startMachines(t, library(), lines...) }

// startMachines serves the machines of a library with a scripted model.
func startMachines(t *testing.T, lib *machine.Library, lines ...llm.Line) *rig {
	t.Helper()
	e := newEngine(t, lib, llm.Script(lines...), regions)
	return serve(t, e, func(c *server.Config) {
		c.Machine, c.SessionMachine, c.Machines = "analyst", "reconcile", lib
		c.Capsule = func(ctx context.Context, run string) (any, error) { return capsule.Build(ctx, e.store, run) }
	})
}

func TestRealShortcut(t *testing.T) {
	r := startReal(t)
	got := collect(t, r, `{"message":"sql: SELECT 1","dataset_id":"shop"}`, "")
	if n := slices.DeleteFunc(names(got), func(n string) bool { return n == "state" }); !slices.Equal(n, []string{"tool_call", "tool_result", "result", "done"}) {
		t.Errorf("stream %q", n)
	}
	var chat struct {
		Run    string `json:"run_id"`
		Thread string `json:"thread_id"`
		Status string
		Result struct {
			Columns  []string
			RowCount int `json:"row_count"`
			Error    any
		}
		Details map[string]any
	}
	for _, ev := range got {
		if ev.name == "result" {
			if err := json.Unmarshal([]byte(ev.data), &chat); err != nil {
				t.Fatal(err)
			}
		}
	}
	if chat.Status != "succeeded" || chat.Result.RowCount != 201 || chat.Result.Error != nil || len(chat.Result.Columns) != 2 {
		t.Errorf("%+v", chat)
	}
	want := map[string]any{"dataset_id": "shop", "query_mode": "sql", "plan_json": nil, "compiled_sql": "SELECT 1", "python_code": nil}
	if diff := cmp.Diff(want, chat.Details); diff != "" {
		t.Error(diff)
	}
	for _, sc := range []scenario{
		{name: "capsule", url: "/runs/" + chat.Run, has: []string{chat.Run, "SELECT 1"}},
		{name: "status", url: "/runs/" + chat.Run + "/status", has: []string{`"status":"succeeded","outcome":"answered"`}},
		{name: "messages", url: "/threads/" + chat.Thread + "/messages", has: []string{`"content":"sql: SELECT 1"`, `"dataset_id":"shop"`}},
		{name: "thread", url: "/api/threads/" + chat.Thread, has: []string{`"state":"answering"`, `"offered":["list_datasets"`, `"max_rows":200`}},
		{name: "machine", url: "/api/machines/analyst", has: []string{`"shortcuts":["SQL:","PYTHON:","always mean"]`, `"name":"answering"`}},
		{name: "policy", method: "POST", url: "/chat", body: `{"message":"SQL: DROP TABLE orders","dataset_id":"shop"}`, has: []string{`"status":"rejected","outcome":"refused"`, `"type":"SQL_POLICY_VIOLATION"`}},
		{name: "sql", method: "POST", url: "/runs", body: `{"dataset_id":"shop","query_type":"sql","sql":"SELECT 2"}`, has: []string{`"status":"succeeded"`, `"query_mode":"sql"`}},
		{name: "plan", method: "POST", url: "/runs", body: `{"dataset_id":"shop","query_type":"plan","plan":{"table":"orders"}}`, has: []string{`"query_mode":"plan"`, `"plan_json":{"table":"orders"}`, `"compiled_sql":"SELECT 1"`}},
		{name: "python", method: "POST", url: "/runs", body: `{"dataset_id":"shop","query_type":"python","python_code":"result_df = orders"}`, has: []string{`"query_mode":"python"`, `"python_code":"result_df = orders"`}},
		{name: "no SQL here", method: "POST", url: "/chat", body: `{"message":"SQL: SELECT 1","dataset_id":"shop","machine":"reconcile"}`, has: []string{`"status":"declined","outcome":"declined"`, "runs no SQL"}},
		{name: "setting out of bounds", method: "POST", url: "/chat", body: `{"message":"x","settings":{"max_rows":0}}`, status: 422},
		{name: "unknown machine", method: "POST", url: "/chat", body: `{"message":"x","machine":"none"}`, status: 404},
	} {
		t.Run(sc.name, func(t *testing.T) { sc.run(t, r) })
	}
}

// The model's turn is cut after every event, while it runs and afterwards.
func TestRealResume(t *testing.T) {
	sql := `{"dataset_id":"shop","sql":"SELECT region, revenue FROM orders"}`
	reached, goOn := make(chan struct{}), make(chan struct{})
	last := llm.Say("North leads.")
	last.Before = func(ctx context.Context, _ llm.Request) error {
		close(reached)
		select {
		case <-goOn:
			return nil
		case <-ctx.Done():
			return ctx.Err()
		}
	}
	first := llm.Line{Text: []string{"Let me ", "look."}, Calls: []llm.Call{{Name: "execute_sql", Args: sql}}}
	r := startReal(t, first, llm.Ask("execute_sql", sql), llm.Ask("drop_everything", `{}`), last)

	// While the turn runs each connection takes one stored event and leaves; the
	// model's last word waits for the first that finds nothing more to take.
	body := `{"message":"Revenue by region","dataset_id":"shop"}`
	var told []received
	for at := ""; ; {
		n := len(told)
		listen(t, r, "POST", "/chat/stream", body, at, func(ev received) bool {
			if ev.id == "" {
				return true
			}
			told, at = append(told, ev), ev.id
			return false
		})
		if len(told) == n {
			break // 204: the turn has rested and all was told
		}
		if told[n].name == "tool_result" && strings.Contains(told[n].data, "drop_everything") {
			<-reached
			close(goOn)
		}
	}
	want := []string{
		"state", "tool_call", "tool_result", // the description of the dataset
		"state", "token", "tool_call", "tool_result", "tool_call", "tool_result", "tool_call", "tool_result", "token", "result", "done",
	}
	if diff := cmp.Diff(want, names(told)); diff != "" {
		t.Fatal(diff)
	}
	for i, status := range map[int]string{6: "ok", 8: "duplicate", 10: "refused"} {
		if !strings.Contains(told[i].data, `"status":"`+status+`"`) {
			t.Errorf("result %d is not %s: %.300s", i, status, told[i].data)
		}
	}
	for cut := range told {
		rest := stored(collect(t, r, body, told[cut].id))
		if diff := cmp.Diff(told[cut+1:], rest, cmp.AllowUnexported(received{}), cmp.Transformer("whole", unmarkWhole), equateEmpty); diff != "" {
			t.Fatalf("cut after %s: %s", told[cut].id, diff)
		}
	}
	if runs := get[map[string][]any](t, r, "GET", "/runs", "")["runs"]; len(runs) != 1 {
		t.Errorf("%d runs", len(runs))
	}
}

var equateEmpty = cmp.FilterValues(func(a, b []received) bool { return len(a)+len(b) == 0 }, cmp.Ignore())

func TestRealStop(t *testing.T) {
	line := llm.Say("never")
	line.Before = func(ctx context.Context, _ llm.Request) error {
		<-ctx.Done()
		return ctx.Err()
	}
	r := startReal(t, line)
	var status string
	listen(t, r, "POST", "/chat/stream", `{"message":"think"}`, "", func(ev received) bool {
		if ev.name == "state" && !strings.Contains(ev.data, `"cause":"turn"`) {
			thread, _, _ := strings.Cut(ev.id, ":")
			r.do(t, "POST", "/api/threads/"+thread+"/stop", "")
		}
		if ev.name == "done" {
			status = ev.data
		}
		return true
	})
	if !strings.Contains(status, `"status":"stopped"`) {
		t.Errorf("done %s", status)
	}
}

// A client that follows the log says things by /api/turns and reads all that comes of
// them in the events of the thread, from the place that the answer names.
func TestTurnAndItsEvents(t *testing.T) {
	r := startReal(t, llm.Say("North leads."), llm.Say("South follows."))
	type begun struct {
		Thread string `json:"thread_id"`
		Run    string `json:"run_id"`
		After  int64
	}
	var first begun
	for i, want := range []string{"North leads.", "South follows."} {
		turn := get[begun](t, r, "POST", "/api/turns", toJSON(t, map[string]any{"message": "Who leads?", "thread_id": first.Thread}))
		var kinds []string
		var last event.Event
		listen(t, r, "GET", fmt.Sprintf("/api/threads/%s/events?after=%d", turn.Thread, turn.After), "", "", func(ev received) bool {
			if ev.id != "" {
				kinds = append(kinds, ev.name)
			}
			if err := json.Unmarshal([]byte(ev.data), &last); err != nil {
				t.Fatal(err)
			}
			return ev.name != "turn_ended"
		})
		ended, _ := last.Body.(event.TurnEnded)
		if ended.Run != turn.Run || ended.Text != want {
			t.Errorf("turn %d ended with %+v", i, ended)
		}
		begin := "turn_started"
		if i == 0 {
			begin, first = "thread_opened", turn
		}
		if kinds[0] != begin || (turn.After == 0) != (i == 0) || turn.Thread != first.Thread {
			t.Errorf("turn %d %+v began with %q", i, turn, kinds)
		}
	}
}

func toJSON(t *testing.T, v any) string {
	t.Helper()
	raw, err := json.Marshal(v)
	if err != nil {
		t.Fatal(err)
	}
	return string(raw)
}

// asker asks in which town, and takes the towns that it knows.
const asker = `
name: asker
facts:
  town:  {type: string, by: person}
  towns: {type: list(string), default: [Bern, Ulm]}
start: asking
states:
  asking: {kind: ask, card: where, in: {towns: towns}, go: [{to: told}]}
  told:   {kind: final}
cards:
  where:
    title: In which town?
    content: {towns: list(string)}
    message: in
    answers:
      in:
        label: In
        fields: {town: string}
        when: 'lower(trim(event.fields.town)) in map(event.content.towns, lower(#))'
        otherwise: '"There is no town " + event.fields.town + ". Choose one of " + join(event.content.towns, ", ") + "."'
        set: {town: trim(event.fields.town)}
reply: {message: '"in " + town'}
`

// An answer that the card does not take says what it takes, and the card stays open;
// so does a name that is none of its answers.
func TestWrongAnswerKeepsCard(t *testing.T) {
	all := shipped.All()
	all["asker"] = fstest.MapFS{"machine.yaml": {Data: []byte(asker)}}
	r := startMachines(t, machine.Open(machine.LibraryConfig{Shipped: all}))
	asked := get[struct {
		Thread string `json:"thread_id"`
		Card   struct {
			ID string `json:"card_id"`
		}
		Result map[string]any
	}](t, r, "POST", "/chat", `{"message":"hello","machine":"asker"}`)
	if diff := cmp.Diff(map[string]any{"columns": []any{}, "rows": []any{}, "row_count": 0.0, "exec_time_ms": 0.0, "error": nil}, asked.Result); diff != "" {
		t.Errorf("the reply of another machine lacks what the default one has: %s", diff)
	}
	answer := func(name, town string) string {
		return toJSON(t, map[string]any{"thread_id": asked.Thread, "card_response": map[string]any{
			"card_id": asked.Card.ID, "answer": name, "fields": map[string]any{"town": town},
		}})
	}
	message := func(text string) string { return toJSON(t, map[string]any{"thread_id": asked.Thread, "message": text}) }
	takes := []string{`"code":"bad_answer"`, "There is no town Bren. Choose one of Bern, Ulm.", "still open"}
	for _, sc := range []scenario{
		{name: "typo in a field", method: "POST", url: "/chat", body: answer("in", "Bren"), status: 422, has: takes},
		{name: "typo in a message", method: "POST", url: "/chat", body: message("Bren"), status: 422, has: takes},
		{name: "typo, streamed", method: "POST", url: "/chat/stream", body: message("Bren"), status: 422, has: takes},
		{name: "typo on the page", method: "POST", url: "/api/turns", body: message("Bren"), status: 422, has: takes},
		{name: "no such answer", method: "POST", url: "/chat", body: answer("at", "Bern"), status: 422, has: []string{`no answer \"at\"; it takes in`}},
		{name: "card is open", url: "/api/threads/" + asked.Thread, has: []string{`"status":"waiting"`, asked.Card.ID}},
		{name: "right answer", method: "POST", url: "/chat", body: message("bern"), has: []string{`"assistant_message":"in bern"`, `"outcome":"answered"`}},
	} {
		t.Run(sc.name, func(t *testing.T) { sc.run(t, r) })
	}
}

// A message that closes the open card of an earlier run is followed to the rest of its
// own run: the end of the earlier one, which is stored before it, is not in its stream.
func TestStreamAfterClosedCard(t *testing.T) {
	all := shipped.All()
	all["asker"] = fstest.MapFS{"machine.yaml": {Data: []byte(strings.Replace(asker, "    message: in\n", "", 1))}}
	r := startMachines(t, machine.Open(machine.LibraryConfig{Shipped: all}))
	first := get[map[string]any](t, r, "POST", "/chat", `{"message":"hello","machine":"asker"}`)
	got := collect(t, r, toJSON(t, map[string]any{"thread_id": first["thread_id"], "message": "again"}), "")
	if diff := cmp.Diff([]string{"state", "state", "card", "result", "done"}, names(got)); diff != "" {
		t.Error(diff)
	}
	for _, ev := range got {
		if strings.Contains(ev.data, first["run_id"].(string)) {
			t.Errorf("%s is of the earlier run: %s", ev.name, ev.data)
		}
	}
}
