package storetest

import (
	"bytes"
	"crypto/rand"
	"encoding/json"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"interlock/internal/event"
	"interlock/internal/fault"
	"interlock/internal/figure"
	"interlock/internal/store"
)

func testBlobs(t *testing.T, f *fixture) {
	s := f.store(t)
	noise := make([]byte, 100_000)
	_, _ = rand.Read(noise)
	blobs := []store.Blob{
		{Hash: "empty", Bytes: []byte{}},
		{Hash: "small", Bytes: []byte("small")},
		{Hash: "json", Bytes: []byte(`[` + strings.Repeat(`{"country":"France","sales":12.5},`, 5000) + `null]`)},
		{Hash: "noise", Bytes: noise},
		{Hash: "zeros", Bytes: make([]byte, 3<<20)},
	}
	b := batch("a", 0, 1)
	b.Blobs = blobs
	mustAppend(t, s, b)
	for _, blob := range blobs {
		got, err := s.Blob(t.Context(), blob.Hash)
		if err != nil || !bytes.Equal(got, blob.Bytes) {
			t.Errorf("%s: %d bytes, want %d (%v)", blob.Hash, len(got), len(blob.Bytes), err)
		}
	}
	// The same hash again is no error and changes nothing, in this process and after it.
	for _, s := range []store.Store{s, f.store(t)} {
		head, err := s.Thread(t.Context(), "a")
		if err != nil {
			t.Fatal(err)
		}
		b := batch("a", head.Seq, 1)
		b.Blobs = []store.Blob{{Hash: "small", Bytes: []byte("other")}, {Hash: "small", Bytes: []byte("third")}}
		mustAppend(t, s, b)
		if got, err := s.Blob(t.Context(), "small"); err != nil || string(got) != "small" {
			t.Errorf("small is now %q, %v", got, err)
		}
	}
}

func testSnapshots(t *testing.T, f *fixture) {
	s := f.store(t)
	var after int64
	for i, snap := range []string{"one", "", strings.Repeat("long ", 4000), "four"} {
		b := batch("a", after, 2)
		if i != 1 {
			b.Snapshot = []byte(snap)
		}
		mustAppend(t, s, b)
		after += 2
		want, seq := snap, after
		if i == 1 { // none: the one before stays
			want, seq = "one", after-2
		}
		got, at, err := s.Snapshot(t.Context(), "a")
		if err != nil || string(got) != want || at != seq {
			t.Errorf("step %d: %d bytes at %d (%v), want %d at %d", i, len(got), at, err, len(want), seq)
		}
	}
}

// bodies has one of each kind that is stored.
func bodies() []event.Body {
	big := event.EncodeValue(strings.Repeat("x", 5000))
	return []event.Body{
		event.ThreadOpened{Owner: "ann", Machine: "analyst", Version: "v", Settings: map[string]any{"max_rows": 10.0}, Parent: &event.Origin{Thread: "p", Seq: 3}},
		event.TurnStarted{Run: "r", User: "ann", Text: "How much?", Attachments: []string{"a.csv"}},
		event.CommandGiven{Command: "reset", Dropped: []string{"plan"}},
		event.FactsChanged{Set: map[string]event.Value{"plan": event.EncodeValue(map[string]any{"sql": "SELECT 1"}), "rows": big}, Cause: "out"},
		event.StateEntered{From: "a", To: "b", Cause: "done", When: "x > 1", Saw: map[string]any{"x": 2.0}},
		event.ModelCalled{Call: "m1", State: "b", Model: "scripted", System: "hash", Denied: []event.Denial{{Tool: "t", Code: fault.FeatureDisabled}}},
		event.ModelReplied{Call: "m1", Model: "scripted", Calls: []event.ModelCall{{ID: "c1", Name: "run_sql", Args: event.EncodeValue(map[string]any{"sql": "SELECT 1"})}}, Usage: event.Usage{Input: 5}},
		event.ModelFailed{Call: "m2", Code: fault.ModelTimeout, Message: "late"},
		event.ToolStarted{Call: "c1", Tool: "run_sql", Args: event.EncodeValue(1), By: "model"},
		event.ToolReturned{Call: "c1", Tool: "run_sql", Result: big, Person: event.Show{All: true}},
		event.ToolFailed{Call: "c2", Tool: "run_sql", Code: fault.SQLError, Message: "no such column"},
		event.ToolRefused{Call: "c3", Tool: "drop", Code: fault.ToolNotAllowed},
		event.ArtifactMade{ID: "x", Name: "out.csv", Type: "csv", Bytes: 3, CreatedAt: epoch},
		event.CardRaised{Card: "k", Name: "approval", Content: event.EncodeValue(nil), Answers: []event.CardChoice{{Name: "yes", Label: "Yes"}}},
		event.CardAnswered{Card: "k", Answer: "yes"},
		event.CardClosed{Card: "k", Cause: "left"},
		event.StepDone{State: "s"},
		event.TurnInterrupted{Run: "r"},
		event.LimitReached{Code: fault.LimitTokens, Limit: 10, Used: 11},
		event.FiguresTraced{Run: "r", Figures: []figure.Figure{{End: 2, Text: "42", Support: figure.FromCell, Cells: []figure.Cell{{Table: "c1", Column: "n"}}}}},
		event.TurnEnded{Run: "r", Status: "succeeded", Text: "42", Reply: event.EncodeValue([]int{1}), Counts: map[string]int{"model": 1}},
	}
}

