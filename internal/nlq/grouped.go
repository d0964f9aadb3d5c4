package nlq

import (
	"slices"
	"strings"

	"interlock/internal/queryplan"
)

// readVersus reads `road vs rail: average cost` and `compare A and B`: one row for each.
func (u *understanding) readVersus() {
	i := u.find(0, pVersus)
	if i < 0 {
		if c := u.find(0, pCompare); c >= 0 {
			if k := u.find(c, pPeriod); k >= 0 {
				if m := u.next(k); u.is(m, pAnd, pWith, pHarmless) && u.is(u.next(m), pPeriod) || u.is(m, pPeriod) {
					e := u.next(m)
					if u.is(m, pPeriod) {
						e = m
					}
					u.use(c, k, m, e)
					u.addPeriods(k, u.ps[k].period, u.ps[e].period, true)
				}
				return
			}
			for k := c; k >= 0; k = u.next(k) { // compare the revenue of North and South
				if m := u.next(k); u.free(k) && len(u.ps[k].vals) > 0 && u.is(m, pAnd, pWith) {
					u.compareValues(k, m, u.next(m))
					return
				}
			}
		}
		return
	}
	u.compareValues(u.prev(i), i, u.next(i))
}

// compareValues gives one row for each of two values or periods.
func (u *understanding) compareValues(a, i, b int) {
	if u.is(a, pPeriod) && u.is(b, pPeriod) {
		u.use(a, i, b)
		u.addPeriods(a, u.ps[a].period, u.ps[b].period, true)
		return
	}
	if !u.free(a) || !u.free(b) {
		return
	}
	for _, v := range u.ps[a].vals {
		for _, w := range u.ps[b].vals {
			if v.column == w.column && v.value != absentValue && w.value != absentValue && (u.q.base < 0 || u.x.singleWay(u.q.base, u.x.columns[v.column].table) != nil) {
				u.q.conds = append(u.q.conds, condition{table: u.x.columns[v.column].table, col: v.column, op: queryplan.In, values: []any{u.x.literal(v), u.x.literal(w)}, other: -1})
				u.q.groups = append(u.q.groups, grouping{col: v.column, table: -1})
				u.use(a, i, b, u.find(0, pCompare))
				return
			}
		}
	}
}

// readGroupings reads `by region`, `per month`, `for each customer`.
func (u *understanding) readGroupings() {
	for i := range u.ps {
		p := &u.ps[i]
		if p.used {
			continue
		}
		switch {
		case p.role == pUnit && p.desc, p.role == pUnit && u.is(u.prev(i), pBy):
			g := grouping{col: -1, table: -1, unit: p.unit, part: p.part}
			if col := u.dateOfWord(i); col >= 0 && u.x.columns[col].table == u.q.base {
				u.q.dateCol = col
			}
			if u.q.dateCol < 0 {
				if d := u.periodColumn(i); d >= 0 {
					u.q.dateCol = d
				}
			}
			u.addGroup(g)
			u.use(i)
			if u.is(u.prev(i), pBy) {
				u.use(u.prev(i))
			}
		case p.role == pBy:
			u.readGroupedNames(i)
		}
	}
}

// readGroupedNames reads the names after `by`, with more after `and`.
func (u *understanding) readGroupedNames(i int) {
	j := u.next(i)
	if k := u.next(j); u.is(j, pCount) && u.free(k) && u.ps[k].table < 0 && u.column(k, isNumericColumn) >= 0 {
		u.use(j) // by number of seats, where a column keeps the number
		j = k
	}
	if u.hasValue(j) && u.ps[j].table < 0 && len(u.ps[j].cols) == 0 && u.ps[i].text == "by" {
		u.use(i) // they came by phone
		return
	}
	for {
		g, ok := u.groupAt(j)
		if !ok {
			return
		}
		u.addGroup(g)
		u.use(i, j)
		// A table's name before or after its column says no more: appointment type.
		k := u.next(j)
		if u.is(k, pAnd) {
			m := u.next(k)
			if u.is(m, pBy) {
				return
			}
			if u.is(m, pUnit) {
				u.addGroup(grouping{col: -1, table: -1, unit: u.ps[m].unit, part: u.ps[m].part})
				u.use(k, m)
				return
			}
			if _, more := u.groupAt(m); !more {
				return
			}
			u.use(k)
			j = m
			continue
		}
		return
	}
}

