package enginetest

import (
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	"interlock/internal/event"
	"interlock/internal/fault"
	"interlock/internal/machine"
)

// Audit reads a whole log as a stranger would and says whether what must always
// hold did hold, whatever the model said. It folds the log by itself, so that an
// error of the engine's own fold shows.
func Audit(m *machine.Machine, events []event.Event) error {
	a := &auditor{m: m, facts: m.Defaults(), calls: map[string]int{}, asked: map[string]bool{}, settings: map[string]any{}}
	for _, s := range m.Settings {
		a.settings[s.Name] = s.Default
	}
	for i, e := range events {
		if e.Seq != int64(i)+1 {
			return fmt.Errorf("event %d stands at place %d", e.Seq, i+1)
		}
		if err := a.see(e); err != nil {
			return fmt.Errorf("event %d (%s): %w", e.Seq, e.Body.Kind(), err)
		}
	}
	for call := range a.asked {
		if a.calls[call] != 1 && a.ended {
			return fmt.Errorf("the call %s has %d results", call, a.calls[call])
		}
	}
	return nil
}

type auditor struct {
	m        *machine.Machine
	facts    map[string]any
	settings map[string]any
	state    string
	last     string
	turn     map[string]any
	visits   map[string]int
	signal   machine.Signal
	running  string
	models   int
	person   bool // the events since the last thing a person did
	ended    bool
	asked    map[string]bool
	calls    map[string]int // results by call
}

func (a *auditor) scope() *machine.Scope {
	return &machine.Scope{
		Facts: maps.Clone(a.facts), Settings: a.settings, Turn: a.turn, Visits: maps.Clone(a.visits), Event: a.signal.Env(),
		State: map[string]any{"name": a.state, "last": a.last},
	}
}

func (a *auditor) see(e event.Event) error {
	switch b := e.Body.(type) {
	case event.ThreadOpened:
		maps.Copy(a.settings, b.Settings)
	case event.TurnStarted:
		if a.turn != nil && !a.ended {
			return errors.New("a turn began inside another")
		}
		maps.Copy(a.settings, b.Settings)
		a.turn, a.visits, a.models, a.ended, a.person = map[string]any{"text": b.Text}, map[string]int{}, 0, false, true
	case event.CardAnswered:
		a.person = true
		maps.Copy(a.settings, b.Settings)
	case event.CommandGiven:
		a.person = true
	case event.FactsChanged:
		return a.change(b)
	case event.StateEntered:
		return a.enter(b)
	case event.ModelCalled:
		a.person = false
		if a.running != "" {
			return fmt.Errorf("the model was called while %s ran", a.running)
		}
		a.models++
		if most := a.m.Int(a.m.Limits.Iterations, a.scope(), 25); a.models > most {
			return fmt.Errorf("%d model calls; %d are allowed", a.models, most)
		}
	case event.ModelReplied:
		for _, c := range b.Calls {
			if a.asked[c.ID] {
				return fmt.Errorf("the call id %s was used twice", c.ID)
			}
			a.asked[c.ID] = true
		}
	case event.ToolStarted:
		return a.start(b)
	case event.ToolReturned:
		return a.result(b.Call)
	case event.ToolFailed:
		return a.result(b.Call)
	case event.ToolRefused:
		return a.result(b.Call)
	case event.TurnEnded:
		if a.ended {
			return errors.New("the turn ended twice")
		}
		if a.running != "" {
			return fmt.Errorf("the turn ended while %s ran", a.running)
		}
		a.ended = true
	}
	return nil
}

func (a *auditor) change(b event.FactsChanged) error {
	for name := range b.Set {
		f := a.m.Fact(name)
		switch {
		case f == nil || f.Is != nil:
			return fmt.Errorf("%s is no fact that can be written", name)
		case f.Person && !a.person && !shrinks(a.facts[name], b.Set[name].Decode()):
			return fmt.Errorf("%s, which only a person may write, was written by %q", name, b.Cause)
		}
		if _, err := machine.Conform(f.Type, b.Set[name].Decode()); err != nil {
			return fmt.Errorf("%s does not fit its type: %w", name, err)
		}
	}
	for _, name := range b.Dropped {
		delete(a.facts, name)
		if f := a.m.Fact(name); f != nil && f.Default != nil {
			a.facts[name] = f.Default
		}
	}
	for name, v := range b.Set {
		a.facts[name] = v.Decode()
	}
	return nil
}

