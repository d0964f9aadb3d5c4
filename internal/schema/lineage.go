package schema

import "slices"

// A Lineage says what feeds a column of a result: what of the data, and which numbers that
// stand in the statement itself.
type Lineage struct {
	Column string `json:"column"` // "*" stands for all columns that have no entry of their own
	// Reads are the columns of tables that its values come from, as table.column; a table
	// alone stands for its rows, which are counted. Without any, the statement made the
	// column of constants.
	Reads []string `json:"reads,omitempty"`
	// Constants are numbers of the statement that may come out as they are.
	Constants []string `json:"constants,omitempty"`
	// Factors are numbers of the statement with which its values are computed, but for
	// factors and divisors that change a unit, such as 100, and the whole of 1 - share.
	Factors []string `json:"factors,omitempty"`
}

// unitChanges are shares, thousands, bytes and times, and numbers that change nothing.
var unitChanges = []float64{0, 1, -1, 100, 0.01, 1000, 0.001, 1e6, 1e9, 1024, 1 << 20, 1 << 30, 60, 24, 3600, 86_400}

// ChangesUnit says that a factor or a divisor changes the unit of a value at most. A number
// that is added changes the value, whatever it is.
func ChangesUnit(number float64) bool { return slices.Contains(unitChanges, number) }

// IsWhole says that a number is what shares are taken of: 1 - share is the rest.
func IsWhole(number float64) bool { return number == 1 || number == 100 }
