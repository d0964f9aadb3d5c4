package engine_test

import (
	"context"
	"encoding/json"
	"errors"
	"iter"
	"log/slog"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"interlock/internal/engine"
	"interlock/internal/event"
	"interlock/internal/llm"
	"interlock/internal/store"
	"interlock/internal/tool"
)

// A faulty store cannot be watched or asked for a thread now and then.
type faultyStore struct {
	store.Store
	watches *atomic.Int64 // so many watches fail
	rows    *atomic.Int64 // so many rows cannot be read
}

func (s faultyStore) Watch(ctx context.Context) iter.Seq2[string, error] {
	return func(yield func(string, error) bool) {
		if s.watches.Add(-1) >= 0 {
			yield("", errors.New("the file cannot be read"))
			return
		}
		for thread, err := range s.Store.Watch(ctx) {
			if !yield(thread, err) {
				return
			}
		}
	}
}

func (s faultyStore) Thread(ctx context.Context, id string) (store.Thread, error) {
	if s.rows.Add(-1) >= 0 {
		return store.Thread{}, errors.New("the row cannot be read")
	}
	return s.Store.Thread(ctx, id)
}

// Followers get the events of other processes although the store cannot be read for a while.
func TestFollowersOutliveErrorsOfTheStore(t *testing.T) {
	g := newGate()
	r := newRig(t, llm.Script(llm.Ask("look", "{}"), llm.Say("done")), g.tool("look", tool.Reads), g.tool("make", tool.Writes))
	thread := r.open()
	other := r.second(r.tools, engine.Config{})
	faulty := faultyStore{watches: new(atomic.Int64), rows: new(atomic.Int64)}
	faulty.watches.Store(2)
	r.restart(func(s store.Store) store.Store { faulty.Store = s; return faulty }, engine.Config{})
	sent := false
	for ev, err := range r.eng.Follow(t.Context(), thread, 0) {
		if err != nil {
			t.Fatal(err)
		}
		if !sent {
			sent = true
			faulty.rows.Store(2)
			if _, err := other.Send(t.Context(), thread, engine.Input{User: "ann", Text: "go"}); err != nil {
				t.Fatal(err)
			}
			<-g.reached
			g.open <- struct{}{}
		}
		if ev.Body.Kind() == event.KindTurnEnded {
			break
		}
	}
	if err := other.Wait(t.Context(), thread); err != nil {
		t.Fatal(err)
	}
}

// A damagedStore has snapshots that cannot be used.
type damagedStore struct {
	store.Store
	damage func(raw []byte, seq int64) ([]byte, int64, error)
}

func (s damagedStore) Snapshot(ctx context.Context, thread string) ([]byte, int64, error) {
	raw, seq, err := s.Store.Snapshot(ctx, thread)
	if err != nil {
		return raw, seq, err
	}
	return s.damage(raw, seq)
}

// A thread with a damaged snapshot is read from its log, and the operator is told.
func TestADamagedSnapshotDoesNotLockItsThread(t *testing.T) {
	look := tool.New(tool.Spec{Name: "look", Effect: tool.Reads}, func(context.Context, struct{}) (named, error) { return named{"x"}, nil })
	r := newRig(t, llm.ScriptFunc(func(req llm.Request) (llm.Reply, error) {
		if req.Tag.Number > 1 {
			return llm.Reply{Text: "done"}, nil
		}
		return llm.Reply{Calls: []llm.Call{{Name: "look", Args: "{}"}}}, nil
	}), look, newGate().tool("make", tool.Writes))
	thread := r.open()
	r.send(thread, "go")
	r.wait(thread)
	for name, damage := range map[string]func(raw []byte, seq int64) ([]byte, int64, error){
		"cannot be unpacked": func([]byte, int64) ([]byte, int64, error) { return nil, 0, errors.New("magic number mismatch") },
		"is no JSON":         func(raw []byte, seq int64) ([]byte, int64, error) { return raw[:len(raw)/2], seq, nil },
		"of another thread": func(raw []byte, seq int64) ([]byte, int64, error) {
			return []byte(strings.ReplaceAll(string(raw), thread, "t_other")), seq, nil
		},
		"of another event": func(raw []byte, seq int64) ([]byte, int64, error) { return raw, seq - 1, nil },
	} {
		t.Run(name, func(t *testing.T) {
			before, err := r.eng.View(t.Context(), thread)
			if err != nil {
				t.Fatal(err)
			}
			var told lockedBuilder
			r.restart(func(s store.Store) store.Store { return damagedStore{s, damage} }, engine.Config{SnapshotEvery: 1, Log: slog.New(slog.NewTextHandler(&told, nil))})
			after, err := r.eng.View(t.Context(), thread)
			if err != nil {
				t.Fatal(err)
			}
			a, _ := json.Marshal(before)
			b, _ := json.Marshal(after)
			if string(a) != string(b) {
				t.Errorf("before %s\nafter  %s", a, b)
			}
			r.send(thread, "go on")
			r.wait(thread)
			if !strings.Contains(told.String(), "snapshot") || !strings.Contains(told.String(), thread) {
				t.Errorf("the operator is told %q", told.String())
			}
		})
	}
}

type lockedBuilder struct {
	mu   sync.Mutex
	text strings.Builder
}

func (b *lockedBuilder) Write(p []byte) (int, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.text.Write(p)
}

func (b *lockedBuilder) String() string {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.text.String()
}

// An artifact that more threads name than turns may run at once is removed all the same.
func TestArtifactOfManyThreads(t *testing.T) {
	r := newRig(t, llm.Script(), newGate().tool("look", tool.Reads), newGate().tool("make", tool.Writes))
	r.restart(func(s store.Store) store.Store { return s }, engine.Config{MaxRunning: 2})
	seqs := map[string]int64{}
	for range 5 {
		seqs[r.open()] = 1
	}
	removed := false
	if err := r.eng.RemoveArtifacts(t.Context(), seqs, []string{"art_1"}, func() error { removed = true; return nil }); err != nil || !removed {
		t.Errorf("removed %v: %v", removed, err)
	}
}

// A readCounter counts how often a thread is read from the log.
type readCounter struct {
	store.Store
	reads *atomic.Int64
}

func (s readCounter) Snapshot(ctx context.Context, thread string) ([]byte, int64, error) {
	s.reads.Add(1)
	return s.Store.Snapshot(ctx, thread)
}

// A thread stays in memory when an input is refused: the next one need not read its log.
func TestARefusedInputKeepsTheThreadInMemory(t *testing.T) {
	r := newRig(t, llm.Script(llm.Say("one"), llm.Say("two")), newGate().tool("look", tool.Reads), newGate().tool("make", tool.Writes))
	var reads atomic.Int64
	r.restart(func(s store.Store) store.Store { return readCounter{s, &reads} }, engine.Config{})
	thread := r.open()
	r.send(thread, "go")
	r.wait(thread)
	before := reads.Load()
	for _, in := range []engine.Input{{}, {Command: &engine.Command{Name: "fly"}}, {Card: &engine.CardAnswer{Card: "none", Answer: "yes"}}, {Text: "go", Settings: map[string]any{"most": 10.0}}} {
		if _, err := r.eng.Send(t.Context(), thread, in); err == nil {
			t.Errorf("%+v was taken", in)
		}
	}
	run := r.send(thread, "go on")
	r.wait(thread)
	if rep := r.reply(run); rep.Text != "two" {
		t.Errorf("the answer is %q", rep.Text)
	}
	if n := reads.Load() - before; n != 0 {
		t.Errorf("the log was read %d times", n)
	}
	r.log(thread)
}
