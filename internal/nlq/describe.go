package nlq

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"interlock/internal/queryplan"
)

// Describe says a plan in plain English, so that a person can check what was
// understood without reading SQL.
func Describe(p *queryplan.Plan, s queryplan.Schema) string {
	if p == nil {
		return ""
	}
	d := describer{schema: s}
	text := d.plan(p)
	return strings.ToUpper(text[:1]) + text[1:] + "."
}

// A describer writes plans. Rows is what a row of the plan in hand is called.
type describer struct {
	schema queryplan.Schema
	rows   string
}

func (d describer) plan(p *queryplan.Plan) string {
	var b strings.Builder
	d.rows = rowsOf(p)
	var shown []string
	for _, e := range p.Select {
		shown = append(shown, d.expr(e))
	}
	if p.Distinct {
		b.WriteString("each different ")
	}
	b.WriteString(and(shown))
	switch {
	case p.From != nil:
		b.WriteString(" over (" + d.plan(p.From) + ")")
	case len(p.Joins) == 0 && !slices.ContainsFunc(p.Select, func(e queryplan.Expr) bool { return e.Function != queryplan.Count || e.Column != "" }):
		// The number of customers says where the rows come from.
	default:
		tables := []string{human(p.Table)}
		for _, j := range p.Joins {
			tables = append(tables, human(j.Table))
		}
		b.WriteString(" from " + and(tables))
	}
	if len(p.Filters) > 0 {
		b.WriteString(" where " + d.filters(p.Filters, " and "))
	}
	if len(p.GroupBy) > 0 {
		var by []string
		for _, t := range p.GroupBy {
			by = append(by, d.expr(d.aliased(p, t.Expr)))
		}
		b.WriteString(", for each " + and(by))
	}
	if len(p.Having) > 0 {
		b.WriteString(", only groups where " + d.filters(p.Having, " and "))
	}
	for _, c := range p.Combine {
		word := map[queryplan.SetOperation]string{queryplan.Union: "together with", queryplan.UnionAll: "followed by", queryplan.Intersect: "that are also among", queryplan.Except: "without"}[c.Operation]
		b.WriteString(", " + word + " (" + d.plan(&c.Plan) + ")")
	}
	if p.Top != nil {
		var per []string
		for _, t := range p.Top.Per {
			per = append(per, d.expr(t.Expr))
		}
		fmt.Fprintf(&b, ", the first %d of each %s by %s", p.Top.N, and(per), d.orders(p, p.Top.OrderBy))
	}
	if len(p.OrderBy) > 0 {
		b.WriteString(", sorted by " + d.orders(p, p.OrderBy))
	}
	switch {
	case p.Limit == 1:
		b.WriteString(", only the first")
	case p.Limit > 1:
		fmt.Fprintf(&b, ", only the first %d", p.Limit)
	}
	return b.String()
}

// aliased follows an alias to what it stands for.
func (d describer) aliased(p *queryplan.Plan, e queryplan.Expr) queryplan.Expr {
	for _, s := range p.Select {
		if e.Function == "" && s.Alias != "" && s.Alias == e.Column {
			return s
		}
	}
	return e
}

func (d describer) orders(p *queryplan.Plan, os []queryplan.Order) string {
	var out []string
	for _, o := range os {
		text := d.expr(d.aliased(p, o.Expr))
		if strings.EqualFold(string(o.Direction), string(queryplan.Desc)) {
			text += ", the largest first"
		} else {
			text += ", the smallest first"
		}
		out = append(out, text)
	}
	return strings.Join(out, ", then ")
}

func (d describer) expr(e queryplan.Expr) string {
	base := human(e.Column[strings.LastIndexByte(e.Column, '.')+1:])
	switch {
	case e.Of != nil:
		base = d.expr(*e.Of)
	case e.Math != nil && e.Math.Operator == queryplan.DateDiff:
		base = fmt.Sprintf("%ss from %s to %s", e.Math.Unit, d.expr(e.Math.Left), d.expr(e.Math.Right))
	case e.Math != nil:
		base = d.expr(e.Math.Left) + " " + map[queryplan.MathOperator]string{queryplan.Add: "plus", queryplan.Subtract: "minus", queryplan.Multiply: "times", queryplan.Divide: "divided by"}[e.Math.Operator] + " " + d.expr(e.Math.Right)
	case e.Literal != nil:
		base = literal(e.Literal)
	}
	if e.Part != "" {
		base = string(e.Part) + " of " + base
	}
	if e.Truncate != "" {
		base = string(e.Truncate) + " of " + base
	}
	rows := d.rows
	switch {
	case base != "" && e.Function == queryplan.CountDistinct:
		rows = plural(base)
	case base != "":
		rows = base
	case rows == "":
		rows = "rows"
	}
	text := base
	switch e.Function {
	case "":
	case queryplan.Count:
		text = "the number of " + rows
	case queryplan.CountDistinct:
		text = "the number of different " + rows
	case queryplan.Sum:
		text = "the total " + base
	case queryplan.Avg:
		text = "the average " + base
	case queryplan.Min:
		text = "the smallest " + base
	case queryplan.Max:
		text = "the largest " + base
	case queryplan.Median:
		text = "the median " + base
	case queryplan.StdDev:
		text = "the standard deviation of " + base
	case queryplan.Share:
		text = "the share of " + rows
	case queryplan.Percent:
		text = "the percentage of " + rows
	default:
		text = string(e.Function) + " of " + base
	}
	if len(e.Where) > 0 {
		text += " where " + d.filters(e.Where, " and ")
	}
	return text
}

