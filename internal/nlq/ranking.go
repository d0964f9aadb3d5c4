package nlq

import (
	"fmt"
	"slices"
	"strings"

	"interlock/internal/queryplan"
)

// readRanking reads questions for the first of something: top 5 customers by revenue, which
// month had the most orders, the heaviest parcel.
func (u *understanding) readRanking() bool {
	i := u.find(0, pTop, pMost, pLargest, pCommon, pOften)
	return i >= 0 && u.readRankingAt(i) && u.readPlace(i)
}

// ordinalWords are the words for a place in an order, from the second on.
var ordinalWords = [][]string{{"second", "2nd"}, {"third", "3rd"}, {"fourth", "4th"}, {"fifth", "5th"}, {"sixth", "6th"}, {"seventh", "7th"}, {"eighth", "8th"}, {"ninth", "9th"}, {"tenth", "10th"}}

// ordinalText is a place in an order as a word.
func ordinalText(place int) string {
	switch {
	case place == 1:
		return "first"
	case place-2 < len(ordinalWords):
		return ordinalWords[place-2][0]
	}
	return fmt.Sprintf("%dth", place)
}

// readPlace reads the word before a superlative that asks for another place than the first: the second largest.
func (u *understanding) readPlace(i int) bool {
	u.q.offset = 0
	if k := u.prev(i); u.is(k, pOrdinal) && u.q.limit == 1 {
		u.q.offset = int(u.ps[k].number) - 1
		u.use(k)
	}
	return true
}

func (u *understanding) readRankingAt(i int) bool {
	switch u.ps[i].role {
	case pTop:
		return u.rankTop(i) || u.rankMost(i) || u.rankBest(i)
	case pMost:
		return u.meansTop(i) && u.rankTop(i) || u.rankMost(i)
	case pCommon:
		return u.rankCommon(i)
	case pOften:
		return u.rankOften(i)
	}
	return u.meansTop(i) && u.rankTop(i) || u.rankLargest(i)
}

// rankBest reads `which trainer is the best`, where nothing says by what.
func (u *understanding) rankBest(i int) bool {
	j := u.prev(i)
	g, ok := u.targetAt(j)
	return ok && u.next(i) < 0 && u.rankVague(i, j, g, u.limitNear(i, j))
}

// meansTop reports whether `highest 10 orders by total` or `the 10 highest orders by total`
// says what `top 10 orders by total` does: it names rows and a measure of them, and how many
// unless the measure is a column of these rows.
func (u *understanding) meansTop(i int) bool {
	j, given := u.next(i), u.is(u.prev(i), pNumber)
	if u.is(j, pNumber) {
		j, given = u.next(j), true
	}
	g, ok := u.targetAt(j)
	if !ok {
		return false
	}
	by := u.find(j+1, pBy)
	if by < 0 {
		return false
	}
	m, _, ok := u.measureAfter(by)
	if u.is(i, pLargest) && g.table >= 0 && m.def != nil {
		return ok // the biggest buyer by turnover
	}
	return ok && (given || m.def == nil && m.col >= 0 && g.table == m.table)
}

// limitNear finds the number of rows asked for around piece i. Without one it is 1.
func (u *understanding) limitNear(i, target int) int {
	for _, k := range []int{u.next(i), u.prev(i), u.prev(target)} {
		if u.is(k, pNumber) && !u.ps[k].used && u.ps[k].number == float64(int(u.ps[k].number)) && u.ps[k].number > 0 && u.ps[k].number <= 1000 {
			u.use(k)
			return int(u.ps[k].number)
		}
	}
	return 1
}

// rankTop reads `top 5 customers by revenue`.
func (u *understanding) rankTop(i int) bool {
	j := u.next(i)
	if u.is(j, pNumber) {
		j = u.next(j)
	}
	g, ok := u.targetAt(j)
	if !ok {
		return false
	}
	n := u.limitNear(i, -1)
	for by := u.find(j+1, pBy, pMost, pWith); by >= 0; by = u.find(by+1, pBy, pMost, pWith) {
		m, used, found := u.measureAfter(by)
		if !found {
			continue
		}
		u.use(i, j, by)
		u.use(used...)
		return u.rank(g, m, u.ps[i].desc, n)
	}
	return u.rankVague(i, j, g, n)
}

