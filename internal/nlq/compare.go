package nlq

import (
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
			r.comparison(i)
		case rNumber:
			r.bareNumber(i)
		case rPeriod:
			r.barePeriod(i)
		}
	}
}

func (r *reader) comparison(i int) {
	c := &r.chunks[i]
	j := r.next(i)
	if j < 0 || !r.near(i, j, 4) {
		return
	}
	op := c.phrase.op
	if not := r.notBefore(i); not >= 0 {
		op = opposite(op)
		defer func() {
			if c.used {
				r.use(not)
			}
		}()
	}
	if k := r.next(j); r.named(j) && r.is(k, rNumber) && r.near(j, k, 1) {
		// below age 30, after the year 2008
		if col, s := r.asColumn(j, r.currentTable(i), func(c *column) bool { return c.numeric() || c.calendar() }); col >= 0 && s > 0.5 && !(c.phrase.adj == "date" && r.subjectOf(i) >= 0) {
			r.calendarCond(col, op, r.chunks[k].number, i, s)
			r.use(i, j, k)
			return
		}
		r.use(j)
		j = k
	}
	switch {
	case r.chunks[j].role == rNumber && op == queryplan.Between:
		k := r.next(j)
		if m := r.next(k); r.is(k, rAnd) && r.is(m, rNumber) {
			if r.numbers(i, m, op, []any{r.chunks[j].number, r.chunks[m].number}) {
				r.use(i, j, k, m)
			}
		}
	case r.chunks[j].role == rNumber:
		last := j
		if k := r.next(j); r.is(k, rOrMore) {
			r.use(k)
			last = k
		}
		if r.numbers(i, last, op, []any{r.chunks[j].number}) {
			r.use(i, j)
		}
	case r.chunks[j].role == rPeriod:
		r.readDatedComparison(i, j, op)
	case r.chunks[j].role == rAgg || r.chunks[j].role == rSup && r.chunks[j].phrase.adj == "":
		r.withAggregate(i, j, op)
	}
}

func opposite(op queryplan.Operator) queryplan.Operator {
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

// negatedBefore takes a `not` that stands right before.
func (r *reader) negatedBefore(i int) bool {
	not := r.notBefore(i)
	r.use(not)
	return not >= 0
}

// notBefore finds a `not` that stands right before, or -1.
func (r *reader) notBefore(i int) int {
	p := r.prev(i)
	for p >= 0 && (r.is(p, rBe) || r.is(p, rWord)) && r.near(p, i, 2) {
		p = r.prev(p)
	}
	if r.is(p, rNot) && r.near(p, i, 4) && !r.chunks[p].used {
		return p
	}
	return -1
}

func (r *reader) use(is ...int) {
	for _, i := range is {
		if i >= 0 {
			r.chunks[i].used = true
		}
	}
}

// numbers finds what a number is compared with: the column before it, the column or
// counted table after it, or what the words hint at.
func (r *reader) numbers(i, last int, op queryplan.Operator, values []any) bool {
	c := &r.chunks[i]
	numeric := (*column).numeric
	left, right := r.subjectOf(i), r.next(last)
	if right >= 0 && (!r.near(last, right, 2) || r.toks[r.chunks[right].from].comma) {
		right = -1
	}
	if c.phrase.adj == "date" {
		return r.readYears(i, op, values)
	}
	adj := c.phrase.adj
	if adj != "" && (left < 0 || !r.measured(left)) {
		if col, more := r.hinted(adj, r.currentTable(i)); col >= 0 {
			if !more {
				op = mirrored(op)
			}
			r.conds = append(r.conds, cond{col: col, table: -1, op: op, values: values, at: i, score: 0.85})
			return true
		}
	}
	if fewest[adj] {
		op = mirrored(op)
	}
	if left >= 0 && !(r.named(right) && r.possesses(left, i)) {
		if col, s := r.asColumn(left, r.nearTable(left), numeric); col >= 0 && s > 0.5 {
			if k := r.prev(left); r.is(k, rAgg) && r.near(k, left, 2) {
				r.conds = append(r.conds, cond{col: col, table: -1, agg: r.chunks[k].phrase.agg, op: op, values: values, at: i, score: s})
				r.use(left, k)
				return true
			}
			r.conds = append(r.conds, cond{col: col, table: -1, op: op, values: values, at: i, score: s})
			r.use(left)
			return true
		}
	}
	if right >= 0 && r.named(right) {
		col, s := r.asColumn(right, r.currentTable(i), numeric)
		t, ts := r.asTable(right)
		if col >= 0 && s > 0.6 && s >= ts {
			r.conds = append(r.conds, cond{col: col, table: -1, op: op, values: values, at: i, score: s})
			r.use(right)
			return true
		}
		if t >= 0 {
			r.conds = append(r.conds, cond{col: -1, table: t, agg: queryplan.Count, op: op, values: values, at: i, score: ts})
			r.use(right)
			return true
		}
		if col, s := r.asColumn(right, -1, nil); col >= 0 && s > 0.6 {
			r.conds = append(r.conds, cond{col: col, table: -1, agg: queryplan.CountDistinct, op: op, values: values, at: i, score: s * 0.8})
			r.use(right)
			return true
		}
	}
	if w := r.toks[r.chunks[last].from].lower; w == "once" || w == "twice" {
		for k := i - 1; k >= max(0, i-6); k-- { // visited more than once
			t := -1
			if r.chunks[k].role == rWord && !r.chunks[k].filler {
				t = r.verbTable(k)
			} else if r.named(k) {
				t, _ = r.asTable(k)
			}
			if t >= 0 && t != r.subject && r.subject >= 0 && r.fansOut(r.subject, t) {
				r.conds = append(r.conds, cond{col: -1, table: t, agg: queryplan.Count, op: op, values: values, at: i, score: 0.7})
				r.use(k)
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
	if col := r.verb(i, numeric); col >= 0 {
		r.conds = append(r.conds, cond{col: col, table: -1, op: op, values: values, at: i, score: 0.75})
		return true
	}
	return false
}

// mirrored turns a comparison round: younger than 30 is an age below 30.
func mirrored(op queryplan.Operator) queryplan.Operator {
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

// withAggregate reads `above the average weight`.
func (r *reader) withAggregate(i, j int, op queryplan.Operator) {
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
		if c, cs := r.asColumn(left, r.nearTable(left), (*column).numeric); c >= 0 {
			col, s = c, cs
			r.use(left)
		}
	}
	right := r.next(j)
	if right >= 0 && r.near(j, right, 2) {
		if c, cs := r.asColumn(right, r.currentTable(i), (*column).numeric); c >= 0 && (col < 0 || c == col || cs > 0.9) {
			if col < 0 {
				col, s = c, cs
			}
			r.use(right)
		}
	}
	if col >= 0 && fewest[r.chunks[i].phrase.adj] {
		op = mirrored(op)
	}
	if adj := r.chunks[i].phrase.adj; col < 0 && adj != "" {
		c, more := r.hinted(adj, r.currentTable(i))
		if !more {
			op = mirrored(op)
		}
		col, s = c, 0.85
	}
	if col < 0 {
		col = r.verb(i, (*column).numeric)
		s = 0.75
	}
	if col < 0 {
		return
	}
	r.conds = append(r.conds, cond{col: col, table: -1, op: op, with: agg, at: i, score: s})
	r.use(i, j)
}
