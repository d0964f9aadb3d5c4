package machine_test

import (
	"testing"

	"interlock/internal/machine"
)

func TestReacts(t *testing.T) {
	m, err := machine.Parse(map[string]string{"machine.yaml": `name: m
title: M
start: work
facts: {seen: {type: bool}}
states:
  work: {kind: agent, prompt: p.md, tools: [a, b], go: [{on: returned, tool: a, to: rest}]}
  rest: {kind: agent, terminal: true, prompt: p.md, tools: [a, b]}
effects:
  - {on: failed, tool: b, state: [rest], set: {seen: "true"}}
`, "p.md": "Work."})
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		state, name, tool string
		want              bool
	}{
		{"work", machine.OnReturned, "a", true},
		{"work", machine.OnReturned, "b", false},
		{"rest", machine.OnReturned, "a", false},
		{"rest", machine.OnFailed, "b", true},
		{"work", machine.OnFailed, "b", false},
		{"gone", machine.OnReturned, "a", false},
	} {
		if got := m.Reacts(c.state, machine.Signal{Name: c.name, Tool: c.tool}); got != c.want {
			t.Errorf("Reacts(%s, %s %s) = %v", c.state, c.name, c.tool, got)
		}
	}
}
