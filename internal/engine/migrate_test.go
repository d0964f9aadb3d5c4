package engine_test

import (
	"context"
	"strings"
	"testing"

	"interlock/internal/capsule"
	"interlock/internal/engine"
	"interlock/internal/event"
	"interlock/internal/fault"
	"interlock/internal/llm"
	"interlock/internal/machine"
	"interlock/internal/tool"
)

// A thread goes on under its old version after an upgrade, can be moved to the new one, and
// every run of it replays under the version that it ran with, after a restart as well.
func TestMigrate(t *testing.T) {
	look := tool.New(tool.Spec{Name: "look", Effect: tool.Reads}, func(context.Context, struct{}) (named, error) { return named{"x"}, nil })
	model := llm.Script(llm.Ask("look", "{}"), llm.Say("one"), llm.Say("two"), llm.Say("three"), llm.Say("four"))
	r := newRig(t, model, look, newGate().tool("make", tool.Writes))
	thread, err := r.eng.Open(t.Context(), engine.Opening{Machine: "life", Owner: "ann", Settings: map[string]any{"most": 7}})
	if err != nil {
		t.Fatal(err)
	}
	ask := func(text string) string {
		run := r.send(thread, text)
		r.wait(thread)
		return run
	}
	change := func(pairs ...string) *machine.Machine {
		t.Helper()
		m, err := machine.Parse(map[string]string{machine.File: strings.NewReplacer(pairs...).Replace(lifeMachine), "work.md": "New. Seen: {{ seen }}"})
		if err != nil {
			t.Fatal(err)
		}
		return m
	}
	old := r.m
	runs := []string{ask("first")}
	r.m = change("A tool loop", "A better loop", "start: work", "  extra: {type: int, default: 3}\nstart: work")
	if m, err := r.Get("life"); err != nil || m.Hash == old.Hash {
		t.Fatal("the machine was not upgraded")
	}
	runs = append(runs, ask("second"))
	if got := lastSystem(t, model); strings.HasPrefix(got, "New.") {
		t.Errorf("the thread did not go on under its old version: %q", got)
	}

	view, err := r.eng.View(t.Context(), thread)
	if err != nil {
		t.Fatal(err)
	}
	for name, c := range map[string]struct {
		to   *machine.Machine
		want string
	}{
		"a state is gone":         {change("start: work", "start: desk", "  work:\n", "  desk:\n"), "it stands in state work, which the new version does not have"},
		"a fact has another type": {change("list(string), default: []", "list(int), default: []", "append: {seen: event.result.name}", "append: {seen: \"1\"}"), "fact seen does not fit its new type"},
		"a setting is too large":  {change("max: 9", "max: 6"), "setting most of life must lie between 1 and 6"},
	} {
		err := r.eng.Migrate(t.Context(), thread, c.to, "ann")
		if !fault.Is(err, fault.Conflict) || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: %v", name, err)
		}
		if why := strings.Join(engine.MigrationProblems(old, c.to, view), "; "); !strings.Contains(why, c.want) {
			t.Errorf("%s: the comparison says %q", name, why)
		}
	}
	if err := r.eng.Migrate(t.Context(), thread, old, "ann"); !fault.Is(err, fault.BadRequest) {
		t.Errorf("moved to the version that it has: %v", err)
	}
	if why := engine.MigrationProblems(old, r.m, view); len(why) > 0 {
		t.Errorf("it could not be moved: %q", why)
	}
	if err := r.eng.Migrate(t.Context(), thread, r.m, "ann"); err != nil {
		t.Fatal(err)
	}
	runs = append(runs, ask("third"))
	if got := lastSystem(t, model); !strings.HasPrefix(got, "New.") || !strings.Contains(got, "x") {
		t.Errorf("the thread does not run under its new version, or lost its facts: %q", got)
	}
	after := r.m.Hash
	r.stop()
	r.start()
	runs = append(runs, ask("fourth"))
	moved := 0
	for _, ev := range r.log(thread) {
		if b, ok := ev.Body.(event.ThreadMigrated); ok {
			moved++
			if b.From != old.Hash || b.To != after || b.User != "ann" || b.Settings["most"] != 7.0 {
				t.Errorf("the move is %+v", b)
			}
		}
	}
	if row, err := r.store.Thread(t.Context(), thread); err != nil || moved != 1 || row.Version != after {
		t.Errorf("%d moves, the index has %.12s, %v", moved, row.Version, err)
	}
	for i, run := range runs {
		replay, err := capsule.ReplayRun(t.Context(), r.store, r.tools, run)
		if err != nil || !replay.Same {
			t.Errorf("run %d does not replay: %+v, %v", i, replay, err)
		}
		want := old.Hash
		if i >= 2 {
			want = after
		}
		if c, err := capsule.Build(t.Context(), r.store, run); err != nil || c.Version != want {
			t.Errorf("the capsule of run %d names the version %.12s, want %.12s (%v)", i, c.Version, want, err)
		}
	}
	if _, err := r.eng.Fork(t.Context(), thread, 0, "ann"); err != nil {
		t.Errorf("a thread that was moved cannot be forked: %v", err)
	}
}

// lastSystem returns the system prompt of the newest request to a model.
func lastSystem(t *testing.T, m *llm.Scripted) string {
	t.Helper()
	all := m.Requests()
	if len(all) == 0 {
		t.Fatal("the model was not asked")
	}
	return all[len(all)-1].System
}
