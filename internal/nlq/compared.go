package nlq

import (
	"slices"
	"time"

	"interlock/internal/queryplan"
)

// readComparisons reads `more than 5 orders`, `amount over 100`, `2 or more reminders`.
func (u *understanding) readComparisons() {
	u.readAskedUnit()
	for i := range u.ps {
		p := &u.ps[i]
		if p.used {
			continue
		}
		switch {
		case p.role == pOp && u.is(u.next(i), pNumber):
			n := u.next(i)
			u.compare(i, n, n, p.op)
		case p.role == pNumber && u.is(u.next(i), pOrMore):
			u.compare(i, u.next(i), i, u.ps[u.next(i)].op)
		case p.role == pNumber && u.is(u.next(i), pTimes) && u.is(u.next(u.next(i)), pOrMore):
			m := u.next(u.next(i))
			u.compare(i, m, i, u.ps[m].op)
		case p.role == pBetween && u.is(u.next(i), pNumber):
			a := u.next(i)
			and := u.next(a)
			b := u.next(and)
			if !u.is(and, pAnd) || !u.is(b, pNumber) {
				continue
			}
			if col := u.comparedColumn(i, b); col >= 0 {
				u.addComparison(condition{table: u.x.columns[col].table, col: col, op: queryplan.Between, values: []any{u.ps[a].number, u.ps[b].number}, other: -1})
				u.use(i, a, and, b)
			}
		case p.role == pBirth && u.is(u.next(i), pNumber):
			u.compareAge(i, u.next(i), p.op)
		case p.role == pOp && u.free(u.next(i)):
			u.compareColumns(i, u.next(i))
		}
	}
}

// readAskedUnit reads `in which months was revenue above 100`: the units of the calendar are asked for.
func (u *understanding) readAskedUnit() {
	w := u.find(0, pWhich)
	if j := u.next(w); w >= 0 && len(u.q.measures) == 1 && u.q.limit == 0 && u.is(j, pUnit) && !u.ps[j].desc && u.find(j, pOp, pBetween) >= 0 {
		u.q.groups = append(u.q.groups, grouping{col: -1, table: -1, unit: u.ps[j].unit, part: u.ps[j].part})
		u.askedUnit = true
		u.use(w, j)
	}
}

// compareColumns reads `delivered_on is after promised_on`.
func (u *understanding) compareColumns(i, j int) {
	left := u.prev(i)
	op := u.ps[i].op
	var marks []int
	if o := left; u.is(o, pOr) && u.is(u.prev(o), pName) { // on or before
		marks = append(marks, o)
		left = u.prev(o)
		if op == queryplan.Lt {
			op = queryplan.Le
		} else if op == queryplan.Gt {
			op = queryplan.Ge
		}
	}
	for left >= 0 && !u.is(left, pName) {
		left = u.prev(left)
	}
	if left < 0 {
		return
	}
	isDate := func(c *column) bool { return c.date }
	for _, ok := range []func(c *column) bool{isDate, isNumericColumn} {
		a, b := u.column(left, ok), u.column(j, ok)
		if a >= 0 && b >= 0 && u.x.columns[a].table == u.x.columns[b].table {
			u.q.conds = append(u.q.conds, condition{table: u.x.columns[a].table, col: a, op: op, other: b})
			u.use(i, j, left)
			u.use(marks...)
			return
		}
	}
}

// compareAge reads `older than 65`: a date of birth before this day so many years ago.
func (u *understanding) compareAge(i, n int, op queryplan.Operator) {
	for _, id := range u.x.tables[u.q.base].columns {
		if c := &u.x.columns[id]; c.date && slices.Contains(c.words, "birth") {
			day := u.now.AddDate(-int(u.ps[n].number), 0, 0)
			p := period{until: time.Date(day.Year(), day.Month(), day.Day(), 0, 0, 0, 0, time.UTC)}
			if op == queryplan.Lt {
				p = period{from: p.until.AddDate(0, 0, 1)}
			}
			u.q.conds = append(u.q.conds, condition{table: u.q.base, col: id, op: queryplan.InPeriod, period: p, other: -1})
			u.use(i, n)
			if k := u.next(n); u.is(k, pUnit) {
				u.use(k)
			}
			return
		}
	}
}

