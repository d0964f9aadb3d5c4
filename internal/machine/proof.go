package machine

import (
	"math"
	"slices"
	"strings"

	"github.com/expr-lang/expr/ast"
)

// A factKnowledge is what is proved about one fact.
type factKnowledge struct {
	set, yes bool
	n        int32 // a list of at least so many
}

// A knowledge is what is proved about all facts at a place, by the fact's number.
// nil means that the place was not reached yet.
type knowledge []factKnowledge

func (k knowledge) clone() knowledge { return slices.Clone(k) }

// commonKnowledge returns what both know. A place that was not reached knows everything.
func commonKnowledge(a, b knowledge) knowledge {
	if a == nil {
		return b.clone()
	}
	if b == nil {
		return a
	}
	out := make(knowledge, len(a))
	for i := range a {
		out[i] = factKnowledge{a[i].set && b[i].set, a[i].yes && b[i].yes, min(a[i].n, b[i].n)}
	}
	return out
}

// A prover follows what is known about facts through the machine.
type prover struct {
	c        *checker
	index    map[*Fact]int
	above    [][]int // computed facts that depend on a fact
	volatile []bool  // computed from event, turn or state: not worth remembering
	at       occasion
	fuel     int // computed facts that may still be unfolded; without it nothing is proved
}

func (c *checker) prover() *prover {
	p := &prover{c: c, index: make(map[*Fact]int, len(c.m.Facts)), above: make([][]int, len(c.m.Facts)), volatile: make([]bool, len(c.m.Facts))}
	for i, f := range c.m.Facts {
		p.index[f] = i
	}
	for i, f := range c.m.Facts {
		seen := make(map[*Fact]bool)
		var visit func(x *Fact)
		visit = func(x *Fact) {
			if seen[x] || x.Is == nil || x.Is.code == nil {
				return
			}
			seen[x] = true
			for _, r := range x.Is.code.refs {
				root, _, _ := strings.Cut(r.name, ".")
				p.volatile[i] = p.volatile[i] || root == "event" || root == "turn" || root == "state" || strings.HasPrefix(root, "visits(")
			}
			for _, d := range x.Is.code.deps {
				p.above[p.index[d]] = append(p.above[p.index[d]], i)
				visit(d)
			}
		}
		visit(f)
	}
	return p
}

// initialKnowledge returns what is known in a new thread.
func (p *prover) initialKnowledge() knowledge {
	k := make(knowledge, len(p.c.m.Facts))
	for i, f := range p.c.m.Facts {
		k[i] = byDefault(f)
	}
	return k
}

func byDefault(f *Fact) factKnowledge {
	if f.Is != nil || f.Default == nil {
		return factKnowledge{}
	}
	out := factKnowledge{set: true, yes: f.Default == true}
	if list, ok := f.Default.([]any); ok {
		out.n = int32(min(len(list), math.MaxInt32))
	}
	return out
}

// afterNewTurn returns what is still known when a new turn begins.
func (p *prover) afterNewTurn(k knowledge) knowledge {
	out := k.clone()
	for i, f := range p.c.m.Facts {
		if f.Turn {
			out[i] = byDefault(f)
		}
		if f.Is != nil {
			out[i] = factKnowledge{}
		}
	}
	return out
}

// learn notes something about a fact.
func (p *prover) learn(k knowledge, f *Fact, what factKnowledge) {
	i := p.index[f]
	if p.volatile[i] {
		return
	}
	k[i] = factKnowledge{k[i].set || what.set || what.yes || what.n > 0, k[i].yes || what.yes, max(k[i].n, what.n)}
}

// forget notes that a fact was written; what is computed from it is open again.
func (p *prover) forget(k knowledge, f *Fact, now factKnowledge) {
	i := p.index[f]
	k[i] = now
	for _, j := range p.above[i] {
		k[j] = factKnowledge{}
	}
}

// proves reports whether a requirement is known to hold.
func (p *prover) proves(k knowledge, r Predicate) bool {
	f := p.c.m.facts[r.Fact]
	if f == nil {
		return true // reported elsewhere
	}
	switch {
	case r.IsTrue:
		return p.isTrue(k, f)
	case r.Len > 0:
		return p.length(k, f) >= r.Len
	}
	return p.isSet(k, f)
}

