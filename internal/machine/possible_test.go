package machine_test

import (
	"slices"
	"strings"
	"testing"

	"interlock/internal/machine"
)

// TestPossibleStates follows the ways that settings leave open: by the start, by guards
// of computed facts, and by tools that a state offers.
func TestPossibleStates(t *testing.T) {
	m, err := machine.Parse(map[string]string{"p.md": "Hello.", machine.File: `
name: m
settings:
  fetch: {type: bool, default: true}
  think: {type: bool, default: true}
  first: {enum: [talk, look], default: talk}
facts:
  score: {type: float, for: turn, default: 0}
  found: {type: bool, is: settings.fetch && score > 0.5}
start:
  - {when: found, to: reading}
  - {when: settings.first == "look", to: looking}
  - {to: talking}
states:
  talking:
    kind: agent
    prompt: p.md
    tools: [{name: list_datasets, when: settings.think}]
    go: [{on: returned, tool: list_datasets, to: thinking}]
  reading:  {kind: agent, prompt: p.md, go: [{on: final, to: talking}]}
  looking:  {kind: agent, prompt: p.md, go: [{on: final, to: talking}]}
  thinking: {kind: agent, prompt: p.md, go: [{on: final, to: talking}]}
`})
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		settings map[string]any
		want     string
	}{
		{map[string]any{"fetch": true, "think": true, "first": "talk"}, "talking reading thinking"},
		{map[string]any{"fetch": false, "think": true, "first": "talk"}, "talking thinking"},
		{map[string]any{"fetch": false, "think": false, "first": "talk"}, "talking"},
		{map[string]any{"fetch": false, "think": false, "first": "look"}, "talking looking"},
		{map[string]any{"fetch": true, "think": false, "first": "look"}, "talking reading looking"},
	} {
		if got := m.PossibleStates(c.settings); strings.Join(got, " ") != c.want {
			t.Errorf("%v: %v, want %s", c.settings, got, c.want)
		}
	}
	if all := m.PossibleStates(nil); !slices.Contains(all, "looking") || len(all) != 4 {
		t.Errorf("without settings nothing is ruled out: %v", all)
	}
}