// shrinks says that a list lost items and gained none: what `keep` does.
func shrinks(was, is any) bool {
	old, _ := was.([]any)
	now, ok := is.([]any)
	if !ok || len(now) >= len(old) {
		return false
	}
	for _, item := range now {
		if !slices.ContainsFunc(old, func(o any) bool { return text(o) == text(item) }) {
			return false
		}
	}
	return true
}

func text(v any) string { raw, _ := json.Marshal(v); return string(raw) }

// enter checks that a declared way led into the state and that what it requires holds.
func (a *auditor) enter(b event.StateEntered) error {
	if b.From != a.state {
		return fmt.Errorf("it left %q, but the thread stood in %q", b.From, a.state)
	}
	if !a.declared(b) {
		return fmt.Errorf("no declared way leads from %q to %q by %q", b.From, b.To, b.Cause)
	}
	if a.visits != nil {
		a.visits[b.To]++
	}
	a.last, a.state = a.state, b.To
	if missing := a.m.Missing(b.To, a.scope()); missing != "" {
		return fmt.Errorf("%q was entered without %s", b.To, missing)
	}
	return nil
}

func (a *auditor) declared(b event.StateEntered) bool {
	if b.Cause == "start" {
		if a.m.Start.Stands {
			return true
		}
		return slices.ContainsFunc(a.m.Start.Choices, func(c *machine.Choice) bool { return c.To == b.To })
	}
	if strings.HasPrefix(b.Cause, "skip") {
		return true
	}
	for _, c := range a.m.Commands {
		if c.To == b.To && a.person {
			return true
		}
	}
	for _, c := range a.m.Cards {
		for _, ans := range c.Answers {
			if ans.To == b.To && a.person {
				return true
			}
		}
	}
	st := a.m.State(b.From)
	if st == nil {
		return false
	}
	leads := func(t *machine.Transition) bool { return slices.Contains(t.To, b.To) }
	return slices.ContainsFunc(st.Go, leads) || slices.ContainsFunc(a.m.Go, func(t *machine.Transition) bool {
		return (t.Any || slices.Contains(t.From, b.From)) && leads(t)
	})
}

// start checks that only an offered tool runs, and only one at a time.
func (a *auditor) start(b event.ToolStarted) error {
	if a.running != "" {
		return fmt.Errorf("%s started while %s ran", b.Tool, a.running)
	}
	a.running = b.Call
	if b.By == "step" || b.By == "discover" {
		return nil
	}
	st := a.m.State(a.state)
	if st == nil || st.Kind != machine.Agent {
		return fmt.Errorf("%s started in %q, which is no agent state", b.Tool, a.state)
	}
	s := a.scope()
	for _, o := range st.Offers {
		if (o.Tool == b.Tool || o.From != "" && names(a.m.Value(o.From, s), b.Tool)) && a.m.Holds(o.When, s) {
			return nil
		}
	}
	return fmt.Errorf("%s ran, which %q does not offer now: %s", b.Tool, a.state, fault.ToolNotAllowed)
}

// names says whether a list of tools holds one of this name.
func names(list any, tool string) bool {
	items, _ := list.([]any)
	return slices.ContainsFunc(items, func(item any) bool { return item == tool || machine.ValueAt(item, "name") == tool })
}

func (a *auditor) result(call string) error {
	if a.running == call {
		a.running = ""
	} else if a.running != "" {
		return fmt.Errorf("a result of %s came while %s ran", call, a.running)
	}
	if a.calls[call]++; a.calls[call] > 1 {
		return fmt.Errorf("the call %s has two results", call)
	}
	return nil
}

// Facts gives the facts as the log alone says.
func Facts(m *machine.Machine, events []event.Event) map[string]any {
	a := &auditor{m: m, facts: m.Defaults(), person: true}
	for _, e := range events {
		if b, ok := e.Body.(event.FactsChanged); ok {
			_ = a.change(b) // Audit reports what is wrong with it
		}
	}
	return a.facts
}
