package main

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"

	"interlock/internal/capsule"
	"interlock/internal/engine"
	"interlock/internal/engine/enginetest"
	"interlock/internal/event"
	"interlock/internal/machine"
	"interlock/internal/store"
	"interlock/internal/tool"
	"interlock/internal/toolbox"
	"interlock/machines"
)

// books are a ledger and a statement: of 24 invoices 20 are paid, and two entries of the
// statement belong to nothing.
func books() map[string]string {
	var ledger, bank strings.Builder
	ledger.WriteString("invoice_no,customer,issued,total\n")
	bank.WriteString("entry,booked,text,amount\n")
	names := []string{"Alder & Sons", "Birch Trading", "Cedar Works", "Dogwood Ltd", "Elm Partners"}
	for i := range 24 {
		fmt.Fprintf(&ledger, "INV-%05d,%s,2025-03-%02d,%d.%02d\n", 20100+i*7, names[i%len(names)], 1+i%27, 100+i*13, i%100)
	}
	for i := 23; i >= 4; i-- {
		fmt.Fprintf(&bank, "%d,2025-04-%02d,TRANSFER %s REF INV%d,%d.%02d\n", 900+i, 1+i%27, strings.ToUpper(names[i%len(names)]), 20100+i*7, 100+i*13, i%100)
	}
	bank.WriteString("801,2025-05-01,BANK FEE,-3.50\n802,2025-05-02,BANK FEE,-4.50\n")
	return map[string]string{"data/books/ledger.csv": ledger.String(), "data/books/bank.csv": bank.String()}
}

// A sitting is one session through /api/chat, with the server that runs at the moment.
type sitting struct {
	*world
	proc *process
	last struct {
		Session string `json:"session_id"`
		Phase   string `json:"phase"`
		Status  string `json:"status"`
		Message struct {
			Segments []segment `json:"segments"`
		} `json:"message"`
		Recipe json.RawMessage `json:"recipe_draft"`
	}
}

// A segment is a part of what the assistant said.
type segment struct {
	Type    string          `json:"type"`
	Content json.RawMessage `json:"content"`
}

// say sends a body and wants the session in that phase afterwards, "" for any.
func (s *sitting) say(phase string, body map[string]any) {
	s.t.Helper()
	if s.last.Session != "" {
		body["session_id"] = s.last.Session
	}
	s.last.Message.Segments, s.last.Recipe = nil, nil
	s.proc.call("POST", "/api/chat", toJSON(body), 200, &s.last)
	if phase != "" && s.last.Phase != phase {
		s.t.Fatalf("%v: phase %s, want %s: %s", body, s.last.Phase, phase, s.text())
	}
}

// begin opens the session with a message and settings of the machine.
func (s *sitting) begin(text string, settings map[string]any) {
	s.t.Helper()
	var r struct {
		Thread string          `json:"thread_id"`
		Text   string          `json:"assistant_message"`
		Card   json.RawMessage `json:"card"`
	}
	s.proc.call("POST", "/chat", toJSON(map[string]any{"message": text, "machine": "reconcile", "settings": settings}), 200, &r)
	s.last.Session = r.Thread
	s.last.Message.Segments = append(s.last.Message.Segments[:0], segment{"text", json.RawMessage(toJSON(r.Text))}, segment{"card", r.Card})
}

func (s *sitting) message(phase, text string) {
	s.t.Helper()
	s.say(phase, map[string]any{"message": text})
}

// answer answers the open card, which must be of that name.
func (s *sitting) answer(phase, card, answer string) {
	s.t.Helper()
	open := s.card()
	if open.Name != card {
		s.t.Fatalf("the card %q is open, want %q", open.Name, card)
	}
	s.say(phase, map[string]any{"card_response": map[string]string{"card_id": open.ID, "answer": answer}})
}

func (s *sitting) card() (c struct {
	ID      string          `json:"card_id"`
	Name    string          `json:"name"`
	Content json.RawMessage `json:"content"`
},
) {
	for _, seg := range s.last.Message.Segments {
		if seg.Type == "card" {
			_ = json.Unmarshal(seg.Content, &c) // without a name it is none
		}
	}
	return c
}

// text is what was said, without cards.
func (s *sitting) text() string {
	var parts []string
	for _, seg := range s.last.Message.Segments {
		if seg.Type == "text" {
			parts = append(parts, string(seg.Content))
		}
	}
	return strings.Join(parts, "\n")
}

// restart kills the server and starts it again.
func (s *sitting) restart() {
	s.t.Helper()
	s.proc.kill()
	s.proc = s.serve()
}

// isMatch says whether the two rows of the open card belong together.
func (s *sitting) isMatch() bool {
	s.t.Helper()
	var content struct {
		Pair toolbox.Pair `json:"pair"`
	}
	if err := json.Unmarshal(s.card().Content, &content); err != nil {
		s.t.Fatalf("%v: %s", err, s.text())
	}
	return strings.Contains(string(content.Pair.Right), "REF "+strings.ReplaceAll(content.Pair.LeftKey, "-", "")+`"`)
}

// decide rejects pairs until one belongs together, and confirms that.
func (s *sitting) decide(phase string) {
	s.t.Helper()
	for !s.isMatch() {
		s.answer(s.last.Phase, "match", "reject")
	}
	s.answer(phase, "match", "confirm")
}

