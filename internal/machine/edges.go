package machine

import (
	"fmt"
	"slices"
	"strings"
)

// via is how a state is left for another.
type via string

const (
	viaStart   via = "start"
	viaTurn    via = "new turn" // a new turn begins where the thread stands
	viaGo      via = "go"
	viaCommand via = "command"
	viaAnswer  via = "answer"
	viaSkip    via = "skip"
)

// An edge is one way into a state. From is nil at the start.
type edge struct {
	via      via
	from, to *State
	t        *Transition // of viaGo
	on       []string    // events that fire it; nil = any
	when     *Expr
	negs     []*Expr // guards of entries before it that are false here
	writes   []*Writes
	pos      Pos
	label    string
}

func (e *edge) String() string {
	if e.from == nil {
		return "start -> " + e.to.Name
	}
	return fmt.Sprintf("%s -(%s)-> %s", e.from.Name, e.label, e.to.Name)
}

// A flow is the machine as a graph.
type flow struct {
	c     *checker
	start []*edge
	out   map[*State][]*edge
	in    map[*State][]*edge
	moves map[*State][]*Transition // own, then shared
}

func (c *checker) flow() *flow {
	g := &flow{c: c, out: make(map[*State][]*edge), in: make(map[*State][]*edge), moves: make(map[*State][]*Transition)}
	g.addStartEdges()
	shared := g.sharedBy()
	for _, s := range c.m.States {
		list := slices.Concat(s.Go, shared[s.Name])
		g.moves[s] = list
		for i, t := range list {
			g.addTransition(s, t, list[:i])
		}
		g.addSkips(s)
		g.addAnswers(s)
	}
	for _, cmd := range c.m.Commands {
		g.addCommand(cmd)
	}
	return g
}

// sharedBy lists the shared transitions of each state.
func (g *flow) sharedBy() map[string][]*Transition {
	by := make(map[string][]*Transition)
	for _, t := range g.c.m.Go {
		if t.Any {
			for _, s := range g.c.m.States {
				by[s.Name] = append(by[s.Name], t)
			}
			continue
		}
		for _, name := range t.From {
			by[name] = append(by[name], t)
		}
	}
	return by
}

func (g *flow) addEdge(e *edge) {
	if e.to == nil || e.from == e.to {
		return // staying is no move
	}
	if e.from == nil {
		g.start = append(g.start, e)
	} else {
		g.out[e.from] = append(g.out[e.from], e)
	}
	g.in[e.to] = append(g.in[e.to], e)
}

func (g *flow) addStartEdges() {
	m := g.c.m
	if m.Start.Stands {
		g.addEdge(&edge{via: viaStart, to: m.States[0], pos: m.Start.Pos, label: "first turn"})
		return
	}
	var before []*Expr
	for _, ch := range m.Start.Choices {
		g.addEdge(&edge{via: viaStart, to: m.states[ch.To], when: ch.When, negs: slices.Clone(before), writes: []*Writes{&ch.Set}, pos: ch.Pos, label: "start"})
		if ch.When == nil {
			return
		}
		before = append(before, ch.When)
	}
}

func (g *flow) addTransition(s *State, t *Transition, before []*Transition) {
	if len(t.Tool) > 0 && !g.c.mayCall(s, t.Tool) {
		return // it never fires here
	}
	on := t.triggers(s)
	var negs []*Expr
	for _, b := range before {
		if !firesBefore(b, t, s) {
			continue
		}
		if b.When == nil {
			return // nor behind one that always does
		}
		negs = append(negs, b.When)
	}
	for _, name := range g.targets(s, t) {
		g.addEdge(&edge{via: viaGo, from: s, to: g.c.m.states[name], t: t, on: on, when: t.When, negs: negs, writes: []*Writes{&t.Writes}, pos: t.Pos, label: labelOf(s, t)})
	}
}

// targets lists where a transition of a state may lead: of a list those that a tool
// offered there means.
func (g *flow) targets(s *State, t *Transition) []string {
	if len(t.To) <= 1 && !slices.Contains(t.On, OnCall) && !slices.Contains(t.On, OnPlanned) {
		return t.To
	}
	var out []string
	for _, name := range t.To {
		for _, tool := range g.c.offers[s.Name] {
			if g.c.m.Calls[tool] == name && matches(t.Tool, tool) {
				out = append(out, name)
				break
			}
		}
	}
	if len(out) == 0 && len(t.To) == 1 {
		return t.To
	}
	return out
}

