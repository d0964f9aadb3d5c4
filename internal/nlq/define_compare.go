package nlq

import (
	"slices"
	"strconv"
	"strings"
	"time"

	"interlock/internal/queryplan"
)

// comparisons are the words that compare, the longest first where one begins with another.
var comparisons = []struct {
	words string
	op    queryplan.Operator
}{
	{"on or before", queryplan.Le},
	{"on or after", queryplan.Ge},
	{"no later than", queryplan.Le},
	{"not later than", queryplan.Le},
	{"no earlier than", queryplan.Ge},
	{"later than", queryplan.Gt},
	{"earlier than", queryplan.Lt},
	{"after", queryplan.Gt},
	{"before", queryplan.Lt},
	{"since", queryplan.Ge},
	{"on", queryplan.Eq},
	{"more than", queryplan.Gt},
	{"greater than", queryplan.Gt},
	{"larger than", queryplan.Gt},
	{"higher than", queryplan.Gt},
	{"longer than", queryplan.Gt},
	{"above", queryplan.Gt},
	{"over", queryplan.Gt},
	{"exceeds", queryplan.Gt},
	{"exceeding", queryplan.Gt},
	{"less than", queryplan.Lt},
	{"fewer than", queryplan.Lt},
	{"lower than", queryplan.Lt},
	{"smaller than", queryplan.Lt},
	{"shorter than", queryplan.Lt},
	{"below", queryplan.Lt},
	{"under", queryplan.Lt},
	{"at least", queryplan.Ge},
	{"at most", queryplan.Le},
	{"up to", queryplan.Le},
	{"equal to", queryplan.Eq},
	{"equals", queryplan.Eq},
	{"other than", queryplan.Ne},
	{"different from", queryplan.Ne},
	{">=", queryplan.Ge},
	{"<=", queryplan.Le},
	{">", queryplan.Gt},
	{"<", queryplan.Lt},
	{"=", queryplan.Eq},
}

// compared reads a comparison of a column that comes next.
func (r *rowsReader) compared() bool {
	r.accept("the", "a", "an", "its", "their")
	start := r.at
	col := r.datedColumn(r.at)
	if col >= 0 {
		r.at++
	} else if col = r.column(); col < 0 {
		return false
	}
	if r.comparison(col, false, false) {
		return true
	}
	r.at = start
	return false
}

// comparison reads what is said of a column. Alone says that nothing more need be: with a due_date.
func (r *rowsReader) comparison(col int, neg, alone bool) bool {
	if r.ends() {
		truth := r.x.columns[col].kind == queryplan.Bool
		c := r.present(col, neg)
		if truth {
			c.op, c.values = queryplan.Eq, []any{!neg}
		}
		r.conds = append(r.conds, c)
		return truth || alone
	}
	if neg {
		return false // without a price above 5: which of the two is not said
	}
	c, ok := r.oneComparison(col)
	if !ok {
		return false
	}
	for r.sees("or") {
		before := r.at
		r.at++
		other, ok := r.oneComparison(col)
		if !ok {
			r.at = before
			return false
		}
		if len(c.any) == 0 {
			c = condition{table: c.table, col: col, any: []condition{c}, other: -1}
		}
		c.any = append(c.any, other)
	}
	r.conds = append(r.conds, c)
	return true
}

func (r *rowsReader) ends() bool {
	return r.at >= len(r.words) || slices.Contains([]string{",", "and", ")", "but", "whose", "that", "which", "with", "without"}, r.words[r.at])
}

// present is the condition that a column has a value, or has none.
func (r *rowsReader) present(col int, missing bool) condition {
	c := condition{table: r.x.columns[col].table, col: col, op: queryplan.IsNotNull, other: -1}
	if missing {
		c.op = queryplan.IsNull
	}
	return c
}

func (r *rowsReader) oneComparison(col int) (condition, bool) {
	c := condition{table: r.x.columns[col].table, col: col, op: queryplan.Eq, other: -1}
	r.accept("is", "are", "was", "lies", "lie", "has", "of")
	neg := r.accept("not") != ""
	switch {
	case r.accept("empty", "missing", "null", "blank", "unset", "unknown") != "":
		return r.present(col, !neg), true
	case r.accept("set", "filled in", "filled", "given", "known", "present") != "":
		return r.present(col, neg), true
	case r.accept("from", "between") != "":
		return r.between(c, neg)
	}
	for _, form := range comparisons {
		if r.accept(form.words) != "" {
			c.op = form.op
			break
		}
	}
	if neg {
		if c.op = oppositeOp(c.op); c.op == "" {
			return c, false
		}
	}
	if other := r.column(); other >= 0 {
		if c.op == queryplan.Eq && r.x.columns[other].table != c.table {
			return c, false
		}
		c.other = other
		return c, r.comparable(col, other)
	}
	return r.withValue(c)
}

// comparable reports whether two columns hold values of one kind.
func (r *rowsReader) comparable(a, b int) bool {
	one, two := &r.x.columns[a], &r.x.columns[b]
	return one.date == two.date && one.isNumeric() == two.isNumeric()
}

