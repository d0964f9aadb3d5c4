package query_test

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"interlock/internal/fault"
	"interlock/internal/query"
	"interlock/internal/schema"
	"interlock/internal/sqlpolicy"
)

// Every type comes out as JSON without loss: what a float cannot hold is text.
func TestTypes(t *testing.T) {
	db := shop(t)
	e := newEngine(t, query.Config{})
	for _, c := range []struct{ sql, kind, want string }{
		{"NULL", "INTEGER", `null`},
		{"true", "BOOLEAN", `true`},
		{"(-5)::TINYINT", "TINYINT", `-5`},
		{"200::UTINYINT", "UTINYINT", `200`},
		{"9007199254740992", "BIGINT", `9007199254740992`},
		{"9007199254740993", "BIGINT", `"9007199254740993"`},
		{"-9007199254740993", "BIGINT", `"-9007199254740993"`},
		{"18446744073709551615::UBIGINT", "UBIGINT", `"18446744073709551615"`},
		{"170141183460469231731687303715884105727", "HUGEINT", `"170141183460469231731687303715884105727"`},
		{"(-170141183460469231731687303715884105727)::HUGEINT", "HUGEINT", `"-170141183460469231731687303715884105727"`},
		{"(-5)::HUGEINT", "HUGEINT", `-5`},
		{"340282366920938463463374607431768211455::UHUGEINT", "UHUGEINT", `"340282366920938463463374607431768211455"`},
		{"1.50", "DECIMAL(3,2)", `1.50`},
		{"-0.05", "DECIMAL(3,2)", `-0.05`},
		{"12345678901234567.89", "DECIMAL(19,2)", `"12345678901234567.89"`},
		{"(-0.00000000000000000000000000000000000001)::DECIMAL(38,38)", "DECIMAL(38,38)", `"-0.00000000000000000000000000000000000001"`},
		{"0.1::FLOAT", "FLOAT", `0.1`},
		{"0.1::DOUBLE + 0.2::DOUBLE", "DOUBLE", `0.30000000000000004`},
		{"1000000::DOUBLE", "DOUBLE", `1000000`},
		{"1e300::DOUBLE", "DOUBLE", `1e+300`},
		{"'nan'::DOUBLE", "DOUBLE", `"NaN"`},
		{"'-inf'::DOUBLE", "DOUBLE", `"-Infinity"`},
		{"'a\"b\\c' || chr(10) || chr(1) || 'é'", "VARCHAR", `"a\"b\\c\n\u0001é"`},
		{"DATE '2024-02-29'", "DATE", `"2024-02-29"`},
		{"DATE '1969-12-31'", "DATE", `"1969-12-31"`},
		{"'infinity'::DATE", "DATE", `"infinity"`},
		{"DATE '0044-03-15 (BC)'", "DATE", `"0044-03-15 (BC)"`},
		{"TIME '01:02:03.5'", "TIME", `"01:02:03.5"`},
		{"TIMESTAMP '2024-01-02 03:04:05.678901'", "TIMESTAMP", `"2024-01-02 03:04:05.678901"`},
		{"TIMESTAMP '1960-01-02 03:04:05'", "TIMESTAMP", `"1960-01-02 03:04:05"`},
		{"TIMESTAMPTZ '2024-01-02 03:04:05+02'", "TIMESTAMP WITH TIME ZONE", `"2024-01-02 01:04:05+00"`},
		{"TIMESTAMP_NS '2024-01-02 03:04:05.123456789'", "TIMESTAMP_NS", `"2024-01-02 03:04:05.123456789"`},
		{"'2024-01-02 03:04:05'::TIMESTAMP_S", "TIMESTAMP_S", `"2024-01-02 03:04:05"`},
		{"TIMETZ '12:00:00+02:30'", "TIME WITH TIME ZONE", `"12:00:00+02:30"`},
		{"INTERVAL '1 year 2 months 3 days 4 hours'", "INTERVAL", `"1 year 2 months 3 days 04:00:00"`},
		{"INTERVAL '-1 second'", "INTERVAL", `"-00:00:01"`},
		{"INTERVAL '0 days'", "INTERVAL", `"00:00:00"`},
		{"'12345678-9abc-def0-1234-56789abcdef0'::UUID", "UUID", `"12345678-9abc-def0-1234-56789abcdef0"`},
		{"'a\\x00\\xFF'::BLOB", "BLOB", `"a\\x00\\xFF"`},
		{"'b'::ENUM('a', 'b')", "ENUM", `"b"`},
		{"'101'::BIT", "BIT", `"101"`},
		{"[1, NULL, 3]", "INTEGER[]", `[1,null,3]`},
		{"[['a'], []]", "VARCHAR[][]", `[["a"],[]]`},
		{"[1, 2]::INTEGER[2]", "INTEGER[2]", `[1,2]`},
		{"{'a': 1, 'b': {'c': [DATE '2024-01-01']}}", `STRUCT("a" INTEGER, "b" STRUCT("c" DATE[]))`, `{"a":1,"b":{"c":["2024-01-01"]}}`},
		{"MAP {'k': 1.5}", "MAP(VARCHAR, DECIMAL(2,1))", `[["k",1.5]]`},
		{"row(1, 'x')", `STRUCT("" INTEGER, "" VARCHAR)`, `[1,"x"]`},
		{"union_value(n := 5)", "UNION", `5`},
		{`'{"a":1}'::JSON`, "JSON", `"{\"a\":1}"`},
	} {
		r, err := e.Run(t.Context(), query.Request{Database: db, SQL: "SELECT " + c.sql + " AS v"})
		if err != nil {
			t.Errorf("%s: %v", c.sql, err)
			continue
		}
		if got := string(r.Rows); got != "[["+c.want+"]]" {
			t.Errorf("%s: got %s, want [[%s]]", c.sql, got, c.want)
		}
		if !json.Valid(r.Rows) {
			t.Errorf("%s: not JSON: %s", c.sql, r.Rows)
		}
		if diff := cmp.Diff([]schema.Column{{Name: "v", Type: schema.ParseType(c.kind)}}, r.Columns); diff != "" {
			t.Errorf("%s: %s", c.sql, diff)
		}
	}
}

