package nlq

import (
	"slices"

	"interlock/internal/queryplan"
)

// addConditions writes the conditions. One on rows that hang many to one on the result is
// a join; one on rows of which a result row may have many asks whether such a row
// exists, so that it multiplies nothing.
func (b *builder) addConditions() {
	var rows [][]queryplan.Filter // alternatives of each
	add := func(f queryplan.Filter, or bool) {
		if or && len(rows) > 0 {
			rows[len(rows)-1] = append(rows[len(rows)-1], f)
			return
		}
		rows = append(rows, []queryplan.Filter{f})
	}
	done := make([]bool, len(b.conds))
	for i, c := range b.conds {
		if done[i] {
			continue
		}
		switch {
		case c.agg != "" && b.asHaving(c):
			b.addHaving(c)
		case c.agg != "":
			if f, ok := b.filterByCount(c); ok {
				add(f, c.or)
			}
		case c.both:
			also := b.sameRowConditions(i, done)
			for _, v := range c.values {
				one := c
				one.both, one.values, one.op = false, []any{v}, queryplan.Eq
				if f, ok := b.existsFilter(b.x.columns[c.col].table, append([]cond{one}, also...), false); ok {
					add(f, false)
				}
			}
		case c.exists:
			if f, ok := b.existsFilter(c.table, nil, c.neg); ok {
				add(f, c.or)
			}
		default:
			t := b.x.columns[c.col].table
			if t != b.base && b.mayMultiply(b.base, t) && !b.showsTable(t) {
				same := []cond{c}
				if !c.or {
					same = append(same, b.sameRowConditions(i, done)...)
				}
				same[0].neg = false
				if f, ok := b.existsFilter(t, same, c.neg); ok {
					add(f, c.or)
				}
				continue
			}
			if f, ok := b.filterNever(c); ok {
				add(f, c.or)
				continue
			}
			b.isWanted(t)
			add(b.columnFilter(c), c.or)
		}
	}
	for _, alternatives := range rows {
		if len(alternatives) == 1 {
			b.addFilter(alternatives[0])
		} else {
			b.addFilter(queryplan.Filter{Any: alternatives})
		}
	}
}

// filterNever keeps a property that many rows share only where none of its rows passes:
// products not sold in the East were sold there in no row.
func (b *builder) filterNever(c cond) (queryplan.Filter, bool) {
	if !c.neg || c.op != queryplan.Eq || !b.plan.Distinct || len(b.reader.items) != 1 || b.reader.items[0].col == c.col {
		return queryplan.Filter{}, false
	}
	shown := b.reader.items[0].col
	if b.x.columns[shown].table != b.base || b.x.columns[c.col].table != b.base || !b.hasSharedValues(shown) {
		return queryplan.Filter{}, false
	}
	c.neg = false
	sub := queryplan.Plan{Table: b.x.tableName(b.base), Select: []queryplan.Expr{queryplan.Col(b.columnRef(shown))}, Filters: []queryplan.Filter{b.columnFilter(c)}}
	return inFilter(b.columnRef(shown), sub, true), true
}

func (b *builder) addFilter(f queryplan.Filter) { b.plan.Filters = append(b.plan.Filters, f) }

// sameRowConditions are the later conditions on the same table, which the same row must
// pass.
func (b *builder) sameRowConditions(i int, done []bool) []cond {
	var out []cond
	t := b.x.columns[b.conds[i].col].table
	for k := i + 1; k < len(b.conds); k++ {
		c := b.conds[k]
		if c.or {
			break
		}
		if c.neg && (c.col == b.conds[i].col || b.conds[i].neg) {
			continue // from X but not from Y: two questions to two rows
		}
		if !done[k] && c.agg == "" && !c.exists && !c.both && c.col >= 0 && b.x.columns[c.col].table == t {
			out = append(out, c)
			done[k] = true
		}
	}
	return out
}

// showsTable reports whether the result shows or ranks by columns of the table, so that its
// rows are joined anyway.
func (b *builder) showsTable(t int) bool {
	for _, it := range b.reader.items {
		if it.col >= 0 && b.x.columns[it.col].table == t || it.col < 0 && it.table == t {
			return true
		}
	}
	for _, s := range b.sups {
		if s.table == t || s.col >= 0 && b.x.columns[s.col].table == t {
			return true
		}
	}
	for _, g := range b.groups {
		if b.x.columns[g.col].table == t {
			return true
		}
	}
	return slices.ContainsFunc(b.conds, func(c cond) bool { return c.agg != "" && c.table == t && b.asHaving(c) })
}

