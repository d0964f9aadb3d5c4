package storetest

import (
	"errors"
	"fmt"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"interlock/internal/store"
)

func testThreads(t *testing.T, f *fixture) {
	s := f.store(t)
	// Thread i of ten; even ones are ann's, every third one is a pipeline and waits.
	for i := range 10 {
		b := batch(fmt.Sprintf("t%d", i), 0, 1)
		b.Head.Updated = epoch.Add(time.Duration(i) * time.Hour)
		if i%2 == 1 {
			b.Head.Owner = "bob"
		}
		if i%3 == 0 {
			b.Head.Machine, b.Head.Status = "pipeline", store.Waiting
		}
		mustAppend(t, s, b)
	}
	tests := []struct {
		name string
		q    store.Query
		want []string
	}{
		{"all, newest first", store.Query{}, []string{"t9", "t8", "t7", "t6", "t5", "t4", "t3", "t2", "t1", "t0"}},
		{"owner", store.Query{Owner: "ann"}, []string{"t8", "t6", "t4", "t2", "t0"}},
		{"stranger", store.Query{Owner: "eve"}, nil},
		{"owner is no pattern", store.Query{Owner: "%"}, nil},
		{"machine", store.Query{Machine: "pipeline"}, []string{"t9", "t6", "t3", "t0"}},
		{"status and owner", store.Query{Status: store.Waiting, Owner: "bob"}, []string{"t9", "t3"}},
		{"limit", store.Query{Limit: 2}, []string{"t9", "t8"}},
		{"before", store.Query{Before: epoch.Add(3 * time.Hour)}, []string{"t2", "t1", "t0"}},
		{"before and limit", store.Query{Before: epoch.Add(3 * time.Hour), Limit: 1, Owner: "ann"}, []string{"t2"}},
		{"text", store.Query{Text: "SALES of T4"}, []string{"t4"}},
		{"text and owner", store.Query{Text: "t4", Owner: "bob"}, nil},
	}
	for _, tt := range tests {
		rows, err := s.Threads(t.Context(), tt.q)
		if err != nil {
			t.Errorf("%s: %v", tt.name, err)
		}
		var got []string
		for _, r := range rows {
			got = append(got, r.ID)
		}
		if diff := cmp.Diff(tt.want, got); diff != "" {
			t.Errorf("%s (-want +got):\n%s", tt.name, diff)
		}
	}

	// The row is that of the newest batch, but who opened a thread keeps it.
	b := batch("t0", 1, 2)
	b.Head.Owner, b.Head.Title, b.Head.Status = "eve", "A new title", store.Idle
	mustAppend(t, s, b)
	want := b.Head
	want.Owner, want.Machine = "ann", "pipeline"
	got, err := s.Thread(t.Context(), "t0")
	if diff := cmp.Diff(want, got); diff != "" || err != nil {
		t.Errorf("row of t0 (%v) (-want +got):\n%s", err, diff)
	}
	for i := range 150 {
		mustAppend(t, s, batch(fmt.Sprintf("more%d", i), 0, 1))
	}
	if rows, err := s.Threads(t.Context(), store.Query{}); err != nil || len(rows) != 100 {
		t.Errorf("%d threads without a limit, want 100 (%v)", len(rows), err)
	}
}

// The row of a thread that runs is right after every batch, whatever changed in it
// and whoever wrote it.
func testRunning(t *testing.T, f *fixture) {
	here, there := f.store(t), f.store(t)
	want := batch("a", 0, 1).Head
	mustAppend(t, here, batch("still", 0, 1))
	steps := []struct {
		name   string
		s      store.Store
		change func(*store.Batch)
	}{
		{"opened", here, func(*store.Batch) {}},
		{"nothing but the end", here, func(*store.Batch) {}},
		{"again", here, func(*store.Batch) {}},
		{"by another process", there, func(*store.Batch) {}},
		{"the state", here, func(b *store.Batch) { b.Head.State = "next" }},
		{"the title", here, func(b *store.Batch) { b.Head.Title = "renamed" }},
		{"a time that is no event's", here, func(b *store.Batch) { b.Head.Updated = at(1000) }},
		{"only the end", here, func(*store.Batch) {}},
		{"it waits", there, func(b *store.Batch) { b.Head.Status = store.Waiting }},
		{"it waits on", there, func(*store.Batch) {}},
		{"it runs", here, func(b *store.Batch) { b.Head.Status = store.Running }},
		{"only the end once more", here, func(*store.Batch) {}},
	}
	var after int64
	for _, step := range steps {
		b := batch("a", after, 2)
		want.Seq, want.Updated = b.Head.Seq, b.Head.Updated
		b.Head = want
		step.change(&b)
		want = b.Head
		mustAppend(t, step.s, b)
		for _, s := range []store.Store{here, there} {
			got, err := s.Thread(t.Context(), "a")
			if diff := cmp.Diff(want, got); diff != "" || err != nil {
				t.Errorf("%s: the row (%v) (-want +got):\n%s", step.name, err, diff)
			}
			rows, err := s.Threads(t.Context(), store.Query{Before: want.Updated.Add(1), Limit: 1})
			if err != nil || len(rows) != 1 || !cmp.Equal(rows[0], want) {
				t.Errorf("%s: the newest row is %+v, %v", step.name, rows, err)
			}
			if err := s.Append(t.Context(), batch("a", after, 1)); !errors.Is(err, store.ErrConflict) {
				t.Errorf("%s: the same place again: %v, want a conflict", step.name, err)
			}
		}
		after += 2
	}
}

