package engine_test

import (
	"context"
	"testing"

	"interlock/internal/event"
	"interlock/internal/llm"
	"interlock/internal/machine"
	"interlock/internal/tool"
)

const guardedMachine = `name: life
title: Moves that look at the event
start: work
states:
  work:
    kind: agent
    prompt: work.md
    tools: [look]
    go:
      - {on: returned, tool: look, when: 'event.result.name == "never"', to: other}
      - {on: returned, tool: look, when: 'event.result.name == "x"', to: found}
      - {on: final, when: 'event.text == "x"', to: other}
  found:
    kind: agent
    prompt: work.md
    go:
      - {on: final, when: 'event.text contains "4712"', to: other}
  other: {kind: agent, terminal: true, prompt: work.md}
`

// TestConsidered asks why a machine moved and why it stayed: guards on the event are told
// with what they saw of it, for moves that were blocked as for those that were made.
func TestConsidered(t *testing.T) {
	look := tool.New(tool.Spec{Name: "look", Effect: tool.Reads}, func(context.Context, struct{}) (named, error) { return named{"x"}, nil })
	r := newRig(t, llm.Script(llm.Ask("look", "{}"), llm.Say("There are 4711.")), look)
	m, err := machine.Parse(map[string]string{"machine.yaml": guardedMachine, "work.md": "Work."})
	if err != nil {
		t.Fatal(err)
	}
	r.m = m
	thread := r.open()
	r.send(thread, "one")
	r.wait(thread)
	for _, ev := range r.log(thread) {
		moves, err := r.eng.Considered(t.Context(), thread, ev.Seq)
		switch b := ev.Body.(type) {
		case event.StateEntered:
			if b.To != "found" {
				continue
			}
			if err != nil || len(moves) != 2 || moves[0].Held || moves[0].Unknown || moves[0].Saw["event.result.name"] != "x" || !moves[1].Held || moves[1].To[0] != "found" {
				t.Errorf("the move to found: %+v, %v", moves, err)
			}
		case event.ToolReturned:
			if err != nil || len(moves) != 2 {
				t.Errorf("the result that caused it: %+v, %v", moves, err)
			}
		case event.ModelReplied:
			if b.Text != "" && (err != nil || len(moves) != 1 || moves[0].Held || moves[0].Unknown || moves[0].Saw["event.text"] != "There are 4711.") {
				t.Errorf("the text after which it stayed: %+v, %v", moves, err)
			}
		case event.TurnStarted, event.TurnEnded:
			if err != nil || len(moves) > 0 {
				t.Errorf("%s: %+v, %v", b.Kind(), moves, err)
			}
		}
	}
	if _, err := r.eng.Considered(t.Context(), thread, 1000); err == nil {
		t.Error("an event that never happened was told")
	}
}