// comparedColumn finds the numeric column before piece i or after piece n.
func (u *understanding) comparedColumn(i, n int) int {
	for k, steps := u.prev(i), 0; k >= 0 && steps < 3; k, steps = u.prev(k), steps+1 {
		if u.free(k) {
			if col := u.column(k, isNumericColumn); col >= 0 {
				u.use(k)
				return col
			}
		}
		if !u.is(k, pName, pWith, pBe, pPronoun) {
			break
		}
	}
	if k := u.next(n); u.free(k) && (u.ps[k].table < 0 || len(u.ps[k].cols) > 0 && u.ps[k].cols[0].score > u.ps[k].tscore) {
		if col := u.column(k, isNumericColumn); col >= 0 {
			u.use(k)
			return col
		}
	}
	return -1
}

// compare reads a comparison of a column, of a number of related rows, or of the measure.
func (u *understanding) compare(i, mark, n int, op queryplan.Operator) {
	value := u.ps[n].number
	if o := u.ps[n].other; o != 0 && !u.german {
		v, ok := u.choices["number"+u.ps[n].text]
		switch {
		case ok && v == 1:
			value = o
		case !ok:
			u.open = append(u.open, choice{key: "number" + u.ps[n].text, about: u.ps[n].text, passing: true, options: []option{{0, trimNumber(value)}, {1, trimNumber(o)}}})
		}
	}
	end := max(i, n, mark)
	done := func() { u.use(i, mark, n) }
	if u.is(u.prev(i), pNot) && op == queryplan.Gt { // no more than
		op = queryplan.Le
		u.use(u.prev(i))
	}
	// A number of related rows: more than 3 subscriptions.
	if k := u.next(end); u.free(k) && u.ps[k].table >= 0 && u.ps[k].table != u.q.base && (len(u.ps[k].cols) == 0 || u.ps[k].tscore >= u.ps[k].cols[0].score) {
		if u.compareRelated(u.ps[k].table, op, value) {
			done()
			u.use(k)
			return
		}
	}
	if times := u.find(n, pTimes); times >= 0 {
		for k := u.prev(i); k >= 0 && u.is(k, pName, pUnknown); k = u.prev(k) { // repaired 8 times or more
			if t := max(u.tableOfVerb(k), u.tableOfDone(k)); t >= 0 && !u.ps[k].used && u.compareRelated(t, op, value) {
				done()
				u.use(k, times)
				return
			}
		}
		return
	}
	if k := u.next(end); u.free(k) && u.ps[k].def != nil && u.ps[k].def.isMeasure() && u.listing {
		u.rankGroups(k, op, value)
		done()
		return
	}
	if k := u.prev(i); u.listing && u.free(k) && u.ps[k].def != nil && u.ps[k].def.isMeasure() {
		u.rankGroups(k, op, value)
		done()
		return
	}
	if k := u.prev(i); u.askedUnit && k >= 0 && u.ps[k].used && !u.is(u.next(end), pName) {
		u.addGroupComparison(groupCondition{op: op, value: value})
		done()
		return
	}
	if u.last != nil && len(u.last.groups) > 0 && len(u.q.measures) > 0 && u.compareGroups(end, op, value) {
		done()
		return
	}
	if k := end + 1; u.is(k, pName) && u.ps[k].table >= 0 && len(u.ps[k].cols) == 0 && u.ps[k].def == nil {
		return // a number right before the name of rows counts them: at least 4 students is no comparison of a grade
	}
	if col := u.comparedColumn(i, end); col >= 0 {
		u.addComparison(condition{table: u.x.columns[col].table, col: col, op: op, values: []any{value}, other: -1})
		done()
		u.useUnit(end)
		return
	}
	if col := u.x.amountColumn(u.q.base); col >= 0 && u.is(u.next(end), pMoney, pUnknown) || col >= 0 && u.next(end) < 0 || col >= 0 && !u.is(u.next(end), pName, pUnknown) {
		u.addComparison(condition{table: u.q.base, col: col, op: op, values: []any{value}, other: -1})
		done()
		return
	}
	// A unit names the column: over 3000 kg.
	for k := end + 1; k < len(u.ps) && k <= end+1; k++ {
		for _, id := range u.x.tables[u.q.base].columns {
			if c := &u.x.columns[id]; c.isNumeric() && len(c.words) > 1 && c.words[len(c.words)-1] == u.ps[k].text {
				u.addComparison(condition{table: u.q.base, col: id, op: op, values: []any{value}, other: -1})
				done()
				u.use(k)
				return
			}
		}
	}
}

