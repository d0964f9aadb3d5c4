package nlq

import (
	"slices"
	"strings"
	"time"

	"interlock/internal/queryplan"
)

// dateOfWord finds the date column of the base that a verb near piece i speaks of: hired
// before 2015 is about hired_on. It marks the verb.
func (u *understanding) dateOfWord(i int) int {
	future := u.is(i, pPeriod) && u.ps[i].period.from.After(u.now)
	find := func(k int) int {
		if col := u.verbDate(k); col >= 0 && !future {
			return col
		}
		if !u.is(k, pName) || future && pastForm(&u.toks[u.ps[k].from]) {
			return -1 // what is booked for next week was not booked in it
		}
		for _, c := range u.ps[k].cols {
			col := &u.x.columns[c.id]
			if col.date && (col.table == u.q.base || u.x.singleWay(u.q.base, col.table) != nil) {
				return c.id
			}
		}
		return -1
	}
	if col := u.dateOfMaking(i); col >= 0 && !future {
		return col
	}
	for k, n := u.prev(i), 0; k >= 0 && n < 3; k, n = u.prev(k), n+1 {
		if u.is(k, pPeriod, pBy) {
			break
		}
		if col := find(k); col >= 0 {
			u.use(k)
			return col
		}
	}
	if n := u.next(i); n >= 0 {
		if col := find(n); col >= 0 && !u.ps[n].used {
			u.use(n)
			return col
		}
	}
	return -1
}

// dateOfMaking is the date by which rows of the base came to be where the message says that they were made: bookings
// made in May have a booking date in May, whatever else they count by. -1 is none.
func (u *understanding) dateOfMaking(i int) int {
	core := u.x.tables[u.q.base].core
	if b := u.ps[i].from; b == 0 || len(core) == 0 || !slices.ContainsFunc(u.toks[max(0, b-2):b], func(t token) bool { return t.lower == "made" || t.lower == "placed" }) {
		return -1
	}
	for _, id := range u.x.tables[u.q.base].columns {
		if c := &u.x.columns[id]; c.date && slices.ContainsFunc(c.words, func(w string) bool { return !columnTail[w] && stem(w) == stem(core[len(core)-1]) }) {
			return id
		}
	}
	return -1
}

// verbDate is the date of the base that the verb at piece k is about: what we opened in May, and what
// did we open in May, have an opening date in May, whatever their status is called. -1 is none.
func (u *understanding) verbDate(k int) int {
	if !u.is(k, pName, pUnknown) || u.ps[k].to != u.ps[k].from+1 || u.q.base < 0 || u.ps[k].table >= 0 {
		return -1
	}
	t := &u.toks[u.ps[k].from]
	if !u.asksDone(u.ps[k].from) && !(pastForm(t) && len(u.x.values[normaliseValue(t.lower)]) == 0) {
		return -1
	}
	found := -1
	for _, id := range u.x.tables[u.q.base].columns {
		if c := &u.x.columns[id]; (c.date || c.holdsYears()) && slices.ContainsFunc(c.words, func(w string) bool { return !columnTail[w] && (stem(w) == t.stem && len(t.stem) > 2 || w == t.lemma) }) {
			if found >= 0 {
				return -1
			}
			found = id
		}
	}
	return found
}

// pastForm reports whether a word is a verb that says what happened.
func pastForm(t *token) bool {
	base, ok := irregular[t.lower]
	return isPastParticiple(t) || ok && base != t.lower && !strings.HasSuffix(t.lower, "s")
}

// readPeriods reads `in 2024`, `since March 2025`, `between 1 and 15 June`.
func (u *understanding) readPeriods() {
	for i := range len(u.ps) {
		if !u.is(i, pPeriod) || u.ps[i].used {
			continue
		}
		p := u.ps[i].period
		u.use(i)
		b := u.prev(i)
		switch {
		case u.is(b, pOp) && u.ps[b].year && i-b <= 3:
			first := p
			switch u.ps[b].op {
			case queryplan.Lt:
				p = period{until: first.from}
			case queryplan.Gt:
				p = period{from: first.until}
			case queryplan.Le:
				p = period{until: first.until}
			case queryplan.Ge:
				end := u.next(i)
				if e := u.next(end); u.is(end, pOp, pHarmless) && u.is(e, pPeriod) {
					p = period{from: first.from, until: u.ps[e].period.until}
					u.use(end, e)
				} else if h := i + 1; h < len(u.ps) && u.ps[h].text == "to" && u.is(h+1, pPeriod) {
					p = period{from: first.from, until: u.ps[h+1].period.until}
					u.use(h, h+1)
				} else if u.ps[b].text != "from" {
					p = period{from: first.from}
				}
			}
			u.use(b)
		case u.is(b, pBetween):
			if a := u.next(i); u.is(a, pAnd) && u.is(u.next(a), pPeriod) {
				e := u.next(a)
				p = period{from: p.from, until: u.ps[e].period.until}
				u.use(a, e, b)
			}
		case !u.ps[i].year && u.last == nil:
			p = u.askYear(i, p)
		case !u.ps[i].year && u.last != nil:
			p = sameYear(p, u.last)
		case u.last != nil && p.year != 0:
			p = sameMonth(p, u.last)
		}
		if a := u.next(i); u.is(a, pAnd, pVersus, pOr) && u.is(u.next(a), pPeriod) && !u.ps[u.next(a)].used {
			u.addPeriods(i, p, u.ps[u.next(a)].period, u.is(a, pVersus))
			u.use(a, u.next(a))
			continue
		}
		u.addPeriod(i, p)
	}
	u.readNextPeriod()
}

