package nlq

import (
	"interlock/internal/queryplan"
)

// bareNumber reads a number without a comparison.
func (r *reader) bareNumber(i int) {
	n := r.chunks[i].number
	k := r.next(i)
	if r.is(k, rOrMore) && r.near(i, k, 1) {
		if r.numbers(i, k, r.chunks[k].phrase.op, []any{n}) {
			r.use(i, k)
		}
		return
	}
	if m := i + 2; m < len(r.chunks) && r.toks[r.chunks[i+1].from].lower == "to" && r.is(m, rNumber) {
		if r.numbers(i, m, queryplan.Between, []any{n, r.chunks[m].number}) {
			r.use(i, m) // 1 to 2 paragraphs
			return
		}
	}
	p := r.prev(i)
	if r.is(p, rTop) || r.is(p, rSup) && r.near(p, i, 1) || r.is(k, rSup) && r.near(i, k, 1) || r.is(k, rTop) && r.near(i, k, 0) {
		return // how many rows
	}
	text := r.toks[r.chunks[i].from].text
	if text == "once" || text == "twice" {
		return
	}
	year := len(text) == 4 && n >= 1000 && n <= 2200
	in := r.chunks[i].from > 0 && set("in during since year")[r.toks[r.chunks[i].from-1].lower]
	if left := r.subjectOf(i); left >= 0 && r.near(left, i, 3) {
		numeric := func(c *column) bool { return (c.number || c.kind == queryplan.Number) && !(year && in) || c.calendar() }
		if col, s := r.asColumn(left, r.nearTable(left), numeric); col >= 0 && s > 0.6 {
			r.equals(col, n, i, s)
			r.use(left, i)
			r.readFurtherNumbers(i, col)
			return
		}
	}
	if r.named(k) && r.near(i, k, 1) && !year {
		if col, s := r.asColumn(k, r.currentTable(i), (*column).numeric); col >= 0 && s > 0.7 {
			r.equals(col, n, i, s)
			r.use(k, i)
			return
		}
		if t, s := r.asTable(k); t >= 0 && s > 0.7 && r.chunks[i].cond {
			r.conds = append(r.conds, cond{col: -1, table: t, agg: queryplan.Count, op: queryplan.Eq, values: []any{n}, at: i, score: s})
			r.use(k, i)
			return
		}
	}
	if year && r.chunks[i].from > 0 {
		if col, s := r.calendarColumn(i); col >= 0 {
			r.calendarCond(col, queryplan.Eq, n, i, s)
			r.use(i)
		}
	}
}

// readFurtherNumbers reads the rest of `9 or 10`.
func (r *reader) readFurtherNumbers(i, col int) {
	for {
		k := r.next(i)
		m := r.next(k)
		if !r.is(k, rOr) || !r.is(m, rNumber) || !r.near(i, m, 3) {
			return
		}
		last := &r.conds[len(r.conds)-1]
		last.values = append(last.values, r.chunks[m].number)
		last.op = queryplan.In
		r.use(k, m)
		i = m
	}
}

func (r *reader) equals(col int, n float64, at int, score float64) {
	if r.x.columns[col].date {
		r.calendarCond(col, queryplan.Eq, n, at, score)
		return
	}
	op := queryplan.Eq
	if r.negatedBefore(at) {
		op = queryplan.Ne
	}
	r.conds = append(r.conds, cond{col: col, table: -1, op: op, values: []any{n}, at: at, score: score})
}
