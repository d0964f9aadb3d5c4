package queryplan

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"interlock/internal/schema"
)

// expandMetrics is the plan with the expressions of the metrics that it names in their place.
// Plans inside of it are expanded when they are compiled.
func (c *compiler) expandMetrics(p *Plan, path string) *Plan {
	out := *p
	x := &expander{compiler: c, plan: p}
	out.Select = x.exprs(p.Select, path+".select")
	out.Having = x.filters(p.Having, path+".having")
	out.OrderBy = x.orders(p.OrderBy, path+".order_by")
	if p.Top != nil {
		top := *p.Top
		top.OrderBy = x.orders(p.Top.OrderBy, path+".top.order_by")
		out.Top = &top
	}
	for i, t := range p.GroupBy {
		x.refuse(t.Expr, fmt.Sprintf("%s.group_by[%d]", path, i))
	}
	for i, f := range p.Filters {
		x.refuse(f.Expr, fmt.Sprintf("%s.filters[%d]", path, i))
	}
	if !x.found {
		return p
	}
	return &out
}

// Expanded is the plan with its metrics spelled out, for who looks at what a plan does. Plans
// inside of it stay as they are.
func (p *Plan) Expanded(s schema.Dataset) *Plan {
	return newCompiler(dialectOf(s), s).expandMetrics(p, "")
}

// An expander puts metrics into one plan.
type expander struct {
	*compiler
	plan  *Plan
	found bool
}

// refuse says that a metric cannot stand where rows are looked at one by one.
func (x *expander) refuse(e Expr, path string) {
	if e.Metric != "" {
		x.fail(path+".metric", "%s is a number of many rows; put it into select, having or order_by", e.Metric)
	}
}

func (x *expander) exprs(list []Expr, path string) []Expr {
	out := slices.Clone(list)
	for i, e := range list {
		out[i] = x.expr(e, fmt.Sprintf("%s[%d]", path, i))
	}
	return out
}

func (x *expander) filters(list []Filter, path string) []Filter {
	out := slices.Clone(list)
	for i, f := range list {
		at := fmt.Sprintf("%s[%d]", path, i)
		out[i].Expr = x.expr(f.Expr, at)
		out[i].Any, out[i].All = x.filters(f.Any, at+".any"), x.filters(f.All, at+".all")
		if f.Not != nil {
			not := x.filters([]Filter{*f.Not}, at+".not")[0]
			out[i].Not = &not
		}
		if f.Other != nil {
			other := x.expr(*f.Other, at+".other")
			out[i].Other = &other
		}
	}
	return out
}

func (x *expander) orders(list []Order, path string) []Order {
	out := slices.Clone(list)
	for i, o := range list {
		out[i].Expr = x.expr(o.Expr, fmt.Sprintf("%s[%d]", path, i))
	}
	return out
}

// expr is a value with metrics expanded, however deep they stand.
func (x *expander) expr(e Expr, path string) Expr {
	if e.Of != nil {
		of := x.expr(*e.Of, path+".of")
		e.Of = &of
	}
	if e.Math != nil {
		m := *e.Math
		m.Left, m.Right = x.expr(m.Left, path+".math.left"), x.expr(m.Right, path+".math.right")
		e.Math = &m
	}
	if e.Metric == "" {
		return e
	}
	x.found = true
	m, ok := x.dataset.Metric(e.Metric)
	if !ok {
		x.fail(path+".metric", "there is no metric %q; there are %s", e.Metric, cmp.Or(list(x.metricNames()), "none"))
		return Expr{Literal: Literal(0)}
	}
	if e.Column != "" || e.Literal != nil || e.Of != nil || e.Math != nil || len(e.Replace) > 0 || e.Cast != "" || e.Part != "" || e.Truncate != "" || e.Function != "" {
		x.fail(path+".metric", "a metric stands alone; only where and alias go with it")
	}
	body, err := ParseMetric(m.Expression)
	if err != nil {
		x.fail(path+".metric", "the metric %s cannot be computed: %v", m.Name, err)
		return Expr{Literal: Literal(0)}
	}
	x.checkRows(m, body, path+".metric")
	body = x.placed(body, e.Where)
	body.Alias = cmp.Or(e.Alias, m.Name)
	return body
}

func (x *expander) metricNames() []string {
	var names []string
	if x.dataset.Meaning != nil {
		for _, m := range x.dataset.Meaning.Metrics {
			names = append(names, m.Name)
		}
	}
	return names
}

// placed writes the columns of a metric under the names that the plan gives its tables, and
// adds conditions to each of its aggregates.
func (x *expander) placed(e Expr, where []Filter) Expr {
	return mapExpr(e, func(e Expr) Expr {
		if table, name, ok := strings.Cut(e.Column, "."); ok {
			if alias := x.nameOf(table); alias != "" {
				e.Column = alias + "." + name
			}
		}
		if e.Function.aggregate() {
			e.Where = slices.Concat(e.Where, where)
		}
		return e
	})
}

