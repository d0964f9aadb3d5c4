package lift

import (
	"regexp"
	"strconv"
	"strings"
	"time"

	"interlock/internal/queryplan"
)

func (l *lifter) filters(ns []*node, in *scope) []queryplan.Filter {
	var out []queryplan.Filter
	for _, n := range ns {
		out = append(out, l.filter(n, in))
	}
	return out
}

// filter lifts a condition.
func (l *lifter) filter(n *node, in *scope) queryplan.Filter {
	f := l.positive(n, in)
	if n.not {
		if op, ok := opposites[f.Operator]; ok {
			f.Operator = op
			return f
		}
		return queryplan.Filter{Not: &f}
	}
	return f
}

var opposites = map[queryplan.Operator]queryplan.Operator{
	queryplan.In: queryplan.NotIn, queryplan.Between: queryplan.NotBetween, queryplan.Like: queryplan.NotLike, queryplan.Contains: queryplan.NotContains,
	queryplan.IsNull: queryplan.IsNotNull, queryplan.Eq: queryplan.Ne,
}

func (l *lifter) positive(n *node, in *scope) queryplan.Filter {
	switch n.op {
	case opAnd:
		return queryplan.Filter{All: l.filters(conjuncts(n), in)}
	case opOr:
		var any []queryplan.Filter
		for _, a := range n.args {
			if f := l.filter(a, in); len(f.Any) > 0 && f.Operator == "" {
				any = append(any, f.Any...)
			} else {
				any = append(any, f)
			}
		}
		return queryplan.Filter{Any: any}
	case opNot:
		if a := n.args[0]; a.op == opExists {
			f := l.exists(a, in)
			f.Operator = queryplan.NotIn
			return f
		}
		f := l.filter(n.args[0], in)
		if op, ok := opposites[f.Operator]; ok && f.Any == nil && f.All == nil {
			f.Operator = op
			return f
		}
		return queryplan.Filter{Not: &f}
	case opCompare:
		return l.compare(n, in)
	case opIn:
		return l.in(n, in)
	case opBetween:
		return queryplan.Filter{Expr: l.value(n.args[0], in), Operator: queryplan.Between, Value: queryplan.Literal([]any{l.literal(n.args[1], in), l.literal(n.args[2], in)})}
	case opLike:
		return l.like(n, in)
	case opIsNull:
		return queryplan.Filter{Expr: l.value(n.args[0], in), Operator: queryplan.IsNull}
	case opExists:
		return l.exists(n, in)
	case opColumn, opCast:
		return queryplan.Filter{Expr: l.value(n, in), Operator: queryplan.Eq, Value: queryplan.Literal(true)}
	}
	refuse("a condition is of a kind that no plan has")
	return queryplan.Filter{}
}

// literal is the constant of a node.
func (l *lifter) literal(n *node, in *scope) any {
	switch n.op {
	case opText:
		return n.text
	case opNumber:
		return number(n.text)
	case opTruth:
		return n.text == "true"
	case opCast:
		return l.literal(n.args[0], in)
	case opCall:
		if day, ok := movedDay(n); ok {
			return day
		}
		if len(n.args) == 1 && (passedOver[n.text] || scalars[n.text] == queryplan.Lower || scalars[n.text] == queryplan.Upper) {
			return l.literal(n.args[0], in)
		}
	case opColumn:
		if _, ok := in.find(n.text); !ok && n.quoted {
			return n.text
		}
	}
	refuse("a value is computed")
	return nil
}

// isLiteral says that a node is a constant.
func (l *lifter) isLiteral(n *node, in *scope) bool {
	switch n.op {
	case opText, opNumber, opTruth:
		return true
	case opCast:
		return l.isLiteral(n.args[0], in)
	case opCall:
		if _, ok := movedDay(n); ok {
			return true
		}
		return len(n.args) == 1 && (passedOver[n.text] || scalars[n.text] == queryplan.Lower || scalars[n.text] == queryplan.Upper) && l.isLiteral(n.args[0], in)
	case opColumn:
		_, ok := in.find(n.text)
		return !ok && n.quoted
	}
	return false
}

var daySteps = regexp.MustCompile(`^([-+]?\d{1,5}) (day|month|year)s?$`)

// movedDay computes a constant day with steps of the calendar: date('2025-12-31', '-90 days').
func movedDay(n *node) (string, bool) {
	if n.text != "date" || len(n.args) < 2 || n.args[0].op != opText {
		return "", false
	}
	day, err := time.Parse(time.DateOnly, n.args[0].text)
	if err != nil {
		return "", false
	}
	for _, a := range n.args[1:] {
		m := daySteps.FindStringSubmatch(a.text)
		if a.op != opText || m == nil {
			return "", false
		}
		by, _ := strconv.Atoi(m[1])
		day = map[string]func() time.Time{
			"day": func() time.Time { return day.AddDate(0, 0, by) }, "month": func() time.Time { return day.AddDate(0, by, 0) }, "year": func() time.Time { return day.AddDate(by, 0, 0) },
		}[m[2]]()
	}
	return day.Format(time.DateOnly), true
}

var mirrored = map[string]string{"=": "=", "!=": "!=", "<": ">", ">": "<", "<=": ">=", ">=": "<="}

