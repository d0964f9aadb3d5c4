package nlq

import (
	"slices"
	"strings"

	"interlock/internal/queryplan"
)

// edit changes the inquiry before by what the message says.
func (u *understanding) edit() {
	if u.editDate() {
		return
	}
	u.rebase()
	groups := u.q.groups
	u.q.groups = nil
	adds := u.find(0, pAlso) >= 0
	u.dropAfterInstead()
	u.editMeasure(adds, len(groups) > 0)
	u.editRanking(groups)
	u.readParts()
	switch {
	case len(u.q.groups) == 0:
		u.q.groups = groups
	case adds, u.last.comparesPeriods():
		u.q.groups = append(groups, u.q.groups...)
	}
	if len(u.q.groups) > 0 && len(u.q.measures) == 0 && len(u.q.shown) == 0 {
		u.q.measures = []measure{{agg: queryplan.Count, table: u.q.base, col: -1}}
	}
	u.editShare()
	u.editShown()
	for i := range u.ps { // names of what is grouped by or listed add nothing: only countries with at least 200
		if u.free(i) && (u.ps[i].table == u.q.base && u.q.base >= 0 || u.isGroup(i) && u.ps[i].vals == nil) {
			u.use(i)
		}
		if u.is(i, pTop, pUnit) && !u.ps[i].used && u.isCurrentGroup(i) {
			u.use(i)
		}
	}
	u.checkWords()
}

// comparesPeriods reports whether two periods have a row each, which a grouping more splits further.
func (q *inquiry) comparesPeriods() bool {
	return slices.ContainsFunc(q.conds, func(c condition) bool { return c.op == queryplan.InPeriod && c.second != nil }) &&
		slices.ContainsFunc(q.groups, func(g grouping) bool { return g.unit != "" })
}

// rebase measures the rows of another table that belong to those of the question before: their turnover, how many
// orders from each of them.
func (u *understanding) rebase() {
	if !u.refersBack() || u.q.limit > 0 || len(u.q.groups) > 0 {
		return
	}
	for i := range u.ps {
		m, marks := measure{}, []int{i}
		switch j := u.next(i); {
		case u.free(i) && u.ps[i].def != nil && u.ps[i].def.isMeasure():
			m = measure{table: u.ps[i].def.base, col: -1, def: u.ps[i].def}
		case u.is(i, pCount) && u.free(j) && u.ps[j].table >= 0 && (len(u.ps[j].cols) == 0 || u.ps[j].tscore >= u.ps[j].cols[0].score):
			m, marks = measure{agg: queryplan.Count, table: u.ps[j].table, col: -1}, []int{i, j}
		default:
			continue
		}
		if m.table == u.q.base || u.x.singleWay(m.table, u.q.base) == nil {
			return
		}
		if by := u.find(0, pBy); by >= 0 && strings.HasSuffix(u.ps[by].text, "each") {
			u.q.groups = []grouping{{col: -1, table: u.q.base}}
			u.use(by)
		}
		u.q.base, u.q.measures, u.q.shown, u.q.dateCol, u.q.order = m.table, []measure{m}, nil, -1, ordering{col: -1}
		if m.def != nil {
			u.q.dateCol = m.def.date
		}
		u.use(marks...)
		return
	}
}

// editShare reads `what percentage of all orders is that`: what was counted as a part of all rows.
func (u *understanding) editShare() {
	i, of := u.find(0, pShare), -1
	for k := i; i >= 0 && k < len(u.ps); k++ {
		if u.is(k, pName) && u.ps[k].table == u.q.base {
			of = k
		}
	}
	single := len(u.q.measures) == 1 && u.q.measures[0].col < 0 && u.q.measures[0].def == nil && len(u.q.groups) == 0
	if that := u.find(max(i, 0), pPronoun); of < 0 || that < 0 || !single || u.q.addedLast > 0 {
		return
	}
	u.q.rates, u.q.addedLast = true, len(u.q.conds)
	u.use(i, of)
}

