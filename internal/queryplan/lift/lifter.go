package lift

import (
	"maps"
	"slices"
	"strings"

	"interlock/internal/queryplan"
	"interlock/internal/schema"
)

// A lifter turns what was written into plans.
type lifter struct {
	dataset schema.Dataset
	with    map[string]*selection // the names of WITH that are seen
}

// A scope is what the names of a selection refer to.
type scope struct {
	tables []bound
	items  []item // of the selection, for ORDER BY and HAVING
	outer  *scope
}

type bound struct {
	said    string // the name in the statement
	name    string // the name in the plan
	table   string
	columns []string
}

func (l *lifter) plan(s *selection, outer *scope) *queryplan.Plan {
	if len(s.with) > 0 {
		kept := l.with
		l.with = maps.Clone(l.with)
		maps.Copy(l.with, s.with)
		defer func() { l.with = kept }()
	}
	p := &queryplan.Plan{Distinct: s.distinct, Limit: max(s.limit, 0), Offset: s.offset}
	in := &scope{items: s.items, outer: outer}
	conditions := conjuncts(s.where)
	conditions = l.bind(p, s, in, conditions)
	for _, it := range s.items {
		p.Select = append(p.Select, l.selected(it, in)...)
	}
	for _, c := range conditions {
		p.Filters = append(p.Filters, l.filter(c, in))
	}
	for _, g := range s.group {
		p.GroupBy = append(p.GroupBy, queryplan.Term{Expr: l.value(in.named(g), in)})
	}
	for _, c := range conjuncts(s.having) {
		p.Having = append(p.Having, l.filter(in.namedInside(c), in))
	}
	for _, o := range s.order {
		e := queryplan.Order{Expr: l.value(in.named(o.value), in), Direction: queryplan.Asc}
		if o.desc {
			e.Direction = queryplan.Desc
		}
		p.OrderBy = append(p.OrderBy, e)
	}
	for _, c := range s.sets {
		p.Combine = append(p.Combine, queryplan.Combine{Operation: setOperations[c.operation], Plan: *l.plan(c.selection, outer)})
	}
	return p
}

var setOperations = map[string]queryplan.SetOperation{
	"union": queryplan.Union, "union all": queryplan.UnionAll, "intersect": queryplan.Intersect, "except": queryplan.Except,
	"intersect all": queryplan.Intersect, "except all": queryplan.Except,
}

// bind names the tables of a selection and joins them. It returns the conditions that join nothing.
func (l *lifter) bind(p *queryplan.Plan, s *selection, in *scope, conditions []*node) []*node {
	if len(s.from) == 0 {
		refuse("it reads no table")
	}
	seen := map[string]int{}
	for _, f := range s.from {
		seen[strings.ToLower(f.table)]++
	}
	for i, f := range s.from {
		sub := f.sub
		if c := l.with[strings.ToLower(f.table)]; sub == nil && c != nil {
			sub = c
		}
		if sub != nil {
			if len(s.from) > 1 {
				refuse("it joins the result of a query")
			}
			p.From = l.plan(sub, nil)
			in.tables = append(in.tables, bound{said: orName(f.alias, f.table), columns: columnsOf(p.From)})
			continue
		}
		t, ok := l.dataset.Table(f.table)
		if !ok {
			refuse("there is no table %q", f.table)
		}
		b := bound{said: orName(f.alias, f.table), name: t.Name, table: t.Name}
		for _, c := range t.Columns {
			b.columns = append(b.columns, c.Name)
		}
		alias := ""
		if seen[strings.ToLower(f.table)] > 1 && f.alias != "" {
			b.name, alias = f.alias, f.alias
		}
		in.tables = append(in.tables, b)
		if i == 0 {
			p.Table, p.Alias = t.Name, alias
			continue
		}
		j := queryplan.Join{Table: t.Name, Alias: alias, Kind: queryplan.Inner}
		if f.left {
			j.Kind = queryplan.Left
		}
		var rest []*node
		j.On, rest = l.pairs(conjuncts(f.on), in)
		for _, u := range f.using {
			j.On = append(j.On, queryplan.Pair{Left: in.owner(u, len(in.tables)-1) + "." + u, Right: b.name + "." + u})
		}
		if len(j.On) == 0 {
			j.On, conditions = l.pairs(conditions, in)
		}
		if f.left && len(rest) > 0 {
			refuse("a left join has conditions beside its key")
		}
		conditions = append(conditions, rest...)
		p.Joins = append(p.Joins, j)
	}
	return conditions
}

