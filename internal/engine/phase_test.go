package engine

import (
	"fmt"
	"os"
	"reflect"
	"slices"
	"strings"
	"testing"

	"interlock/internal/event"
	"interlock/internal/fault"
)

// examples are phases, each with the events that can happen in it.
func phaseExamples() []struct {
	phase  phase
	bodies []event.Body
} {
	one := []event.ModelCall{{ID: "r_1", Name: "look"}}
	two := append(one[:1:1], event.ModelCall{ID: "r_2", Name: "look"})
	step := &event.StepAt{}
	in := stepping{At: *step}
	return []struct {
		phase  phase
		bodies []event.Body
	}{
		{nil, []event.Body{event.TurnStarted{Run: "r"}}},
		{choosing{Run: "r", Calls: one}, []event.Body{
			event.PersonCalled{Tool: "look"},
			event.ToolStarted{Call: "r_s1", By: byDiscover, Step: step},
			event.StateEntered{To: "a"},
			event.StateEntered{To: "a", Rest: true},
		}},
		{choosing{Run: "r"}, []event.Body{event.StateEntered{To: "a"}}},
		{placed{}, []event.Body{
			event.ModelCalled{Call: "r_m1"}, event.ToolStarted{Call: "r_s1", By: byStep, Step: step}, event.CardRaised{Card: "c"}, event.StepDone{},
		}},
		{asking{In: placed{}}, []event.Body{event.ModelReplied{Calls: one}, event.ModelReplied{Text: "yes"}, event.ModelFailed{}}},
		{asking{Call: event.ModelCalled{Output: "o"}, In: in}, []event.Body{event.ModelReplied{Text: "{}"}, event.ModelFailed{}}},
		{calling{Calls: two, Made: 2}, []event.Body{
			event.ToolStarted{Call: "r_1", By: byModel},
			event.ToolReturned{Call: "r_1", Duplicate: "r_0"},
			event.ToolRefused{Call: "r_1"},
			event.ToolFailed{Call: "r_1"},
			event.StateEntered{To: "a"},
			event.StateEntered{To: "a", Rest: true},
			event.CardRaised{Name: approvalCard, Call: "r_1"},
		}},
		{calling{Calls: one, Made: 2}, []event.Body{event.ToolRefused{Call: "r_1"}}},
		{running{Call: event.ToolStarted{Call: "r_1", By: byModel}, In: calling{Calls: two}}, []event.Body{event.ToolReturned{Call: "r_1"}, event.ToolFailed{Call: "r_1"}}},
		{running{Call: event.ToolStarted{Call: "r_1", By: byModel}, In: calling{Calls: one}}, []event.Body{event.ToolReturned{Call: "r_1"}, event.ToolFailed{Call: "r_1"}}},
		{running{Call: event.ToolStarted{Call: "r_s1", By: byStep}, In: in}, []event.Body{event.ToolReturned{Call: "r_s1"}, event.ToolFailed{Call: "r_s1"}}},
		{running{Call: event.ToolStarted{Call: "r_s1", By: byDiscover}, In: choosing{}}, []event.Body{event.ToolReturned{Call: "r_s1"}, event.ToolFailed{Call: "r_s1"}}},
		{waiting{Card: event.CardRaised{Name: approvalCard, Call: "r_1"}, In: calling{Calls: one}}, []event.Body{event.CardAnswered{}, event.CardClosed{}}},
		{waiting{In: placed{}}, []event.Body{event.CardAnswered{}, event.CardClosed{}}},
		{stepping{At: *step, Ended: true}, []event.Body{
			event.ModelCalled{Call: "r_m2", Step: step},
			event.ToolStarted{By: byStep, Step: step},
			event.ModelFailed{Code: fault.ModelBadOutput},
			event.StepDone{},
			event.StateEntered{To: "a"},
		}},
		{stepped{}, []event.Body{event.StateEntered{To: "a"}, event.StateEntered{To: "a", Rest: true}}},
		{spoken{}, []event.Body{event.StateEntered{To: "a"}, event.StateEntered{To: "a", Rest: true}}},
		{unanswered{}, []event.Body{event.StateEntered{To: "a"}, event.StateEntered{To: "a", Rest: true}}},
		{leaving{}, []event.Body{event.StateEntered{To: "a"}}},
	}
}

// TestPhaseTable holds the table in docs/design.md to the function: run with
// INTERLOCK_UPDATE=1 to write it.
func TestPhaseTable(t *testing.T) {
	next := map[string][]string{} // by phase and event
	var order []string
	for _, ex := range phaseExamples() {
		for _, b := range ex.bodies {
			after := nextPhase(ex.phase, b)
			name := "`" + phaseName(afterReaction(after)) + "`"
			if _, ok := after.(reacting); ok {
				name += "*"
			}
			key := fmt.Sprintf("| `%s` | `%s` |", phaseName(ex.phase), b.Kind())
			if next[key] == nil {
				order = append(order, key)
			}
			if !slices.Contains(next[key], name) {
				next[key] = append(next[key], name)
			}
		}
	}
	var b strings.Builder
	b.WriteString("| phase | event | next phase |\n|---|---|---|\n")
	for _, key := range order {
		b.WriteString(key + " " + strings.Join(next[key], ", ") + " |\n")
	}
	b.WriteString("| any | `turn_interrupted`, the last that is allowed | `givenUp` |\n| any | `turn_ended` | `ended` |\n| any | another event | the same, and no longer `reacting` |\n")

	const path, from, to = "../../docs/design.md", "<!-- phases -->\n", "<!-- /phases -->"
	raw, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	before, rest, ok := strings.Cut(string(raw), from)
	table, after, ok2 := strings.Cut(rest, to)
	if !ok || !ok2 {
		t.Fatalf("%s has no table between %s and %s", path, from, to)
	}
	if table == b.String() {
		return
	}
	if os.Getenv("INTERLOCK_UPDATE") == "" {
		t.Fatalf("the table in %s is not what nextPhase does; INTERLOCK_UPDATE=1 writes it:\n%s", path, b.String())
	}
	if err := os.WriteFile(path, []byte(before+from+b.String()+to+after), 0o644); err != nil {
		t.Fatal(err)
	}
}

func phaseName(p phase) string {
	if p == nil {
		return "none"
	}
	return reflect.TypeOf(p).Name()
}

// What every phase has in common: the last word of the log is the last word.
func TestEveryPhaseEnds(t *testing.T) {
	for _, ex := range phaseExamples() {
		if ex.phase == nil {
			continue
		}
		for _, p := range []phase{ex.phase, reacting{Then: ex.phase}, givenUp{In: ex.phase}} {
			if _, ok := nextPhase(p, event.TurnEnded{}).(ended); !ok {
				t.Errorf("%T does not end", p)
			}
			given := nextPhase(p, event.TurnInterrupted{Last: true})
			if g, ok := given.(givenUp); !ok || len(openCalls(g)) != len(openCalls(ex.phase)) {
				t.Errorf("%T is not given up, or loses calls: %+v", p, given)
			}
			if after := nextPhase(p, event.FactsChanged{}); !reflect.DeepEqual(after, ex.phase) {
				t.Errorf("facts lead from %T to %T", p, after)
			}
		}
	}
}
