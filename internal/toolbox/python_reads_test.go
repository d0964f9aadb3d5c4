package toolbox

import (
	"slices"
	"testing"
)

func TestTablesInCode(t *testing.T) {
	tables := []string{"orders", "order items", "north", "orders"}
	for code, want := range map[string][]string{
		"print(48211.37)":                               {},
		"# orders\nprint(48211.37)":                     {},
		`print("orders: 48211.37")`:                     {},
		`x = """about orders"""`:                        {},
		"result_df = orders.groupby('city').sum()":      {"orders"},
		`tables["order items"].sum()`:                   {"order items"},
		`print(f"{orders['amount'].sum():.2f} of all")`: {"orders"},
		`query("SELECT sum(amount) FROM orders")`:       {"orders"},
		"total = north.revenue.sum() + len(orders)":     {"orders", "north"},
		"orders_total = 48211.37":                       {},
		"print('it''s') # orders":                       {},
	} {
		if got := TablesInCode(code, tables); !slices.Equal(got, want) {
			t.Errorf("%s\nreads %v, want %v", code, got, want)
		}
	}
}
