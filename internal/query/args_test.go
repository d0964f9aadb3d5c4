package query_test

import (
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"interlock/internal/fault"
	"interlock/internal/query"
	"interlock/internal/schema"
	"interlock/internal/sqlpolicy"
)

// Values reach the statement as they are, whatever they look like.
func TestArgs(t *testing.T) {
	db := shop(t)
	e := newEngine(t, query.Config{})
	const sql = "SELECT CAST($1 AS VARCHAR) AS a, CAST($2 AS VARCHAR) AS b"
	rapid.Check(t, func(rt *rapid.T) {
		value := rapid.OneOf(rapid.String(), rapid.SampledFrom([]string{
			"", "$1", "$2", "?", "'", "''", `"`, `\`, "'; DROP TABLE orders; --", "$$x$$", "\x01\x1b\x7f", "a\x00b", "\u2028", "é\u0301", "NULL",
		}))
		want := []string{value.Draw(rt, "a"), value.Draw(rt, "b")}
		r, err := e.Run(t.Context(), query.Request{Database: db, SQL: sql, Args: want})
		if err != nil {
			rt.Fatal(err)
		}
		var got [][]string
		if err := json.Unmarshal(r.Rows, &got); err != nil {
			rt.Fatal(err)
		}
		if diff := cmp.Diff([][]string{want}, got); diff != "" {
			rt.Fatal(diff)
		}
	})
}

func TestArgsEverywhere(t *testing.T) {
	db := shop(t)
	e := newEngine(t, query.Config{})
	request := query.Request{
		Database: db, MaxRows: 3,
		SQL:  "SELECT id, status FROM shop.orders WHERE status = CAST($2 AS VARCHAR) AND id >= CAST($1 AS BIGINT) ORDER BY id -- all of them",
		Args: []string{"9", "paid"},
	}
	r, err := e.Run(t.Context(), request)
	if err != nil {
		t.Fatal(err)
	}
	if got := string(r.Rows); got != `[[9,"paid"],[12,"paid"],[15,"paid"]]` || !r.Limited {
		t.Errorf("rows %s, limited %v", got, r.Limited)
	}
	if diff := cmp.Diff([]sqlpolicy.Touch{{Table: "orders", Columns: []string{"id", "status"}}}, r.Decision.Touches); diff != "" {
		t.Error(diff)
	}
	if n, err := e.Count(t.Context(), request); err != nil || n != 664 {
		t.Errorf("%d rows, %v", n, err)
	}
	for _, format := range []query.Format{query.CSV, query.NDJSON, query.Array, query.Parquet, query.Excel, query.Arrow} {
		path := filepath.Join(t.TempDir(), "out")
		if n, err := e.Export(t.Context(), request, format, path); err != nil || n.Rows != 664 {
			t.Errorf("%s: %d rows, %v", format, n.Rows, err)
		}
		if info, err := os.Stat(path); err != nil || info.Size() == 0 {
			t.Errorf("%s: %v", format, err)
		}
	}
	// Names that the cap on rows would change, and a type that is read as text.
	request.SQL = "SELECT id, id AS id, CAST($2 AS BIT) AS id_1 FROM orders WHERE id = CAST($1 AS BIGINT)"
	request.Args = []string{"9", "101"}
	if r, err = e.Run(t.Context(), request); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff([]schema.Column{{Name: "id", Type: schema.ParseType("BIGINT")}, {Name: "id", Type: schema.ParseType("BIGINT")}, {Name: "id_1", Type: schema.ParseType("BIT")}}, r.Columns); diff != "" || string(r.Rows) != `[[9,9,"101"]]` {
		t.Errorf("%s %s", r.Rows, diff)
	}
	if page, err := e.Preview(t.Context(), db, "orders", 7, 2); err != nil || page.RowCount != 2 || !strings.HasPrefix(string(page.Rows), "[[7,") {
		t.Errorf("%+v, %v", page, err)
	}
}

func TestArgsRefused(t *testing.T) {
	db := shop(t)
	e := newEngine(t, query.Config{})
	for _, c := range []struct {
		sql  string
		args []string
		code fault.Code
	}{
		{"SELECT CAST($1 AS VARCHAR)", nil, fault.SQLPolicy},
		{"SELECT 1", []string{"x"}, fault.SQLPolicy},
		{"SELECT CAST($1 AS VARCHAR)", []string{"x", "y"}, fault.SQLPolicy},
		{"SELECT CAST($2 AS VARCHAR)", []string{"x"}, fault.SQLPolicy},
		{"SELECT CAST($name AS VARCHAR)", []string{"x"}, fault.SQLPolicy},
		{"SELECT COLUMNS(CAST($1 AS VARCHAR)) FROM orders", []string{"id"}, fault.SQLPolicy},
		{"UNPIVOT orders ON COLUMNS($1)", []string{"id"}, fault.SQLPolicy},
		{"SELECT * FROM query_table(CAST($1 AS VARCHAR))", []string{"hidden"}, fault.SQLPolicy},
		{"SELECT * FROM read_text(CAST($1 AS VARCHAR))", []string{"/etc/passwd"}, fault.SQLPolicy},
		{"SELECT * FROM hidden WHERE pw = CAST($1 AS VARCHAR)", []string{"x"}, fault.SQLPolicy},
		{"SELECT CAST($1 AS BIGINT)", []string{"x"}, fault.SQLError},
		{"SELECT CAST($1 AS VARCHAR)", []string{"\xff"}, fault.BadRequest},
		{"SELECT CAST($1 AS VARCHAR)", []string{strings.Repeat("x", 17<<20)}, fault.TooLarge},
	} {
		_, err := e.Run(t.Context(), query.Request{Database: db, SQL: c.sql, Args: c.args})
		if !fault.Is(err, c.code) {
			t.Errorf("%s with %.20q: %v, want %s", c.sql, c.args, err, c.code)
		}
	}
	_, err := e.Check(t.Context(), db, "SELECT $1")
	if f, ok := errors.AsType[*fault.Fault](err); !ok || f.Message != "Parameters such as ? or $1 are not possible here." {
		t.Errorf("a parameter without a value: %v", err)
	}
}
