package machine

import (
	"slices"
	"strings"

	"github.com/expr-lang/expr/ast"
)

// functions are the calls of the guard language that take values, with the number
// of their arguments (-1 = any).
var functions = map[string]struct {
	args int
	call func(f *frame, args []any) any
}{
	"len":     {1, func(_ *frame, a []any) any { return float64(length(a[0])) }},
	"concat":  {-1, concat},
	"hash":    {-1, func(_ *frame, a []any) any { return hashText(a) }},
	"keys":    {1, func(_ *frame, a []any) any { return recordKeys(a[0]) }},
	"values":  {1, func(_ *frame, a []any) any { return recordValues(a[0]) }},
	"first":   {1, func(_ *frame, a []any) any { return elementAt(a[0], 0.0) }},
	"last":    {1, func(_ *frame, a []any) any { return elementAt(a[0], -1.0) }},
	"min":     {-1, func(f *frame, a []any) any { return extreme(f, a, "<") }},
	"max":     {-1, func(f *frame, a []any) any { return extreme(f, a, ">") }},
	"abs":     {1, func(_ *frame, a []any) any { return round(a[0], 'a') }},
	"round":   {1, func(_ *frame, a []any) any { return round(a[0], 'r') }},
	"floor":   {1, func(_ *frame, a []any) any { return round(a[0], 'f') }},
	"ceil":    {1, func(_ *frame, a []any) any { return round(a[0], 'c') }},
	"int":     {1, func(_ *frame, a []any) any { return round(a[0], 'i') }},
	"float":   {1, func(_ *frame, a []any) any { return round(a[0], 'n') }},
	"string":  {1, func(_ *frame, a []any) any { return valueText(a[0]) }},
	"lower":   {1, func(_ *frame, a []any) any { return onText(a[0], strings.ToLower) }},
	"upper":   {1, func(_ *frame, a []any) any { return onText(a[0], strings.ToUpper) }},
	"trim":    {1, func(_ *frame, a []any) any { return onText(a[0], strings.TrimSpace) }},
	"join":    {-1, join},
	"split":   {2, split},
	"reverse": {1, reverse},
	"json":    {1, documentIn},
	"table":   {2, markdownTable},
	"prose":   {2, withoutRows},
}

// loops are the calls that run a predicate for each item of a list.
var loops = map[string]func(f *frame, items []any, pred evalFunc) any{
	"any":    func(f *frame, xs []any, p evalFunc) any { return countItems(f, xs, p, 1) >= 1 },
	"all":    func(f *frame, xs []any, p evalFunc) any { return countItems(f, xs, negate(p), 1) == 0 },
	"none":   func(f *frame, xs []any, p evalFunc) any { return countItems(f, xs, p, 1) == 0 },
	"one":    func(f *frame, xs []any, p evalFunc) any { return countItems(f, xs, p, 2) == 1 },
	"count":  func(f *frame, xs []any, p evalFunc) any { return float64(countItems(f, xs, p, len(xs)+1)) },
	"filter": filterItems,
	"map":    mapItems,
	"find":   findItem,
	"sum":    sumItems,
}

func (c *compiler) compileBuiltin(n *ast.BuiltinNode) evalFunc {
	if run := loops[n.Name]; run != nil {
		return c.compileLoop(n, run)
	}
	return c.compileFunction(n, n.Name, n.Arguments)
}

func (c *compiler) compileCall(n *ast.CallNode) evalFunc {
	callee, ok := n.Callee.(*ast.IdentifierNode)
	if !ok {
		return c.fail(n, "values have no methods")
	}
	if callee.Value == "visits" {
		return c.compileVisits(n)
	}
	return c.compileFunction(n, callee.Value, n.Arguments)
}

