package nlq

import (
	"fmt"
	"slices"
	"strings"

	"interlock/internal/queryplan"
)

// readNegations reads `not cancelled`, `without an email`, `never ordered`.
func (u *understanding) readNegations() {
	for i := range u.ps {
		p := &u.ps[i]
		if p.used || !slices.Contains([]pieceRole{pNot, pNever, pExclude, pMissing}, p.role) {
			continue
		}
		j := u.next(i)
		for u.is(j, pEvery, pWith, pPronoun, pReading) {
			u.use(j)
			j = u.next(j)
		}
		switch {
		case p.role == pExclude && u.is(j, pNot, pMissing) && u.free(u.next(j)) && u.presence(u.next(j)) >= 0:
			k := u.next(j) // leave out those without a phone
			col := u.presence(k)
			u.addCondition(condition{table: u.x.columns[col].table, col: col, op: queryplan.IsNotNull, other: -1})
			u.use(i, j, k)
		case p.role == pMissing:
			k := u.prev(i)
			if !u.free(k) {
				k = j
			}
			if col := u.column(k, nil); u.free(k) && col >= 0 {
				u.q.conds = append(u.q.conds, condition{table: u.x.columns[col].table, col: col, op: queryplan.IsNull, other: -1})
				u.use(i, k)
			}
		case p.role == pNever || p.role == pNot && u.find(i, pEvery) >= 0 && !u.hasValue(j):
			u.readNever(i, j)
		case u.free(j) && u.ps[j].def != nil && !u.ps[j].def.isMeasure():
			u.q.conds = append(u.q.conds, condition{table: u.ps[j].def.base, def: u.ps[j].def, neg: true, other: -1, col: -1})
			u.use(i, j)
		case u.hasValue(j) && !(p.role == pNot && u.presence(j) >= 0 && u.verbOf(j)):
			u.addValues(j, true)
			u.use(i)
		case u.free(j) && u.presence(j) >= 0 && u.free(u.next(j)) && u.valueIn(u.next(j), u.presence(j)) != nil:
			u.addValues(u.next(j), true) // do not have the nationality French
			u.use(i, j)
		case u.free(j) && u.is(u.next(j), pOp): // not cost more than 1000: the comparison is denied, and no value is missing
		case u.free(j) && u.presence(j) >= 0:
			col := u.presence(j)
			c := condition{table: u.x.columns[col].table, col: col, op: queryplan.IsNull, other: -1}
			if v := u.x.truths[col]; v != nil {
				c.op, c.values = queryplan.Eq, []any{v[1]}
			}
			u.addCondition(c)
			u.use(i, j)
		case u.free(j) && u.ps[j].table >= 0 && u.ps[j].table != u.q.base:
			u.readNever(i, j)
		}
	}
}

// addCondition adds what is said of a column. In a follow-up it takes the place of what the question before said
// of whether the column has a value, or which of two.
func (u *understanding) addCondition(c condition) {
	u.q.conds = slices.DeleteFunc(u.q.conds, func(o condition) bool {
		plain := o.op == queryplan.IsNull || o.op == queryplan.IsNotNull || o.op == queryplan.Eq && u.x.truths[o.col] != nil
		return u.last != nil && o.col == c.col && !o.exists && o.def == nil && plain && !u.givenNow(o)
	})
	u.q.conds = append(u.q.conds, c)
}

// verbOf reports whether a piece is a verb that a date column is called by: paid, delivered.
func (u *understanding) verbOf(j int) bool {
	t := &u.toks[u.ps[j].from]
	if !pastForm(t) {
		return false
	}
	for _, c := range u.ps[j].cols {
		if u.x.columns[c.id].date && u.x.columns[c.id].table == u.q.base {
			return true
		}
	}
	return false
}

func (u *understanding) hasValue(j int) bool { return u.free(j) && len(u.ps[j].vals) > 0 }

// presence is the column that a piece names and a row may have or lack, or -1.
func (u *understanding) presence(j int) int {
	if !u.is(j, pName) || len(u.ps[j].cols) == 0 {
		return -1
	}
	verb := pastForm(&u.toks[u.ps[j].from])
	return u.column(j, func(c *column) bool {
		return u.q.base < 0 || u.x.singleWay(u.q.base, c.table) != nil && (!verb || c.date || u.x.truths[c.id] != nil || !c.isNumeric())
	})
}

// tableOfDone is the table, with rows that belong to one of the base, whose date a past form names, or -1.
func (u *understanding) tableOfDone(k int) int {
	p := &u.ps[k]
	if p.role != pName || len(p.cols) == 0 || !pastForm(&u.toks[p.from]) {
		return -1
	}
	c := &u.x.columns[p.cols[0].id]
	if !c.date || c.table == u.q.base || len(p.cols) > 1 || len(u.x.singleWay(c.table, u.q.base)) == 0 {
		return -1
	}
	return c.table
}

