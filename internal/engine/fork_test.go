package engine_test

import (
	"context"
	"encoding/json"
	"strings"
	"testing"

	"interlock/internal/capsule"
	"interlock/internal/event"
	"interlock/internal/llm"
	"interlock/internal/tool"
)

// A thread can be forked at each of its events: the fork shares the events up to there and
// can go on, and the parent stays as it was, byte for byte.
func TestForkAtAnyEvent(t *testing.T) {
	look := tool.New(tool.Spec{Name: "look", Effect: tool.Reads}, func(context.Context, struct{}) (named, error) { return named{"x"}, nil })
	script := []llm.Line{llm.Ask("look", "{}"), llm.Say("There are 4711."), llm.Say("second")}
	for range 40 {
		script = append(script, llm.Say("other"))
	}
	r := newRig(t, llm.Script(script...), look, newGate().tool("make", tool.Writes))
	thread := r.open()
	for _, text := range []string{"one", "two"} {
		r.send(thread, text)
		r.wait(thread)
	}
	row, err := r.store.Thread(t.Context(), thread)
	if err != nil {
		t.Fatal(err)
	}
	ended := row.Updated
	before, err := json.Marshal(r.log(thread))
	if err != nil {
		t.Fatal(err)
	}
	for _, ev := range r.log(thread) {
		fork, err := r.eng.Fork(t.Context(), thread, ev.Seq, "bob")
		if err != nil {
			t.Fatalf("at %d: %v", ev.Seq, err)
		}
		if row, err := r.store.Thread(t.Context(), fork); err != nil || !row.Updated.After(ended) {
			t.Errorf("forked at %d: it counts as used at %s, before it was made; %v", ev.Seq, row.Updated, err)
		}
		if c, err := capsule.CompareThreads(t.Context(), r.store, thread, fork); err != nil {
			t.Fatal(err)
		} else if n := len(c.B.Turns); n > 0 && c.B.Turns[n-1].Status == event.Stopped && !strings.Contains(c.B.Turns[n-1].Answer, "forked here") {
			t.Errorf("forked at %d: the turn was stopped, and nothing says why: %q", ev.Seq, c.B.Turns[n-1].Answer)
		}
		r.send(fork, "another way")
		r.wait(fork)
		c, err := capsule.CompareThreads(t.Context(), r.store, thread, fork)
		if err != nil {
			t.Fatal(err)
		}
		last := c.B.Turns[len(c.B.Turns)-1]
		if c.Shared != ev.Seq || last.Question != "another way" || last.Answer != "other" || last.Status != event.Answered {
			t.Errorf("forked at %d (%s): %d events are shared, the last turn is %+v", ev.Seq, ev.Body.Kind(), c.Shared, last)
		}
		if len(c.A.Turns) > 0 && c.A.Turns[0].Answer == "other" {
			t.Errorf("forked at %d: the parent has the fork's answer", ev.Seq)
		}
	}
	after, err := json.Marshal(r.log(thread))
	if err != nil || string(after) != string(before) {
		t.Errorf("the forks changed the parent: %v", err)
	}
	c, err := capsule.CompareThreads(t.Context(), r.store, thread, thread)
	if err != nil || c.A.Events != 0 || len(c.Facts) != 0 {
		t.Errorf("a thread differs from itself: %+v, %v", c, err)
	}
	if _, err := capsule.CompareThreads(t.Context(), r.store, thread, "t_nowhere"); err == nil {
		t.Error("a thread that does not exist was compared")
	}
}
