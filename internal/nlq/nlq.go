// Package nlq reads a question in words against a schema and gives a query plan,
// with a calibrated confidence, the words it understood and did not, and questions
// back where two readings are possible. It knows general English and nothing about
// any particular data: no table, column or value is named in it. No model, no I/O.
package nlq

import (
	"time"

	"interlock/internal/queryplan"
)

// A Question is all that a reading may use.
type Question struct {
	Text       string
	Schema     queryplan.Schema
	Values     []ColumnValues
	Dictionary Dictionary
	// Index spares preparing schema, values and dictionary again; nil makes one.
	Index *Index
	// Now is what `last month` is measured from; the present when zero.
	Now time.Time
}

// An Answer is what became of a question: a plan, a question back, or a reason why
// there is neither.
type Answer struct {
	Plan *queryplan.Plan `json:"plan,omitempty"`
	SQL  string          `json:"sql,omitempty"`
	// Confidence is the probability that the plan says what was asked.
	Confidence float64 `json:"confidence"`
	Declined   string  `json:"declined,omitempty"`
}

// Plan reads a question.
func Plan(q Question) Answer {
	x := q.Index
	if x == nil {
		x = NewIndex(q.Schema, q.Values, q.Dictionary)
	}
	now := q.Now
	if now.IsZero() {
		now = time.Now()
	}
	r := newReader(x, q.Text, now)
	r.read()
	plan, reason := r.build()
	if plan == nil {
		return Answer{Declined: reason}
	}
	if lost := r.missing(); lost != "" {
		return Answer{Declined: lost}
	}
	sql, err := plan.SQL(x.schema)
	if err != nil {
		return Answer{Declined: "no valid plan: " + err.Error(), Plan: plan}
	}
	return Answer{Plan: plan, SQL: sql, Confidence: confidence(&evidence{r, plan})}
}
