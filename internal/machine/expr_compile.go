package machine

import (
	"fmt"
	"regexp"
	"strings"

	"github.com/expr-lang/expr/ast"
)

// A compiler turns a tree into closures. Names that do not exist compile to unset:
// the check reports them, so that all are reported at once.
type compiler struct {
	m     *Machine
	off   int
	depth int // predicates around the node
	refs  []ref
	deps  []*Fact
	err   error
}

// roots are the names beside facts.
var roots = map[string]func(*Scope) map[string]any{
	"settings": func(s *Scope) map[string]any { return s.Settings },
	"event":    func(s *Scope) map[string]any { return s.Event },
	"turn":     func(s *Scope) map[string]any { return s.Turn },
	"state":    func(s *Scope) map[string]any { return s.State },
}

func unsetValue(*frame) any { return nil }

func (c *compiler) fail(n ast.Node, format string, args ...any) evalFunc {
	if c.err == nil {
		c.err = &badExpr{at: max(n.Location().From-c.off, 0), message: fmt.Sprintf(format, args...)}
	}
	return unsetValue
}

func (c *compiler) compileConstant(v any) evalFunc { return func(*frame) any { return v } }

func (c *compiler) compileNode(n ast.Node) evalFunc {
	switch n := n.(type) {
	case *ast.NilNode:
		return unsetValue
	case *ast.BoolNode:
		return c.compileConstant(n.Value)
	case *ast.IntegerNode:
		return c.compileConstant(float64(n.Value))
	case *ast.FloatNode:
		return c.compileConstant(n.Value)
	case *ast.StringNode:
		return c.compileConstant(n.Value)
	case *ast.IdentifierNode:
		return c.compileIdentifier(n)
	case *ast.MemberNode:
		return c.compileMember(n)
	case *ast.ChainNode:
		return c.compileNode(n.Node) // every member access is tolerant
	case *ast.PointerNode:
		return c.compilePointer(n)
	case *ast.UnaryNode:
		return c.compileUnary(n)
	case *ast.BinaryNode:
		return c.compileBinary(n)
	case *ast.ConditionalNode:
		cond, yes, no := c.compileNode(n.Cond), c.compileNode(n.Exp1), c.compileNode(n.Exp2)
		return func(f *frame) any {
			if isTrue(cond(f)) {
				return yes(f)
			}
			return no(f)
		}
	case *ast.SliceNode:
		return c.compileSlice(n)
	case *ast.ArrayNode:
		items := c.compileNodes(n.Nodes)
		return func(f *frame) any {
			list := make([]any, len(items))
			for i, item := range items {
				list[i] = item(f)
			}
			return list
		}
	case *ast.MapNode:
		return c.compileRecord(n)
	case *ast.BuiltinNode:
		return c.compileBuiltin(n)
	case *ast.CallNode:
		return c.compileCall(n)
	case nil:
		if c.err == nil {
			c.err = &badExpr{message: "the expression is empty"}
		}
		return unsetValue
	default:
		return c.fail(n, "variables and sequences are not part of the guard language")
	}
}

func (c *compiler) compileNodes(ns []ast.Node) []evalFunc {
	fs := make([]evalFunc, len(ns))
	for i, n := range ns {
		fs[i] = c.compileNode(n)
	}
	return fs
}

func (c *compiler) compileIdentifier(n *ast.IdentifierNode) evalFunc {
	get := c.compileName(n.Value)
	c.recordRef(n.Value, get)
	return get
}

// compileName returns a root or a fact by name.
func (c *compiler) compileName(name string) evalFunc {
	if root := roots[name]; root != nil {
		return func(f *frame) any {
			if r := root(f.scope); r != nil {
				return r
			}
			return nil
		}
	}
	x := c.m.facts[name]
	if x == nil {
		return unsetValue
	}
	c.deps = append(c.deps, x)
	return func(f *frame) any { return f.factValue(x) }
}

// recordRef records what the expression looks at.
func (c *compiler) recordRef(name string, get evalFunc) {
	for _, r := range c.refs {
		if r.name == name {
			return
		}
	}
	c.refs = append(c.refs, ref{name, get})
}

func (c *compiler) compileMember(n *ast.MemberNode) evalFunc {
	// root.field is the commonest form and needs no intermediate value.
	key, isName := n.Property.(*ast.StringNode)
	if id, ok := n.Node.(*ast.IdentifierNode); ok && isName {
		if root := roots[id.Value]; root != nil {
			name := key.Value
			get := func(f *frame) any { return plainNumber(root(f.scope)[name]) }
			c.recordRef(id.Value+"."+name, get)
			return get
		}
	}
	path := memberPath(n)
	refs := c.refs
	of := c.compileNode(n.Node)
	var get evalFunc
	if isName {
		name := key.Value
		get = func(f *frame) any { return fieldOf(of(f), name) }
	} else {
		index := c.compileNode(n.Property)
		get = func(f *frame) any { return elementAt(of(f), index(f)) }
	}
	if path != "" {
		c.refs = refs // the whole path stands for its parts
		c.recordRef(path, get)
	}
	return get
}