func (p *prover) isSet(k knowledge, f *Fact) bool {
	return k[p.index[f]].set || p.mayUnfold(f) && p.exprSet(k, f.Is)
}

// mayUnfold reports whether the formula of a computed fact may be looked at.
func (p *prover) mayUnfold(f *Fact) bool {
	p.fuel--
	return p.fuel > 0 && f.Is != nil && f.Is.code != nil
}

func (p *prover) isTrue(k knowledge, f *Fact) bool {
	if k[p.index[f]].yes {
		return true
	}
	return p.mayUnfold(f) && p.nodeTrue(k, f.Is.code.tree, 0)
}

func (p *prover) length(k knowledge, f *Fact) int {
	n := int(k[p.index[f]].n)
	if p.mayUnfold(f) && f.Is.code.tree != nil {
		n = max(n, p.minLength(k, f.Is.code.tree, 0))
	}
	return n
}

// nodeTrue reports whether a condition is known to be true.
func (p *prover) nodeTrue(k knowledge, n ast.Node, depth int) bool {
	if depth > maxDepth {
		return false
	}
	switch n := n.(type) {
	case *ast.BoolNode:
		return n.Value
	case *ast.IdentifierNode:
		f := p.c.m.facts[n.Value]
		return f != nil && p.isTrue(k, f)
	case *ast.BinaryNode:
		switch n.Operator {
		case "&&", "and":
			return p.nodeTrue(k, n.Left, depth+1) && p.nodeTrue(k, n.Right, depth+1)
		case "||", "or":
			return p.nodeTrue(k, n.Left, depth+1) || p.nodeTrue(k, n.Right, depth+1)
		case "!=":
			_, isNil := n.Right.(*ast.NilNode)
			return isNil && p.nodeSet(k, n.Left, depth+1)
		case ">=", ">":
			if x, ok := lenArg(n.Left); ok {
				least, known := p.lowerBound(n.Right)
				if n.Operator == ">" {
					least++
				}
				return known && p.minLength(k, x, depth+1) >= least
			}
		}
	}
	return false
}

func (p *prover) exprSet(k knowledge, x *Expr) bool {
	if x.code == nil {
		return false
	}
	if x.code.tree == nil {
		return x.code.lit != nil
	}
	return p.nodeSet(k, x.code.tree, 0)
}

// nodeSet reports whether an expression cannot be null.
func (p *prover) nodeSet(k knowledge, n ast.Node, depth int) bool {
	if depth > maxDepth {
		return false
	}
	both := func(a, b ast.Node) bool { return p.nodeSet(k, a, depth+1) && p.nodeSet(k, b, depth+1) }
	switch n := n.(type) {
	case *ast.BoolNode, *ast.IntegerNode, *ast.FloatNode, *ast.StringNode, *ast.ArrayNode, *ast.MapNode:
		return true
	case *ast.IdentifierNode:
		f := p.c.m.facts[n.Value]
		return f != nil && p.isSet(k, f)
	case *ast.ChainNode:
		return p.nodeSet(k, n.Node, depth+1)
	case *ast.MemberNode:
		return p.memberSet(memberPath(n))
	case *ast.UnaryNode:
		return n.Operator == "!" || n.Operator == "not" || p.nodeSet(k, n.Node, depth+1)
	case *ast.ConditionalNode:
		yes, no := p.assume(k, n.Cond, true), p.assume(k, n.Cond, false)
		return p.nodeSet(yes, n.Exp1, depth+1) && p.nodeSet(no, n.Exp2, depth+1)
	case *ast.BinaryNode:
		switch n.Operator {
		case "??":
			return p.nodeSet(k, n.Left, depth+1) || p.nodeSet(k, n.Right, depth+1)
		case "+", "-", "*":
			return both(n.Left, n.Right)
		case "/", "%":
			return false
		}
		return true
	case *ast.BuiltinNode:
		return p.callSet(k, n.Name, n.Arguments, depth)
	case *ast.CallNode:
		if id, ok := n.Callee.(*ast.IdentifierNode); ok {
			return p.callSet(k, id.Value, n.Arguments, depth)
		}
	}
	return false
}

