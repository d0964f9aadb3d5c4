package machine

import (
	"fmt"
	"iter"
	"slices"

	"interlock/internal/fault"
)

// Names of events. Definitions name them in `on`.
const (
	OnTurn        = "turn"
	OnEntered     = "entered"
	OnPlanned     = "planned"
	OnCall        = "call"
	OnStarted     = "started"
	OnReturned    = "returned"
	OnFailed      = "failed"
	OnRefused     = "refused"
	OnFinal       = "final"
	OnModelFailed = "model_failed"
	OnAsked       = "asked"
	OnAnswered    = "answered"
	OnCommand     = "command"
	OnDone        = "done"
)

// A Signal is an event as a machine sees it.
type Signal struct {
	Name    string
	Tool    string
	Card    string
	Command string
	Fields  map[string]any
}

// Env returns `event` as guards see it.
func (g Signal) Env() map[string]any {
	env := make(map[string]any, len(g.Fields)+4)
	for k, v := range g.Fields {
		env[k] = v
	}
	env["name"] = g.Name
	for _, filter := range [...]struct{ name, value string }{{"tool", g.Tool}, {"card", g.Card}, {"command", g.Command}} {
		if filter.value != "" {
			env[filter.name] = filter.value
		}
	}
	return env
}

func (g Signal) cause() string {
	for _, of := range []string{g.Tool, g.Card, g.Command} {
		if of != "" {
			return g.Name + " " + of
		}
	}
	return g.Name
}

// A Move is an entered state with the reason.
type Move struct {
	From, To, Cause string
	When            string
	Saw             map[string]any
	Rest            bool
}

// An Act is one consequence of an event: a change of facts or a move.
type Act struct {
	Change Change
	Cause  string // of the change
	Move   *Move
}

// A Reaction is everything that follows from an event, in order.
type Reaction struct {
	Acts  []Act
	State string // where the machine stands now
	Rest  bool   // the turn ends here
}

// Moved reports whether the state changed.
func (r Reaction) Moved() bool {
	return slices.ContainsFunc(r.Acts, func(a Act) bool { return a.Move != nil })
}

// maxMoves bounds the moves that may follow one event: a backstop behind the proof
// that cycles are bounded.
const maxMoves = 1000

// React returns what follows from a signal in the present state: effects, then the
// first transition that holds, and again from there. It changes s, whose maps must
// be the caller's own. An error is a fault invalid_state: a state would be entered
// without its facts.
func (m *Machine) React(s *Scope, sig Signal) (Reaction, error) {
	w := m.newWalk(s, sig)
	w.runEffects(sig)
	err := w.followTransitions()
	return w.reaction(), err
}

// Enter moves to a state outside the transitions: at the start of a turn, by a
// command, a card's answer or an error's skip. Effects of the event come first.
func (m *Machine) Enter(s *Scope, to string, sig Signal, when *Expr, writes *Writes) (Reaction, error) {
	w := m.newWalk(s, sig)
	if writes != nil {
		w.applyWrites(writes, sig.cause())
	}
	w.runEffects(sig)
	var err error
	switch {
	case to == "":
		err = w.followTransitions()
	case to != w.state:
		if err = w.move(to, when, nil, false); err == nil {
			err = w.followEntry()
		}
	}
	return w.reaction(), err
}

// Begin enters the state in which a turn starts, also where the thread stands there
// already, and follows what fires on arrival.
func (m *Machine) Begin(s *Scope, c *Choice, sig Signal) (Reaction, error) {
	w := m.newWalk(s, sig)
	w.cause = "start"
	err := w.move(c.To, c.When, &c.Set, false)
	w.cause = sig.cause()
	if err == nil {
		err = w.followEntry()
	}
	return w.reaction(), err
}

// RunEffects runs the effects of an event that moves nothing.
func (m *Machine) RunEffects(s *Scope, sig Signal) Reaction {
	w := m.newWalk(s, sig)
	w.runEffects(sig)
	return w.reaction()
}

// Choose finds the state in which a turn begins; current is the state of the thread, "" at first.
func (m *Machine) Choose(s *Scope, current string) (*Choice, error) {
	if m.Start.Stands {
		if current == "" {
			current = m.States[0].Name
		}
		return &Choice{To: current, Pos: m.Start.Pos}, nil
	}
	for _, c := range m.Start.Choices {
		if m.Holds(c.When, s) {
			return c, nil
		}
	}
	return nil, fault.New(fault.InvalidState, "machine %s: no choice of start holds", m.Name)
}

