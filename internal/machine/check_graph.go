package machine

import (
	"slices"
	"strings"

	"github.com/expr-lang/expr/ast"
)

// checkGraph checks the machine as a graph, and then proves its requirements.
func (c *checker) checkGraph() {
	g := c.flow()
	by := g.firstEdges()
	c.checkStartChoices()
	for _, s := range c.m.States {
		if by[s] == nil {
			c.report("unreachable-state", s.Pos, "lead a transition, a command or `start` there, or take it away", "state %s cannot be reached", s.Name)
			continue
		}
		c.checkExits(g, s)
		c.checkDeadTransitions(g, s)
		c.checkProgress(g, s)
		c.checkMeantStates(g, s)
	}
	c.checkDeadShared(g, by)
	c.checkCycles(g, by)
	c.checkInstantCycles(g, by)
	c.prove(g, by)
}

func (c *checker) checkStartChoices() {
	list := c.m.Start.Choices
	for i, ch := range list {
		if ch.When == nil && i < len(list)-1 {
			for _, dead := range list[i+1:] {
				c.report("start-dead-choice", dead.Pos, "move it before the unguarded one", "the choice of %s lies behind an unguarded one and is never taken", dead.To)
			}
			return
		}
	}
	if !c.m.Start.Stands && (len(list) == 0 || list[len(list)-1].When != nil) {
		c.report("start-no-last", c.m.Start.Pos, "end the list with a choice without `when`", "`start` has no last choice that always holds")
	}
}

// checkExits checks that a state can be left, or is meant not to be.
func (c *checker) checkExits(g *flow, s *State) {
	var leaving *edge
	for _, e := range g.out[s] {
		if e.via == viaGo || e.via == viaAnswer && !s.Terminal {
			leaving = e
			break
		}
	}
	switch {
	case s.Kind == Final:
		if len(s.Go) > 0 {
			c.report("terminal-way-out", s.Go[0].Pos, "take the transition away, or make the state a step", "state %s is final, but a transition leaves it", s.Name)
		}
	case s.Terminal && leaving != nil:
		c.report("terminal-way-out", leaving.pos, "take `terminal` or the transition away", "state %s is terminal, but %s leaves it", s.Name, leaving)
	case !s.Terminal && leaving == nil:
		repair := "add `go:`"
		if s.Kind == Agent {
			repair = "add `go:`, or `terminal: true` where the state is meant to be the last"
		}
		c.report("no-way-out", s.Pos, repair, "state %s has no way out", s.Name)
	}
}

// checkDeadTransitions reports own transitions behind an unguarded one of the same event.
func (c *checker) checkDeadTransitions(g *flow, s *State) {
	for j, t := range s.Go {
		for _, before := range s.Go[:j] {
			if before.When == nil && firesBefore(before, t, s) {
				c.report("dead-transition", t.Pos, "move it before the unguarded one, or guard that one", "state %s: this transition lies behind an unguarded one of the same event and never fires", s.Name)
				break
			}
		}
	}
}

// checkDeadShared reports shared transitions that fire in none of their states.
func (c *checker) checkDeadShared(g *flow, by map[*State]*edge) {
	alive := make(map[*Transition]bool)
	tried := make(map[*Transition]bool)
	for _, s := range c.m.States {
		if by[s] == nil || s.Kind == Final {
			continue
		}
		list := g.moves[s]
		for j := len(s.Go); j < len(list); j++ {
			t := list[j]
			tried[t] = true
			if alive[t] {
				continue
			}
			alive[t] = !slices.ContainsFunc(list[:j], func(b *Transition) bool { return b.When == nil && firesBefore(b, t, s) })
		}
	}
	for _, t := range c.m.Go {
		if tried[t] && !alive[t] {
			c.report("dead-transition", t.Pos, "move it before the unguarded one, or guard that one", "this shared transition lies behind unguarded ones of the same event and never fires")
		}
	}
}

// checkProgress checks that steps, asks and passes always go on, also after a
// failure.
func (c *checker) checkProgress(g *flow, s *State) {
	if s.Kind != StepK && s.Kind != Pass && s.Kind != Ask {
		return
	}
	list := g.moves[s]
	if len(list) == 0 || s.Kind == Ask && c.answersLeave(s) {
		return
	}
	var last *Transition
	for _, t := range list {
		if slices.Equal(t.To, []string{s.Name}) {
			c.report("stuck", t.Pos, "lead to another state", "state %s is stuck where this transition is taken: it leads to the state itself, and staying is no move", s.Name)
			return
		}
		on := t.triggers(s)
		own := on == nil && s.Kind == Pass || s.Kind == StepK && slices.Contains(on, OnDone) || s.Kind == Ask && slices.Contains(on, OnAnswered)
		if own && len(t.Tool)+len(t.Card)+len(t.Command) == 0 {
			last = t
			if t.When == nil {
				break
			}
		}
	}
	switch {
	case last == nil:
		c.report("stuck", s.Pos, "end `go` with a transition without `when`", "state %s is stuck when it is done: no transition leads on", s.Name)
	case last.When != nil:
		c.report("stuck", last.Pos, "end `go` with a transition without `when`", "state %s is stuck where %q is false: its last transition is guarded", s.Name, last.When.Source)
	}
	if s.Kind != StepK || len(s.Run) == 0 {
		return
	}
	fails := slices.ContainsFunc(list, func(t *Transition) bool {
		return slices.Contains(t.On, OnFailed) && t.When == nil && len(t.Tool) == 0
	})
	if !fails {
		c.report("failure-nowhere", s.Pos, "add `{on: failed, to: ...}`", "a failure of step %s leads nowhere", s.Name)
	}
}

