package engine_test

import (
	"context"
	"runtime"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"interlock/internal/engine"
	"interlock/internal/event"
	"interlock/internal/fault"
	"interlock/internal/llm"
	"interlock/internal/racetest"
	"interlock/internal/store"
	"interlock/internal/tool"
)

// wide is a tool whose result is so many bytes.
func wide(name string, n int) tool.Tool {
	return tool.New(tool.Spec{Name: name, Effect: tool.Reads}, func(context.Context, struct{}) (named, error) {
		return named{strings.Repeat("x", n)}, nil
	})
}

func heap() int64 {
	runtime.GC()
	runtime.GC()
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return int64(m.HeapAlloc)
}

// Threads that rest hold memory up to a bound, however many there are, and go on
// from their log all the same.
func TestRestingThreadsAreBoundedInBytes(t *testing.T) {
	racetest.Skip(t, "measures memory")
	const result, threads = 4 << 20, 12
	var script []llm.Line
	for range threads {
		script = append(script, llm.Ask("look", "{}"), llm.Say("done"))
	}
	r := newRig(t, llm.Script(append(script, llm.Say("again"))...), wide("look", result), newGate().tool("make", tool.Writes))
	if err := r.eng.Close(); err != nil {
		t.Fatal(err)
	}
	var err error
	if r.eng, err = engine.New(engine.Config{Store: r.store, Machines: r, Models: r, Tools: r.tools, RestingBytes: 100 << 20}); err != nil {
		t.Fatal(err)
	}
	before := heap()
	var ids []string
	for range threads {
		id := r.open()
		run := r.send(id, "go")
		r.wait(id)
		if rep := r.reply(run); rep.Text != "done" {
			t.Fatalf("%s: %q %s", rep.Outcome, rep.Text, rep.Code)
		}
		ids = append(ids, id)
	}
	if grown := heap() - before; grown > 10*result {
		t.Errorf("%d threads with results of %d MB hold %d MB", threads, result>>20, grown>>20)
	}
	run := r.send(ids[0], "and again")
	r.wait(ids[0])
	if rep := r.reply(run); rep.Text != "again" {
		t.Errorf("%s: %q", rep.Outcome, rep.Text)
	}
}

// Followers who are shown the same result at the same time hold it once.
func TestFollowersShareAResult(t *testing.T) {
	racetest.Skip(t, "measures memory")
	const result, followers = 26 << 20, 128
	r := newRig(t, llm.Script(llm.Ask("look", "{}"), llm.Say("done")), wide("look", result), newGate().tool("make", tool.Writes))
	thread := r.open()
	r.send(thread, "go")
	r.wait(thread)
	before := heap()
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	var reached, ended sync.WaitGroup
	leave := make(chan struct{})
	reached.Add(followers)
	for range followers {
		ended.Go(func() {
			for ev, err := range r.eng.Follow(ctx, thread, 0) {
				if err != nil {
					t.Error(err)
				}
				if back, ok := ev.Body.(event.ToolReturned); ok {
					reached.Done()
					<-leave
					if len(back.Result.JSON) < result {
						t.Errorf("the result has %d bytes", len(back.Result.JSON))
					}
					return
				}
			}
		})
	}
	reached.Wait()
	if grown := heap() - before; grown > 4*result {
		t.Errorf("%d followers of a result of %d MB hold %d MB", followers, result>>20, grown>>20)
	}
	close(leave)
	ended.Wait()
}

// A fullDisk store refuses every batch while it is full.
type fullDisk struct {
	store.Store
	full *atomic.Bool
}

func (s fullDisk) Append(ctx context.Context, b store.Batch) error {
	if s.full.Load() {
		return fault.New(fault.StoreFailed, "cannot write the log: the disk is full").Suggest("Free some space.")
	}
	return s.Store.Append(ctx, b)
}

// A turn that cannot be stored ends for its callers and followers with the reason,
// and goes on by itself once the store writes again.
func TestFullDiskInMidTurn(t *testing.T) {
	g := newGate()
	r := newRig(t, llm.Script(llm.Ask("look", "{}"), llm.Say("done")), g.tool("look", tool.Reads), g.tool("make", tool.Writes))
	if err := r.eng.Close(); err != nil {
		t.Fatal(err)
	}
	var full atomic.Bool
	var err error
	if r.eng, err = engine.New(engine.Config{Store: fullDisk{r.store, &full}, Machines: r, Models: r, Tools: r.tools}); err != nil {
		t.Fatal(err)
	}
	thread := r.open()
	run := r.send(thread, "go")
	<-g.reached
	followed := make(chan error, 1)
	go func() {
		for _, err := range r.eng.Follow(t.Context(), thread, 0) {
			if err != nil {
				followed <- err
				return
			}
		}
	}()
	full.Store(true)
	g.open <- struct{}{}
	if err := r.eng.Wait(t.Context(), thread); !fault.Is(err, fault.StoreFailed) {
		t.Errorf("who waits is told %v", err)
	}
	if err := r.eng.Wait(t.Context(), thread); !fault.Is(err, fault.StoreFailed) {
		t.Errorf("who waits later is told %v", err)
	}
	if err := <-followed; !fault.Is(err, fault.StoreFailed) {
		t.Errorf("a follower is told %v", err)
	}
	if _, err := r.eng.Send(t.Context(), thread, engine.Input{User: "ann", Text: "well?"}); !fault.Is(err, fault.StoreFailed) {
		t.Errorf("who sends is told %v", err)
	}
	if r.eng.Stalled() == nil {
		t.Error("no turn is stalled")
	}
	full.Store(false)
	g.open <- struct{}{}
	for r.eng.Stalled() != nil {
		<-time.After(10 * time.Millisecond)
	}
	r.wait(thread)
	if rep := r.reply(run); rep.Text != "done" || r.eng.Stalled() != nil {
		t.Errorf("%s: %q; stalled: %v", rep.Outcome, rep.Text, r.eng.Stalled())
	}
}

// A gatedStore counts the values that are loaded. The first one is not given before so
// many readers have come.
type gatedStore struct {
	store.Store
	readers sync.WaitGroup
	loaded  atomic.Int64
}

func (s *gatedStore) Blob(ctx context.Context, hash string) ([]byte, error) {
	if s.loaded.Add(1) == 1 {
		s.readers.Wait()
	}
	return s.Store.Blob(ctx, hash)
}

// Readers who open the same thread at the same time load it once, also from the log.
func TestReadersShareAThread(t *testing.T) {
	const readers = 64
	r := newRig(t, llm.Script(llm.Ask("look", "{}"), llm.Say("done")), wide("look", 1<<20), newGate().tool("make", tool.Writes))
	thread := r.open()
	r.send(thread, "go")
	r.wait(thread)
	if err := r.eng.Close(); err != nil {
		t.Fatal(err)
	}
	s := &gatedStore{Store: r.store}
	s.readers.Add(readers)
	var err error
	if r.eng, err = engine.New(engine.Config{Store: s, Machines: r, Models: r, Tools: r.tools}); err != nil {
		t.Fatal(err)
	}
	var all sync.WaitGroup
	for range readers {
		all.Go(func() {
			s.readers.Done()
			v, err := r.eng.View(t.Context(), thread)
			if seen, _ := v.Facts["seen"].([]any); err != nil || len(seen) != 1 {
				t.Errorf("%d facts: %v", len(seen), err)
			}
		})
	}
	all.Wait()
	if n := s.loaded.Load(); n > readers {
		t.Errorf("%d readers loaded %d values", readers, n)
	}
	t.Logf("%d values were loaded", s.loaded.Load())
}
