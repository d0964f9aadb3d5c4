package machine

import (
	"fmt"
	"slices"
	"strings"

	"github.com/expr-lang/expr/ast"
)

// A proof is the forward analysis: what is known on entry to each state, met over
// all ways in, to the fixed point.
type proof struct {
	*prover
	g     *flow
	by    map[*State]*edge
	begin knowledge // where a turn starts
	in    map[*State]knowledge
	held  map[*State]knowledge // what hold gave last
	may   map[*State][]inside  // what insides gave
	off   map[*edge]bool       // ways that were found wanting, left out of the second run
}

// prove reports every requirement and every bound argument that is not proved.
func (c *checker) prove(g *flow, by map[*State]*edge) {
	if len(c.m.Facts) == 0 {
		return
	}
	p := &proof{prover: c.prover(), g: g, by: by, off: make(map[*edge]bool), may: make(map[*State][]inside)}
	p.run()
	if wanting := p.wanting(); len(wanting) > 0 {
		// What is lost on a way that is wrong is missing everywhere behind it. A second
		// run without these ways tells the causes from what only follows from them.
		all := *p
		for _, e := range wanting {
			p.off[e] = true
		}
		p.run()
		before := len(c.found)
		p.checkEdges(wanting)
		if len(c.found) == before {
			all.checkEdges(wanting)
		}
	}
	seen := make(map[Pos]bool)
	for _, s := range c.m.States {
		if p.in[s] != nil {
			p.checkInside(s)
			p.checkBound(s, seen)
		}
	}
}

// wanting lists the ways into states that do not prove what the state requires.
func (p *proof) wanting() []*edge {
	var out []*edge
	for _, s := range p.c.m.States {
		if p.in[s] == nil || len(s.Requires) == 0 {
			continue
		}
		for _, e := range p.g.in[s] {
			if e.from != nil && p.in[e.from] == nil {
				continue
			}
			k := p.transfer(e)
			if slices.ContainsFunc(s.Requires, func(r Predicate) bool { return !p.proves(k, r) }) {
				out = append(out, e)
			}
		}
	}
	return out
}

// checkEdges reports what each way lacks; ways that share a place are reported once.
func (p *proof) checkEdges(list []*edge) {
	seen := make(map[string]bool)
	for _, e := range list {
		if e.from == nil || p.in[e.from] != nil {
			p.checkEdge(e, seen)
		}
	}
}

// maxUnfolds bounds the computed facts looked into for one edge or state.
const maxUnfolds = 20_000

// run goes on until nothing changes. What is known only shrinks, so it ends.
func (p *proof) run() {
	p.begin = p.prover.begin()
	p.in = make(map[*State]knowledge, len(p.c.m.States))
	p.held = make(map[*State]knowledge, len(p.c.m.States))
	var queue []*State
	queued := make(map[*State]bool)
	merge := func(s *State, k knowledge) {
		now := meet(p.in[s], k)
		if p.in[s] != nil && slices.Equal(now, p.in[s]) {
			return
		}
		p.in[s] = now
		if !queued[s] {
			queued[s] = true
			queue = append(queue, s)
		}
	}
	starts := func() {
		for _, e := range p.g.start {
			if !p.off[e] {
				merge(e.to, p.transfer(e))
			}
		}
	}
	starts()
	for len(queue) > 0 {
		s := queue[0]
		queue = queue[1:]
		queued[s] = false
		hold := p.hold(s)
		p.held[s] = hold
		for _, e := range p.g.out[s] {
			if !p.off[e] {
				merge(e.to, p.transferFrom(e, hold))
			}
		}
		rested := p.newTurn(hold)
		if p.c.m.Start.Stands {
			merge(s, rested)
		} else if now := meet(p.begin, rested); !slices.Equal(now, p.begin) {
			p.begin = now
			starts()
		}
	}
}

// entry is what is known right after a state was entered: its requirements too,
// because the engine checks them.
func (p *proof) entry(s *State) knowledge {
	k := p.in[s].clone()
	for _, r := range s.Requires {
		if f := p.c.m.facts[r.Fact]; f != nil {
			p.learn(k, f, known{set: true, yes: r.IsTrue, n: int32(r.Len)})
		}
	}
	return k
}

// An inside is something that may happen while the machine is in a state.
type inside struct {
	writes *Writes
	when   *Expr
	at     occasion
	pos    Pos
	what   string
}