// columnFilter writes one condition on a column.
func (b *builder) columnFilter(c cond) queryplan.Filter {
	col := &b.x.columns[c.col]
	if c.op == queryplan.Eq || c.op == queryplan.In {
		if all := b.x.addSpellings(c.col, c.values); len(all) > len(c.values) {
			c.op, c.values = queryplan.In, all
		}
	}
	op := c.op
	if c.neg {
		switch op {
		case queryplan.Eq:
			op = queryplan.Ne
		case queryplan.In:
			op = queryplan.NotIn
		case queryplan.Between:
			op = queryplan.NotBetween
		case queryplan.Contains:
			op = queryplan.NotContains
		case queryplan.IsNull:
			op = queryplan.IsNotNull
		default:
			c.neg = false
			f := b.columnFilter(c)
			return queryplan.Filter{Not: &f}
		}
	}
	number := op != queryplan.Eq && op != queryplan.Ne && op != queryplan.In && op != queryplan.NotIn && !col.date
	f := queryplan.Filter{Expr: b.expr(c.col, number && c.op != queryplan.Contains), Operator: op}
	switch {
	case c.with != "":
		sub := &queryplan.Plan{Table: b.x.tableName(col.table), Select: []queryplan.Expr{b.aggregate(c.with, c.col)}}
		*sub = unqualified(*sub)
		f.Expr = b.expr(c.col, true)
		f.Plan = sub
	case op == queryplan.IsNull || op == queryplan.IsNotNull:
	case op == queryplan.In || op == queryplan.NotIn || op == queryplan.Between || op == queryplan.NotBetween:
		f.Value = queryplan.Literal(c.values)
	default:
		f.Value = queryplan.Literal(c.values[0])
	}
	return f
}

// existsFilter asks whether a row of the base has rows of a table that pass conditions.
func (b *builder) existsFilter(t int, conds []cond, neg bool) (queryplan.Filter, bool) {
	left, sub, ok := b.childPlan(t, false)
	if !ok {
		b.reason = "no key links " + b.x.tableName(b.base) + " to " + b.x.tableName(t)
		return queryplan.Filter{}, false
	}
	for _, c := range conds {
		sub.Filters = append(sub.Filters, b.columnFilter(c))
	}
	f := inFilter(left, sub, neg)
	if neg && b.isReference(left) {
		// A reference that is empty leads nowhere, too.
		f = queryplan.Filter{Any: []queryplan.Filter{{Expr: f.Expr, Operator: queryplan.IsNull}, f}}
	}
	return f, true
}

// isReference reports whether a column of the plan refers to another table.
func (b *builder) isReference(ref string) bool {
	for i := range b.x.columns {
		if b.columnRef(i) == ref {
			return b.x.columns[i].ref >= 0 && !b.x.columns[i].part
		}
	}
	return false
}

func inFilter(left string, sub queryplan.Plan, neg bool) queryplan.Filter {
	if len(sub.Joins) == 0 {
		sub = unqualified(sub)
	}
	f := queryplan.Filter{Expr: queryplan.Col(left), Operator: queryplan.In, Plan: &sub}
	if neg {
		f.Operator = queryplan.NotIn
	}
	return f
}

// childPlan is a plan of the rows of a table that hang on the base, which selects the
// column that refers to it, and the base's column that it must be found in. Where rows are only
// counted, the references that lead to one row each stand for these rows.
func (b *builder) childPlan(t int, counted bool) (string, queryplan.Plan, bool) {
	way := b.cheapestPath([]int{b.base}, t)
	for counted && len(way) > 1 && !way[len(way)-1].many {
		way = way[:len(way)-1]
	}
	if len(way) == 0 {
		return "", queryplan.Plan{}, false
	}
	first := way[0]
	if b.ambiguousEdge(first) {
		b.doubt("two ways to join", 1)
	}
	j := b.join(first)
	sub := queryplan.Plan{Table: j.Table, Select: []queryplan.Expr{queryplan.Col(j.On[0].Right)}}
	for _, e := range way[1:] {
		sub.Joins = append(sub.Joins, b.join(e))
	}
	return j.On[0].Left, sub, true
}

