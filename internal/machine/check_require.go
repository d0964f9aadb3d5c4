package machine

import (
	"fmt"
	"slices"
	"strings"
)

// checkEdge reports the requirements of a state that one way into it does not prove.
func (p *proof) checkEdge(e *edge, seen map[string]bool) {
	k := p.transfer(e)
	for _, r := range e.to.Requires {
		place := e.pos.String() + " " + r.Source
		if p.proves(k, r) || seen[place] {
			continue
		}
		seen[place] = true
		code, why, repair := p.explainMissing(e, r)
		p.c.reportPath(code, e.pos, wayTo(p.by, e), repair, "state %s requires %s, which %s does not prove: %s", e.to.Name, r.Source, e, why)
	}
}

// explainMissing says why an edge does not prove a requirement, and what would.
func (p *proof) explainMissing(e *edge, r Predicate) (code, why, repair string) {
	guard := fmt.Sprintf("guard it with `%s`", guardText(r))
	step := e.from != nil && (e.from.Kind == StepK || e.from.Kind == Final)
	switch {
	case e.via == viaSkip:
		return "skip-not-proved", "a skip gives nothing", "skip to a state that needs less"
	case slices.ContainsFunc(e.writes, func(w *Writes) bool { return slices.Contains(w.Drop, r.Fact) }):
		return "requires-dropped", "it drops " + r.Fact, "do not drop it, or lead to a state that does not need it"
	case step && slices.Contains(e.on, OnFailed):
		return "requires-failure", "after a failure the step has given nothing", "set it in this transition, or lead to a state that does not need it"
	case r.Len > 0 && p.shortLength(e, r):
		return "requires-min", "the guard lets through a shorter list", fmt.Sprintf("raise the `min` of the setting, or compare with %d", r.Len)
	case looksAt(e.when, r.Fact):
		return "requires-guard", "its guard does not make it sure", guard
	case step && p.stepOutputs(e.from, r.Fact):
		if p.isBehindEarlyExit(e.from, r.Fact) {
			return "requires-early-exit", "an early exit skips the step that gives it", "lead the early exit elsewhere by a guard before this transition"
		}
		return "requires-out", "not every way through the step gives it", "add it to every `out`, and end `run` with an alternative without `when`"
	case step && !p.provedByAnotherEdge(e, r):
		return "requires-out", "the step before does not give it", fmt.Sprintf("add %s to `out` of state %s", r.Fact, e.from.Name)
	}
	return "requires-other-way", "nothing on this way makes it sure", guard + ", or set it on the way"
}

func guardText(r Predicate) string {
	if r.IsTrue || r.Len > 0 {
		return r.Source
	}
	return r.Fact + " != nil"
}

// looksAt reports whether a guard looks at a fact, directly or through a computed one.
func looksAt(x *Expr, fact string) bool {
	if x == nil || x.code == nil {
		return false
	}
	seen := make(map[*Fact]bool)
	var look func(p *program) bool
	look = func(p *program) bool {
		for _, f := range p.deps {
			if f.Name == fact {
				return true
			}
			if f.Is != nil && f.Is.code != nil && !seen[f] {
				seen[f] = true
				if look(f.Is.code) {
					return true
				}
			}
		}
		return false
	}
	return look(x.code)
}

// shortLength reports whether the guard asks for a length, only not for enough.
func (p *proof) shortLength(e *edge, r Predicate) bool {
	if e.when == nil || e.when.code == nil || e.when.code.tree == nil {
		return false
	}
	for _, ref := range e.when.code.refs {
		if name, ok := strings.CutPrefix(ref.name, "settings."); ok {
			for _, s := range p.c.m.Settings {
				if s.Name == name && isNumeric(s.Type) && (s.Min == nil || *s.Min < float64(r.Len)) && looksAt(e.when, r.Fact) {
					return true
				}
			}
		}
	}
	return false
}

func (p *proof) stepOutputs(s *State, fact string) bool {
	for _, a := range s.Run {
		for _, st := range a.Steps {
			if slices.ContainsFunc(st.Out, func(o Out) bool { return o.Fact == fact }) {
				return true
			}
		}
	}
	return false
}

// isBehindEarlyExit reports whether an early exit comes before the step that gives
// a fact.
func (p *proof) isBehindEarlyExit(s *State, fact string) bool {
	for _, a := range s.Run {
		stop := false
		for _, st := range a.Steps {
			if stop && slices.ContainsFunc(st.Out, func(o Out) bool { return o.Fact == fact }) {
				return true
			}
			stop = stop || st.Stop != nil
		}
	}
	return false
}

// provedByAnotherEdge reports whether another way into the state proves the
// requirement.
func (p *proof) provedByAnotherEdge(e *edge, r Predicate) bool {
	for _, other := range p.g.in[e.to] {
		if other.t != e.t && (other.from == nil || p.in[other.from] != nil) && p.proves(p.transfer(other), r) {
			return true
		}
	}
	return false
}

// checkInside reports requirements that can be lost while in the state, and those
// that a new turn takes away where the thread stands.
func (p *proof) checkInside(s *State) {
	if len(s.Requires) == 0 {
		return
	}
	p.fuel = maxUnfolds
	entry, hold := p.atEntry(s), p.held[s]
	for _, r := range s.Requires {
		if !p.proves(hold, r) {
			pos, what := s.Pos, "something"
			for _, x := range p.insideEvents(s) {
				if !p.proves(p.afterWrites(p.assumeExpr(entry, x.when, true), x.writes, x.at), r) {
					pos, what = x.pos, x.what
					break
				}
			}
			p.c.reportPath("requires-inside", pos, wayTo(p.by, p.by[s]), "narrow it with `state:`, or leave the state with the same event",
				"state %s requires %s, but %s can take it away while in the state", s.Name, r.Source, what)
			continue
		}
		if p.c.m.Start.Stands && !p.proves(p.afterNewTurn(hold), r) {
			p.c.reportPath("requires-other-way", s.Pos, wayTo(p.by, p.by[s]), "keep the fact `for: thread`",
				"state %s requires %s, which a new turn that begins where the thread stands does not have", s.Name, r.Source)
		}
	}
}
