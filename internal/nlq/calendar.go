package nlq

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"interlock/internal/queryplan"
)

// readYears reads `before 1980`: a number as a year of the column that the words or
// the table suggest.
func (r *reader) readYears(i int, op queryplan.Operator, values []any) bool {
	n, ok := values[0].(float64)
	if !ok {
		return false
	}
	if left := r.subjectOf(i); left >= 0 {
		year := n >= 1000 && n <= 2200
		if col, s := r.asColumn(left, r.nearTable(left), func(c *column) bool { return c.number && !year || c.isCalendar() }); col >= 0 && s > 0.5 {
			r.calendarCond(col, op, n, i, s)
			r.markUsed(left)
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
	r.compareWithPeriod(col, op, period{from: from, until: from.AddDate(1, 0, 0)}, at, score)
}

// compareWithPeriod compares a date with a period.
func (r *reader) compareWithPeriod(col int, op queryplan.Operator, p period, at int, score float64) {
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
	calendar := (*column).isCalendar
	for k := i - 1; k >= 0 && k >= i-4; k-- {
		if r.isNamed(k) && !r.chunks[k].used {
			if col, s := r.asColumn(k, r.currentTable(k), calendar); col >= 0 && s >= 0.42 {
				r.markUsed(k)
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
	if tables[0] < 0 {
		return -1, 0
	}
	return r.linkedCalendar(tables[0])
}

// linkedCalendar finds the date of rows that have none of their own: that of the rows that they
// belong to, else the only one of the tables that are linked.
func (r *reader) linkedCalendar(t int) (int, float64) {
	if dates := r.x.parentDates(t); len(dates) > 0 {
		key := fmt.Sprintf("d%d", t)
		if id, ok := r.chosenOption(key); ok {
			return id, 0.6
		}
		r.offerChoice(choice{key: key, about: "when", options: r.columnOptions(dates), picked: dates[0]})
		return dates[0], 0.6
	}
	found, count := -1, 0
	for o := range r.x.tables {
		if len(r.x.schema.Between(r.x.tableName(o), r.x.tableName(t))) > 0 {
			if col, n := r.onlyCalendar(o); n == 1 {
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

// onlyCalendar returns the date of a table and how many it has. Where there are
// several, the person is asked.
func (r *reader) onlyCalendar(t int) (int, int) {
	var found []int
	for _, id := range r.x.tables[t].columns {
		if r.x.columns[id].isCalendar() {
			found = append(found, id)
		}
	}
	if len(found) == 0 {
		return -1, 0
	}
	key := fmt.Sprintf("d%d", t)
	if id, ok := r.chosenOption(key); ok {
		return id, 1
	}
	if id := r.dateOfVerb(t, found); id >= 0 && len(found) > 1 {
		return id, 1
	}
	if id, said := r.x.chosenDates[t]; said && slices.Contains(found, id) {
		return id, 1
	}
	r.offerChoice(choice{key: key, about: "when", options: r.columnOptions(found), picked: found[0]})
	return found[0], len(found)
}

// dateOfVerb finds the one of several dates that a verb speaks of: shipped in May is
// a ship date, orders placed in May have an order date.
func (r *reader) dateOfVerb(t int, dates []int) int {
	core := r.x.tables[t].core
	best, at := -1, -1
	pick := func(i, id int) bool {
		if best >= 0 && best != id {
			return false
		}
		best, at = id, i
		return true
	}
	for i := range r.chunks {
		tok := &r.toks[r.chunks[i].from]
		if r.chunks[i].to != r.chunks[i].from+1 || tok.quoted || !isPastParticiple(tok) {
			continue
		}
		for _, id := range dates {
			for _, w := range r.x.columns[id].words {
				up := r.chunks[i].to < len(r.toks) && w == tok.stem+r.toks[r.chunks[i].to].lower // signed up: signup date
				if !whenWords[w] && (up || stem(w) == tok.stem && len(tok.stem) > 2) && !pick(i, id) {
					return -1
				}
			}
		}
		if best >= 0 || !begins[tok.lower] {
			continue
		}
		for _, id := range dates {
			rest := slices.DeleteFunc(withoutWords(r.x.columns[id].words, core), func(w string) bool { return whenWords[w] })
			if (len(rest) == 0 || len(rest) == 1 && births[rest[0]]) && !pick(i, id) {
				return -1
			}
		}
	}
	if best >= 0 && r.chunks[at].role == rWord {
		r.markUsed(at)
	}
	return best
}

// isPastParticiple reports whether a token is a verb form that tells what happened
// to a row.
func isPastParticiple(t *token) bool {
	return strings.HasSuffix(t.lower, "ed") || begins[t.lower] || irregularDone[t.lower]
}

var (
	// whenWords only say that a column is a date.
	whenWords = wordSet("date day time at on timestamp year month datetime")
	// begins are verbs for the beginning of a row's life.
	begins = wordSet("placed made created issued opened received recorded came booked registered raised submitted posted written sent entered filed added arrived started")
	// births are words of columns that keep that beginning.
	births = wordSet("created create creation added entered entry opened recorded registered submitted raised received issued issue posted")
)

// readDatedComparison compares with a period: before March 2024.
func (r *reader) readDatedComparison(i, j int, op queryplan.Operator) {
	col, s := -1, 0.0
	if left := r.subjectOf(i); left >= 0 {
		if c, cs := r.asColumn(left, r.nearTable(left), (*column).isCalendar); c >= 0 {
			col, s = c, cs
			r.markUsed(left)
		}
	}
	if col < 0 {
		col, s = r.calendarColumn(i)
	}
	if col < 0 || !r.x.columns[col].date {
		return
	}
	p := r.chunks[j].period
	k := r.nextChunk(j)
	if m := r.nextChunk(k); op == queryplan.Between && r.hasRole(k, rAnd) && r.hasRole(m, rPeriod) {
		p.until = r.chunks[m].period.until
		r.markUsed(k, m)
	}
	r.compareWithPeriod(col, op, p, i, s)
	r.markUsed(i, j)
}

// readBarePeriod reads `in March 2024`, `last month`.
func (r *reader) readBarePeriod(i int) {
	col, s := -1, 0.0
	if left := r.subjectOf(i); left >= 0 {
		if c, cs := r.asColumn(left, r.nearTable(left), func(c *column) bool { return c.date }); c >= 0 {
			col, s = c, cs
			r.markUsed(left)
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
	k := r.nextChunk(i)
	if m := r.nextChunk(k); k >= 0 && (r.toks[r.chunks[k].from].lower == "to" || r.hasRole(k, rAnd)) && r.hasRole(m, rPeriod) {
		if next := r.chunks[m].period; r.hasRole(k, rAnd) && !p.until.Equal(next.from) {
			r.lost = append(r.lost, r.chunkText(&r.chunks[m])) // December and March are not the months between
		}
		p.until = r.chunks[m].period.until
		r.markUsed(k, m)
	}
	r.compareWithPeriod(col, op, p, i, s)
	r.markUsed(i)
}

var unitWords = map[string]queryplan.Unit{
	"year": "year", "yearly": "year", "annually": "year", "annual": "year", "quarter": "quarter", "quarterly": "quarter", "month": "month", "monthly": "month",
	"week": "week", "weekly": "week", "day": "day", "daily": "day", "hour": "hour", "hourly": "hour",
}
