package machine

import (
	"slices"
	"strings"
)

// atEntry returns what is known right after a state was entered: its requirements
// too, because the engine checks them.
func (p *proof) atEntry(s *State) knowledge {
	k := p.in[s].clone()
	for _, r := range s.Requires {
		if f := p.c.m.facts[r.Fact]; f != nil {
			p.learn(k, f, factKnowledge{set: true, yes: r.IsTrue, n: int32(r.Len)})
		}
	}
	return k
}

// An insideEvent is something that may happen while the machine is in a state.
type insideEvent struct {
	writes *Writes
	when   *Expr
	at     occasion
	pos    Pos
	what   string
}

// insideEvents lists what may write facts while the machine is in a state.
func (p *proof) insideEvents(s *State) []insideEvent {
	if out, ok := p.may[s]; ok {
		return out
	}
	var out []insideEvent
	for _, e := range p.c.m.Effects {
		if p.mayFire(e, s) {
			out = append(out, insideEvent{&e.Writes, e.When, occasion{on: e.On, tools: e.Tool, cards: e.Card, commands: e.Command}, e.Pos, "an effect on " + strings.Join(e.On, ", ")})
		}
	}
	for _, name := range p.c.cardsRaisedIn(s) {
		if card := p.c.m.Cards[name]; card != nil {
			for _, a := range card.Answers {
				if a.To == "" && a.Command == "" {
					out = append(out, insideEvent{&a.Writes, nil, occasion{on: []string{OnAnswered}, cards: []string{name}}, a.Pos, "the answer " + a.Name})
				}
			}
		}
	}
	for _, cmd := range p.c.m.Commands {
		if cmd.To == "" && (cmd.From == nil || slices.Contains(cmd.From, s.Name)) {
			out = append(out, insideEvent{&cmd.Writes, cmd.When, occasion{on: []string{OnCommand}, commands: []string{cmd.Name}}, cmd.Pos, "the command " + cmd.Name})
		}
	}
	p.may[s] = out
	return out
}

// happens lists the events that can happen in each kind of state.
var happens = map[StateKind][]string{
	Agent: {OnTurn, OnEntered, OnPlanned, OnCall, OnStarted, OnReturned, OnFailed, OnRefused, OnFinal, OnModelFailed, OnAsked, OnAnswered, OnCommand},
	StepK: {OnTurn, OnEntered, OnStarted, OnReturned, OnFailed, OnRefused, OnModelFailed, OnDone, OnCommand},
	Final: {OnTurn, OnEntered, OnStarted, OnReturned, OnFailed, OnRefused, OnModelFailed, OnDone, OnCommand},
	Ask:   {OnTurn, OnEntered, OnAsked, OnAnswered, OnCommand},
	Pass:  {OnTurn, OnEntered, OnCommand},
}

// mayFire reports whether an effect may run while the machine is in a state.
func (p *proof) mayFire(e *Effect, s *State) bool {
	if !matches(e.State, s.Name) || !overlaps(e.On, happens[s.Kind]) {
		return false
	}
	if len(e.Tool) > 0 && !p.c.mayCall(s, e.Tool) {
		return false
	}
	if len(e.Card) > 0 && !overlaps(e.Card, p.c.cardsRaisedIn(s)) {
		return false
	}
	return len(e.Command) == 0 || slices.ContainsFunc(p.c.m.Commands, func(c *Command) bool {
		return slices.Contains(e.Command, c.Name) && (c.From == nil || slices.Contains(c.From, s.Name))
	})
}

func overlaps(a, b []string) bool {
	return slices.ContainsFunc(a, func(x string) bool { return slices.Contains(b, x) })
}

// whileInside returns what is known all the while in a state: what survives
// everything that may happen there.
func (p *proof) whileInside(s *State) knowledge {
	p.fuel = maxUnfolds
	k := p.atEntry(s)
	list := p.insideEvents(s)
	for range 4 {
		before := k
		for _, x := range list {
			k = commonKnowledge(k, p.afterWrites(p.assumeExpr(k, x.when, true), x.writes, x.at))
		}
		if slices.Equal(before, k) {
			break
		}
	}
	return k
}
