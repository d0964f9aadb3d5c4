package main

import (
	"encoding/json"
	"fmt"
	"os"
	"strings"
	"testing"

	"github.com/jackc/pgx/v5"

	"interlock/internal/source/sourcetest"
)

// TestDatabaseStaysWhereItIs connects a real PostgreSQL with --remote and asks it in
// every way that a person has: statements, a plan, questions without a key, exports.
func TestDatabaseStaysWhereItIs(t *testing.T) {
	server := sourcetest.Postgres(t)
	const password = "s3cr3t-w0rd"
	address := fmt.Sprintf("postgres://owner:%s@/postgres?host=%s", password, server.Socket)
	conn, err := pgx.Connect(t.Context(), address)
	if err != nil {
		t.Fatal(err)
	}
	for _, s := range append([]string{
		`CREATE TABLE customers (id bigint PRIMARY KEY, name text, city text)`,
		`CREATE TABLE orders (id bigint PRIMARY KEY, customer_id bigint REFERENCES customers (id), amount numeric(12,2), status text, placed timestamptz)`,
		`CREATE TABLE hidden (password text)`,
		`INSERT INTO customers SELECT i, 'Customer ' || i, (ARRAY['Bern', 'Oslo'])[1 + i % 2] FROM generate_series(1, 10) i`,
		`INSERT INTO orders SELECT i, 1 + i % 10, i / 4.0, (ARRAY['paid', 'open'])[1 + i % 2], '2024-03-01 12:00:00+00' FROM generate_series(1, 5000) i`,
	}, sourcetest.PostgresReader...) {
		if _, err := conn.Exec(t.Context(), s); err != nil {
			t.Fatalf("%s: %v", s, err)
		}
	}
	if err := conn.Close(t.Context()); err != nil {
		t.Fatal(err)
	}
	w := newWorld(t)
	said := func(code int, args ...string) string {
		t.Helper()
		out, errs, got := w.run(args...)
		if got != code {
			t.Errorf("interlock %s: ended with %d\n%s%s", strings.Join(args, " "), got, out, errs)
		}
		if strings.Contains(out+errs, password) {
			t.Errorf("interlock %s tells the password:\n%s%s", strings.Join(args, " "), out, errs)
		}
		return out + errs
	}
	wants := func(text string, parts ...string) {
		t.Helper()
		for _, p := range parts {
			if !strings.Contains(text, p) {
				t.Errorf("no %q in\n%s", p, text)
			}
		}
	}
	wants(said(1, "sources", "add", address, "--alias", "store", "--remote"), "is a superuser", `GRANT SELECT ON ALL TABLES IN SCHEMA "public" TO interlock_reader;`, "--allow-owner")
	said(0, "sources", "add", address, "--alias", "risky", "--remote", "--allow-owner")
	wants(said(0, "sources", "list"), "the policy is the only wall")
	wants(said(0, "doctor"), "the policy is the only wall")
	said(0, "sources", "remove", "risky")
	said(0, "sources", "add", strings.Replace(address, "owner:", "reader:", 1), "--alias", "store", "--remote", "--table", "orders", "--table", "customers")
	wants(said(0, "sources", "list"), "store    customers  postgres", "5000")
	wants(said(0, "query", "--dataset", "store", "--sql", "SELECT status, sum(amount) FROM store.orders GROUP BY 1 ORDER BY 1"), "open", "1562500")
	wants(said(3, "query", "--dataset", "store", "--sql", "SELECT * FROM hidden"), "SQL_POLICY_VIOLATION", "orders, customers")
	wants(said(3, "query", "--dataset", "store", "--sql", "SELECT pg_read_file('/etc/passwd')"), "SQL_POLICY_VIOLATION", "pg_read_file")
	said(0, "query", "--dataset", "store", "--sql", "SELECT * FROM orders", "--out", w.path("orders.parquet"))
	if info, err := os.Stat(w.path("orders.parquet")); err != nil || info.Size() < 10_000 {
		t.Errorf("the export: %v, %v", info, err)
	}
	wants(said(0, "chat", "--provider", "offline", "--dataset", "store", "How many orders are paid?"), "2500")
	wants(said(0, "ask", "--provider", "offline", "--dataset", "store", "What is the total amount of orders by city?"), "Bern", "Oslo")
	wants(said(1, "chat", "--provider", "offline", "--dataset", "store", "PYTHON: result_df = orders.head()"), "stay in their database")

	p := w.serve()
	var answer struct {
		Status  string
		Result  struct{ Rows json.RawMessage }
		Details struct {
			SQL string `json:"compiled_sql"`
		}
	}
	body := `{"dataset_id": "store", "query_type": "plan", "plan": {"table": "orders", "select": [{"column": "status"}, {"function": "count", "alias": "n"}],
		"filters": [{"column": "amount", "operator": ">", "value": 1000}], "group_by": ["status"], "order_by": [{"column": "n", "direction": "desc"}]}}`
	p.as("", "POST", "/runs", body, &answer)
	if answer.Status != "succeeded" || string(answer.Result.Rows) != `[["open",500],["paid",500]]` && string(answer.Result.Rows) != `[["paid",500],["open",500]]` {
		t.Errorf("%+v %s", answer, answer.Result.Rows)
	}
	var schema struct{ Dialect string }
	p.as("", "GET", "/datasets/store/schema", "", &schema)
	if schema.Dialect != "postgres" {
		t.Errorf("%+v", schema)
	}
	var scoped struct {
		TotalRows int `json:"total_rows"`
	}
	p.as("", "POST", "/api/sources/store.orders/load-scoped", `{"conditions": [{"column": "amount", "op": "lte", "value": 1}], "limit": 2}`, &scoped)
	if scoped.TotalRows != 4 {
		t.Errorf("%+v", scoped)
	}
	p.kill()
	said(0, "sources", "remove", "store")
}
