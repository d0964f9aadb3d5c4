package machine

import (
	"slices"
	"strings"

	"github.com/expr-lang/expr/ast"
)

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
		k = p.afterDiscover(k)
	case viaGo:
		k = p.afterWork(e, k)
		k = p.afterEffects(e, k, at)
	}
	p.at = at
	k = p.assumeExpr(k, e.when, true)
	for _, x := range e.negs {
		k = p.assumeExpr(k, x, false)
	}
	p.at = occasion{}
	for _, w := range e.writes {
		k = p.afterWrites(k, w, at)
	}
	if e.via == viaCommand {
		k = commonKnowledge(k, p.afterNewTurn(k)) // the state is entered first, then the turn's facts fall back
	}
	return k
}

// afterDiscover returns what is known after discover, which may have written or
// failed.
func (p *proof) afterDiscover(k knowledge) knowledge {
	for _, s := range p.c.m.Discover {
		k = commonKnowledge(k, p.afterOutputs(k, s))
	}
	for _, e := range p.c.m.Effects {
		if slices.Contains(e.On, OnTurn) {
			k = commonKnowledge(k, p.afterWrites(k, &e.Writes, occasion{on: e.On}))
		}
	}
	return k
}

// afterOutputs returns what is known after a step wrote its outputs.
func (p *proof) afterOutputs(k knowledge, s *Step) knowledge {
	out := k.clone()
	for _, o := range s.Out {
		f := p.fact(o.Fact)
		if f == nil {
			continue
		}
		if strings.Contains(o.Fact, ".") {
			p.forget(out, f, factKnowledge{set: true})
			continue
		}
		first, _, _ := strings.Cut(o.From, ".")
		tt, typed := p.c.tools[s.Tool]
		p.forget(out, f, factKnowledge{set: !typed || tt.Always == nil || slices.Contains(tt.Always, first)})
	}
	return out
}

// afterWork returns what is known after the work of a state, before its transitions
// are looked at.
func (p *proof) afterWork(e *edge, k knowledge) knowledge {
	s := e.from
	switch {
	case len(s.Run) > 0 && slices.Equal(e.on, []string{OnDone}):
		return p.afterAlternatives(e, k)
	case len(s.Run) > 0:
		for _, a := range s.Run {
			for _, st := range a.Steps {
				k = commonKnowledge(k, p.afterOutputs(k, st))
			}
		}
	case slices.Equal(e.on, []string{OnAnswered}):
		return p.afterAnswers(e, k)
	}
	return k
}

// afterAlternatives joins what is known after each alternative of a step that came
// to its end.
func (p *proof) afterAlternatives(e *edge, k knowledge) knowledge {
	var all knowledge
	rest := k
	for _, a := range e.from.Run {
		all = commonKnowledge(all, p.afterAlternative(e, p.assumeExpr(rest, a.When, true), a))
		if a.When == nil {
			return all
		}
		rest = p.assumeExpr(rest, a.When, false)
	}
	return commonKnowledge(all, rest) // none holds: nothing runs
}

func (p *proof) afterAlternative(e *edge, k knowledge, a *Alternative) knowledge {
	var stopped knowledge
	for _, st := range a.Steps {
		ran := p.afterOutputs(p.assumeExpr(k, st.When, true), st)
		if st.Stop != nil && !rulesOut(e, st.Stop) {
			stopped = commonKnowledge(stopped, p.assumeExpr(ran, st.Stop, true))
		}
		ran = p.assumeExpr(ran, st.Stop, false)
		if st.When != nil {
			ran = commonKnowledge(ran, p.assumeExpr(k, st.When, false))
		}
		k = ran
	}
	return commonKnowledge(stopped, k)
}

// rulesOut reports whether the guards of an edge contradict a stop condition.
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

// afterAnswers joins what is known after each answer that stays in the state.
func (p *proof) afterAnswers(e *edge, k knowledge) knowledge {
	var all knowledge
	for _, name := range p.c.cardsRaisedIn(e.from) {
		card := p.c.m.Cards[name]
		if card == nil || len(e.t.Card) > 0 && !slices.Contains(e.t.Card, name) {
			continue
		}
		for _, a := range card.Answers {
			if a.To == "" && a.Command == "" {
				all = commonKnowledge(all, p.afterWrites(k, &a.Writes, occasion{on: []string{OnAnswered}, cards: []string{name}}))
			}
		}
	}
	if all == nil {
		return k
	}
	return all
}

// afterEffects runs those effects that the event of an edge is sure to cause; those
// that it may cause only take knowledge away.
func (p *proof) afterEffects(e *edge, k knowledge, at occasion) knowledge {
	for _, x := range p.c.m.Effects {
		if len(e.on) == 0 || !overlaps(x.On, e.on) || !p.mayFire(x, e.from) || len(x.Tool) > 0 && len(at.tools) > 0 && !overlaps(x.Tool, at.tools) {
			continue
		}
		xat := occasion{on: e.on, tools: x.Tool, cards: x.Card, commands: x.Command}
		if len(at.tools) > 0 {
			xat.tools = at.tools
		}
		after := p.afterWrites(p.assumeExpr(k, x.When, true), &x.Writes, xat)
		covered := func(filter, of []string) bool { return len(filter) == 0 || len(of) > 0 && isSubset(of, filter) }
		if x.When == nil && isSubset(e.on, x.On) && covered(x.Tool, at.tools) && covered(x.Card, at.cards) && covered(x.Command, at.commands) {
			k = after
		} else {
			k = commonKnowledge(k, after)
		}
	}
	return k
}
