package nlq

import (
	"fmt"
	"math"
	"strconv"
	"strings"

	"interlock/internal/queryplan"
)

// maxSaid is how many rows an answer names one by one.
const maxSaid = 5

// AnswerText says a result in a sentence or two, from its cells and nothing else.
func AnswerText(question string, p *queryplan.Plan, columns []string, rows [][]any) string {
	if len(columns) == 0 {
		return "There is no result."
	}
	if len(rows) == 0 {
		if cond := conditions(p); cond != "" {
			return "Nothing in the data fits: there is no row where " + cond + "."
		}
		return "There are no rows."
	}
	if len(rows) == 1 && len(columns) == 1 {
		return single(p, columns[0], rows[0][0])
	}
	if len(rows) == 1 {
		var parts []string
		for i, c := range columns {
			parts = append(parts, heading(p, i, c)+" "+cellText(rows[0][i]))
		}
		return upper(and(parts)) + "."
	}
	var said []string
	for _, row := range rows[:min(len(rows), maxSaid)] {
		said = append(said, rowText(row))
	}
	var names []string
	for i, c := range columns {
		names = append(names, heading(p, i, c))
	}
	text := fmt.Sprintf("%d rows (%s): %s", len(rows), strings.Join(names, ", "), strings.Join(said, "; "))
	if len(rows) > maxSaid {
		text += fmt.Sprintf("; and %d more", len(rows)-maxSaid)
	}
	return text + "."
}

func single(p *queryplan.Plan, column string, v any) string {
	if v == nil {
		return upper(heading(p, 0, column)) + " is unknown: the data have no value there."
	}
	text := upper(heading(p, 0, column)) + " is " + cellText(v)
	if cond := conditions(p); cond != "" {
		text += " (where " + cond + ")"
	}
	return text + "."
}

// heading says what a column of the result is.
func heading(p *queryplan.Plan, i int, column string) string {
	if p != nil && i < len(p.Select) && p.Top == nil && p.From == nil {
		return describer{rows: rowsOf(p)}.expr(p.Select[i])
	}
	return human(column)
}

// conditions says the simple filters of a plan.
func conditions(p *queryplan.Plan) string {
	if p == nil || len(p.Filters) == 0 {
		return ""
	}
	return describer{rows: rowsOf(p)}.filters(p.Filters, " and ")
}

func rowText(row []any) string {
	var cells []string
	for _, v := range row {
		cells = append(cells, cellText(v))
	}
	return strings.Join(cells, ", ")
}

// cellText writes a value for reading; numbers get thousands separators only where
// they are no year and no id.
func cellText(v any) string {
	switch v := v.(type) {
	case nil:
		return "unknown"
	case float64:
		if v == math.Trunc(v) && math.Abs(v) < 1e15 {
			return thousands(strconv.FormatInt(int64(v), 10))
		}
		return strconv.FormatFloat(math.Round(v*100)/100, 'f', -1, 64)
	case int64:
		return thousands(strconv.FormatInt(v, 10))
	case int:
		return thousands(strconv.Itoa(v))
	case []byte:
		return string(v)
	}
	return fmt.Sprint(v)
}

func thousands(digits string) string {
	sign := ""
	if strings.HasPrefix(digits, "-") {
		sign, digits = "-", digits[1:]
	}
	if len(digits) < 5 {
		return sign + digits
	}
	var b strings.Builder
	for i, r := range digits {
		if i > 0 && (len(digits)-i)%3 == 0 {
			b.WriteByte(',')
		}
		b.WriteRune(r)
	}
	return sign + b.String()
}

func upper(s string) string {
	if s == "" {
		return s
	}
	return strings.ToUpper(s[:1]) + s[1:]
}
