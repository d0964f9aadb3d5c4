package machine

import (
	"slices"
	"strings"

	"github.com/expr-lang/expr/ast"
)

// PossibleStates returns the states that a thread can come to under these settings, in
// the order of the definition. It follows every way whose guards the settings alone do
// not rule out.
func (m *Machine) PossibleStates(settings map[string]any) []string {
	c := m.checker(nil)
	k := settingsOnly{m, settings, c.used}
	g := c.flow()
	reached := map[*State]bool{}
	var queue []*State
	visit := func(edges []*edge) {
		for _, e := range edges {
			if !reached[e.to] && k.mayHappen(e) {
				reached[e.to] = true
				queue = append(queue, e.to)
			}
		}
	}
	for visit(g.start); len(queue) > 0; {
		s := queue[0]
		queue = queue[1:]
		visit(g.out[s])
	}
	var out []string
	for _, s := range m.States {
		if reached[s] {
			out = append(out, s.Name)
		}
	}
	return out
}

// A settingsOnly judges guards by the settings alone.
type settingsOnly struct {
	m        *Machine
	settings map[string]any
	named    map[string]bool // tools that the definition names; one found at run time has no such name
}

// A verdict is what settings say of a guard.
type verdict int

const (
	depends verdict = iota // on more than the settings
	always
	never
)

func (v verdict) not() verdict {
	switch v {
	case always:
		return never
	case never:
		return always
	}
	return depends
}

func verdictOf(holds bool) verdict {
	if holds {
		return always
	}
	return never
}

// mayHappen reports whether the settings leave a way open: its own guard, those that must
// fail before it, and the tool that it waits for.
func (k settingsOnly) mayHappen(e *edge) bool {
	if k.judgeExpr(e.when) == never || slices.ContainsFunc(e.negs, func(x *Expr) bool { return k.judgeExpr(x) == always }) {
		return false
	}
	if e.t == nil || len(e.t.Tool) == 0 || e.from == nil || e.from.Kind != Agent {
		return true
	}
	return slices.ContainsFunc(e.from.Offers, func(o *Offer) bool {
		waitsFor := slices.Contains(e.t.Tool, o.Tool)
		if o.From != "" {
			waitsFor = slices.ContainsFunc(e.t.Tool, func(name string) bool { return !k.named[name] })
		}
		return waitsFor && k.judgeExpr(o.When) != never
	})
}

func (k settingsOnly) judgeExpr(x *Expr) verdict {
	switch {
	case x == nil:
		return always
	case x.code == nil || x.code.tree == nil:
		return depends
	}
	return k.judge(x.code.tree, 0)
}

// judge returns what the settings say of a condition.
func (k settingsOnly) judge(n ast.Node, depth int) verdict {
	if depth > maxDepth {
		return depends
	}
	switch n := n.(type) {
	case *ast.ChainNode:
		return k.judge(n.Node, depth+1)
	case *ast.UnaryNode:
		if n.Operator == "!" || n.Operator == "not" {
			return k.judge(n.Node, depth+1).not()
		}
	case *ast.IdentifierNode:
		if f := k.m.facts[n.Value]; f != nil && f.Is != nil && f.Is.code != nil && f.Is.code.tree != nil {
			return k.judge(f.Is.code.tree, depth+1)
		}
	case *ast.BoolNode, *ast.MemberNode:
		if v, known := k.value(n); known {
			return verdictOf(isTrue(v))
		}
	case *ast.BinaryNode:
		return k.judgeBinary(n, depth)
	}
	return depends
}

func (k settingsOnly) judgeBinary(n *ast.BinaryNode, depth int) verdict {
	switch n.Operator {
	case "&&", "and", "||", "or":
		decides := never // of "and": one that never holds
		if n.Operator == "||" || n.Operator == "or" {
			decides = always
		}
		a, b := k.judge(n.Left, depth+1), k.judge(n.Right, depth+1)
		switch {
		case a == decides || b == decides:
			return decides
		case a == decides.not() && b == decides.not():
			return a
		}
		return depends
	case "==", "!=":
		a, knownA := k.value(n.Left)
		b, knownB := k.value(n.Right)
		if knownA && knownB {
			return verdictOf((a == b) == (n.Operator == "=="))
		}
	}
	return depends
}

// value returns the value of a setting or of what is written out.
func (k settingsOnly) value(n ast.Node) (any, bool) {
	switch n := n.(type) {
	case *ast.BoolNode:
		return n.Value, true
	case *ast.StringNode:
		return n.Value, true
	case *ast.MemberNode:
		name, ok := strings.CutPrefix(memberPath(n), "settings.")
		v, set := k.settings[name]
		return v, ok && set
	}
	return nil, false
}
