package engine_test

import (
	"context"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strconv"
	"testing"
	"time"

	"interlock/internal/capsule"
	"interlock/internal/engine"
	"interlock/internal/engine/enginetest"
	"interlock/internal/event"
	"interlock/internal/fault"
	"interlock/internal/machine"
	"interlock/internal/store"
)

// TestSameThreadFromEverywhere plays random threads with hostile models three times:
// by one process that never ends, by processes that read the log before every turn,
// and by processes that read a snapshot and the rest. Every answer and every event
// must be the same bytes, whatever is repeated, and every run must replay.
func TestSameThreadFromEverywhere(t *testing.T) {
	seed := rand.Uint64()
	if n, err := strconv.ParseUint(os.Getenv("INTERLOCK_SEED"), 10, 64); err == nil {
		seed = n
	}
	t.Logf("INTERLOCK_SEED=%d", seed)
	rng := rand.New(rand.NewPCG(seed, 1))
	duplicates := 0
	for played := 0; played < 5 || duplicates == 0 && played < 50; played++ { // half of the machines guard against duplicates
		m := randomMachine(t, rng)
		worlds := []*oneWorld{
			newOneWorld(t, m, "live", 0, 1<<30), newOneWorld(t, m, "log", 1, 1<<30), newOneWorld(t, m, "snapshot", 1, 1), newOneWorld(t, m, "some snapshots", 2, 40),
		}
		for turn := range 16 {
			dice := rng.Uint64()
			want := worlds[0].play(dice, turn)
			for _, w := range worlds[1:] {
				if got := w.play(dice, turn); got != want {
					t.Fatalf("turn %d differs between %q and %q:\n%s\n\nmachine:\n%s", turn, worlds[0].name, w.name, difference(want, got), m.Files["machine.yaml"])
				}
			}
		}
		for i, w := range worlds {
			duplicates += w.duplicates
			if i%2 == 0 { // the logs are the same
				w.replay()
			}
			w.close()
		}
	}
	if duplicates == 0 {
		t.Error("no call was answered with an earlier result: the test does not reach it")
	}
}

// difference shows where two texts part.
func difference(a, b string) string {
	i := 0
	for i < len(a) && i < len(b) && a[i] == b[i] {
		i++
	}
	from := max(0, i-300)
	return fmt.Sprintf("…%s\n\n…%s", a[from:min(len(a), i+300)], b[from:min(len(b), i+300)])
}

// oneWorld is a thread with its store, its clock and its dice.
type oneWorld struct {
	t             *testing.T
	name          string
	restartEvery  int // turns; 0 is never
	snapshotEvery int
	h             *hostile
	s             store.Store
	eng           *engine.Engine
	thread        string
	ids           int
	clock         time.Time
	duplicates    int
}

func newOneWorld(t *testing.T, m *machine.Machine, name string, restartEvery, snapshotEvery int) *oneWorld {
	s, err := store.Open(store.Config{DSN: filepath.Join(t.TempDir(), "log.db")})
	if err != nil {
		t.Fatal(err)
	}
	w := &oneWorld{
		t: t, name: name, restartEvery: restartEvery, snapshotEvery: snapshotEvery, h: &hostile{rng: rand.New(rand.NewPCG(1, 1)), m: m}, s: s,
		clock: time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC),
	}
	w.open()
	if w.thread, err = w.eng.Open(t.Context(), engine.Opening{Machine: m.Name, Owner: "ann"}); err != nil {
		t.Fatal(err)
	}
	return w
}

func (w *oneWorld) open() {
	// The tools' declarations must be the same in every world and after every restart.
	w.h.rng = rand.New(rand.NewPCG(7, 7))
	var err error
	w.eng, err = engine.New(engine.Config{
		Store: w.s, Machines: w.h, Models: w.h, Tools: w.h.tools(), SnapshotEvery: w.snapshotEvery,
		Now:   func() time.Time { w.clock = w.clock.Add(time.Millisecond); return w.clock },
		NewID: func(prefix string) string { w.ids++; return prefix + strconv.Itoa(w.ids) },
	})
	if err != nil {
		w.t.Fatal(err)
	}
}

func (w *oneWorld) close() {
	if err := w.eng.Close(); err != nil {
		w.t.Error(err)
	}
	if err := w.s.Close(); err != nil {
		w.t.Error(err)
	}
}

// play plays one turn and gives all that anybody can see of it.
func (w *oneWorld) play(dice uint64, turn int) string {
	ctx := w.t.Context()
	if w.restartEvery > 0 && turn%w.restartEvery == 0 {
		if err := w.eng.Close(); err != nil {
			w.t.Fatal(err)
		}
		w.open()
	}
	// The rng is shared with the tools, so it is set anew and not replaced.
	*w.h.rng = *rand.New(rand.NewPCG(dice, 3))
	before, err := w.s.Thread(ctx, w.thread)
	if err != nil {
		w.t.Fatal(err)
	}
	seen := []any{}
	run, err := w.eng.Send(ctx, w.thread, w.h.input(ctx, w.eng, w.thread))
	if err != nil {
		seen = append(seen, fault.From(err).Message)
	} else {
		if err := w.eng.Wait(ctx, w.thread); err != nil {
			w.t.Fatal(err)
		}
		reply, err := w.eng.Reply(ctx, run)
		if err != nil {
			w.t.Fatal(err)
		}
		seen = append(seen, reply)
	}
	view, err := w.eng.View(ctx, w.thread)
	if err != nil {
		w.t.Fatal(err)
	}
	seen = append(seen, view)
	runs, err := w.s.Runs(ctx, store.Query{Thread: w.thread, Limit: 1000})
	if err != nil {
		w.t.Fatal(err)
	}
	seen = append(seen, runs)
	for e, err := range w.eng.Events(ctx, w.thread, before.Seq) {
		if err != nil {
			w.t.Fatal(err)
		}
		if b, ok := e.Body.(event.ToolReturned); ok && b.Duplicate != "" {
			w.duplicates++
			if b.Result.JSON == nil {
				w.t.Errorf("the duplicate %s has no result", b.Call)
			}
		}
		e.Body = event.Inline(e.Body)
		seen = append(seen, e)
	}
	raw, err := json.MarshalIndent(seen, "", " ")
	if err != nil {
		w.t.Fatal(err)
	}
	return string(raw)
}

// replay drives every run of the thread again.
func (w *oneWorld) replay() {
	w.t.Helper()
	runs, err := w.s.Runs(w.t.Context(), store.Query{Thread: w.thread, Limit: 1000})
	if err != nil {
		w.t.Fatal(err)
	}
	w.h.rng = rand.New(rand.NewPCG(7, 7))
	tools := w.h.tools()
	for _, r := range runs {
		rep, err := capsule.ReplayRun(context.WithoutCancel(w.t.Context()), w.s, tools, r.ID)
		if err != nil {
			w.t.Errorf("%s: replaying %s (%s): %v", w.name, r.ID, r.Status, err)
			continue
		}
		if !rep.Same {
			w.t.Errorf("%s: the replay of %s (%s) differs at %d:\nrecorded %s\nreplayed %s", w.name, r.ID, r.Status, rep.Diff.Seq, rep.Diff.Recorded, rep.Diff.Replayed)
		}
	}
	var events []event.Event
	for e, err := range w.eng.Events(w.t.Context(), w.thread, 0) {
		if err != nil {
			w.t.Fatal(err)
		}
		events = append(events, e)
	}
	if err := enginetest.Audit(w.h.m, events); err != nil {
		w.t.Error(err)
	}
}
