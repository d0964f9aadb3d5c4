package machine

import (
	"fmt"
	"maps"
	"slices"

	"github.com/expr-lang/expr/ast"
)

// A typer works out the type of an expression and reports what cannot be right.
type typer struct {
	c     *checker
	x     *Expr
	event *Type   // a record of the fields that `event` has here
	items []*Type // of the predicates around the node
}

// typed returns the type of an expression in an environment.
func (c *checker) typed(x *Expr, event *Type, item *Type) *Type {
	if x == nil || x.code == nil {
		return anyType
	}
	if x.code.tree == nil {
		return typeOfValue(x.code.lit)
	}
	t := &typer{c: c, x: x, event: event}
	if item != nil {
		t.items = []*Type{item}
	}
	return t.of(x.code.tree)
}

// guard checks an expression that must be true or false.
func (c *checker) guard(x *Expr, event *Type, item *Type) {
	if x == nil {
		return
	}
	before := len(c.found)
	if t := c.typed(x, event, item); !loose(t) && t.Kind != Bool {
		c.report("type-mismatch", x.Pos, "write a condition, as in `x != nil`", "the guard %q gives %s, not true or false", x.Source, t)
		return
	}
	if x.code != nil && item == nil && len(c.found) == before {
		c.satisfiable(x)
	}
}

// fit checks that an expression fits a type.
func (c *checker) fit(x *Expr, event *Type, to *Type, what string) *Type {
	t := c.typed(x, event, nil)
	if why, ok := fitsInto(t, to); !ok {
		code := "type-mismatch"
		if t.Kind == Enum && to.Kind == Enum {
			code = "enum-value"
		}
		repair := fmt.Sprintf("give a value of type %s", to)
		if code == "enum-value" {
			repair = "write one of " + quoted(to.Values)
		}
		c.report(code, x.Pos, repair, "%s: %s", what, why)
	}
	return t
}

func (t *typer) report(code string, n ast.Node, repair, format string, args ...any) {
	t.c.report(code, t.x.position(n), repair, format, args...)
}

func (t *typer) of(n ast.Node) *Type {
	switch n := n.(type) {
	case *ast.NilNode:
		return nullType
	case *ast.BoolNode:
		return boolType
	case *ast.IntegerNode:
		return intType
	case *ast.FloatNode:
		return floatType
	case *ast.StringNode:
		return literalText(n.Value)
	case *ast.IdentifierNode:
		return t.name(n)
	case *ast.ChainNode:
		return t.of(n.Node)
	case *ast.MemberNode:
		return t.member(n)
	case *ast.PointerNode:
		if len(t.items) > 0 {
			return t.items[len(t.items)-1]
		}
		return anyType
	case *ast.UnaryNode:
		return t.unary(n)
	case *ast.BinaryNode:
		return t.binary(n)
	case *ast.ConditionalNode:
		t.condition(n.Cond)
		return unify(t.of(n.Exp1), t.of(n.Exp2))
	case *ast.SliceNode:
		for _, at := range []ast.Node{n.From, n.To} {
			if at != nil {
				t.number(at)
			}
		}
		return t.of(n.Node)
	case *ast.ArrayNode:
		list := &Type{Kind: List, Of: nullType}
		for _, item := range n.Nodes {
			list.Of = unify(list.Of, t.of(item))
		}
		if list.Of.Kind == kindNull {
			list.Of = anyType
		}
		return list
	case *ast.MapNode:
		r := &Type{Kind: Record, Name: literalName, Fields: make(map[string]*Type)}
		for _, p := range n.Pairs {
			if pair, ok := p.(*ast.PairNode); ok {
				if key, ok := pair.Key.(*ast.StringNode); ok {
					r.Fields[key.Value] = t.of(pair.Value)
				}
			}
		}
		return r
	case *ast.BuiltinNode:
		return t.call(n, n.Name, n.Arguments)
	case *ast.CallNode:
		if id, ok := n.Callee.(*ast.IdentifierNode); ok {
			return t.call(n, id.Value, n.Arguments)
		}
	}
	return anyType
}

func (t *typer) name(n *ast.IdentifierNode) *Type {
	switch n.Value {
	case "settings", "turn", "state":
		return anyType
	case "event":
		return t.event
	}
	f := t.c.m.facts[n.Value]
	if f == nil {
		known := slices.Sorted(maps.Keys(t.c.m.facts))
		t.report("unknown-fact", n, "declare it under `facts`, or use one that exists", "unknown fact %q%s", n.Value, nearest(n.Value, known))
		return anyType
	}
	t.c.read[n.Value] = true
	return f.Type
}

func (t *typer) member(n *ast.MemberNode) *Type {
	key, named := n.Property.(*ast.StringNode)
	if id, ok := n.Node.(*ast.IdentifierNode); ok && named {
		switch id.Value {
		case "settings":
			return t.setting(n, key.Value)
		case "turn":
			return t.known(n, "turn", key.Value, turnFields)
		case "state":
			return t.known(n, "state", key.Value, stateFields)
		case "event":
			return t.known(n, "event", key.Value, t.event.Fields)
		}
	}
	of := t.of(n.Node)
	if !named {
		return t.indexed(n, of)
	}
	switch {
	case loose(of):
		return anyType
	case of.Kind == Record:
		f := of.Fields[key.Value]
		if f == nil {
			known := slices.Sorted(maps.Keys(of.Fields))
			t.report("unknown-field", n, "use one of "+quoted(known), "%s has no field %q%s", of, key.Value, nearest(key.Value, known))
			return anyType
		}
		return f
	}
	t.report("type-mismatch", n, "only records have fields", "%s has no field %q", of, key.Value)
	return anyType
}

