package storetest

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	"pgregory.net/rapid"

	"interlock/internal/event"
	"interlock/internal/fault"
	"interlock/internal/store"
)

func testOrder(t *testing.T, f *fixture) {
	s := f.store(t)
	first, second := batch("a", 0, 3), batch("a", 3, 2)
	mustAppend(t, s, first)
	mustAppend(t, s, batch("b", 0, 1))
	mustAppend(t, s, second)
	all := slices.Concat(first.Events, second.Events)
	for after := range int64(6) {
		if diff := cmp.Diff(all[after:], events(t, s, "a", after), cmpopts.EquateEmpty()); diff != "" {
			t.Errorf("after %d (-want +got):\n%s", after, diff)
		}
	}
}

func testLongThread(t *testing.T, f *fixture) {
	s := f.store(t)
	const n = 2500
	b := batch("a", 0, n)
	mustAppend(t, s, b)
	if diff := cmp.Diff(b.Events, events(t, s, "a", 0)); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	if got := events(t, s, "a", n-1); len(got) != 1 || got[0].Seq != n {
		t.Errorf("the end of the thread is %v", got)
	}
}

func testEarlyStop(t *testing.T, f *fixture) {
	s := f.store(t)
	mustAppend(t, s, batch("a", 0, 10))
	for range 50 { // more than a store has connections
		for e, err := range s.Events(t.Context(), "a", 0) {
			if err != nil || e.Seq != 1 {
				t.Fatalf("event %d, error %v", e.Seq, err)
			}
			break
		}
	}
}

// A consumer may use the store while it reads, at any depth.
func testAppendWhileReading(t *testing.T, f *fixture) {
	s := f.store(t)
	mustAppend(t, s, batch("a", 0, 1))
	var depth func(level int)
	depth = func(level int) {
		for e, err := range s.Events(t.Context(), "a", 0) {
			if err != nil {
				t.Fatal(err)
			}
			if level < 10 && e.Seq == 1 {
				mustAppend(t, s, batch("a", int64(level)+1, 1))
				depth(level + 1)
			}
		}
	}
	depth(0)
	if got := len(events(t, s, "a", 0)); got != 11 {
		t.Errorf("%d events, want 11", got)
	}
}

func testConflict(t *testing.T, f *fixture) {
	s := f.store(t)
	mustAppend(t, s, batch("a", 0, 3))
	for _, after := range []int64{0, 2, 4} {
		err := s.Append(t.Context(), batch("a", after, 1))
		if !errors.Is(err, store.ErrConflict) || !fault.Is(err, fault.Conflict) {
			t.Errorf("after %d: %v, want a conflict", after, err)
		}
	}
	if err := s.Append(t.Context(), batch("new", 5, 1)); !errors.Is(err, store.ErrConflict) {
		t.Errorf("an unknown thread after 5: %v, want a conflict", err)
	}
	mustAppend(t, s, batch("a", 3, 1))
	if got := len(events(t, s, "a", 0)); got != 4 {
		t.Errorf("%d events, want 4", got)
	}
}

// A batch that fails at its very end leaves nothing of itself.
func testAtomicity(t *testing.T, f *fixture) {
	s := f.store(t)
	first := batch("a", 0, 2)
	first.Runs = run("r1", "a", 1)
	mustAppend(t, s, first)

	b := batch("b", 0, 2)
	b.Blobs = []store.Blob{{Hash: "h", Bytes: []byte("x")}}
	b.Snapshot = []byte("snap")
	b.Runs = run("r1", "b", 1) // belongs to thread a
	if err := s.Append(t.Context(), b); err == nil {
		t.Fatal("a run of another thread was overwritten")
	}
	if _, err := s.Thread(t.Context(), "b"); !errors.Is(err, store.ErrNotFound) {
		t.Errorf("the thread is there: %v", err)
	}
	if _, err := s.Blob(t.Context(), "h"); !errors.Is(err, store.ErrNotFound) {
		t.Errorf("the blob is there: %v", err)
	}
	if snap, _, err := s.Snapshot(t.Context(), "b"); snap != nil || err != nil {
		t.Errorf("the snapshot is there: %q, %v", snap, err)
	}
	if r, err := s.Run(t.Context(), "r1"); err != nil || r.Thread != "a" {
		t.Errorf("the run is now %+v, %v", r, err)
	}
	b.Runs = nil
	mustAppend(t, s, b)
	if got, err := s.Blob(t.Context(), "h"); err != nil || string(got) != "x" {
		t.Errorf("blob %q, %v", got, err)
	}
}

