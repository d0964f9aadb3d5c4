package engine_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync/atomic"
	"testing"

	"interlock/internal/capsule"
	"interlock/internal/engine"
	"interlock/internal/event"
	"interlock/internal/fault"
	"interlock/internal/llm"
	"interlock/internal/machine"
	"interlock/internal/store"
	"interlock/internal/tool"
)

// machineOf gives the rig another definition.
func (r *rig) machineOf(change ...string) {
	r.t.Helper()
	text := strings.NewReplacer(change...).Replace(lifeMachine)
	m, err := machine.Parse(map[string]string{"machine.yaml": text, "work.md": "Seen: {{ seen }}"})
	if err != nil {
		r.t.Fatal(err)
	}
	r.m = m
}

// asking makes every call of `make` wait for the person.
var asking = []string{"tools: [look, make]", "tools: [look, {name: make, approve: always}]"}

// crash is the death of a process and the start of the next one, which resumes.
func (r *rig) crash() {
	r.t.Helper()
	r.stop()
	r.start()
	if n, err := r.eng.Resume(r.t.Context()); err != nil || n != 1 {
		r.t.Fatalf("%d turns resumed: %v", n, err)
	}
}

// quick is a tool that returns at once.
func quick(name string) tool.Tool {
	return tool.New(tool.Spec{Name: name, Effect: tool.Reads}, func(context.Context, struct{}) (named, error) { return named{"x"}, nil })
}

// Every run replays, however it ended.
func TestReplayOfEveryEnd(t *testing.T) {
	look, work := llm.Ask("look", "{}"), llm.Ask("make", "{}")
	for name, tt := range map[string]struct {
		lines  []llm.Line
		effect tool.Effect
		play   func(r *rig, g *gate, thread string) (run string)
		status string
		code   fault.Code
	}{
		"waits at a card": {[]llm.Line{work}, tool.Reads, func(r *rig, _ *gate, _ string) string {
			r.machineOf(asking...)
			thread := r.open()
			run := r.send(thread, "go")
			r.wait(thread)
			return run
		}, "waiting", ""},
		"stopped at a card": {[]llm.Line{work}, tool.Reads, func(r *rig, _ *gate, _ string) string {
			r.machineOf(asking...)
			thread := r.open()
			run := r.send(thread, "go")
			r.wait(thread)
			r.halt(thread)
			return run
		}, "stopped", fault.Stopped},
		"card closed by a message": {[]llm.Line{work, llm.Say("other")}, tool.Reads, func(r *rig, _ *gate, _ string) string {
			r.machineOf(asking...)
			thread := r.open()
			run := r.send(thread, "go")
			r.wait(thread)
			r.send(thread, "something else")
			r.wait(thread)
			return run
		}, "stopped", fault.CardClosed},
		"card closed by a call": {[]llm.Line{work}, tool.Reads, func(r *rig, g *gate, _ string) string {
			r.machineOf(asking...)
			thread := r.open()
			run := r.send(thread, "go")
			r.wait(thread)
			g.open <- struct{}{}
			if _, err := r.eng.Send(r.t.Context(), thread, engine.Input{User: "ann", Direct: &engine.Direct{Tool: "look", Args: []byte("{}")}}); err != nil {
				r.t.Fatal(err)
			}
			r.wait(thread)
			return run
		}, "stopped", fault.CardClosed},
		"out of time in a tool": {[]llm.Line{look}, tool.Reads, func(r *rig, _ *gate, _ string) string {
			r.machineOf("limits: {tokens: 1000, iterations: 4}", "limits: {seconds: 1}")
			thread := r.open()
			run := r.send(thread, "go")
			r.wait(thread)
			return run
		}, "limited", fault.LimitSeconds},
		"out of time in the model": {
			[]llm.Line{{Before: func(ctx context.Context, _ llm.Request) error { <-ctx.Done(); return ctx.Err() }}},
			tool.Reads,
			func(r *rig, _ *gate, _ string) string {
				r.machineOf("limits: {tokens: 1000, iterations: 4}", "limits: {seconds: 1}")
				thread := r.open()
				run := r.send(thread, "go")
				r.wait(thread)
				return run
			}, "limited", fault.LimitSeconds,
		},
		"stopped in a tool": {[]llm.Line{{Calls: []llm.Call{{Name: "look", Args: "{}"}, {Name: "look", Args: "{}"}}}}, tool.Reads, func(r *rig, g *gate, thread string) string {
			run := r.send(thread, "go")
			<-g.reached
			r.halt(thread)
			return run
		}, "stopped", fault.Stopped},
		"resumed": {[]llm.Line{look, llm.Say("done")}, tool.Reads, func(r *rig, g *gate, thread string) string {
			run := r.send(thread, "go")
			<-g.reached
			r.crash()
			<-g.reached
			r.crash()
			g.open <- struct{}{}
			r.wait(thread)
			return run
		}, "answered", ""},
		"resumed with an unknown outcome": {[]llm.Line{look, llm.Say("done")}, tool.Writes, func(r *rig, g *gate, thread string) string {
			run := r.send(thread, "go")
			<-g.reached
			r.crash()
			r.wait(thread)
			return run
		}, "answered", ""},
		"resumed and stopped": {[]llm.Line{look}, tool.Reads, func(r *rig, g *gate, thread string) string {
			run := r.send(thread, "go")
			<-g.reached
			r.crash()
			<-g.reached
			r.halt(thread)
			return run
		}, "stopped", fault.Stopped},
		"given up": {[]llm.Line{look}, tool.Reads, func(r *rig, g *gate, thread string) string {
			run := r.send(thread, "go")
			for range 3 {
				<-g.reached
				r.crash()
			}
			r.wait(thread)
			return run
		}, "failed", fault.Interrupted},
	} {
		t.Run(name, func(t *testing.T) {
			g := newGate()
			r := newRig(t, llm.Script(tt.lines...), g.tool("look", tt.effect), quick("make"))
			run := tt.play(r, g, r.open())
			if rep := r.reply(run); rep.Outcome != tt.status || rep.Code != tt.code {
				t.Errorf("status %s, code %s", rep.Outcome, rep.Code)
			}
			r.replays(run, tt.status)
		})
	}
}

