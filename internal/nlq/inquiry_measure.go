package nlq

import (
	"cmp"
	"slices"
	"strings"

	"interlock/internal/queryplan"
)

func (p *planner) addMeasures() {
	for _, m := range p.q.measures {
		if p.q.hidden {
			return
		}
		if p.compared != nil {
			p.addCompared(m)
			continue
		}
		p.plan.Select = append(p.plan.Select, p.measureExpr(m, len(p.q.measures) > 1))
	}
}

// comparedPeriods is the condition of two periods that are compared for each of other groups, or nil.
func (q *inquiry) comparedPeriods() *condition {
	units := slices.IndexFunc(q.groups, func(g grouping) bool { return g.unit != "" })
	k := slices.IndexFunc(q.conds, func(c condition) bool { return c.op == queryplan.InPeriod && c.second != nil })
	if units < 0 || k < 0 || len(q.groups) < 2 {
		return nil
	}
	return &q.conds[k]
}

// addCompared adds a measure of each of two periods, side by side.
func (p *planner) addCompared(m measure) {
	for _, of := range []period{p.compared.period, *p.compared.second} {
		c := *p.compared
		c.period, c.second = of, nil
		e := p.measureExpr(m, len(p.q.measures) > 1, p.periodFilter(c))
		e.Alias = strings.ReplaceAll(of.String(), " ", "_")
		p.plan.Select = append(p.plan.Select, e)
	}
}

// measureExpr is a measure as an aggregate; own says that its conditions are its own and not those of the plan.
func (p *planner) measureExpr(m measure, own bool, where ...queryplan.Filter) queryplan.Expr {
	if own {
		for _, c := range p.x.measureConditions(m) {
			where = append(where, p.filter(c))
		}
	}
	var e queryplan.Expr
	switch {
	case m.def != nil:
		e = p.definedExpr(m, where)
	case m.col < 0:
		e = queryplan.Expr{Function: queryplan.Count, Where: where}
	default:
		e = p.expr(m.col, m.agg != queryplan.Count && m.agg != queryplan.CountDistinct)
		e.Function, e.Where = m.agg, where
	}
	switch {
	case p.q.percent && !p.q.rates && len(p.q.groups) > 0:
		if m.def != nil && m.def.form != aggregateOf || e.Function != queryplan.Count && e.Function != queryplan.Sum {
			p.fail("an average or a rate has no share of a total")
		}
		e.Function = queryplan.Percent
	case p.q.rates, p.q.percent:
		e = p.rate(m)
	case m.factor != 0:
		e = queryplan.Expr{Math: &queryplan.Math{Operator: queryplan.Multiply, Left: e, Right: queryplan.Expr{Literal: queryplan.Literal(m.factor)}}}
	}
	return e
}

// rate is the rows that pass the conditions added last as a percentage of the others.
func (p *planner) rate(m measure) queryplan.Expr {
	_, conds := p.q.wholeAndPart()
	if len(conds) > 1 && p.q.rates {
		p.fail("the question asks for a share but does not say which of its conditions are the part and which the whole")
	}
	if len(conds) == 0 || m.def != nil && (m.def.form != aggregateOf || m.def.agg != queryplan.Sum) || m.col >= 0 && m.agg != queryplan.Sum {
		p.fail("the question asks for a percentage but does not say of what part")
		return queryplan.Expr{}
	}
	all := queryplan.Expr{Function: queryplan.Count}
	if m.col >= 0 {
		all = queryplan.Expr{Column: p.ref(m.col), Function: queryplan.Sum}
	}
	if m.def != nil {
		all = p.definedExpr(m, nil)
	}
	part := all
	for _, c := range conds {
		part.Where = append(part.Where, p.filter(c))
	}
	return percentOf(part, all)
}

// percentOf is one value as a percentage of another.
func percentOf(part, all queryplan.Expr) queryplan.Expr {
	hundred := queryplan.Expr{Math: &queryplan.Math{Operator: queryplan.Multiply, Left: queryplan.Expr{Literal: queryplan.Literal(100)}, Right: part}}
	return queryplan.Expr{Math: &queryplan.Math{Operator: queryplan.Divide, Left: hundred, Right: all}, Alias: "percent"}
}

// definedExpr is a measure that the dictionary defines.
func (p *planner) definedExpr(m measure, where []queryplan.Filter) queryplan.Expr {
	with := func(more []condition) []queryplan.Filter {
		out := slices.Clone(where)
		for _, c := range more {
			out = append(out, p.filter(c))
		}
		return out
	}
	d := m.def
	var e queryplan.Expr
	switch d.form {
	case metricOf:
		e = p.metricExpr(d, where)
	case ratioOfRows:
		e = percentOf(queryplan.Expr{Function: queryplan.Count, Where: with(d.part)}, queryplan.Expr{Function: queryplan.Count, Where: where})
	case aggregateOf:
		e = p.expr(d.col, true)
		if d.formula != nil {
			of := p.formula(d.formula)
			e = queryplan.Expr{Of: &of}
		}
		e.Function, e.Where = d.agg, where
	case quotientOf:
		a, b := p.expr(d.col, true), p.expr(d.other, true)
		a.Function, a.Where, b.Function, b.Where = queryplan.Sum, with(d.part), queryplan.Sum, where
		if d.col == d.other {
			e = percentOf(a, b) // a share of the whole
			break
		}
		e = queryplan.Expr{Math: &queryplan.Math{Operator: queryplan.Divide, Left: a, Right: b}}
	case differenceOf:
		a, b := p.expr(d.col, true), p.expr(d.other, true)
		a.Function, a.Where = queryplan.Sum, where
		b.Function, b.Where = queryplan.Sum, where
		e = queryplan.Expr{Math: &queryplan.Math{Operator: queryplan.Subtract, Left: a, Right: b}}
	case arithmeticOf:
		e = p.aggregateExpr(d.sum, where)
	case daysBetween:
		days := queryplan.Expr{Math: &queryplan.Math{Operator: queryplan.DateDiff, Left: p.expr(d.col, false), Right: p.expr(d.other, false), Unit: d.unit}}
		agg := cmp.Or(m.agg, d.agg, queryplan.Avg)
		e = queryplan.Expr{Of: &days, Function: agg, Where: where}
	}
	if d.factor != 0 {
		e = queryplan.Expr{Math: &queryplan.Math{Operator: queryplan.Multiply, Left: e, Right: queryplan.Expr{Literal: queryplan.Literal(d.factor)}}}
	}
	return e
}

func (p *planner) addHaving(h groupCondition) {
	m := measure{agg: queryplan.Count, table: p.q.base, col: -1}
	switch {
	case h.measure != nil:
		m = *h.measure
	case len(p.q.measures) > 0:
		m = p.q.measures[0]
	}
	p.plan.Having = append(p.plan.Having, queryplan.Filter{Expr: p.measureExpr(m, false), Operator: h.op, Value: queryplan.Literal(h.value)})
}
