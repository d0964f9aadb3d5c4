package storetest

import (
	"bytes"
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"

	"interlock/internal/event"
	"interlock/internal/store"
)

// resting makes a thread of one event that refers to blobs and stores them.
func resting(thread string, blobs ...[]byte) store.Batch {
	b := batch(thread, 0, 1)
	b.Head.Status = store.Idle
	b.Events[0].Body = event.ThreadOpened{Owner: "ann", Machine: "analyst", Version: "v1"}
	var hashes []string
	for _, raw := range blobs {
		b.Blobs = append(b.Blobs, store.Blob{Hash: event.Hash(raw), Bytes: raw})
		hashes = append(hashes, event.Hash(raw))
	}
	b.Events = append(b.Events, event.Event{Thread: thread, Seq: 2, Time: at(2), Body: event.StepDone{State: strings.Join(hashes, " ")}})
	b.Head.Seq, b.Head.Updated = 2, at(2)
	return b
}

// Threads are removed with the blobs that nobody else needs, and another process that knew
// these blobs stores them again when it needs them.
func testRetention(t *testing.T, f *fixture) {
	here, there := f.store(t), f.store(t)
	shared, own := bytes.Repeat([]byte("shared "), 100), bytes.Repeat([]byte("own "), 100)
	large := make([]byte, 3<<20) // is stored in chunks
	for i := range large {
		large[i] = byte(i * i >> 8)
	}
	larger := append(bytes.Clone(large), "and a little more"...)
	mustAppend(t, there, resting("old", shared, own, large))
	knownThere := usage(t, there)
	mustAppend(t, here, resting("new", shared, larger))
	before := usage(t, here)
	if got := before.Threads["old"]; got.Bytes == 0 || len(got.Blobs) < 4 || got.Seq != 2 {
		t.Errorf("the usage of the thread is %+v", got)
	}
	removed, err := here.RemoveThreads(t.Context(), before, []string{"old", "nowhere"})
	if err != nil || !slices.Equal(removed.Threads, []string{"old"}) || removed.Bytes < 100 {
		t.Fatalf("removed %+v, %v", removed, err)
	}
	for _, s := range []store.Store{here, there} {
		if _, err := s.Thread(t.Context(), "old"); !errors.Is(err, store.ErrNotFound) {
			t.Errorf("the thread is still there: %v", err)
		}
		if _, err := s.Blob(t.Context(), event.Hash(own)); !errors.Is(err, store.ErrNotFound) {
			t.Errorf("its blob is still there: %v", err)
		}
		for _, raw := range [][]byte{shared, larger} {
			if got, err := s.Blob(t.Context(), event.Hash(raw)); err != nil || !bytes.Equal(got, raw) {
				t.Errorf("a blob of the other thread has %d bytes, want %d: %v", len(got), len(raw), err)
			}
		}
	}
	if err := there.UpdateUsage(t.Context(), knownThere); err != nil {
		t.Fatal(err)
	}
	if _, ok := knownThere.Threads["old"]; ok || knownThere.Threads["new"] == nil || knownThere.Threads["new"].Seq != 2 {
		t.Errorf("an updated usage has the threads %v", knownThere.Threads)
	}
	grown := batch("old", 2, 1)
	if err := there.Append(t.Context(), grown); !errors.Is(err, store.ErrConflict) {
		t.Errorf("a removed thread grew: %v", err)
	}
	mustAppend(t, there, resting("again", own, large)) // there knew both to be stored
	for _, raw := range [][]byte{own, large} {
		if got, err := here.Blob(t.Context(), event.Hash(raw)); err != nil || !bytes.Equal(got, raw) {
			t.Errorf("a blob that was stored again has %d bytes, want %d: %v", len(got), len(raw), err)
		}
	}
	if err := here.Compact(t.Context()); err != nil {
		t.Error(err)
	}
	mustAppend(t, there, resting("later", own))
}

// Threads that are newer than a usage and share a large blob: when one goes, the other keeps it.
func testRetentionOfNewThreads(t *testing.T, f *fixture) {
	s := f.store(t)
	large := make([]byte, 6<<20) // is stored in chunks, no two of them the same
	_, _ = rand.NewChaCha8([32]byte{}).Read(large)
	known := usage(t, s)
	mustAppend(t, s, resting("goes", large))
	mustAppend(t, s, resting("stays", large))
	if err := s.UpdateUsage(t.Context(), known); err != nil {
		t.Fatal(err)
	}
	if _, err := s.RemoveThreads(t.Context(), known, []string{"goes"}); err != nil {
		t.Fatal(err)
	}
	if got, err := s.Blob(t.Context(), event.Hash(large)); err != nil || !bytes.Equal(got, large) {
		t.Errorf("the blob of the other thread has %d bytes, want %d: %v", len(got), len(large), err)
	}
	if err := s.UpdateUsage(t.Context(), known); err != nil {
		t.Fatal(err)
	}
	if _, err := s.RemoveThreads(t.Context(), known, []string{"stays"}); err != nil {
		t.Fatal(err)
	}
	if left := usage(t, s); len(left.Blobs) != 0 {
		t.Errorf("%d blobs that nobody needs are left", len(left.Blobs))
	}
}

