package server_test

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"
	"time"

	"interlock/internal/engine"
	"interlock/internal/event"
	"interlock/internal/fault"
	"interlock/internal/store"
)

// A script plays one turn; which one, the first word of the message says.
type script struct {
	f   *fake
	t   *fakeThread
	run string
	ctx context.Context
}

const rowsJSON = `{"status":"ok","columns":["region","revenue","orders"],"rows":[["North",1204300.5,812],["South",98221,77],["East",null,3],["West",455000.25,390]],"row_count":4,"exec_time_ms":12,"error":null}`

func (s *script) play(text string) {
	word, _, _ := strings.Cut(text, " ")
	switch strings.ToLower(word) {
	case "sql:", "direct":
		s.enter("answering", "turn")
		s.tool("execute_sql", `{"dataset_id":"shop","sql":"`+"select 1"+`"}`, rowsJSON)
		s.end(event.Answered, "4 rows.", "", fields(`"succeeded"`, rowsJSON))
	case "reject":
		s.enter("answering", "turn")
		call := s.reply("I will delete it.", "execute_sql", `{"sql":"drop table orders"}`)
		s.store(event.ToolFailed{Call: call, Tool: "execute_sql", Args: event.Of([]byte(`{"sql":"drop table orders"}`)), Code: fault.SQLPolicy, Message: "DROP may not run here", TriesLeft: 2})
		s.say("That is not possible.")
		s.end(event.Refused, "That is not possible.", "", fields(`"rejected"`, `{"error":{"type":"SQL_POLICY_VIOLATION","message":"DROP may not run here"}}`))
	case "decline", "question":
		s.enter("answering", "turn")
		s.say("I cannot say.")
		outcome := event.Declined
		if word == "question" {
			outcome = event.Asked
		}
		s.end(outcome, "I cannot say.", "", nil)
	case "fail":
		s.enter("answering", "turn")
		s.store(event.ModelFailed{Call: "m", Code: fault.ModelFailed, Message: "overloaded"})
		s.end(event.Failed, "", fault.ModelFailed, nil)
	case "card":
		s.enter("demonstration", "turn")
		s.say("Do these two rows belong together?")
		s.card()
	case "answered":
		s.say("Noted. That makes **3 confirmed pairs**.")
		s.enter("inference", "answered")
		s.end(event.Answered, "Noted. That makes **3 confirmed pairs**.", "", map[string]json.RawMessage{"recipe_draft": json.RawMessage(`{"rules":[]}`)})
	case "wait":
		s.enter("answering", "turn")
		s.token("Thinking ")
		<-s.ctx.Done()
		s.end(event.Stopped, "", fault.Stopped, nil)
	default:
		s.long()
	}
}

// long is a turn with everything in it.
func (s *script) long() {
	s.enter("answering", "turn")
	call := s.reply("Let me look at the schema first.", "get_dataset_schema", `{"dataset_id":"shop"}`)
	s.start(call, "get_dataset_schema", `{"dataset_id":"shop"}`)
	s.store(event.ToolReturned{Call: call, Tool: "get_dataset_schema", Result: event.Of([]byte(`{"tables":[{"table_name":"orders"}]}`)), Model: event.Show{All: true}, MS: 4})
	const sql = "SELECT region, sum(amount) AS revenue, count(*) AS orders\nFROM orders\nWHERE order_date >= DATE '2026-01-01'\nGROUP BY region\nORDER BY revenue DESC"
	args, _ := json.Marshal(map[string]string{"dataset_id": "shop", "sql": sql})
	call = s.reply("", "execute_sql", string(args))
	s.start(call, "execute_sql", string(args))
	s.transient(event.ToolProgress{Call: call, Tool: "execute_sql", Note: "reading orders"})
	s.store(event.ToolReturned{Call: call, Tool: "execute_sql", Result: event.Of([]byte(rowsJSON)), Person: event.Show{All: true}, Model: event.Show{All: true}, MS: 12})
	s.store(event.ArtifactMade{ID: "a_1", Name: "revenue by region.csv", Type: "csv", MIME: "text/csv", Bytes: 2048, Call: call, Producer: "sql", Version: 1, CreatedAt: time.Now()})
	dup := s.reply("", "execute_sql", string(args))
	s.store(event.ToolReturned{Call: dup, Tool: "execute_sql", Result: event.Of([]byte(rowsJSON)), Person: event.Show{Fields: []string{"row_count", "columns"}}, Duplicate: call, Reason: fault.DuplicateCall})
	call = s.reply("", "execute_python", `{"dataset_id":"shop","python_code":"print(open('/etc/passwd').read())"}`)
	s.store(event.ToolRefused{Call: call, Tool: "execute_python", State: "answering", Args: event.Of([]byte(`{"python_code":"print(open('/etc/passwd').read())"}`)), Code: fault.FeatureDisabled, Message: "Python is switched off", When: "settings.python", Saw: map[string]any{"settings.python": false}})
	const text = "Revenue is highest in **North** with `1,204,300.50`.\n\n- North: 812 orders\n- South: 77 orders\n\n| region | share |\n|---|---|\n| North | 69 % |\n\n![pixel](https://evil.example/x.png) <b>not bold</b>"
	s.say(text)
	s.end(event.Answered, text, "", fields(`"succeeded"`, rowsJSON))
}

