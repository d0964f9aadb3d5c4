package sqlpolicy

import (
	"errors"
	"strings"
	"testing"

	pgquery "github.com/pganalyze/pg_query_go/v6"

	"interlock/internal/dialect"
	"interlock/internal/fault"
)

func postgresScope() Scope {
	return Scope{Dialect: dialect.PostgreSQL, Schema: "sales", Alias: "shop", Tables: []Table{{"orders", []string{"id", "note", "day"}}, {"Odd Name", []string{"A b"}}}}
}

// What runs is printed from the tree: tables, functions and types have their schemas, and
// nothing is left of comments and of the dataset's name.
func TestPostgresPrints(t *testing.T) {
	for sql, want := range map[string]string{
		"select ID from Orders -- x\r where id = 1;":                        "SELECT id FROM sales.orders WHERE id = 1",
		"SELECT shop.orders.id, lower(note) FROM shop.orders":               "SELECT sales.orders.id, pg_catalog.lower(note) FROM sales.orders",
		`SELECT "A b" FROM "Odd Name"`:                                      `SELECT "A b" FROM sales."Odd Name"`,
		"WITH orders AS (SELECT 1 AS id) SELECT id FROM orders":             "WITH orders AS (SELECT 1 AS id) SELECT id FROM orders",
		"WITH orders AS (SELECT 1) SELECT orders.id FROM sales.orders":      "WITH orders AS (SELECT 1 AS \"?column?\") SELECT orders.id FROM sales.orders",
		"SELECT E'a\\'b' || $$c$$, 1 OPERATOR(pg_catalog.+) 2":              "SELECT 'a''b' || 'c', 1 + 2",
		"SELECT note::text, CAST(id AS int), DATE '2024-01-01' FROM orders": "SELECT note::pg_catalog.text, id::int, '2024-01-01'::pg_catalog.date FROM sales.orders",
		"SELECT x.x FROM generate_series(1, 3) x":                           "SELECT x.x FROM pg_catalog.generate_series(1, 3) x(x)",
		"SELECT q.max FROM (SELECT max(id) FROM orders) q":                  "SELECT q.max FROM (SELECT pg_catalog.max(id) AS max FROM sales.orders) q",
		"SELECT u.b FROM unnest(ARRAY[1], ARRAY[2]) u(a, b)":                "SELECT u.b FROM ROWS FROM (pg_catalog.unnest(ARRAY[1]) , pg_catalog.unnest(ARRAY[2]) ) u(a, b)",
	} {
		d, err := New(Config{}).Check(t.Context(), nil, postgresScope(), sql)
		if err != nil || d.SQL != want {
			t.Errorf("%s\n got %s, %v\nwant %s", sql, d.SQL, err, want)
		}
	}
}

// A refusal names the place in the text as it was written.
func TestPostgresPlaces(t *testing.T) {
	for sql, want := range map[string]Refusal{
		"SELECT 'é', evil(1)":                    {Rule: RuleFunction, Place: "evil", Position: 13},
		"SELECT id FROM orders JOIN hidden":      {Place: ""},
		"SELECT * FROM orders, hidden h":         {Rule: RuleTable, Place: "hidden", Position: 23},
		"SELECT o.pg_sleep FROM orders o":        {Rule: RuleColumn, Place: "o.pg_sleep", Position: 8},
		"SELECT 1;  DROP TABLE orders":           {Rule: RuleOneStatement, Place: "DROP", Position: 12},
		"SELECT id::regclass FROM orders":        {Rule: RuleType, Place: "regclass", Position: 12},
		"SELECT nonsense FROM orders":            {Place: "nonsense", Position: 8},
		"SELECT 1 + + FROM orders WHERE 'é' = x": {Place: "FROM", Position: 14},
	} {
		_, err := New(Config{}).Check(t.Context(), nil, postgresScope(), sql)
		f, ok := errors.AsType[*fault.Fault](err)
		if !ok {
			t.Errorf("%s: %v", sql, err)
			continue
		}
		if r, ok := f.Details.(Refusal); ok && (r.Rule != want.Rule || r.Place != want.Place || r.Position != want.Position) {
			t.Errorf("%s: %+v, want %+v", sql, r, want)
		} else if !ok && (f.Code != fault.SQLError || !strings.Contains(f.Message, want.Place)) {
			t.Errorf("%s: %v", sql, err)
		}
	}
}

