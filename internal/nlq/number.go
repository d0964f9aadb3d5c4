package nlq

import (
	"interlock/internal/queryplan"
)

// readBareNumber reads a number without a comparison.
func (r *reader) readBareNumber(i int) {
	n := r.chunks[i].number
	k := r.nextChunk(i)
	if r.hasRole(k, rOrMore) && r.areNear(i, k, 1) {
		if r.compareNumber(i, k, r.chunks[k].phrase.op, []any{n}) {
			r.markUsed(i, k)
		}
		return
	}
	if m := i + 2; m < len(r.chunks) && r.toks[r.chunks[i+1].from].lower == "to" && r.hasRole(m, rNumber) {
		if r.compareNumber(i, m, queryplan.Between, []any{n, r.chunks[m].number}) {
			r.markUsed(i, m) // 1 to 2 paragraphs
			return
		}
	}
	p := r.prevChunk(i)
	if r.hasRole(p, rTop) || r.hasRole(p, rSup) && r.areNear(p, i, 1) || r.hasRole(k, rSup) && r.areNear(i, k, 1) || r.hasRole(k, rTop) && r.areNear(i, k, 0) {
		return // how many rows
	}
	text := r.toks[r.chunks[i].from].text
	if text == "once" || text == "twice" {
		return
	}
	year := len(text) == 4 && n >= 1000 && n <= 2200
	in := r.chunks[i].from > 0 && wordSet("in during since year")[r.toks[r.chunks[i].from-1].lower]
	if left := r.subjectOf(i); left >= 0 && r.areNear(left, i, 3) {
		numeric := func(c *column) bool {
			return (c.number || c.kind == queryplan.Number) && !(year && in) || c.isCalendar()
		}
		if col, s := r.asColumn(left, r.nearTable(left), numeric); col >= 0 && s > 0.6 {
			r.addEquals(col, n, i, s)
			r.markUsed(left, i)
			r.readFurtherNumbers(i, col)
			return
		}
	}
	if r.isNamed(k) && r.areNear(i, k, 1) && !year {
		if col, s := r.asColumn(k, r.currentTable(i), (*column).isNumeric); col >= 0 && s > 0.7 {
			r.addEquals(col, n, i, s)
			r.markUsed(k, i)
			return
		}
		if t, s := r.asTable(k); t >= 0 && s > 0.7 && r.chunks[i].cond {
			r.conds = append(r.conds, cond{col: -1, table: t, agg: queryplan.Count, op: queryplan.Eq, values: []any{n}, at: i, score: s})
			r.markUsed(k, i)
			return
		}
	}
	if year && r.chunks[i].from > 0 {
		if col, s := r.calendarColumn(i); col >= 0 {
			r.calendarCond(col, queryplan.Eq, n, i, s)
			r.markUsed(i)
		}
	}
}

// readFurtherNumbers reads the rest of `9 or 10`.
func (r *reader) readFurtherNumbers(i, col int) {
	for {
		k := r.nextChunk(i)
		m := r.nextChunk(k)
		if !r.hasRole(k, rOr) || !r.hasRole(m, rNumber) || !r.areNear(i, m, 3) {
			return
		}
		last := &r.conds[len(r.conds)-1]
		last.values = append(last.values, r.chunks[m].number)
		last.op = queryplan.In
		r.markUsed(k, m)
		i = m
	}
}

func (r *reader) addEquals(col int, n float64, at int, score float64) {
	if r.x.columns[col].date {
		r.calendarCond(col, queryplan.Eq, n, at, score)
		return
	}
	op := queryplan.Eq
	if r.takeNotBefore(at) {
		op = queryplan.Ne
	}
	r.conds = append(r.conds, cond{col: col, table: -1, op: op, values: []any{n}, at: at, score: score})
}
