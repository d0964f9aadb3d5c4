package llm

import "testing"

// TestTitleOfRows holds that what was typed is named by its columns, without a figure.
func TestTitleOfRows(t *testing.T) {
	const other = "Result of a query"
	for _, tt := range []struct{ rows, want string }{
		{`{"columns":["status","n"],"rows":[["open",3]]}`, "N by status"},
		{`{"columns":["status","count_star()"],"rows":[["open",3]]}`, "Count by status"},
		{`{"columns":["y","city","sum(net_amount)"],"rows":[[2024,"Bonn","12.50"]]}`, "Sum of net amount by y and city"},
		{`{"columns":["status","city"],"rows":[["open","Bonn"]]}`, "Status and city"},
		{`{"columns":["id","n","city"],"rows":[[1,3,"Bonn"]]}`, "Id, n and city"},
		{`{"columns":["order_count"],"rows":[[3]]}`, "Order count"},
		{`{"columns":["(count_star() + 1000)"],"rows":[[1003]]}`, other},
		{`{"columns":["q4","n"],"rows":[[1,3]]}`, other},
		{`{"columns":["a","b","c","d","e"],"rows":[]}`, other},
		{`not JSON`, other},
	} {
		if got := titleOfRows(Message{Text: tt.rows}, other); got != tt.want {
			t.Errorf("%s: %q, want %q", tt.rows, got, tt.want)
		}
	}
}
