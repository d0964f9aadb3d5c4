package machine

import (
	"fmt"
	"slices"
)

// A proof is the forward analysis: what is known on entry to each state, met over
// all ways in, to the fixed point.
type proof struct {
	*prover
	g     *flow
	by    map[*State]*edge
	begin knowledge // where a turn starts
	in    map[*State]knowledge
	held  map[*State]knowledge     // what hold gave last
	may   map[*State][]insideEvent // what insides gave
	off   map[*edge]bool           // ways that were found wanting, left out of the second run
}

// prove reports every requirement and every bound argument that is not proved.
func (c *checker) prove(g *flow, by map[*State]*edge) {
	if len(c.m.Facts) == 0 {
		return
	}
	p := &proof{prover: c.prover(), g: g, by: by, off: make(map[*edge]bool), may: make(map[*State][]insideEvent)}
	p.findFixedPoint()
	if wanting := p.unprovedEdges(); len(wanting) > 0 {
		// What is lost on a way that is wrong is missing everywhere behind it. A second
		// run without these ways tells the causes from what only follows from them.
		all := *p
		for _, e := range wanting {
			p.off[e] = true
		}
		p.findFixedPoint()
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

// unprovedEdges lists the ways into states that do not prove what the state
// requires.
func (p *proof) unprovedEdges() []*edge {
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

// findFixedPoint goes on until nothing changes. What is known only shrinks, so it
// ends.
func (p *proof) findFixedPoint() {
	p.begin = p.prover.initialKnowledge()
	p.in = make(map[*State]knowledge, len(p.c.m.States))
	p.held = make(map[*State]knowledge, len(p.c.m.States))
	var queue []*State
	queued := make(map[*State]bool)
	merge := func(s *State, k knowledge) {
		now := commonKnowledge(p.in[s], k)
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
		hold := p.whileInside(s)
		p.held[s] = hold
		for _, e := range p.g.out[s] {
			if !p.off[e] {
				merge(e.to, p.transferFrom(e, hold))
			}
		}
		rested := p.afterNewTurn(hold)
		if p.c.m.Start.Stands {
			merge(s, rested)
		} else if now := commonKnowledge(p.begin, rested); !slices.Equal(now, p.begin) {
			p.begin = now
			starts()
		}
	}
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