// Our text of a value is the engine's own text of it.
func TestTextLikeTheEngine(t *testing.T) {
	db := shop(t)
	e := newEngine(t, query.Config{})
	for _, column := range []string{
		"DATE '1900-01-01' + (i * 977)::INTEGER",
		"TIMESTAMP '1900-01-01' + to_microseconds(i * 98765432109)",
		"TIME '00:00:00' + to_microseconds((i * 98765432109) % 86400000000)",
		"to_days((i - 500)::INTEGER) + to_months((i % 40 - 20)::INTEGER) + to_microseconds(i * 1234567)",
		"((i - 500) * 12345678.9012)::DECIMAL(30, 6)",
		"(i * 1000003 - 9999)::HUGEINT * 1000000000000",
		"md5(i::VARCHAR)::UUID",
		"to_timestamp(i * 86413.25)",
	} {
		r, err := e.Run(t.Context(), query.Request{Database: db, SQL: "SELECT v, v::VARCHAR FROM (SELECT " + column + " AS v FROM range(1000) t(i))"})
		if err != nil {
			t.Fatal(err)
		}
		var rows [][]json.RawMessage
		if err := json.Unmarshal(r.Rows, &rows); err != nil {
			t.Fatal(err)
		}
		for _, row := range rows {
			ours, theirs := strings.Trim(string(row[0]), `"`), strings.Trim(string(row[1]), `"`)
			if ours != theirs {
				t.Errorf("%s: %s, the engine says %s", column, ours, theirs)
				break
			}
		}
	}
}

func TestColumnNames(t *testing.T) {
	db := shop(t)
	e := newEngine(t, query.Config{})
	r, err := e.Run(t.Context(), query.Request{Database: db, SQL: "SELECT 1 AS a, 2 AS a, 3 AS a_1, '1'::BIT AS a"})
	if err != nil {
		t.Fatal(err)
	}
	want := []schema.Column{{Name: "a", Type: schema.ParseType("INTEGER")}, {Name: "a", Type: schema.ParseType("INTEGER")}, {Name: "a_1", Type: schema.ParseType("INTEGER")}, {Name: "a", Type: schema.ParseType("BIT")}}
	if diff := cmp.Diff(want, r.Columns); diff != "" {
		t.Error(diff)
	}
	if string(r.Rows) != `[[1,2,3,"1"]]` {
		t.Errorf("%s", r.Rows)
	}
}

func TestMistakes(t *testing.T) {
	db := shop(t)
	e := newEngine(t, query.Config{})
	for _, c := range []struct{ sql, says string }{
		{"SELEC 1", `at or near "SELEC" (at character 1: SELEC)`},
		{"SELECT * FROM", "at the end, character 14"},
		{"SELECT nothing FROM orders", "at character 8: nothing"},
		{"SELECT 'é', nothing FROM orders", "at character 13: nothing"},
		{"SELECT amont FROM orders", "amount"},
		{"SELECT 1 + 'x'", "explicit type casts"},
		{"SELECT note::INTEGER FROM orders", "Could not convert string"},
		{"SELECT status, sum(amount) FROM orders", "GROUP BY"},
		{"", "no statement"},
		{"-- nothing", "no statement"},
		{"SELECT sum(name) FROM customers", "sum(VARCHAR)"},
	} {
		_, err := e.Run(t.Context(), query.Request{Database: db, SQL: c.sql})
		f := wantFault(t, err, fault.SQLError)
		if !strings.Contains(f.Message, c.says) {
			t.Errorf("%s: %s", c.sql, f.Message)
		}
	}
}

func TestRefusalText(t *testing.T) {
	db := shop(t)
	e := newEngine(t, query.Config{})
	_, err := e.Run(t.Context(), query.Request{Database: db, SQL: "SELECT 'é', * FROM hidden h"})
	f := wantFault(t, err, fault.SQLPolicy)
	want := sqlpolicy.Refusal{Rule: "table", Place: "hidden", Position: 20, Instead: "Use the tables of this dataset: items, orders, customers."}
	if diff := cmp.Diff(want, f.Details); diff != "" {
		t.Error(diff)
	}
	if f.Message != "There is no table hidden in this dataset." {
		t.Error(f.Message)
	}
}