// measureAfter reads the measure after piece i: number of orders, average price, revenue.
func (u *understanding) measureAfter(i int) (measure, []int, bool) {
	j := u.next(i)
	agg := queryplan.Function("")
	var used []int
	for u.is(j, pCount, pAgg, pMost, pNew) {
		if u.ps[j].role == pNew { // the most new orders of a year: checkWords wants the period
			j = u.next(j)
			continue
		}
		switch u.ps[j].role {
		case pCount:
			agg = queryplan.Count
		case pAgg:
			agg = u.ps[j].agg
		}
		used = append(used, j)
		j = u.next(j)
	}
	// A value or a term before the name belongs to the rows: the most completed appointments.
	for k := j; u.free(k) && k <= i+6; k = u.next(k) {
		if m, ok := u.measureAt(k, agg); ok {
			return m, append(used, k), true
		}
		if len(u.ps[k].vals) == 0 && u.ps[k].def == nil {
			break
		}
	}
	if u.free(j) && agg != queryplan.Avg && agg != queryplan.Sum {
		if p := &u.ps[j]; len(p.vals) == 1 && !u.is(u.next(j), pName) { // the most no-shows
			return measure{agg: queryplan.Count, table: u.x.columns[p.vals[0].column].table, col: -1}, used, true
		}
		if d := u.ps[j].def; d != nil && !d.isMeasure() {
			return measure{agg: queryplan.Count, table: d.base, col: -1}, used, true
		}
	}
	return measure{}, nil, false
}

// targetAt reads what is ranked: a table's rows, a column's values, a unit of the calendar.
func (u *understanding) targetAt(j int) (grouping, bool) {
	if u.is(j, pUnit) {
		return grouping{col: -1, table: -1, unit: u.ps[j].unit, part: u.ps[j].part}, true
	}
	if !u.free(j) {
		return grouping{}, false
	}
	p := &u.ps[j]
	if p.table >= 0 && (len(p.cols) == 0 || p.tscore >= p.cols[0].score-0.05) {
		return u.rowsNamed(j), true
	}
	if len(p.cols) > 0 && len(p.vals) == 0 {
		verb := p.to == p.from+1 && pastForm(&u.toks[p.from])
		col := u.column(j, func(c *column) bool { return !c.isNumeric() && !(verb && c.date) }) // who has worked: no day of work
		if col >= 0 {
			return u.x.groupingBy(col), true
		}
	}
	if len(p.vals) == 1 { // which doctor: rows that are doctors
		return grouping{col: -1, table: u.x.columns[p.vals[0].column].table}, true
	}
	return grouping{}, false
}

// groupingBy groups by a column; what names the rows of a table stands for the rows.
func (x *Index) groupingBy(col int) grouping {
	if t := x.columns[col].table; x.rowName(t) == col && x.tables[t].key >= 0 {
		return grouping{col: -1, table: t}
	}
	return grouping{col: col, table: -1}
}

// rank ranks groups by a measure, or rows by a column of their own.
func (u *understanding) rank(g grouping, m measure, desc bool, n int) bool {
	u.q.limit = n
	u.q.order = ordering{set: true, desc: desc, col: -1}
	if m.def == nil && m.col >= 0 && g.table == m.table && g.col < 0 && g.unit == "" && g.part == "" {
		u.q.base = g.table
		if !u.asksProperty() { // a ranking shows what it ranks by
			u.q.shown = append(u.q.shown, m.col)
		}
		u.q.order.col = m.col
		return true
	}
	if m.def == nil && m.col < 0 && g.table == m.table && g.col < 0 && g.unit == "" {
		return false
	}
	u.q.base = m.table
	if m.def != nil && m.def.date >= 0 {
		u.q.dateCol = m.def.date
	}
	u.q.measures = []measure{m}
	u.q.groups = []grouping{g}
	u.q.hidden = n == 1 && g.unit == "" && g.part == ""
	return true
}

// asksProperty reports whether the message begins with what to show of the rows: the names of the
// 3 tallest players, the title of the longest book.
func (u *understanding) asksProperty() bool {
	for i := range u.ps {
		p := &u.ps[i]
		switch {
		case p.role == pList && strings.HasSuffix(p.text, " of"):
			return true
		case p.role == pName:
			return p.table < 0 && len(p.cols) > 0 && len(p.vals) == 0 && p.def == nil && (strings.Contains(p.text, " of ") || i+1 < len(u.ps) && u.ps[i+1].text == "of")
		}
	}
	return false
}

// rankMost reads `which plan has the most subscriptions`, `10 companies with the most seats`.
func (u *understanding) rankMost(i int) bool {
	m, used, ok := u.measureAfter(i)
	if !ok {
		return false
	}
	if own := u.ownMeasure(i, used, m); own >= 0 {
		m.col, m.table = own, u.x.columns[own].table
	}
	u.use(used...)
	for j := u.prev(i); j >= 0; j = u.prev(j) {
		g, ok := u.targetAt(j)
		if !ok || slices.Contains(used, j) {
			continue
		}
		n := u.limitNear(i, j)
		if strings.Contains(u.ps[i].text, "highest") || strings.Contains(u.ps[i].text, "greatest") || strings.Contains(u.ps[i].text, "lowest") {
			m = u.totalOrSingle(m, g, used, u.ps[i].desc)
		}
		if len(u.ps[j].vals) != 1 || u.ps[j].table >= 0 {
			u.use(j)
		}
		u.use(i, u.find(0, pWhich, pList))
		return u.rank(g, m, u.ps[i].desc, n)
	}
	for _, k := range used {
		u.ps[k].used = false
	}
	return false
}