func (c *compiler) compileFunction(n ast.Node, name string, args []ast.Node) evalFunc {
	fn, ok := functions[name]
	if !ok {
		return c.fail(n, "there is no function %s; there are %s", name, strings.Join(functionNames(), ", "))
	}
	if fn.args >= 0 && len(args) != fn.args {
		return c.fail(n, "%s takes %d argument(s), not %d", name, fn.args, len(args))
	}
	if name == "len" {
		x := c.compileNode(args[0])
		return func(f *frame) any { return float64(length(x(f))) }
	}
	values := c.compileNodes(args)
	return func(f *frame) any {
		given := make([]any, len(values))
		for i, v := range values {
			given[i] = v(f)
		}
		return fn.call(f, given)
	}
}

func (c *compiler) compileVisits(n *ast.CallNode) evalFunc {
	if len(n.Arguments) != 1 {
		return c.fail(n, "visits takes the name of a state")
	}
	name, ok := n.Arguments[0].(*ast.StringNode)
	if !ok {
		return c.fail(n, "the state of visits must be written out")
	}
	state := name.Value
	get := func(f *frame) any { return float64(f.scope.Visits[state]) }
	c.recordRef(`visits("`+state+`")`, get)
	return get
}

func (c *compiler) compileLoop(n *ast.BuiltinNode, run func(*frame, []any, evalFunc) any) evalFunc {
	list := c.compileNode(n.Arguments[0])
	pred := func(f *frame) any { return f.items[len(f.items)-1] }
	if len(n.Arguments) > 1 {
		p, ok := n.Arguments[1].(*ast.PredicateNode)
		if !ok {
			return c.fail(n, "%s takes a list and a predicate", n.Name)
		}
		c.depth++
		pred = c.compileNode(p.Node)
		c.depth--
	}
	return func(f *frame) any {
		items, _ := plainNumber(list(f)).([]any)
		if len(items) > 0 && !f.useFuel(len(items)) {
			return nil
		}
		return run(f, items, pred)
	}
}

// eachItem runs the predicate with every item as `#` until stop says so.
func eachItem(f *frame, items []any, pred evalFunc, stop func(i int, v any) bool) {
	at := len(f.items)
	f.items = append(f.items, nil)
	for i, item := range items {
		if f.fuel < 0 {
			break
		}
		f.items[at] = plainNumber(item)
		if stop(i, pred(f)) {
			break
		}
	}
	f.items[at] = nil
	f.items = f.items[:at]
}

func negate(p evalFunc) evalFunc { return func(f *frame) any { return !isTrue(p(f)) } }

func countItems(f *frame, items []any, pred evalFunc, enough int) int {
	n := 0
	eachItem(f, items, pred, func(_ int, v any) bool {
		if isTrue(v) {
			n++
		}
		return n >= enough
	})
	return n
}

func filterItems(f *frame, items []any, pred evalFunc) any {
	kept := []any{}
	eachItem(f, items, pred, func(i int, v any) bool {
		if isTrue(v) {
			kept = append(kept, plainNumber(items[i]))
		}
		return false
	})
	return kept
}

func mapItems(f *frame, items []any, pred evalFunc) any {
	out := make([]any, 0, len(items))
	eachItem(f, items, pred, func(_ int, v any) bool {
		out = append(out, v)
		return false
	})
	return out
}

func findItem(f *frame, items []any, pred evalFunc) any {
	var found any
	eachItem(f, items, pred, func(i int, v any) bool {
		if isTrue(v) {
			found = plainNumber(items[i])
			return true
		}
		return false
	})
	return found
}

func sumItems(f *frame, items []any, pred evalFunc) any {
	total := 0.0
	eachItem(f, items, pred, func(_ int, v any) bool {
		if x, ok := v.(float64); ok {
			total += x
		}
		return false
	})
	return finiteOrNil(total)
}

func functionNames() []string {
	names := []string{"visits"}
	for name := range functions {
		names = append(names, name)
	}
	for name := range loops {
		names = append(names, name)
	}
	slices.Sort(names)
	return names
}
