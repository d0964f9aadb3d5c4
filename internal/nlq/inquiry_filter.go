package nlq

import (
	"slices"

	"interlock/internal/queryplan"
)

// conditions are those of the inquiry and, where there is one measure, its own.
func (p *planner) conditions() []condition {
	out := slices.Clone(p.q.conds)
	if p.q.rates || p.q.percent && len(p.q.groups) == 0 {
		out, _ = p.q.wholeAndPart()
	}
	if len(p.q.measures) == 1 {
		out = append(out, p.x.measureConditions(p.q.measures[0])...)
	}
	return out
}

// wholeAndPart are the conditions of the rows of which a share is asked, and of the part of them: what the last
// message added, but for its period where it says something else as well. The share of bookings that were
// cancelled in May is one of the bookings of May.
func (q *inquiry) wholeAndPart() (whole, part []condition) {
	n := len(q.conds) - min(q.addedLast, len(q.conds))
	whole, part = slices.Clone(q.conds[:n]), slices.Clone(q.conds[n:])
	dated := func(c condition) bool { return c.op == queryplan.InPeriod }
	if !slices.ContainsFunc(part, func(c condition) bool { return !dated(c) }) {
		return whole, part
	}
	for _, c := range part {
		if dated(c) {
			whole = append(whole, c)
		}
	}
	return whole, slices.DeleteFunc(part, dated)
}

// measureConditions are the rows that a measure is about.
func (x *Index) measureConditions(m measure) []condition {
	var out []condition
	if m.def != nil {
		out = append(out, m.def.conds...)
	}
	if m.def != nil {
		for _, col := range append(m.def.formula.columns(), m.def.sum.columns()...) {
			out = append(out, x.amountConditions(col)...)
		}
	}
	if m.col >= 0 && m.agg != queryplan.Count {
		out = append(out, x.amountConditions(m.col)...)
	}
	return out
}

// amountConditions leave out the values of a column that mean unknown.
func (x *Index) amountConditions(col int) []condition {
	var out []condition
	if x.sentinels[col] {
		out = append(out, condition{table: x.columns[col].table, col: col, op: queryplan.Gt, values: []any{0}, other: -1})
	}
	if c, ok := x.leftOut(col); ok {
		out = append(out, c)
	}
	return out
}

// filter compiles a condition.
func (p *planner) filter(c condition) queryplan.Filter {
	switch {
	case c.def != nil:
		var all []queryplan.Filter
		for _, d := range c.def.conds {
			all = append(all, p.filter(d))
		}
		f := queryplan.Filter{All: all}
		if len(all) == 1 {
			f = all[0]
		}
		if c.neg {
			return queryplan.Filter{Not: &f}
		}
		return f
	case len(c.any) > 0:
		var f queryplan.Filter
		for _, o := range c.any {
			f.Any = append(f.Any, p.filter(o))
		}
		return f
	case c.exists:
		return p.existsFilter(c)
	}
	if !c.exists && p.x.singleWay(p.q.base, p.x.columns[c.col].table) == nil {
		// The column belongs to rows of which there may be many: at least one of them must pass.
		inner := c
		inner.neg = false
		if neg, pos, ok := positive(c.op); ok && neg {
			inner.op, c.neg = pos, !c.neg
		}
		return p.existsFilter(condition{table: p.x.columns[c.col].table, exists: true, neg: c.neg, related: []condition{inner}, other: -1, col: -1})
	}
	f := queryplan.Filter{Expr: p.expr(c.col, len(c.values) > 0 && isFloat(c.values[0])), Operator: c.op}
	switch {
	case c.op == queryplan.InPeriod:
		return p.periodFilter(c)
	case c.op == queryplan.IsNull || c.op == queryplan.IsNotNull:
		if unknown := p.x.unknownValues(c.col); len(unknown) > 0 {
			f = orUnknown(f, unknown)
		}
	case c.other >= 0:
		o := p.expr(c.other, false)
		f.Other = &o
	case c.op == queryplan.In || c.op == queryplan.NotIn || c.op == queryplan.Between:
		vs := c.values
		if c.op != queryplan.Between {
			vs = p.x.addSpellings(c.col, vs)
		}
		f.Value = queryplan.Literal(vs)
	case c.op == queryplan.Eq || c.op == queryplan.Ne:
		vs := p.x.addSpellings(c.col, c.values)
		f.Value = queryplan.Literal(vs[0])
		if len(vs) > 1 {
			f.Operator, f.Value = queryplan.In, queryplan.Literal(vs)
			if c.op == queryplan.Ne {
				f.Operator = queryplan.NotIn
			}
		}
	default:
		f.Value = queryplan.Literal(c.values[0])
	}
	if c.neg {
		f = queryplan.Filter{Not: &f}
	}
	if unknown := p.x.passesUnknown(c.col, c.op, c.values); len(unknown) > 0 {
		return queryplan.Filter{All: []queryplan.Filter{f, {Expr: queryplan.Col(p.ref(c.col)), Operator: queryplan.NotIn, Value: queryplan.Literal(unknown)}}}
	}
	return f
}