var operatorWords = map[queryplan.Operator]string{
	queryplan.Eq: "is", queryplan.Ne: "is not", queryplan.Lt: "is less than", queryplan.Le: "is at most",
	queryplan.Gt: "is more than", queryplan.Ge: "is at least", queryplan.In: "is one of", queryplan.NotIn: "is none of", queryplan.Between: "is between",
	queryplan.NotBetween: "is not between", queryplan.Like: "is like", queryplan.NotLike: "is not like", queryplan.Contains: "contains",
	queryplan.NotContains: "does not contain", queryplan.StartsWith: "starts with", queryplan.EndsWith: "ends with", queryplan.EqualsAnyCase: "is",
	queryplan.IsNull: "is missing", queryplan.IsNotNull: "is known", queryplan.InPeriod: "is in",
}

func (d describer) filters(fs []queryplan.Filter, word string) string {
	var out []string
	for _, f := range fs {
		out = append(out, d.filter(f))
	}
	return strings.Join(out, word)
}

func (d describer) filter(f queryplan.Filter) string {
	switch {
	case len(f.Any) > 0:
		return "(" + d.filters(f.Any, " or ") + ")"
	case len(f.All) > 0:
		return "(" + d.filters(f.All, " and ") + ")"
	case f.Not != nil:
		return "not (" + d.filter(*f.Not) + ")"
	}
	left := d.expr(f.Expr) + " " + operatorWords[f.Operator]
	switch {
	case f.Operator == queryplan.IsNull || f.Operator == queryplan.IsNotNull:
		return left
	case f.Other != nil:
		return left + " " + d.expr(*f.Other)
	case f.Plan != nil && f.Operator == queryplan.In:
		return left + " (" + d.plan(f.Plan) + ")"
	case f.Plan != nil && len(f.Plan.Select) == 1 && f.Plan.Select[0].Function != "" && len(f.Plan.Filters) == 0 && len(f.Plan.GroupBy) == 0:
		return left + " " + d.expr(f.Plan.Select[0]) + " of all"
	case f.Plan != nil:
		return left + " (" + d.plan(f.Plan) + ")"
	}
	var values []json.RawMessage
	if json.Unmarshal(f.Value, &values) == nil {
		var texts []string
		for _, v := range values {
			texts = append(texts, literal(v))
		}
		if f.Operator == queryplan.Between || f.Operator == queryplan.NotBetween {
			return left + " " + strings.Join(texts, " and ")
		}
		return left + " " + strings.Join(texts, ", ")
	}
	return left + " " + literal(f.Value)
}

func literal(raw json.RawMessage) string {
	var s string
	if json.Unmarshal(raw, &s) == nil {
		return `"` + s + `"`
	}
	return string(raw)
}

// human writes a name of the schema as words: OrderLine_ID is order line id.
func human(name string) string {
	if name == "" {
		return ""
	}
	var out []string
	for _, w := range strings.FieldsFunc(spaced(name), func(r rune) bool { return r == ' ' || r == '_' || r == '-' }) {
		out = append(out, strings.ToLower(w))
	}
	if len(out) == 0 {
		return name
	}
	return strings.Join(out, " ")
}

// spaced parts words that are written together with capitals.
func spaced(name string) string {
	var b strings.Builder
	rs := []rune(name)
	for i, r := range rs {
		if i > 0 && r >= 'A' && r <= 'Z' && rs[i-1] >= 'a' && rs[i-1] <= 'z' {
			b.WriteByte(' ')
		}
		b.WriteRune(r)
	}
	return b.String()
}

// rowsOf is what the rows of a plan are called: customers, or just rows where several
// tables are joined.
func rowsOf(p *queryplan.Plan) string {
	if p.Table == "" || len(p.Joins) > 0 {
		return "rows"
	}
	return plural(human(p.Table))
}

// plural is a noun for many.
func plural(s string) string {
	switch {
	case s == "" || strings.HasSuffix(s, "s") || irregular[s] != "" && irregular[s] != s:
		return s
	case strings.HasSuffix(s, "y") && len(s) > 2 && !strings.ContainsAny(s[len(s)-2:len(s)-1], "aeiou"):
		return s[:len(s)-1] + "ies"
	case strings.HasSuffix(s, "x"), strings.HasSuffix(s, "ch"), strings.HasSuffix(s, "sh"):
		return s + "es"
	}
	return s + "s"
}

func and(words []string) string {
	switch len(words) {
	case 0:
		return "nothing"
	case 1:
		return words[0]
	}
	return strings.Join(words[:len(words)-1], ", ") + " and " + words[len(words)-1]
}
