package nlq

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"time"

	"interlock/internal/queryplan"
	"interlock/internal/schema"
)

// Describe says a plan in plain English, so that a person can check what was
// understood without reading SQL.
func Describe(p *queryplan.Plan, s schema.Dataset) string {
	if p == nil {
		return ""
	}
	d := describer{schema: s}
	text := d.plan(p)
	return strings.ToUpper(text[:1]) + text[1:] + "."
}

// A describer writes plans. Rows is what the rows of the plan in hand are called, table
// the one that columns without a table belong to.
type describer struct {
	schema schema.Dataset
	rows   string
	table  string
}

// withoutFolding is a plan that groups by a column where the plan groups by it in any case.
func withoutFolding(p *queryplan.Plan) *queryplan.Plan {
	if p == nil || !slices.ContainsFunc(p.GroupBy, func(t queryplan.Term) bool { return t.Function == queryplan.Lower }) {
		return p
	}
	out := *p
	out.Select, out.GroupBy, out.OrderBy = slices.Clone(p.Select), slices.Clone(p.GroupBy), slices.Clone(p.OrderBy)
	for i, t := range out.GroupBy {
		if t.Function != queryplan.Lower {
			continue
		}
		out.GroupBy[i] = queryplan.By(t.Column)
		for k, e := range out.Select {
			if e.Function == queryplan.Max && e.Column == t.Column {
				out.Select[k] = queryplan.Col(t.Column)
			}
		}
		for k, o := range out.OrderBy {
			if o.Function == queryplan.Lower && o.Column == t.Column {
				out.OrderBy[k].Expr = queryplan.Col(t.Column)
			}
		}
	}
	return &out
}

func (d describer) plan(p *queryplan.Plan) string {
	p = withoutFolding(p)
	var b strings.Builder
	d.rows, d.table = rowNoun(p), p.Table
	by := d.groups(p)
	var shown []string
	for _, e := range p.Select {
		if text := d.expr(e); e.Aggregate() || !slices.Contains(by, text) || !slices.ContainsFunc(p.Select, queryplan.Expr.Aggregate) {
			shown = append(shown, text)
		}
	}
	if p.Distinct {
		b.WriteString("each different ")
	}
	b.WriteString(joinWithAnd(shown))
	switch {
	case p.From != nil:
		b.WriteString(" over (" + d.plan(p.From) + ")")
	case len(p.Joins) == 0 && !slices.ContainsFunc(p.Select, func(e queryplan.Expr) bool {
		return !(len(p.GroupBy) > 0 && !e.Aggregate()) && (e.Function != queryplan.Count || e.Column != "")
	}) && slices.ContainsFunc(p.Select, queryplan.Expr.Aggregate):
		// The number of customers says where the rows come from.
	default:
		tables := []string{humanName(p.Table)}
		for _, j := range p.Joins {
			tables = append(tables, humanName(j.Table))
		}
		b.WriteString(" from " + joinWithAnd(tables))
	}
	if len(p.Filters) > 0 {
		b.WriteString(" where " + d.filters(p.Filters, " and "))
	}
	if len(by) > 0 && slices.ContainsFunc(p.Select, queryplan.Expr.Aggregate) {
		b.WriteString(", for each " + joinWithAnd(by))
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
		fmt.Fprintf(&b, ", the first %d of each %s by %s", p.Top.N, joinWithAnd(per), d.orders(p, p.Top.OrderBy))
	}
	if os := d.withoutTieBreaks(p); len(os) > 0 {
		b.WriteString(", by " + d.orders(p, os))
	}
	switch {
	case p.Limit == 1 && p.Offset > 0:
		b.WriteString(", only the " + ordinalText(p.Offset+1))
	case p.Limit > 1 && p.Offset > 0:
		fmt.Fprintf(&b, ", only %d from the %s on", p.Limit, ordinalText(p.Offset+1))
	case p.Limit == 1:
		b.WriteString(", only the first")
	case p.Limit > 1:
		fmt.Fprintf(&b, ", only the first %d", p.Limit)
	}
	return b.String()
}

// groups says what a plan groups by. The key of a row beside its name goes without
// saying.
func (d describer) groups(p *queryplan.Plan) []string {
	var by []string
	for _, t := range p.GroupBy {
		e := d.followAlias(p, t.Expr)
		if ws := splitIdentifier(e.Column); len(p.GroupBy) > 1 && len(ws) > 0 && keyWords[ws[len(ws)-1]] && !slices.ContainsFunc(p.Select, func(s queryplan.Expr) bool { return s.Column == e.Column }) {
			continue
		}
		by = append(by, d.expr(e))
	}
	return by
}

// withoutTieBreaks leaves out the orders that only part equals: by the group or the key
// after a measure.
func (d describer) withoutTieBreaks(p *queryplan.Plan) []queryplan.Order {
	os := slices.Clone(p.OrderBy)
	for len(os) > 1 {
		last := d.followAlias(p, os[len(os)-1].Expr)
		ws := splitIdentifier(last.Column)
		group := slices.ContainsFunc(p.GroupBy, func(t queryplan.Term) bool { return t.Column == last.Column })
		if !group && !(len(ws) > 0 && keyWords[ws[len(ws)-1]]) {
			break
		}
		os = os[:len(os)-1]
	}
	return os
}

// followAlias follows an alias to what it stands for.
func (d describer) followAlias(p *queryplan.Plan, e queryplan.Expr) queryplan.Expr {
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
		e := d.followAlias(p, o.Expr)
		text := d.expr(e)
		desc := strings.EqualFold(string(o.Direction), string(queryplan.Desc))
		switch {
		case e.Truncate != "" && !desc:
		case desc:
			text += ", the largest first"
		default:
			text += ", the smallest first"
		}
		out = append(out, text)
	}
	return strings.Join(out, ", then ")
}

