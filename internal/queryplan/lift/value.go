package lift

import (
	"encoding/json"
	"slices"
	"strconv"
	"strings"

	"interlock/internal/queryplan"
)

func numeral(n int) string { return strconv.Itoa(n) }

// selected lifts an item: one value, all columns of a star, or the columns of texts joined.
func (l *lifter) selected(it item, in *scope) []queryplan.Expr {
	n := it.value
	var out []queryplan.Expr
	switch {
	case n.op == opStar:
		for _, b := range in.tables {
			if n.text != "" && !strings.EqualFold(n.text, b.said) && !strings.EqualFold(n.text, b.table) {
				continue
			}
			for _, c := range b.columns {
				out = append(out, l.column(found{b.name, c}, in))
			}
		}
	case n.op == opMath && n.text == "||":
		for _, a := range n.args {
			if a.op != opText {
				out = append(out, l.selected(item{value: a}, in)...)
			}
		}
	default:
		e := l.value(n, in)
		e.Alias = it.alias
		out = []queryplan.Expr{e}
	}
	return out
}

// column refers to a column, by its table where there are several.
func (l *lifter) column(f found, in *scope) queryplan.Expr {
	if len(in.tables) == 1 {
		return queryplan.Col(f.column)
	}
	return queryplan.Col(f.ref())
}

var aggregates = map[string]queryplan.Function{
	"count": queryplan.Count, "sum": queryplan.Sum, "total": queryplan.Sum, "avg": queryplan.Avg, "mean": queryplan.Avg, "min": queryplan.Min, "max": queryplan.Max,
	"median": queryplan.Median, "stddev": queryplan.StdDev, "stddev_samp": queryplan.StdDev, "stddev_pop": queryplan.StdDev,
}

var (
	// passedOver change how a value is written or fill a gap, not what it is.
	passedOver = wordSet("round coalesce ifnull nullif trim ltrim rtrim datetime date timestamp to_date floor ceil ceiling printf_number any_value try_strptime strptime isnull nvl")
	scalars    = map[string]queryplan.Function{"lower": queryplan.Lower, "upper": queryplan.Upper, "length": queryplan.Length, "char_length": queryplan.Length, "abs": queryplan.Abs}
	partNames  = wordSet("year quarter month week day hour")
	weekdays   = wordSet("weekday dayofweek isodow dow dayname")
)

// value lifts a value.
func (l *lifter) value(n *node, in *scope) queryplan.Expr {
	switch n.op {
	case opColumn:
		if f, ok := in.find(n.text); ok {
			return l.column(f, in)
		}
		if n.quoted {
			return queryplan.Expr{Literal: queryplan.Literal(n.text)} // SQLite reads such a name as a text
		}
		refuse("there is no column %q", n.text)
	case opText:
		return queryplan.Expr{Literal: queryplan.Literal(n.text)}
	case opNumber:
		return queryplan.Expr{Literal: queryplan.Literal(number(n.text))}
	case opTruth:
		return queryplan.Expr{Literal: queryplan.Literal(n.text == "true")}
	case opCast:
		return l.value(n.args[0], in)
	case opMath:
		if n.text == "||" {
			return l.joined(n, in)
		}
		return l.math(n, in)
	case opCase:
		return l.relabelled(n, in)
	case opCall:
		return l.call(n, in)
	}
	refuse("a value is of a kind that no plan has")
	return queryplan.Expr{}
}

// joined lifts texts joined to one: the column that they are made of, or its quarter.
func (l *lifter) joined(n *node, in *scope) queryplan.Expr {
	var columns []string
	quarter := false
	var walk func(*node)
	walk = func(n *node) {
		if n.op == opColumn && !slices.Contains(columns, n.text) {
			columns = append(columns, n.text)
		}
		quarter = quarter || n.op == opText && strings.HasSuffix(n.text, "Q")
		for _, a := range n.args {
			walk(a)
		}
	}
	walk(n)
	if len(columns) != 1 {
		refuse("several values are joined to one text")
	}
	e := l.value(&node{op: opColumn, text: columns[0]}, in)
	if quarter {
		e.Truncate = "quarter"
	}
	return e
}

