// Package lift reads a SELECT statement as a query plan, whoever wrote it and in whichever
// dialect, so that one judge can compare what ran with what was asked. The plan is for
// reading, not for running: what changes only how a value is written (ROUND, COALESCE,
// CAST, brackets) is passed over. What a plan cannot say is an error. The package is pure.
package lift

import (
	"errors"
	"fmt"

	"interlock/internal/queryplan"
	"interlock/internal/schema"
)

// Bounds of a statement.
const (
	maxBytes = 100_000
	maxDepth = 60
)

// ErrNotLiftable is the cause of every error: the statement may be right, but is no plan.
var ErrNotLiftable = errors.New("the statement cannot be read as a plan")

// Plan reads a statement over the tables of a dataset.
func Plan(statement string, d schema.Dataset) (p *queryplan.Plan, err error) {
	defer func() {
		switch r := recover().(type) {
		case nil:
		case notLiftable:
			p, err = nil, fmt.Errorf("%w: %s", ErrNotLiftable, string(r))
		default:
			panic(r)
		}
	}()
	if len(statement) > maxBytes {
		refuse("it is longer than %d bytes", maxBytes)
	}
	r := &parser{tokens: tokenise(statement)}
	tree := r.statement()
	if t := r.peek(); t.kind != endToken {
		refuse("%q is not expected", t.text)
	}
	l := &lifter{dataset: d, with: map[string]*selection{}}
	return l.plan(tree, nil), nil
}

// notLiftable is the panic that Plan turns into its error.
type notLiftable string

func refuse(format string, args ...any) { panic(notLiftable(fmt.Sprintf(format, args...))) }
