package engine_test

import (
	"context"
	"encoding/json"
	"errors"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"interlock/internal/capsule"
	"interlock/internal/engine"
	"interlock/internal/event"
	"interlock/internal/fault"
	"interlock/internal/llm"
	"interlock/internal/machine"
	"interlock/internal/store"
	"interlock/internal/tool"
)

// restart begins another engine over the store as wrap changes it.
func (r *rig) restart(wrap func(store.Store) store.Store, c engine.Config) {
	r.t.Helper()
	if err := r.eng.Close(); err != nil {
		r.t.Fatal(err)
	}
	c.Store, c.Machines, c.Models, c.Tools = wrap(r.store), r, r, r.tools
	var err error
	if r.eng, err = engine.New(c); err != nil {
		r.t.Fatal(err)
	}
}

// change replaces a part of the machine.
func (r *rig) change(from, to string) {
	r.t.Helper()
	var err error
	if r.m, err = machine.Parse(map[string]string{"machine.yaml": strings.Replace(lifeMachine, from, to, 1), "work.md": "Seen: {{ seen }}"}); err != nil {
		r.t.Fatal(err)
	}
}

// awaitStalled waits until a turn is stalled, or none is.
func (r *rig) awaitStalled(want bool) {
	r.t.Helper()
	for deadline := time.Now().Add(time.Minute); (r.eng.Stalled() != nil) != want; {
		if time.Now().After(deadline) {
			r.t.Fatalf("stalled: %v, want %v", r.eng.Stalled(), want)
		}
		<-time.After(time.Millisecond)
	}
}

// A stop that cannot be stored is not lost: who asked is told why, and the turn is stopped,
// not continued, once the store writes again. It is the same whether the turn was running
// or already stalled.
func TestStopOnAFullDisk(t *testing.T) {
	for _, when := range []string{"running", "stalled"} {
		t.Run(when, func(t *testing.T) {
			g := newGate()
			r := newRig(t, llm.Script(llm.Ask("look", "{}"), llm.Say("done")), g.tool("look", tool.Reads), g.tool("make", tool.Writes))
			var full atomic.Bool
			r.restart(func(s store.Store) store.Store { return fullDisk{s, &full} }, engine.Config{})
			thread := r.open()
			run := r.send(thread, "go")
			<-g.reached
			full.Store(true)
			if when == "stalled" {
				g.open <- struct{}{}
				r.awaitStalled(true)
			}
			if err := r.eng.Stop(t.Context(), thread); !fault.Is(err, fault.StoreFailed) {
				t.Errorf("who stops is told %v", err)
			}
			full.Store(false)
			r.awaitStalled(false)
			r.wait(thread)
			if rep := r.reply(run); rep.Outcome != "stopped" {
				t.Errorf("the turn ended as %s with %q", rep.Outcome, rep.Text)
			}
			if n := g.calls.Load(); n != 1 {
				t.Errorf("the tool ran %d times, want once", n)
			}
		})
	}
}

// A locked store refuses batches for a while, as SQLite does after its time-out.
type lockedStore struct {
	store.Store
	refuse *atomic.Int64 // so many batches
	mu     *sync.Mutex
	fences map[int64]int // of refused and stored batches
}

func (s lockedStore) Append(ctx context.Context, b store.Batch) error {
	s.mu.Lock()
	s.fences[b.Fence]++
	s.mu.Unlock()
	if s.refuse.Add(-1) >= 0 {
		return fault.Wrap(store.ErrLocked, fault.StoreFailed, "cannot write the log: another process keeps it locked")
	}
	return s.Store.Append(ctx, b)
}

// A result is not lost because another process keeps the store locked for longer than a
// batch waits: the same batch is stored later, and the tool does not run again.
func TestALockedStoreLosesNoResult(t *testing.T) {
	g := newGate()
	r := newRig(t, llm.Script(llm.Ask("make", "{}"), llm.Say("done")), g.tool("look", tool.Reads), g.tool("make", tool.Writes))
	locked := lockedStore{refuse: new(atomic.Int64), mu: new(sync.Mutex), fences: map[int64]int{}}
	r.restart(func(s store.Store) store.Store { locked.Store = s; return locked }, engine.Config{})
	thread := r.open()
	run := r.send(thread, "go")
	<-g.reached
	locked.refuse.Store(3)
	g.open <- struct{}{}
	r.wait(thread)
	if rep := r.reply(run); rep.Outcome != "answered" || rep.Text != "done" {
		t.Errorf("the turn ended as %s with %q", rep.Outcome, rep.Text)
	}
	for _, e := range r.log(thread) {
		switch e.Body.Kind() {
		case event.KindTurnInterrupted, event.KindToolFailed:
			t.Errorf("the log has %s", e.Body.Kind())
		}
	}
	if len(locked.fences) > 2 { // of the new thread and of the turn
		t.Errorf("batches with the fences %v", locked.fences)
	}
}

// What a tool has finished is stored although the process is shutting down.
func TestShutdownKeepsAFinishedResult(t *testing.T) {
	reached, closing := make(chan struct{}), make(chan struct{})
	once := tool.New(tool.Spec{Name: "make", Effect: tool.Writes}, func(ctx context.Context, _ struct{}) (named, error) {
		close(reached)
		<-ctx.Done() // the work is done all the same
		<-closing
		return named{"made"}, nil
	})
	r := newRig(t, llm.Script(llm.Ask("make", "{}"), llm.Say("done")), newGate().tool("look", tool.Reads), once)
	thread := r.open()
	run := r.send(thread, "go")
	<-reached
	close(closing)
	r.stop()
	r.start()
	if n, err := r.eng.Resume(t.Context()); err != nil || n != 1 {
		t.Fatalf("%d turns resumed: %v", n, err)
	}
	r.wait(thread)
	if rep := r.reply(run); rep.Outcome != "answered" || len(rep.Shown) != 1 {
		t.Errorf("the turn ended as %s with %d results: %s", rep.Outcome, len(rep.Shown), rep.Text)
	}
	for _, e := range r.log(thread) {
		if f, ok := e.Body.(event.ToolFailed); ok {
			t.Errorf("the call failed with %s", f.Code)
		}
	}
	if rep, err := capsule.ReplayRun(t.Context(), r.store, r.tools, run); err != nil || !rep.Same {
		t.Errorf("the run does not replay: %v %+v", err, rep)
	}
}

