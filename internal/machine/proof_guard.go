package machine

import (
	"math"
	"strings"

	"github.com/expr-lang/expr/ast"
)

// assumeExpr adds what follows from a guard being true or false.
func (p *prover) assumeExpr(k knowledge, x *Expr, holds bool) knowledge {
	if x == nil || x.code == nil || x.code.tree == nil {
		return k
	}
	return p.assume(k, x.code.tree, holds)
}

// assume returns a copy of k with what follows from a condition being true or false.
func (p *prover) assume(k knowledge, n ast.Node, holds bool) knowledge {
	out := k.clone()
	p.suppose(out, n, holds, 0)
	return out
}

// suppose adds to k in place.
func (p *prover) suppose(k knowledge, n ast.Node, holds bool, depth int) {
	if depth > maxDepth {
		return
	}
	switch n := n.(type) {
	case *ast.ChainNode:
		p.suppose(k, n.Node, holds, depth+1)
	case *ast.UnaryNode:
		if n.Operator == "!" || n.Operator == "not" {
			p.suppose(k, n.Node, !holds, depth+1)
		}
	case *ast.IdentifierNode:
		f := p.c.m.facts[n.Value]
		if f == nil {
			return
		}
		if holds {
			p.learn(k, f, factKnowledge{set: true, yes: true})
		}
		if p.mayUnfold(f) && f.Is.code.tree != nil {
			p.suppose(k, f.Is.code.tree, holds, depth+1)
		}
	case *ast.MemberNode:
		if holds {
			p.supposeSet(k, n)
		}
	case *ast.BuiltinNode:
		if holds && (n.Name == "any" || n.Name == "one") && len(n.Arguments) > 0 {
			p.supposeLen(k, n.Arguments[0], 1)
		}
	case *ast.BinaryNode:
		p.supposeBinary(k, n, holds, depth)
	}
}

func (p *prover) supposeBinary(k knowledge, n *ast.BinaryNode, holds bool, depth int) {
	switch n.Operator {
	case "&&", "and", "||", "or":
		if (n.Operator == "&&" || n.Operator == "and") == holds {
			p.suppose(k, n.Left, holds, depth+1)
			p.suppose(k, n.Right, holds, depth+1)
			return
		}
		a, b := k.clone(), k.clone()
		p.suppose(a, n.Left, holds, depth+1)
		p.suppose(b, n.Right, holds, depth+1)
		copy(k, commonKnowledge(a, b))
		return
	case "in":
		if holds {
			p.supposeSet(k, n.Left)
			p.supposeLen(k, n.Right, 1)
		}
		return
	}
	left, right, op := n.Left, n.Right, n.Operator
	if _, ok := lenArg(right); ok || isWrittenOut(left) && !isWrittenOut(right) {
		left, right = right, left
		if turned, ok := map[string]string{"<": ">", ">": "<", "<=": ">=", ">=": "<="}[op]; ok {
			op = turned
		}
	}
	if x, ok := lenArg(left); ok {
		p.supposeLength(k, x, op, right, holds)
		return
	}
	if !holds {
		op = map[string]string{"==": "!=", "!=": "=="}[op] // the others are false with unset too
	}
	switch op {
	case "==":
		if _, isNil := right.(*ast.NilNode); isNil {
			return
		}
		if b, ok := right.(*ast.BoolNode); ok {
			p.supposeSet(k, left)
			p.suppose(k, left, b.Value, depth+1)
			return
		}
		if p.nodeSet(k, right, depth+1) {
			p.supposeSet(k, left)
		}
		if p.nodeSet(k, left, depth+1) {
			p.supposeSet(k, right)
		}
	case "!=":
		if _, isNil := right.(*ast.NilNode); isNil {
			p.supposeSet(k, left)
		}
	case "<", "<=", ">", ">=", "contains", "startsWith", "endsWith", "matches":
		p.supposeSet(k, left)
		p.supposeSet(k, right)
	}
}

