package queryplan

import (
	"encoding/json"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"
	"unicode"
)

// filters writes conditions that must all hold.
func (q *query) filters(fs []Filter, path string, in scope) string {
	if len(fs) > maxParts {
		q.fail(path, "more than %d conditions", maxParts)
		return ""
	}
	texts := make([]string, 0, len(fs))
	for i, f := range fs {
		texts = append(texts, q.filter(f, fmt.Sprintf("%s[%d]", path, i), in, 0))
	}
	return strings.Join(texts, " AND ")
}

func (q *query) filter(f Filter, path string, in scope, depth int) string {
	if depth > maxDepth {
		q.fail(path, "conditions are nested deeper than %d", maxDepth)
		return ""
	}
	several := func(fs []Filter, at, word string) string {
		if len(fs) > maxParts {
			q.fail(path+at, "more than %d conditions", maxParts)
			return ""
		}
		var texts []string
		for i, one := range fs {
			texts = append(texts, q.filter(one, fmt.Sprintf("%s%s[%d]", path, at, i), in, depth+1))
		}
		return "(" + strings.Join(texts, word) + ")"
	}
	switch {
	case len(f.Any) > 0:
		return several(f.Any, ".any", " OR ")
	case len(f.All) > 0:
		return several(f.All, ".all", " AND ")
	case f.Not != nil:
		return "NOT (" + q.filter(*f.Not, path+".not", in, depth+1) + ")"
	case !slices.Contains(operators, f.Operator):
		q.fail(path+".operator", "unknown operator %q; use one of %s", f.Operator, list(operators))
		return ""
	}
	left := q.expr(f.Expr, path, in, 0)
	if slices.Contains([]Operator{Lt, Le, Gt, Ge, Between, NotBetween}, f.Operator) {
		left.sql = q.orderExpr(left)
	}
	switch f.Operator {
	case IsNull:
		return left.bracketed() + " IS NULL"
	case IsNotNull:
		return left.bracketed() + " IS NOT NULL"
	}
	n := 0
	for _, set := range []bool{f.Value != nil, f.Other != nil, f.Plan != nil} {
		if set {
			n++
		}
	}
	if n != 1 {
		q.fail(path+".value", "%s needs exactly one of value, other and plan", f.Operator)
		return ""
	}
	switch {
	case f.Other != nil:
		return q.withOther(f, left, path, in)
	case f.Plan != nil:
		return q.withPlan(f, left, path)
	}
	return q.withValue(f, left, path, in)
}

func ordering(op Operator) bool { return slices.Contains([]Operator{Eq, Ne, Lt, Le, Gt, Ge}, op) }

// operatorSQL is the operator in SQL.
func operatorSQL(op Operator) string {
	if op == Ne {
		return "<>"
	}
	return string(op)
}

func (q *query) withOther(f Filter, left value, path string, in scope) string {
	if !ordering(f.Operator) {
		q.fail(path+".operator", "%s cannot compare with another column; use =, !=, <, <=, > or >=", f.Operator)
		return ""
	}
	right := q.expr(*f.Other, path+".other", in, 0)
	if left.kind != right.kind && left.kind != Unknown && right.kind != Unknown {
		q.fail(path+".other", "is %s but the left side is %s", right.kind, left.kind)
	}
	if left.kind == Date && right.kind == Date { // a day and a moment are compared by their days
		switch {
		case left.castKind() == "day" && right.isMoment():
			right = q.calendar(Expr{Truncate: "day"}, right, path+".other")
		case right.castKind() == "day" && left.isMoment():
			left = q.calendar(Expr{Truncate: "day"}, left, path)
		}
	}
	return left.bracketed() + " " + operatorSQL(f.Operator) + " " + right.bracketed()
}

