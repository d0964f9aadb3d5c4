package storetest

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"testing"
	"time"

	"interlock/internal/store"
)

const (
	long  = time.Hour
	ended = -time.Second // a lease that has ended when it is given
)

func acquire(t *testing.T, s store.Leases, thread, holder string, lasts time.Duration) store.Lease {
	t.Helper()
	l, err := s.Acquire(t.Context(), thread, holder, lasts)
	if err != nil {
		t.Fatalf("%s acquires %s: %v", holder, thread, err)
	}
	if l.Thread != thread || l.Holder != holder || l.Stop {
		t.Fatalf("%s got the lease %+v", holder, l)
	}
	return l
}

func mustBeHeld(t *testing.T, s store.Leases, thread, holder string) {
	t.Helper()
	if l, err := s.Acquire(t.Context(), thread, holder, long); !errors.Is(err, store.ErrHeld) {
		t.Fatalf("%s got %+v, %v; want ErrHeld", holder, l, err)
	}
}

// A lease has one holder at a time, and every grant a higher fence.
func testLeases(t *testing.T, f *fixture) {
	here, there := f.store(t), f.store(t)
	mustAppend(t, here, batch("a", 0, 1))
	first := acquire(t, here, "a", "here", long)
	mustBeHeld(t, there, "a", "there")
	if err := here.Release(t.Context(), first); err != nil {
		t.Fatal(err)
	}
	second := acquire(t, there, "a", "there", ended)
	third := acquire(t, here, "a", "here", long)
	if first.Fence < 1 || second.Fence <= first.Fence || third.Fence <= second.Fence {
		t.Errorf("fences %d, %d, %d do not grow", first.Fence, second.Fence, third.Fence)
	}
	// Who lost a lease cannot end the one that came after it.
	if err := there.Release(t.Context(), second); err != nil {
		t.Fatal(err)
	}
	mustBeHeld(t, there, "a", "there")
	if _, err := here.Acquire(t.Context(), "a", "", long); err == nil {
		t.Error("a holder without a name got a lease")
	}
	acquire(t, here, "b", "here", 10*long) // as if the clock had been set back since
	acquire(t, there, "b", "there", time.Second)
}

// A batch is stored only with the fence of the newest lease.
func testFencing(t *testing.T, f *fixture) {
	here, there := f.store(t), f.store(t)
	mustAppend(t, here, batch("a", 0, 1))
	old := acquire(t, here, "a", "here", ended)
	step := func(after, fence int64) store.Batch {
		b := batch("a", after, 1)
		b.Fence = fence
		return b
	}
	mustAppend(t, here, step(1, old.Fence)) // ended, but nobody took it
	mustAppend(t, here, step(2, old.Fence))
	taken := acquire(t, there, "a", "there", long)
	heavy := step(3, old.Fence)
	heavy.Runs, heavy.Snapshot, heavy.Blobs = run("r", "a", 1), []byte("{}"), []store.Blob{{Hash: "late", Bytes: []byte("late")}}
	for name, b := range map[string]store.Batch{"old fence": step(3, old.Fence), "no fence": step(3, 0), "all of it": heavy, "old place": step(2, old.Fence)} {
		if err := here.Append(t.Context(), b); !errors.Is(err, store.ErrFenced) {
			t.Errorf("%s: %v, want ErrFenced", name, err)
		}
	}
	if _, err := here.Blob(t.Context(), "late"); !errors.Is(err, store.ErrNotFound) {
		t.Errorf("a fenced batch left its blob: %v", err)
	}
	mustAppend(t, there, step(3, taken.Fence))
	if err := here.Append(t.Context(), step(3, old.Fence)); !errors.Is(err, store.ErrFenced) {
		t.Errorf("after the new holder has stored events: %v, want ErrFenced", err)
	}
	if got := events(t, there, "a", 0); len(got) != 4 {
		t.Errorf("%d events, want 4", len(got))
	}
}

// Many who want a lease at once: one gets it.
func testLeaseRivals(t *testing.T, f *fixture) {
	stores := []store.Store{f.store(t), f.store(t)}
	var mu sync.Mutex
	var wg sync.WaitGroup
	got := 0
	for i := range 16 {
		wg.Go(func() {
			_, err := stores[i%2].Acquire(t.Context(), "a", fmt.Sprint("holder ", i), long)
			switch {
			case err == nil:
				mu.Lock()
				got++
				mu.Unlock()
			case !errors.Is(err, store.ErrHeld):
				t.Error(err)
			}
		})
	}
	wg.Wait()
	if got != 1 {
		t.Errorf("%d got the lease", got)
	}
}

// Renewing keeps what is still the holder's, and tells what others asked for.
func testRenewAndStop(t *testing.T, f *fixture) {
	here, there := f.store(t), f.store(t)
	for _, thread := range []string{"a", "b", "left over"} {
		mustAppend(t, here, batch(thread, 0, 1))
		acquire(t, here, thread, "here", ended)
	}
	acquire(t, there, "b", "there", long)
	if ok, err := there.AskStop(t.Context(), "a"); ok || err != nil {
		t.Errorf("a lease that has ended was asked to stop: %v, %v", ok, err)
	}
	leases, err := here.Renew(t.Context(), "here", []string{"a", "b"}, long)
	if err != nil || len(leases) != 1 || leases[0].Thread != "a" || leases[0].Stop || time.Until(leases[0].Until) < long/2 {
		t.Fatalf("renewed %+v, %v", leases, err)
	}
	mustBeHeld(t, there, "a", "there")
	acquire(t, there, "left over", "there", long) // its release had failed, so nobody renews it
	if ok, err := there.AskStop(t.Context(), "a"); !ok || err != nil {
		t.Errorf("asked to stop: %v, %v", ok, err)
	}
	if leases, err = here.Renew(t.Context(), "here", []string{"a"}, long); err != nil || len(leases) != 1 || !leases[0].Stop {
		t.Errorf("after being asked to stop: %+v, %v", leases, err)
	}
	if ok, err := there.AskStop(t.Context(), "unknown"); ok || err != nil {
		t.Errorf("a thread without a lease was asked to stop: %v, %v", ok, err)
	}
}

// What one process stores wakes whoever watches in another.
func testWatch(t *testing.T, f *fixture) {
	here, there := f.store(t), f.store(t)
	mustAppend(t, here, batch("a", 0, 1))
	ctx, cancel := context.WithCancel(t.Context())
	woken := make(chan error)
	done := make(chan struct{})
	go func() {
		defer close(done)
		for _, err := range there.Watch(ctx) {
			select {
			case woken <- err:
			case <-ctx.Done():
			}
		}
	}()
	for after := int64(1); after < 4; after++ {
		if err := <-woken; err != nil { // at the start, and for each batch
			t.Fatal(err)
		}
		mustAppend(t, here, batch("a", after, 1))
	}
	if err := <-woken; err != nil {
		t.Fatal(err)
	}
	cancel()
	<-done
}
