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

// typeOfExpr returns the type of an expression in an environment.
func (c *checker) typeOfExpr(x *Expr, event *Type, item *Type) *Type {
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
	return t.typeOf(x.code.tree)
}

// checkGuard checks an expression that must be true or false.
func (c *checker) checkGuard(x *Expr, event *Type, item *Type) {
	if x == nil {
		return
	}
	before := len(c.found)
	if t := c.typeOfExpr(x, event, item); !isLoose(t) && t.Kind != Bool {
		c.report("type-mismatch", x.Pos, "write a condition, as in `x != nil`", "the guard %q gives %s, not true or false", x.Source, t)
		return
	}
	if x.code != nil && item == nil && len(c.found) == before {
		c.checkSatisfiable(x)
	}
}

// checkFits checks that an expression fits a type.
func (c *checker) checkFits(x *Expr, event *Type, to *Type, what string) *Type {
	t := c.typeOfExpr(x, event, nil)
	if why, ok := fitsInto(t, to); !ok {
		code := "type-mismatch"
		if t.Kind == Enum && to.Kind == Enum {
			code = "enum-value"
		}
		repair := fmt.Sprintf("give a value of type %s", to)
		if code == "enum-value" {
			repair = "write one of " + quoteNames(to.Values)
		}
		c.report(code, x.Pos, repair, "%s: %s", what, why)
	}
	return t
}

func (t *typer) report(code string, n ast.Node, repair, format string, args ...any) {
	t.c.report(code, t.x.position(n), repair, format, args...)
}

func (t *typer) typeOf(n ast.Node) *Type {
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
		return t.typeOfName(n)
	case *ast.ChainNode:
		return t.typeOf(n.Node)
	case *ast.MemberNode:
		return t.typeOfMember(n)
	case *ast.PointerNode:
		if len(t.items) > 0 {
			return t.items[len(t.items)-1]
		}
		return anyType
	case *ast.UnaryNode:
		return t.typeOfUnary(n)
	case *ast.BinaryNode:
		return t.typeOfBinary(n)
	case *ast.ConditionalNode:
		t.checkCondition(n.Cond)
		return unify(t.typeOf(n.Exp1), t.typeOf(n.Exp2))
	case *ast.SliceNode:
		for _, at := range []ast.Node{n.From, n.To} {
			if at != nil {
				t.checkNumber(at)
			}
		}
		return t.typeOf(n.Node)
	case *ast.ArrayNode:
		list := &Type{Kind: List, Of: nullType}
		for _, item := range n.Nodes {
			list.Of = unify(list.Of, t.typeOf(item))
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
					r.Fields[key.Value] = t.typeOf(pair.Value)
				}
			}
		}
		return r
	case *ast.BuiltinNode:
		return t.typeOfCall(n, n.Name, n.Arguments)
	case *ast.CallNode:
		if id, ok := n.Callee.(*ast.IdentifierNode); ok {
			return t.typeOfCall(n, id.Value, n.Arguments)
		}
	}
	return anyType
}

func (t *typer) typeOfName(n *ast.IdentifierNode) *Type {
	switch n.Value {
	case "settings", "turn", "state":
		return anyType
	case "event":
		return t.event
	}
	f := t.c.m.facts[n.Value]
	if f == nil {
		known := slices.Sorted(maps.Keys(t.c.m.facts))
		t.report("unknown-fact", n, "declare it under `facts`, or use one that exists", "unknown fact %q%s", n.Value, suggestName(n.Value, known))
		return anyType
	}
	t.c.read[n.Value] = true
	return f.Type
}

func (t *typer) typeOfMember(n *ast.MemberNode) *Type {
	key, named := n.Property.(*ast.StringNode)
	if id, ok := n.Node.(*ast.IdentifierNode); ok && named {
		switch id.Value {
		case "settings":
			return t.typeOfSetting(n, key.Value)
		case "turn":
			return t.typeOfField(n, "turn", key.Value, turnFields)
		case "state":
			return t.typeOfField(n, "state", key.Value, stateFields)
		case "event":
			return t.typeOfField(n, "event", key.Value, t.event.Fields)
		}
	}
	of := t.typeOf(n.Node)
	if !named {
		return t.typeOfIndex(n, of)
	}
	switch {
	case isLoose(of):
		return anyType
	case of.Kind == Record:
		f := of.Fields[key.Value]
		if f == nil {
			known := slices.Sorted(maps.Keys(of.Fields))
			t.report("unknown-field", n, "use one of "+quoteNames(known), "%s has no field %q%s", of, key.Value, suggestName(key.Value, known))
			return anyType
		}
		return f
	}
	t.report("type-mismatch", n, "only records have fields", "%s has no field %q", of, key.Value)
	return anyType
}

func (t *typer) typeOfIndex(n *ast.MemberNode, of *Type) *Type {
	at := t.typeOf(n.Property)
	switch {
	case isLoose(of):
		return anyType
	case of.Kind == List:
		if !isLoose(at) && !isNumeric(at) {
			t.report("type-mismatch", n, "use a number", "an item of a list is found by number, not by %s", at)
		}
		return of.Of
	case of.Kind == Record:
		return anyType
	}
	t.report("type-mismatch", n, "only lists and records have parts", "%s has no parts", of)
	return anyType
}