// events are the log of the session, audited and replayed.
func (s *sitting) events() []event.Event {
	t := s.t
	t.Helper()
	log, err := store.Open(store.Config{DSN: s.path("state/interlock.db")})
	if err != nil {
		t.Fatal(err)
	}
	defer log.Close()
	var out []event.Event
	runs := []string{}
	for ev, err := range engine.Resolved(t.Context(), log, s.last.Session, 0) {
		if err != nil {
			t.Fatal(err)
		}
		if b, ok := ev.Body.(event.TurnStarted); ok {
			runs = append(runs, b.Run)
		}
		out = append(out, ev)
	}
	m, err := machine.Load(machines.All()["reconcile"])
	if err != nil {
		t.Fatal(err)
	}
	if err := enginetest.Audit(m, out); err != nil {
		t.Error(err)
	}
	tools := tool.NewSet(nil, toolbox.Tools(toolbox.Config{})...)
	for _, run := range runs {
		if r, err := capsule.ReplayRun(t.Context(), log, tools, run); err != nil {
			t.Errorf("replay of %s: %v", run, err)
		} else if !r.Same {
			t.Errorf("the replay of %s differs at %d:\nrecorded %s\nreplayed %s", run, r.Diff.Seq, r.Diff.Recorded, r.Diff.Replayed)
		}
	}
	return out
}

func newSitting(t *testing.T, flags ...string) *sitting {
	t.Helper()
	s := &sitting{world: newWorld(t, books())}
	s.flags = append(s.flags, flags...)
	s.proc = s.serve()
	return s
}

// The offline model leads a person from two files to evidence, over several turns with
// the server killed between them, and back by every command.
func TestReconcileSession(t *testing.T) {
	t.Parallel()
	s := newSitting(t, "--provider", "offline")
	s.message("intent", "hello")
	if !strings.Contains(s.text(), "ledger (24 rows)") {
		t.Errorf("it asks: %s", s.text())
	}
	s.restart()
	s.message("scoping", "ledger and bank, the ones over 99 euros")
	if !strings.Contains(s.text(), "what does 99 limit") {
		t.Errorf("a limit is passed over: %s", s.text())
	}
	s.message("demonstration", "all rows")
	if !strings.Contains(s.text(), "I load all rows of ledger, and all rows of bank.") {
		t.Errorf("the rows are not said: %s", s.text())
	}
	s.decide("demonstration")
	s.restart()
	s.decide("demonstration")
	s.decide("validation")
	if !strings.Contains(s.text(), "This is what the pairs teach") || !strings.Contains(s.text(), "of its matches are right") {
		t.Errorf("the rules are not said: %s", s.text())
	}
	if s.last.Status != "waiting" || s.last.Recipe == nil {
		t.Errorf("%s %s", s.last.Status, s.last.Recipe)
	}
	s.answer("validation", "validation", "not_yet")
	s.restart()
	s.message("validation", "show it again")
	s.answer("inference", "validation", "other_rules") // the same pairs teach the same: one more is asked about
	s.decide("validation")
	s.answer("execution", "validation", "approve")
	if s.last.Status != "complete" || !strings.Contains(s.text(), "20 pairs match of 24 left and 22 right rows; 4 left and 2 right rows are open.") {
		t.Errorf("%s: %s", s.last.Status, s.text())
	}
	s.restart()
	s.message("execution", "start over")
	if !strings.Contains(s.text(), "`other_sources`") {
		t.Errorf("the way back is not told: %s", s.text())
	}

	// Every way back, with what it drops.
	back := func(phase, command string) {
		t.Helper()
		s.say(phase, map[string]any{"command": map[string]string{"name": command}})
	}
	back("inference", "other_rules")
	back("scoping", "other_scope")
	if !strings.Contains(s.text(), "which ones are meant now?") {
		t.Errorf("another scope is not asked for: %s", s.text())
	}
	s.message("validation", "all rows") // they are loaded again and the pairs stay
	back("intent", "other_sources")
	want := map[string][]string{
		"other_rules":   {"rules", "learned_recipe", "recipe_draft", "validation_approved", "sample_result", "full_result"},
		"other_scope":   {"sample_left", "sample_right", "rules", "recipe_draft"},
		"other_sources": {"left_source_alias", "schema_right", "scope_left", "confirmed_pairs"},
	}
	seen := map[string][]string{}
	var made []event.ArtifactMade
	var run, ranInFull string
	for _, ev := range s.events() {
		switch b := ev.Body.(type) {
		case event.TurnStarted:
			run = b.Run
		case event.CommandGiven:
			seen[b.Command] = b.Dropped
		case event.ArtifactMade:
			made = append(made, b)
			ranInFull = run
		}
	}
	i := slices.IndexFunc(made, func(a event.ArtifactMade) bool { return a.Name == "matches.parquet" })
	if i < 0 {
		t.Fatalf("no matches among %v", made)
	}
	var page struct {
		Total int64 `json:"total_rows"`
	}
	s.proc.call("GET", "/api/artifacts/"+made[i].ID+"/rows", "", 200, &page)
	if page.Total != 20 {
		t.Errorf("the evidence has %d matches", page.Total)
	}
	// Next month's run begins with the evidence of this one, named by the id of its run.
	s.proc.stop()
	out, errs, code := s.run("reconcile", "--previous", ranInFull, "--json")
	if code != 0 || !strings.Contains(out, `"matched": 20`) || !strings.Contains(out, `"rate_before"`) {
		t.Errorf("a run after %s: %d %s %s", ranInFull, code, out, errs)
	}
	if _, errs, code := s.run("reconcile", "--previous", "r_none"); code == 0 || !strings.Contains(errs, "neither a folder nor a run") {
		t.Errorf("a run that does not exist: %d %s", code, errs)
	}
	for name, dropped := range want {
		for _, fact := range dropped {
			if !slices.Contains(seen[name], fact) {
				t.Errorf("%s dropped %v, not %s", name, seen[name], fact)
			}
		}
	}
}
