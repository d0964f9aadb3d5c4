package engine_test

import (
	"context"
	"path/filepath"
	"sync/atomic"
	"testing"

	"go.uber.org/goleak"

	"interlock/internal/engine"
	"interlock/internal/engine/enginetest"
	"interlock/internal/event"
	"interlock/internal/fault"
	"interlock/internal/llm"
	"interlock/internal/machine"
	"interlock/internal/store"
	"interlock/internal/tool"
)

const lifeMachine = `name: life
title: A tool loop
settings:
  most: {type: int, default: 5, min: 1, max: 9, label: Most}
facts:
  seen: {type: list(string), default: []}
start: work
limits: {tokens: 1000, iterations: 4}
states:
  work:
    kind: agent
    terminal: true
    prompt: work.md
    tools: [look, make]
effects:
  - {on: returned, tool: look, append: {seen: event.result.name}}
reply: {seen: seen}
policies: {duplicates: false}
`

// rig is an engine over a store that outlives it.
type rig struct {
	t     *testing.T
	path  string
	model llm.Model
	tools *tool.Set
	m     *machine.Machine
	store store.Store
	eng   *engine.Engine
}

func (r *rig) Get(name string) (*machine.Machine, error) {
	if name != r.m.Name {
		return nil, fault.New(fault.MachineNotFound, "there is no machine %q", name)
	}
	return r.m, nil
}
func (r *rig) Model(string) (llm.Model, error) { return r.model, nil }

func newRig(t *testing.T, model llm.Model, tools ...tool.Tool) *rig {
	t.Helper()
	m, err := machine.Parse(map[string]string{"machine.yaml": lifeMachine, "work.md": "Seen: {{ seen }}"})
	if err != nil {
		t.Fatal(err)
	}
	r := &rig{t: t, path: filepath.Join(t.TempDir(), "log.db"), model: model, tools: tool.NewSet(nil, tools...), m: m}
	r.start()
	t.Cleanup(func() {
		r.stop()
		goleak.VerifyNone(t, goleak.IgnoreAnyFunction("database/sql.(*DB).connectionOpener"))
	})
	return r
}

func (r *rig) start() { r.startFor(r.t) }

func (r *rig) startFor(tb testing.TB) {
	tb.Helper()
	var err error
	if r.store, err = store.Open(store.Config{DSN: r.path}); err != nil {
		tb.Fatal(err)
	}
	if r.eng, err = engine.New(engine.Config{Store: r.store, Machines: r, Models: r, Tools: r.tools, SnapshotEvery: 1}); err != nil {
		tb.Fatal(err)
	}
}

// stop is what the death of a process leaves: whatever ran is under way in the log.
func (r *rig) stop() {
	r.t.Helper()
	if err := r.eng.Close(); err != nil {
		r.t.Error(err)
	}
	if err := r.store.Close(); err != nil {
		r.t.Error(err)
	}
}

func (r *rig) open() string {
	r.t.Helper()
	id, err := r.eng.Open(r.t.Context(), engine.Opening{Machine: "life", Owner: "ann"})
	if err != nil {
		r.t.Fatal(err)
	}
	return id
}

func (r *rig) send(thread, text string) string {
	r.t.Helper()
	run, err := r.eng.Send(r.t.Context(), thread, engine.Input{User: "ann", Text: text})
	if err != nil {
		r.t.Fatal(err)
	}
	return run
}

func (r *rig) wait(thread string) {
	r.t.Helper()
	if err := r.eng.Wait(r.t.Context(), thread); err != nil {
		r.t.Fatal(err)
	}
}

func (r *rig) log(thread string) []event.Event {
	r.t.Helper()
	var out []event.Event
	for e, err := range r.eng.Events(r.t.Context(), thread, 0) {
		if err != nil {
			r.t.Fatal(err)
		}
		out = append(out, e)
	}
	if err := enginetest.Audit(r.m, out); err != nil {
		r.t.Error(err)
	}
	return out
}

func (r *rig) reply(run string) engine.Reply {
	r.t.Helper()
	rep, err := r.eng.Reply(r.t.Context(), run)
	if err != nil {
		r.t.Fatal(err)
	}
	return rep
}

type named struct {
	Name string `json:"name"`
}

// gate is a tool that waits until it is let through, and counts its calls.
type gate struct {
	calls   atomic.Int64
	reached chan struct{}
	open    chan struct{}
	owner   chan error // whether the process still owned the thread when the gate opened
}

func newGate() *gate {
	return &gate{reached: make(chan struct{}, 10), open: make(chan struct{}, 10), owner: make(chan error, 10)}
}

func (g *gate) tool(name string, effect tool.Effect) tool.Tool {
	return tool.New(tool.Spec{Name: name, Effect: effect}, func(ctx context.Context, _ struct{}) (named, error) {
		g.calls.Add(1)
		g.reached <- struct{}{}
		select {
		case <-g.open:
			g.owner <- tool.In(ctx).CheckOwner(ctx)
			return named{"found"}, nil
		case <-ctx.Done():
			return named{}, ctx.Err()
		}
	})
}
