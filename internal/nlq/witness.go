package nlq

import (
	"cmp"
	"fmt"
	"math"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"interlock/internal/queryplan"
)

// witnessFrom is the least confidence from which the planner's own reading is held against a
// statement that somebody else wrote.
const witnessFrom = 0.9

// WitnessOf is the planner's own reading of a question, where it is sure enough to be one: of
// one table, since which tables belong together is what two readers see differently.
func WitnessOf(q Question) (Answer, bool) {
	a := Plan(q)
	return a, a.Plan != nil && a.Sure() && a.Confidence >= witnessFrom && len(a.Plan.Joins) == 0 && nestedPlans(a.Plan) == 0
}

// Compare says how the result of a statement differs from that of the witness; "" where it
// does not. Columns in another order and columns beside those of the other are no difference.
func Compare(witness Answer, own, other Result) string {
	if own.Limited || other.Limited || own.Error != "" || other.Error != "" || len(own.Columns) == 0 || len(other.Columns) == 0 {
		return ""
	}
	measures := own
	if witness.Plan != nil { // a month can be written in many ways: only what was computed is compared
		measures = withoutCalendar(witness.Plan, own)
	}
	if len(measures.Columns) < len(own.Columns) && len(other.Columns) < len(own.Columns) {
		return ""
	}
	if witness.Plan != nil && !slices.ContainsFunc(witness.Plan.Select, queryplan.Expr.Aggregate) && len(witness.Plan.GroupBy) == 0 {
		// Which columns a list shows is a matter of taste; how many rows it has is not.
		if len(own.Rows) == len(other.Rows) || len(other.Rows) == 1 && len(other.Columns) == 1 && comparedText(other.Rows[0][0]) == comparedText(len(own.Rows)) {
			return ""
		}
	} else if len(own.Rows) == len(other.Rows) && (holdsColumns(measures, other) || holdsColumns(other, measures)) {
		return ""
	}
	return fmt.Sprintf("Read as %q, the question gives another result: %s.", strings.TrimSuffix(witness.Explain, "."), difference(own, other))
}

// difference names what sets the result of the witness apart from another, for who must decide.
func difference(own, other Result) string {
	switch {
	case len(own.Rows) != len(other.Rows):
		return fmt.Sprintf("%d rows and not %d", len(own.Rows), len(other.Rows))
	case len(own.Rows) == 1 && len(own.Columns) == 1 && len(other.Columns) == 1:
		return fmt.Sprintf("%v and not %v", own.Rows[0][0], other.Rows[0][0])
	}
	return "other values in " + strings.Join(own.Columns, ", ")
}

// withoutCalendar leaves out the columns that are steps or parts of dates.
func withoutCalendar(p *queryplan.Plan, r Result) Result {
	out := Result{Rows: make([][]any, len(r.Rows))}
	for c, name := range r.Columns {
		if c < len(p.Select) && (p.Select[c].Truncate != "" || p.Select[c].Part != "") {
			continue
		}
		out.Columns = append(out.Columns, name)
		for i, row := range r.Rows {
			if c < len(row) {
				out.Rows[i] = append(out.Rows[i], row[c])
			}
		}
	}
	return out
}

// holdsColumns reports whether every column of the narrower result is one of the wider,
// whatever the order of the rows and however a number was rounded.
func holdsColumns(wide, narrow Result) bool {
	if len(wide.Columns) < len(narrow.Columns) {
		return false
	}
	var left [][]string
	for c := range wide.Columns {
		left = append(left, sortedColumn(wide, c))
	}
	for c := range narrow.Columns {
		column := sortedColumn(narrow, c)
		i := slices.IndexFunc(left, func(other []string) bool { return slices.EqualFunc(other, column, sameCell) })
		if i < 0 {
			return false
		}
		left = slices.Delete(left, i, i+1)
	}
	return true
}

// sortedColumn is the values of a column: texts first, then numbers by their size.
func sortedColumn(r Result, column int) []string {
	cells := make([]string, len(r.Rows))
	for i, row := range r.Rows {
		if column < len(row) {
			cells[i] = comparedText(row[column])
		}
	}
	slices.SortFunc(cells, func(a, b string) int {
		x, errX := strconv.ParseFloat(a, 64)
		y, errY := strconv.ParseFloat(b, 64)
		switch {
		case errX != nil && errY != nil:
			return strings.Compare(a, b)
		case errX != nil:
			return -1
		case errY != nil:
			return 1
		}
		return cmp.Compare(x, y)
	})
	return cells
}

// sameCell reports whether two cells are equal, or one is the other rounded.
func sameCell(a, b string) bool {
	if a == b {
		return true
	}
	x, errX := strconv.ParseFloat(a, 64)
	y, errY := strconv.ParseFloat(b, 64)
	if errX != nil || errY != nil {
		return false
	}
	_, fraction, _ := strings.Cut(a, ".")
	_, other, _ := strings.Cut(b, ".")
	return math.Abs(x-y) <= 0.5*math.Pow10(-min(len(fraction), len(other)))*(1+1e-9)
}

// comparedText writes a cell so that 3, 3.0 and "3" are the same.
func comparedText(v any) string {
	text := strings.TrimSpace(fmt.Sprint(v))
	if b, ok := v.(bool); ok {
		text = map[bool]string{true: "1", false: "0"}[b]
	}
	if n, err := strconv.ParseFloat(text, 64); err == nil {
		n, _ = strconv.ParseFloat(strconv.FormatFloat(n, 'g', 9, 64), 64)
		return strconv.FormatFloat(n, 'f', -1, 64)
	}
	text = strings.TrimSuffix(strings.TrimSuffix(text, " 00:00:00"), " +0000 UTC")
	for dayForm.MatchString(text) && strings.HasSuffix(text, "-01") {
		text = strings.TrimSuffix(text, "-01") // the first day of a month stands for the month
	}
	return strings.ToLower(text)
}

var dayForm = regexp.MustCompile(`^\d{4}-\d{2}(-\d{2})?$`)
