package source

import (
	"fmt"
	"slices"
	"strings"

	"interlock/internal/fault"
	"interlock/internal/schema"
)

// Limits of a filter.
const (
	maxConditions = 50
	maxListed     = 1000
	maxText       = 10_000
)

// A Problem is one thing wrong with a filter; the details of a bad_filter fault are a list of them.
type Problem struct {
	Condition int         `json:"condition"` // its index
	Column    string      `json:"column"`
	Reason    string      `json:"reason"`
	Columns   []string    `json:"columns,omitempty"` // the valid ones, nearest first
	Ops       []schema.Op `json:"ops,omitempty"`     // those that fit the column
}

// CheckFilter says whether the filter fits the columns: nil, or a bad_filter fault that
// lists every problem.
func CheckFilter(f schema.Filter, columns []schema.Column) error {
	_, err := bindFilter(f, columns)
	return err
}

// bindFilter checks the filter and turns it into predicates over typed values.
func bindFilter(f schema.Filter, columns []schema.Column) ([]predicate, error) {
	if len(f.Conditions) > maxConditions {
		return nil, fault.New(fault.BadFilter, "a filter has at most %d conditions, this one %d", maxConditions, len(f.Conditions))
	}
	var (
		predicates []predicate
		problems   []Problem
	)
	for i, c := range f.Conditions {
		p, problem := bindCondition(c, columns)
		if problem != nil {
			problem.Condition = i
			problems = append(problems, *problem)
			continue
		}
		predicates = append(predicates, p)
	}
	if len(problems) == 0 {
		return predicates, nil
	}
	return nil, newBadFilter(problems)
}

func bindCondition(c schema.Condition, columns []schema.Column) (predicate, *Problem) {
	column, ok := schema.FindColumn(columns, c.Column)
	if !ok {
		near := fault.Nearest(c.Column, schema.Names(columns))
		return predicate{}, &Problem{
			Column: c.Column, Columns: near,
			Reason: fmt.Sprintf("there is no column %q; the columns are %s", c.Column, enumerate(near)),
		}
	}
	ops := schema.OpsFor(column.Type)
	if !slices.Contains(ops, c.Op) {
		reason := fmt.Sprintf("column %q is %s (%s), which %q does not fit", column.Name, column.Type.Describe(), column.Type, c.Op)
		if !slices.Contains(schema.Ops, c.Op) {
			reason = fmt.Sprintf("there is no operator %q (column %q)", c.Op, column.Name)
		}
		if len(ops) == 0 {
			reason += "; it cannot be filtered"
		} else {
			reason += "; it takes " + enumerate(ops)
		}
		return predicate{}, &Problem{Column: column.Name, Ops: ops, Reason: reason}
	}
	p, err := bindValue(column, c.Op, c.Value)
	if err != nil {
		return predicate{}, &Problem{Column: column.Name, Ops: ops, Reason: fmt.Sprintf("column %q, %s: %s", column.Name, c.Op, err)}
	}
	return p, nil
}

func newBadFilter(problems []Problem) error {
	reasons := make([]string, len(problems))
	for i, p := range problems {
		reasons[i] = p.Reason
	}
	f := fault.New(fault.BadFilter, "%s", strings.Join(reasons, "; and ")).With(problems)
	if near := problems[0].Columns; len(near) > 0 {
		f = f.Suggest("Did you mean %q?", near[0])
	}
	return f
}

// enumerate lists up to 20 names.
func enumerate[T ~string](names []T) string {
	if len(names) == 0 {
		return "none"
	}
	shown := make([]string, 0, 20)
	for _, n := range names[:min(20, len(names))] {
		shown = append(shown, string(n))
	}
	text := strings.Join(shown, ", ")
	if more := len(names) - len(shown); more > 0 {
		text += fmt.Sprintf(" and %d more", more)
	}
	return text
}
