// Package queryplan is the query plan: a question to tables as data. A plan is
// parsed strictly, validated against a schema with every problem at once, and
// compiled to SQL deterministically: the same plan gives the same text, byte for
// byte. Names come out of the schema and values out of escaped literals, so that a
// hostile plan cannot say more than a plan can say. The package is pure.
package queryplan

import "encoding/json"

// DefaultLimit is how many rows whoever runs a plan without a limit reads. It is no
// part of the SQL, so that the reader can tell whether there are more.
const DefaultLimit = 200

// AllRows as a limit wants all rows, as many as whoever runs the plan may return.
const AllRows = -1

// A Plan is one query. Its parts apply in the order of SQL: tables and joins,
// filters, grouping, having, select, distinct, top, order, limit.
type Plan struct {
	DatasetID string `json:"dataset_id,omitempty"`
	// Table is where rows come from; From is a plan to take them from instead, whose
	// columns are the names that it selects.
	Table string `json:"table,omitempty"`
	Alias string `json:"alias,omitempty"`
	From  *Plan  `json:"from,omitempty"`

	Joins    []Join    `json:"joins,omitempty"`
	Distinct bool      `json:"distinct,omitempty"`
	Select   []Expr    `json:"select"`
	Filters  []Filter  `json:"filters,omitempty"`
	GroupBy  []Term    `json:"group_by,omitempty"`
	Having   []Filter  `json:"having,omitempty"`
	Top      *Top      `json:"top,omitempty"`
	Combine  []Combine `json:"combine,omitempty"`
	OrderBy  []Order   `json:"order_by,omitempty"`
	// Limit is a part of the question: the first so many rows. 0 and AllRows set none.
	Limit int `json:"limit,omitempty"`
	// Offset is how many rows of the order come before those: 1 with a limit of 1 is the second.
	Offset int `json:"offset,omitempty"`
}

// A Join adds a table. Without On it follows the one relation of the schema that
// links the table to those before it.
type Join struct {
	Table string   `json:"table"`
	Alias string   `json:"alias,omitempty"`
	Kind  JoinKind `json:"kind,omitempty"` // inner when empty
	On    []Pair   `json:"on,omitempty"`
}

// A Pair is two columns that must be equal: Left of an earlier table, Right of the
// joined one.
type Pair struct {
	Left  string `json:"left"`
	Right string `json:"right"`
}

// An Expr is a value: a column, a literal, arithmetic, or a function of one of them, or a
// metric of the dataset. Its parts apply from the inside out: column, literal, of or math;
// then replace; then cast; then part or truncate; then function.
type Expr struct {
	// Metric names a metric that the meaning of the dataset declares; its expression takes
	// its place when the plan is compiled.
	Metric  string          `json:"metric,omitempty"`
	Column  string          `json:"column,omitempty"`
	Literal json.RawMessage `json:"literal,omitempty"`
	Of      *Expr           `json:"of,omitempty"`
	Math    *Math           `json:"math,omitempty"`
	// Replace gives texts that stand for one thing the same value, before anything else happens to them.
	Replace  []Replacement `json:"replace,omitempty"`
	Cast     Cast          `json:"cast,omitempty"`
	Part     Part          `json:"part,omitempty"`
	Truncate Unit          `json:"truncate,omitempty"`
	Function Function      `json:"function,omitempty"`
	// Where counts only the rows that pass, for this aggregate alone.
	Where []Filter `json:"where,omitempty"`
	Alias string   `json:"alias,omitempty"`
}

// A Replacement is a text and the texts that are taken for it.
type Replacement struct {
	Value     string   `json:"value"`
	Spellings []string `json:"spellings"`
}

// Math is arithmetic between two values, or the distance between two dates.
type Math struct {
	Operator MathOperator `json:"operator"`
	Left     Expr         `json:"left"`
	Right    Expr         `json:"right"`
	Unit     Unit         `json:"unit,omitempty"` // of date_diff
}

// A Filter keeps rows (or groups, in Having). It is a comparison, or several
// filters under Any, All or Not.
type Filter struct {
	Expr
	Operator Operator        `json:"operator,omitempty"`
	Value    json.RawMessage `json:"value,omitempty"`
	Other    *Expr           `json:"other,omitempty"` // compare with another value of the row
	Plan     *Plan           `json:"plan,omitempty"`  // compare with the result of a plan
	Any      []Filter        `json:"any,omitempty"`
	All      []Filter        `json:"all,omitempty"`
	Not      *Filter         `json:"not,omitempty"`
}

// An Order sorts by a selected alias, a column or an expression.
type Order struct {
	Expr
	Direction Direction `json:"direction,omitempty"` // asc when empty
	Nulls     string    `json:"nulls,omitempty"`     // first, last; the engine's default when empty
}

// Top keeps the first N rows of each group of Per.
type Top struct {
	N       int     `json:"n"`
	Per     []Term  `json:"per"`
	OrderBy []Order `json:"order_by"`
	Ties    bool    `json:"ties,omitempty"` // rows equal to the last one stay too
}

// Combine is a set operation with another plan of as many columns.
type Combine struct {
	Operation SetOperation `json:"operation"`
	Plan      Plan         `json:"plan"`
}

// A Term is an Expr that may be written as the bare name of a column.
type Term struct{ Expr }

// UnmarshalJSON reads a name or an object.
func (t *Term) UnmarshalJSON(raw []byte) error {
	if len(raw) > 0 && raw[0] == '"' {
		return json.Unmarshal(raw, &t.Column)
	}
	return json.Unmarshal(raw, &t.Expr)
}

// MarshalJSON writes a bare column as its name.
func (t Term) MarshalJSON() ([]byte, error) {
	if t.plain() {
		return json.Marshal(t.Column)
	}
	return json.Marshal(t.Expr)
}

// plain says whether e is nothing but a column, perhaps with an alias.
func (e Expr) plain() bool {
	return e.Column != "" && e.Metric == "" && e.Literal == nil && e.Of == nil && e.Math == nil && len(e.Replace) == 0 && e.Cast == "" && e.Part == "" && e.Truncate == "" && e.Function == ""
}

// Aggregate says whether e condenses many rows into one value.
func (e Expr) Aggregate() bool {
	switch {
	case e.Function.aggregate(), e.Metric != "":
		return true
	case e.Of != nil && e.Of.Aggregate():
		return true
	}
	return e.Math != nil && (e.Math.Left.Aggregate() || e.Math.Right.Aggregate())
}

// Col is an Expr that is a column.
func Col(name string) Expr { return Expr{Column: name} }

// By is a Term that is a column.
func By(name string) Term { return Term{Col(name)} }

// Literal is v as a plan writes it.
func Literal(v any) json.RawMessage {
	raw, err := json.Marshal(v)
	if err != nil {
		panic("queryplan: a literal that is not JSON: " + err.Error())
	}
	return raw
}
