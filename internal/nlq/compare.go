package nlq

import (
	"slices"

	"interlock/internal/queryplan"
)

// readComparisons reads `more than 3 songs`, `age below 30`, `opened after 2010`,
// `heavier than average`, `with 4 cylinders`, `in 2024`.
func (r *reader) readComparisons() {
	for i := range r.chunks {
		c := &r.chunks[i]
		if c.used {
			continue
		}
		switch c.role {
		case rCompare:
			r.readComparison(i)
		case rNumber:
			r.readBareNumber(i)
		case rPeriod:
			r.readBarePeriod(i)
		}
	}
}

func (r *reader) readComparison(i int) {
	c := &r.chunks[i]
	j := r.nextChunk(i)
	if j < 0 || !r.areNear(i, j, 4) {
		return
	}
	op := c.phrase.op
	if not := r.findNotBefore(i); not >= 0 {
		op = oppositeOp(op)
		defer func() {
			if c.used {
				r.markUsed(not)
			}
		}()
	}
	if k := r.nextChunk(j); r.isNamed(j) && r.hasRole(k, rNumber) && r.areNear(j, k, 1) {
		// below age 30, after the year 2008
		if col, s := r.asColumn(j, r.currentTable(i), func(c *column) bool { return c.isNumeric() || c.isCalendar() }); col >= 0 && s > 0.5 && !(c.phrase.adj == "date" && r.subjectOf(i) >= 0) {
			r.calendarCond(col, op, r.chunks[k].number, i, s)
			r.markUsed(i, j, k)
			return
		}
		r.markUsed(j)
		j = k
	}
	switch {
	case r.chunks[j].role == rNumber && op == queryplan.Between:
		k := r.nextChunk(j)
		if m := r.nextChunk(k); r.hasRole(k, rAnd) && r.hasRole(m, rNumber) {
			if r.compareNumber(i, m, op, []any{r.chunks[j].number, r.chunks[m].number}) {
				r.markUsed(i, j, k, m)
			}
		}
	case r.chunks[j].role == rNumber:
		last := j
		if k := r.nextChunk(j); r.hasRole(k, rOrMore) {
			r.markUsed(k)
			last = k
		}
		if r.compareNumber(i, last, op, []any{r.chunks[j].number}) {
			r.markUsed(i, j)
		}
	case r.chunks[j].role == rPeriod:
		r.readDatedComparison(i, j, op)
	case r.chunks[j].role == rAgg || r.chunks[j].role == rSup && r.chunks[j].phrase.adj == "":
		r.compareWithAggregate(i, j, op)
	}
}

func oppositeOp(op queryplan.Operator) queryplan.Operator {
	switch op {
	case queryplan.Gt:
		return queryplan.Le
	case queryplan.Ge:
		return queryplan.Lt
	case queryplan.Lt:
		return queryplan.Ge
	case queryplan.Le:
		return queryplan.Gt
	case queryplan.Eq:
		return queryplan.Ne
	}
	return op
}

// takeNotBefore takes a `not` that stands right before.
func (r *reader) takeNotBefore(i int) bool {
	not := r.findNotBefore(i)
	r.markUsed(not)
	return not >= 0
}

// findNotBefore finds a `not` that stands right before, or -1.
func (r *reader) findNotBefore(i int) int {
	p := r.prevChunk(i)
	for p >= 0 && (r.hasRole(p, rBe) || r.hasRole(p, rWord)) && r.areNear(p, i, 2) {
		p = r.prevChunk(p)
	}
	if r.hasRole(p, rNot) && r.areNear(p, i, 4) && !r.chunks[p].used {
		return p
	}
	return -1
}

func (r *reader) markUsed(is ...int) {
	for _, i := range is {
		if i >= 0 {
			r.chunks[i].used = true
		}
	}
}

