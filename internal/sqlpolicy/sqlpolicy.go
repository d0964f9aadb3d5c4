// Package sqlpolicy decides whether a statement may run and says what it touches.
// It decides on the tree that the engine's own parser made, walked in full, and
// denies what it does not know.
package sqlpolicy

import "interlock/internal/schema"

// A Table is a table that a statement may touch. It is not a schema.Table: statements are
// judged by names alone, and the list crosses to the workers of SQLite, where types, notes
// and sample rows have no business.
type Table struct {
	Name    string
	Columns []string
}

// A Decision is the answer for an allowed statement. A refusal is a *fault.Fault
// with code SQL_POLICY_VIOLATION whose details are a Refusal.
type Decision struct {
	SQL       string   // what to run: the text given, with dataset qualifiers removed
	Touches   []Touch  // base tables and the columns read of each
	Functions []string // every function called, sorted
	Volatile  bool     // random, now, sample: another run may differ
	HasLimit  bool     // the outermost query names a limit; OFFSET alone, LIMIT ALL and LIMIT NULL are none
	Limit     int64    // the rows of that limit; NoNumber if they are not a plain number
	HasOrder  bool     // the outermost query names an order
	// Form is the same for two wordings of one statement; "" where another engine runs it.
	Form string
	// Lineage says what feeds each column of the result, in order; nil where the embedded
	// engine's parser cannot read the statement, and in SQLite.
	Lineage []schema.Lineage
}

// NoNumber is the limit of a statement whose LIMIT is an expression, a share of the rows,
// or WITH TIES: it says nothing about how many rows there are at most.
const NoNumber = -1

// A Touch is a table with the columns read of it.
type Touch struct {
	Table   string   `json:"table"`
	Columns []string `json:"columns"`
}

// A Refusal names the rule, the place and what to do instead.
type Refusal struct {
	Rule     string `json:"rule"`
	Place    string `json:"place,omitempty"` // the part of the text
	Position int    `json:"position,omitempty"`
	Instead  string `json:"instead"`
}