// Missing returns the first requirement of a state that does not hold, "" if all do.
func (m *Machine) Missing(state string, s *Scope) string {
	st := m.states[state]
	if st == nil {
		return "a state of that name"
	}
	for _, p := range st.Requires {
		v := m.Value(p.Fact, s)
		held := v != nil
		switch {
		case p.IsTrue:
			held = v == true
		case p.Len > 0:
			list, _ := v.([]any)
			held = len(list) >= p.Len
		}
		if !held {
			return p.Source
		}
	}
	return ""
}

// CallEdge reports whether a call of a tool that means a state may move there from
// the present one. Tools that mean nothing, or the present state, stay.
func (m *Machine) CallEdge(s *Scope, tool string) bool {
	to, means := m.Calls[tool]
	here, _ := s.State["name"].(string)
	if !means || to == here {
		return true
	}
	st := m.states[here]
	if st == nil {
		return false
	}
	for t := range m.transitionsFrom(st) {
		if slices.Contains(t.On, OnCall) && slices.Contains(t.To, to) && matches(t.Tool, tool) {
			return true
		}
	}
	return false
}

// transitionsFrom yields the transitions of a state: its own, then the shared ones.
func (m *Machine) transitionsFrom(st *State) iter.Seq[*Transition] {
	return func(yield func(*Transition) bool) {
		for _, t := range st.Go {
			if !yield(t) {
				return
			}
		}
		for _, t := range m.Go {
			if (t.Any || slices.Contains(t.From, st.Name)) && !yield(t) {
				return
			}
		}
	}
}

// Reacts reports whether a signal may have consequences in a state: an effect or a
// transition waits for it. It does not look at the fields of the signal, so a caller need
// not work them out where the answer is no.
func (m *Machine) Reacts(state string, sig Signal) bool {
	for _, e := range m.Effects {
		if e.waitsFor(state, sig) {
			return true
		}
	}
	st := m.states[state]
	if st == nil {
		return false
	}
	for t := range m.transitionsFrom(st) {
		if t.isFiredBy(st, sig) {
			return true
		}
	}
	return false
}

// A walk follows one signal through the machine: effects, transitions, moves.
type walk struct {
	m       *Machine
	s       *Scope
	sig     Signal
	cause   string // of moves
	state   string
	rest    bool
	acts    []Act
	moves   int
	offered map[string]bool // states that `final` was offered to
}

func (m *Machine) newWalk(s *Scope, sig Signal) *walk {
	s.Event = sig.Env()
	if s.State == nil {
		s.State = map[string]any{}
	}
	state, _ := s.State["name"].(string)
	return &walk{m: m, s: s, sig: sig, cause: sig.cause(), state: state, offered: map[string]bool{state: true}}
}

func (w *walk) reaction() Reaction { return Reaction{Acts: w.acts, State: w.state, Rest: w.rest} }

func (w *walk) applyWrites(writes *Writes, cause string) {
	c := w.m.Apply(writes, w.s)
	if !c.Empty() || len(c.Problems) > 0 {
		w.acts = append(w.acts, Act{Change: c, Cause: cause})
	}
}

// runEffects runs every effect that matches, in order, each seeing those before.
func (w *walk) runEffects(sig Signal) {
	for _, e := range w.m.Effects {
		if e.waitsFor(w.state, sig) && w.m.Holds(e.When, w.s) {
			w.applyWrites(&e.Writes, "effect "+sig.cause())
		}
	}
}

// waitsFor reports whether the effect is one of a signal in a state.
func (e *Effect) waitsFor(state string, sig Signal) bool {
	return slices.Contains(e.On, sig.Name) && matches(e.Tool, sig.Tool) && matches(e.Card, sig.Card) &&
		matches(e.Command, sig.Command) && matches(e.State, state)
}

// followTransitions follows the first transition of the present state that the event
// fires, then those that fire on arrival.
func (w *walk) followTransitions() error {
	st := w.m.states[w.state]
	if st == nil {
		return nil
	}
	t, to := w.firstTransition(st, func(st *State, t *Transition) bool { return t.isFiredBy(st, w.sig) })
	if t == nil || to == w.state {
		return nil
	}
	if err := w.follow(t, to); err != nil {
		return err
	}
	return w.followEntry()
}