// pairs takes the equalities that link the last table to an earlier one out of conditions.
func (l *lifter) pairs(conditions []*node, in *scope) (on []queryplan.Pair, rest []*node) {
	last := in.tables[len(in.tables)-1]
	for _, c := range conditions {
		if c.op != opCompare || c.text != "=" || c.not || c.args[0].op != opColumn || c.args[1].op != opColumn {
			rest = append(rest, c)
			continue
		}
		a, okA := in.find(c.args[0].text)
		b, okB := in.find(c.args[1].text)
		switch {
		case !okA || !okB || a.owner == b.owner || a.owner != last.name && b.owner != last.name:
			rest = append(rest, c)
		case b.owner == last.name:
			on = append(on, queryplan.Pair{Left: a.ref(), Right: b.ref()})
		default:
			on = append(on, queryplan.Pair{Left: b.ref(), Right: a.ref()})
		}
	}
	return on, rest
}

// A found column, with the name of its table in the plan.
type found struct{ owner, column string }

func (f found) ref() string {
	if f.owner == "" {
		return f.column
	}
	return f.owner + "." + f.column
}

// find looks a name up among the tables of the scope, not of those around it.
func (in *scope) find(name string) (found, bool) {
	table, column, dotted := strings.Cut(name, ".")
	if !dotted {
		table, column = "", name
	}
	for _, b := range in.tables {
		if table != "" && !strings.EqualFold(table, b.said) && !strings.EqualFold(table, b.table) {
			continue
		}
		if i := slices.IndexFunc(b.columns, func(c string) bool { return strings.EqualFold(c, column) }); i >= 0 {
			return found{b.name, b.columns[i]}, true
		}
	}
	return found{}, false
}

// owner names the first of so many tables that has a column.
func (in *scope) owner(column string, first int) string {
	for _, b := range in.tables[:first] {
		if slices.ContainsFunc(b.columns, func(c string) bool { return strings.EqualFold(c, column) }) {
			return b.name
		}
	}
	refuse("no table has a column %q", column)
	return ""
}

// named follows the number or the alias of an item to what it stands for.
func (in *scope) named(n *node) *node {
	if n.op == opNumber {
		for i, it := range in.items {
			if n.text == numeral(i+1) {
				return it.value
			}
		}
		refuse("there is no item %s", n.text)
	}
	return in.namedInside(n)
}

// namedInside follows the aliases inside a value, but for those that are columns as well.
func (in *scope) namedInside(n *node) *node {
	if n == nil {
		return nil
	}
	if n.op == opColumn {
		if _, column := in.find(n.text); column {
			return n
		}
		for _, it := range in.items {
			if it.alias != "" && strings.EqualFold(it.alias, n.text) {
				return it.value
			}
		}
		return n
	}
	if len(n.args) == 0 {
		return n
	}
	c := *n
	c.args = slices.Clone(n.args)
	for i, a := range c.args {
		c.args[i] = in.namedInside(a)
	}
	return &c
}

// conjuncts are the conditions that must all hold.
func conjuncts(n *node) []*node {
	switch {
	case n == nil:
		return nil
	case n.op == opAnd && !n.not:
		return append(conjuncts(n.args[0]), conjuncts(n.args[1])...)
	case isAlwaysTrue(n):
		return nil
	}
	return []*node{n}
}

// isAlwaysTrue says that a condition is one that generators write: 1=1.
func isAlwaysTrue(n *node) bool {
	return n.op == opTruth && n.text == "true" || n.op == opCompare && n.text == "=" && n.args[0].op == opNumber && n.args[1].op == opNumber && n.args[0].text == n.args[1].text
}

// columnsOf are the names that a plan selects.
func columnsOf(p *queryplan.Plan) []string {
	var out []string
	for _, e := range p.Select {
		out = append(out, orName(e.Alias, e.Column[strings.LastIndexByte(e.Column, '.')+1:]))
	}
	return out
}

func orName(a, b string) string {
	if a != "" {
		return a
	}
	return b
}