func testKinds(t *testing.T, f *fixture) {
	s := f.store(t)
	b := batch("a", 0, 0)
	for i, body := range bodies() {
		b.Events = append(b.Events, event.Event{Thread: "a", Seq: int64(i) + 1, Time: at(int64(i)), Body: body})
	}
	mustAppend(t, s, b)
	want, err := json.MarshalIndent(b.Events, "", " ")
	if err != nil {
		t.Fatal(err)
	}
	got, err := json.MarshalIndent(events(t, s, "a", 0), "", " ")
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(string(want), string(got)); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

func testHostile(t *testing.T, f *fixture) {
	s := f.store(t)
	nasty := []string{
		"'; DROP TABLE threads; --", "\x00nul\x00", "a\nb\tc", "%", "_", `\`, `"`, "日本語 🙂", "\u202eabc", strings.Repeat("x", 100_000), " ", "?1", "$1", "NULL",
	}
	for i, id := range nasty {
		b := batch(id, 0, 1)
		b.Head = store.Thread{
			ID: id, Owner: id, Machine: id, Version: id, Title: id, Dataset: id, Status: id, State: id, Run: id,
			Seq: 1, Created: epoch, Updated: at(int64(i)),
		}
		b.Events[0].Body = event.TurnStarted{Run: "r", Text: id, Settings: map[string]any{id: id}}
		b.Runs = []store.Run{{ID: id, Thread: id, Owner: id, Machine: id, Dataset: id, Question: id, Status: id, First: 1, Started: epoch}}
		b.Blobs = []store.Blob{{Hash: id, Bytes: []byte(id)}}
		mustAppend(t, s, b)
	}
	for _, id := range nasty {
		name := id[:min(len(id), 20)]
		head, err := s.Thread(t.Context(), id)
		if err != nil || head.ID != id || head.Title != id || head.Run != id {
			t.Errorf("%q: thread %.60q, %v", name, head.Title, err)
		}
		if got := events(t, s, id, 0); len(got) != 1 || !cmp.Equal(got[0].Body, event.Body(event.TurnStarted{Run: "r", Text: id, Settings: map[string]any{id: id}})) {
			t.Errorf("%q: its event is not what was stored", name)
		}
		if r, err := s.Run(t.Context(), id); err != nil || r.Question != id {
			t.Errorf("%q: run %.60q, %v", name, r.Question, err)
		}
		if got, err := s.Blob(t.Context(), id); err != nil || string(got) != id {
			t.Errorf("%q: blob %.60q, %v", name, got, err)
		}
		for what, q := range map[string]store.Query{"owner": {Owner: id}, "machine": {Machine: id}, "status": {Status: id}, "thread": {Thread: id}} {
			got, err := s.Threads(t.Context(), q)
			if err != nil || len(got) != 1 || got[0].ID != id {
				t.Errorf("%q by %s: %d threads, %v", name, what, len(got), err)
			}
		}
	}
	for text, want := range map[string]int{"%": 1, "_": 1, `\`: 1, "日本": 1, "DROP table": 1} {
		got, err := s.Threads(t.Context(), store.Query{Text: text})
		if err != nil || len(got) != want {
			t.Errorf("text %q: %d threads, want %d (%v)", text, len(got), want, err)
		}
	}
}

func run(id, thread string, first int64) []store.Run {
	return []store.Run{{
		ID: id, Thread: thread, Owner: "ann", Machine: "analyst", Dataset: "shop", Question: "How much in " + id + "?", Status: "running",
		First: first, Started: epoch.Add(time.Duration(first) * time.Minute),
	}}
}