// memberPath gives a.b.c for a chain of names, "" for anything else.
func memberPath(n ast.Node) string {
	switch n := n.(type) {
	case *ast.IdentifierNode:
		return n.Value
	case *ast.ChainNode:
		return memberPath(n.Node)
	case *ast.MemberNode:
		key, ok := n.Property.(*ast.StringNode)
		if of := memberPath(n.Node); ok && of != "" {
			return of + "." + key.Value
		}
	}
	return ""
}

func (c *compiler) compilePointer(n *ast.PointerNode) evalFunc {
	if n.Name != "" {
		return c.fail(n, "#%s is not part of the guard language; only # is", n.Name)
	}
	if c.depth == 0 {
		return c.fail(n, "# stands for an item and has no meaning here")
	}
	return func(f *frame) any {
		if len(f.items) == 0 {
			return plainNumber(f.scope.Item)
		}
		return plainNumber(f.items[len(f.items)-1])
	}
}

func (c *compiler) compileUnary(n *ast.UnaryNode) evalFunc {
	x := c.compileNode(n.Node)
	switch n.Operator {
	case "!", "not":
		return func(f *frame) any { return !isTrue(x(f)) }
	case "-":
		return func(f *frame) any {
			if v, ok := x(f).(float64); ok {
				return -v
			}
			return nil
		}
	case "+":
		return x
	}
	return c.fail(n, "the operator %s is not part of the guard language", n.Operator)
}

func (c *compiler) compileBinary(n *ast.BinaryNode) evalFunc {
	if n.Operator == "matches" {
		return c.compileMatches(n)
	}
	l, r := c.compileNode(n.Left), c.compileNode(n.Right)
	switch n.Operator {
	case "&&", "and":
		return func(f *frame) any { return isTrue(l(f)) && isTrue(r(f)) }
	case "||", "or":
		return func(f *frame) any { return isTrue(l(f)) || isTrue(r(f)) }
	case "??":
		return func(f *frame) any {
			if v := l(f); v != nil {
				return v
			}
			return r(f)
		}
	case "==":
		return func(f *frame) any { return sameValue(f, l(f), r(f)) }
	case "!=":
		return func(f *frame) any { return !sameValue(f, l(f), r(f)) }
	case "<", "<=", ">", ">=":
		op := n.Operator
		return func(f *frame) any { return areOrdered(op, l(f), r(f)) }
	case "in":
		return func(f *frame) any { return contains(f, l(f), r(f)) }
	case "contains", "startsWith", "endsWith":
		test := map[string]func(string, string) bool{
			"contains": strings.Contains, "startsWith": strings.HasPrefix, "endsWith": strings.HasSuffix,
		}[n.Operator]
		return func(f *frame) any {
			a, okA := l(f).(string)
			b, okB := r(f).(string)
			return okA && okB && test(a, b)
		}
	case "+", "-", "*", "/", "%":
		op := n.Operator[0]
		return func(f *frame) any { return arithmetic(f, op, l(f), r(f)) }
	}
	return c.fail(n, "the operator %s is not part of the guard language", n.Operator)
}

func (c *compiler) compileMatches(n *ast.BinaryNode) evalFunc {
	pattern, ok := n.Right.(*ast.StringNode)
	if !ok {
		return c.fail(n, "the pattern of `matches` must be written out")
	}
	re, err := regexp.Compile(pattern.Value)
	if err != nil {
		return c.fail(n, "the pattern of `matches` is wrong: %v", err)
	}
	l := c.compileNode(n.Left)
	return func(f *frame) any {
		s, ok := l(f).(string)
		return ok && f.useFuel(len(s)) && re.MatchString(s)
	}
}

func (c *compiler) compileSlice(n *ast.SliceNode) evalFunc {
	of, from, to := c.compileNode(n.Node), unsetValue, unsetValue
	if n.From != nil {
		from = c.compileNode(n.From)
	}
	if n.To != nil {
		to = c.compileNode(n.To)
	}
	return func(f *frame) any { return slice(of(f), from(f), to(f)) }
}

func (c *compiler) compileRecord(n *ast.MapNode) evalFunc {
	names := make([]string, 0, len(n.Pairs))
	values := make([]evalFunc, 0, len(n.Pairs))
	for _, p := range n.Pairs {
		pair, ok := p.(*ast.PairNode)
		if !ok {
			return c.fail(n, "a record must have the form {name: value}")
		}
		key, ok := pair.Key.(*ast.StringNode)
		if !ok {
			return c.fail(n, "the names of a record must be written out")
		}
		names = append(names, key.Value)
		values = append(values, c.compileNode(pair.Value))
	}
	return func(f *frame) any {
		r := make(map[string]any, len(names))
		for i, name := range names {
			r[name] = values[i](f)
		}
		return r
	}
}