func fields(status, result string) map[string]json.RawMessage {
	return map[string]json.RawMessage{
		"status": json.RawMessage(status), "result": json.RawMessage(result),
		"details": json.RawMessage(`{"dataset_id":"shop","query_mode":"sql","plan_json":null,"compiled_sql":"select 1"}`),
	}
}

func (s *script) store(bodies ...event.Body) {
	s.f.mu.Lock()
	defer s.f.mu.Unlock()
	s.f.record(s.t, bodies...)
}

func (s *script) transient(b event.Body) {
	s.f.mu.Lock()
	s.f.show(s.t, b)
	s.f.mu.Unlock()
	s.pause(s.f.pace)
}

// pause makes the page's demonstration look alive; tests have no pace.
func (s *script) pause(d time.Duration) {
	if d > 0 {
		select {
		case <-time.After(d):
		case <-s.ctx.Done():
		}
	}
}

// call is the id of the present model call; a resumed run goes on counting.
func (s *script) call() string { return fmt.Sprintf("%s-m%d", s.run, s.t.calls) }

func (s *script) token(text string) { s.transient(event.Token{Call: s.call(), Text: text}) }

func (s *script) enter(state, cause string) {
	s.store(event.StateEntered{From: s.t.head.State, To: state, Cause: cause, When: "true"})
}

func (s *script) say(text string) {
	s.t.calls++
	for piece := range strings.SplitAfterSeq(text, " ") {
		s.token(piece)
	}
	s.store(event.ModelReplied{Call: s.call(), Model: "fake", Text: text, MS: 20})
}

// reply says something and asks for a call, whose id it gives.
func (s *script) reply(text, tool, args string) string {
	s.t.calls++
	if text != "" {
		for piece := range strings.SplitAfterSeq(text, " ") {
			s.token(piece)
		}
	}
	id := "c" + s.call()
	s.store(event.ModelReplied{Call: s.call(), Model: "fake", Text: text, Calls: []event.ModelCall{{ID: id, Name: tool, Args: event.Of([]byte(args))}}})
	return id
}

func (s *script) start(call, tool, args string) {
	s.store(event.ToolStarted{Call: call, Tool: tool, Args: event.Of([]byte(args)), State: "answering", By: "model"})
	s.pause(10 * s.f.pace)
}

func (s *script) tool(name, args, result string) {
	s.t.calls++
	s.store(event.ToolStarted{Call: s.call(), Tool: name, Args: event.Of([]byte(args)), By: "shortcut"})
	s.store(event.ToolReturned{Call: s.call(), Tool: name, Result: event.Of([]byte(result)), Person: event.Show{All: true}, MS: 12})
}

func (s *script) card() {
	s.f.mu.Lock()
	defer s.f.mu.Unlock()
	card := event.CardRaised{
		Card: s.f.id("k"), Name: "match", Title: "Is this a match?", State: "demonstration",
		Content: event.From(map[string]any{
			"left":   map[string]any{"invoice": "INV-1003", "customer": "Müller GmbH", "amount": 1190.00, "date": "2026-03-04"},
			"right":  map[string]any{"reference": "RE INV 1003", "payer": "MUELLER GMBH", "amount": 1190.00, "date": "2026-03-06"},
			"reason": "Same amount; the reference holds the invoice number.",
		}),
		Answers: []event.CardChoice{
			{Name: "confirm", Label: "Confirm", Key: "y"},
			{Name: "reject", Label: "Reject", Key: "n"},
			{Name: "scope", Label: "Choose another period", Key: "s", Fields: map[string]string{"month": "string", "open_only": "bool"}},
		},
	}
	s.t.card, s.t.head.Status = &card, store.Waiting
	s.setRun("waiting")
	s.f.record(s.t, card)
}

// setRun changes the run's row; the lock is held.
func (s *script) setRun(status string) {
	for _, r := range s.f.runs {
		if r.ID == s.run {
			r.Status = status
			if status != "waiting" {
				r.Last, r.Ended = s.t.head.Seq+1, time.Now()
			}
		}
	}
}

func (s *script) end(status event.Outcome, text string, code fault.Code, fields map[string]json.RawMessage) {
	s.f.mu.Lock()
	defer s.f.mu.Unlock()
	s.t.head.Status = store.Idle
	s.setRun(string(status))
	if text != "" {
		s.t.msgs = append(s.t.msgs, engine.Message{Role: "assistant", Content: text, RunID: s.run, CreatedAt: time.Now()})
	}
	s.t.stop()
	s.f.record(s.t, event.TurnEnded{Run: s.run, Status: status, Code: code, Text: text, State: s.t.head.State, MS: 321, Usage: event.Usage{Input: 1200, Output: 80}, Reply: event.From(fields)})
}