// insides lists what may write facts while the machine is in a state.
func (p *proof) insides(s *State) []inside {
	if out, ok := p.may[s]; ok {
		return out
	}
	var out []inside
	for _, e := range p.c.m.Effects {
		if p.mayFire(e, s) {
			out = append(out, inside{&e.Writes, e.When, occasion{on: e.On, tools: e.Tool, cards: e.Card, commands: e.Command}, e.Pos, "an effect on " + strings.Join(e.On, ", ")})
		}
	}
	for _, name := range p.c.cardsOf(s) {
		if card := p.c.m.Cards[name]; card != nil {
			for _, a := range card.Answers {
				if a.To == "" && a.Command == "" {
					out = append(out, inside{&a.Writes, nil, occasion{on: []string{OnAnswered}, cards: []string{name}}, a.Pos, "the answer " + a.Name})
				}
			}
		}
	}
	for _, cmd := range p.c.m.Commands {
		if cmd.To == "" && (cmd.From == nil || slices.Contains(cmd.From, s.Name)) {
			out = append(out, inside{&cmd.Writes, cmd.When, occasion{on: []string{OnCommand}, commands: []string{cmd.Name}}, cmd.Pos, "the command " + cmd.Name})
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

// mayFire says whether an effect may run while the machine is in a state.
func (p *proof) mayFire(e *Effect, s *State) bool {
	if !matches(e.State, s.Name) || !overlap(e.On, happens[s.Kind]) {
		return false
	}
	if len(e.Tool) > 0 && !p.c.mayCall(s, e.Tool) {
		return false
	}
	if len(e.Card) > 0 && !overlap(e.Card, p.c.cardsOf(s)) {
		return false
	}
	return len(e.Command) == 0 || slices.ContainsFunc(p.c.m.Commands, func(c *Command) bool {
		return slices.Contains(e.Command, c.Name) && (c.From == nil || slices.Contains(c.From, s.Name))
	})
}

func overlap(a, b []string) bool {
	return slices.ContainsFunc(a, func(x string) bool { return slices.Contains(b, x) })
}

// hold is what is known all the while in a state: what survives everything that may
// happen there.
func (p *proof) hold(s *State) knowledge {
	p.fuel = maxUnfolds
	k := p.entry(s)
	list := p.insides(s)
	for range 4 {
		before := k
		for _, x := range list {
			k = meet(k, p.apply(p.assumeExpr(k, x.when, true), x.writes, x.at))
		}
		if slices.Equal(before, k) {
			break
		}
	}
	return k
}

func (p *proof) transfer(e *edge) knowledge {
	if e.from == nil {
		return p.transferFrom(e, p.begin)
	}
	return p.transferFrom(e, p.held[e.from])
}

// transferFrom is what is known after an edge was followed.
func (p *proof) transferFrom(e *edge, hold knowledge) knowledge {
	p.fuel = maxUnfolds
	k := hold.clone()
	at := occasion{on: e.on}
	if e.t != nil {
		at.tools, at.cards, at.commands = e.t.Tool, e.t.Card, e.t.Command
	}
	switch e.via {
	case viaStart:
		k = p.discovered(k)
	case viaGo:
		k = p.outcome(e, k)
		k = p.effects(e, k, at)
	}
	p.at = at
	k = p.assumeExpr(k, e.when, true)
	for _, x := range e.negs {
		k = p.assumeExpr(k, x, false)
	}
	p.at = occasion{}
	for _, w := range e.writes {
		k = p.apply(k, w, at)
	}
	if e.via == viaCommand {
		k = p.newTurn(k)
	}
	return k
}

// discovered is what is known after discover, which may have written or failed.
func (p *proof) discovered(k knowledge) knowledge {
	for _, s := range p.c.m.Discover {
		k = meet(k, p.out(k, s))
	}
	for _, e := range p.c.m.Effects {
		if slices.Contains(e.On, OnTurn) {
			k = meet(k, p.apply(k, &e.Writes, occasion{on: e.On}))
		}
	}
	return k
}

// out is what is known after a step wrote its outputs.
func (p *proof) out(k knowledge, s *Step) knowledge {
	out := k.clone()
	for _, o := range s.Out {
		f := p.fact(o.Fact)
		if f == nil {
			continue
		}
		if strings.Contains(o.Fact, ".") {
			p.forget(out, f, known{set: true})
			continue
		}
		first, _, _ := strings.Cut(o.From, ".")
		tt, typed := p.c.tools[s.Tool]
		p.forget(out, f, known{set: !typed || tt.Always == nil || slices.Contains(tt.Always, first)})
	}
	return out
}

// outcome is what the work of a state gives before its transitions are looked at.
func (p *proof) outcome(e *edge, k knowledge) knowledge {
	s := e.from
	switch {
	case len(s.Run) > 0 && slices.Equal(e.on, []string{OnDone}):
		return p.finished(e, k)
	case len(s.Run) > 0:
		for _, a := range s.Run {
			for _, st := range a.Steps {
				k = meet(k, p.out(k, st))
			}
		}
	case slices.Equal(e.on, []string{OnAnswered}):
		return p.answered(e, k)
	}
	return k
}

// finished joins the alternatives of a step that came to its end.
func (p *proof) finished(e *edge, k knowledge) knowledge {
	var all knowledge
	rest := k
	for _, a := range e.from.Run {
		all = meet(all, p.alternative(e, p.assumeExpr(rest, a.When, true), a))
		if a.When == nil {
			return all
		}
		rest = p.assumeExpr(rest, a.When, false)
	}
	return meet(all, rest) // none holds: nothing runs
}

func (p *proof) alternative(e *edge, k knowledge, a *Alternative) knowledge {
	var stopped knowledge
	for _, st := range a.Steps {
		ran := p.out(p.assumeExpr(k, st.When, true), st)
		if st.Stop != nil && !rulesOut(e, st.Stop) {
			stopped = meet(stopped, p.assumeExpr(ran, st.Stop, true))
		}
		ran = p.assumeExpr(ran, st.Stop, false)
		if st.When != nil {
			ran = meet(ran, p.assumeExpr(k, st.When, false))
		}
		k = ran
	}
	return meet(stopped, k)
}

// rulesOut says whether the guards of an edge contradict a stop condition.
func rulesOut(e *edge, stop *Expr) bool {
	facts := make(map[string]bool)
	note := func(x *Expr, holds bool) {
		if x != nil && x.code != nil && x.code.tree != nil {
			claims(x.code.tree, holds, facts, 0)
		}
	}
	note(e.when, true)
	for _, x := range e.negs {
		note(x, false)
	}
	if stop.code == nil || stop.code.tree == nil {
		return false
	}
	wanted := make(map[string]bool)
	claims(stop.code.tree, true, wanted, 0)
	for what, holds := range wanted {
		if is, ok := facts[what]; ok && is != holds {
			return true
		}
	}
	return false
}

// claims lists the conditions that follow from one, with whether they hold.
func claims(n ast.Node, holds bool, out map[string]bool, depth int) {
	if depth > maxDepth {
		return
	}
	switch x := n.(type) {
	case *ast.UnaryNode:
		if x.Operator == "!" || x.Operator == "not" {
			claims(x.Node, !holds, out, depth+1)
			return
		}
	case *ast.BinaryNode:
		and, or := x.Operator == "&&" || x.Operator == "and", x.Operator == "||" || x.Operator == "or"
		if and && holds || or && !holds {
			claims(x.Left, holds, out, depth+1)
			claims(x.Right, holds, out, depth+1)
			return
		}
		if x.Operator == "!=" {
			out[(&ast.BinaryNode{Operator: "==", Left: x.Left, Right: x.Right}).String()] = !holds
			return
		}
	}
	out[n.String()] = holds
}

// answered joins what the answers that stay in the state write.
func (p *proof) answered(e *edge, k knowledge) knowledge {
	var all knowledge
	for _, name := range p.c.cardsOf(e.from) {
		card := p.c.m.Cards[name]
		if card == nil || len(e.t.Card) > 0 && !slices.Contains(e.t.Card, name) {
			continue
		}
		for _, a := range card.Answers {
			if a.To == "" && a.Command == "" {
				all = meet(all, p.apply(k, &a.Writes, occasion{on: []string{OnAnswered}, cards: []string{name}}))
			}
		}
	}
	if all == nil {
		return k
	}
	return all
}

// effects runs those effects that the event of an edge is sure to cause; those that
// it may cause only take away.
func (p *proof) effects(e *edge, k knowledge, at occasion) knowledge {
	for _, x := range p.c.m.Effects {
		if len(e.on) == 0 || !overlap(x.On, e.on) || !p.mayFire(x, e.from) || len(x.Tool) > 0 && len(at.tools) > 0 && !overlap(x.Tool, at.tools) {
			continue
		}
		xat := occasion{on: e.on, tools: x.Tool, cards: x.Card, commands: x.Command}
		if len(at.tools) > 0 {
			xat.tools = at.tools
		}
		after := p.apply(p.assumeExpr(k, x.When, true), &x.Writes, xat)
		covered := func(filter, of []string) bool { return len(filter) == 0 || len(of) > 0 && subset(of, filter) }
		if x.When == nil && subset(e.on, x.On) && covered(x.Tool, at.tools) && covered(x.Card, at.cards) && covered(x.Command, at.commands) {
			k = after
		} else {
			k = meet(k, after)
		}
	}
	return k
}

// checkBound reports bound arguments that a tool demands and that may be unset.
func (p *proof) checkBound(s *State, seen map[Pos]bool) {
	if len(p.c.tools) == 0 {
		return
	}
	p.fuel = maxUnfolds
	hold := p.held[s]
	for _, o := range s.Offers {
		b, tt := p.c.m.Tools[o.Tool], p.c.tools[o.Tool]
		if b == nil {
			continue
		}
		k := p.assumeExpr(hold, o.When, true)
		for _, a := range b.In {
			if slices.Contains(tt.Required, a.Name) && !p.exprSet(k, a.Expr) && !seen[a.Pos] {
				seen[a.Pos] = true
				p.c.reportPath("bound-not-proved", a.Pos, wayTo(p.by, p.by[s]), fmt.Sprintf("let state %s require it, or offer the tool only `when` it is set", s.Name),
					"tool %s demands %s, but %s may be unset in state %s", o.Tool, a.Name, a.Expr.Source, s.Name)
			}
		}
	}
}
