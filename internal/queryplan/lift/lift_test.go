package lift_test

import (
	"encoding/json"
	"errors"
	"testing"

	"interlock/internal/dialect"
	"interlock/internal/queryplan"
	"interlock/internal/queryplan/lift"
	"interlock/internal/schema"
)

func shop() schema.Dataset {
	col := func(pairs ...string) (cs []schema.Column) {
		for i := 0; i < len(pairs); i += 2 {
			cs = append(cs, schema.Column{Name: pairs[i], Type: schema.ParseType(pairs[i+1])})
		}
		return cs
	}
	return schema.Dataset{Tables: []schema.Table{
		{Name: "customers", Key: []string{"id"}, Columns: col("id", "BIGINT", "name", "VARCHAR", "country", "VARCHAR")},
		{Name: "orders", Key: []string{"id"}, Columns: col("id", "BIGINT", "customer_id", "BIGINT", "day", "DATE", "due", "DATE", "status", "VARCHAR", "amount", "DOUBLE")},
	}}
}

// TestPlan reads statements as models of different dialects write them.
func TestPlan(t *testing.T) {
	t.Parallel()
	for statement, want := range map[string]string{
		`SELECT count(*) FROM orders WHERE strftime('%Y', day) = '2024'`:                                                                                               `{"table":"orders","select":[{"function":"count"}],"filters":[{"column":"day","operator":"in_period","value":"2024"}]}`,
		"SELECT id FROM orders ORDER BY amount DESC LIMIT 1 OFFSET 2":                                                                                                  `{"table":"orders","select":[{"column":"id"}],"order_by":[{"column":"amount","direction":"desc"}],"limit":1,"offset":2}`,
		"SELECT `status`, SUM(`amount`) FROM `orders` GROUP BY 1 ORDER BY 2 DESC LIMIT 3;":                                                                             `{"table":"orders","select":[{"column":"status"},{"column":"amount","function":"sum"}],"group_by":["status"],"order_by":[{"column":"amount","function":"sum","direction":"desc"}],"limit":3}`,
		`SELECT c.name, count(DISTINCT o.status) n FROM orders o JOIN customers c ON c.id = o.customer_id WHERE lower(o.status) = 'paid' GROUP BY c.name HAVING n > 2`: `{"table":"orders","joins":[{"table":"customers","kind":"inner","on":[{"left":"orders.customer_id","right":"customers.id"}]}],"select":[{"column":"customers.name"},{"column":"orders.status","function":"count_distinct","alias":"n"}],"filters":[{"column":"orders.status","operator":"equals_any_case","value":"paid"}],"group_by":["customers.name"],"having":[{"column":"orders.status","function":"count_distinct","operator":"\u003e","value":2}]}`,
		`SELECT name FROM customers c WHERE NOT EXISTS (SELECT 1 FROM orders o WHERE o.customer_id = c.id AND amount > 10)`:                                            `{"table":"customers","select":[{"column":"name"}],"filters":[{"column":"id","operator":"not_in","plan":{"table":"orders","select":[{"column":"customer_id"}],"filters":[{"column":"amount","operator":"\u003e","value":10}]}}]}`,
		`SELECT avg(CASE WHEN status = 'paid' THEN 1.0 ELSE 0 END) FROM orders`:                                                                                        `{"table":"orders","select":[{"math":{"operator":"/","left":{"function":"count","where":[{"column":"status","operator":"=","value":"paid"}]},"right":{"function":"count"}}}]}`,
		`WITH a AS (SELECT status, count(*) AS n FROM orders GROUP BY status) SELECT max(n) FROM a`:                                                                    `{"from":{"table":"orders","select":[{"column":"status"},{"function":"count","alias":"n"}],"group_by":["status"]},"select":[{"column":"n","function":"max"}]}`,
		`SELECT date_trunc('month', day), sum(amount) FILTER (WHERE status <> 'void') FROM orders WHERE day >= DATE '2024-01-01' GROUP BY 1`:                           `{"table":"orders","select":[{"column":"day","truncate":"month"},{"column":"amount","function":"sum","where":[{"column":"status","operator":"!=","value":"void"}]}],"filters":[{"column":"day","operator":"\u003e=","value":"2024-01-01"}],"group_by":[{"column":"day","truncate":"month"}]}`,
		`SELECT count(*) FROM orders WHERE day >= date('2025-12-31', '-90 days') AND 1 = 1`:                                                                            `{"table":"orders","select":[{"function":"count"}],"filters":[{"column":"day","operator":"\u003e=","value":"2025-10-02"}]}`,
		`SELECT avg(julianday(due) - julianday(day)) FROM orders`:                                                                                                      `{"table":"orders","select":[{"of":{"math":{"operator":"date_diff","left":{"column":"day"},"right":{"column":"due"},"unit":"day"}},"function":"avg"}]}`,
	} {
		p, err := lift.Plan(statement, shop())
		if err != nil {
			t.Errorf("%s: %v", statement, err)
			continue
		}
		got, err := json.Marshal(p)
		if err != nil {
			t.Fatal(err)
		}
		if string(got) != want {
			t.Errorf("%s\n got %s\nwant %s", statement, got, want)
		}
	}
}