func (t *typer) indexed(n *ast.MemberNode, of *Type) *Type {
	at := t.of(n.Property)
	switch {
	case loose(of):
		return anyType
	case of.Kind == List:
		if !loose(at) && !numeric(at) {
			t.report("type-mismatch", n, "use a number", "an item of a list is found by number, not by %s", at)
		}
		return of.Of
	case of.Kind == Record:
		return anyType
	}
	t.report("type-mismatch", n, "only lists and records have parts", "%s has no parts", of)
	return anyType
}

func (t *typer) setting(n ast.Node, name string) *Type {
	var known []string
	for _, s := range t.c.m.Settings {
		if s.Name == name {
			return s.Type
		}
		known = append(known, s.Name)
	}
	t.report("unknown-setting", n, "declare it under `settings`, or use one that exists", "unknown setting %q%s", name, nearest(name, known))
	return anyType
}

func (t *typer) known(n ast.Node, root, name string, fields map[string]*Type) *Type {
	if f := fields[name]; f != nil {
		return f
	}
	known := slices.Sorted(maps.Keys(fields))
	t.report("unknown-field", n, "use one of "+quoted(known), "%s has no field %q here%s", root, name, nearest(name, known))
	return anyType
}

func (t *typer) condition(n ast.Node) {
	if x := t.of(n); !loose(x) && x.Kind != Bool {
		t.report("type-mismatch", n, "write a condition, as in `x != nil`", "%s is not true or false", x)
	}
}

func (t *typer) number(n ast.Node) *Type {
	x := t.of(n)
	if !loose(x) && !numeric(x) {
		t.report("type-mismatch", n, "use a number", "%s is no number", x)
	}
	return x
}

func (t *typer) unary(n *ast.UnaryNode) *Type {
	if n.Operator == "!" || n.Operator == "not" {
		t.condition(n.Node)
		return boolType
	}
	return t.number(n.Node)
}

func (t *typer) binary(n *ast.BinaryNode) *Type {
	switch n.Operator {
	case "&&", "and", "||", "or":
		t.condition(n.Left)
		t.condition(n.Right)
		return boolType
	case "??":
		return unify(t.of(n.Left), t.of(n.Right))
	case "==", "!=":
		t.states(n.Left, n.Right)
		t.comparable(n, n.Left, n.Right, t.of(n.Left), t.of(n.Right))
		return boolType
	case "<", "<=", ">", ">=":
		a, b := t.of(n.Left), t.of(n.Right)
		if !loose(a) && !loose(b) && !(numeric(a) && numeric(b)) && !(textual(a) && textual(b)) {
			t.report("type-mismatch", n, "compare numbers with numbers, times with times", "%s and %s have no order", a, b)
		}
		return boolType
	case "in":
		t.states(n.Left, n.Right)
		t.membership(n)
		return boolType
	case "contains", "startsWith", "endsWith", "matches":
		for _, side := range []ast.Node{n.Left, n.Right} {
			if x := t.of(side); !loose(x) && !textual(x) {
				t.report("type-mismatch", side, "use a text", "%s is no text", x)
			}
		}
		return boolType
	}
	return t.sum(n)
}

func (t *typer) sum(n *ast.BinaryNode) *Type {
	a, b := t.of(n.Left), t.of(n.Right)
	switch {
	case loose(a) || loose(b):
		return anyType
	case n.Operator == "+" && textual(a) && textual(b):
		return stringType
	case !numeric(a) || !numeric(b):
		t.report("type-mismatch", n, "use two numbers, or + with two texts", "%s %s %s has no value", a, n.Operator, b)
		return anyType
	case n.Operator == "/":
		return floatType
	}
	return unify(a, b)
}

// comparable checks that two expressions of the given types can be equal.
func (t *typer) comparable(n, left, right ast.Node, a, b *Type) {
	if mayEqual(a, b) {
		return
	}
	if a.Kind == Enum && b.Kind == Enum {
		lit, set, what := a, b, right
		if isLiteral(b) {
			lit, set, what = b, a, left
		}
		t.report("enum-typo", n, "use one of "+quoted(set.Values), "%s is never %s%s", what, lit, nearest(lit.Values[0], set.Values))
		return
	}
	t.report("type-mismatch", n, "compare values of one type", "%s is never equal to %s", a, b)
}

func (t *typer) membership(n *ast.BinaryNode) {
	x := t.of(n.Left)
	if list, ok := n.Right.(*ast.ArrayNode); ok {
		for _, item := range list.Nodes {
			t.comparable(item, n.Left, item, x, t.of(item))
		}
		return
	}
	of := t.of(n.Right)
	switch {
	case loose(of) || of.Kind == Record:
	case of.Kind == List:
		t.comparable(n, n.Left, n.Right, x, of.Of)
	default:
		t.report("type-mismatch", n, "use a list", "nothing is in %s", of)
	}
}
