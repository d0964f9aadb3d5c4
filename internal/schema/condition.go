package schema

import (
	"bytes"
	"encoding/json"
	"slices"

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

// The operators of kinds whose values are only equal or not, and of those in an order.
var (
	equality = []Op{Eq, Neq, In}
	ordering = []Op{Eq, Neq, Gt, Gte, Lt, Lte, Between, In}
)

// OpsFor lists the operators that fit a type.
func OpsFor(t Type) []Op {
	if int(t.Kind) < len(kinds) {
		return slices.Clone(kinds[t.Kind].ops)
	}
	return nil
}

// A Condition compares a column with a value. The value is a string, a number or
// a boolean; a list for In; a pair for Between.
type Condition struct {
	Column string `json:"column"`
	Op     Op     `json:"op" jsonschema:"eq, neq, gt, gte, lt, lte, between, in or like" doc:"eq, neq, gt, gte, lt, lte, between, in or like"`
	Value  any    `json:"value" doc:"A list for in, a pair for between"`
}

// UnmarshalJSON keeps numbers as they are written, so that no digit is lost.
func (c *Condition) UnmarshalJSON(data []byte) error {
	type plain Condition
	dec := json.NewDecoder(bytes.NewReader(data))
	dec.UseNumber()
	dec.DisallowUnknownFields()
	return dec.Decode((*plain)(c))
}

// ParseConditions reads a JSON list of conditions; nothing and null are none.
func ParseConditions(raw []byte) ([]Condition, error) {
	if len(raw) == 0 || string(raw) == "null" {
		return nil, nil
	}
	var list []Condition
	if err := json.Unmarshal(raw, &list); err != nil {
		return nil, fault.Wrap(err, fault.BadFilter, "the conditions cannot be read: %v", err).
			Suggest(`Give a list such as [{"column": "amount", "op": "gt", "value": 100}].`)
	}
	return list, nil
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