func testRuns(t *testing.T, f *fixture) {
	s := f.store(t)
	for i := range 4 {
		thread := fmt.Sprintf("t%d", i%2)
		b := batch(thread, int64(i/2), 1)
		b.Runs = run(fmt.Sprintf("r%d", i), thread, int64(i+1))
		if i%2 == 1 {
			b.Runs[0].Owner = "bob"
		}
		mustAppend(t, s, b)
	}
	ended := run("r0", "t0", 1)
	done := &ended[0]
	done.Status, done.Last, done.Ended, done.MicroUSD, done.Tokens = "succeeded", 3, epoch.Add(time.Hour), 1500, 42
	b := batch("t0", 2, 1)
	b.Runs = append(ended, run("r2", "t0", 3)...) // one batch may end a run and begin the next
	b.Head.Run = "r0"
	mustAppend(t, s, b)
	if rows, err := s.Threads(t.Context(), store.Query{Thread: "t0"}); err != nil || len(rows) != 1 || rows[0].Outcome != "succeeded" {
		t.Errorf("the list does not say how the run of t0 ended: %+v, %v", rows, err)
	}

	got, err := s.Run(t.Context(), "r0")
	if diff := cmp.Diff(*done, got); diff != "" || err != nil {
		t.Errorf("row of r0 (%v) (-want +got):\n%s", err, diff)
	}
	tests := []struct {
		name string
		q    store.Query
		want []string
	}{
		{"all, newest first", store.Query{}, []string{"r3", "r2", "r1", "r0"}},
		{"owner", store.Query{Owner: "bob"}, []string{"r3", "r1"}},
		{"thread", store.Query{Thread: "t0"}, []string{"r2", "r0"}},
		{"thread of another owner", store.Query{Thread: "t0", Owner: "bob"}, nil},
		{"status", store.Query{Status: "succeeded"}, []string{"r0"}},
		{"text", store.Query{Text: "much in r2"}, []string{"r2"}},
		{"before", store.Query{Before: epoch.Add(2 * time.Minute)}, []string{"r0"}},
		{"limit", store.Query{Limit: 1}, []string{"r3"}},
	}
	for _, tt := range tests {
		rows, err := s.Runs(t.Context(), tt.q)
		if err != nil {
			t.Errorf("%s: %v", tt.name, err)
		}
		var ids []string
		for _, r := range rows {
			ids = append(ids, r.ID)
		}
		if diff := cmp.Diff(tt.want, ids); diff != "" {
			t.Errorf("%s (-want +got):\n%s", tt.name, diff)
		}
	}
}

// A name is used once for each owner: the batch that uses it again stores nothing. It goes
// with its thread.
func testSayings(t *testing.T, f *fixture) {
	s := f.store(t)
	say := func(thread string, after int64, owner, name string) error {
		b := batch(thread, after, 1)
		b.Head.Status = store.Idle
		b.Said = store.Saying{Owner: owner, Name: name, Thread: thread, Run: "r-" + thread, Seq: after + 1}
		return s.Append(t.Context(), b)
	}
	for i, name := range []string{"a.1", "a.2", "b.1", "ab.1"} {
		if err := say("t1", int64(i), "ann", name); err != nil {
			t.Fatal(err)
		}
	}
	if err := say("t2", 0, "bob", "a.1"); err != nil {
		t.Errorf("another owner: %v", err)
	}
	for _, thread := range []string{"t1", "t3"} {
		after := map[string]int64{"t1": 4}[thread]
		if err := say(thread, after, "ann", "a.2"); !errors.Is(err, store.ErrConflict) {
			t.Errorf("said again in %s: %v", thread, err)
		}
	}
	if _, err := s.Thread(t.Context(), "t3"); !errors.Is(err, store.ErrNotFound) {
		t.Errorf("the refused batch left a thread: %v", err)
	}
	for _, tt := range []struct {
		owner, prefix string
		limit         int
		want          []string
	}{
		{"ann", "a.", 9, []string{"a.2", "a.1"}},
		{"ann", "a.", 1, []string{"a.2"}},
		{"ann", "a%", 9, nil},
		{"bob", "a.", 9, []string{"a.1"}},
		{"eve", "", 9, nil},
	} {
		got, err := s.Sayings(t.Context(), tt.owner, tt.prefix, tt.limit)
		var names []string
		for _, said := range got {
			names = append(names, said.Name)
		}
		if diff := cmp.Diff(tt.want, names); diff != "" || err != nil {
			t.Errorf("%s %q: %v %s", tt.owner, tt.prefix, err, diff)
		}
	}
	got, err := s.Sayings(t.Context(), "ann", "b.1", 1)
	if diff := cmp.Diff([]store.Saying{{Owner: "ann", Name: "b.1", Thread: "t1", Run: "r-t1", Seq: 3}}, got); diff != "" || err != nil {
		t.Error(err, diff)
	}
	if _, err := s.RemoveThreads(t.Context(), usage(t, s), []string{"t1"}); err != nil {
		t.Fatal(err)
	}
	if left, err := s.Sayings(t.Context(), "ann", "", 9); err != nil || len(left) != 0 {
		t.Errorf("left of the removed thread: %v %v", left, err)
	}
}