func (d describer) expr(e queryplan.Expr) string {
	if e.Metric != "" {
		text := "the " + humanName(e.Metric)
		if len(e.Where) > 0 {
			text += " where " + d.filters(e.Where, " and ")
		}
		return text
	}
	base := d.column(e.Column)
	if part, ok := percentage(e); ok {
		return "the percentage of " + plural(d.rows) + " where " + d.filters(part, " and ")
	}
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
		if slices.Contains(strings.Fields(base), "total") {
			text = "the sum of " + plural(base)
		}
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

// percentage finds the part in rows of which the percentage is computed.
func percentage(e queryplan.Expr) ([]queryplan.Filter, bool) {
	if m := e.Math; e.Alias == "percent" && m != nil && m.Operator == queryplan.Divide && m.Left.Math != nil {
		where := m.Left.Math.Right.Where
		return where, len(where) > 0
	}
	return nil, false
}

// column names a column; a name is one of something.
func (d describer) column(ref string) string {
	table, name := d.table, ref
	if dot := strings.LastIndexByte(ref, '.'); dot >= 0 {
		table, name = ref[:dot], ref[dot+1:]
	}
	if text := humanName(name); (text == "name" || text == "title") && table != "" {
		return singular(humanName(table)) + " " + text
	}
	return humanName(name)
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
	for i := 0; i < len(fs); i++ {
		if i+1 < len(fs) && word == " and " {
			if span := d.periodText(fs[i], fs[i+1]); span != "" {
				out = append(out, span)
				i++
				continue
			}
		}
		out = append(out, d.filter(fs[i]))
	}
	return strings.Join(out, word)
}

// periodText says two conditions on a date that cut a period out of it: order date is in
// March 2024.
func (d describer) periodText(a, b queryplan.Filter) string {
	var from, until string
	if a.Operator != queryplan.Ge || b.Operator != queryplan.Lt || a.Column != b.Column || a.Column == "" || json.Unmarshal(a.Value, &from) != nil || json.Unmarshal(b.Value, &until) != nil {
		return ""
	}
	first, err := time.Parse(time.DateOnly, from)
	end, err2 := time.Parse(time.DateOnly, until)
	if err != nil || err2 != nil {
		return ""
	}
	name := d.expr(a.Expr)
	for _, unit := range []struct {
		unit          queryplan.Unit
		years, months int
	}{{"year", 1, 0}, {"quarter", 0, 3}, {"month", 0, 1}} {
		start := first.Day() == 1 && (unit.unit == "month" || unit.unit == "year" && first.Month() == 1 || unit.unit == "quarter" && first.Month()%3 == 1)
		if start && first.AddDate(unit.years, unit.months, 0).Equal(end) {
			return name + " is in " + unitText(unit.unit, from)
		}
	}
	if first.AddDate(0, 0, 1).Equal(end) {
		return name + " is on " + from
	}
	return name + " is from " + from + " to " + end.AddDate(0, 0, -1).Format(time.DateOnly)
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
		spelled := false
		for _, v := range values {
			text := literal(v)
			if slices.ContainsFunc(texts, func(t string) bool { return strings.EqualFold(t, text) }) {
				spelled = true
				continue
			}
			texts = append(texts, text)
		}
		if spelled && len(texts) == 1 {
			word := "is"
			if f.Operator == queryplan.NotIn {
				word = "is not"
			}
			return d.expr(f.Expr) + " " + word + " " + texts[0] + " in any case"
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

// humanName writes a name of the schema as words: OrderLine_ID is order line id.
func humanName(name string) string {
	if name == "" {
		return ""
	}
	var out []string
	for _, w := range strings.FieldsFunc(splitCapitals(name), func(r rune) bool { return r == ' ' || r == '_' || r == '-' }) {
		out = append(out, strings.ToLower(w))
	}
	if len(out) == 0 {
		return name
	}
	return strings.Join(out, " ")
}

// splitCapitals parts words that are written together with capitals.
func splitCapitals(name string) string {
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

// rowNoun is what the rows of a plan are called: customers, or what a join repeats
// them by. Just rows where the keys do not tell.
func rowNoun(p *queryplan.Plan) string {
	if p.Table == "" {
		return "rows"
	}
	table := p.Table
	for _, j := range p.Joins {
		if len(j.On) != 1 {
			return "rows"
		}
		switch left, right := j.On[0].Left, j.On[0].Right; {
		case isOwnKey(right): // each row has one
		case isOwnKey(left) && strings.HasPrefix(left, table+"."):
			table = j.Table
		default:
			return "rows"
		}
	}
	return plural(humanName(table))
}

// isOwnKey reports whether a column is called like a key of its table: orders.order_id, or
// orders.id.
func isOwnKey(ref string) bool {
	dot := strings.LastIndexByte(ref, '.')
	if dot < 0 {
		return false
	}
	rest := withoutWords(splitIdentifier(ref[dot+1:]), splitIdentifier(ref[:dot]))
	return len(rest) == 1 && keyWords[rest[0]]
}

// singular is a noun for one.
func singular(s string) string {
	ws := strings.Fields(s)
	if len(ws) == 0 {
		return s
	}
	ws[len(ws)-1] = lemma(ws[len(ws)-1])
	return strings.Join(ws, " ")
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

func joinWithAnd(words []string) string {
	switch len(words) {
	case 0:
		return "nothing"
	case 1:
		return words[0]
	}
	return strings.Join(words[:len(words)-1], ", ") + " and " + words[len(words)-1]
}
