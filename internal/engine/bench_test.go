package engine_test

import (
	"context"
	"fmt"
	"testing"

	"interlock/internal/engine"
	"interlock/internal/llm"
	"interlock/internal/machine"
	"interlock/internal/tool"
)

// BenchmarkStep is one durable step: a scripted model's call and a trivial tool, each
// stored before it is seen.
func BenchmarkStep(b *testing.B) {
	m, err := machine.Parse(map[string]string{"machine.yaml": `name: loop
title: A tool loop
start: work
limits: {iterations: 10000000, seconds: 36000, tokens: 100000000, dollars: 1000}
states:
  work:
    kind: agent
    terminal: true
    prompt: work.md
    tools: [add]
policies: {duplicates: false, inventory: false}
`, "work.md": "Add."})
	if err != nil {
		b.Fatal(err)
	}
	type in struct {
		A int `json:"a"`
	}
	type out struct {
		Sum int `json:"sum"`
	}
	add := tool.New(tool.Spec{Name: "add", Effect: tool.Computes}, func(_ context.Context, v in) (out, error) { return out{v.A + 1}, nil })
	steps := b.N
	model := llm.ScriptFunc(func(r llm.Request) (llm.Reply, error) {
		if r.Tag.Number > steps {
			return llm.Reply{Text: "done"}, nil
		}
		return llm.Reply{Calls: []llm.Call{{Name: "add", Args: fmt.Sprintf(`{"a":%d}`, r.Tag.Number)}}}, nil
	}).Forget()
	t := &rig{path: b.TempDir() + "/log.db", model: model, m: m, tools: tool.NewSet(nil, add)}
	t.startFor(b)
	defer t.eng.Close()
	b.ReportAllocs()
	thread, err := t.eng.Open(b.Context(), engine.Opening{Machine: "loop", Owner: "bench"})
	if err != nil {
		b.Fatal(err)
	}
	b.ResetTimer()
	if _, err := t.eng.Send(b.Context(), thread, engine.Input{Text: "go"}); err != nil {
		b.Fatal(err)
	}
	if err := t.eng.Wait(b.Context(), thread); err != nil {
		b.Fatal(err)
	}
}