// readNever reads `never ordered anything`, `without subscriptions`: rows of another table that do not exist.
func (u *understanding) readNever(i, j int) {
	t := -1
	var marks []int
	for k := j; k >= 0; k = u.next(k) {
		if u.is(k, pPeriod, pEvery) {
			continue
		}
		if !u.is(k, pName, pUnknown) {
			break
		}
		p := &u.ps[k]
		if p.used {
			continue
		}
		if p.role == pName && p.table >= 0 && p.table != u.q.base && u.x.singleWay(p.table, u.q.base) != nil {
			t = p.table
			marks = append(marks, k)
			break
		}
		if t >= 0 && p.role == pName && p.table >= 0 && u.x.singleWay(t, p.table) != nil {
			marks = append(marks, k) // never booked a class: each booking is of a class
			continue
		}
		if s := u.tableOfDone(k); s >= 0 { // never delivered: rows with a date of delivery
			t = s
			marks = append(marks, k)
			continue
		}
		if s := u.tableOfVerb(k); s >= 0 {
			t = s
			marks = append(marks, k)
			continue
		}
		if lightVerbs[u.toks[p.from].lemma] || lightVerbs[u.toks[p.from].lower] {
			marks = append(marks, k)
		}
	}
	if t < 0 { // nothing named: the only table whose rows belong to one of the base
		var kids []int
		for c := range u.x.tables {
			if c != u.q.base && len(u.x.singleWay(c, u.q.base)) == 1 {
				kids = append(kids, c)
			}
		}
		if len(kids) != 1 {
			return
		}
		t = kids[0]
	}
	c := condition{table: t, exists: true, neg: true, other: -1, col: -1}
	// A period of the message is about what did not happen.
	c.related = slices.DeleteFunc(slices.Clone(u.q.conds), func(o condition) bool { return o.op != queryplan.InPeriod })
	if len(c.related) > 0 {
		d := u.x.mainDate(t)
		if d < 0 {
			return
		}
		u.q.conds = slices.DeleteFunc(u.q.conds, func(o condition) bool { return o.op == queryplan.InPeriod })
		u.q.dateCol = -1
		for k := range c.related {
			c.related[k].table, c.related[k].col = t, d
		}
	}
	u.q.conds = append(u.q.conds, c)
	u.use(i)
	u.use(marks...)
}

// lightVerbs say that something happened and leave what to the data.
var lightVerbs = wordSet("buy bought sell sold take took taken make made do did done get got have had use used order ordered place placed carry carried teach taught attend attended join joined book booked see seen visit visited")

// tableOfVerb is the table that a verb speaks of: shipped is about shipments.
func (u *understanding) tableOfVerb(k int) int {
	t := &u.toks[u.ps[k].from]
	for i := range u.x.tables {
		core := u.x.tables[i].core
		if i != u.q.base && len(core) > 0 && stem(core[len(core)-1]) == t.stem && u.x.singleWay(i, u.q.base) != nil {
			return i
		}
	}
	return -1
}

// readConditions reads the values, defined terms and flags that are left.
func (u *understanding) readConditions() {
	u.readAttributes()
	u.readCurrent()
	for i := range u.ps {
		if col := u.verbDate(i); col >= 0 && !u.ps[i].used && len(u.ps[i].vals) > 0 { // how many did we close
			u.q.conds = append(u.q.conds, condition{table: u.q.base, col: col, op: queryplan.IsNotNull, other: -1})
			u.use(i)
		}
		if !u.free(i) {
			continue
		}
		p := &u.ps[i]
		switch {
		case p.def != nil && !p.def.isMeasure():
			d := p.def
			if d.base != u.q.base && u.x.singleWay(u.q.base, d.base) == nil {
				if u.x.singleWay(d.base, u.q.base) == nil {
					continue
				}
				u.q.conds = append(u.q.conds, condition{table: d.base, exists: true, related: d.conds, other: -1, col: -1})
				u.use(i)
				continue
			}
			u.q.conds = append(u.q.conds, condition{table: d.base, def: d, other: -1, col: -1})
			u.use(i)
		case len(p.vals) > 0 && !(u.verbOf(i) && u.datedVerb(i)):
			u.addValues(i, false)
		case p.table == u.q.base && p.tscore > 0.6 && u.q.base >= 0:
			u.use(i)
		case u.presenceFlag(i):
		}
	}
}