func (t *typer) typeOfSetting(n ast.Node, name string) *Type {
	var known []string
	for _, s := range t.c.m.Settings {
		if s.Name == name {
			return s.Type
		}
		known = append(known, s.Name)
	}
	t.report("unknown-setting", n, "declare it under `settings`, or use one that exists", "unknown setting %q%s", name, suggestName(name, known))
	return anyType
}

func (t *typer) typeOfField(n ast.Node, root, name string, fields map[string]*Type) *Type {
	if f := fields[name]; f != nil {
		return f
	}
	known := slices.Sorted(maps.Keys(fields))
	t.report("unknown-field", n, "use one of "+quoteNames(known), "%s has no field %q here%s", root, name, suggestName(name, known))
	return anyType
}

func (t *typer) checkCondition(n ast.Node) {
	if x := t.typeOf(n); !isLoose(x) && x.Kind != Bool {
		t.report("type-mismatch", n, "write a condition, as in `x != nil`", "%s is not true or false", x)
	}
}

func (t *typer) checkNumber(n ast.Node) *Type {
	x := t.typeOf(n)
	if !isLoose(x) && !isNumeric(x) {
		t.report("type-mismatch", n, "use a number", "%s is no number", x)
	}
	return x
}

func (t *typer) typeOfUnary(n *ast.UnaryNode) *Type {
	if n.Operator == "!" || n.Operator == "not" {
		t.checkCondition(n.Node)
		return boolType
	}
	return t.checkNumber(n.Node)
}

func (t *typer) typeOfBinary(n *ast.BinaryNode) *Type {
	switch n.Operator {
	case "&&", "and", "||", "or":
		t.checkCondition(n.Left)
		t.checkCondition(n.Right)
		return boolType
	case "??":
		return unify(t.typeOf(n.Left), t.typeOf(n.Right))
	case "==", "!=":
		t.checkStateComparison(n.Left, n.Right)
		t.checkComparable(n, n.Left, n.Right, t.typeOf(n.Left), t.typeOf(n.Right))
		return boolType
	case "<", "<=", ">", ">=":
		a, b := t.typeOf(n.Left), t.typeOf(n.Right)
		if !isLoose(a) && !isLoose(b) && !(isNumeric(a) && isNumeric(b)) && !(isTextual(a) && isTextual(b)) {
			t.report("type-mismatch", n, "compare numbers with numbers, times with times", "%s and %s have no order", a, b)
		}
		return boolType
	case "in":
		t.checkStateComparison(n.Left, n.Right)
		t.checkMembership(n)
		return boolType
	case "contains", "startsWith", "endsWith", "matches":
		for _, side := range []ast.Node{n.Left, n.Right} {
			if x := t.typeOf(side); !isLoose(x) && !isTextual(x) {
				t.report("type-mismatch", side, "use a text", "%s is no text", x)
			}
		}
		return boolType
	}
	return t.typeOfSum(n)
}

func (t *typer) typeOfSum(n *ast.BinaryNode) *Type {
	a, b := t.typeOf(n.Left), t.typeOf(n.Right)
	switch {
	case isLoose(a) || isLoose(b):
		return anyType
	case n.Operator == "+" && isTextual(a) && isTextual(b):
		return stringType
	case !isNumeric(a) || !isNumeric(b):
		t.report("type-mismatch", n, "use two numbers, or + with two texts", "%s %s %s has no value", a, n.Operator, b)
		return anyType
	case n.Operator == "/":
		return floatType
	}
	return unify(a, b)
}

// checkComparable checks that two expressions of the given types can be equal.
func (t *typer) checkComparable(n, left, right ast.Node, a, b *Type) {
	if mayEqual(a, b) {
		return
	}
	if a.Kind == Enum && b.Kind == Enum {
		lit, set, what := a, b, right
		if isLiteral(b) {
			lit, set, what = b, a, left
		}
		t.report("enum-typo", n, "use one of "+quoteNames(set.Values), "%s is never %s%s", what, lit, suggestName(lit.Values[0], set.Values))
		return
	}
	t.report("type-mismatch", n, "compare values of one type", "%s is never equal to %s", a, b)
}

func (t *typer) checkMembership(n *ast.BinaryNode) {
	x := t.typeOf(n.Left)
	if list, ok := n.Right.(*ast.ArrayNode); ok {
		for _, item := range list.Nodes {
			t.checkComparable(item, n.Left, item, x, t.typeOf(item))
		}
		return
	}
	of := t.typeOf(n.Right)
	switch {
	case isLoose(of) || of.Kind == Record:
	case of.Kind == List:
		t.checkComparable(n, n.Left, n.Right, x, of.Of)
	default:
		t.report("type-mismatch", n, "use a list", "nothing is in %s", of)
	}
}