func usage(t *testing.T, s store.Store) *store.Usage {
	t.Helper()
	u, err := s.Usage(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	return u
}

// A thread stays if something needs it, also if that came after the usage was taken.
func testNeeded(t *testing.T, f *fixture) {
	s := f.store(t)
	raw := bytes.Repeat([]byte("blob "), 200)
	fork := func(id, parent string) store.Batch {
		b := resting(id)
		b.Parent = parent
		b.Events[0].Body = event.ThreadOpened{Owner: "ann", Machine: "analyst", Version: "v1", Parent: &event.Origin{Thread: parent, Seq: 1}}
		return b
	}
	names := []string{"kept", "held", "runs", "grown", "parent", "forked later", "kept later", "blob needed later", "free"}
	for _, name := range names {
		b := resting(name, append([]byte(name), raw...))
		if name == "runs" {
			b.Head.Status = store.Running
		}
		b.Runs = []store.Run{{ID: "r " + name, Thread: name, Owner: "ann", Status: "answered", First: 1, Last: 2, Started: epoch}}
		mustAppend(t, s, b)
	}
	mustAppend(t, s, fork("fork", "parent"))
	if err := s.KeepRun(t.Context(), "r kept", true); err != nil {
		t.Fatal(err)
	}
	u := usage(t, s)
	if got := u.Threads["fork"].Parent; got != "parent" {
		t.Errorf("the fork's parent is %q", got)
	}
	if _, err := s.Acquire(t.Context(), "held", "somebody", time.Minute); err != nil {
		t.Fatal(err)
	}
	more := batch("grown", 2, 1)
	more.Head.Status = store.Idle
	mustAppend(t, s, more)
	mustAppend(t, s, fork("late fork", "forked later"))
	if err := errors.Join(s.KeepRun(t.Context(), "r kept later", true), s.KeepRun(t.Context(), "r kept later", true)); err != nil {
		t.Fatal(err)
	}
	needed := append([]byte("blob needed later"), raw...)
	mustAppend(t, s, resting("late", needed))

	removed, err := s.RemoveThreads(t.Context(), u, names)
	slices.Sort(removed.Threads)
	if err != nil || !slices.Equal(removed.Threads, []string{"blob needed later", "free"}) {
		t.Errorf("removed %q, %v", removed.Threads, err)
	}
	if got, err := s.Blob(t.Context(), event.Hash(needed)); err != nil || !bytes.Equal(got, needed) {
		t.Errorf("a blob that a new thread needs is gone: %v", err)
	}
	if err := s.Append(t.Context(), fork("orphan", "free")); !errors.Is(err, store.ErrConflict) {
		t.Errorf("a removed thread was forked: %v", err)
	}
	if kept, err := s.Runs(t.Context(), store.Query{Kept: true}); err != nil || len(kept) != 2 {
		t.Errorf("kept runs: %+v, %v", kept, err)
	}
	if err := s.KeepRun(t.Context(), "r kept", false); err != nil {
		t.Fatal(err)
	}
	if removed, err = s.RemoveThreads(t.Context(), usage(t, s), []string{"kept", "fork", "parent"}); err != nil || len(removed.Threads) != 3 {
		t.Errorf("removed %q, %v; a run that is not kept any more, and a fork with its parent", removed.Threads, err)
	}
	if err := s.KeepRun(t.Context(), "r kept", true); !errors.Is(err, store.ErrNotFound) {
		t.Errorf("a run that is gone can be kept: %v", err)
	}
}

// A parent stays if a fork of it stays for a reason that came later, although both were to be
// removed and the parent is named first, in another transaction or in the same one.
func testForkThatStays(t *testing.T, f *fixture) {
	s := f.store(t)
	forks := []string{"near fork", "far fork"}
	names := []string{"near parent", "near fork", "far parent"}
	for _, fork := range forks {
		parent := strings.Replace(fork, "fork", "parent", 1)
		mustAppend(t, s, resting(parent))
		b := resting(fork)
		b.Parent = parent
		b.Events[0].Body = event.ThreadOpened{Owner: "ann", Machine: "analyst", Version: "v1", Parent: &event.Origin{Thread: parent, Seq: 1}}
		mustAppend(t, s, b)
	}
	for i := range 100 {
		id := fmt.Sprintf("other %d", i)
		mustAppend(t, s, resting(id))
		names = append(names, id)
	}
	u := usage(t, s)
	for _, fork := range forks {
		more := batch(fork, 2, 1)
		more.Head.Status = store.Idle
		mustAppend(t, s, more)
	}
	removed, err := s.RemoveThreads(t.Context(), u, append(names, "far fork"))
	if err != nil || len(removed.Threads) != 100 {
		t.Errorf("removed %d threads, want 100: %v", len(removed.Threads), err)
	}
	for _, fork := range forks {
		if _, err := s.Thread(t.Context(), strings.Replace(fork, "fork", "parent", 1)); err != nil {
			t.Errorf("the parent of the %s: %v", fork, err)
		}
	}
}

// Many threads go in several transactions, while another process stores blobs that they share.
func testRetentionRivals(t *testing.T, f *fixture) {
	here, there := f.store(t), f.store(t)
	raw := func(i int) []byte { return bytes.Repeat(fmt.Appendf(nil, "blob %d ", i%7), 100) }
	var old []string
	for i := range 60 {
		id := fmt.Sprintf("old %d", i)
		mustAppend(t, there, resting(id, raw(i)))
		old = append(old, id)
	}
	done := make(chan error, 1)
	go func() {
		u, err := here.Usage(t.Context())
		if err == nil {
			_, err = here.RemoveThreads(t.Context(), u, old)
		}
		done <- err
	}()
	for i := range 60 {
		mustAppend(t, there, resting(fmt.Sprintf("new %d", i), raw(i)))
	}
	if err := <-done; err != nil {
		t.Fatal(err)
	}
	for i := range 7 {
		if got, err := here.Blob(t.Context(), event.Hash(raw(i))); err != nil || !bytes.Equal(got, raw(i)) {
			t.Errorf("blob %d: %v", i, err)
		}
	}
	for _, id := range old {
		if _, err := there.Thread(t.Context(), id); !errors.Is(err, store.ErrNotFound) {
			t.Errorf("%s: %v", id, err)
		}
	}
}
