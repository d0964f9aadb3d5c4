package nlq

import (
	"encoding/json"
	"slices"
	"strings"
	"time"

	"interlock/internal/queryplan"
)

// facts is what a plan does, wherever in it that stands.
type facts struct {
	texts     []string // string literals, as words
	compares  []comparedNumber
	functions map[queryplan.Function]int
	selected  []queryplan.Expr
	columns   []string // every column's bare name, lower case
	tables    []string // every table, lower case
	negative  bool
	excludes  bool // some of it by a value, not only by what is missing
	bounds    []dateBound
}

// A comparedNumber is a number that something is compared with.
type comparedNumber struct {
	op queryplan.Operator
	n  float64
}

// A dateBound is a date that something is compared with.
type dateBound struct {
	op  queryplan.Operator
	day time.Time
}

// gatherFacts walks a plan and returns what it does.
func gatherFacts(p *queryplan.Plan) *facts {
	f := &facts{functions: map[queryplan.Function]int{}, selected: p.Select}
	f.walk(p)
	return f
}

func (f *facts) walk(p *queryplan.Plan) {
	if p.From != nil {
		f.walk(p.From)
	} else {
		f.tables = append(f.tables, strings.ToLower(p.Table))
	}
	for _, j := range p.Joins {
		f.tables = append(f.tables, strings.ToLower(j.Table))
		for _, on := range j.On {
			f.expr(queryplan.Col(on.Left))
			f.expr(queryplan.Col(on.Right))
		}
	}
	for _, e := range p.Select {
		f.expr(e)
	}
	for _, t := range p.GroupBy {
		f.expr(t.Expr)
	}
	for _, o := range p.OrderBy {
		f.expr(o.Expr)
	}
	if p.Top != nil {
		for _, o := range p.Top.OrderBy {
			f.expr(o.Expr)
		}
		for _, t := range p.Top.Per {
			f.expr(t.Expr)
		}
	}
	f.filters(p.Filters, false)
	f.filters(p.Having, false)
	for _, c := range p.Combine {
		f.negative = f.negative || c.Operation == queryplan.Except
		f.excludes = f.excludes || c.Operation == queryplan.Except
		f.walk(&c.Plan)
	}
}

func (f *facts) expr(e queryplan.Expr) {
	if e.Function != "" {
		f.functions[e.Function]++
	}
	if e.Column != "" {
		f.columns = append(f.columns, strings.ToLower(e.Column[strings.LastIndexByte(e.Column, '.')+1:]))
	}
	if e.Of != nil {
		f.expr(*e.Of)
	}
	if e.Math != nil {
		f.expr(e.Math.Left)
		f.expr(e.Math.Right)
	}
	f.filters(e.Where, false)
}

func (f *facts) filters(fs []queryplan.Filter, not bool) {
	for _, x := range fs {
		f.filters(x.Any, not)
		f.filters(x.All, not)
		if x.Not != nil {
			f.negative, f.excludes = true, true
			f.filters([]queryplan.Filter{*x.Not}, !not)
			continue
		}
		if len(x.Any)+len(x.All) > 0 {
			continue
		}
		f.expr(x.Expr)
		op := x.Operator
		if not {
			op = oppositeOp(op)
		}
		if slices.Contains([]queryplan.Operator{queryplan.Ne, queryplan.NotIn, queryplan.NotBetween, queryplan.NotLike, queryplan.NotContains, queryplan.IsNull}, op) {
			f.negative = true
			f.excludes = f.excludes || op != queryplan.IsNull
		}
		if x.Other != nil {
			f.expr(*x.Other)
		}
		if x.Plan != nil {
			f.walk(x.Plan)
		}
		f.literals(op, x.Value)
	}
}

// literals notes the values of a filter.
func (f *facts) literals(op queryplan.Operator, raw json.RawMessage) {
	var list []any
	if raw == nil {
		return
	}
	if json.Unmarshal(raw, &list) != nil {
		var one any
		if json.Unmarshal(raw, &one) != nil {
			return
		}
		list = []any{one}
	}
	for i, v := range list {
		at := op
		if op == queryplan.Between {
			at = []queryplan.Operator{queryplan.Ge, queryplan.Le}[min(i, 1)]
		}
		switch v := v.(type) {
		case float64:
			f.compares = append(f.compares, comparedNumber{at, v})
		case string:
			if op == queryplan.InPeriod {
				if from, until, err := queryplan.Period(v); err == nil {
					f.bounds = append(f.bounds, dateBound{queryplan.Ge, from}, dateBound{queryplan.Lt, until})
				}
				continue
			}
			if day, err := time.Parse(time.DateOnly, v[:min(10, len(v))]); err == nil {
				f.bounds = append(f.bounds, dateBound{at, day})
				continue
			}
			f.texts = append(f.texts, normaliseValue(v))
		}
	}
}