// mapExpr changes every value inside of a value, the innermost first, conditions included.
func mapExpr(e Expr, change func(Expr) Expr) Expr {
	if e.Of != nil {
		of := mapExpr(*e.Of, change)
		e.Of = &of
	}
	if e.Math != nil {
		m := *e.Math
		m.Left, m.Right = mapExpr(m.Left, change), mapExpr(m.Right, change)
		e.Math = &m
	}
	e.Where = mapFilters(e.Where, change)
	return change(e)
}

func mapFilters(list []Filter, change func(Expr) Expr) []Filter {
	out := slices.Clone(list)
	for i, f := range list {
		out[i].Expr = mapExpr(f.Expr, change)
		out[i].Any, out[i].All = mapFilters(f.Any, change), mapFilters(f.All, change)
		if f.Not != nil {
			not := mapFilters([]Filter{*f.Not}, change)[0]
			out[i].Not = &not
		}
		if f.Other != nil {
			other := mapExpr(*f.Other, change)
			out[i].Other = &other
		}
	}
	return out
}

// MapColumns changes the columns of an expression, such as their names.
func MapColumns(e Expr, change func(Expr) Expr) Expr {
	return mapExpr(e, func(e Expr) Expr {
		if e.Column == "" {
			return e
		}
		return change(e)
	})
}

// CountedTables are the tables whose rows an expression adds up or counts, so that a row that
// a join repeats would change it. Columns must be written with their table.
func CountedTables(e Expr) []string {
	var tables []string
	mapExpr(e, func(e Expr) Expr {
		if !e.Function.aggregate() || e.Function == CountDistinct || e.Function == Min || e.Function == Max {
			return e
		}
		inner := e
		inner.Where = nil
		MapColumns(inner, func(c Expr) Expr {
			if table, _, ok := strings.Cut(c.Column, "."); ok && !slices.Contains(tables, table) {
				tables = append(tables, table)
			}
			return c
		})
		return e
	})
	return tables
}

// nameOf is the name that the plan gives a table, "" where it has not exactly one.
func (x *expander) nameOf(table string) string {
	found, n := "", 0
	for _, t := range append([]Join{{Table: x.plan.Table, Alias: x.plan.Alias}}, x.plan.Joins...) {
		if strings.EqualFold(t.Table, table) {
			found, n = cmp.Or(t.Alias, t.Table), n+1
		}
	}
	if n != 1 {
		return ""
	}
	return found
}

// checkRows refuses a metric whose rows the plan does not have, or has several times.
func (x *expander) checkRows(m schema.Metric, body Expr, path string) {
	tables := map[string]bool{strings.ToLower(m.Table): m.Table != ""}
	MapColumns(body, func(e Expr) Expr {
		if table, _, ok := strings.Cut(e.Column, "."); ok {
			tables[strings.ToLower(table)] = true
		}
		return e
	})
	for _, t := range x.dataset.Tables {
		if tables[strings.ToLower(t.Name)] && x.nameOf(t.Name) == "" {
			x.fail(path, "%s is about rows of %s; take rows from that table or join it, once", m.Name, t.Name)
			return
		}
	}
	if j := x.multiplies(m.Table); j != "" {
		x.fail(path, "joining %s repeats rows of %s, so that %s would count them several times; filter by a plan instead of the join", j, m.Table, m.Name)
	}
}

// multiplies names a joined table that may have several rows for one row of the metric's.
func (x *expander) multiplies(table string) string {
	type edge struct{ a, aCol, b, bCol string }
	var edges []edge
	bound := map[string]string{strings.ToLower(cmp.Or(x.plan.Alias, x.plan.Table)): x.plan.Table}
	for _, j := range x.plan.Joins {
		name := strings.ToLower(cmp.Or(j.Alias, j.Table))
		bound[name] = j.Table
		if len(j.On) == 1 { // a join by several columns is taken as one by a whole key
			left, lc, _ := strings.Cut(j.On[0].Left, ".")
			_, rc, dotted := strings.Cut(j.On[0].Right, ".")
			if !dotted {
				rc = j.On[0].Right
			}
			edges = append(edges, edge{strings.ToLower(left), lc, name, rc})
		}
		if len(j.On) > 0 {
			continue
		}
		for before, t := range bound {
			for _, r := range x.dataset.Between(t, j.Table) {
				e := edge{before, r.Column, name, r.RefColumn}
				if strings.EqualFold(r.Table, j.Table) {
					e = edge{before, r.RefColumn, name, r.Column}
				}
				if before != name {
					edges = append(edges, e)
				}
			}
		}
	}
	seen := map[string]bool{strings.ToLower(x.nameOf(table)): true}
	for range edges {
		for _, e := range edges {
			for _, step := range []edge{e, {e.b, e.bCol, e.a, e.aCol}} {
				if !seen[step.a] || seen[step.b] {
					continue
				}
				seen[step.b] = true
				if t, ok := x.dataset.Table(bound[step.b]); ok && !t.IsKey(step.bCol) && !x.isReferred(t.Name, step.bCol) {
					return t.Name
				}
			}
		}
	}
	return ""
}

// isReferred says that columns of other tables refer to this one: it is a key in all but name.
func (x *expander) isReferred(table, column string) bool {
	return slices.ContainsFunc(x.dataset.Relations, func(r schema.Relation) bool {
		return strings.EqualFold(r.RefTable, table) && strings.EqualFold(r.RefColumn, column)
	})
}
