package nlq

import (
	"fmt"
	"math"
	"math/big"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"

	"interlock/internal/queryplan"
)

// maxSaid is how many rows an answer names one by one.
const maxSaid = 5

// PartialResultText says how many rows a result has of which some were fetched. No conclusion is
// drawn from a part of the rows: the greatest of them may not be the greatest of all. Whoever
// shows the table says how many it shows. A total of no more than the fetched rows is not known.
func PartialResultText(fetched int, total int64, atLeast bool) string {
	switch {
	case total <= int64(fetched):
		return fmt.Sprintf("There are more than %s rows.", formatMeasure(fetched))
	case atLeast:
		return fmt.Sprintf("There are at least %s rows.", formatMeasure(total))
	}
	return fmt.Sprintf("There are %s rows.", formatMeasure(total))
}

// WholeTableText says how many rows a table has of which only some were read here.
func WholeTableText(rows int) string {
	return fmt.Sprintf("There are %s rows. They are too many for me to put into words.", formatMeasure(rows))
}

// AnswerText says a result in a sentence or two, from its cells and nothing else.
func AnswerText(question string, p *queryplan.Plan, columns []string, rows [][]any) string {
	p = withoutFolding(p)
	a := wording{plan: p, columns: columns, rows: rows}
	if p != nil {
		a.d = describer{rows: rowNoun(p), table: p.Table}
	}
	switch {
	case len(columns) == 0:
		return "There is no result."
	case len(rows) == 0:
		if cond := a.conditions(); cond != "" {
			return "Nothing in the data fits: there is no row where " + cond + "."
		}
		return "There are no rows."
	case len(rows) == 1:
		return a.singleRow()
	}
	if text := a.trendSentence(); text != "" {
		return text
	}
	if text := a.groupsSentence(); text != "" {
		return text
	}
	return a.listSentence()
}

// A wording is a result on its way into words.
type wording struct {
	plan    *queryplan.Plan
	columns []string
	rows    [][]any
	d       describer
}

// expr is what a column of the result was computed by, where the plan says it.
func (a wording) expr(i int) (queryplan.Expr, bool) {
	if a.plan == nil || i >= len(a.plan.Select) || a.plan.Top != nil || a.plan.From != nil {
		return queryplan.Expr{}, false
	}
	return a.plan.Select[i], true
}

// noun is what a column of the result holds: the name of a customer is a customer.
func (a wording) noun(i int) string {
	text := a.heading(i)
	if e, ok := a.expr(i); ok && !e.Aggregate() && e.Truncate == "" {
		if last := humanName(e.Column[strings.LastIndexByte(e.Column, '.')+1:]); last == "name" || last == "title" {
			return strings.TrimSuffix(text, " "+last)
		}
	}
	return text
}

// heading says what a column of the result is.
func (a wording) heading(i int) string {
	if e, ok := a.expr(i); ok {
		return a.d.expr(e)
	}
	return humanName(a.columns[i])
}

func (a wording) conditions() string {
	if a.plan == nil || len(a.plan.Filters) == 0 {
		return ""
	}
	return a.d.filters(a.plan.Filters, " and ")
}

// singleRow words a result of one row.
func (a wording) singleRow() string {
	row := a.rows[0]
	if e, ok := a.expr(0); ok && len(row) == 1 && e.Function == queryplan.Count && e.Column == "" && len(e.Where) == 0 {
		return a.rowCount(row[0])
	}
	var parts []string
	for i := range a.columns {
		text := a.noun(i)
		if !strings.HasPrefix(text, "the ") {
			text = "the " + text
		}
		if row[i] == nil {
			parts = append(parts, text+" is unknown")
			continue
		}
		parts = append(parts, text+" is "+a.formatCell(i, row[i]))
	}
	text := capitalise(joinWithAnd(parts))
	if e, ok := a.expr(0); ok && e.Aggregate() && len(row) == 1 && row[0] != nil {
		if cond := a.conditions(); cond != "" {
			text += ", where " + cond
		}
	}
	return endSentence(text)
}

// Sentence writes a reason as a sentence of its own.
func Sentence(text string) string {
	if strings.HasSuffix(text, "?") || strings.HasSuffix(text, "!") {
		return capitalise(text)
	}
	return endSentence(capitalise(text))
}

// endSentence adds the full stop of a sentence, once.
func endSentence(text string) string { return strings.TrimSuffix(text, ".") + "." }

// rowCount words a number of rows.
func (a wording) rowCount(v any) string {
	rows := a.d.rows
	if rows == "" {
		rows = "rows"
	}
	be := "are"
	if n, ok := toNumber(v); ok && n == 1 {
		be, rows = "is", singular(rows)
	}
	text := fmt.Sprintf("There %s %s %s", be, formatMeasure(v), rows)
	if cond := a.conditions(); cond != "" {
		text += " where " + cond
	}
	return text + "."
}