func (r *rig) halt(thread string) {
	r.t.Helper()
	if err := r.eng.Stop(r.t.Context(), thread); err != nil {
		r.t.Fatal(err)
	}
}

// replays holds that the run is in the index as it ended, that its capsule holds
// nothing of others, and that it replays.
func (r *rig) replays(run, status string) {
	r.t.Helper()
	c, err := capsule.Build(r.t.Context(), r.store, run)
	if err != nil {
		r.t.Fatal(err)
	}
	if c.Status != status {
		r.t.Errorf("the capsule says %s", c.Status)
	}
	for _, call := range c.Tools {
		if !strings.HasPrefix(call.Call, run) {
			r.t.Errorf("the capsule holds the call %s of another run", call.Call)
		}
	}
	rep, err := capsule.ReplayRun(r.t.Context(), r.store, r.tools, run)
	switch {
	case err != nil:
		r.t.Errorf("replay: %v", err)
	case !rep.Same:
		r.t.Errorf("the replay differs at %d:\nrecorded %s\nreplayed %s", rep.Diff.Seq, rep.Diff.Recorded, rep.Diff.Replayed)
	}
}

// A tool that finishes although the person has stopped the turn has its result.
func TestReplayOfAStopThatCameTooLate(t *testing.T) {
	reached, leave := make(chan struct{}), make(chan struct{})
	late := tool.New(tool.Spec{Name: "look", Effect: tool.Reads}, func(ctx context.Context, _ struct{}) (named, error) {
		close(reached)
		<-ctx.Done()
		<-leave
		return named{"after all"}, nil
	})
	r := newRig(t, llm.Script(llm.Ask("look", "{}")), late, quick("make"))
	thread := r.open()
	run := r.send(thread, "go")
	<-reached
	stopped := make(chan error, 1)
	go func() { stopped <- r.eng.Stop(t.Context(), thread) }()
	close(leave)
	if err := <-stopped; err != nil {
		t.Fatal(err)
	}
	returned := false
	for _, e := range r.log(thread) {
		returned = returned || e.Body.Kind() == event.KindToolReturned
	}
	if rep := r.reply(run); rep.Outcome != "stopped" || !returned {
		t.Errorf("status %s, returned %v", rep.Outcome, returned)
	}
	r.replays(run, "stopped")
}

var errDied = errors.New("the process has died")

// mortal is a store whose process dies after so many batches.
type mortal struct {
	store.Store
	left atomic.Int64
}

