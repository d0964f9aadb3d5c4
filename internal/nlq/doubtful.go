package nlq

import (
	"fmt"
	"slices"

	"interlock/internal/queryplan"
)

// doubtful is the reason why a reading by the grammar of sentences is not shown although it is sure: it does what
// the words of a question hardly ever ask for. It is "" where there is none.
func (x *Index) doubtful(r *reader, p *queryplan.Plan) string {
	for _, f := range allFilters(p) {
		if id := x.columnOf(p, queryplan.Expr{Column: f.Column}); id >= 0 && directionOf(f.Operator) != 0 && f.Plan == nil && (x.columns[id].key || x.columns[id].ref >= 0) {
			return fmt.Sprintf("it is not clear what is compared: %s only names a row", humanName(x.columns[id].name))
		}
	}
	for _, e := range p.Select {
		if id := x.columnOf(p, queryplan.Expr{Column: e.Column}); id >= 0 && e.Function == queryplan.CountDistinct && isNumericColumn(&x.columns[id]) && !x.columns[id].isCalendar() {
			return fmt.Sprintf("it is not clear whether %s is asked for or how many of them there are", humanName(x.columns[id].name))
		}
	}
	if t := r.countedRows(); t >= 0 && x.tableName(t) != p.Table && len(p.Select) == 1 && p.Select[0].Function == queryplan.Count && p.Select[0].Column == "" && p.From == nil {
		return fmt.Sprintf("it is not clear whether %s are counted or the %s that they belong to", plural(humanName(x.tableName(t))), plural(humanName(p.Table)))
	}
	if date := x.halfNamedDate(r, p); date != "" {
		return fmt.Sprintf("it is not clear which date is meant: %s is not named", date)
	}
	return ""
}

// countedRows is the table whose rows `how many` asks for, or -1.
func (r *reader) countedRows() int {
	for i := range r.chunks {
		if !r.hasRole(i, rCount) {
			continue
		}
		for n := r.nextChunk(i); n >= 0 && r.hasRole(n, rMention); n = r.nextChunk(n) {
			if t, s := r.asTable(n); t >= 0 && s >= 0.8 && !r.chunks[n].isValue {
				return t
			}
			if !r.chunks[n].isValue {
				break
			}
		}
	}
	return -1
}

// halfNamedDate is the date of the listed or counted rows that a period was taken to be about where other rows are
// spoken of as well and the question does not say all of its name: guests who stayed there in May have not all come
// first in May.
func (x *Index) halfNamedDate(r *reader, p *queryplan.Plan) string {
	if !slices.ContainsFunc(p.Filters, func(f queryplan.Filter) bool { return f.Plan != nil }) {
		return ""
	}
	for _, f := range p.Filters {
		id := x.columnOf(p, queryplan.Expr{Column: f.Column})
		if f.Plan != nil || id < 0 || !x.columns[id].date || f.Operator == queryplan.IsNull || f.Operator == queryplan.IsNotNull {
			continue
		}
		if slices.ContainsFunc(x.columns[id].words, func(w string) bool {
			return !columnTail[w] && !slices.ContainsFunc(r.toks, func(t token) bool { return sameWord(&t, w) > 0 })
		}) {
			return humanName(x.columns[id].name)
		}
	}
	return ""
}