func (p *prover) callSet(k knowledge, name string, args []ast.Node, depth int) bool {
	switch name {
	case "len", "concat", "hash", "visits", "keys", "values", "string", "any", "all", "none", "one", "map", "filter", "count", "sum":
		return true
	case "lower", "upper", "trim", "reverse", "abs", "round", "floor", "ceil":
		return len(args) > 0 && p.nodeSet(k, args[0], depth+1)
	case "first", "last":
		return len(args) > 0 && p.minLength(k, args[0], depth+1) >= 1
	}
	return false
}

// memberSet reports whether a path of settings, turn, state or event cannot be null.
// Parts of records may be unset.
func (p *prover) memberSet(path string) bool {
	root, rest, _ := strings.Cut(path, ".")
	switch root {
	case "settings":
		return true
	case "turn":
		return rest == "text" || rest == "thread" || rest == "rerun" || rest == "started" || rest == "elapsed_ms" || rest == "model" || rest == "today" || rest == "direct"
	case "state":
		return rest == "name" || rest == "waiting"
	case "event":
		return p.eventSet(rest)
	}
	return false
}

// eventSet reports whether a field that every event of the occasion has is there. Of
// arguments and results those that the tools demand or always give.
func (p *prover) eventSet(path string) bool {
	field, rest, nested := strings.Cut(path, ".")
	if field == "name" {
		return true
	}
	if len(p.at.on) == 0 || field == "details" || field == "note" || field == "suggestion" {
		return false
	}
	for _, e := range p.at.on {
		if !slices.Contains(events[e], field) {
			return false
		}
	}
	if !nested || field != "args" && field != "result" {
		return true
	}
	first, _, _ := strings.Cut(rest, ".")
	for _, tool := range p.at.tools {
		tt, ok := p.c.tools[tool]
		if !ok {
			continue
		}
		if field == "args" && !slices.Contains(tt.Required, first) || field == "result" && tt.Always != nil && !slices.Contains(tt.Always, first) {
			return false
		}
	}
	return true
}

// minLength returns how many items a list has at least.
func (p *prover) minLength(k knowledge, n ast.Node, depth int) int {
	if depth > maxDepth {
		return 0
	}
	switch n := n.(type) {
	case *ast.ArrayNode:
		return len(n.Nodes)
	case *ast.IdentifierNode:
		if f := p.c.m.facts[n.Value]; f != nil {
			return p.length(k, f)
		}
	case *ast.ConditionalNode:
		return min(p.minLength(p.assume(k, n.Cond, true), n.Exp1, depth+1), p.minLength(p.assume(k, n.Cond, false), n.Exp2, depth+1))
	case *ast.BuiltinNode:
		switch n.Name {
		case "concat":
			total := 0
			for _, a := range n.Arguments {
				total += p.minLength(k, a, depth+1)
			}
			return total
		case "map", "reverse":
			if len(n.Arguments) > 0 {
				return p.minLength(k, n.Arguments[0], depth+1)
			}
		}
	}
	return 0
}

// lowerBound returns the smallest value that a number can have: itself, or a
// setting's min.
func (p *prover) lowerBound(n ast.Node) (int, bool) {
	switch n := n.(type) {
	case *ast.IntegerNode:
		return n.Value, true
	case *ast.MemberNode:
		if s := p.setting(n); s != nil && s.Min != nil {
			return int(*s.Min), true
		}
	}
	return 0, false
}

func (p *prover) setting(n ast.Node) *Setting {
	name, ok := strings.CutPrefix(memberPath(n), "settings.")
	if !ok {
		return nil
	}
	for _, s := range p.c.m.Settings {
		if s.Name == name {
			return s
		}
	}
	return nil
}

// lenArg gives x of len(x).
func lenArg(n ast.Node) (ast.Node, bool) {
	b, ok := n.(*ast.BuiltinNode)
	if !ok || b.Name != "len" || len(b.Arguments) != 1 {
		return nil, false
	}
	return b.Arguments[0], true
}