// totalOrSingle asks what the highest amount of a row is whose amounts are those of other rows: the
// sum of them or the largest one.
func (u *understanding) totalOrSingle(m measure, g grouping, used []int, desc bool) measure {
	if m.def != nil || m.col < 0 || m.agg != queryplan.Sum || g.table < 0 || g.table == m.table || slices.ContainsFunc(used, u.saysTotal) {
		return m
	}
	single, word := queryplan.Max, "largest"
	if !desc {
		single, word = queryplan.Min, "smallest"
	}
	name := humanName(u.x.columns[m.col].name)
	pick, chosen := u.choices["total"]
	if !chosen {
		u.open = append(u.open, choice{key: "total", about: name, options: []option{{0, "the total " + name + " of each"}, {1, "the " + word + " single " + name}}})
	}
	if pick == 1 {
		m.agg = single
	}
	return m
}

// saysTotal reports whether a piece says that amounts are added up: a word for it, or a column that
// is called so.
func (u *understanding) saysTotal(k int) bool {
	return u.is(k, pAgg) || slices.ContainsFunc(strings.Fields(u.ps[k].text), func(w string) bool { return w == "total" || w == "totals" || w == "sum" })
}

// ownMeasure is the column of the ranked rows themselves that the measure after piece i may be as
// well: countries with the fewest people are ranked by the population of countries. -1 is none.
func (u *understanding) ownMeasure(i int, used []int, m measure) int {
	if m.col < 0 || m.def != nil || len(used) == 0 {
		return -1
	}
	cols := u.ps[used[len(used)-1]].cols
	for j := u.prev(i); j >= 0; j = u.prev(j) {
		g, ok := u.targetAt(j)
		if !ok {
			continue
		}
		for _, c := range cols {
			if col := &u.x.columns[c.id]; g.col < 0 && col.table == g.table && c.score >= cols[0].score-0.02 && isNumericColumn(col) {
				u.open = slices.DeleteFunc(u.open, func(o choice) bool { return o.key == "n"+u.ps[used[len(used)-1]].text })
				return c.id
			}
		}
		break
	}
	return -1
}

// rankCommon reads `the most common reason`, `which code is used most`.
func (u *understanding) rankCommon(i int) bool {
	for _, j := range []int{u.next(i), u.prev(i)} {
		if !u.free(j) || len(u.ps[j].cols) == 0 {
			continue
		}
		col := u.column(j, func(c *column) bool { return !c.isNumeric() && !c.date })
		if col < 0 {
			continue
		}
		n := u.limitNear(i, j)
		u.q.base = u.x.columns[col].table
		u.q.measures = []measure{{agg: queryplan.Count, table: u.q.base, col: -1}}
		u.q.groups, u.q.hidden = []grouping{{col: col, table: -1}}, n == 1
		u.q.limit, u.q.order = n, ordering{set: true, desc: u.ps[i].desc, col: -1}
		u.use(i, j, u.find(0, pWhich))
		return true
	}
	return false
}

// rankOften reads `which carrier is late most often`.
func (u *understanding) rankOften(i int) bool {
	w := u.find(0, pWhich)
	g, ok := u.targetAt(u.next(w))
	if w < 0 || !ok {
		return false
	}
	j := u.next(w)
	for k := u.next(j); k >= 0 && k < i; k = u.next(k) {
		p := &u.ps[k]
		t := -1
		switch {
		case p.def != nil && !p.def.isMeasure():
			t = p.def.base
		case len(p.vals) == 1:
			t = u.x.columns[p.vals[0].column].table
		}
		if t >= 0 && t != g.table {
			u.use(w, j, i)
			return u.rank(g, measure{agg: queryplan.Count, table: t, col: -1}, u.ps[i].desc, 1)
		}
	}
	return false
}

