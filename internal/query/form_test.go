package query_test

import (
	"testing"

	"interlock/internal/query"
)

// TestForms holds the form of a statement to what the engine's own parser makes of it:
// one for all wordings, another for every other meaning.
func TestForms(t *testing.T) {
	e, db := newEngine(t, query.Config{}), shop(t)
	form := func(sql string) string {
		t.Helper()
		d, err := e.Check(t.Context(), db, sql)
		if err != nil {
			t.Fatalf("%s: %v", sql, err)
		}
		return d.Form
	}
	for _, same := range [][]string{
		{
			"SELECT status, sum(amount) AS total FROM orders GROUP BY status", "select status,sum( amount )\nas total from ORDERS group by status;", "/* a */ SELECT status, sum(amount) AS total -- b\nFROM orders GROUP BY status",
			"SELECT o.status, sum(o.amount) AS total FROM orders o GROUP BY o.status", "SELECT status, sum((amount)) AS total FROM orders AS x GROUP BY (status)",
		},
		{"SELECT a.id, b.name FROM orders a JOIN customers b ON a.customer_id = b.id", "SELECT o.id, c.name FROM orders AS o JOIN customers AS c ON o.customer_id = c.id", "SELECT orders.id, customers.name FROM orders JOIN customers ON orders.customer_id = customers.id"},
		{"SELECT x.id FROM (SELECT o.id FROM orders o WHERE o.amount > 1) x", "SELECT y.id FROM (SELECT p.id FROM orders p WHERE p.amount > 1) y"},
		{"SELECT o.* FROM orders o", "SELECT x.* FROM orders x"},
	} {
		for _, other := range same[1:] {
			if form(same[0]) != form(other) {
				t.Errorf("two wordings have two forms:\n%s\n%s", same[0], other)
			}
		}
	}
	for _, different := range [][2]string{
		{"SELECT status AS a FROM orders", "SELECT status AS b FROM orders"},
		{"SELECT 'a  b' AS x FROM orders", "SELECT 'a b' AS x FROM orders"},
		{"SELECT id FROM orders WHERE amount > 1", "SELECT id FROM orders WHERE amount > 2"},
		{"SELECT id FROM orders WHERE amount > 1 AND id < 3", "SELECT id FROM orders WHERE amount < 1 AND id > 3"},
		{"SELECT sum(o.amount) FROM orders o", "SELECT sum(p.amount) FROM orders p"}, // the column's name has the alias
		{"SELECT a.id FROM orders a JOIN customers b ON a.customer_id = b.id", "SELECT b.id FROM orders a JOIN customers b ON a.customer_id = b.id"},
		{"SELECT upper(o.status) AS status FROM orders o GROUP BY status", "SELECT upper(o.status) AS status FROM orders o GROUP BY o.status"},
		{"SELECT id FROM orders ORDER BY id", "SELECT id FROM orders ORDER BY id DESC"},
		{"SELECT id FROM orders LIMIT 5", "SELECT id FROM orders LIMIT 6"},
		{"SELECT DISTINCT status FROM orders", "SELECT status FROM orders"},
		// An alias that stands for a whole row, or in a list of columns, is more than a name.
		{"SELECT count(a) AS n FROM orders a LEFT JOIN customers b ON false", "SELECT count(a) AS n FROM orders b LEFT JOIN customers a ON false"},
		{"SELECT a::VARCHAR AS row FROM orders a, customers b", "SELECT a::VARCHAR AS row FROM orders b, customers a"},
		{"SELECT * EXCLUDE (a.id) FROM orders a, customers b", "SELECT * EXCLUDE (a.id) FROM orders b, customers a"},
		{"SELECT * RENAME (a.id AS x) FROM orders a, customers b", "SELECT * RENAME (a.id AS x) FROM orders b, customers a"},
	} {
		if form(different[0]) == form(different[1]) {
			t.Errorf("two statements have one form:\n%s\n%s", different[0], different[1])
		}
	}
}
