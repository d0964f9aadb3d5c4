package machine

import (
	"math"
	"slices"

	"github.com/expr-lang/expr/ast"
)

// maxCases bounds the alternatives of a guard that are looked at.
const maxCases = 64

// checkSatisfiable reports a guard that is never true, whatever settings and facts are.
func (c *checker) checkSatisfiable(x *Expr) {
	if x.code.tree == nil {
		if b, ok := x.code.lit.(bool); !ok || !b {
			c.report("never-true", x.Pos, "take it away, or write a condition", "the guard %q is never true", x.Source)
		}
		return
	}
	if c.circular {
		return
	}
	c.unfolds = 0
	cases := c.casesOf(x.code.tree, true, 0)
	if cases == nil {
		return
	}
	for _, k := range cases {
		if c.canHoldTogether(k) {
			return
		}
	}
	c.report("never-true", x.Pos, "correct the condition", "the guard %q is never true, whatever the settings are", x.Source)
}

// A claim is one condition that must be true or false.
type claim struct {
	n     ast.Node
	holds bool
}

// casesOf returns the alternatives of a condition, each a list of claims; nil if there
// are too many to look at.
func (c *checker) casesOf(n ast.Node, holds bool, depth int) [][]claim {
	if depth > 20 {
		return [][]claim{{{n, holds}}}
	}
	switch x := n.(type) {
	case *ast.UnaryNode:
		if x.Operator == "!" || x.Operator == "not" {
			return c.casesOf(x.Node, !holds, depth+1)
		}
	case *ast.IdentifierNode:
		if f := c.m.facts[x.Value]; f != nil && f.Is != nil && f.Is.code != nil && f.Is.code.tree != nil && f.Type.Kind == Bool && c.unfolds < maxCases {
			c.unfolds++
			return c.casesOf(f.Is.code.tree, holds, depth+1)
		}
	case *ast.BinaryNode:
		and, or := x.Operator == "&&" || x.Operator == "and", x.Operator == "||" || x.Operator == "or"
		if !and && !or {
			break
		}
		l, r := c.casesOf(x.Left, holds, depth+1), c.casesOf(x.Right, holds, depth+1)
		if l == nil || r == nil {
			return nil
		}
		if and != holds { // an alternative
			if len(l)+len(r) > maxCases {
				return nil
			}
			return slices.Concat(l, r)
		}
		if len(l)*len(r) > maxCases {
			return nil
		}
		var out [][]claim
		for _, a := range l {
			for _, b := range r {
				out = append(out, slices.Concat(a, b))
			}
		}
		return out
	}
	return [][]claim{{{n, holds}}}
}

// A span is what the claims leave of a value.
type span struct {
	lo, hi         float64
	loOpen, hiOpen bool
	values         []string // nil = not known
	not            []string
	set, unset     bool
	yes, no        bool
}

// canHoldTogether reports whether the claims can hold together.
func (c *checker) canHoldTogether(claims []claim) bool {
	spans := make(map[string]*span)
	at := func(n ast.Node) *span {
		key, t := c.claimTerm(n)
		if key == "" {
			return nil
		}
		if spans[key] == nil {
			spans[key] = c.fullSpan(key, t)
		}
		return spans[key]
	}
	for _, k := range claims {
		switch n := k.n.(type) {
		case *ast.BoolNode:
			if n.Value != k.holds {
				return false
			}
		case *ast.NilNode:
			if k.holds {
				return false
			}
		case *ast.BinaryNode:
			c.narrowSpan(n, k.holds, at)
		default:
			if s := at(n); s != nil {
				if k.holds {
					s.yes = true
				} else {
					s.no = true
				}
			}
		}
	}
	for _, s := range spans {
		if s.empty() {
			return false
		}
	}
	return true
}

func (s *span) empty() bool {
	if s.yes && s.no || s.set && s.unset || s.yes && s.unset {
		return true
	}
	if s.lo > s.hi || s.lo == s.hi && (s.loOpen || s.hiOpen) {
		return true
	}
	if s.values == nil {
		return false
	}
	return !slices.ContainsFunc(s.values, func(v string) bool { return !slices.Contains(s.not, v) }) && s.set
}