// withValue reads the value or the values that a column is compared with.
func (r *rowsReader) withValue(c condition) (condition, bool) {
	if r.x.columns[c.col].date {
		day, ok := r.day()
		if !ok {
			return c, false
		}
		c.period, ok = periodOf(c.op, day)
		c.op = queryplan.InPeriod
		return c, ok
	}
	v, ok := r.value(c.col)
	if !ok {
		return c, false
	}
	r.nameInBrackets(c.col, v)
	c.values = []any{v}
	if _, number := v.(float64); number && c.op == queryplan.Eq {
		switch {
		case r.accept("or more", "or above", "or higher", "and more", "and above", "or over") != "":
			c.op = queryplan.Ge
		case r.accept("or less", "or fewer", "or below", "or lower") != "":
			c.op = queryplan.Le
		case r.accept("to") != "":
			high, ok := r.value(c.col)
			c.op, c.values = queryplan.Between, []any{v, high}
			return c, ok
		}
	}
	if c.op != queryplan.Eq && c.op != queryplan.Ne {
		return c, true
	}
	for {
		before := r.at
		if r.accept(", or", "or", "nor", "and", ",") == "" {
			break
		}
		more, ok := r.value(c.col)
		if !ok {
			r.at = before
			break
		}
		r.nameInBrackets(c.col, more)
		c.values = append(c.values, more)
	}
	if len(c.values) > 1 {
		c.op = map[queryplan.Operator]queryplan.Operator{queryplan.Eq: queryplan.In, queryplan.Ne: queryplan.NotIn}[c.op]
	}
	return c, true
}

// value reads one value of a column, as the data or the dictionary write it.
func (r *rowsReader) value(col int) (any, bool) {
	if r.at >= len(r.words) {
		return nil, false
	}
	column := &r.x.columns[col]
	for n := min(5, len(r.words)-r.at); n > 0; n-- {
		text := strings.Trim(strings.Join(r.words[r.at:r.at+n], " "), `'"`)
		refs := r.x.values[normaliseValue(text)]
		if i := slices.IndexFunc(refs, func(v valueRef) bool { return v.column == col }); i >= 0 && normaliseValue(text) != "" {
			r.at += n
			return r.x.literal(refs[i]), true
		}
	}
	word := r.words[r.at]
	if column.kind == queryplan.Bool {
		truth, ok := map[string]bool{"true": true, "yes": true, "false": false, "no": false}[word]
		if ok {
			r.at++
		}
		return truth, ok
	}
	n, err := strconv.ParseFloat(word, 64)
	if err != nil || column.kind != queryplan.Number && !column.number {
		return nil, false
	}
	r.at++
	r.accept("euro", "eur", "%", "percent", "minutes", "hours", "days")
	return n, true
}

// nameInBrackets takes the name of a code that stands behind it: status 2 (out).
func (r *rowsReader) nameInBrackets(col int, v any) {
	end := slices.Index(r.words[r.at:], ")")
	if !r.sees("(") || end < 0 {
		return
	}
	refs := r.x.values[normaliseValue(strings.Join(r.words[r.at+1:r.at+end], " "))]
	if slices.ContainsFunc(refs, func(ref valueRef) bool { return ref.column == col && r.x.literal(ref) == v }) {
		r.at += end + 1
	}
}

func (r *rowsReader) word() string {
	if r.at < len(r.words) {
		return r.words[r.at]
	}
	return ""
}

var todayWords = []string{"today", "the day of the extract", "the date of the extract", "the day of this extract", "the extract date", "the extract", "now"}

// day reads a date, or the day of the extract.
func (r *rowsReader) day() (time.Time, bool) {
	if r.accept(todayWords...) != "" {
		return r.x.today, !r.x.today.IsZero()
	}
	if r.at >= len(r.words) {
		return time.Time{}, false
	}
	day, err := time.Parse(time.DateOnly, r.words[r.at])
	if err != nil {
		return day, false
	}
	r.at++
	before := r.at
	r.accept(",")
	if r.accept(todayWords...) == "" {
		r.at = before
	}
	return day, true
}

func periodOf(op queryplan.Operator, day time.Time) (period, bool) {
	next := day.AddDate(0, 0, 1)
	switch op {
	case queryplan.Lt:
		return period{until: day}, true
	case queryplan.Le:
		return period{until: next}, true
	case queryplan.Gt:
		return period{from: next}, true
	case queryplan.Ge:
		return period{from: day}, true
	case queryplan.Eq:
		return period{from: day, until: next}, true
	}
	return period{}, false
}

// between reads the two ends of a range; both belong to it.
func (r *rowsReader) between(c condition, neg bool) (condition, bool) {
	if r.x.columns[c.col].date {
		p, ok := r.days()
		c.op, c.period, c.neg = queryplan.InPeriod, p, neg
		return c, ok && !neg
	}
	low, ok := r.value(c.col)
	if !ok || r.accept("to", "and", "until") == "" {
		return c, false
	}
	high, ok := r.value(c.col)
	c.op, c.values, c.neg = queryplan.Between, []any{low, high}, neg
	return c, ok
}

func (r *rowsReader) days() (period, bool) {
	from, ok := r.day()
	if !ok || r.accept("to", "and", "until", "through") == "" {
		return period{}, false
	}
	to, ok := r.day()
	return period{from: from, until: to.AddDate(0, 0, 1)}, ok && !to.Before(from)
}

// inDays reads the days between which the rows count, by their main date.
func (r *rowsReader) inDays() bool {
	start := r.at
	r.accept("from", "between", "in", "during")
	p, ok := r.days()
	if year, is := yearWord(r.word()); !ok && is && start == r.at-1 {
		p, ok = period{from: time.Date(year, 1, 1, 0, 0, 0, 0, time.UTC), until: time.Date(year+1, 1, 1, 0, 0, 0, 0, time.UTC)}, true
		r.at++
	}
	col := r.x.mainDate(r.base)
	if !ok || col < 0 {
		r.at = start
		return false
	}
	r.conds = append(r.conds, condition{table: r.base, col: col, op: queryplan.InPeriod, period: p, other: -1})
	return true
}