func (m *mortal) Append(ctx context.Context, b store.Batch) error {
	if m.left.Add(-1) < 0 {
		return errDied
	}
	return m.Store.Append(ctx, b)
}

// A process may die after every batch; the run then goes on in another one, ends the
// same way, and replays.
func TestReplayOfDeathsEverywhere(t *testing.T) {
	model := llm.ScriptFunc(func(req llm.Request) (llm.Reply, error) {
		if req.Tag.Number > 2 {
			return llm.Reply{Text: "done"}, nil
		}
		return llm.Reply{Calls: []llm.Call{{Name: []string{"look", "make"}[req.Tag.Number-1], Args: "{}"}}}, nil
	}).Forget()
	died := func(t *testing.T, batches int64) bool {
		r := newRig(t, model, quick("look"), quick("make"))
		thread := r.open()
		if err := r.eng.Close(); err != nil {
			t.Fatal(err)
		}
		dying := &mortal{Store: r.store}
		dying.left.Store(batches)
		var err error
		if r.eng, err = engine.New(engine.Config{Store: dying, Machines: r, Models: r, Tools: r.tools}); err != nil {
			t.Fatal(err)
		}
		run := r.send(thread, "go")
		if err := r.eng.Wait(t.Context(), thread); err != nil && !errors.Is(err, errDied) {
			t.Fatal(err)
		}
		whole := dying.left.Load() >= 0
		if !whole {
			r.crash()
			r.wait(thread)
		}
		if rep := r.reply(run); rep.Outcome != "answered" || rep.Text != "done" {
			t.Errorf("after %d batches: %s %q", batches, rep.Outcome, rep.Text)
		}
		r.replays(run, "answered")
		return !whole
	}
	for batches, more := int64(1), true; more; batches++ {
		t.Run(fmt.Sprint(batches), func(t *testing.T) { more = died(t, batches) })
	}
}

// A turn that kills its process every time ends as failed, with the reason, and the
// thread can go on.
func TestInterruptedThreeTimes(t *testing.T) {
	g := newGate()
	r := newRig(t, llm.Script(llm.Ask("look", "{}"), llm.Say("well")), g.tool("look", tool.Reads), quick("make"))
	thread := r.open()
	run := r.send(thread, "go")
	for range 3 {
		<-g.reached
		r.crash()
	}
	r.wait(thread)
	rep := r.reply(run)
	if rep.Outcome != "failed" || rep.Code != fault.Interrupted || !strings.Contains(rep.Text, "interrupted 3 times, the last time while look ran") {
		t.Errorf("%s %s %q", rep.Outcome, rep.Code, rep.Text)
	}
	if calls := g.calls.Load(); calls != 3 {
		t.Errorf("the tool ran %d times", calls)
	}
	r.stop()
	r.start()
	if n, err := r.eng.Resume(t.Context()); n != 0 || err != nil {
		t.Errorf("%d turns resumed: %v", n, err)
	}
	run = r.send(thread, "and now?")
	r.wait(thread)
	if rep := r.reply(run); rep.Text != "well" {
		t.Errorf("the thread does not go on: %+v", rep)
	}
	r.log(thread)
}

// Who wants one thread takes up that one and leaves the others alone.
func TestResumeThread(t *testing.T) {
	g := newGate()
	r := newRig(t, llm.Script(llm.Ask("look", "{}"), llm.Ask("look", "{}"), llm.Say("done")), g.tool("look", tool.Reads), quick("make"))
	mine, other := r.open(), r.open()
	r.send(mine, "go")
	<-g.reached
	r.send(other, "go")
	<-g.reached
	r.stop()
	r.start()
	if ok, err := r.eng.ResumeThread(t.Context(), mine); !ok || err != nil {
		t.Fatalf("resumed %v: %v", ok, err)
	}
	g.open <- struct{}{}
	r.wait(mine)
	for _, e := range r.log(other) {
		if e.Body.Kind() == event.KindTurnInterrupted {
			t.Error("the other thread was taken up")
		}
	}
	if ok, err := r.eng.ResumeThread(t.Context(), mine); ok || err != nil {
		t.Errorf("a thread at rest was resumed: %v %v", ok, err)
	}
	if _, err := r.eng.ResumeThread(t.Context(), "t_none"); !fault.Is(err, fault.ThreadNotFound) {
		t.Errorf("an unknown thread: %v", err)
	}
}