// rankLargest reads `the 3 heaviest shipments`, `who is the youngest patient`.
func (u *understanding) rankLargest(i int) bool {
	form := superlativeOf(u.ps[i].text)
	j := u.next(i)
	if u.is(j, pNumber) {
		j = u.next(j)
	}
	if form.vague {
		for _, k := range []int{j, u.prev(i)} {
			if g, ok := u.targetAt(k); ok {
				return u.rankVague(i, k, g, u.limitNear(i, k))
			}
		}
		return false
	}
	if !u.free(j) || u.ps[j].table < 0 {
		// which 3 subscriptions are the largest
		j = -1
		for k := u.prev(i); k >= 0; k = u.prev(k) {
			if u.free(k) && u.ps[k].table >= 0 {
				j = k
				break
			}
		}
	}
	if j < 0 {
		return false
	}
	t := u.ps[j].table
	var ids []int
	for _, id := range u.x.tables[t].columns {
		c := &u.x.columns[id]
		birth := slices.Contains(c.words, "birth") || slices.Contains(c.words, "born")
		switch {
		case form.birth && birth && c.date:
			ids = append(ids, id)
		case form.date && !form.birth && c.date && u.x.mainDate(t) == id:
			ids = append(ids, id)
		case len(form.words) > 0 && isNumericColumn(c) && slices.ContainsFunc(c.words, func(w string) bool { return slices.Contains(form.words, w) }):
			ids = append(ids, id)
		case len(form.words) == 0 && !form.date && !form.birth && (u.x.summable(id) || isNumericColumn(c) && slices.ContainsFunc(c.words, func(w string) bool { return sizeWords[w] })):
			ids = append(ids, id)
		}
	}
	if len(ids) > 1 {
		if amount := u.x.amountColumn(t); amount >= 0 && slices.Equal(withoutWords(u.x.columns[amount].words, u.x.tables[t].core), []string{"amount"}) {
			ids = []int{amount}
		}
	}
	if only := u.x.datesIn(t); len(ids) == 0 && form.birth && len(only) == 1 {
		ids = only // the oldest machine: the one with the first of the only dates that machines have
	}
	if len(ids) == 0 {
		return u.rankVague(i, j, grouping{col: -1, table: t}, u.limitNear(i, j))
	}
	n := u.limitNear(i, j)
	col := u.choose("rank", u.ps[i].text, ids)
	u.use(i, j, u.find(0, pWhich))
	return u.rank(grouping{col: -1, table: t}, measure{agg: queryplan.Sum, table: t, col: col}, form.desc, n)
}

// sizeWords are words of columns by which one thing is larger than another, though nobody adds them up.
var sizeWords = wordSet("height width depth length size area volume weight diameter capacity")

// rankVague asks by what to rank: the defined measures, the rows that belong to a row, its own amounts.
func (u *understanding) rankVague(i, j int, g grouping, n int) bool {
	var options []measure
	var texts []string
	reaches := func(t int) bool {
		if g.unit != "" || g.part != "" {
			return u.x.mainDate(t) >= 0
		}
		return g.table >= 0 && t != g.table && u.x.singleWay(t, g.table) != nil || g.col >= 0 && u.x.singleWay(t, u.x.columns[g.col].table) != nil
	}
	for _, d := range u.x.definitions {
		if d.form == aggregateOf && (reaches(d.base) || g.unit != "" && d.date >= 0) {
			options, texts = append(options, measure{table: d.base, col: -1, def: d}), append(texts, d.name)
		}
	}
	for id := range u.x.columns {
		if c := &u.x.columns[id]; u.x.sentinels[id] && reaches(c.table) && !slices.ContainsFunc(options, func(m measure) bool { return m.def != nil && m.def.col == id }) {
			options, texts = append(options, measure{agg: queryplan.Avg, table: c.table, col: id}), append(texts, "the average "+humanName(c.name))
		}
	}
	for t := range u.x.tables {
		if reaches(t) && len(options) < maxOptions+2 {
			options, texts = append(options, measure{agg: queryplan.Count, table: t, col: -1}), append(texts, "the number of "+plural(humanName(u.x.tableName(t))))
			if col := u.x.amountColumn(t); col >= 0 {
				options, texts = append(options, measure{agg: queryplan.Sum, table: t, col: col}), append(texts, "the total "+humanName(u.x.columns[col].name)+" of "+plural(humanName(u.x.tableName(t))))
			}
		}
	}
	if g.table >= 0 {
		for _, id := range u.x.tables[g.table].columns {
			if u.x.summable(id) || u.x.sentinels[id] {
				options, texts = append(options, measure{agg: queryplan.Sum, table: g.table, col: id}), append(texts, "the "+humanName(u.x.columns[id].name))
			}
		}
	}
	if len(options) == 0 {
		return false
	}
	options, texts = options[:min(len(options), maxOptions+2)], texts[:min(len(texts), maxOptions+2)]
	pick, chosen := u.choices["measure"]
	if !chosen || pick >= len(options) {
		pick = 0
		c := choice{key: "measure", about: u.ps[i].text}
		for k := range options {
			c.options = append(c.options, option{k, "by " + texts[k]})
		}
		if len(options) == 1 {
			c.options = append(c.options, option{0, c.options[0].text})
		}
		u.open = append(u.open, c)
	}
	u.use(i, j, u.find(0, pWhich))
	m := options[pick]
	return u.rank(g, m, u.ps[i].desc, n)
}
