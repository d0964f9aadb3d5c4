package source_test

import (
	"encoding/json"
	"fmt"

	"interlock/internal/dialect"
	"interlock/internal/schema"
	"interlock/internal/source"
)

// A filter as a model writes it becomes a statement whose values are bound.
func Example() {
	columns := []schema.Column{
		{Name: "amount", Type: schema.Type{Kind: schema.Decimal, Width: 12, Scale: 2}},
		{Name: "booked", Type: schema.Type{Kind: schema.Date}},
	}
	var f schema.Filter
	if err := json.Unmarshal([]byte(`{"conditions": [
		{"column": "amount", "op": "gt", "value": 100},
		{"column": "booked", "op": "between", "value": ["2024-01-01", "2024-12-31"]}]}`), &f); err != nil {
		fmt.Println(err)
	}
	s, err := source.Where(dialect.PostgreSQL, columns, f)
	fmt.Println(s.Text, s.Args, err)

	f.Conditions[0].Column = "amout"
	fmt.Println(source.CheckFilter(f, columns))
	// Output:
	// "amount" > $1::numeric AND "booked" BETWEEN $2::date AND $3::date [100.00 2024-01-01 2024-12-31] <nil>
	// bad_filter: there is no column "amout"; the columns are amount, booked (Did you mean "amount"?)
}