// A column that the list does not name is out of reach, by name and by star.
func TestColumnList(t *testing.T) {
	db := shop(t)
	db.Tables = []sqlpolicy.Table{{Name: "orders", Columns: []string{"id", "status"}}, {Name: "customers"}}
	e := newEngine(t, query.Config{})
	for _, sql := range []string{"SELECT amount FROM orders", "SELECT * FROM orders", "SELECT id FROM orders WHERE amount > 1", "SELECT orders FROM orders"} {
		_, err := e.Run(t.Context(), query.Request{Database: db, SQL: sql})
		wantFault(t, err, fault.SQLPolicy)
	}
	for _, sql := range []string{"SELECT id, status FROM orders", "SELECT * FROM customers", "SELECT count(*) FROM orders"} {
		if _, err := e.Run(t.Context(), query.Request{Database: db, SQL: sql}); err != nil {
			t.Error(sql, err)
		}
	}
}

// A file that is put in the place of another is seen by the next statement.
func TestReplacedFile(t *testing.T) {
	path := filepath.Join(t.TempDir(), "shop.duckdb")
	db := writeShop(t, path, 10)
	e := newEngine(t, query.Config{})
	count := func() string {
		r, err := e.Run(t.Context(), query.Request{Database: db, SQL: "SELECT count(*) FROM orders"})
		if err != nil {
			t.Fatal(err)
		}
		return string(r.Rows)
	}
	if got := count(); got != "[[10]]" {
		t.Fatal(got)
	}
	writeShop(t, path, 3000)
	if got := count(); got != "[[3000]]" {
		t.Fatal(got)
	}
	e.Forget(path)
	if n := e.Workers(); n != 0 {
		t.Errorf("%d workers still have the file open", n)
	}
	if err := os.Remove(path); err != nil {
		t.Fatal(err)
	}
	_, err := e.Run(t.Context(), query.Request{Database: db, SQL: "SELECT count(*) FROM orders"})
	wantFault(t, err, fault.SourceUnreadable)
}

// eventually waits until something that another process does has happened.
func eventually(t *testing.T, happened func() bool, otherwise string) {
	t.Helper()
	tick, end := time.NewTicker(time.Millisecond), time.NewTimer(slack(5*time.Second))
	defer tick.Stop()
	defer end.Stop()
	for !happened() {
		select {
		case <-tick.C:
		case <-end.C:
			t.Fatal(otherwise)
		}
	}
}

func TestWorkersRest(t *testing.T) {
	db := shop(t)
	e := newEngine(t, query.Config{Idle: 50 * time.Millisecond})
	if _, err := e.Run(t.Context(), query.Request{Database: db, SQL: "SELECT 1"}); err != nil {
		t.Fatal(err)
	}
	eventually(t, func() bool { return e.Workers() == 0 }, "a worker that nobody needs is still there")
}

func TestPreviewCountProfile(t *testing.T) {
	db := shop(t)
	e := newEngine(t, query.Config{})
	r, err := e.Preview(t.Context(), db, "ORDERS", 5, 2)
	if err != nil || r.RowCount != 2 || !strings.HasPrefix(string(r.Rows), "[[5,5,5.25,") {
		t.Errorf("%+v %v", r, err)
	}
	_, err = e.Preview(t.Context(), db, "hidden", 0, 1)
	wantFault(t, err, fault.SourceNotRegistered)
	n, err := e.Count(t.Context(), query.Request{Database: db, SQL: "SELECT * FROM shop.orders WHERE id >= 500; -- all"})
	if err != nil || n != 1500 {
		t.Errorf("%d %v", n, err)
	}
	p, err := e.Profile(t.Context(), db, "orders")
	if err != nil {
		t.Fatal(err)
	}
	if p.Rows != 2000 || len(p.Columns) != 7 {
		t.Fatalf("%+v", p)
	}
	id, amount, status, placed, note := p.Columns[0], p.Columns[2], p.Columns[3], p.Columns[4], p.Columns[6]
	if id.Distinct != 2000 || id.Min != "0" || id.Max != "1999" || len(id.Histogram) != 10 || id.Histogram[0].Count != 200 {
		t.Errorf("%+v", id)
	}
	if amount.Min != "0.25" || amount.Max != "976.25" || amount.Type.String() != "DECIMAL(12,2)" {
		t.Errorf("%+v", amount)
	}
	if diff := cmp.Diff([]query.Bin{{From: "open", Count: 667}, {From: "paid", Count: 667}, {From: "cancelled", Count: 666}}, status.Histogram); diff != "" {
		t.Error(diff)
	}
	if total := len(placed.Histogram); total != 10 || !strings.HasPrefix(placed.Histogram[0].From, "2023-11-14 22:13:20") {
		t.Errorf("%+v", placed)
	}
	if note.Nulls != 400 || len(note.Examples) != 5 {
		t.Errorf("%+v", note)
	}
}
