package sourcetest

import (
	"cmp"
	"fmt"
	"math/big"
	"strings"

	"interlock/internal/schema"
)

// Matches gives the ids of the rows under a condition, worked out by hand. Values in
// conditions of the suite have the canonical form of their column.
func Matches(rows []Row, c schema.Condition) []int64 {
	col := 0
	for i, column := range Columns {
		if column.Name == c.Column {
			col = i
		}
	}
	var ids []int64
	for _, r := range rows {
		if cell := r.Cells()[col]; cell != nil && holds(Columns[col].Type.Kind, c, cell) {
			ids = append(ids, r.ID)
		}
	}
	return ids
}

func holds(k schema.Kind, c schema.Condition, cell any) bool {
	order := func(v any) int { return compare(k, cell, v) }
	switch c.Op {
	case schema.Eq:
		return order(c.Value) == 0
	case schema.Neq:
		return order(c.Value) != 0
	case schema.Gt:
		return order(c.Value) > 0
	case schema.Gte:
		return order(c.Value) >= 0
	case schema.Lt:
		return order(c.Value) < 0
	case schema.Lte:
		return order(c.Value) <= 0
	case schema.Between:
		pair := c.Value.([]any)
		return order(pair[0]) >= 0 && order(pair[1]) <= 0
	case schema.In:
		for _, v := range c.Value.([]any) {
			if order(v) == 0 {
				return true
			}
		}
		return false
	}
	return like([]rune(cell.(string)), []rune(c.Value.(string)))
}

func compare(k schema.Kind, a, b any) int {
	switch k {
	case schema.Int, schema.Decimal, schema.Float:
		return number(a).Cmp(number(b))
	case schema.Bool:
		return cmp.Compare(fmt.Sprint(a), fmt.Sprint(b))
	}
	return strings.Compare(a.(string), b.(string))
}

func number(v any) *big.Rat {
	r, ok := new(big.Rat).SetString(fmt.Sprint(v))
	if !ok {
		panic(fmt.Sprintf("%v is no number", v))
	}
	return r
}

func like(s, pattern []rune) bool {
	switch {
	case len(pattern) == 0:
		return len(s) == 0
	case pattern[0] == '%':
		for i := range len(s) + 1 {
			if like(s[i:], pattern[1:]) {
				return true
			}
		}
		return false
	case len(s) == 0:
		return false
	}
	return (pattern[0] == '_' || pattern[0] == s[0]) && like(s[1:], pattern[1:])
}

// Conditions are every operator on every type, with values that hit and miss.
func Conditions() []schema.Condition {
	var all []schema.Condition
	probes := map[string][]any{
		"name":  {"alpha", "Beta", "", `back\slash`, "O'Brien", "Ärger", "😀 smile", "nobody", "'; DROP TABLE data; --"},
		"qty":   {0, -10, 7, 12.5, "9007199254740992", "9007199254740993"},
		"price": {"-0.05", "119.13", "0.00", "119.135", "9999999999.99"},
		"ratio": {0, 1.125, -2, "0.1"},
		"paid":  {true, false},
		"day":   {"2024-03-11", "2024-12-28", "2023-01-01"},
		"made":  {"2024-03-01 00:00:00.000000", "2024-03-02 07:11:17.250001", "2024-03-02 07:11:17.250000", "2024-03-28 23:59:59.000000"},
		"seen":  {"2024-03-04 05:13:19.000001", "2024-03-04 05:13:19.000000", "2024-03-20 12:00:00.000000"},
		"key":   {"00000000-0000-4000-8000-000000000000", "9e3779b1-0000-4000-8000-000000000001", "ffffffff-ffff-ffff-ffff-ffffffffffff"},
	}
	patterns := []any{"alpha", "%a", "Al%", "_lpha", "be_a", "%%", "", `back\%`, "%\\%", "x*y", "x?_", "[x]", "a|_", "%[%", "_ smile", "%'%", "ä%", "ALPHA%"}
	for _, c := range Columns {
		values := probes[c.Name]
		for _, op := range schema.OpsFor(c.Type) {
			switch op {
			case schema.Between:
				for i := range values {
					all = append(all, schema.Condition{Column: c.Name, Op: op, Value: []any{values[0], values[i]}}, schema.Condition{Column: c.Name, Op: op, Value: []any{values[i], values[len(values)-1]}})
				}
			case schema.In:
				if len(values) > 0 {
					all = append(all, schema.Condition{Column: c.Name, Op: op, Value: values}, schema.Condition{Column: c.Name, Op: op, Value: values[:1]})
				}
			case schema.Like:
				for _, p := range patterns {
					all = append(all, schema.Condition{Column: c.Name, Op: op, Value: p})
				}
			default:
				for _, v := range values {
					all = append(all, schema.Condition{Column: c.Name, Op: op, Value: v})
				}
			}
		}
	}
	return all
}