// readAttributes reads the first word of a defined term whose other words name the base: open complaints
// are defined, so complaints that are open are such, and so are the open ones.
func (u *understanding) readAttributes() {
	for i := range u.ps {
		p := &u.ps[i]
		own := slices.ContainsFunc(p.vals, func(v valueRef) bool { return u.x.columns[v.column].table == u.q.base })
		if p.used || p.to != p.from+1 || !(p.role == pUnknown || p.role == pHarmless || p.role == pName && !own && p.def == nil && p.table < 0) {
			continue
		}
		t := &u.toks[p.from]
		for _, d := range u.x.definitions {
			first, rest, ok := strings.Cut(strings.ToLower(d.name), " ")
			if !ok || d.isMeasure() || !d.noun || d.base != u.q.base || strings.Contains(rest, " ") || first != t.lower && stem(first) != stem(strings.TrimSuffix(t.lower, "ly")) {
				continue
			}
			u.q.conds = append(u.q.conds, condition{table: d.base, def: d, other: -1, col: -1})
			p.role = pName
			u.use(i)
			break
		}
	}
}

// readCurrent reads `currently` of rows that may have ended: those without an end.
func (u *understanding) readCurrent() {
	i := slices.IndexFunc(u.ps, func(p piece) bool { return p.text == "currently" || p.text == "current" })
	if i < 0 || u.ps[i].used || u.q.base < 0 {
		return
	}
	var ends, may []int
	for _, id := range u.x.tables[u.q.base].columns {
		if u.x.ends[id] {
			ends = append(ends, id)
		}
		if c := &u.x.columns[id]; c.date && slices.ContainsFunc(c.words, func(w string) bool { return laterDates[w] }) {
			may = append(may, id)
		}
	}
	if len(ends) == 0 && len(may) > 0 && len(u.q.conds) == 0 && u.last == nil {
		u.refuse(fmt.Sprintf("it is not clear what %q means here: say whether rows with %s count", u.ps[i].text, humanName(u.x.columns[may[0]].name)))
		return
	}
	if len(ends) == 1 && !slices.ContainsFunc(u.q.conds, func(c condition) bool { return c.col == ends[0] || c.def != nil }) {
		u.addCondition(condition{table: u.q.base, col: ends[0], op: queryplan.IsNull, other: -1})
		u.ps[i].used = true
	}
}

// datedVerb reports whether the verb at i says which date a period is about.
func (u *understanding) datedVerb(i int) bool {
	return slices.ContainsFunc(u.q.conds, func(c condition) bool {
		return c.op == queryplan.InPeriod && slices.ContainsFunc(u.ps[i].cols, func(s scored) bool { return s.id == c.col })
	})
}

// presenceFlag reads `who left`, `with a phone number`, `on credit hold`: a date or a property that a row has, or a flag.
func (u *understanding) presenceFlag(i int) bool {
	col := u.presence(i)
	if col < 0 || u.x.columns[col].table != u.q.base && !u.is(u.prev(i), pWith) {
		return false
	}
	c := &u.x.columns[col]
	b := u.prev(i)
	if n := u.next(i); u.free(n) && u.valueIn(n, col) != nil {
		return false // with the status active
	}
	switch {
	case u.x.truths[col] != nil:
		u.addCondition(condition{table: c.table, col: col, op: queryplan.Eq, values: []any{u.x.truths[col][0]}, other: -1})
	case c.date && pastForm(&u.toks[u.ps[i].from]) && u.ps[i].to == u.ps[i].from+1, u.is(b, pWith) && !u.listing && !c.key, u.is(b, pWith) && c.date:
		u.q.conds = append(u.q.conds, condition{table: c.table, col: col, op: queryplan.IsNotNull, other: -1})
	default:
		return false
	}
	u.use(i)
	return true
}

// addValues makes a condition of the value at i and of those that `or`, `and` or a comma join to it.
func (u *understanding) addValues(i int, not bool) {
	ids := u.valueColumns(i)
	if len(ids) == 0 {
		return
	}
	col := ids[0]
	if len(ids) > 1 {
		col = u.choose("v"+u.ps[i].text, u.ps[i].text, ids)
	}
	values := []any{u.valueIn(i, col)}
	u.use(i)
	and := false
	for k := u.next(i); k >= 0; {
		m := k
		if u.is(k, pAnd, pOr) {
			m = u.next(k)
			and = and || u.is(k, pAnd)
		} else if !u.is(k, pName) || !u.toks[u.ps[k].from].comma {
			break
		}
		if !u.free(m) || u.valueIn(m, col) == nil || u.valueIn(m, col) == any(absent{}) || values[0] == any(absent{}) {
			break
		}
		values = append(values, u.valueIn(m, col))
		u.use(k, m)
		k = u.next(m)
	}
	c := condition{table: u.x.columns[col].table, col: col, op: queryplan.Eq, values: values, other: -1}
	if slices.Contains(values, any(absent{})) {
		if c.op, c.values = queryplan.IsNull, nil; not {
			c.op = queryplan.IsNotNull
		}
		u.q.conds = append(u.q.conds, c)
		return
	}
	if and && len(values) > 1 && !not && u.q.base >= 0 && u.x.singleWay(u.q.base, c.table) == nil {
		// Of rows that each row of the base may have many of, `and` asks for one of each value.
		for _, v := range values {
			one := c
			one.values = []any{v}
			u.q.conds = append(u.q.conds, one)
		}
		return
	}
	switch {
	case len(values) > 1 && not:
		c.op = queryplan.NotIn
	case len(values) > 1:
		c.op = queryplan.In
	case not:
		c.op = queryplan.Ne
	}
	if u.last != nil && !not {
		u.q.conds = slices.DeleteFunc(u.q.conds, func(o condition) bool {
			return o.col == col && (o.op == queryplan.Eq || o.op == queryplan.In || excludes(o, values)) && !u.givenNow(o)
		})
	}
	if u.last != nil && not && u.dropKept(col, values) {
		return
	}
	u.q.conds = append(u.q.conds, c)
}

