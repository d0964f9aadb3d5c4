package engine_test

import (
	"testing"
	"time"

	"interlock/internal/capsule"
	"interlock/internal/engine"
	"interlock/internal/event"
	"interlock/internal/llm"
	"interlock/internal/store"
	"interlock/internal/tool"
)

// A server that was down for longer than a turn may take still finishes the turn, and
// the time without a process is in no duration, live or replayed.
func TestDowntimeDoesNotCount(t *testing.T) {
	g := newGate()
	r := newRig(t, llm.Script(llm.Ask("look", "{}"), llm.Say("done")), g.tool("look", tool.Reads), g.tool("make", tool.Writes))
	thread := r.open()
	run := r.send(thread, "go")
	<-g.reached
	r.stop()
	var err error
	if r.store, err = store.Open(store.Config{DSN: r.path}); err != nil {
		t.Fatal(err)
	}
	later := func() time.Time { return time.Now().Add(time.Hour) }
	if r.eng, err = engine.New(engine.Config{Store: r.store, Machines: r, Models: r, Tools: r.tools, Now: later}); err != nil {
		t.Fatal(err)
	}
	if _, err := r.eng.Resume(t.Context()); err != nil {
		t.Fatal(err)
	}
	g.open <- struct{}{}
	r.wait(thread)
	if rep := r.reply(run); rep.Outcome != "answered" || rep.Text != "done" {
		t.Errorf("the run ended as %s (%s) with %q", rep.Outcome, rep.Code, rep.Text)
	}
	const most = 30 * 60 * 1000
	for _, e := range r.log(thread) {
		switch b := e.Body.(type) {
		case event.ToolReturned:
			if b.MS > most {
				t.Errorf("the call took %d ms", b.MS)
			}
		case event.TurnEnded:
			if b.MS > most {
				t.Errorf("the turn took %d ms", b.MS)
			}
		}
	}
	rep, err := capsule.ReplayRun(t.Context(), r.store, r.tools, run)
	if err != nil || !rep.Same {
		t.Errorf("replay: %v %+v", err, rep)
	}
}