// relabelled lifts a CASE that only writes the values of one subject in another way.
func (l *lifter) relabelled(n *node, in *scope) queryplan.Expr {
	var subject *node
	for i := 0; i+1 < len(n.args); i += 2 {
		c := n.args[i]
		if c.op != opCompare && c.op != opIn || c.text != "=" && c.op == opCompare || c.sub != nil || n.args[i+1].op != opText {
			refuse("a CASE has conditions of its own")
		}
		if subject == nil {
			subject = c.args[0]
		} else if a, b := l.value(subject, in), l.value(c.args[0], in); jsonText(a) != jsonText(b) {
			refuse("a CASE has several subjects")
		}
	}
	if subject == nil {
		refuse("a CASE has no condition")
	}
	return l.value(subject, in)
}

// number is a number as JSON writes it.
func number(text string) json.Number {
	v, err := strconv.ParseFloat(text, 64)
	if err != nil {
		refuse("%q is no number", text)
	}
	return json.Number(strconv.FormatFloat(v, 'f', -1, 64))
}

func (l *lifter) math(n *node, in *scope) queryplan.Expr {
	op := queryplan.MathOperator(n.text)
	if !slices.Contains([]queryplan.MathOperator{queryplan.Add, queryplan.Subtract, queryplan.Multiply, queryplan.Divide}, op) {
		refuse("a plan has no operator %s", n.text)
	}
	if e, ok := l.share(n, in); ok {
		return e
	}
	a, b := n.args[0], n.args[1]
	if op == queryplan.Subtract && isCallOf(a, "julianday") && isCallOf(b, "julianday") {
		return queryplan.Expr{Math: &queryplan.Math{Operator: queryplan.DateDiff, Unit: "day", Left: l.value(b.args[0], in), Right: l.value(a.args[0], in)}}
	}
	if op == queryplan.Multiply && isOne(a) {
		return l.value(b, in) // 1.0 * x makes it no whole number
	}
	if (op == queryplan.Multiply || op == queryplan.Divide) && isOne(b) {
		return l.value(a, in)
	}
	return queryplan.Expr{Math: &queryplan.Math{Operator: op, Left: l.value(a, in), Right: l.value(b, in)}}
}

// share reads x / sum(x) OVER (), with or without 100 in front.
func (l *lifter) share(n *node, in *scope) (queryplan.Expr, bool) {
	if n.text != "/" {
		return queryplan.Expr{}, false
	}
	right := n.args[1]
	if isCallOf(right, "nullif") {
		right = right.args[0]
	}
	if right.op != opCall || !right.window || right.text != "sum" {
		return queryplan.Expr{}, false
	}
	left, f := n.args[0], queryplan.Share
	if left.op == opMath && left.text == "*" && left.args[0].op == opNumber {
		if v, err := strconv.ParseFloat(left.args[0].text, 64); err == nil && v == 100 {
			f = queryplan.Percent
		}
		left = left.args[1]
	}
	e := l.value(left, in)
	if e.Function == queryplan.Count && e.Column == "" {
		return queryplan.Expr{Function: f}, true
	}
	return queryplan.Expr{Column: e.Column, Of: e.Of, Math: e.Math, Function: f, Where: e.Where}, true
}

func isOne(n *node) bool {
	v, err := strconv.ParseFloat(n.text, 64)
	return n.op == opNumber && err == nil && v == 1
}

func isCallOf(n *node, name string) bool { return n.op == opCall && n.text == name && len(n.args) > 0 }