func (l *lifter) compare(n *node, in *scope) queryplan.Filter {
	a, b, op := n.args[0], n.args[1], n.text
	if l.isLiteral(a, in) && !l.isLiteral(b, in) || a.op == opSelect && b.op != opSelect {
		a, b, op = b, a, mirrored[op]
	}
	f := queryplan.Filter{Expr: l.value(a, in), Operator: queryplan.Operator(op)}
	switch {
	case b.op == opSelect:
		f.Plan = l.plan(b.sub, in)
	case l.isLiteral(b, in):
		v := l.literal(b, in)
		if p, ok := period(f.Expr, v, f.Operator); ok {
			return p
		}
		if f.Function == queryplan.Lower || f.Function == queryplan.Upper {
			f.Function = ""
			if f.Operator == queryplan.Eq {
				f.Operator = queryplan.EqualsAnyCase
			}
		}
		f.Value = queryplan.Literal(v)
	default:
		other := l.value(b, in)
		f.Other = &other
	}
	return f
}

var monthText = regexp.MustCompile(`^\d{4}-\d{2}$`)

// period reads a comparison of a part of a date as one of the date: year(d) = 2024.
func period(e queryplan.Expr, v any, op queryplan.Operator) (queryplan.Filter, bool) {
	text := strings.Trim(strings.ReplaceAll(jsonText(v), `"`, ""), " ")
	year := e.Part == "year" && len(text) == 4
	month := e.Truncate == "month" && (monthText.MatchString(text) || len(text) >= 10 && text[8:10] == "01")
	if !year && !month {
		return queryplan.Filter{}, false
	}
	if month {
		text = text[:7]
	}
	from, until, err := queryplan.Period(text)
	if err != nil {
		return queryplan.Filter{}, false
	}
	e.Part, e.Truncate = "", ""
	f := queryplan.Filter{Expr: e, Operator: op}
	day := func(o queryplan.Operator, t interface{ Format(string) string }) queryplan.Filter {
		f.Operator, f.Value = o, queryplan.Literal(t.Format("2006-01-02"))
		return f
	}
	switch op {
	case queryplan.Eq:
		f.Operator, f.Value = queryplan.InPeriod, queryplan.Literal(text)
		return f, true
	case queryplan.Ge:
		return day(queryplan.Ge, from), true
	case queryplan.Gt:
		return day(queryplan.Ge, until), true
	case queryplan.Lt:
		return day(queryplan.Lt, from), true
	case queryplan.Le:
		return day(queryplan.Lt, until), true
	}
	return queryplan.Filter{}, false
}

func jsonText(v any) string { return string(queryplan.Literal(v)) }

func (l *lifter) in(n *node, in *scope) queryplan.Filter {
	f := queryplan.Filter{Expr: l.value(n.args[0], in), Operator: queryplan.In}
	if n.sub != nil {
		f.Plan = l.plan(n.sub, in)
		return f
	}
	var values []any
	for _, a := range n.args[1:] {
		values = append(values, l.literal(a, in))
	}
	if f.Function == queryplan.Lower || f.Function == queryplan.Upper {
		f.Function = ""
	}
	f.Value = queryplan.Literal(values)
	return f
}

var datePrefix = regexp.MustCompile(`^\d{4}(-\d{2})?(-\d{2})?-?[ T]?%$`)

func (l *lifter) like(n *node, in *scope) queryplan.Filter {
	f := queryplan.Filter{Expr: l.value(n.args[0], in), Operator: queryplan.Like}
	text, ok := l.literal(n.args[1], in).(string)
	if !ok {
		refuse("a pattern is no text")
	}
	if n.text == "glob" {
		text = strings.NewReplacer("*", "%", "?", "_").Replace(text)
	}
	if datePrefix.MatchString(text) && !n.not {
		if from := strings.TrimRight(text, "%- T"); len(from) >= 4 {
			if _, _, err := queryplan.Period(from); err == nil {
				f.Operator, f.Value = queryplan.InPeriod, queryplan.Literal(from)
				return f
			}
		}
	}
	if inner := strings.Trim(text, "%"); strings.HasPrefix(text, "%") && strings.HasSuffix(text, "%") && !strings.ContainsAny(inner, "%_") {
		f.Operator, text = queryplan.Contains, inner
	}
	if f.Function == queryplan.Lower || f.Function == queryplan.Upper {
		f.Function = ""
	}
	f.Value = queryplan.Literal(text)
	return f
}

// exists lifts EXISTS with one equality to the outer rows as IN.
func (l *lifter) exists(n *node, in *scope) queryplan.Filter {
	s := *n.sub
	inner := &scope{items: s.items}
	probe := &queryplan.Plan{}
	l.bind(probe, &s, inner, nil)
	var rest []*node
	var left, right *node
	for _, c := range conjuncts(s.where) {
		if c.op == opCompare && c.text == "=" && c.args[0].op == opColumn && c.args[1].op == opColumn {
			_, a := inner.find(c.args[0].text)
			_, b := inner.find(c.args[1].text)
			if a != b && left == nil {
				left, right = c.args[0], c.args[1]
				if a {
					left, right = right, left
				}
				continue
			}
		}
		rest = append(rest, c)
	}
	if left == nil {
		refuse("EXISTS is not linked by one equality")
	}
	s.where = nil
	for _, c := range rest {
		if s.where == nil {
			s.where = c
		} else {
			s.where = &node{op: opAnd, args: []*node{s.where, c}}
		}
	}
	s.items = []item{{value: right}}
	return queryplan.Filter{Expr: l.value(left, in), Operator: queryplan.In, Plan: l.plan(&s, nil)}
}
