package nlq

import (
	"fmt"
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
	return fmt.Sprintf("Read as %q, the question gives another result.", strings.TrimSuffix(witness.Explain, "."))
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

// holdsColumns reports whether every column of the narrower result is one of the wider, as a bag
// of values.
func holdsColumns(wide, narrow Result) bool {
	if len(wide.Columns) < len(narrow.Columns) {
		return false
	}
	var bags []string
	for c := range wide.Columns {
		bags = append(bags, bagOf(wide, c))
	}
	for c := range narrow.Columns {
		i := slices.Index(bags, bagOf(narrow, c))
		if i < 0 {
			return false
		}
		bags = slices.Delete(bags, i, i+1)
	}
	return true
}

// bagOf is the values of a column, whatever their order.
func bagOf(r Result, column int) string {
	var cells []string
	for _, row := range r.Rows {
		text := ""
		if column < len(row) {
			text = comparedText(row[column])
		}
		cells = append(cells, text)
	}
	slices.Sort(cells)
	return strings.Join(cells, "\x00")
}

// comparedText writes a cell so that 3, 3.0 and "3" are the same.
func comparedText(v any) string {
	text := strings.TrimSpace(fmt.Sprint(v))
	if b, ok := v.(bool); ok {
		text = map[bool]string{true: "1", false: "0"}[b]
	}
	if n, err := strconv.ParseFloat(text, 64); err == nil {
		return strconv.FormatFloat(n, 'g', 9, 64)
	}
	text = strings.TrimSuffix(strings.TrimSuffix(text, " 00:00:00"), " +0000 UTC")
	for dayForm.MatchString(text) && strings.HasSuffix(text, "-01") {
		text = strings.TrimSuffix(text, "-01") // the first day of a month stands for the month
	}
	return strings.ToLower(text)
}

var dayForm = regexp.MustCompile(`^\d{4}-\d{2}(-\d{2})?$`)
