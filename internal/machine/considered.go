package machine

import (
	"slices"
	"strings"
)

// A Considered is a move that a machine looked at: the guard, and the values that it saw.
type Considered struct {
	To   []string       `json:"to"`
	On   []string       `json:"on"`
	When string         `json:"when,omitempty"`
	Saw  map[string]any `json:"saw,omitempty"`
	Held bool           `json:"held"`
	// Unknown says that the guard looks at fields of the event, which are not known here.
	Unknown bool `json:"unknown,omitempty"`
}

// A Trace notes the moves that a machine looks at while it reacts to an event. Each list ends
// with the move that was made; the last one holds those after which the machine stayed.
type Trace struct {
	Tried [][]Considered
}

func (t *Trace) note(c Considered) {
	if len(t.Tried) == 0 {
		t.Tried = [][]Considered{nil}
	}
	last := len(t.Tried) - 1
	t.Tried[last] = append(t.Tried[last], c)
}

// moved begins the list of what is looked at in the state that was entered.
func (t *Trace) moved() {
	if len(t.Tried) == 0 {
		t.Tried = [][]Considered{nil}
	}
	t.Tried = append(t.Tried, nil)
}

// ConsiderStart returns the choices of the start, in the order in which they are tried.
func (m *Machine) ConsiderStart(s *Scope) []Considered {
	out := []Considered{}
	for _, c := range m.Start.Choices {
		out = append(out, m.consider(c.When, s, []string{c.To}, []string{"start"}))
	}
	return out
}

// ConsiderFrom returns the moves out of a state, in the order in which they are tried.
func (m *Machine) ConsiderFrom(state string, s *Scope) []Considered {
	out := []Considered{}
	st := m.states[state]
	if st == nil {
		return out
	}
	for t := range m.transitionsFrom(st) {
		out = append(out, m.considerTransition(t, s))
	}
	return out
}

func (m *Machine) considerTransition(t *Transition, s *Scope) Considered {
	return m.consider(t.When, s, t.To, slices.Concat(t.On, t.Tool, t.Card, t.Command))
}

func (m *Machine) consider(when *Expr, s *Scope, to, on []string) Considered {
	c := Considered{To: to, On: on, Held: true}
	if on == nil {
		c.On = []string{}
	}
	if when == nil {
		return c
	}
	c.When, c.Saw, c.Held = when.Source, m.GuardValues(when, s), m.Holds(when, s)
	if s.Event != nil {
		return c
	}
	for name := range c.Saw {
		if name == "event" || strings.HasPrefix(name, "event.") {
			c.Unknown, c.Held = true, false
		}
	}
	return c
}
