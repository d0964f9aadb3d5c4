package queryplan

import (
	"bytes"
	"encoding/json"
	"strings"
)

// MetricText writes a value as the expression that ParseMetric reads. What such an expression
// cannot say gives "".
func MetricText(e Expr) string {
	w := &metricWriter{ok: true}
	text := w.expr(e, false)
	if !w.ok {
		return ""
	}
	return text
}

type metricWriter struct{ ok bool }

func (w *metricWriter) fail() string {
	w.ok = false
	return ""
}

func (w *metricWriter) expr(e Expr, bracketed bool) string {
	if len(e.Replace) > 0 || e.Cast != "" || e.Part != "" || e.Truncate != "" || e.Metric != "" {
		return w.fail()
	}
	inner := ""
	switch {
	case e.Column != "":
		inner = metricName(e.Column)
	case e.Literal != nil:
		inner = literalText(e.Literal)
	case e.Of != nil:
		inner = w.expr(*e.Of, bracketed && e.Function == "")
	case e.Math != nil && e.Math.Operator == DateDiff:
		inner = "DATEDIFF(" + string(e.Math.Unit) + ", " + w.expr(e.Math.Left, false) + ", " + w.expr(e.Math.Right, false) + ")"
	case e.Math != nil:
		tight := e.Math.Operator == Multiply || e.Math.Operator == Divide
		inner = w.operand(e.Math.Left, tight) + " " + string(e.Math.Operator) + " " + w.expr(e.Math.Right, true)
		if bracketed && e.Function == "" {
			inner = "(" + inner + ")"
		}
	}
	return w.function(e, inner)
}

// operand writes the left side, which needs brackets only where it binds less than its operator.
func (w *metricWriter) operand(e Expr, tight bool) string {
	if e.Math != nil && e.Function == "" && (!tight || e.Math.Operator == Multiply || e.Math.Operator == Divide) {
		return w.expr(e, false)
	}
	return w.expr(e, true)
}

func (w *metricWriter) function(e Expr, inner string) string {
	where := ""
	if len(e.Where) > 0 {
		where = " FILTER (WHERE " + w.filters(e.Where, " AND ") + ")"
	}
	switch e.Function {
	case "":
		return inner
	case Count:
		if inner == "" {
			inner = "*"
		}
		return "COUNT(" + inner + ")" + where
	case CountDistinct:
		return "COUNT(DISTINCT " + inner + ")" + where
	case Round:
		return "ROUND(" + inner + ", 2)"
	case Abs:
		return "ABS(" + inner + ")"
	case Sum, Avg, Min, Max, Median, StdDev:
		return strings.ToUpper(string(e.Function)) + "(" + inner + ")" + where
	}
	return w.fail()
}

func (w *metricWriter) filters(fs []Filter, word string) string {
	texts := make([]string, len(fs))
	for i, f := range fs {
		texts[i] = w.filter(f)
	}
	return strings.Join(texts, word)
}

func (w *metricWriter) filter(f Filter) string {
	switch {
	case len(f.Any) > 0:
		return "(" + w.filters(f.Any, " OR ") + ")"
	case len(f.All) > 0:
		return "(" + w.filters(f.All, " AND ") + ")"
	case f.Not != nil:
		return "NOT (" + w.filter(*f.Not) + ")"
	case f.Plan != nil:
		return w.fail()
	}
	left := w.expr(f.Expr, true)
	word, ok := map[Operator]string{In: "IN", NotIn: "NOT IN", Between: "BETWEEN", NotBetween: "NOT BETWEEN", Like: "LIKE", NotLike: "NOT LIKE", Eq: "=", Ne: "<>", Lt: "<", Le: "<=", Gt: ">", Ge: ">="}[f.Operator]
	switch {
	case f.Operator == IsNull:
		return left + " IS NULL"
	case f.Operator == IsNotNull:
		return left + " IS NOT NULL"
	case !ok:
		return w.fail()
	case f.Other != nil:
		return left + " " + word + " " + w.expr(*f.Other, true)
	}
	var many []json.RawMessage
	if json.Unmarshal(f.Value, &many) != nil {
		return left + " " + word + " " + literalText(f.Value)
	}
	texts := make([]string, len(many))
	for i, v := range many {
		texts[i] = literalText(v)
	}
	if f.Operator == Between || f.Operator == NotBetween {
		return left + " " + word + " " + strings.Join(texts, " AND ")
	}
	return left + " " + word + " (" + strings.Join(texts, ", ") + ")"
}

// literalText writes a JSON scalar as SQL does.
func literalText(raw json.RawMessage) string {
	var text string
	if json.Unmarshal(raw, &text) == nil && len(raw) > 0 && raw[0] == '"' {
		return "'" + strings.ReplaceAll(text, "'", "''") + "'"
	}
	return string(bytes.TrimSpace(raw))
}

// metricName quotes a column where an expression needs it: table and column apart.
func metricName(column string) string {
	table, name, dotted := strings.Cut(column, ".")
	if !dotted || table == "" || name == "" {
		return quoteMetricName(column)
	}
	return quoteMetricName(table) + "." + quoteMetricName(name)
}

func quoteMetricName(name string) string {
	plain := name != "" && !(name[0] >= '0' && name[0] <= '9')
	for i := range len(name) {
		plain = plain && isNameByte(name[i])
	}
	if plain && !metricWords[strings.ToLower(name)] {
		return name
	}
	return `"` + strings.ReplaceAll(name, `"`, `""`) + `"`
}

var metricWords = map[string]bool{
	"and": true, "or": true, "not": true, "in": true, "is": true, "null": true, "case": true, "when": true, "then": true, "else": true, "end": true,
	"between": true, "like": true, "distinct": true, "filter": true, "where": true, "true": true, "false": true, "date": true,
}