// compareNumber finds what a number is compared with: the column before it, the column or
// counted table after it, or what the words hint at.
func (r *reader) compareNumber(i, last int, op queryplan.Operator, values []any) bool {
	c := &r.chunks[i]
	numeric := (*column).isNumeric
	left, right := r.subjectOf(i), r.nextChunk(last)
	if right >= 0 && (!r.areNear(last, right, 2) || r.toks[r.chunks[right].from].comma) {
		right = -1
	}
	if c.phrase.adj == "date" {
		return r.readYears(i, op, values)
	}
	adj := c.phrase.adj
	if adj != "" && (left < 0 || !r.isMeasure(left)) {
		if col, more := r.columnOfAdjective(adj, r.currentTable(i)); col >= 0 {
			if !more {
				op = mirrorOp(op)
			}
			r.conds = append(r.conds, cond{col: col, table: -1, op: op, values: values, at: i, score: 0.85})
			return true
		}
	}
	if fewest[adj] {
		op = mirrorOp(op)
	}
	if left >= 0 && !(r.isNamed(right) && r.hasBetween(left, i)) {
		if col, s := r.asColumn(left, r.nearTable(left), numeric); col >= 0 && s > 0.5 {
			if k := r.prevChunk(left); r.hasRole(k, rAgg) && r.areNear(k, left, 2) {
				r.conds = append(r.conds, cond{col: col, table: -1, agg: r.chunks[k].phrase.agg, op: op, values: values, at: i, score: s})
				r.markUsed(left, k)
				return true
			}
			r.conds = append(r.conds, cond{col: col, table: -1, op: op, values: values, at: i, score: s})
			r.markUsed(left)
			return true
		}
	}
	if right >= 0 && r.isNamed(right) {
		col, s := r.asColumn(right, r.currentTable(i), numeric)
		t, ts := r.asTable(right)
		if col >= 0 && s > 0.6 && s >= ts {
			r.conds = append(r.conds, cond{col: col, table: -1, op: op, values: values, at: i, score: s})
			r.markUsed(right)
			return true
		}
		if t >= 0 && r.isCountedAfter(last, right) {
			r.conds = append(r.conds, cond{col: -1, table: t, agg: queryplan.Count, op: op, values: values, at: i, score: ts})
			r.markUsed(right)
			return true
		}
		if col, s := r.asColumn(right, -1, nil); col >= 0 && s > 0.6 {
			r.conds = append(r.conds, cond{col: col, table: -1, agg: queryplan.CountDistinct, op: op, values: values, at: i, score: s * 0.8})
			r.markUsed(right)
			return true
		}
	}
	if w := r.toks[r.chunks[last].from].lower; w == "once" || w == "twice" {
		for k := i - 1; k >= max(0, i-6); k-- { // visited more than once
			t := -1
			if r.chunks[k].role == rWord && !r.chunks[k].filler {
				t = r.tableOfVerb(k)
			} else if r.isNamed(k) {
				t, _ = r.asTable(k)
			}
			if t >= 0 && t != r.subject && r.subject >= 0 && r.mayMultiply(r.subject, t) {
				r.conds = append(r.conds, cond{col: -1, table: t, agg: queryplan.Count, op: op, values: values, at: i, score: 0.7})
				r.markUsed(k)
				return true
			}
		}
		return false
	}
	// A word that is a form of a column's name: weighing more than 3500, published
	// between 2000 and 2010.
	if first, _ := values[0].(float64); yearLike(first) && op == queryplan.Between {
		if col, s := r.calendarColumn(i); col >= 0 && !r.x.columns[col].date {
			r.conds = append(r.conds, cond{col: col, table: -1, op: op, values: values, at: i, score: s})
			return true
		}
		return false
	}
	if col := r.columnOfVerb(i, numeric); col >= 0 {
		r.conds = append(r.conds, cond{col: col, table: -1, op: op, values: values, at: i, score: 0.75})
		return true
	}
	return false
}

// isCountedAfter reports whether a name is what the number before it counts: 3 of the dogs, and
// not 1000 for treatments.
func (r *reader) isCountedAfter(number, name int) bool {
	return !slices.ContainsFunc(r.toks[r.chunks[number].to:r.chunks[name].from], func(t token) bool { return preposition[t.lower] })
}

// mirrorOp turns a comparison round: younger than 30 is an age below 30.
func mirrorOp(op queryplan.Operator) queryplan.Operator {
	switch op {
	case queryplan.Gt:
		return queryplan.Lt
	case queryplan.Ge:
		return queryplan.Le
	case queryplan.Lt:
		return queryplan.Gt
	case queryplan.Le:
		return queryplan.Ge
	}
	return op
}

// compareWithAggregate reads `above the average weight`.
func (r *reader) compareWithAggregate(i, j int, op queryplan.Operator) {
	agg := r.chunks[j].phrase.agg
	if r.chunks[j].role == rSup {
		agg = queryplan.Max
		if !r.chunks[j].phrase.desc {
			agg = queryplan.Min
		}
	}
	if agg != queryplan.Avg && agg != queryplan.Min && agg != queryplan.Max {
		return
	}
	col, s := -1, 0.0
	if left := r.subjectOf(i); left >= 0 {
		if c, cs := r.asColumn(left, r.nearTable(left), (*column).isNumeric); c >= 0 {
			col, s = c, cs
			r.markUsed(left)
		}
	}
	right := r.nextChunk(j)
	if right >= 0 && r.areNear(j, right, 2) {
		if c, cs := r.asColumn(right, r.currentTable(i), (*column).isNumeric); c >= 0 && (col < 0 || c == col || cs > 0.9) {
			if col < 0 {
				col, s = c, cs
			}
			r.markUsed(right)
		}
	}
	if col >= 0 && fewest[r.chunks[i].phrase.adj] {
		op = mirrorOp(op)
	}
	if adj := r.chunks[i].phrase.adj; col < 0 && adj != "" {
		c, more := r.columnOfAdjective(adj, r.currentTable(i))
		if !more {
			op = mirrorOp(op)
		}
		col, s = c, 0.85
	}
	if col < 0 {
		col = r.columnOfVerb(i, (*column).isNumeric)
		s = 0.75
	}
	if col < 0 {
		return
	}
	r.conds = append(r.conds, cond{col: col, table: -1, op: op, with: agg, at: i, score: s})
	r.markUsed(i, j)
}