// positive turns a negative operator round.
func positive(op queryplan.Operator) (negative bool, other queryplan.Operator, ok bool) {
	switch op {
	case queryplan.Ne:
		return true, queryplan.Eq, true
	case queryplan.NotIn:
		return true, queryplan.In, true
	}
	return false, op, true
}

func isFloat(v any) bool {
	_, ok := v.(float64)
	return ok
}

// periodFilter keeps the rows whose date lies in a period, open at one end or not.
func (p *planner) periodFilter(c condition) queryplan.Filter {
	if c.second != nil {
		first, second := c, c
		first.second, second.second, second.period = nil, nil, *c.second
		return queryplan.Filter{Any: []queryplan.Filter{p.periodFilter(first), p.periodFilter(second)}}
	}
	col := queryplan.Col(p.ref(c.col))
	var all []queryplan.Filter
	if !c.period.from.IsZero() {
		all = append(all, queryplan.Filter{Expr: col, Operator: queryplan.Ge, Value: queryplan.Literal(c.period.from.Format("2006-01-02"))})
	}
	if !c.period.until.IsZero() {
		all = append(all, queryplan.Filter{Expr: col, Operator: queryplan.Lt, Value: queryplan.Literal(c.period.until.Format("2006-01-02"))})
	}
	if len(all) == 1 {
		return all[0]
	}
	return queryplan.Filter{All: all}
}

// existsFilter keeps rows of the base that have rows of another table, or have none.
func (p *planner) existsFilter(c condition) queryplan.Filter {
	way := p.x.singleWay(c.table, p.q.base)
	if len(way) == 0 {
		p.fail("no key links " + humanName(p.x.tableName(c.table)) + " to " + humanName(p.x.tableName(p.q.base)))
		return queryplan.Filter{}
	}
	last := way[len(way)-1]
	inner := newInquiry()
	inner.base, inner.conds = c.table, c.related
	sub := &planner{x: p.x, q: inner, in: []int{c.table}}
	sub.plan.Table, sub.plan.Limit = p.x.tableName(c.table), queryplan.AllRows
	for _, e := range way[:len(way)-1] {
		sub.join(e.to)
	}
	key := queryplan.Col(last.rel.Table + "." + last.rel.Column)
	sub.plan.Select = []queryplan.Expr{key}
	for _, r := range c.related {
		sub.plan.Filters = append(sub.plan.Filters, sub.filter(r))
	}
	if c.atLeast > 1 {
		sub.plan.GroupBy = []queryplan.Term{{Expr: key}}
		sub.plan.Having = []queryplan.Filter{{Expr: queryplan.Expr{Function: queryplan.Count}, Operator: queryplan.Ge, Value: queryplan.Literal(c.atLeast)}}
	}
	if sub.err != "" {
		p.fail(sub.err)
		return queryplan.Filter{}
	}
	if len(sub.plan.Joins) == 0 {
		sub.plan = unqualified(sub.plan)
	}
	ref := last.rel.RefTable + "." + last.rel.RefColumn
	f := queryplan.Filter{Expr: queryplan.Col(ref), Operator: queryplan.In, Plan: &sub.plan}
	if c.neg {
		f.Operator = queryplan.NotIn
	}
	return f
}
