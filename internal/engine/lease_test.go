package engine_test

import (
	"context"
	"errors"
	"iter"
	"sync/atomic"
	"testing"
	"time"

	"interlock/internal/capsule"
	"interlock/internal/engine"
	"interlock/internal/event"
	"interlock/internal/fault"
	"interlock/internal/llm"
	"interlock/internal/store"
	"interlock/internal/tool"
)

// second opens another engine on the same file, as another process would.
func (r *rig) second(tools *tool.Set, c engine.Config) *engine.Engine {
	r.t.Helper()
	s, err := store.Open(store.Config{DSN: r.path})
	if err != nil {
		r.t.Fatal(err)
	}
	c.Store, c.Machines, c.Models, c.Tools = s, r, r, tools
	eng, err := engine.New(c)
	if err != nil {
		r.t.Fatal(err)
	}
	r.t.Cleanup(func() {
		if err := errors.Join(eng.Close(), s.Close()); err != nil {
			r.t.Error(err)
		}
	})
	return eng
}

// A turn that a live process runs is left alone by every other one, who can still stop it.
func TestOneProcessRunsAThread(t *testing.T) {
	g := newGate()
	r := newRig(t, llm.Script(llm.Ask("look", "{}"), llm.Say("done")), g.tool("look", tool.Reads), g.tool("make", tool.Writes))
	other := r.second(r.tools, engine.Config{})
	thread := r.open()
	run := r.send(thread, "go")
	<-g.reached
	if n, err := other.Resume(t.Context()); n != 0 || err != nil {
		t.Errorf("the other process resumed %d turns: %v", n, err)
	}
	if _, err := other.Send(t.Context(), thread, engine.Input{Text: "and?"}); !fault.Is(err, fault.ThreadBusy) {
		t.Errorf("the other process got %v, want a busy thread", err)
	}
	if err := other.Stop(t.Context(), thread); err != nil {
		t.Fatal(err)
	}
	r.wait(thread)
	if rep := r.reply(run); rep.Outcome != "stopped" {
		t.Errorf("the turn ended as %s", rep.Outcome)
	}
	// The thread is free: the other process may go on with it.
	if _, err := other.Send(t.Context(), thread, engine.Input{User: "ann", Text: "go on"}); err != nil {
		t.Fatal(err)
	}
	if err := other.Wait(t.Context(), thread); err != nil {
		t.Fatal(err)
	}
	if n := g.calls.Load(); n != 1 {
		t.Errorf("the tool ran %d times, want once", n)
	}
	r.log(thread)
}

// freezing is the store of a process that gives no sign of life once it is frozen: its
// leases run out. It tells refused of each batch that the store refuses.
type freezing struct {
	store.Store
	frozen  *atomic.Bool
	refused chan error
}

var errFrozen = errors.New("frozen")

func (f freezing) Append(ctx context.Context, b store.Batch) error {
	err := f.Store.Append(ctx, b)
	if err != nil && f.refused != nil {
		f.refused <- err
	}
	return err
}

func (f freezing) Renew(ctx context.Context, holder string, threads []string, lasts time.Duration) ([]store.Lease, error) {
	if f.frozen.Load() {
		return nil, errFrozen
	}
	leases, err := f.Store.Renew(ctx, holder, threads, lasts)
	if f.frozen.Load() { // a renewal that was under way is not seen either
		return nil, errFrozen
	}
	return leases, err
}

