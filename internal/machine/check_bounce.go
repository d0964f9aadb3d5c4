package machine

import (
	"slices"
	"strings"
)

// Bounds of the search for circles of agent states.
const (
	maxCircle  = 6      // states of a circle
	maxBounces = 20_000 // edges looked at
)

// An instantCycleFinder looks for circles of agent states that are left at once,
// before a model is called. Such a circle turns for ever where all its guards can
// hold together.
type instantCycleFinder struct {
	c     *checker
	next  map[*State][]*edge
	order map[*State]int
	steps int
}

func (c *checker) checkInstantCycles(g *flow, by map[*State]*edge) {
	b := &instantCycleFinder{c: c, next: make(map[*State][]*edge), order: make(map[*State]int, len(c.m.States))}
	for i, s := range c.m.States {
		b.order[s] = i
		for _, e := range g.out[s] {
			if by[s] != nil && e.via == viaGo && firesOnEntry(e) {
				b.next[s] = append(b.next[s], e)
			}
		}
	}
	for _, s := range c.m.States {
		if s.Kind == Agent && len(b.next[s]) > 0 {
			b.findCycle(s, s, nil, [][]claim{nil})
		}
	}
}

// firesOnEntry reports whether an edge is followed on entry, without a bound on visits.
func firesOnEntry(e *edge) bool {
	if e.from.Kind != Agent {
		return runsFree(e)
	}
	return e.on == nil && !countsVisits(e)
}

// findCycle follows edges from a state back to the root, and reports whether it
// found a circle. States before the root in the file are roots of their own.
func (b *instantCycleFinder) findCycle(root, at *State, way []*edge, held [][]claim) bool {
	for _, e := range b.next[at] {
		if b.steps++; b.steps > maxBounces || len(way) >= maxCircle {
			return false
		}
		if b.order[e.to] < b.order[root] || slices.ContainsFunc(way, func(w *edge) bool { return w.from == e.to && e.to != root }) {
			continue
		}
		now := b.addGuards(held, e)
		if len(now) == 0 {
			continue
		}
		next := append(slices.Clone(way), e)
		if e.to != root {
			if b.findCycle(root, e.to, next, now) {
				return true
			}
			continue
		}
		if !writesGuardFact(next) {
			b.c.reportCycle(e, next[:len(next)-1])
			return true
		}
	}
	return false
}

// addGuards adds the guards of an edge to the cases that hold so far. No case is
// left where they contradict each other.
func (b *instantCycleFinder) addGuards(held [][]claim, e *edge) [][]claim {
	add := func(x *Expr, holds bool) {
		if x == nil || x.code == nil || x.code.tree == nil {
			return
		}
		b.c.unfolds = 0
		cases := b.c.casesOf(x.code.tree, holds, 0)
		if cases == nil || len(cases)*len(held) > maxCases {
			return
		}
		var out [][]claim
		for _, h := range held {
			for _, k := range cases {
				if both := slices.Concat(h, k); b.c.canHoldTogether(both) {
					out = append(out, both)
				}
			}
		}
		held = out
	}
	add(e.when, true)
	for _, x := range e.negs {
		add(x, false)
	}
	return held
}

// writesGuardFact reports whether something on a circle writes a fact that its guards look at.
func writesGuardFact(way []*edge) bool {
	for _, e := range way {
		for _, w := range e.writes {
			names := slices.Clone(w.Drop)
			for _, list := range [][]Assign{w.Keep, w.Set, w.Append, w.Increment} {
				for _, a := range list {
					name, _, _ := strings.Cut(a.Name, ".")
					names = append(names, name)
				}
			}
			for _, other := range way {
				if slices.ContainsFunc(names, func(n string) bool { return looksAt(other.when, n) }) {
					return true
				}
			}
		}
	}
	return false
}