// trendSentence words how a number went over time.
func (a wording) trendSentence() string {
	first, ok := a.expr(0)
	if !ok || first.Truncate == "" || len(a.columns) != 2 {
		return ""
	}
	low, high := 0, 0
	for i, row := range a.rows {
		n, ok := toNumber(row[1])
		if !ok {
			return ""
		}
		if l, _ := toNumber(a.rows[low][1]); n < l {
			low = i
		}
		if h, _ := toNumber(a.rows[high][1]); n > h {
			high = i
		}
	}
	last := len(a.rows) - 1
	at := func(i int) string { return a.formatCell(0, a.rows[i][0]) }
	text := fmt.Sprintf("From %s to %s %s went from %s to %s.", at(0), at(last), a.heading(1), formatMeasure(a.rows[0][1]), formatMeasure(a.rows[last][1]))
	if len(a.rows) > 2 {
		text += fmt.Sprintf(" It was highest in %s with %s and lowest in %s with %s.", at(high), formatMeasure(a.rows[high][1]), at(low), formatMeasure(a.rows[low][1]))
	}
	return text
}

// groupsSentence words the numbers of groups, the largest first.
func (a wording) groupsSentence() string {
	at := -1
	for i := range a.columns {
		if e, ok := a.expr(i); ok && e.Aggregate() && at < 0 {
			at = i
		}
	}
	if at < 0 || len(a.columns) < 2 || len(a.columns) > 3 || len(a.plan.GroupBy) == 0 {
		return ""
	}
	order := make([]int, 0, len(a.rows))
	for i, row := range a.rows {
		if _, ok := toNumber(row[at]); ok {
			order = append(order, i)
		}
	}
	if len(order) == 0 {
		return ""
	}
	slices.SortStableFunc(order, func(x, y int) int {
		m, _ := toNumber(a.rows[x][at])
		n, _ := toNumber(a.rows[y][at])
		switch {
		case m > n:
			return -1
		case m < n:
			return 1
		}
		return 0
	})
	name := func(i int) string {
		var parts []string
		for k := range a.columns {
			if e, ok := a.expr(k); ok && !e.Aggregate() {
				parts = append(parts, a.groupLabel(k, a.rows[i][k]))
			}
		}
		return strings.Join(parts, ", ")
	}
	var by []string
	for k := range a.columns {
		if e, ok := a.expr(k); ok && !e.Aggregate() {
			by = append(by, a.noun(k))
		}
	}
	text := fmt.Sprintf("By %s, %s comes first with %s", joinWithAnd(by), name(order[0]), a.amountText(at, a.rows[order[0]][at]))
	var more []string
	for _, i := range order[1:min(len(order), maxSaid)] {
		more = append(more, fmt.Sprintf("%s (%s)", name(i), formatMeasure(a.rows[i][at])))
	}
	if len(more) > 0 {
		text += ", then " + joinWithAnd(more)
	}
	text += "."
	if rest := len(a.rows) - min(len(order), maxSaid); rest > 0 {
		text += fmt.Sprintf(" The table has %s more.", formatMeasure(rest))
	}
	seen := map[string]bool{}
	for _, i := range order {
		key := strings.ToLower(name(i))
		if seen[key] {
			return text + " Some of them differ only in capital letters."
		}
		seen[key] = true
	}
	return text
}

// groupLabel returns the name of a group.
func (a wording) groupLabel(i int, v any) string {
	if v == nil {
		return "none"
	}
	return a.formatCell(i, v)
}

// amountText words a number together with what it is a number of.
func (a wording) amountText(i int, v any) string {
	e, _ := a.expr(i)
	what := strings.TrimPrefix(a.d.expr(e), "the ")
	switch {
	case e.Function == queryplan.Count && e.Column == "" && len(e.Where) == 0:
		rows := a.d.rows
		if n, ok := toNumber(v); ok && n == 1 {
			rows = singular(rows)
		}
		return formatMeasure(v) + " " + rows
	case strings.HasPrefix(what, "average"):
		return "an " + what + " of " + formatMeasure(v)
	case e.Function == queryplan.Percent:
		return formatMeasure(v) + " %"
	}
	return "a " + what + " of " + formatMeasure(v)
}

// listSentence words rows that are no groups.
func (a wording) listSentence() string {
	var texts []string
	for _, row := range a.rows[:min(len(a.rows), maxSaid)] {
		var cells []string
		for i, v := range row {
			cells = append(cells, a.groupLabel(i, v))
		}
		texts = append(texts, strings.Join(cells, ", "))
	}
	rest := len(a.rows) - len(texts)
	lead := fmt.Sprintf("There are %s", formatMeasure(len(a.rows)))
	if a.plan == nil {
		lead += " rows" // a statement that somebody typed says nothing about what its rows are
	}
	if a.plan != nil && a.plan.Limit > 1 && len(a.plan.OrderBy) > 0 {
		lead = fmt.Sprintf("The first %s", formatMeasure(len(a.rows)))
	}
	if len(a.columns) > 1 {
		var names []string
		for i := range a.columns {
			names = append(names, a.noun(i))
		}
		text := fmt.Sprintf("%s, with %s: %s", lead, joinWithAnd(names), strings.Join(texts, "; "))
		if rest > 0 {
			text += fmt.Sprintf("; and %s more", formatMeasure(rest))
		}
		return endSentence(text)
	}
	if rest > 0 {
		texts = append(texts, fmt.Sprintf("%s more", formatMeasure(rest)))
	}
	return endSentence(lead + ": " + joinWithAnd(texts))
}

