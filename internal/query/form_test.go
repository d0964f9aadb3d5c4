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
		{
			"WITH a AS (SELECT status, amount FROM orders) SELECT status, sum(amount) AS t FROM a GROUP BY status",
			"with Sums as (select status, amount from orders) select status, sum(AMOUNT) as t from sums group by STATUS;",
		},
		{"WITH a AS (SELECT id FROM orders), b AS (SELECT id FROM a) SELECT b.id FROM a JOIN b ON a.id = b.id", "WITH p AS (SELECT id FROM orders), q AS (SELECT id FROM p) SELECT q.id FROM p JOIN q ON p.id = q.id"},
		{`SELECT "status" FROM "orders" WHERE (amount > 1) ORDER BY id`, "SELECT status FROM orders WHERE AMOUNT > 1 ORDER BY ID ASC;;"},
		{"SELECT id AS id, amount a FROM orders WHERE amount <> 1", "(SELECT id, amount AS a FROM orders WHERE amount != 1)"},
	} {
		for _, other := range same[1:] {
			if form(same[0]) != form(other) {
				t.Errorf("two wordings have two forms:\n%s\n%s", same[0], other)
			}
		}
	}
	for _, different := range [][2]string{
		{"SELECT status AS a FROM orders", "SELECT status AS b FROM orders"},
		{"SELECT STATUS FROM orders", "SELECT status FROM orders"}, // the column's name
		// The name of a WITH may be that of a table, which its own part reads.
		{"WITH orders AS (SELECT id FROM orders) SELECT * FROM orders", "WITH customers AS (SELECT id FROM customers) SELECT * FROM customers"},
		{"WITH a AS (SELECT id FROM orders), orders AS (SELECT 1 AS id) SELECT a.id FROM a, orders", "WITH a AS (SELECT id FROM customers), customers AS (SELECT 1 AS id) SELECT a.id FROM a, customers"},
		{"WITH a AS (SELECT 1 AS x), b AS (SELECT 2 AS x) SELECT x FROM a", "WITH a AS (SELECT 1 AS x), b AS (SELECT 2 AS x) SELECT x FROM b"},
		{"WITH a AS (SELECT 1 AS x) SELECT x FROM (WITH a AS (SELECT 2 AS x) SELECT x FROM a)", "WITH b AS (SELECT 1 AS x) SELECT x FROM (WITH a AS (SELECT 2 AS x) SELECT x FROM b)"},
		{"WITH a AS (SELECT 1 AS x) SELECT a FROM a", "WITH b AS (SELECT 1 AS x) SELECT b FROM b"},
		// A WITH inside another part has names of its own.
		{"WITH z AS (WITH b AS (SELECT 2 AS x), c AS (SELECT 3 AS x) SELECT x FROM b) SELECT x FROM z", "WITH z AS (WITH c AS (SELECT 2 AS x), b AS (SELECT 3 AS x) SELECT x FROM b) SELECT x FROM z"},
		{"WITH z AS (WITH orders AS (SELECT 2 AS id) SELECT id FROM orders) SELECT id FROM z", "WITH z AS (WITH q AS (SELECT 2 AS id) SELECT id FROM orders) SELECT id FROM z"},
		// The engine's tree leaves out the empty set of groups, which gives the row of totals.
		{"SELECT status, count(*) AS n FROM orders GROUP BY ROLLUP (status)", "SELECT status, count(*) AS n FROM orders GROUP BY status"},
		{"SELECT status, count(*) AS n FROM orders GROUP BY CUBE (status)", "SELECT status, count(*) AS n FROM orders GROUP BY status"},
		{"SELECT status, count(*) AS n FROM orders GROUP BY GROUPING SETS ((status), ())", "SELECT status, count(*) AS n FROM orders GROUP BY /* () */ GROUPING SETS ((status))"},
		{"SELECT 1 AS x FROM orders GROUP BY ()", "SELECT 1 AS x FROM orders"},
		// A * may give a column another value or name, which ORDER BY means without a table.
		{"SELECT * REPLACE (-id AS id) FROM orders o ORDER BY o.id", "SELECT * REPLACE (-id AS id) FROM orders o ORDER BY id"},
		{"SELECT * RENAME (id AS amount, amount AS id) FROM orders o ORDER BY o.id", "SELECT * RENAME (id AS amount, amount AS id) FROM orders o ORDER BY id"},
		{"SELECT struct_pack(ID) AS s FROM orders", "SELECT struct_pack(id) AS s FROM orders"}, // the field's name
		{"SELECT * FROM (SELECT id, status, amount FROM orders) PIVOT (sum(AMOUNT), count(id) FOR status IN ('open'))", "SELECT * FROM (SELECT id, status, amount FROM orders) PIVOT (sum(amount), count(id) FOR status IN ('open'))"},
		{"SELECT id FROM orders WHERE amount >= 1.0", "SELECT id FROM orders WHERE amount >= 1.00"}, // other types
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
