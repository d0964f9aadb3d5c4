package engine_test

import (
	"context"
	"database/sql"
	"testing"

	_ "modernc.org/sqlite"

	"interlock/internal/capsule"
	"interlock/internal/event"
	"interlock/internal/fault"
	"interlock/internal/llm"
	"interlock/internal/machine"
	"interlock/internal/tool"
)

// A run whose figures were traced by other rules replays with the origins in its log; one
// that was traced by the present rules is traced again, and a difference is found.
func TestReplayUnderOtherRules(t *testing.T) {
	look := tool.New(tool.Spec{Name: "look", Effect: tool.Reads}, func(context.Context, struct{}) (named, error) { return named{"4711"}, nil })
	r := newRig(t, llm.Script(llm.Ask("look", "{}"), llm.Say("There are 4711 and 12345.")), look, newGate().tool("make", tool.Writes))
	m, err := machine.Parse(map[string]string{machine.File: lifeMachine[:len(lifeMachine)-2] + ", origins: true}\n", "work.md": "Work."})
	if err != nil {
		t.Fatal(err)
	}
	r.m = m
	thread := r.open()
	run := r.send(thread, "How many?")
	r.wait(thread)
	replay := func(change string) bool {
		t.Helper()
		if change != "" {
			db, err := sql.Open("sqlite", r.path)
			if err != nil {
				t.Fatal(err)
			}
			defer db.Close()
			if got, err := db.ExecContext(t.Context(), `UPDATE events SET body = json_set(body, `+change+`) WHERE kind = ?`, string(event.KindFiguresTraced)); err != nil {
				t.Fatal(err)
			} else if n, _ := got.RowsAffected(); n != 1 {
				t.Fatalf("%d events were changed", n)
			}
		}
		got, err := capsule.ReplayRun(t.Context(), r.store, r.tools, run)
		if err != nil {
			t.Fatal(err)
		}
		return got.Same
	}
	if !replay("") {
		t.Error("the run does not replay")
	}
	if replay(`'$.unsupported', 7`) {
		t.Error("origins that the present rules do not find replay as they are")
	}
	if !replay(`'$.rules', 99`) {
		t.Error("origins of other rules do not replay")
	}
}

// What a model said in a turn that was stopped, or that failed, is traced like an answer;
// the engine's own explanation is not. Both replay.
func TestUnfinishedTurnsAreTraced(t *testing.T) {
	said := llm.Line{Text: []string{"So far I count 12345."}, Calls: []llm.Call{{Name: "look", Args: "{}"}}}
	for name, c := range map[string]struct {
		lines  []llm.Line
		stop   bool
		traced bool
	}{
		"stopped after words":   {[]llm.Line{said}, true, true},
		"stopped without words": {[]llm.Line{llm.Ask("look", "{}")}, true, false},
		"failed after words":    {[]llm.Line{said, {Fault: fault.New(fault.ModelFailed, "error 500 of 3")}}, false, true},
		"failed without words":  {[]llm.Line{llm.Ask("look", "{}"), {Fault: fault.New(fault.ModelFailed, "error 500 of 3")}}, false, false},
	} {
		t.Run(name, func(t *testing.T) {
			g := newGate()
			r := newRig(t, llm.Script(c.lines...), g.tool("look", tool.Reads), newGate().tool("make", tool.Writes))
			m, err := machine.Parse(map[string]string{machine.File: lifeMachine[:len(lifeMachine)-2] + ", origins: true}\n", "work.md": "Work."})
			if err != nil {
				t.Fatal(err)
			}
			r.m = m
			thread := r.open()
			run := r.send(thread, "How many?")
			<-g.reached
			if c.stop {
				r.halt(thread)
			} else {
				g.open <- struct{}{}
				r.wait(thread)
			}
			var traced *event.FiguresTraced
			for _, e := range r.log(thread) {
				if b, ok := e.Body.(event.FiguresTraced); ok {
					traced = &b
				}
			}
			if (traced != nil) != c.traced || c.traced && traced.Unsupported != 1 {
				t.Errorf("traced %+v", traced)
			}
			if got, err := capsule.ReplayRun(t.Context(), r.store, r.tools, run); err != nil || !got.Same {
				t.Errorf("it does not replay: %+v, %v", got.Diff, err)
			}
		})
	}
}
