package engine_test

import (
	"strings"
	"testing"

	"interlock/internal/capsule"
	"interlock/internal/fault"
	"interlock/internal/llm"
	"interlock/internal/store"
	"interlock/internal/tool"
)

// A thread gets another title and is else what it was: as old, and every run replays, after a
// restart as well.
func TestRename(t *testing.T) {
	g := newGate()
	r := newRig(t, llm.Script(llm.Say("one"), llm.Ask("make", "{}"), llm.Say("two")), g.tool("look", tool.Reads), g.tool("make", tool.Writes))
	thread := r.open()
	row := func() store.Thread {
		t.Helper()
		row, err := r.store.Thread(t.Context(), thread)
		if err != nil {
			t.Fatal(err)
		}
		return row
	}
	runs := []string{r.send(thread, "first")}
	r.wait(thread)
	before := row()
	for title, want := range map[string]fault.Code{" \n ": fault.BadRequest, strings.Repeat("x", 201): fault.BadRequest} {
		if err := r.eng.Rename(t.Context(), thread, title, "ann"); !fault.Is(err, want) {
			t.Errorf("%.10q gave %v, want %s", title, err, want)
		}
	}
	for range 2 { // the second one changes nothing
		if err := r.eng.Rename(t.Context(), thread, " Refunds  in\nOctober ", "ann"); err != nil {
			t.Fatal(err)
		}
	}
	after := row()
	if after.Title != "Refunds in October" || !after.Updated.Equal(before.Updated) || after.Seq != before.Seq+1 {
		t.Errorf("renamed: %+v, before: %+v", after, before)
	}
	runs = append(runs, r.send(thread, "second"))
	<-g.reached
	if err := r.eng.Rename(t.Context(), thread, "Too early", "ann"); !fault.Is(err, fault.ThreadBusy) {
		t.Errorf("while a turn runs: %v", err)
	}
	g.open <- struct{}{}
	r.wait(thread)
	r.stop()
	r.start()
	if v, err := r.eng.View(t.Context(), thread); err != nil || v.Thread.Title != "Refunds in October" {
		t.Errorf("after a restart: %q, %v", v.Thread.Title, err)
	}
	for i, run := range runs {
		if replay, err := capsule.ReplayRun(t.Context(), r.store, r.tools, run); err != nil || !replay.Same {
			t.Errorf("run %d does not replay: %+v, %v", i, replay, err)
		}
	}
}