// readNextPeriod reads `the month after` of a follow-up.
func (u *understanding) readNextPeriod() {
	i := u.find(0, pNext)
	if i < 0 || u.last == nil {
		return
	}
	k := slices.IndexFunc(u.q.conds, func(c condition) bool { return c.op == queryplan.InPeriod })
	if k < 0 || u.q.conds[k].second != nil || u.q.conds[k].period.from.IsZero() || u.q.conds[k].period.until.IsZero() {
		return
	}
	for _, unit := range []string{"month", "year", "quarter", "week"} {
		if strings.Contains(u.ps[i].text, unit) {
			p := u.q.conds[k].period
			p.from, _ = shiftPeriod(p.from, unit, int(u.ps[i].number))
			p.until, _ = shiftPeriod(p.until, unit, int(u.ps[i].number))
			u.q.conds[k].period = p
			u.use(i)
		}
	}
}

// askYear leaves open which year a month without one belongs to.
func (u *understanding) askYear(i int, p period) period {
	key := "y" + u.ps[i].text
	if y, ok := u.choices[key]; ok {
		return inYear(p, y)
	}
	year := u.now.Year()
	c := choice{key: key, about: u.ps[i].text, picked: year, passing: true}
	for _, y := range []int{year, year - 1} {
		if inYear(p, y).from.After(u.now) {
			continue
		}
		c.options = append(c.options, option{y, inYear(p, y).from.Format("January 2006")})
	}
	if len(c.options) > 1 {
		u.open = append(u.open, c)
	}
	return p
}

func inYear(p period, y int) period {
	shift := y - p.from.Year()
	return period{from: p.from.AddDate(shift, 0, 0), until: p.until.AddDate(shift, 0, 0)}
}

// sameYear puts a month into the year that the inquiry before was about.
func sameYear(p period, last *inquiry) period {
	for _, c := range last.conds {
		if c.op == queryplan.InPeriod && !c.period.from.IsZero() {
			return inYear(p, c.period.from.Year())
		}
	}
	return p
}

// sameMonth takes the month, quarter or week of the inquiry before in another year.
func sameMonth(p period, last *inquiry) period {
	for _, c := range last.conds {
		if c.op == queryplan.InPeriod && !c.period.from.IsZero() && !c.period.until.IsZero() && c.period.until.Before(c.period.from.AddDate(0, 11, 0)) {
			return inYear(c.period, p.year)
		}
	}
	return p
}

// periodColumn is the date that a period at piece i is about.
func (u *understanding) periodColumn(i int) int {
	if col := u.dateOfWord(i); col >= 0 {
		if u.x.columns[col].table == u.q.base {
			u.q.dateCol = col
		}
		return col
	}
	if u.q.dateCol >= 0 {
		return u.q.dateCol
	}
	for _, p := range u.ps { // overdue, churned: a term with a date of its own
		if p.def != nil && p.def.date >= 0 && u.x.singleWay(u.q.base, u.x.columns[p.def.date].table) != nil {
			u.q.dateCol = p.def.date
			return p.def.date
		}
	}
	if d := u.x.mainDate(u.q.base); d >= 0 {
		return d
	}
	var dates []int
	for _, id := range u.x.tables[u.q.base].columns {
		if u.x.columns[id].date {
			dates = append(dates, id)
		}
	}
	if len(dates) > 0 {
		col := u.choose("date", "when", dates)
		u.q.dateCol = col
		return col
	}
	if dates := u.x.parentDates(u.q.base); len(dates) > 0 {
		col := u.choose("date", "when", dates)
		u.q.dateCol = col
		return col
	}
	return -1
}

