package engine_test

import (
	"context"
	"encoding/json"
	"reflect"
	"strings"
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

func TestUnfinishedCallsAfterACrash(t *testing.T) {
	for _, tt := range []struct {
		effect tool.Effect
		calls  int64
		want   event.Kind
	}{
		{tool.Reads, 2, event.KindToolReturned},
		{tool.Computes, 2, event.KindToolReturned},
		{tool.Writes, 1, event.KindToolFailed},
	} {
		t.Run(string(tt.effect), func(t *testing.T) {
			g := newGate()
			r := newRig(t, llm.Script(llm.Ask("look", "{}"), llm.Say("done")), g.tool("look", tt.effect), g.tool("make", tool.Writes))
			thread := r.open()
			run := r.send(thread, "go")
			<-g.reached
			r.stop()
			r.start()
			if n, err := r.eng.Resume(t.Context()); err != nil || n != 1 {
				t.Fatalf("%d turns resumed: %v", n, err)
			}
			g.open <- struct{}{}
			r.wait(thread)
			if g.calls.Load() != tt.calls {
				t.Errorf("the tool ran %d times, want %d", g.calls.Load(), tt.calls)
			}
			kinds := map[event.Kind]int{}
			for _, e := range r.log(thread) {
				kinds[e.Body.Kind()]++
				if f, ok := e.Body.(event.ToolFailed); ok && f.Code != fault.OutcomeUnknown {
					t.Errorf("code %s", f.Code)
				}
			}
			if kinds[tt.want] != 1 || kinds[event.KindToolStarted] != 1 || kinds[event.KindTurnInterrupted] != 1 {
				t.Errorf("events %v", kinds)
			}
			if rep := r.reply(run); rep.Outcome != "answered" || rep.Text != "done" {
				t.Errorf("the run ended as %s with %q", rep.Outcome, rep.Text)
			}
		})
	}
}

func TestAModelCallIsRepeatedAfterACrash(t *testing.T) {
	var asked atomic.Int64
	reached := make(chan struct{}, 2)
	model := llm.Script(
		llm.Line{Before: func(ctx context.Context, _ llm.Request) error {
			asked.Add(1)
			reached <- struct{}{}
			<-ctx.Done()
			return ctx.Err()
		}},
		llm.Say("answer"),
	)
	r := newRig(t, model, newGate().tool("look", tool.Reads), newGate().tool("make", tool.Writes))
	thread := r.open()
	run := r.send(thread, "go")
	<-reached
	r.stop()
	r.start()
	if _, err := r.eng.Resume(t.Context()); err != nil {
		t.Fatal(err)
	}
	r.wait(thread)
	if rep := r.reply(run); rep.Text != "answer" {
		t.Errorf("answer %q, status %s", rep.Text, rep.Outcome)
	}
	calls := 0
	for _, e := range r.log(thread) {
		if e.Body.Kind() == event.KindModelCalled {
			calls++
		}
	}
	if calls != 1 {
		t.Errorf("%d model calls are in the log, want the one that was repeated", calls)
	}
}

func TestStopEndsWhatRuns(t *testing.T) {
	g := newGate()
	r := newRig(t, llm.Script(llm.Ask("look", "{}"), llm.Say("again")), g.tool("look", tool.Reads), g.tool("make", tool.Writes))
	thread := r.open()
	run := r.send(thread, "go")
	<-g.reached
	if _, err := r.eng.Send(t.Context(), thread, engine.Input{Text: "and?"}); !fault.Is(err, fault.ThreadBusy) {
		t.Errorf("a second turn got %v", err)
	}
	if err := r.eng.Stop(t.Context(), thread); err != nil {
		t.Fatal(err)
	}
	if rep := r.reply(run); rep.Outcome != "stopped" {
		t.Errorf("status %s", rep.Outcome)
	}
	if rep, err := capsule.ReplayRun(t.Context(), r.store, r.tools, run); err != nil || !rep.Same {
		t.Errorf("the stopped run does not replay: %v %+v", err, rep)
	}
	run = r.send(thread, "go on")
	r.wait(thread)
	if rep := r.reply(run); rep.Text != "again" {
		t.Errorf("the thread is not usable after a stop: %+v", rep)
	}
	r.log(thread)
	if err := r.eng.Stop(t.Context(), thread); err != nil {
		t.Errorf("stopping an idle thread: %v", err)
	}
}

func TestLimitsEndATurn(t *testing.T) {
	for name, tt := range map[string]struct {
		lines []llm.Line
		want  fault.Code
	}{
		"tokens":     {[]llm.Line{{Calls: []llm.Call{{Name: "look", Args: "{}"}}, Usage: event.Usage{Input: 900, Output: 200}}}, fault.LimitTokens},
		"iterations": {[]llm.Line{llm.Ask("look", "{}"), llm.Ask("look", "{}"), llm.Ask("look", "{}"), llm.Ask("look", "{}")}, fault.LimitIterations},
		"dollars":    {[]llm.Line{{Calls: []llm.Call{{Name: "look", Args: "{}"}}, Usage: event.Usage{Input: 1, MicroUSD: 2_000_000}}}, fault.LimitDollars},
	} {
		t.Run(name, func(t *testing.T) {
			look := tool.New(tool.Spec{Name: "look", Effect: tool.Reads}, func(context.Context, struct{}) (named, error) { return named{"x"}, nil })
			r := newRig(t, llm.Script(tt.lines...), look, newGate().tool("make", tool.Writes))
			thread := r.open()
			run := r.send(thread, "go")
			r.wait(thread)
			if rep := r.reply(run); rep.Outcome != "limited" || rep.Code != tt.want {
				t.Errorf("status %s, code %s", rep.Outcome, rep.Code)
			}
			r.log(thread)
		})
	}
}

func TestFollowersSeeEachEventOnce(t *testing.T) {
	speak := make(chan struct{})
	said := make(chan struct{})
	model := llm.Script(llm.Line{Text: []string{"one ", "two"}, Before: nil}, llm.Line{Text: []string{"late"}, Before: func(context.Context, llm.Request) error { close(said); <-speak; return nil }})
	r := newRig(t, model, newGate().tool("look", tool.Reads), newGate().tool("make", tool.Writes))
	thread := r.open()
	r.send(thread, "first")
	r.wait(thread)
	r.send(thread, "second")
	<-said
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	seen := map[int64]int{}
	var tokens strings.Builder
	for e, err := range r.eng.Follow(ctx, thread, 0) {
		if err != nil {
			t.Fatal(err)
		}
		if tok, ok := e.Body.(event.Token); ok {
			tokens.WriteString(tok.Text)
			continue
		}
		if seen[e.Seq]++; seen[e.Seq] > 1 {
			t.Errorf("event %d came twice", e.Seq)
		}
		if c, ok := e.Body.(event.ModelCalled); ok && c.Number == 1 && e.Seq > 5 {
			close(speak)
		}
		if end, ok := e.Body.(event.TurnEnded); ok && end.Text == "late" {
			break
		}
	}
	r.wait(thread)
	for i := range int64(len(r.log(thread))) {
		if seen[i+1] != 1 {
			t.Errorf("event %d came %d times", i+1, seen[i+1])
		}
	}
	if tokens.String() != "late" {
		t.Errorf("tokens %q", tokens.String())
	}
}

func TestForkGoesItsOwnWay(t *testing.T) {
	look := tool.New(tool.Spec{Name: "look", Effect: tool.Reads}, func(context.Context, struct{}) (named, error) { return named{"x"}, nil })
	r := newRig(t, llm.Script(llm.Ask("look", "{}"), llm.Say("first"), llm.Say("second"), llm.Say("other")), look, newGate().tool("make", tool.Writes))
	thread := r.open()
	r.send(thread, "one")
	r.wait(thread)
	at := int64(len(r.log(thread)))
	r.send(thread, "two")
	r.wait(thread)
	fork, err := r.eng.Fork(t.Context(), thread, at, "bob")
	if err != nil {
		t.Fatal(err)
	}
	r.send(fork, "two, differently")
	r.wait(fork)
	v, err := r.eng.View(t.Context(), fork)
	if err != nil {
		t.Fatal(err)
	}
	if v.Thread.Owner != "bob" || len(v.Messages) != 4 || v.Messages[3].Content != "other" {
		t.Errorf("fork %+v", v)
	}
	if got, _ := json.Marshal(v.Facts["seen"]); string(got) != `["x"]` {
		t.Errorf("the fork does not share the past: %s", got)
	}
	if _, err := r.eng.Fork(t.Context(), thread, 10_000, "bob"); err == nil {
		t.Error("a fork beyond the end was made")
	}
	r.log(fork)
}

// A batchStore adds up the blobs that are handed to it.
type batchStore struct {
	store.Store
	bytes atomic.Int64
}

func (s *batchStore) Append(ctx context.Context, b store.Batch) error {
	for _, blob := range b.Blobs {
		s.bytes.Add(int64(len(blob.Bytes)))
	}
	return s.Store.Append(ctx, b)
}

// A fork refers to the large values of its past: they are not all in memory at once, and
// not stored again.
func TestForkRefersToLargeValues(t *testing.T) {
	large := strings.Repeat("x", 100<<10)
	look := tool.New(tool.Spec{Name: "look", Effect: tool.Reads, Volatile: true}, func(context.Context, struct{}) (named, error) { return named{large}, nil })
	r := newRig(t, llm.Script(llm.Ask("look", "{}"), llm.Say("first"), llm.Ask("look", "{}"), llm.Say("second")), look, newGate().tool("make", tool.Writes))
	if err := r.eng.Close(); err != nil {
		t.Fatal(err)
	}
	stored := &batchStore{Store: r.store}
	var err error
	if r.eng, err = engine.New(engine.Config{Store: stored, Machines: r, Models: r, Tools: r.tools}); err != nil {
		t.Fatal(err)
	}
	thread := r.open()
	for _, text := range []string{"one", "two"} {
		r.send(thread, text)
		r.wait(thread)
	}
	past := r.log(thread)
	if stored.bytes.Swap(0) < int64(len(large)) {
		t.Fatal("the results were not stored as blobs")
	}
	fork, err := r.eng.Fork(t.Context(), thread, int64(len(past)), "ann")
	if err != nil {
		t.Fatal(err)
	}
	if n := stored.bytes.Load(); n >= int64(len(large)) {
		t.Errorf("the fork stored %d bytes of blobs again", n)
	}
	for i, e := range r.log(fork) {
		if want := past[i].Body; i > 0 && !reflect.DeepEqual(e.Body, want) {
			t.Errorf("event %d of the fork is another %s", e.Seq, e.Body.Kind())
		}
	}
	v, err := r.eng.View(t.Context(), fork)
	if got, _ := json.Marshal(v.Facts["seen"]); err != nil || !strings.Contains(string(got), large) {
		t.Errorf("the fork has facts of %d bytes: %v", len(got), err)
	}
}

func TestBadInputLeavesNothingBehind(t *testing.T) {
	r := newRig(t, llm.Script(), newGate().tool("look", tool.Reads), newGate().tool("make", tool.Writes))
	thread := r.open()
	for name, in := range map[string]engine.Input{
		"nothing":         {},
		"unknown command": {Command: &engine.Command{Name: "fly"}},
		"closed card":     {Card: &engine.CardAnswer{Card: "none", Answer: "yes"}},
		"unknown setting": {Text: "go", Settings: map[string]any{"speed": 1.0}},
		"out of bounds":   {Text: "go", Settings: map[string]any{"most": 10.0}},
		"too long":        {Text: strings.Repeat("x", 1<<20)},
	} {
		if _, err := r.eng.Send(t.Context(), thread, in); err == nil || fault.From(err).Code == fault.Internal || fault.From(err).Suggestion == "" {
			t.Errorf("%s: %v", name, err)
		}
	}
	if _, err := r.eng.Send(t.Context(), "t_none", engine.Input{Text: "go"}); !fault.Is(err, fault.ThreadNotFound) {
		t.Errorf("unknown thread: %v", err)
	}
	if _, err := r.eng.Open(t.Context(), engine.Opening{Machine: "none"}); !fault.Is(err, fault.MachineNotFound) {
		t.Errorf("unknown machine: %v", err)
	}
	if n := len(r.log(thread)); n != 1 {
		t.Errorf("%d events were left behind", n)
	}
}

func TestSnapshotsGiveTheSameThread(t *testing.T) {
	look := tool.New(tool.Spec{Name: "look", Effect: tool.Reads}, func(context.Context, struct{}) (named, error) { return named{strings.Repeat("n", 3000)}, nil })
	var lines []llm.Line
	for range 5 {
		lines = append(lines, llm.Ask("look", "{}"), llm.Say("ok"))
	}
	r := newRig(t, llm.Script(lines...), look, newGate().tool("make", tool.Writes))
	thread := r.open()
	for range 4 {
		r.send(thread, "go")
		r.wait(thread)
	}
	before, err := r.eng.View(t.Context(), thread)
	if err != nil {
		t.Fatal(err)
	}
	r.stop()
	r.start()
	after, err := r.eng.View(t.Context(), thread)
	if err != nil {
		t.Fatal(err)
	}
	a, _ := json.Marshal(before)
	b, _ := json.Marshal(after)
	if string(a) != string(b) {
		t.Errorf("before %s\nafter  %s", a, b)
	}
	r.send(thread, "go")
	r.wait(thread)
	r.log(thread)
}

// A turn has a time limit that also ends the job under way.
func TestATurnsTimeEndsItsCalls(t *testing.T) {
	m := strings.Replace(lifeMachine, "limits: {tokens: 1000, iterations: 4}", "limits: {seconds: 1}", 1)
	g := newGate()
	r := newRig(t, llm.Script(llm.Ask("look", "{}"), llm.Say("late")), g.tool("look", tool.Reads), g.tool("make", tool.Writes))
	var err error
	if r.m, err = machine.Parse(map[string]string{"machine.yaml": m, "work.md": "Seen: {{ seen }}"}); err != nil {
		t.Fatal(err)
	}
	thread := r.open()
	start := time.Now()
	run := r.send(thread, "go")
	r.wait(thread)
	if rep := r.reply(run); rep.Outcome != "limited" || rep.Code != fault.LimitSeconds {
		t.Errorf("status %s, code %s after %v", rep.Outcome, rep.Code, time.Since(start))
	}
}
