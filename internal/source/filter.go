package source

import (
	"bytes"
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"interlock/internal/fault"
)

// Op is how a column is compared with a value.
type Op string

// The operators.
const (
	Eq      Op = "eq"
	Neq     Op = "neq"
	Gt      Op = "gt"
	Gte     Op = "gte"
	Lt      Op = "lt"
	Lte     Op = "lte"
	Between Op = "between" // both ends included
	In      Op = "in"
	Like    Op = "like" // % is any text, _ one character, everything else itself
)

// Ops lists every operator.
var Ops = []Op{Eq, Neq, Gt, Gte, Lt, Lte, Between, In, Like}

// A Condition compares a column with a value. The value is a string, a number or
// a boolean; a list for In; a pair for Between.
type Condition struct {
	Column string `json:"column"`
	Op     Op     `json:"op"`
	Value  any    `json:"value"`
}

// A Filter is conditions that hold together; none means all rows.
//
// It means the same in every connector. Text is compared by its code points: case
// counts, also in Like, and no collation has a say. NULL matches nothing, not even
// Neq. Times are compared in UTC: a value without a zone is read as UTC, and a
// date where a point in time is wanted is its first moment. Exact numbers are
// compared exactly, however many digits the value has.
type Filter struct {
	Conditions []Condition `json:"conditions"`
}

// UnmarshalJSON keeps numbers as they are written, so that no digit is lost.
func (c *Condition) UnmarshalJSON(data []byte) error {
	type plain Condition
	dec := json.NewDecoder(bytes.NewReader(data))
	dec.UseNumber()
	dec.DisallowUnknownFields()
	return dec.Decode((*plain)(c))
}

// Limits of a filter.
const (
	maxConditions = 50
	maxListed     = 1000
	maxText       = 10_000
)

// A Problem is one thing wrong with a filter; the details of a bad_filter fault are a list of them.
type Problem struct {
	Condition int      `json:"condition"` // its index
	Column    string   `json:"column"`
	Reason    string   `json:"reason"`
	Columns   []string `json:"columns,omitempty"` // the valid ones, nearest first
	Ops       []Op     `json:"ops,omitempty"`     // those that fit the column
}

// OpsFor lists the operators that fit a type.
func OpsFor(t Type) []Op {
	switch t.Kind {
	case Bool, UUID:
		return []Op{Eq, Neq, In}
	case Int, Uint, Float, Decimal, Date, Time, Timestamp, TimestampTZ:
		return []Op{Eq, Neq, Gt, Gte, Lt, Lte, Between, In}
	case Text:
		return slices.Clone(Ops)
	}
	return nil
}

// Check says whether the filter fits the columns: nil, or a bad_filter fault that
// lists every problem.
func (f Filter) Check(columns []Column) error {
	_, err := f.bind(columns)
	return err
}

// bind checks the filter and turns it into predicates over typed values.
func (f Filter) bind(columns []Column) ([]predicate, error) {
	if len(f.Conditions) > maxConditions {
		return nil, fault.New(fault.BadFilter, "a filter has at most %d conditions, this one %d", maxConditions, len(f.Conditions))
	}
	var (
		predicates []predicate
		problems   []Problem
	)
	for i, c := range f.Conditions {
		p, problem := c.bind(columns)
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
	return nil, refusal(problems)
}

func (c Condition) bind(columns []Column) (predicate, *Problem) {
	column, ok := find(columns, c.Column)
	if !ok {
		near := Nearest(c.Column, Names(columns))
		return predicate{}, &Problem{
			Column: c.Column, Columns: near,
			Reason: fmt.Sprintf("there is no column %q; the columns are %s", c.Column, enumerate(near)),
		}
	}
	ops := OpsFor(column.Type)
	if !slices.Contains(ops, c.Op) {
		reason := fmt.Sprintf("column %q is %s (%s), which %q does not fit", column.Name, column.Type.words(), column.Type, c.Op)
		if !slices.Contains(Ops, c.Op) {
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

func refusal(problems []Problem) error {
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