// heldByAnother is a store in which another process holds the lease of a thread until it is
// asked for the second time.
type heldByAnother struct {
	store.Store
	asked *atomic.Int64
}

func (h heldByAnother) Acquire(ctx context.Context, thread, holder string, lasts time.Duration) (store.Lease, error) {
	if h.asked.Add(1) == 1 {
		return store.Lease{}, fault.Wrap(store.ErrHeld, fault.ThreadBusy, "the thread %s is run by another process", thread)
	}
	return h.Store.Acquire(ctx, thread, holder, lasts)
}

// A thread that waits for an answer is stopped although another process holds its lease for
// a moment.
func TestStopAWaitingThreadThatIsHeld(t *testing.T) {
	r := newRig(t, llm.Script(llm.Ask("make", "{}")), newGate().tool("look", tool.Reads), newGate().tool("make", tool.Writes))
	r.change("tools: [look, make]", "tools: [look, {name: make, approve: always}]")
	thread := r.open()
	run := r.send(thread, "go")
	r.wait(thread)
	if row, err := r.store.Thread(t.Context(), thread); err != nil || row.Status != store.Waiting {
		t.Fatalf("the thread is %s: %v", row.Status, err)
	}
	var asked atomic.Int64
	r.restart(func(s store.Store) store.Store { return heldByAnother{s, &asked} }, engine.Config{})
	if err := r.eng.Stop(t.Context(), thread); err != nil {
		t.Fatal(err)
	}
	if rep := r.reply(run); rep.Outcome != "stopped" {
		t.Errorf("the turn is %s after it was stopped", rep.Outcome)
	}
}

// A panicking tool panics when it is asked for its version.
type panickingTool struct{ tool.Tool }

func (panickingTool) Version(context.Context, json.RawMessage) string { panic("no version") }

// A panic of a model or of a tool ends its turn with a word about it. The thread and the
// process go on.
func TestAPanicEndsItsTurn(t *testing.T) {
	model := llm.ScriptFunc(func(req llm.Request) (llm.Reply, error) {
		switch text := req.Messages[0].Text; {
		case req.Tag.Number > 1 || text == "well?":
			return llm.Reply{Text: "done"}, nil
		case text == "ask the model":
			panic("no model")
		}
		return llm.Reply{Calls: []llm.Call{{Name: "look", Args: "{}"}}}, nil
	})
	look := tool.New(tool.Spec{Name: "look", Effect: tool.Reads}, func(context.Context, struct{}) (named, error) { return named{"x"}, nil })
	for text, code := range map[string]fault.Code{"ask the model": fault.ModelFailed, "call the tool": fault.Internal} {
		t.Run(text, func(t *testing.T) {
			r := newRig(t, model, panickingTool{look}, newGate().tool("make", tool.Writes))
			r.change("policies: {duplicates: false}\n", "")
			thread := r.open()
			run := r.send(thread, text)
			r.wait(thread)
			if rep := r.reply(run); rep.Outcome != "failed" || rep.Code != code || rep.Text == "" {
				t.Errorf("the turn ended as %s (%s): %q", rep.Outcome, rep.Code, rep.Text)
			}
			r.log(thread)
			run = r.send(thread, "well?")
			r.wait(thread)
			if rep := r.reply(run); rep.Text != "done" {
				t.Errorf("the thread does not go on: %+v", rep)
			}
		})
	}
}

// A retriedStore is a full disk. It calls asked when a stalled turn is tried again, and has
// space after that.
type retriedStore struct {
	fullDisk
	asked func()
}

func (s retriedStore) Append(ctx context.Context, b store.Batch) error {
	err := s.fullDisk.Append(ctx, b)
	if err != nil && b.Events[0].Body.Kind() == event.KindTurnInterrupted {
		s.asked()
		s.full.Store(false)
	}
	return err
}

// A stop that comes while a stalled turn is being tried again is not lost with that attempt.
func TestStopWhileAStalledTurnIsRetried(t *testing.T) {
	g := newGate()
	r := newRig(t, llm.Script(llm.Ask("look", "{}"), llm.Say("done")), g.tool("look", tool.Reads), g.tool("make", tool.Writes))
	var full atomic.Bool
	var thread string
	stop := func() {
		now, cancel := context.WithCancel(t.Context())
		cancel() // the attempt must not wait for its own end
		if err := r.eng.Stop(now, thread); !errors.Is(err, context.Canceled) {
			t.Errorf("who stops is told %v", err)
		}
	}
	r.restart(func(s store.Store) store.Store { return retriedStore{fullDisk{s, &full}, stop} }, engine.Config{})
	thread = r.open()
	run := r.send(thread, "go")
	<-g.reached
	full.Store(true)
	g.open <- struct{}{}
	r.awaitStalled(true)
	r.awaitStalled(false)
	g.open <- struct{}{}
	r.wait(thread)
	if rep := r.reply(run); rep.Outcome != "stopped" {
		t.Errorf("the turn ended as %s with %q", rep.Outcome, rep.Text)
	}
	if n := g.calls.Load(); n != 1 {
		t.Errorf("the tool ran %d times, want once", n)
	}
}
