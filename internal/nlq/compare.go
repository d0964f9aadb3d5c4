package nlq

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"interlock/internal/queryplan"
)

// comparisons reads `more than 3 songs`, `age below 30`, `opened after 2010`,
// `heavier than average`, `with 4 cylinders`, `in 2024`.
func (r *reader) comparisons() {
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
	if r.negatedBefore(i) {
		op = opposite(op)
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
		r.dated(i, j, op)
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
	p := r.prev(i)
	for p >= 0 && (r.is(p, rBe) || r.is(p, rWord)) && r.near(p, i, 2) {
		p = r.prev(p)
	}
	if r.is(p, rNot) && r.near(p, i, 4) && !r.chunks[p].used {
		r.use(p)
		return true
	}
	return false
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
		return r.years(i, op, values)
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

// measured says whether a mention is a column of numbers.
func (r *reader) measured(i int) bool {
	col, s := r.asColumn(i, r.nearTable(i), (*column).numeric)
	return col >= 0 && s > 0.5
}

// possesses says whether `has` stands between: grades that have more than 3 pupils.
func (r *reader) possesses(a, b int) bool {
	for _, t := range r.toks[r.chunks[a].to:r.chunks[b].from] {
		if t.lemma == "have" || t.lower == "with" || t.lower == "having" {
			return true
		}
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

// subjectOf is the mention before a comparison that it is about: only `is`, fillers
// and unknown words stand between.
func (r *reader) subjectOf(i int) int {
	for k := i - 1; k >= 0 && k >= i-5; k-- {
		switch {
		case r.chunks[k].role == rMention && !r.chunks[k].isValue:
			if r.chunks[k].used {
				return -1
			}
			return k
		case r.chunks[k].filler, r.chunks[k].role == rBe, r.chunks[k].role == rNot, r.chunks[k].role == rWord:
			if t := &r.toks[r.chunks[k].from]; t.lower == "and" || r.toks[r.chunks[k+1].from].comma {
				return -1
			}
		case r.chunks[k].role == rRel && set("that which")[r.toks[r.chunks[k].from].lower]:
		default:
			return -1
		}
	}
	return -1
}

// nearTable is the table that a mention belongs to by its neighbours: the one that
// it names, the one of `of the T` behind it, or the last one before it.
func (r *reader) nearTable(i int) int {
	if p := i - 1; p >= 0 && r.chunks[p].to == r.chunks[i].from && !r.toks[r.chunks[i].from].comma {
		if t, s := r.asTable(p); t >= 0 && s >= 0.75 {
			return t // the singer's name
		}
	}
	for k := i + 1; k < len(r.chunks) && k <= i+12; k++ {
		c := &r.chunks[k]
		if t, s := r.asTable(k); t >= 0 && s >= 0.75 {
			if r.reaches(i, k) {
				return t
			}
			break
		}
		if r.named(k) && len(c.mention.columns) > 0 && r.of(c) {
			if t := r.x.columns[c.mention.columns[0].id].table; r.owned(c, t) && r.listedTo(i, k) {
				return t
			}
		}
		if c.role == rRel || c.role == rOrder || r.toks[c.from].sentence != r.toks[r.chunks[i].from].sentence {
			break
		}
	}
	return r.currentTable(i)
}

// of says whether a mention is of the form `code of the template`.
func (r *reader) of(c *chunk) bool {
	for _, t := range r.toks[c.from:c.to] {
		if t.lower == "of" || t.lower == "for" {
			return true
		}
	}
	return false
}

// listedTo says whether two mentions stand in one list.
func (r *reader) listedTo(i, k int) bool {
	for m := i + 1; m < k; m++ {
		if c := &r.chunks[m]; !(c.role == rMention && !c.isValue || c.role == rAnd || c.filler) {
			return false
		}
	}
	return true
}

// reaches says whether the words between are only a list of names and `of`.
func (r *reader) reaches(i, k int) bool {
	of := false
	for m := i + 1; m < k; m++ {
		switch c := &r.chunks[m]; {
		case c.role == rMention && !c.isValue, c.role == rAnd, c.role == rDistinct, c.role == rEach:
			of = of || c.role == rEach
		case c.filler:
			of = of || set("of for in from")[r.toks[c.from].lower]
		default:
			return false
		}
	}
	return of
}

// currentTable is the table spoken of at a place: the last one named before it.
func (r *reader) currentTable(i int) int {
	for k := i - 1; k >= 0; k-- {
		if t, s := r.asTable(k); t >= 0 && s >= 0.7 {
			if _, cs := r.asColumn(k, -1, nil); cs <= s+0.05 {
				return t
			}
		}
	}
	return r.subject
}

// hinted finds the column of a table (or of those linked to it) that an adjective
// speaks of.
func (r *reader) hinted(adj string, t int) (int, bool) {
	if t < 0 {
		t = r.subject
	}
	if t < 0 {
		return -1, false
	}
	var found []int
	var more []bool
	for _, h := range adjectives[adj].hints {
		for _, id := range r.x.tables[t].columns {
			c := &r.x.columns[id]
			if slices.Contains(c.words, h.word) && (c.number || c.calendar()) && c.ref < 0 && !c.part && !slices.Contains(found, id) {
				found, more = append(found, id), append(more, h.more)
			}
		}
	}
	if len(found) == 0 {
		return -1, false
	}
	key := fmt.Sprintf("h%s%d", adj, t)
	if id, ok := r.decided(key); ok {
		if k := slices.Index(found, id); k >= 0 {
			return id, more[k]
		}
	}
	if vague[adj] {
		r.offer(choice{key: key, about: adj, options: r.columnOptions(found), picked: found[0]})
	}
	return found[0], more[0]
}

// vague are adjectives whose hints mean different things where a table has several.
var vague = set("large small expensive costly inexpensive cheap good bad late early long short rich")

// verb finds a column by a word near a comparison that is a form of its name.
func (r *reader) verb(i int, ok func(*column) bool) int {
	for k := i - 1; k >= 0 && k >= i-4; k-- {
		c := &r.chunks[k]
		if c.role == rMention && !c.isValue && !c.used {
			if col, s := r.asColumn(k, r.currentTable(k), ok); col >= 0 && s >= 0.42 {
				r.use(k)
				return col
			}
		}
		if c.role == rRel || c.role == rAnd {
			break
		}
	}
	return -1
}

// years reads `before 1980`: a number as a year of the column that the words or the
// table suggest.
func (r *reader) years(i int, op queryplan.Operator, values []any) bool {
	n, ok := values[0].(float64)
	if !ok {
		return false
	}
	if left := r.subjectOf(i); left >= 0 {
		year := n >= 1000 && n <= 2200
		if col, s := r.asColumn(left, r.nearTable(left), func(c *column) bool { return c.number && !year || c.calendar() }); col >= 0 && s > 0.5 {
			r.calendarCond(col, op, n, i, s)
			r.use(left)
			return true
		}
	}
	if n < 1000 || n > 2200 {
		return false
	}
	col, s := r.calendarColumn(i)
	if col < 0 {
		return false
	}
	r.calendarCond(col, op, n, i, s)
	return true
}

// calendarCond compares a column with a year: by number, or by its first or last day.
func (r *reader) calendarCond(col int, op queryplan.Operator, year float64, at int, score float64) {
	c := &r.x.columns[col]
	if !c.date {
		r.conds = append(r.conds, cond{col: col, table: -1, op: op, values: []any{year}, at: at, score: score})
		return
	}
	from := time.Date(int(year), 1, 1, 0, 0, 0, 0, time.UTC)
	r.span(col, op, period{from: from, until: from.AddDate(1, 0, 0)}, at, score)
}

// span compares a date with a period.
func (r *reader) span(col int, op queryplan.Operator, p period, at int, score float64) {
	from, until := p.from.Format(time.DateOnly), p.until.Format(time.DateOnly)
	add := func(op queryplan.Operator, v any) {
		r.conds = append(r.conds, cond{col: col, table: -1, op: op, values: []any{v}, at: at, score: score})
	}
	switch op {
	case queryplan.Gt:
		add(queryplan.Ge, until)
	case queryplan.Ge:
		add(queryplan.Ge, from)
	case queryplan.Lt:
		add(queryplan.Lt, from)
	case queryplan.Le:
		add(queryplan.Lt, until)
	default:
		add(queryplan.Ge, from)
		add(queryplan.Lt, until)
	}
}

// calendarColumn finds the column that a bare year or date is about: one that the
// words near it name, else the only one of the table spoken of.
func (r *reader) calendarColumn(i int) (int, float64) {
	calendar := (*column).calendar
	for k := i - 1; k >= 0 && k >= i-4; k-- {
		if r.named(k) && !r.chunks[k].used {
			if col, s := r.asColumn(k, r.currentTable(k), calendar); col >= 0 && s >= 0.42 {
				r.use(k)
				return col, max(s, 0.8)
			}
		}
		if r.chunks[k].role == rRel {
			break
		}
	}
	tables := []int{r.currentTable(i)}
	if r.subject >= 0 && r.subject != tables[0] {
		tables = append(tables, r.subject)
	}
	for _, t := range tables {
		if t < 0 {
			continue
		}
		if col, n := r.onlyCalendar(t); n == 1 {
			return col, 0.85
		} else if n > 1 {
			r.doubt("several dates", 1)
			return col, 0.4
		}
	}
	// The table named is linked to one that has the date.
	found, count := -1, 0
	for t := range r.x.tables {
		if tables[0] >= 0 && len(r.x.schema.Between(r.x.tableName(t), r.x.tableName(tables[0]))) > 0 {
			if col, n := r.onlyCalendar(t); n == 1 {
				found = col
				count++
			}
		}
	}
	if count == 1 {
		return found, 0.6
	}
	return -1, 0
}

// onlyCalendar gives the date of a table and how many it has. Where there are
// several, the person is asked.
func (r *reader) onlyCalendar(t int) (int, int) {
	var found []int
	for _, id := range r.x.tables[t].columns {
		if r.x.columns[id].calendar() {
			found = append(found, id)
		}
	}
	if len(found) == 0 {
		return -1, 0
	}
	key := fmt.Sprintf("d%d", t)
	if id, ok := r.decided(key); ok {
		return id, 1
	}
	r.offer(choice{key: key, about: "when", options: r.columnOptions(found), picked: found[0]})
	return found[0], len(found)
}

// dated compares with a period: before March 2024.
func (r *reader) dated(i, j int, op queryplan.Operator) {
	col, s := -1, 0.0
	if left := r.subjectOf(i); left >= 0 {
		if c, cs := r.asColumn(left, r.nearTable(left), (*column).calendar); c >= 0 {
			col, s = c, cs
			r.use(left)
		}
	}
	if col < 0 {
		col, s = r.calendarColumn(i)
	}
	if col < 0 || !r.x.columns[col].date {
		return
	}
	p := r.chunks[j].period
	k := r.next(j)
	if m := r.next(k); op == queryplan.Between && r.is(k, rAnd) && r.is(m, rPeriod) {
		p.until = r.chunks[m].period.until
		r.use(k, m)
	}
	r.span(col, op, p, i, s)
	r.use(i, j)
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
			r.more(i, col)
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

// more reads the rest of `9 or 10`.
func (r *reader) more(i, col int) {
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

// barePeriod reads `in March 2024`, `last month`.
func (r *reader) barePeriod(i int) {
	col, s := -1, 0.0
	if left := r.subjectOf(i); left >= 0 {
		if c, cs := r.asColumn(left, r.nearTable(left), func(c *column) bool { return c.date }); c >= 0 {
			col, s = c, cs
			r.use(left)
		}
	}
	if col < 0 {
		col, s = r.calendarColumn(i)
	}
	if col < 0 || !r.x.columns[col].date {
		return
	}
	p := r.chunks[i].period
	op := queryplan.Eq
	k := r.next(i)
	if m := r.next(k); k >= 0 && (r.toks[r.chunks[k].from].lower == "to" || r.is(k, rAnd)) && r.is(m, rPeriod) {
		p.until = r.chunks[m].period.until
		r.use(k, m)
	}
	r.span(col, op, p, i, s)
	r.use(i)
}

var unitWords = map[string]queryplan.Unit{"year": "year", "yearly": "year", "annually": "year", "annual": "year", "quarter": "quarter", "quarterly": "quarter", "month": "month", "monthly": "month",
	"week": "week", "weekly": "week", "day": "day", "daily": "day", "hour": "hour", "hourly": "hour"}

func lowerAll(ss []string) []string {
	out := make([]string, len(ss))
	for i, s := range ss {
		out[i] = strings.ToLower(s)
	}
	return out
}
