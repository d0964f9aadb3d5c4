package engine_test

import (
	"testing"

	"interlock/internal/event"
	"interlock/internal/llm"
	"interlock/internal/tool"
)

// Whoever sees a turn end may send the next message at once: the thread is not busy.
func TestNextMessageAtTheEnd(t *testing.T) {
	const turns = 200
	lines := make([]llm.Line, turns)
	for i := range lines {
		lines[i] = llm.Say("yes")
	}
	r := newRig(t, llm.Script(lines...), newGate().tool("look", tool.Reads), newGate().tool("make", tool.Writes))
	thread := r.open()
	r.send(thread, "again")
	ended := 0
	for e, err := range r.eng.Follow(t.Context(), thread, 0) {
		if err != nil {
			t.Fatal(err)
		}
		if e.Body.Kind() != event.KindTurnEnded {
			continue
		}
		if ended++; ended == turns {
			break
		}
		r.send(thread, "again")
	}
	r.wait(thread)
}