// compareRelated keeps the listed rows by how many rows of another table belong to each.
func (u *understanding) compareRelated(t int, op queryplan.Operator, value float64) bool {
	if !u.listing || u.x.singleWay(t, u.q.base) == nil {
		return false
	}
	u.q.groups = []grouping{{col: -1, table: u.q.base}}
	u.q.base, u.q.measures, u.listing, u.q.hidden = t, []measure{{agg: queryplan.Count, table: t, col: -1}}, false, true
	u.q.having = append(u.q.having, groupCondition{op: op, value: value})
	return true
}

// compareGroups keeps groups of a follow-up: only those with more than 40, with at least 30 ratings.
func (u *understanding) compareGroups(end int, op queryplan.Operator, value float64) bool {
	k := u.next(end)
	if !u.free(k) {
		if u.is(k, pUnknown) {
			return false
		}
		u.addGroupComparison(groupCondition{op: op, value: value})
		return true
	}
	m := u.q.measures[0]
	measured := func(id int) bool { return m.col == id || m.def != nil && m.def.col == id }
	own := slices.ContainsFunc(u.ps[k].cols, func(c scored) bool { return measured(c.id) }) || slices.ContainsFunc(u.x.synonymColumns(u.ps[k].text), measured)
	if u.ps[k].table != u.q.base && !own {
		return false
	}
	u.use(k)
	count := measure{agg: queryplan.Count, table: u.q.base, col: -1}
	u.addGroupComparison(groupCondition{op: op, value: value, measure: &count})
	return true
}

// addComparison adds a comparison of a column with a number. In a follow-up it takes the
// place of one that bounds the column on the same side: over 1000, and over 1500?
func (u *understanding) addComparison(c condition) {
	if u.last != nil {
		u.q.conds = slices.DeleteFunc(u.q.conds, func(o condition) bool {
			return o.col == c.col && o.other < 0 && o.def == nil && !o.exists && !o.neg && boundsSameSide(o.op, c.op) && !u.givenNow(o)
		})
	}
	u.q.conds = append(u.q.conds, c)
}

// addGroupComparison does the same for a comparison of groups.
func (u *understanding) addGroupComparison(c groupCondition) {
	if u.last != nil {
		u.q.having = slices.DeleteFunc(u.q.having, func(o groupCondition) bool {
			same := o.measure == nil && c.measure == nil || o.measure != nil && c.measure != nil && *o.measure == *c.measure
			return same && boundsSameSide(o.op, c.op) && slices.Contains(u.last.having, o)
		})
	}
	u.q.having = append(u.q.having, c)
}

// boundsSameSide reports whether two comparisons bound a number from the same side.
func boundsSameSide(a, b queryplan.Operator) bool {
	side := func(op queryplan.Operator) (below, above bool) {
		return op == queryplan.Gt || op == queryplan.Ge || op == queryplan.Between, op == queryplan.Lt || op == queryplan.Le || op == queryplan.Between
	}
	aBelow, aAbove := side(a)
	bBelow, bAbove := side(b)
	if a == queryplan.Between && b != queryplan.Between {
		return false // the other end of it stays
	}
	return aBelow && bBelow || aAbove && bAbove
}

// useUnit marks a unit after a number.
func (u *understanding) useUnit(i int) {
	if k := u.next(i); u.is(k, pUnknown) && units[lemma(u.ps[k].text)] || u.is(k, pMoney) {
		u.use(k)
	}
}

// rankGroups turns a list of rows into groups kept by a metric: patients who owe more than 400.
func (u *understanding) rankGroups(k int, op queryplan.Operator, value float64) {
	d := u.ps[k].def
	if u.x.singleWay(d.base, u.q.base) == nil {
		return
	}
	u.q.groups = []grouping{{col: -1, table: u.q.base}}
	u.q.base, u.q.measures, u.listing, u.q.hidden = d.base, []measure{{table: d.base, col: -1, def: d}}, false, true
	u.q.having = append(u.q.having, groupCondition{op: op, value: value})
	u.use(k)
}