// firesBefore reports whether everything that fires b fires a before it.
func firesBefore(a, b *Transition, s *State) bool {
	onA, onB := a.triggers(s), b.triggers(s)
	if onA != nil && (onB == nil || !isSubset(onB, onA)) {
		return false
	}
	if onA == nil && s.Kind == Pass && onB != nil {
		return false
	}
	if slices.Contains(onA, OnCall) || slices.Contains(onA, OnPlanned) {
		if !isSubset(b.To, a.To) {
			return false
		}
	} else if len(a.To) != 1 {
		return false
	}
	within := func(a, b []string) bool { return len(a) == 0 || len(b) > 0 && isSubset(b, a) }
	return within(a.Tool, b.Tool) && within(a.Card, b.Card) && within(a.Command, b.Command)
}

func isSubset(a, b []string) bool {
	return !slices.ContainsFunc(a, func(x string) bool { return !slices.Contains(b, x) })
}

func labelOf(s *State, t *Transition) string {
	on := t.triggers(s)
	label := strings.Join(on, ", ")
	for _, of := range [][]string{t.Tool, t.Card, t.Command} {
		if len(of) > 0 {
			label += " " + strings.Join(of, ", ")
		}
	}
	if t.When != nil {
		label = strings.TrimSpace(label + " when " + t.When.Source)
	}
	if label == "" {
		return "always"
	}
	return label
}

func (g *flow) addSkips(s *State) {
	e := s.Errors
	if e == nil {
		e = &g.c.m.Errors
	}
	if e.Skip != "" && s.Kind == Agent && len(s.Offers) > 0 {
		g.addEdge(&edge{via: viaSkip, from: s, to: g.c.m.states[e.Skip], pos: e.Pos, label: "skip"})
	}
}

// addAnswers adds what the answers of the cards that a state raises lead to.
func (g *flow) addAnswers(s *State) {
	for _, name := range g.c.cardsRaisedIn(s) {
		card := g.c.m.Cards[name]
		if card == nil {
			continue
		}
		for _, a := range card.Answers {
			e := &edge{via: viaAnswer, from: s, on: []string{OnAnswered}, writes: []*Writes{&a.Writes}, pos: a.Pos, label: "answer " + a.Name}
			if a.To != "" {
				e.to = g.c.m.states[a.To]
			} else if cmd := g.c.m.Command(a.Command); cmd != nil && cmd.To != "" {
				e.to, e.when = g.c.m.states[cmd.To], cmd.When
				e.writes = append(e.writes, &cmd.Writes)
			}
			g.addEdge(e)
		}
	}
}

func (g *flow) addCommand(cmd *Command) {
	if cmd.To == "" {
		return
	}
	from := cmd.From
	if from == nil {
		from = g.c.stateNames()
	}
	for _, name := range from {
		s := g.c.m.states[name]
		g.addEdge(&edge{via: viaCommand, from: s, to: g.c.m.states[cmd.To], on: []string{OnCommand}, when: cmd.When, writes: []*Writes{&cmd.Writes}, pos: cmd.Pos, label: "command " + cmd.Name})
	}
}

// firstEdges returns for each state that can be reached the edge by which it is reached
// first.
func (g *flow) firstEdges() map[*State]*edge {
	by := make(map[*State]*edge, len(g.c.m.States))
	queue := make([]*State, 0, len(g.c.m.States))
	visit := func(e *edge) {
		if _, seen := by[e.to]; !seen {
			by[e.to] = e
			queue = append(queue, e.to)
		}
	}
	for _, e := range g.start {
		visit(e)
	}
	for len(queue) > 0 {
		s := queue[0]
		queue = queue[1:]
		for _, e := range g.out[s] {
			visit(e)
		}
	}
	return by
}

// wayTo lists the edges from the start to a state, and e after them.
func wayTo(by map[*State]*edge, e *edge) []string {
	out := []string{e.String()}
	for s := e.from; s != nil && len(out) < 60; {
		before := by[s]
		if before == nil {
			break
		}
		out = append(out, before.String())
		s = before.from
	}
	slices.Reverse(out)
	return out
}
