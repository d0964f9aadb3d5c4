package nlq

import (
	"time"

	"interlock/internal/queryplan"
)

// FeatureNames are the names of the features of a reading.
func FeatureNames() []string {
	var names []string
	for _, f := range features {
		names = append(names, f.name)
	}
	return names
}

// FeatureValues are the features of one reading, nil where there is no plan.
func FeatureValues(x *Index, text string, now time.Time) []float64 {
	g := readQuestion(x, text, now, nil)
	if g.plan == nil {
		return nil
	}
	var out []float64
	for _, f := range features {
		out = append(out, f.value(&evidence{g.r, g.plan}))
	}
	return out
}

// DefinitionSQL is the statement that a term of the glossary is computed with, or the part of its
// definition that is not read.
func (x *Index) DefinitionSQL(term string) (sql, unread string) {
	d := x.defined[defineKey(term)]
	if d == nil {
		return "", x.unread[term]
	}
	q := newInquiry()
	q.base, q.measures = d.base, []measure{{table: d.base, col: -1, def: d}}
	if !d.isMeasure() {
		q.measures[0] = measure{agg: queryplan.Count, table: d.base, col: -1}
		q.conds = []condition{{table: d.base, def: d, other: -1, col: -1}}
	}
	plan, reason := x.compileInquiry(q)
	if plan == nil {
		return "", reason
	}
	sql, err := plan.SQL(x.schema)
	if err != nil {
		return "", err.Error()
	}
	return sql, ""
}