func (q *query) withPlan(f Filter, left value, path string) string {
	sub := *f.Plan
	if f.Operator == NotIn && len(sub.Select) == 1 && !sub.Select[0].Aggregate() && sub.From == nil {
		// One NULL in the list would make NOT IN true for nothing.
		sub.Filters = append(slices.Clone(sub.Filters), Filter{Expr: sub.Select[0], Operator: IsNotNull})
	}
	if len(f.Plan.Select) != 1 {
		q.fail(path+".plan.select", "must be exactly one value to compare with, not %d", len(f.Plan.Select))
		return ""
	}
	sql, columns := q.compiler.plan(&sub, path+".plan", " ", q.depth+1)
	if len(columns) == 1 && (f.Operator == In || f.Operator == NotIn) {
		// Keys that two tables keep as different types are compared as text.
		if k := KindOf(columns[0].Type); k != left.kind && k != Unknown && left.kind != Unknown {
			if k != Text {
				inner := sub.Select[0]
				sub.Select = []Expr{{Of: &inner, Cast: ToText}}
				sql, _ = q.compiler.plan(&sub, path+".plan", " ", q.depth+1)
			}
			if left.kind != Text {
				left = value{sql: q.grammar.fill("key", left.sql, ""), kind: Text}
			}
		}
		if q.grammar.wrapsLimitedSubqueries && sub.Limit > 0 {
			sql = "SELECT " + q.dialect.Ident(columns[0].Name) + " FROM (" + sql + ") AS first_rows"
		}
	}
	switch {
	case f.Operator == In:
		return left.bracketed() + " IN (" + sql + ")"
	case f.Operator == NotIn:
		return left.bracketed() + " NOT IN (" + sql + ")"
	case ordering(f.Operator):
		if f.Plan.Limit != 1 && (len(f.Plan.GroupBy) > 0 || !f.Plan.Select[0].Aggregate()) {
			q.fail(path+".plan.limit", "may give several rows; set limit 1 or use the operator in")
		}
		return left.bracketed() + " " + operatorSQL(f.Operator) + " (" + sql + ")"
	}
	q.fail(path+".operator", "%s cannot compare with a plan; use in, not_in, =, !=, <, <=, > or >=", f.Operator)
	return ""
}

func (q *query) withValue(f Filter, left value, path string, in scope) string {
	at := path + ".value"
	if sql, ok := q.wholeDays(f, left, path); ok {
		return sql
	}
	switch f.Operator {
	case In, NotIn:
		values := q.values(f.Value, left, at)
		if values == nil {
			return ""
		}
		word := " IN ("
		if f.Operator == NotIn {
			word = " NOT IN ("
		}
		return q.comparison(f, left, word+strings.Join(values, ", ")+")", in)
	case Between, NotBetween:
		values := q.values(f.Value, left, at)
		if len(values) != 2 {
			q.fail(at, "%s needs a list of two values, the lower first", f.Operator)
			return ""
		}
		word := " BETWEEN "
		if f.Operator == NotBetween {
			word = " NOT BETWEEN "
		}
		return left.bracketed() + word + values[0] + " AND " + values[1]
	}
	s, err := readScalar(f.Value)
	if err != nil {
		q.fail(at, "%v", err)
		return ""
	}
	switch f.Operator {
	case Like, NotLike, Contains, NotContains, StartsWith, EndsWith, EqualsAnyCase:
		return q.like(f.Operator, left, s, at)
	case InPeriod:
		return q.period(left, s, at)
	}
	return q.comparison(f, left, " "+operatorSQL(f.Operator)+" "+q.literal(s, left, at), in)
}

// comparison writes a comparison. Where a text is compared in a form that no index
// supports, a comparison of the plain column, which the other implies, precedes it.
func (q *query) comparison(f Filter, left value, compared string, in scope) string {
	exact := left.bracketed() + compared
	if left.reference != "" && !left.plain && in == rowScope && (f.Operator == Eq || f.Operator == In) {
		return "(" + left.reference + compared + " AND " + exact + ")"
	}
	return exact
}