// claimTerm names a value that claims are about: a path or the length of one.
func (c *checker) claimTerm(n ast.Node) (string, *Type) {
	if b, ok := n.(*ast.BuiltinNode); ok && b.Name == "len" && len(b.Arguments) == 1 {
		if p := memberPath(b.Arguments[0]); p != "" {
			return "len " + p, intType
		}
		return "", nil
	}
	p := memberPath(n)
	if p == "" {
		return "", nil
	}
	return p, (&typer{c: &checker{m: c.m, tools: c.tools, read: map[string]bool{}}, x: &Expr{}, event: &Type{Kind: Record}}).typeOf(n)
}

// fullSpan is all that a value can be: a setting's bounds, an enum's values.
func (c *checker) fullSpan(key string, t *Type) *span {
	s := &span{lo: math.Inf(-1), hi: math.Inf(1)}
	if len(key) > 4 && key[:4] == "len " {
		s.lo, s.set = 0, true
	}
	for _, st := range c.m.Settings {
		if "settings."+st.Name != key {
			continue
		}
		s.set = true
		if st.Min != nil {
			s.lo = *st.Min
		}
		if st.Max != nil {
			s.hi = *st.Max
		}
	}
	if t != nil && t.Kind == Enum {
		s.values = t.Values
	}
	return s
}

// narrowSpan applies a comparison with something written out.
func (c *checker) narrowSpan(n *ast.BinaryNode, holds bool, at func(ast.Node) *span) {
	left, right, op := n.Left, n.Right, n.Operator
	if isWrittenOut(left) && !isWrittenOut(right) {
		left, right = right, left
		op = map[string]string{"<": ">", ">": "<", "<=": ">=", ">=": "<="}[op]
		if op == "" {
			op = n.Operator
		}
	}
	if !isWrittenOut(right) || op == "in" && left != n.Left {
		return
	}
	s := at(left)
	if s == nil {
		return
	}
	if !holds {
		inverse := map[string]string{"==": "!=", "!=": "==", "<": ">=", "<=": ">", ">": "<=", ">=": "<", "in": "not in"}
		if op = inverse[op]; op != "!=" && op != "==" && op != "not in" && !s.set {
			return // a comparison with unset is false, whatever the number
		}
	}
	switch v := right.(type) {
	case *ast.NilNode:
		s.unset, s.set = s.unset || op == "==", s.set || op == "!="
	case *ast.BoolNode:
		if op == "==" {
			s.yes, s.no, s.set = s.yes || v.Value, s.no || !v.Value, true
		}
	case *ast.StringNode:
		s.texts(op, []string{v.Value})
	case *ast.IntegerNode:
		s.number(op, float64(v.Value))
	case *ast.FloatNode:
		s.number(op, v.Value)
	case *ast.ArrayNode:
		var texts []string
		for _, item := range v.Nodes {
			t, ok := item.(*ast.StringNode)
			if !ok {
				return
			}
			texts = append(texts, t.Value)
		}
		s.texts(op, texts)
	}
}

func isWrittenOut(n ast.Node) bool {
	switch n.(type) {
	case *ast.NilNode, *ast.BoolNode, *ast.StringNode, *ast.IntegerNode, *ast.FloatNode, *ast.ArrayNode:
		return true
	}
	return false
}

func (s *span) texts(op string, texts []string) {
	switch op {
	case "==", "in":
		s.set = true
		if s.values == nil {
			s.values = texts
			return
		}
		s.values = slices.DeleteFunc(slices.Clone(s.values), func(v string) bool { return !slices.Contains(texts, v) })
	case "!=", "not in":
		s.not = append(slices.Clone(s.not), texts...)
	}
}

func (s *span) number(op string, v float64) {
	above := func(open bool) {
		if v > s.lo || v == s.lo && open {
			s.lo, s.loOpen = v, open
		}
	}
	below := func(open bool) {
		if v < s.hi || v == s.hi && open {
			s.hi, s.hiOpen = v, open
		}
	}
	switch op {
	case "==":
		above(false)
		below(false)
	case ">", ">=":
		above(op == ">")
	case "<", "<=":
		below(op == "<")
	default:
		return
	}
	s.set = true
}
