package machine

import (
	"slices"
	"strings"

	"github.com/expr-lang/expr/ast"
)

// checkStateComparison reports a comparison of state.name or state.last with what is no state.
func (t *typer) checkStateComparison(sides ...ast.Node) {
	if !slices.ContainsFunc(sides, func(n ast.Node) bool { p := memberPath(n); return p == "state.name" || p == "state.last" }) {
		return
	}
	var texts []*ast.StringNode
	for _, n := range sides {
		switch n := n.(type) {
		case *ast.StringNode:
			texts = append(texts, n)
		case *ast.ArrayNode:
			for _, item := range n.Nodes {
				if s, ok := item.(*ast.StringNode); ok {
					texts = append(texts, s)
				}
			}
		}
	}
	for _, s := range texts {
		t.checkStateName(s)
	}
}

func (t *typer) checkStateName(n *ast.StringNode) {
	if t.c.m.states[n.Value] == nil {
		t.report("unknown-state", n, "name a state of this machine", "unknown state %q%s", n.Value, suggestName(n.Value, t.c.stateNames()))
	}
}

func (t *typer) typeOfCall(n ast.Node, name string, args []ast.Node) *Type {
	if _, isLoop := loops[name]; isLoop && len(args) > 0 {
		return t.typeOfLoop(n, name, args)
	}
	if name == "visits" {
		if s, ok := args[0].(*ast.StringNode); ok {
			t.checkStateName(s)
		}
		return intType
	}
	types := make([]*Type, len(args))
	for i, a := range args {
		types[i] = t.typeOf(a)
	}
	switch name {
	case "len":
		if x := types[0]; !isLoose(x) && x.Kind != List && x.Kind != Record && !isTextual(x) {
			t.report("type-mismatch", n, "use a list or a text", "%s has no length", x)
		}
		return intType
	case "concat":
		out := &Type{Kind: List, Of: nullType}
		for i, x := range types {
			if isLoose(x) {
				out.Of = anyType
			} else if x.Kind != List {
				t.report("type-mismatch", args[i], "use lists", "%s is no list", x)
			} else {
				out.Of = unify(out.Of, x.Of)
			}
		}
		return out
	case "first", "last":
		if types[0].Kind == List {
			return types[0].Of
		}
		return anyType
	case "reverse":
		return types[0]
	case "keys", "split":
		return stringList
	case "values":
		return &Type{Kind: List, Of: anyType}
	case "hash", "string", "lower", "upper", "trim", "join", "json", "table", "prose":
		return stringType
	case "int", "round", "floor", "ceil":
		return intType
	case "float":
		return floatType
	case "abs":
		return t.checkNumber(args[0])
	case "min", "max":
		return t.typeOfExtreme(types)
	}
	return anyType
}

func (t *typer) typeOfExtreme(types []*Type) *Type {
	out := nullType
	for _, x := range types {
		if x.Kind == List {
			x = x.Of
		}
		out = unify(out, x)
	}
	return out
}

func (t *typer) typeOfLoop(n ast.Node, name string, args []ast.Node) *Type {
	list := t.typeOf(args[0])
	item := anyType
	switch {
	case isLoose(list):
	case list.Kind == List:
		item = list.Of
	default:
		t.report("type-mismatch", n, "use a list", "%s goes over lists, not %s", name, list)
	}
	result := item
	if len(args) > 1 {
		if p, ok := args[1].(*ast.PredicateNode); ok {
			t.items = append(t.items, item)
			result = t.typeOf(p.Node)
			if strings.Contains("any all none one filter find count", name) && !isLoose(result) && result.Kind != Bool {
				t.report("type-mismatch", p.Node, "write a condition", "%s is not true or false", result)
			}
			t.items = t.items[:len(t.items)-1]
		}
	}
	switch name {
	case "map":
		return &Type{Kind: List, Of: result}
	case "filter":
		return &Type{Kind: List, Of: item}
	case "find":
		return item
	case "count":
		return intType
	case "sum":
		return result
	}
	return boolType
}