func testBadBatches(t *testing.T, f *fixture) {
	s := f.store(t)
	bad := map[string]func(*store.Batch){
		"gap":            func(b *store.Batch) { b.Events[1].Seq = 4 },
		"transient":      func(b *store.Batch) { b.Events[0].Seq = 0 },
		"other thread":   func(b *store.Batch) { b.Events[0].Thread = "z" },
		"no body":        func(b *store.Batch) { b.Events[1].Body = nil },
		"no thread":      func(b *store.Batch) { b.Thread = "" },
		"not encodable":  func(b *store.Batch) { b.Events[1].Body = event.CommandGiven{Fields: map[string]any{"f": func() {}}} },
		"starts too far": func(b *store.Batch) { b.Events = b.Events[1:] },
	}
	for name, spoil := range bad {
		b := batch("a", 0, 2)
		spoil(&b)
		if err := s.Append(t.Context(), b); err == nil {
			t.Errorf("%s: stored", name)
		}
	}
	mustAppend(t, s, batch("a", 0, 2))
}

func testConcurrent(t *testing.T, f *fixture) {
	s := f.store(t)
	const threads, batches = 16, 20
	var wg sync.WaitGroup
	for i := range threads {
		wg.Go(func() {
			id := fmt.Sprintf("thread %d", i)
			for n := range int64(batches) {
				b := batch(id, 3*n, 3)
				b.Blobs = []store.Blob{{Hash: fmt.Sprint("shared ", n), Bytes: []byte(strings.Repeat("same ", 300))}}
				if err := s.Append(t.Context(), b); err != nil {
					t.Errorf("%s: %v", id, err)
					return
				}
				if _, err := s.Blob(t.Context(), b.Blobs[0].Hash); err != nil {
					t.Errorf("%s: %v", id, err)
				}
			}
		})
	}
	wg.Wait()
	for i := range threads {
		if got := len(events(t, s, fmt.Sprintf("thread %d", i), 0)); got != 3*batches {
			t.Errorf("thread %d has %d events, want %d", i, got, 3*batches)
		}
	}
}

// Rivals write the same thread through two handles: each batch has one winner.
func testRivals(t *testing.T, f *fixture) {
	handles := []store.Store{f.store(t), f.store(t)}
	const rounds = 60
	var won [2]int
	var wg sync.WaitGroup
	for i, s := range handles {
		wg.Go(func() {
			for after := int64(0); after < rounds; {
				err := s.Append(t.Context(), batch("a", after, 1))
				switch {
				case err == nil:
					won[i]++
					after++
				case errors.Is(err, store.ErrConflict):
					head, err := s.Thread(t.Context(), "a")
					if err != nil {
						t.Error(err)
						return
					}
					if head.Seq <= after {
						t.Errorf("a conflict after %d, but the thread ends at %d", after, head.Seq)
						return
					}
					after = head.Seq
				default:
					t.Error(err)
					return
				}
			}
		})
	}
	wg.Wait()
	if total := won[0] + won[1]; total != rounds {
		t.Errorf("%d batches were accepted, want %d", total, rounds)
	}
	for i, e := range events(t, handles[0], "a", 0) {
		if e.Seq != int64(i)+1 {
			t.Fatalf("event %d at place %d", e.Seq, i)
		}
	}
}

func testReopen(t *testing.T, f *fixture) {
	s := f.open(t, f.place)
	b := batch("a", 0, 3)
	b.Runs = run("r", "a", 1)
	b.Blobs = []store.Blob{{Hash: "h", Bytes: []byte("blob")}}
	b.Snapshot = []byte("snapshot")
	mustAppend(t, s, b)
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	s = f.store(t)
	if diff := cmp.Diff(b.Events, events(t, s, "a", 0)); diff != "" {
		t.Errorf("events (-want +got):\n%s", diff)
	}
	if head, err := s.Thread(t.Context(), "a"); err != nil || !cmp.Equal(head, b.Head) {
		t.Errorf("head %+v, %v", head, err)
	}
	if r, err := s.Run(t.Context(), "r"); err != nil || !cmp.Equal(r, b.Runs[0]) {
		t.Errorf("run %+v, %v", r, err)
	}
	if got, err := s.Blob(t.Context(), "h"); err != nil || string(got) != "blob" {
		t.Errorf("blob %q, %v", got, err)
	}
	if got, seq, err := s.Snapshot(t.Context(), "a"); err != nil || string(got) != "snapshot" || seq != 3 {
		t.Errorf("snapshot %q at %d, %v", got, seq, err)
	}
	mustAppend(t, s, batch("a", 3, 1))
}