// answersLeave reports whether every answer of an ask leads somewhere by itself.
func (c *checker) answersLeave(s *State) bool {
	card := c.m.Cards[s.Card]
	return card != nil && !slices.ContainsFunc(card.Answers, func(a *Answer) bool { return a.To == "" && a.Command == "" })
}

// checkMeantStates checks that a call of each offered tool can move where it means.
func (c *checker) checkMeantStates(g *flow, s *State) {
	for _, o := range s.Offers {
		to, means := c.m.Calls[o.Tool]
		if !means || to == s.Name {
			continue
		}
		if !slices.ContainsFunc(g.moves[s], func(t *Transition) bool {
			return slices.Contains(t.On, OnCall) && slices.Contains(t.To, to) && matches(t.Tool, o.Tool)
		}) {
			c.report("call-no-edge", o.Pos, "add `{on: call, to: ["+to+"]}`, or do not offer the tool here", "state %s offers %s, which means %s, but no `on: call` transition leads there", s.Name, o.Tool, to)
		}
	}
}

// checkCycles reports circles that no model, no person and no count of visits bounds.
func (c *checker) checkCycles(g *flow, by map[*State]*edge) {
	free := make(map[*State][]*edge)
	for s, list := range g.out {
		for _, e := range list {
			if by[s] != nil && e.via == viaGo && runsFree(e) {
				free[s] = append(free[s], e)
			}
		}
	}
	const busy, done = 1, 2
	mark := make(map[*State]int)
	type visit struct {
		s *State
		i int
	}
	for _, root := range c.m.States {
		if mark[root] != 0 {
			continue
		}
		stack, way := []visit{{s: root}}, []*edge{}
		mark[root] = busy
		for len(stack) > 0 {
			top := &stack[len(stack)-1]
			if top.i == len(free[top.s]) {
				mark[top.s] = done
				stack = stack[:len(stack)-1]
				if len(way) > 0 {
					way = way[:len(way)-1]
				}
				continue
			}
			e := free[top.s][top.i]
			top.i++
			switch mark[e.to] {
			case 0:
				mark[e.to] = busy
				stack = append(stack, visit{s: e.to})
				way = append(way, e)
			case busy:
				c.reportCycle(e, way)
			}
		}
	}
}

func (c *checker) reportCycle(last *edge, way []*edge) {
	var names []string
	at := len(way)
	for at > 0 && way[at-1].to != last.to {
		at--
	}
	for _, e := range way[at:] {
		names = append(names, e.String())
	}
	names = append(names, last.String())
	c.reportPath("unbounded-cycle", last.pos, names, `guard one of its transitions with a count, as in 'visits("`+last.to.Name+`") < 3'`,
		"the circle through %s has no bound: no model, no person, no count of visits", last.to.Name)
}

// runsFree reports whether an edge is followed without a model, a person or a bound.
func runsFree(e *edge) bool {
	switch e.from.Kind {
	case StepK, Pass:
	case Agent:
		if e.on != nil || e.when != nil {
			return false
		}
	default:
		return false
	}
	return !countsVisits(e)
}

// countsVisits reports whether the guards of an edge bound how often it is followed.
func countsVisits(e *edge) bool {
	if e.when != nil && e.when.code != nil && bounded(e.when.code.tree, true) {
		return true
	}
	return slices.ContainsFunc(e.negs, func(x *Expr) bool { return x.code != nil && bounded(x.code.tree, false) })
}

// bounded reports whether a guard being true (or false) bounds a count of visits.
func bounded(n ast.Node, holds bool) bool {
	switch n := n.(type) {
	case *ast.UnaryNode:
		return (n.Operator == "!" || n.Operator == "not") && bounded(n.Node, !holds)
	case *ast.BinaryNode:
		switch n.Operator {
		case "&&", "and":
			return holds && (bounded(n.Left, true) || bounded(n.Right, true))
		case "||", "or":
			return !holds && (bounded(n.Left, false) || bounded(n.Right, false))
		}
		op := n.Operator
		if isVisits(n.Right) {
			op = strings.NewReplacer("<", ">", ">", "<").Replace(op)
		} else if !isVisits(n.Left) {
			return false
		}
		if holds {
			return op == "<" || op == "<=" || op == "=="
		}
		return op == ">" || op == ">=" || op == "=="
	}
	return false
}

func isVisits(n ast.Node) bool {
	call, ok := n.(*ast.CallNode)
	if !ok {
		return false
	}
	id, ok := call.Callee.(*ast.IdentifierNode)
	return ok && id.Value == "visits"
}