// excludes reports whether a condition leaves out one of the values.
func excludes(c condition, values []any) bool {
	return (c.op == queryplan.Ne || c.op == queryplan.NotIn) && slices.ContainsFunc(values, func(v any) bool { return slices.Contains(c.values, v) })
}

// dropKept takes values out of those that the question before keeps, and reports whether others
// are left of them: only for app or web, without app. Where none is left the condition goes, and
// the message alone decides.
func (u *understanding) dropKept(col int, values []any) (left bool) {
	for i, o := range u.q.conds {
		if o.col != col || o.op != queryplan.Eq && o.op != queryplan.In || u.givenNow(o) {
			continue
		}
		rest := slices.DeleteFunc(slices.Clone(o.values), func(v any) bool { return slices.Contains(values, v) })
		switch {
		case len(rest) == len(o.values):
			continue
		case len(rest) == 0:
			u.q.conds = slices.Delete(u.q.conds, i, i+1)
			return false
		case len(rest) == 1:
			o.op = queryplan.Eq
		}
		o.values = rest
		u.q.conds[i] = o
		return true
	}
	return false
}

func (u *understanding) givenNow(c condition) bool {
	return u.last != nil && !slices.ContainsFunc(u.last.conds, func(o condition) bool {
		return o.col == c.col && o.op == c.op && slices.Equal(o.values, c.values)
	})
}

func (u *understanding) valueIn(i, col int) any {
	for _, v := range u.ps[i].vals {
		if v.column == col {
			return u.x.literal(v)
		}
	}
	return nil
}

// valueColumns are the columns that the value at i may belong to: one that the words beside it
// name, one that a condition or a grouping is about already, else those of the base, else those that each row of the base has one of.
func (u *understanding) valueColumns(i int) []int {
	var own, reach, far []int
	for _, v := range u.ps[i].vals {
		t := u.x.columns[v.column].table
		for _, k := range []int{u.prev(i), u.next(i)} {
			if !u.is(k, pName) || k >= 0 && u.ps[k].table == u.q.base && len(u.ps[k].cols) == 0 {
				continue
			}
			named := slices.ContainsFunc(u.ps[k].cols, func(c scored) bool {
				return c.id == v.column || u.x.columns[c.id].ref == t && u.x.columns[c.id].ref >= 0
			})
			if named || u.ps[k].table == t && t != u.q.base {
				if len(u.ps[k].vals) == 0 || u.ps[k].tscore >= 0.9 && u.ps[k].table == t {
					u.use(k)
				}
				return []int{v.column}
			}
		}
		switch {
		case u.hintsAt(i, v.column):
			return []int{v.column}
		case t == u.q.base:
			own = append(own, v.column)
		case u.x.singleWay(u.q.base, t) != nil:
			reach = append(reach, v.column)
		default:
			far = append(far, v.column)
		}
	}
	if u.last != nil {
		for _, c := range u.last.conds {
			if slices.Contains(own, c.col) || slices.Contains(reach, c.col) {
				return []int{c.col}
			}
		}
		for _, g := range u.last.groups {
			if slices.Contains(own, g.col) && g.col >= 0 || slices.Contains(reach, g.col) && g.col >= 0 {
				return []int{g.col}
			}
		}
	}
	switch {
	case len(own) > 0:
		return own
	case len(reach) > 0:
		return reach
	}
	return far
}

// hintsAt reports whether the preposition before a value speaks of the column: to Italy is a destination.
func (u *understanding) hintsAt(i, col int) bool {
	if i == 0 {
		return false
	}
	return slices.ContainsFunc(u.x.columns[col].words, func(w string) bool { return directions[u.ps[i-1].text][w] })
}