func (l *lifter) call(n *node, in *scope) queryplan.Expr {
	if n.window {
		refuse("a plan has no window of this kind")
	}
	if f, ok := aggregates[strings.TrimSuffix(n.text, "ornull")]; ok && len(n.args) == 1 {
		return l.aggregate(n, f, in)
	}
	if len(n.args) == 0 {
		refuse("a plan has no function %s", n.text)
	}
	switch {
	case scalars[n.text] != "":
		return apply(l.value(n.args[0], in), func(e *queryplan.Expr) { e.Function = scalars[n.text] })
	case passedOver[n.text] && (n.text != "date" && n.text != "datetime" || len(n.args) == 1):
		return l.value(n.args[0], in)
	case partNames[n.text] && len(n.args) == 1:
		return apply(l.value(n.args[0], in), func(e *queryplan.Expr) { e.Part = queryplan.Part(n.text) })
	case weekdays[n.text] && len(n.args) == 1:
		return apply(l.value(n.args[0], in), func(e *queryplan.Expr) { e.Part = "weekday" })
	case (n.text == "date_diff" || n.text == "datediff") && len(n.args) == 3:
		unit := queryplan.Unit(strings.ToLower(n.args[0].text))
		return queryplan.Expr{Math: &queryplan.Math{Operator: queryplan.DateDiff, Unit: unit, Left: l.value(n.args[1], in), Right: l.value(n.args[2], in)}}
	}
	if value, step, part := calendar(n); value != nil {
		return apply(l.value(value, in), func(e *queryplan.Expr) { e.Truncate, e.Part = step, part })
	}
	refuse("a plan has no function %s", n.text)
	return queryplan.Expr{}
}

// calendar reads a call that takes a step or a part out of a date.
func calendar(n *node) (value *node, step queryplan.Unit, part queryplan.Part) {
	arg := func(i int) string {
		if i < len(n.args) {
			return strings.ToLower(n.args[i].text)
		}
		return ""
	}
	switch n.text {
	case "date_trunc", "datetrunc":
		if len(n.args) == 2 && partNames[arg(0)] {
			return n.args[1], queryplan.Unit(arg(0)), ""
		}
	case "date_part", "datepart", "extract":
		switch {
		case len(n.args) == 2 && partNames[arg(0)]:
			return n.args[1], "", queryplan.Part(arg(0))
		case len(n.args) == 2 && weekdays[arg(0)]:
			return n.args[1], "", "weekday"
		}
	case "strftime", "to_char", "date_format":
		format, value := n.args[0], n.args[min(1, len(n.args)-1)]
		if format.op != opText { // the value stands first
			format, value = value, format
		}
		s, p := formats(format.text)
		if s != "" || p != "" {
			return value, s, p
		}
	case "substr", "substring", "left":
		size := arg(len(n.args) - 1)
		if n.text != "left" && (len(n.args) != 3 || arg(1) != "1" && arg(1) != "6") {
			return nil, "", ""
		}
		switch {
		case n.text != "left" && arg(1) == "6" && size == "2":
			return n.args[0], "", "month"
		case size == "4":
			return n.args[0], "", "year"
		case size == "7":
			return n.args[0], "month", ""
		case size == "10":
			return n.args[0], "day", ""
		}
	}
	return nil, "", ""
}

// formats says what a format of dates keeps.
func formats(f string) (queryplan.Unit, queryplan.Part) {
	switch strings.ToUpper(strings.ReplaceAll(f, "%", "")) {
	case "Y", "YYYY":
		return "", "year"
	case "MM":
		return "", "month"
	case "YYYY-MM", "Y-M-01":
		return "month", ""
	}
	switch f {
	case "%m":
		return "", "month"
	case "%d":
		return "", "day"
	case "%w", "%u", "%a", "%A":
		return "", "weekday"
	case "%H":
		return "", "hour"
	case "%Y-%m", "%Y-%m-01":
		return "month", ""
	case "%Y-%m-%d":
		return "day", ""
	}
	return "", ""
}

// apply puts a function around a value.
func apply(e queryplan.Expr, put func(*queryplan.Expr)) queryplan.Expr {
	if e.Function != "" || e.Math != nil || e.Part != "" || e.Truncate != "" {
		e = queryplan.Expr{Of: &e}
	}
	put(&e)
	return e
}
