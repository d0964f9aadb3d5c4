package engine

import (
	"context"
	"errors"
	"path/filepath"
	"testing"
	"time"

	"interlock/internal/event"
	"interlock/internal/llm"
	"interlock/internal/machine"
	"interlock/internal/store"
	"interlock/internal/tool"
)

type nothing struct{}

func (nothing) Get(string) (*machine.Machine, error) { return nil, errors.New("none") }
func (nothing) Model(string) (llm.Model, error)      { return nil, errors.New("none") }

// stallsAgain stalls a thread anew while it is being resumed.
type stallsAgain struct {
	store.Store
	e *Engine
}

func (s *stallsAgain) Acquire(_ context.Context, thread, _ string, _ time.Duration) (store.Lease, error) {
	s.e.mu.Lock()
	defer s.e.mu.Unlock()
	s.e.stalled[thread] = &stalledTurn{err: errors.New("again")}
	return store.Lease{}, store.ErrHeld
}

// newBareEngine returns an engine without machines and models over a store that wrap changes.
func newBareEngine(t *testing.T, wrap func(store.Store) store.Store) *Engine {
	t.Helper()
	s, err := store.Open(store.Config{DSN: filepath.Join(t.TempDir(), "log.db")})
	if err != nil {
		t.Fatal(err)
	}
	e, err := New(Config{Store: wrap(s), Machines: nothing{}, Models: nothing{}, Tools: tool.NewSet(nil)})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := errors.Join(e.Close(), s.Close()); err != nil {
			t.Error(err)
		}
	})
	return e
}

// A turn that stalls again while it is being resumed is tried again.
func TestATurnThatStallsAgainIsKept(t *testing.T) {
	s := &stallsAgain{}
	s.e = newBareEngine(t, func(real store.Store) store.Store { s.Store = real; return s })
	e := s.e
	e.stalled["a"] = &stalledTurn{err: errors.New("first")}
	if !e.resumeStalled() || e.Stalled() == nil {
		t.Errorf("the turn that stalled again is forgotten: %v", e.Stalled())
	}
}

// What a model streamed in a turn that was cut off is not kept for later followers.
func TestAStreamThatWasCutOff(t *testing.T) {
	e := newBareEngine(t, func(s store.Store) store.Store { return s })
	turn, err := e.claimThread("a", toRun)
	if err != nil {
		t.Fatal(err)
	}
	e.hub.publishTransient(event.Event{Thread: "a", Body: event.Token{Call: "c", Text: "half an ans"}})
	e.releaseThread("a", turn)
	if len(e.hub.threads) != 0 {
		t.Error("the text is still kept")
	}
}

// Close waits for whoever has claimed a thread, and nobody claims one after it.
func TestCloseWaitsForClaims(t *testing.T) {
	e := newBareEngine(t, func(s store.Store) store.Store { return s })
	turn, err := e.claimThread("a", toRun)
	if err != nil {
		t.Fatal(err)
	}
	closed := make(chan struct{})
	go func() {
		defer close(closed)
		_ = e.Close()
	}()
	<-e.ctx.Done()
	select {
	case <-closed:
		t.Error("Close did not wait")
	default:
	}
	if _, err := e.claimThread("b", toRun); !errors.Is(err, errClosed) {
		t.Errorf("a claim after Close: %v", err)
	}
	e.releaseThread("a", turn)
	<-closed
}