// groupAt reads a piece as something to group by.
func (u *understanding) groupAt(j int) (grouping, bool) {
	if !u.free(j) {
		return grouping{}, false
	}
	p := &u.ps[j]
	if p.table >= 0 && (len(p.cols) == 0 || p.tscore >= p.cols[0].score-0.05) && p.table != u.q.base {
		return u.rowsNamed(j), true
	}
	col := u.column(j, func(c *column) bool { return !c.isNumeric() || len(u.ps[j].cols) == 1 })
	if col >= 0 {
		c := &u.x.columns[col]
		if c.ref >= 0 && !c.key {
			return grouping{col: -1, table: c.ref, via: col + 1}, true
		}
		if u.saysWhole(j, col) {
			return grouping{col: col, table: -1}, true // per name: two rows of one name are one group
		}
		return u.x.groupingBy(col), true
	}
	if p.table >= 0 {
		return grouping{col: -1, table: p.table}, true
	}
	return grouping{}, false
}

// rowsNamed groups by the rows of the table that piece j names, along the reference that is called so if there is one:
// the billing site.
func (u *understanding) rowsNamed(j int) grouping {
	g := grouping{col: -1, table: u.ps[j].table}
	for _, c := range u.ps[j].cols {
		if col := &u.x.columns[c.id]; col.ref == g.table && !col.key && c.score > 0.95 && u.saysWhole(j, c.id) {
			g.via = c.id + 1
			break
		}
	}
	return g
}

// saysWhole reports whether a piece has every word of a column's name, apart from those of its
// table: then the column itself is meant, and not the rows that it names.
func (u *understanding) saysWhole(j, col int) bool {
	c := &u.x.columns[col]
	var said []string
	for _, t := range u.toks[u.ps[j].from:u.ps[j].to] {
		said = append(said, t.lemma)
	}
	own := withoutWords(c.words, u.x.tables[c.table].core)
	return len(own) > 0 && !slices.ContainsFunc(own, func(w string) bool { return !slices.Contains(said, w) })
}

func (u *understanding) addGroup(g grouping) {
	if g.col < 0 && g.unit == "" && g.part == "" && g.table == u.q.base && len(u.q.measures) == 1 && u.q.measures[0].agg == queryplan.Avg {
		return // the average per booking is that of the bookings
	}
	if !slices.Contains(u.q.groups, g) {
		u.q.groups = append(u.q.groups, g)
	}
	if u.listing {
		u.listing = false
		u.q.measures = []measure{{agg: queryplan.Count, table: u.q.base, col: -1}}
	}
}

// readDirections reads `highest first`, `sort by name`.
func (u *understanding) readDirections() {
	for i := range u.ps {
		p := &u.ps[i]
		if p.used {
			continue
		}
		switch p.role {
		case pFirst:
			u.q.order.set, u.q.order.desc = true, p.desc
			u.q.order.byName = p.text == "alphabetically"
			u.use(i)
		case pSort:
			j := u.next(i)
			switch {
			case u.is(j, pPronoun, pTotal):
				u.q.order.set, u.q.order.desc = true, true
				u.use(i, j)
			case u.is(j, pName, pList) && (strings.Contains(u.ps[j].text, "name") || u.isGroup(j)):
				u.q.order = ordering{set: true, byName: true, col: -1}
				u.use(i, j)
			case u.is(j, pUnit):
				u.q.order = ordering{set: true, byName: true, col: -1}
				u.use(i, j)
			default:
				if m, ok := u.measureAt(j, ""); ok && len(u.q.measures) > 0 && (m.col == u.q.measures[0].col) {
					u.q.order.set, u.q.order.desc = true, true
					u.use(i, j)
				}
			}
		case pPercent:
			u.q.percent = true
			u.use(i)
		}
	}
}

// isOwnProperty reports whether a column stands right behind the name of the listed rows: parcel details.
func (u *understanding) isOwnProperty(i int) bool {
	if i != u.named+1 || u.ps[i].from != u.ps[u.named].to || u.toks[u.ps[i].from].comma {
		return false
	}
	t := &u.toks[u.ps[u.named].to-1]
	return t.lemma == t.lower
}

func (u *understanding) isGroup(j int) bool {
	return slices.ContainsFunc(u.q.groups, func(g grouping) bool {
		return g.table >= 0 && g.table == u.ps[j].table || slices.ContainsFunc(u.ps[j].cols, func(c scored) bool { return c.id == g.col })
	})
}

// readShownColumns shows the columns that a list is asked with.
func (u *understanding) readShownColumns() {
	if !u.listing && u.last == nil {
		return
	}
	for i := range u.ps {
		if !u.free(i) || !u.listing || len(u.ps[i].vals) > 0 {
			continue
		}
		if col := u.column(i, nil); col >= 0 && u.x.singleWay(u.q.base, u.x.columns[col].table) != nil {
			u.use(i)
			if i > u.named && slices.ContainsFunc(u.q.conds, func(c condition) bool { return c.col == col }) {
				continue // whose nationality is not French: said of the rows, not asked for
			}
			u.q.shown = append(u.q.shown, col)
			u.q.columns = u.q.columns || i < u.named || u.isOwnProperty(i)
		}
	}
}
