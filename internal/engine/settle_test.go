package engine_test

import (
	"context"
	"slices"
	"testing"
	"time"

	"interlock/internal/engine"
	"interlock/internal/event"
	"interlock/internal/llm"
	"interlock/internal/store"
	"interlock/internal/tool"
)

// A lingering store has stored the end of a turn and does not return yet.
type lingering struct {
	store.Store
	stored, leave chan struct{}
}

func (l lingering) Append(ctx context.Context, b store.Batch) error {
	err := l.Store.Append(ctx, b)
	if slices.ContainsFunc(b.Events, func(e event.Event) bool { return e.Body.Kind() == event.KindTurnEnded }) {
		l.stored <- struct{}{}
		<-l.leave
	}
	return err
}

// Whoever sees a turn end may send the next message at once: the thread is not busy.
func TestNextMessageAtTheEnd(t *testing.T) {
	r := newRig(t, llm.Script(llm.Say("yes"), llm.Say("again yes")), newGate().tool("look", tool.Reads), newGate().tool("make", tool.Writes))
	if err := r.eng.Close(); err != nil {
		t.Fatal(err)
	}
	s := lingering{r.store, make(chan struct{}, 2), make(chan struct{}, 2)}
	var err error
	if r.eng, err = engine.New(engine.Config{Store: s, Machines: r, Models: r, Tools: r.tools}); err != nil {
		t.Fatal(err)
	}
	thread := r.open()
	r.send(thread, "go")
	<-s.stored
	sent := make(chan error, 1)
	go func() {
		_, err := r.eng.Send(t.Context(), thread, engine.Input{User: "ann", Text: "and again"})
		sent <- err
	}()
	time.AfterFunc(50*time.Millisecond, func() { close(s.leave) })
	if err := <-sent; err != nil {
		t.Error(err)
	}
	r.wait(thread)
}
