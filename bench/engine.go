package main

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"time"

	"interlock/internal/engine"
	"interlock/internal/llm"
	"interlock/internal/machine"
	"interlock/internal/store"
	"interlock/internal/tool"
)

// loop is the smallest machine with a tool loop, with limits beyond what is measured.
const loop = `name: loop
title: A tool loop
start: work
limits: {iterations: 100000, seconds: 3600, tokens: 100000000, dollars: 1000}
states:
  work:
    kind: agent
    terminal: true
    prompt: work.md
    tools: [echo]
policies: {duplicates: false, inventory: false}
`

// engineCases measures one step of the engine: a scripted model's call and a trivial
// tool, each stored before it is seen. The peers run the same script: the question "Count.",
// a call of echo with "step N" for each step, the answer "done".
func engineCases() []Case {
	var out []Case
	for _, safe := range []bool{false, true} {
		for _, steps := range []int{10, 100, 1000} {
			name := fmt.Sprintf("interlock, durable, %d steps", steps)
			if safe {
				if steps != 100 {
					continue
				}
				name = fmt.Sprintf("interlock, survives power loss, %d steps", steps)
			}
			out = append(out, Case{Name: name, Ours: true, Run: func(ctx context.Context) (Result, error) { return runEngine(ctx, steps, safe) }})
		}
	}
	return out
}

type one struct {
	m     *machine.Machine
	model llm.Model
}

func (o one) Get(string) (*machine.Machine, error) { return o.m, nil }
func (o one) Model(string) (llm.Model, error)      { return o.model, nil }

func runEngine(ctx context.Context, steps int, safe bool) (Result, error) {
	dir, err := os.MkdirTemp("", "interlock-bench-")
	if err != nil {
		return Result{}, err
	}
	defer os.RemoveAll(dir)
	s, err := store.Open(store.Config{DSN: filepath.Join(dir, "log.db"), PowerSafe: safe})
	if err != nil {
		return Result{}, err
	}
	defer s.Close()
	m, err := machine.Parse(map[string]string{"machine.yaml": loop, "work.md": "Count."})
	if err != nil {
		return Result{}, err
	}
	type text struct {
		Text string `json:"text"`
	}
	echo := tool.New(tool.Spec{Name: "echo", Description: "Gives back its text.", Effect: tool.Computes}, func(_ context.Context, v text) (text, error) { return v, nil })
	model := llm.ScriptFunc(func(r llm.Request) (llm.Reply, error) {
		if r.Tag.Number > steps {
			return llm.Reply{Text: "done"}, nil
		}
		return llm.Reply{Calls: []llm.Call{{Name: "echo", Args: fmt.Sprintf(`{"text":"step %d"}`, r.Tag.Number)}}}, nil
	}).Forget()
	def := one{m, model}
	eng, err := engine.New(engine.Config{Store: s, Machines: def, Models: def, Tools: tool.NewSet(nil, echo)})
	if err != nil {
		return Result{}, err
	}
	defer eng.Close()
	var took []time.Duration
	var bytes int64
	for run := range warmUps + repeats(steps) {
		thread, err := eng.Open(ctx, engine.Opening{Machine: "loop", Owner: "bench"})
		if err != nil {
			return Result{}, err
		}
		start := time.Now()
		if _, err := eng.Send(ctx, thread, engine.Input{Text: "Count."}); err != nil {
			return Result{}, err
		}
		if err := eng.Wait(ctx, thread); err != nil {
			return Result{}, err
		}
		if run >= warmUps {
			took = append(took, time.Since(start))
		}
		if bytes, err = storedBytes(ctx, s, thread); err != nil {
			return Result{}, err
		}
	}
	slices.Sort(took)
	return Result{Peer: "interlock", Steps: steps, USPerStep: float64(took[len(took)/2].Microseconds()) / float64(steps), Bytes: bytes}, nil
}

// warmUps do not count, as for the peers.
const warmUps = 3

// repeats is how often a case runs; the one in the middle counts, as for the peers.
func repeats(steps int) int { return max(5, 300/steps) }

// storedBytes is what a thread takes in the log: its events, its snapshot, and every blob
// that it needs, the definition and the prompts included, as they are stored.
func storedBytes(ctx context.Context, s store.Store, thread string) (int64, error) {
	u, err := s.Usage(ctx)
	if err != nil {
		return 0, err
	}
	t := u.Threads[thread]
	n := t.Bytes
	for hash := range t.Blobs {
		n += u.Blobs[hash]
	}
	return n, nil
}