// A process that was frozen for longer than its lease finds that another one has taken
// its turn over: it writes nothing more, and what writes is not run a second time. Whoever
// follows the thread or waits for it in the late process gets what the other one does.
func TestLateWriterIsFencedOff(t *testing.T) {
	for _, effect := range []tool.Effect{tool.Reads, tool.Writes} {
		t.Run(string(effect), func(t *testing.T) {
			late, prompt := newGate(), newGate()
			r := newRig(t, llm.Script(llm.Ask("look", "{}"), llm.Say("done")), late.tool("look", effect), late.tool("make", tool.Writes))
			if err := r.eng.Close(); err != nil {
				t.Fatal(err)
			}
			var frozen atomic.Bool
			refused := make(chan error, 10)
			var err error
			if r.eng, err = engine.New(engine.Config{Store: freezing{r.store, &frozen, refused}, Machines: r, Models: r, Tools: r.tools, Lease: time.Millisecond}); err != nil {
				t.Fatal(err)
			}
			other := r.second(tool.NewSet(nil, prompt.tool("look", effect), prompt.tool("make", tool.Writes)), engine.Config{})
			thread := r.open()
			run := r.send(thread, "go")
			<-late.reached
			followed, waited := make(chan error, 1), make(chan error, 1)
			go func() { followed <- followToEnd(t.Context(), r.eng, thread) }()
			go func() { waited <- r.eng.Wait(t.Context(), thread) }()
			frozen.Store(true)
			for taken := 0; taken == 0; { // until the lease has ended
				if taken, err = other.Resume(t.Context()); err != nil {
					t.Fatal(err)
				}
			}
			if effect == tool.Reads {
				<-prompt.reached
			}
			late.open <- struct{}{}
			if err := <-late.owner; !fault.Is(err, fault.Conflict) {
				t.Errorf("the late tool was told %v, want that the thread is another process's", err)
			}
			if effect == tool.Reads { // the other process has stored events before the late one tries to
				if err := <-refused; !errors.Is(err, store.ErrFenced) {
					t.Errorf("the late batch was refused with %v, want ErrFenced", err)
				}
			}
			prompt.open <- struct{}{}
			if err := other.Wait(t.Context(), thread); err != nil {
				t.Fatal(err)
			}
			for name, c := range map[string]chan error{"follower": followed, "waiting request": waited} {
				if err := <-c; err != nil {
					t.Errorf("the %s of the late process got %v", name, err)
				}
			}
			events := map[event.Kind]int{}
			for _, e := range r.log(thread) {
				events[e.Body.Kind()]++
			}
			if events[event.KindTurnEnded] != 1 || events[event.KindTurnInterrupted] != 1 || events[event.KindToolReturned]+events[event.KindToolFailed] != 1 {
				t.Errorf("events %v", events)
			}
			if n := late.calls.Load() + prompt.calls.Load(); effect == tool.Writes && n != 1 {
				t.Errorf("a tool that writes ran %d times", n)
			}
			if rep := r.reply(run); rep.Outcome != "answered" || rep.Text != "done" {
				t.Errorf("the run ended as %s with %q", rep.Outcome, rep.Text)
			}
			if rep, err := capsule.ReplayRun(t.Context(), r.store, r.tools, run); err != nil || !rep.Same {
				t.Errorf("the run does not replay: %v %+v", err, rep)
			}
		})
	}
}

// changing is a store that tells of changes when the test does.
type changing struct {
	store.Store
	changes chan struct{}
}

func (c changing) Watch(ctx context.Context) iter.Seq2[string, error] {
	return func(yield func(string, error) bool) {
		for {
			select {
			case <-c.changes:
			case <-ctx.Done():
				return
			}
			if !yield("", nil) {
				return
			}
		}
	}
}