func testClosed(t *testing.T, f *fixture) {
	s := f.store(t)
	mustAppend(t, s, batch("a", 0, 1))
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	if err := s.Append(t.Context(), batch("a", 1, 1)); !fault.Is(err, fault.StoreFailed) {
		t.Errorf("appending: %v", err)
	}
	if _, err := s.Thread(t.Context(), "a"); !fault.Is(err, fault.StoreFailed) {
		t.Errorf("reading: %v", err)
	}
	if err := s.Close(); err != nil {
		t.Errorf("closing again: %v", err)
	}
}

func testCancelled(t *testing.T, f *fixture) {
	s := f.store(t)
	mustAppend(t, s, batch("a", 0, 1))
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if err := s.Append(ctx, batch("a", 1, 1)); !errors.Is(err, context.Canceled) {
		t.Errorf("appending: %v", err)
	}
	for _, err := range s.Events(ctx, "a", 0) {
		if !errors.Is(err, context.Canceled) {
			t.Errorf("reading: %v", err)
		}
	}
	if got := len(events(t, s, "a", 0)); got != 1 {
		t.Errorf("%d events, want 1", got)
	}
}

func testUnknown(t *testing.T, f *fixture) {
	s := f.store(t)
	n := 0
	for _, err := range s.Events(t.Context(), "nobody", 0) {
		if n++; !errors.Is(err, store.ErrNotFound) || !fault.Is(err, fault.ThreadNotFound) {
			t.Errorf("events: %v", err)
		}
	}
	if n != 1 {
		t.Errorf("events yielded %d times, want one error", n)
	}
	if _, err := s.Thread(t.Context(), "nobody"); !errors.Is(err, store.ErrNotFound) {
		t.Errorf("thread: %v", err)
	}
	if _, err := s.Run(t.Context(), "nothing"); !errors.Is(err, store.ErrNotFound) || !fault.Is(err, fault.RunNotFound) {
		t.Errorf("run: %v", err)
	}
	if _, err := s.Blob(t.Context(), "00"); !errors.Is(err, store.ErrNotFound) {
		t.Errorf("blob: %v", err)
	}
	if b, seq, err := s.Snapshot(t.Context(), "nobody"); b != nil || seq != 0 || err != nil {
		t.Errorf("snapshot: %q, %d, %v", b, seq, err)
	}
}

// Whatever sequence of batches is sent, the store holds those it accepted.
func testAnyBatches(t *testing.T, f *fixture) {
	s := f.store(t)
	round := 0
	rapid.Check(t, func(rt *rapid.T) {
		round++
		ends := map[string]int64{}
		for range rapid.IntRange(1, 12).Draw(rt, "batches") {
			id := fmt.Sprintf("%s of round %d", rapid.SampledFrom([]string{"a", "b", "c"}).Draw(rt, "thread"), round)
			after := max(0, ends[id]+int64(rapid.SampledFrom([]int{0, 0, 0, -1, 1}).Draw(rt, "off")))
			n := rapid.IntRange(1, 9).Draw(rt, "events")
			err := s.Append(t.Context(), batch(id, after, n))
			switch fits := after == ends[id]; {
			case fits && err == nil:
				ends[id] += int64(n)
			case fits, !errors.Is(err, store.ErrConflict):
				rt.Fatalf("after %d of %d: %v", after, ends[id], err)
			}
		}
		for id, end := range ends {
			if end > 0 {
				if diff := cmp.Diff(batch(id, 0, int(end)).Events, events(t, s, id, 0)); diff != "" {
					rt.Fatalf("%s (-want +got):\n%s", id, diff)
				}
			}
		}
	})
}