// Nothing that fits into the limits takes the parser deeper than its stack: it is
// recursive C, and an overflow ends the process.
func TestPostgresDepth(t *testing.T) {
	for name, piece := range map[string][3]string{
		"not":       {"NOT ", "true", ""},
		"plus":      {"", "1", "+1"},
		"minus":     {"- ", "1", ""},
		"cast":      {"", "1", "::int"},
		"is null":   {"", "1", " IS NULL"},
		"zone":      {"", "now()", " AT TIME ZONE 'UTC'"},
		"collate":   {"", "'a'", ` COLLATE "C"`},
		"brackets":  {"(", "1", ")"},
		"case":      {"CASE WHEN ", "true", " THEN true END"},
		"queries":   {"(SELECT ", "1", ")"},
		"calls":     {"abs(", "1", ")"},
		"between":   {"1 BETWEEN SYMMETRIC 1 AND NOT ", "true", ""},
		"arrays":    {"ARRAY[", "1", "]"},
		"union":     {"", "1", " UNION SELECT 1"},
		"unions":    {"", "1, 2", " UNION SELECT 1, 2"},
		"join":      {"", "1 FROM orders", " CROSS JOIN orders"},
		"from":      {"1 FROM (SELECT ", "1", ") x"},
		"subscript": {"", "ARRAY[1]", "[1]"},
		"operator":  {"@ ", "1", ""},
		"and":       {"", "true", " AND true"},
	} {
		for _, n := range []int{100, 900, 5000, 30000} {
			sql := "SELECT " + strings.Repeat(piece[0], n) + piece[1] + strings.Repeat(piece[2], n)
			_, err := New(Config{Limits: Limits{Bytes: 1 << 20}}).Check(t.Context(), nil, postgresScope(), sql)
			if err == nil && n > 1000 || err != nil && !fault.Is(err, fault.SQLPolicy) && !fault.Is(err, fault.SQLError) {
				t.Errorf("%s, %d times: %v", name, n, err)
			}
		}
	}
}

// A field that nobody looked at is refused, whatever it holds.
func TestPostgresUnknownFields(t *testing.T) {
	for name, change := range map[string]func(*pgquery.SelectStmt){
		"a field of a call": func(q *pgquery.SelectStmt) { q.TargetList[0].GetResTarget().GetVal().GetFuncCall().Funcformat = 3 },
		"a field of a target": func(q *pgquery.SelectStmt) {
			q.TargetList[0].GetResTarget().Indirection = []*pgquery.Node{pgquery.MakeStrNode("x")}
		},
		"a field of a table":    func(q *pgquery.SelectStmt) { q.FromClause[0].GetRangeVar().Relpersistence = "t" },
		"a field of a query":    func(q *pgquery.SelectStmt) { q.Larg = &pgquery.SelectStmt{} },
		"a field of no release": func(q *pgquery.SelectStmt) { q.ProtoReflect().SetUnknown([]byte{0xf8, 0x7f, 0x01}) },
		"a node that is unknown": func(q *pgquery.SelectStmt) {
			q.WhereClause = &pgquery.Node{Node: &pgquery.Node_CurrentOfExpr{CurrentOfExpr: &pgquery.CurrentOfExpr{}}}
		},
	} {
		tree, err := pgquery.Parse("SELECT lower(note) FROM orders")
		if err != nil {
			t.Fatal(err)
		}
		q := tree.GetStmts()[0].GetStmt().GetSelectStmt()
		change(q)
		_, err = newPgJudge(postgresWords, postgresScope(), "", Limits{}.orDefault()).query(q, nil, 0, pgUse{})
		if denied, ok := errors.AsType[*denial](err); !ok || denied.rule != RuleUnknown {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// Values come only where the program brought some, each once at least.
func TestPostgresParameters(t *testing.T) {
	for sql, params := range map[string]int{"SELECT $1::int": 1, "SELECT $2::text, $1::int, $1::int": 2} {
		scope := postgresScope()
		for n := range 4 {
			scope.Params = n
			if _, err := New(Config{}).Check(t.Context(), nil, scope, sql); (err == nil) != (n == params) {
				t.Errorf("%s with %d values: %v", sql, n, err)
			}
		}
	}
}