// Followers in a process that lost its turn get what the other one stored meanwhile, even
// if nothing is stored after that.
func TestFollowersOfALostTurn(t *testing.T) {
	late := newGate()
	r := newRig(t, llm.Script(llm.Ask("look", "{}"), llm.Say("done")), late.tool("look", tool.Writes), late.tool("make", tool.Writes))
	if err := r.eng.Close(); err != nil {
		t.Fatal(err)
	}
	var frozen atomic.Bool
	changes := make(chan struct{})
	var err error
	if r.eng, err = engine.New(engine.Config{Store: changing{freezing{Store: r.store, frozen: &frozen}, changes}, Machines: r, Models: r, Tools: r.tools, Lease: time.Millisecond}); err != nil {
		t.Fatal(err)
	}
	other := r.second(r.tools, engine.Config{})
	thread := r.open()
	r.send(thread, "go")
	<-late.reached
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	called, ended := make(chan struct{}), make(chan struct{})
	go func() {
		defer close(ended)
		for ev, err := range r.eng.Follow(ctx, thread, 0) {
			if err != nil {
				t.Error(err)
				return
			}
			switch ev.Body.Kind() {
			case event.KindToolStarted:
				close(called)
			case event.KindTurnEnded:
				return
			}
		}
		t.Errorf("the follower got %v", ctx.Err())
	}()
	<-called
	frozen.Store(true)
	for taken := 0; taken == 0; { // until the lease has ended
		if taken, err = other.Resume(t.Context()); err != nil {
			t.Fatal(err)
		}
	}
	if err := other.Wait(t.Context(), thread); err != nil {
		t.Fatal(err)
	}
	for range 2 { // the second is taken when the first was dealt with
		select {
		case changes <- struct{}{}:
		case <-ended: // the follower was slow and read to the end
		}
	}
	late.open <- struct{}{}
	<-ended
}

// followToEnd follows a thread until its turn ends.
func followToEnd(ctx context.Context, e *engine.Engine, thread string) error {
	for ev, err := range e.Follow(ctx, thread, 0) {
		if err != nil {
			return err
		}
		if ev.Body.Kind() == event.KindTurnEnded {
			return nil
		}
	}
	return ctx.Err()
}

// A process that gives no sign of life cannot end its turn when it is asked to: the turn is
// ended by whoever asked, once the lease has ended.
func TestStopATurnOfALostProcess(t *testing.T) {
	g := newGate()
	r := newRig(t, llm.Script(llm.Ask("look", "{}")), g.tool("look", tool.Reads), newGate().tool("make", tool.Writes))
	if err := r.eng.Close(); err != nil {
		t.Fatal(err)
	}
	var frozen atomic.Bool
	var err error
	if r.eng, err = engine.New(engine.Config{Store: freezing{Store: r.store, frozen: &frozen}, Machines: r, Models: r, Tools: r.tools, Lease: 2 * time.Second}); err != nil {
		t.Fatal(err)
	}
	other := r.second(r.tools, engine.Config{})
	thread := r.open()
	run := r.send(thread, "go")
	<-g.reached
	frozen.Store(true)
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	if err := other.Stop(ctx, thread); err != nil {
		t.Error(err)
	}
	g.open <- struct{}{}
	if err := r.eng.Wait(t.Context(), thread); err != nil && !fault.Is(err, fault.Conflict) { // nil: it has let go already
		t.Errorf("the lost process ended with %v, want a conflict", err)
	}
	rep, err := other.Reply(t.Context(), run)
	if err != nil || rep.Outcome != "stopped" {
		t.Errorf("the turn ended as %s: %v", rep.Outcome, err)
	}
}

// Who follows a thread sees what another process stores of it, each event once.
func TestFollowAcrossProcesses(t *testing.T) {
	g := newGate()
	r := newRig(t, llm.Script(llm.Ask("look", "{}"), llm.Say("done")), g.tool("look", tool.Reads), g.tool("make", tool.Writes))
	other := r.second(r.tools, engine.Config{})
	thread := r.open()
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	sent := false
	var last int64
	for e, err := range other.Follow(ctx, thread, 0) {
		if err != nil {
			t.Fatal(err)
		}
		if e.Seq > 0 && e.Seq != last+1 {
			t.Errorf("event %d follows %d", e.Seq, last)
		}
		last = max(last, e.Seq)
		if !sent {
			sent = true
			r.send(thread, "go")
			<-g.reached
		}
		if e.Body.Kind() == event.KindToolStarted {
			g.open <- struct{}{}
		}
		if e.Body.Kind() == event.KindTurnEnded {
			break
		}
	}
	r.wait(thread)
}