// supposeSet notes that an expression is not null, so neither is the fact under it.
func (p *prover) supposeSet(k knowledge, n ast.Node) {
	root, _, nested := strings.Cut(memberPath(n), ".")
	f := p.c.m.facts[root]
	if f == nil {
		return
	}
	p.learn(k, f, factKnowledge{set: true})
	if f.Is == nil || f.Is.code == nil || nested {
		return
	}
	// A fact that is another under a new name.
	p.supposeSet(k, f.Is.code.tree)
}

func (p *prover) supposeLen(k knowledge, n ast.Node, least int) {
	id, ok := n.(*ast.IdentifierNode)
	if !ok || least < 1 {
		return
	}
	f := p.c.m.facts[id.Value]
	if f == nil {
		return
	}
	p.learn(k, f, factKnowledge{set: true, n: int32(min(least, math.MaxInt32))})
	if f.Is != nil && f.Is.code != nil {
		p.supposeLen(k, f.Is.code.tree, least)
	}
}

func (p *prover) supposeLength(k knowledge, x ast.Node, op string, right ast.Node, holds bool) {
	if !holds {
		op = map[string]string{"==": "!=", "!=": "==", "<": ">=", "<=": ">", ">": "<=", ">=": "<"}[op]
	}
	n, ok := p.lowerBound(right)
	if !ok {
		return
	}
	switch op {
	case ">=":
		p.supposeLen(k, x, n)
	case ">":
		p.supposeLen(k, x, n+1)
	case "==":
		if _, exact := right.(*ast.IntegerNode); exact {
			p.supposeLen(k, x, n)
		}
	case "!=":
		if lit, exact := right.(*ast.IntegerNode); exact && lit.Value == 0 {
			p.supposeLen(k, x, 1)
		}
	}
}

// afterWrites carries out writes on a copy of k.
func (p *prover) afterWrites(k knowledge, w *Writes, at occasion) knowledge {
	old := p.at
	p.at = at
	defer func() { p.at = old }()
	out := k.clone()
	for _, name := range w.Drop {
		if f := p.c.m.facts[name]; f != nil && f.Is == nil {
			p.forget(out, f, byDefault(f))
		}
	}
	for _, a := range w.Keep {
		if f := p.fact(a.Name); f != nil {
			now := out[p.index[f]]
			now.n = 0
			p.forget(out, f, now)
		}
	}
	for _, a := range w.Set {
		if f := p.fact(a.Name); f != nil {
			p.forget(out, f, p.afterSet(out, f, a))
		}
	}
	for _, a := range w.Append {
		if f := p.fact(a.Name); f != nil && !strings.Contains(a.Name, ".") {
			now := out[p.index[f]]
			if p.exprSet(out, a.Expr) {
				now.set = true
				if now.n++; f.Max > 0 {
					now.n = min(now.n, int32(min(f.Max, math.MaxInt32)))
				}
			}
			p.forget(out, f, now)
		}
	}
	for _, a := range w.Increment {
		if f := p.fact(a.Name); f != nil {
			p.forget(out, f, factKnowledge{set: true})
		}
	}
	return out
}

func (p *prover) fact(path string) *Fact {
	name, _, _ := strings.Cut(path, ".")
	f := p.c.m.facts[name]
	if f == nil || f.Is != nil {
		return nil
	}
	return f
}

// afterSet returns what is known of a fact after `set`.
func (p *prover) afterSet(k knowledge, f *Fact, a Assign) factKnowledge {
	if strings.Contains(a.Name, ".") {
		return factKnowledge{set: true} // a field of a record: the record is there
	}
	if a.Expr.code == nil || !p.exprSet(k, a.Expr) {
		return factKnowledge{}
	}
	now := factKnowledge{set: true}
	if a.Expr.code.tree == nil {
		now.yes = a.Expr.code.lit == true
		return now
	}
	now.yes = f.Type.Kind == Bool && p.nodeTrue(k, a.Expr.code.tree, 0)
	now.n = int32(min(p.minLength(k, a.Expr.code.tree, 0), math.MaxInt32))
	if f.Max > 0 {
		now.n = min(now.n, int32(min(f.Max, math.MaxInt32)))
	}
	return now
}