// editDate reads `no, by the order date`, `I mean by the day they were booked`: the periods and months of
// the inquiry are about another date of its rows. All other words of the message must say nothing else.
func (u *understanding) editDate() bool {
	day := slices.ContainsFunc(u.toks, func(t token) bool { return t.lower == "day" || t.lower == "date" })
	timed := slices.ContainsFunc(u.q.conds, func(c condition) bool { return c.op == queryplan.InPeriod }) || slices.ContainsFunc(u.q.groups, func(g grouping) bool { return g.unit != "" || g.part != "" })
	if !day || !timed || u.q.base < 0 {
		return false
	}
	var dates []int
	said := 0
	for i := range u.toks {
		t := &u.toks[i]
		if dateFrame[t.lower] {
			continue
		}
		said++
		for _, id := range u.x.tables[u.q.base].columns {
			c := &u.x.columns[id]
			if c.date && !slices.Contains(dates, id) && slices.ContainsFunc(c.words, func(w string) bool { return !columnTail[w] && (w == t.lemma || stem(w) == t.stem) }) {
				dates = append(dates, id)
			}
		}
	}
	if said != 1 || len(dates) != 1 {
		return false
	}
	for i := range u.q.conds {
		if c := &u.q.conds[i]; c.op == queryplan.InPeriod && c.table == u.q.base {
			c.col = dates[0]
		}
	}
	u.q.dateCol = dates[0]
	return true
}

// dateFrame are the words around the name of a date that a message changes to.
var dateFrame = wordSet("no not but and i mean meant sorry rather instead now please by the day date days dates on which when they it was were is are of that use take go with count counted")

func (u *understanding) isCurrentGroup(i int) bool {
	return u.ps[i].role == pUnit && slices.ContainsFunc(u.q.groups, func(g grouping) bool { return g.unit == u.ps[i].unit && g.unit != "" })
}

// dropAfterInstead takes away what `instead of` names.
func (u *understanding) dropAfterInstead() {
	i := slices.IndexFunc(u.ps, func(p piece) bool {
		return p.role == pInstead && strings.HasSuffix(p.text, "of") || p.text == "rather than"
	})
	if i < 0 {
		return
	}
	for k := i; k < len(u.ps); k++ {
		if u.is(k, pName, pCount, pUnit, pTotal, pInstead, pBy) {
			u.use(k)
		} else if u.ps[k].role == pUnknown && wordSet("number numbers count counts")[u.ps[k].text] {
			u.use(k)
		}
	}
}

// editMeasure takes another measure, or adds one.
func (u *understanding) editMeasure(adds, grouped bool) {
	before := u.q.measures
	if c := u.find(0, pCount); c >= 0 && !(u.free(u.next(c)) && u.ps[u.next(c)].table < 0 && len(u.ps[u.next(c)].vals) == 0) {
		u.q.measures = []measure{{agg: queryplan.Count, table: u.q.base, col: -1}}
		u.q.shown = nil
		u.use(c)
		if k := u.next(c); u.free(k) && u.ps[k].table == u.q.base {
			u.use(k)
		}
		if adds {
			u.q.measures = append(before, u.q.measures...)
		}
		if u.q.hidden {
			u.q.measures, u.q.hidden = before, false // show how many each
		}
		return
	}
	if u.q.hidden && u.find(0, pTotal) >= 0 {
		u.q.hidden = false // show the amounts as well
		u.use(u.find(0, pTotal))
		return
	}
	for i := range u.ps {
		p := &u.ps[i]
		if p.used {
			continue
		}
		var m measure
		ok := false
		switch {
		case p.role == pAgg && u.is(u.next(i), pName):
			m, ok = u.measureAt(u.next(i), p.agg)
			if ok && (m.col >= 0 || m.def != nil) {
				u.use(u.next(i))
			} else {
				ok = false
			}
		case p.role == pHowMuch, p.role == pTotal && !u.is(u.prev(i), pName), p.role == pSumUp && len(u.q.shown) > 0:
			if len(u.q.shown) == 1 && u.x.summable(u.q.shown[0]) {
				m, ok = measure{agg: queryplan.Sum, table: u.q.base, col: u.q.shown[0]}, true
			} else if d := u.amountOfConditions(); d != nil {
				m, ok = measure{table: d.base, col: -1, def: d}, true
			} else if col := u.x.amountColumn(u.q.base); col >= 0 {
				m, ok = measure{agg: queryplan.Sum, table: u.q.base, col: col}, true
			}
			if ok {
				for k := range u.ps {
					if u.is(k, pTotal, pSumUp, pHowMuch) {
						u.use(k)
					}
				}
			}
		case p.role == pName && p.def != nil && p.def.isMeasure() && !u.is(u.prev(i), pBy):
			m, ok = measure{table: p.def.base, col: -1, def: p.def}, true
		}
		if !ok || m.table != u.q.base {
			continue
		}
		u.use(i)
		if adds || u.find(0, pAlso) >= 0 {
			u.q.measures = append(slices.Clone(before), m)
		} else {
			u.q.measures = []measure{m}
		}
		u.q.hidden = false
		if !grouped {
			u.q.shown, u.q.limit, u.q.order = nil, 0, ordering{col: -1}
		}
		return
	}
}