// Who follows a thread that goes from one process to another misses nothing, even if the
// follower's own process stores events before it has looked for those of the other.
func TestFollowAThreadThatMoves(t *testing.T) {
	r := newRig(t, llm.ScriptFunc(func(llm.Request) (llm.Reply, error) { return llm.Reply{Text: "done"}, nil }), newGate().tool("look", tool.Reads), newGate().tool("make", tool.Writes))
	other := r.second(r.tools, engine.Config{})
	thread := r.open()
	r.send(thread, "go")
	r.wait(thread)
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	var last int64
	ended := 0
	for e, err := range other.Follow(ctx, thread, 0) {
		if err != nil {
			t.Fatal(err)
		}
		if e.Seq == 0 {
			continue
		}
		if e.Seq != last+1 {
			t.Fatalf("event %d follows %d", e.Seq, last)
		}
		last = e.Seq
		if e.Body.Kind() != event.KindTurnEnded {
			continue
		}
		switch ended++; {
		case ended == 21:
			return
		case ended%2 == 1: // one turn in each process, one right after the other
			r.send(thread, "go")
			r.wait(thread)
			if _, err := other.Send(t.Context(), thread, engine.Input{User: "ann", Text: "go on"}); err != nil {
				t.Fatal(err)
			}
			if err := other.Wait(t.Context(), thread); err != nil {
				t.Fatal(err)
			}
		}
	}
}

// A lateLister lists leases while a turn is acquiring its own: what it lists lacks that
// lease, and is returned after the turn has begun.
type lateLister struct {
	store.Store
	thread  string          // whose lease is acquired meanwhile
	acquire chan struct{}   // closed when the leases have been listed
	begun   <-chan struct{} // the turn has begun
	waiting atomic.Bool     // Acquire has been called
	renewed atomic.Int64    // since then
	judged  chan struct{}   // closed when the list has been used
}

func (l *lateLister) Acquire(ctx context.Context, thread, holder string, lasts time.Duration) (store.Lease, error) {
	if thread == l.thread {
		l.waiting.Store(true)
		<-l.acquire
	}
	return l.Store.Acquire(ctx, thread, holder, lasts)
}

func (l *lateLister) Renew(ctx context.Context, holder string, threads []string, lasts time.Duration) ([]store.Lease, error) {
	leases, err := l.Store.Renew(ctx, holder, threads, lasts)
	if l.waiting.Load() {
		switch l.renewed.Add(1) {
		case 2: // the first may have been called before the turn was known to the engine
			close(l.acquire)
			<-l.begun
		case 3:
			close(l.judged)
		}
	}
	return leases, err
}

// A turn that acquires its lease while the leases of its process are being listed has not
// lost it: it goes on.
func TestANewLeaseIsNotLost(t *testing.T) {
	g := newGate()
	r := newRig(t, llm.Script(llm.Ask("make", "{}"), llm.Ask("look", "{}"), llm.Say("done"), llm.Say("done")), g.tool("look", tool.Reads), g.tool("make", tool.Writes))
	begun := make(chan struct{})
	first, second := r.open(), r.open()
	if err := r.eng.Close(); err != nil {
		t.Fatal(err)
	}
	late := &lateLister{Store: r.store, thread: second, acquire: make(chan struct{}), begun: begun, judged: make(chan struct{})}
	var err error
	if r.eng, err = engine.New(engine.Config{Store: late, Machines: r, Models: r, Tools: r.tools, Lease: time.Minute}); err != nil {
		t.Fatal(err)
	}
	r.send(first, "go") // its lease is renewed while it runs
	<-g.reached
	run := r.send(second, "go")
	<-g.reached
	close(begun)
	<-late.judged
	g.open <- struct{}{}
	g.open <- struct{}{}
	r.wait(first)
	r.wait(second)
	if rep := r.reply(run); rep.Outcome != "answered" || len(rep.Shown) != 1 {
		t.Errorf("the turn ended as %s with %d results", rep.Outcome, len(rep.Shown))
	}
}