// followEntry follows what fires on entry, until nothing does.
func (w *walk) followEntry() error {
	for !w.rest {
		st := w.m.states[w.state]
		again := w.sig.Name == OnFinal && !w.offered[w.state]
		w.offered[w.state] = true
		t, to := w.firstTransition(st, func(st *State, t *Transition) bool {
			if len(t.On) == 0 {
				return st.Kind == Agent || st.Kind == Pass
			}
			return slices.Contains(t.On, OnEntered) || (again && t.isFiredBy(st, w.sig))
		})
		if t == nil || to == w.state {
			return nil
		}
		if err := w.follow(t, to); err != nil {
			return err
		}
	}
	return nil
}

// firstTransition finds the first transition that fires and whose guard holds.
func (w *walk) firstTransition(st *State, fires func(*State, *Transition) bool) (*Transition, string) {
	for t := range w.m.transitionsFrom(st) {
		if !fires(st, t) {
			continue
		}
		if w.s.Trace != nil {
			w.s.Trace.note(w.m.considerTransition(t, w.s))
		}
		if !w.m.Holds(t.When, w.s) {
			continue
		}
		if to := w.target(t); to != "" {
			return t, to
		}
	}
	return nil, ""
}

// isFiredBy reports whether the signal is one that the transition of a state waits for.
func (t *Transition) isFiredBy(st *State, sig Signal) bool {
	if !matches(t.Tool, sig.Tool) || !matches(t.Card, sig.Card) || !matches(t.Command, sig.Command) {
		return false
	}
	if len(t.On) > 0 {
		return slices.Contains(t.On, sig.Name)
	}
	switch st.Kind {
	case StepK:
		return sig.Name == OnDone
	case Ask:
		return sig.Name == OnAnswered
	case Agent:
		return true
	}
	return false
}

// target returns where a transition leads. A list means the state that `calls` gives
// for the tool, if it is on the list.
func (w *walk) target(t *Transition) string {
	if means, ok := w.m.Calls[w.sig.Tool]; ok && (w.sig.Name == OnCall || w.sig.Name == OnPlanned) {
		if slices.Contains(t.To, means) {
			return means
		}
		return ""
	}
	if len(t.To) == 1 {
		return t.To[0]
	}
	return ""
}

func (w *walk) follow(t *Transition, to string) error {
	return w.move(to, t.When, &t.Writes, t.Rest)
}

// move enters a state: the transition's writes, the entry, its effects, and the
// proof that what the state requires holds.
func (w *walk) move(to string, when *Expr, writes *Writes, rest bool) error {
	if w.moves++; w.moves > maxMoves {
		return fault.New(fault.InvalidState, "machine %s: one event caused more than %d moves", w.m.Name, maxMoves)
	}
	mv := &Move{From: w.state, To: to, Cause: w.cause, Rest: rest}
	if when != nil {
		mv.When, mv.Saw = when.Source, w.m.GuardValues(when, w.s)
	}
	if writes != nil {
		w.applyWrites(writes, fmt.Sprintf("edge %s -> %s", w.state, to))
	}
	if missing := w.m.Missing(to, w.s); missing != "" {
		return fault.New(fault.InvalidState, "state %q cannot be entered from %q: it requires %s", to, w.state, missing).
			With(map[string]string{"state": to, "fact": missing})
	}
	w.acts = append(w.acts, Act{Move: mv})
	if w.s.Trace != nil {
		w.s.Trace.moved()
	}
	w.s.State["last"], w.s.State["name"] = w.state, to
	w.state, w.rest = to, rest
	if w.s.Visits == nil {
		w.s.Visits = map[string]int{}
	}
	w.s.Visits[to]++

	event := w.s.Event
	entered := Signal{Name: OnEntered, Fields: map[string]any{"state": to, "from": mv.From, "cause": mv.Cause}}
	w.s.Event = entered.Env()
	w.runEffects(entered)
	w.s.Event = event
	return nil
}

// matches reports whether a filter is empty or names the value.
func matches(filter []string, value string) bool {
	return len(filter) == 0 || slices.Contains(filter, value)
}