// values reads a list of literals.
func (q *query) values(raw json.RawMessage, left value, path string) []string {
	var raws []json.RawMessage
	if err := json.Unmarshal(raw, &raws); err != nil || len(raws) == 0 || len(raws) > maxTexts {
		q.fail(path, "must be a list of 1 to %d values", maxTexts)
		return nil
	}
	texts := make([]string, 0, len(raws))
	for i, r := range raws {
		at := fmt.Sprintf("%s[%d]", path, i)
		s, err := readScalar(r)
		if err != nil {
			q.fail(at, "%v", err)
			continue
		}
		texts = append(texts, q.literal(s, left, at))
	}
	return texts
}

// literal writes a value so that it fits what it is compared with.
func (q *query) literal(s scalar, with value, path string) string {
	switch with.kind {
	case Number:
		if s.truth != nil {
			q.fail(path, "is a boolean but %s holds numbers", with.sql)
		}
		if !s.number && s.truth == nil {
			if !plainNumber.MatchString(s.text) {
				q.fail(path, "%q is not a number but %s holds numbers", s.text, with.sql)
				return ""
			}
			return s.text
		}
	case Text:
		if s.number {
			return q.dialect.Text(s.text)
		}
	case Date:
		t, layout, ok := readDate(s.text)
		if s.number || s.truth != nil || !ok {
			q.fail(path, "is not a date; write it as 2024-09-15 or 2024-09-15 10:30:00")
			return ""
		}
		if !q.grammar.keepsDateForm {
			return q.date(t, layout, with, path)
		}
	case Bool:
		if b, err := strconv.ParseBool(s.text); s.truth == nil && err == nil {
			return q.scalarSQL(scalar{truth: &b})
		}
		if s.truth == nil {
			q.fail(path, "must be true or false")
		}
	}
	return q.scalarSQL(s)
}

func (q *query) like(op Operator, left value, s scalar, path string) string {
	if left.kind == Number || left.kind == Date || left.kind == Bool {
		q.fail(path, "%s compares text; %s is %s", op, left.sql, left.kind)
	}
	if s.truth != nil {
		s.text = strings.ToUpper(strconv.FormatBool(*s.truth))
	}
	g, x := q.grammar, left.bracketed()
	if g.foldsASCIIOnly && op != Like && op != NotLike && strings.ContainsFunc(s.text, func(r rune) bool { return r > unicode.MaxASCII && unicode.IsLetter(r) }) {
		q.fail(path, "%s has no %s for letters outside of ASCII, whose case it does not know; use like", q.dialect.Title(), op)
	}
	switch op {
	case Contains:
		return g.fill("match", x, q.dialect.Text("%"+g.wildcardEscape.Replace(s.text)+"%"))
	case NotContains:
		return g.fill("not_match", x, q.dialect.Text("%"+g.wildcardEscape.Replace(s.text)+"%"))
	case StartsWith:
		return g.fill("match", x, q.dialect.Text(g.wildcardEscape.Replace(s.text)+"%"))
	case EndsWith:
		return g.fill("match", x, q.dialect.Text("%"+g.wildcardEscape.Replace(s.text)))
	case EqualsAnyCase:
		return g.fill(string(op), left.sql, q.dialect.Text(s.text))
	}
	if g.patternEscape != nil {
		s.text = g.patternEscape.Replace(s.text)
	}
	return g.fill(string(op), x, q.dialect.Text(s.text))
}

// period writes a period as a half-open range. A number is a year.
func (q *query) period(left value, s scalar, path string) string {
	from, until, err := Period(s.text)
	if err != nil {
		q.fail(path, "%v", err)
		return ""
	}
	x := left.bracketed()
	if left.kind == Number {
		if len(s.text) != 4 {
			q.fail(path, "%s holds numbers: only a year can be its period", left.sql)
		}
		return x + " = " + strconv.Itoa(from.Year())
	}
	if left.kind == Bool {
		q.fail(path, "%s is true or false and has no calendar", left.sql)
	}
	if left.castKind() != "day" {
		x = q.asMoment(left, path)
	}
	day := func(t time.Time) string { return q.date(t, time.DateOnly, left, path) }
	return x + " >= " + day(from) + " AND " + x + " < " + day(until)
}