// TestNotLiftable refuses what no plan says, with one cause.
func TestNotLiftable(t *testing.T) {
	t.Parallel()
	for _, statement := range []string{
		"", "SELECT", "DROP TABLE orders", "SELECT * FROM nowhere", "SELECT nothing FROM orders", "SELECT 'a FROM orders", "SELECT 1",
		"SELECT row_number() OVER (ORDER BY day) FROM orders", "SELECT a.n FROM (SELECT 1 AS n FROM orders) a JOIN orders o ON o.id = a.n", "SELECT id FROM orders LIMIT 1 OFFSET 3",
		"SELECT CASE WHEN amount > 3 THEN 'big' ELSE 'small' END FROM orders", "WITH RECURSIVE a AS (SELECT 1) SELECT * FROM a",
	} {
		if p, err := lift.Plan(statement, shop()); !errors.Is(err, lift.ErrNotLiftable) {
			t.Errorf("%q: %v, %+v", statement, err, p)
		}
	}
}

// FuzzPlan never panics, and what it lifts has tables of the dataset only.
func FuzzPlan(f *testing.F) {
	f.Add("SELECT count(*) FROM orders WHERE (day IN ('2024-01-01') OR NOT amount BETWEEN 1 AND 2) GROUP BY 1")
	f.Add("WITH x AS (SELECT * FROM orders) SELECT * FROM x UNION SELECT * FROM orders ORDER BY 1")
	d := shop()
	f.Fuzz(func(t *testing.T, statement string) {
		p, err := lift.Plan(statement, d)
		if err != nil {
			if !errors.Is(err, lift.ErrNotLiftable) {
				t.Fatal(err)
			}
			return
		}
		if _, err := p.SQLFor(dialect.DuckDB, d); err == nil && p.Table == "" && p.From == nil {
			t.Fatalf("%q reads no table", statement)
		}
	})
}

// TestRoundTrip reads back what the compiler writes.
func TestRoundTrip(t *testing.T) {
	t.Parallel()
	p := &queryplan.Plan{
		Table:   "orders",
		Joins:   []queryplan.Join{{Table: "customers", Kind: queryplan.Inner, On: []queryplan.Pair{{Left: "orders.customer_id", Right: "customers.id"}}}},
		Select:  []queryplan.Expr{queryplan.Col("customers.country"), {Column: "orders.amount", Function: queryplan.Sum}},
		Filters: []queryplan.Filter{{Expr: queryplan.Col("orders.day"), Operator: queryplan.InPeriod, Value: queryplan.Literal("2024-Q3")}, {Expr: queryplan.Col("orders.status"), Operator: queryplan.In, Value: queryplan.Literal([]string{"paid", "open"})}},
		GroupBy: []queryplan.Term{queryplan.By("customers.country")},
		OrderBy: []queryplan.Order{{Expr: queryplan.Expr{Column: "orders.amount", Function: queryplan.Sum}, Direction: queryplan.Desc}},
		Limit:   5,
	}
	for _, d := range dialect.All() {
		sql, err := p.SQLFor(d, shop())
		if err != nil {
			t.Fatal(err)
		}
		back, err := lift.Plan(sql, shop())
		if err != nil {
			t.Errorf("%s: %v\n%s", d, err, sql)
			continue
		}
		if back.Table != p.Table || len(back.Joins) != 1 || len(back.Select) != 2 || len(back.GroupBy) != 1 || back.Limit != 5 || len(back.OrderBy) != 1 {
			t.Errorf("%s: %+v\n%s", d, back, sql)
		}
	}
}