// formatCell writes a value of a column: a month as a month, an amount with
// separators, an id or a year as it is.
func (a wording) formatCell(i int, v any) string {
	e, ok := a.expr(i)
	if ok && e.Truncate != "" {
		return unitText(e.Truncate, fmt.Sprint(v))
	}
	if _, percent := percentage(e); ok && percent {
		return formatMeasure(v) + " %"
	}
	if ok && e.Aggregate() {
		return formatMeasure(v)
	}
	if _, is := toNumber(v); is {
		for _, w := range splitIdentifier(a.columns[i]) {
			if keyWords[w] || w == "year" {
				return cellText(v, false)
			}
		}
		if a.holdsYears(i) {
			return cellText(v, false)
		}
		return formatMeasure(v)
	}
	return cellText(v, false)
}

// holdsYears says that a column of a typed statement, of which no plan tells, groups rows by
// years: it stands before what is measured, and all its numbers are years.
func (a wording) holdsYears(i int) bool {
	if a.plan != nil || len(a.rows) < 2 || i > 0 && i == len(a.columns)-1 {
		return false
	}
	for k := range i {
		if _, isNumber := toNumber(a.rows[0][k]); isNumber && !a.allYears(k) {
			return false
		}
	}
	return a.allYears(i)
}

func (a wording) allYears(i int) bool {
	for _, row := range a.rows {
		n, ok := toNumber(row[i])
		if row[i] != nil && (!ok || n != math.Trunc(n) || n < 1900 || n > 2100) {
			return false
		}
	}
	return true
}

// unitText names a unit of the calendar by its first moment.
func unitText(unit queryplan.Unit, text string) string {
	day, err := time.Parse(time.DateOnly, text[:min(len(text), len(time.DateOnly))])
	if err != nil {
		return text
	}
	switch unit {
	case "year":
		return day.Format("2006")
	case "quarter":
		return fmt.Sprintf("Q%d %d", (int(day.Month())+2)/3, day.Year())
	case "month":
		return day.Format("January 2006")
	case "week", "day":
		return day.Format(time.DateOnly)
	}
	return text
}

func toNumber(v any) (float64, bool) {
	switch v := v.(type) {
	case float64:
		return v, true
	case int64:
		return float64(v), true
	case int:
		return float64(v), true
	case string: // an exact decimal
		n, err := strconv.ParseFloat(v, 64)
		return n, err == nil
	}
	return 0, false
}

// formatMeasure writes a number that counts or measures something.
func formatMeasure(v any) string { return cellText(v, true) }

// cellText writes a value for reading, numbers with separators where they are asked
// for.
func cellText(v any, separate bool) string {
	n, ok := toNumber(v)
	if _, text := v.(string); text && !separate {
		ok = false
	}
	switch {
	case v == nil:
		return "unknown"
	case ok && separate && isExact(v):
		return exactText(v.(string))
	case !ok || math.IsInf(n, 0):
		text := fmt.Sprint(v)
		return strings.TrimSuffix(strings.TrimSuffix(text, " 00:00:00"), "T00:00:00Z")
	case n == math.Trunc(n) && math.Abs(n) < 1e15:
		text := strconv.FormatInt(int64(n), 10)
		if separate {
			return groupThousands(text)
		}
		return text
	}
	whole, part, _ := strings.Cut(strconv.FormatFloat(math.Round(n*100)/100, 'f', -1, 64), ".")
	if separate {
		whole = groupThousands(whole)
	}
	if part == "" {
		return whole
	}
	return whole + "." + part
}

// isExact says that a value is a number that travels as text, because a float does
// not hold all its digits.
func isExact(v any) bool {
	s, ok := v.(string)
	return ok && exactNumber.MatchString(s)
}

var exactNumber = regexp.MustCompile(`^-?[0-9]+(\.[0-9]+)?$`)

// exactText writes an exact number with separators and at most two decimals.
func exactText(s string) string {
	whole, part, _ := strings.Cut(s, ".")
	if len(part) > 2 {
		r, _ := new(big.Rat).SetString(s) // it is a number
		whole, part, _ = strings.Cut(r.FloatString(2), ".")
	}
	if part = strings.TrimRight(part, "0"); part != "" {
		part = "." + part
	}
	return groupThousands(whole) + part
}

// FormatAmount writes an amount as answers do: with separators and two decimals.
func FormatAmount(amount float64) string {
	whole, cents, _ := strings.Cut(strconv.FormatFloat(amount, 'f', 2, 64), ".")
	return groupThousands(whole) + "." + cents
}

func groupThousands(digits string) string {
	sign := ""
	if strings.HasPrefix(digits, "-") {
		sign, digits = "-", digits[1:]
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

func capitalise(s string) string {
	if s == "" {
		return s
	}
	return strings.ToUpper(s[:1]) + s[1:]
}
