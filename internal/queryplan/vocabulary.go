package queryplan

import "slices"

// The closed sets of words that a plan is written in. plan.schema.json lists the
// same; a test holds them together.
type (
	// A JoinKind says which rows without a partner stay.
	JoinKind string
	// A Function condenses (aggregates) or changes (scalars) values.
	Function string
	// A Part is a number taken out of a date.
	Part string
	// A Unit is a step of the calendar.
	Unit string
	// A Cast reads a value as another type; what cannot be read is NULL.
	Cast string
	// A MathOperator joins two values.
	MathOperator string
	// An Operator compares.
	Operator string
	// A Direction sorts.
	Direction string
	// A SetOperation combines the rows of two plans.
	SetOperation string
)

// The words.
const (
	Inner JoinKind = "inner"
	Left  JoinKind = "left"

	Count         Function = "count"
	CountDistinct Function = "count_distinct"
	Sum           Function = "sum"
	Avg           Function = "avg"
	Min           Function = "min"
	Max           Function = "max"
	Median        Function = "median"
	StdDev        Function = "stddev"
	Share         Function = "share"   // of the total over all groups, 0 to 1
	Percent       Function = "percent" // the same, 0 to 100
	Lower         Function = "lower"
	Upper         Function = "upper"
	Length        Function = "length"
	Abs           Function = "abs"
	Round         Function = "round"

	ToNumber Cast = "number"
	ToDate   Cast = "date"
	ToText   Cast = "text"

	Eq            Operator = "="
	Ne            Operator = "!="
	Lt            Operator = "<"
	Le            Operator = "<="
	Gt            Operator = ">"
	Ge            Operator = ">="
	In            Operator = "in"
	NotIn         Operator = "not_in"
	Between       Operator = "between"
	NotBetween    Operator = "not_between"
	Like          Operator = "like"
	NotLike       Operator = "not_like"
	Contains      Operator = "contains" // this and the next three ignore case
	NotContains   Operator = "not_contains"
	StartsWith    Operator = "starts_with"
	EndsWith      Operator = "ends_with"
	EqualsAnyCase Operator = "equals_any_case"
	IsNull        Operator = "is_null"
	IsNotNull     Operator = "is_not_null"
	InPeriod      Operator = "in_period" // 2024, 2024-Q3, 2024-09, 2024-W37, 2024-09-15

	Asc  Direction = "asc"
	Desc Direction = "desc"

	Add      MathOperator = "+"
	Subtract MathOperator = "-"
	Multiply MathOperator = "*"
	Divide   MathOperator = "/" // by zero is NULL
	DateDiff MathOperator = "date_diff"

	Union     SetOperation = "union"
	UnionAll  SetOperation = "union_all"
	Intersect SetOperation = "intersect"
	Except    SetOperation = "except"
)

var (
	joinKinds     = []JoinKind{Inner, Left}
	aggregates    = []Function{Count, CountDistinct, Sum, Avg, Min, Max, Median, StdDev, Share, Percent}
	scalars       = []Function{Lower, Upper, Length, Abs, Round}
	parts         = []Part{"year", "quarter", "month", "week", "day", "weekday", "hour"}
	units         = []Unit{"year", "quarter", "month", "week", "day", "hour"}
	casts         = []Cast{ToNumber, ToDate, ToText}
	mathOperators = []MathOperator{Add, Subtract, Multiply, Divide, DateDiff}
	operators     = []Operator{
		Eq, Ne, Lt, Le, Gt, Ge, In, NotIn, Between, NotBetween, Like, NotLike, Contains, NotContains,
		StartsWith, EndsWith, EqualsAnyCase, IsNull, IsNotNull, InPeriod,
	}
	directions    = []Direction{Asc, Desc}
	setOperations = []SetOperation{Union, UnionAll, Intersect, Except}
)

func (f Function) aggregate() bool { return slices.Contains(aggregates, f) }

func (f Function) known() bool { return f.aggregate() || slices.Contains(scalars, f) }