// asHaving reports whether a condition on an aggregate is one on the groups of the
// result, and not one on rows of the base that have so many others.
func (b *builder) asHaving(c cond) bool {
	if c.or {
		return false
	}
	if c.col >= 0 && c.agg != queryplan.CountDistinct {
		return true
	}
	t := c.table
	if c.col >= 0 {
		t = b.x.columns[c.col].table
	}
	if len(b.reader.items) > 0 && (t == b.base || !b.mayMultiply(b.base, t)) {
		return true
	}
	for _, it := range b.reader.items {
		if it.agg == queryplan.Count && it.table == t {
			return true
		}
		if it.agg == "" && it.col >= 0 && it.table == t {
			return true
		}
	}
	// A property of the base that is no name of a row is grouped by.
	for _, it := range b.reader.items {
		if it.agg == "" && it.table == b.base && b.base != b.subject {
			return true
		}
	}
	return false
}

func (b *builder) addHaving(c cond) {
	f := queryplan.Filter{Expr: b.aggregate(c.agg, c.col), Operator: c.op}
	if c.neg {
		f.Operator = oppositeOp(c.op)
	}
	if c.col >= 0 {
		b.isWanted(b.x.columns[c.col].table)
	} else {
		b.isWanted(c.table)
	}
	if c.op == queryplan.Between {
		f.Value = queryplan.Literal(c.values)
	} else {
		f.Value = queryplan.Literal(c.values[0])
	}
	b.plan.Having = append(b.plan.Having, f)
}

// filterByCount keeps rows of the base by how many rows of another table they have.
func (b *builder) filterByCount(c cond) (queryplan.Filter, bool) {
	t := c.table
	if c.col >= 0 {
		t = b.x.columns[c.col].table
	}
	left, sub, ok := b.childPlan(t, c.col < 0)
	if !ok {
		b.reason = "no key links " + b.x.tableName(b.base) + " to " + b.x.tableName(t)
		return queryplan.Filter{}, false
	}
	f := queryplan.Filter{Expr: b.aggregate(c.agg, c.col), Operator: c.op, Value: queryplan.Literal(c.values[0])}
	if c.op == queryplan.Between {
		f.Value = queryplan.Literal(c.values)
	}
	sub.GroupBy = []queryplan.Term{{Expr: sub.Select[0]}}
	sub.Having = []queryplan.Filter{f}
	return inFilter(left, sub, c.neg), true
}

// unqualified drops the table from the columns of a plan that has only one.
func unqualified(p queryplan.Plan) queryplan.Plan {
	cut := func(e *queryplan.Expr) {
		if len(e.Column) > len(p.Table) && e.Column[:len(p.Table)+1] == p.Table+"." {
			e.Column = e.Column[len(p.Table)+1:]
		}
	}
	p.Select = slices.Clone(p.Select)
	for i := range p.Select {
		cut(&p.Select[i])
	}
	p.GroupBy = slices.Clone(p.GroupBy)
	for i := range p.GroupBy {
		cut(&p.GroupBy[i].Expr)
	}
	p.OrderBy = slices.Clone(p.OrderBy)
	for i := range p.OrderBy {
		cut(&p.OrderBy[i].Expr)
	}
	if p.Top != nil {
		top := *p.Top
		top.Per, top.OrderBy = slices.Clone(top.Per), slices.Clone(top.OrderBy)
		for i := range top.Per {
			cut(&top.Per[i].Expr)
		}
		for i := range top.OrderBy {
			cut(&top.OrderBy[i].Expr)
		}
		p.Top = &top
	}
	var filters func(fs []queryplan.Filter) []queryplan.Filter
	filters = func(fs []queryplan.Filter) []queryplan.Filter {
		fs = slices.Clone(fs)
		for i := range fs {
			cut(&fs[i].Expr)
			fs[i].Any = filters(fs[i].Any)
			if fs[i].Not != nil {
				one := filters([]queryplan.Filter{*fs[i].Not})[0]
				fs[i].Not = &one
			}
		}
		return fs
	}
	p.Filters, p.Having = filters(p.Filters), filters(p.Having)
	return p
}