// amountOfConditions is the defined difference that a defined condition of the inquiry is about: what is overdue is what is outstanding.
func (u *understanding) amountOfConditions() *definition {
	for _, c := range u.q.conds {
		if c.def == nil {
			continue
		}
		for _, d := range u.x.definitions {
			if d.form == differenceOf && d.base == u.q.base && strings.Contains(strings.ToLower(c.def.text), strings.ToLower(d.name)) {
				return d
			}
		}
	}
	return nil
}

// editRanking reads `top 3`, `which month was the best`.
func (u *understanding) editRanking(groups []grouping) {
	i := u.find(0, pTop, pMost, pLargest)
	if k := u.find(0, pOrdinal); i < 0 && k >= 0 && u.q.limit == 1 { // and the second?
		u.q.offset = int(u.ps[k].number) - 1
		u.use(k, u.find(0, pWhich))
		return
	}
	if i < 0 || len(groups) == 0 && u.q.order.col < 0 {
		return
	}
	n := 0
	near := []int{u.next(i), u.prev(i)}
	if u.find(0, pOp, pBetween, pOrMore) < 0 {
		near = append(near, u.find(0, pNumber)) // the five with the highest revenue
	}
	for _, k := range near {
		if u.is(k, pNumber) && u.ps[k].number > 0 && u.ps[k].number <= 1000 {
			n = int(u.ps[k].number)
			u.use(k)
			break
		}
	}
	if n == 0 && u.q.limit > 0 && u.next(i) < 0 {
		n = u.q.limit // and the worst?
	}
	if n == 0 {
		if u.find(0, pWhich) < 0 {
			return
		}
		n = 1
		for k := range u.ps { // which of those months
			if u.is(k, pUnit) || u.free(k) && u.isGroupOf(k, groups) {
				u.use(k)
			}
		}
	}
	u.q.limit, u.q.hidden = n, false
	if u.q.order.col < 0 {
		u.q.order = ordering{set: true, desc: u.ps[i].desc, col: -1}
	}
	u.use(i, u.find(0, pWhich))
	u.readPlace(i)
}

func (u *understanding) isGroupOf(k int, groups []grouping) bool {
	return slices.ContainsFunc(groups, func(g grouping) bool {
		return g.table >= 0 && g.table == u.ps[k].table || slices.ContainsFunc(u.ps[k].cols, func(c scored) bool { return c.id == g.col })
	})
}

// editShown shows more columns of a list, or the rows behind a number.
func (u *understanding) editShown() {
	if u.asksRows() {
		u.q.measures = nil
	}
	ask := u.find(0, pWhich, pList, pAlso)
	if with := u.find(0, pWith); ask < 0 && with >= 0 && (u.is(u.next(with), pPronoun) || len(u.q.measures) == 0 && u.free(u.next(with)) && !u.hasValue(u.next(with))) {
		ask = with // with their prices, with the producer
	}
	if ask < 0 {
		return
	}
	if len(u.ps) <= 2 && u.ps[ask].text == "who" && len(u.q.groups) == 0 {
		u.q.measures = nil
		u.use(ask)
		return
	}
	for i := range u.ps {
		if !u.free(i) || len(u.ps[i].vals) > 0 {
			continue
		}
		col := u.column(i, nil)
		if col < 0 && u.ps[i].table >= 0 && u.x.rowName(u.ps[i].table) >= 0 {
			col = u.x.rowName(u.ps[i].table)
		}
		if col < 0 || u.x.singleWay(u.q.base, u.x.columns[col].table) == nil {
			continue
		}
		if len(u.q.measures) > 0 && len(u.q.groups) == 0 {
			continue
		}
		if len(u.q.groups) > 0 {
			if len(u.q.groups) != 1 || u.q.groups[0].table != u.x.columns[col].table {
				continue
			}
			u.q.groups = append(slices.Clone(u.q.groups), grouping{col: col, table: -1})
			u.use(i)
			continue
		}
		u.q.shown = append(u.q.shown, col)
		u.use(i)
	}
}

// asksRows reports whether a message asks which of the rows are such that were counted before: which have high priority?
func (u *understanding) asksRows() bool {
	counted := len(u.q.measures) == 1 && u.q.measures[0].col < 0 && u.q.measures[0].def == nil
	first := u.next(-1)
	return counted && len(u.q.groups) == 0 && u.is(first, pWith, pWhich) && wordSet("which who")[u.toks[u.ps[first].from].lower] &&
		slices.ContainsFunc(u.ps, func(p piece) bool { return len(p.vals) > 0 }) && u.find(0, pMost, pTop, pLargest, pCount, pShare, pUnit) < 0
}
