package engine_test

import (
	"strings"
	"testing"

	"interlock/internal/llm"
	"interlock/internal/tool"
)

// TestACallThatLooksLikeAReference holds that a model cannot make its thread unreadable, nor read
// the blob of another, by arguments in the form of a stored reference.
func TestACallThatLooksLikeAReference(t *testing.T) {
	g := newGate()
	g.open <- struct{}{}
	r := newRig(t, llm.Script(llm.Ask("look", `{"$blob":"`+strings.Repeat("0", 64)+`"}`), llm.Say("done")), g.tool("look", tool.Reads))
	thread := r.open()
	r.send(thread, "go")
	r.wait(thread)
	r.stop()
	r.start()
	for e, err := range r.eng.Events(t.Context(), thread, 0) {
		if err != nil {
			t.Fatalf("after event %d: %v", e.Seq, err)
		}
	}
	if _, err := r.eng.View(t.Context(), thread); err != nil {
		t.Error(err)
	}
}