// parentDates are the dates that a period of rows without a date of their own may be about: those
// of the rows that they belong to. What is only looked up, as the product of an order item, gives
// its date where nothing else has one. Several dates are a question.
func (x *Index) parentDates(t int) []int {
	var said, owned, others []int
	for parent := range x.tables {
		if parent == t || len(x.singleWay(t, parent)) != 1 {
			continue
		}
		dates := x.datesOf(parent)
		if d, ok := x.mainDates[parent]; ok {
			said = append(said, d)
		}
		if core := x.tables[parent].core; len(core) > 0 && len(withoutWords(core, x.tables[t].core)) == 0 {
			owned = append(owned, dates...) // order items belong to orders
		}
		others = append(others, dates...)
	}
	switch {
	case len(said) == 1:
		return said
	case len(owned) > 0:
		return owned
	}
	return others
}

// datesOf is the main date of a table, or all that may be it.
func (x *Index) datesOf(t int) []int {
	if d := x.mainDate(t); d >= 0 {
		return []int{d}
	}
	return x.datesIn(t)
}

// datesIn are the columns of a table that hold dates.
func (x *Index) datesIn(t int) []int {
	var out []int
	for _, id := range x.tables[t].columns {
		if x.columns[id].date {
			out = append(out, id)
		}
	}
	return out
}

func (u *understanding) addPeriod(i int, p period) {
	col := u.periodColumn(i)
	if col < 0 {
		u.refuse("no date of " + humanName(u.x.tableName(u.q.base)) + " is known that " + u.ps[i].text + " could be about")
		return
	}
	if u.x.columns[col].holdsYears() {
		u.addYears(col, p)
		return
	}
	c := condition{table: u.x.columns[col].table, col: col, op: queryplan.InPeriod, period: p, other: -1}
	if u.last != nil {
		u.q.conds = slices.DeleteFunc(u.q.conds, func(o condition) bool { return o.op == queryplan.InPeriod })
	}
	u.q.conds = append(u.q.conds, c)
	// Opened and closed in May: each of the dates.
	for k := range u.ps[:i] {
		if other := u.verbDate(k); other >= 0 && other != col && !u.ps[k].used && u.is(u.next(k), pAnd) {
			also := c
			also.col = other
			u.q.conds = append(u.q.conds, also)
			u.use(k, u.next(k))
		}
	}
}

// holdsYears reports whether a column holds years as numbers.
func (c *column) holdsYears() bool { return !c.date && c.number && c.isCalendar() }

// addYears keeps the rows whose year lies in a period.
func (u *understanding) addYears(col int, p period) {
	add := func(op queryplan.Operator, year int) {
		u.q.conds = append(u.q.conds, condition{table: u.x.columns[col].table, col: col, op: op, values: []any{float64(year)}, other: -1})
	}
	whole := func(t time.Time) bool { return t.IsZero() || t.YearDay() == 1 }
	switch {
	case !whole(p.from) || !whole(p.until):
		u.refuse(humanName(u.x.columns[col].name) + " says the year alone")
	case !p.from.IsZero() && p.until.Equal(p.from.AddDate(1, 0, 0)):
		add(queryplan.Eq, p.from.Year())
	default:
		if !p.from.IsZero() {
			add(queryplan.Ge, p.from.Year())
		}
		if !p.until.IsZero() {
			add(queryplan.Lt, p.until.Year())
		}
	}
}

// addPeriods compares two periods: one row for each where they are of one unit.
func (u *understanding) addPeriods(i int, a, b period, compared bool) {
	if b.from.Before(a.from) {
		a, b = b, a
	}
	unit := queryplan.Unit("")
	for _, n := range []string{"year", "quarter", "month", "week", "day"} {
		if end, _ := shiftPeriod(a.from, n, 1); end.Equal(a.until) && sameUnit(b, n) {
			unit = queryplan.Unit(n)
			break
		}
	}
	compared = compared || u.find(0, pCompare) >= 0
	if unit == "" || !a.until.Equal(b.from) && !compared {
		u.refuse("the two periods are not of the calendar's own")
		return
	}
	u.addPeriod(i, period{from: a.from, until: b.until})
	if compared {
		if n := len(u.q.conds) - 1; !a.until.Equal(b.from) && n >= 0 && u.q.conds[n].op == queryplan.InPeriod {
			u.q.conds[n].period, u.q.conds[n].second = a, &b // a quarter and that of the year before
		}
		u.q.groups = append(u.q.groups, grouping{col: -1, table: -1, unit: unit})
		u.use(u.find(0, pCompare))
	}
}

func sameUnit(p period, unit string) bool {
	end, _ := shiftPeriod(p.from, unit, 1)
	return end.Equal(p.until)
}
