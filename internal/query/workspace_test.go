package query_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"interlock/internal/fault"
	"interlock/internal/query"
	"interlock/internal/schema"
)

func openWorkspace(t *testing.T, e *query.Engine, c query.WorkspaceConfig) *query.Workspace {
	t.Helper()
	w, err := e.OpenWorkspace(t.Context(), c)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := w.Close(); err != nil {
			t.Error(err)
		}
	})
	return w
}

func mustCreate(t *testing.T, w *query.Workspace, table, sql string, args ...string) {
	t.Helper()
	if err := w.Create(t.Context(), table, sql, args...); err != nil {
		t.Fatalf("%s: %v", sql, err)
	}
}

func workspaceRows(t *testing.T, w *query.Workspace, sql string, args ...string) string {
	t.Helper()
	r, err := w.Query(t.Context(), sql, args...)
	if err != nil {
		t.Fatalf("%s: %v", sql, err)
	}
	return string(r.Rows)
}

// writeTwoRows writes an input as a source does.
func writeTwoRows(_ context.Context, w *query.Writer, table string) error {
	a, err := w.Table(table, []schema.Column{{Name: "id", Type: schema.Type{Kind: schema.Int}}, {Name: "note", Type: schema.Type{Kind: schema.Text}}})
	for i := range 2 {
		if err == nil {
			a.Int(0, int64(i+1))
			a.String(1, "it's \"one\"")
			err = a.EndRow()
		}
	}
	return err
}

func TestWorkspace(t *testing.T) {
	db, e := shop(t), newEngine(t, query.Config{})
	w := openWorkspace(t, e, query.WorkspaceConfig{Inputs: []query.Input{
		{Name: "orders", Path: db.Path},
		{Name: "people", Path: db.Path, Table: "customers"},
		{Name: `their "rows"`, Write: writeTwoRows},
	}})
	mustCreate(t, w, "paid", "SELECT id, customer_id, amount FROM orders WHERE status = $1 ORDER BY id -- the end", "paid")
	mustCreate(t, w, `joined "rows"`, `SELECT p.id, note FROM people AS p JOIN "their ""rows""" AS r ON r.id = p.id ORDER BY 1`)
	for sql, want := range map[string]string{
		`SELECT count(*) FROM orders`:             `[[2000]]`,
		`SELECT count(*) FROM people`:             `[[100]]`,
		`SELECT * FROM "joined ""rows"""`:         `[[1,"it's \"one\""],[2,"it's \"one\""]]`,
		`SELECT count(*) > 0 FROM paid`:           `[[true]]`,
		`SELECT current_setting('TimeZone') = ''`: ``,
	} {
		if want != "" {
			if got := workspaceRows(t, w, sql); got != want {
				t.Errorf("%s: %s", sql, got)
			}
		} else if _, err := w.Query(t.Context(), sql); !fault.Is(err, fault.SQLPolicy) {
			t.Errorf("%s: %v", sql, err)
		}
	}
	mustCreate(t, w, "Paid", "SELECT 7 AS seven") // another spelling is the same table
	if got := workspaceRows(t, w, "SELECT seven FROM paid"); got != "[[7]]" {
		t.Error(got)
	}
	columns, err := w.Columns(t.Context(), "paid")
	if err != nil || len(columns) != 1 || columns[0].Name != "seven" {
		t.Error(columns, err)
	}
	if err := w.Drop(t.Context(), "paid", "orders", "nothing"); err != nil {
		t.Error(err)
	}
	if _, err := w.Query(t.Context(), "SELECT * FROM paid"); err == nil {
		t.Error("a dropped table was read")
	}
	if got := workspaceRows(t, w, "SELECT count(*) FROM orders"); got != "[[2000]]" {
		t.Error("an input was dropped", got)
	}
	path := filepath.Join(t.TempDir(), "rows.csv")
	if out, err := w.Export(t.Context(), query.CSV, path, `SELECT id FROM "their ""rows""" WHERE id > CAST($1 AS BIGINT)`, "1"); err != nil || out.Rows != 1 {
		t.Error(out, err)
	}
	if raw, _ := os.ReadFile(path); string(raw) != "id\n2\n" {
		t.Errorf("%s", raw)
	}
}

// Every statement is decided by the policy, and reaches nothing but inputs and made tables.
func TestWorkspacePolicy(t *testing.T) {
	db, e := shop(t), newEngine(t, query.Config{})
	w := openWorkspace(t, e, query.WorkspaceConfig{Inputs: []query.Input{{Name: "orders", Path: db.Path}, {Name: "people", Path: db.Path, Table: "customers"}}})
	for _, sql := range []string{
		"SELECT * FROM items", "SELECT * FROM hidden", "SELECT * FROM input_0.main.hidden", "SELECT * FROM customers", "DROP TABLE people",
		"SELECT * FROM read_csv('/etc/passwd')", "CREATE TABLE x AS SELECT 1", "SELECT 1; DROP TABLE people", "SELECT * FROM duckdb_tables()",
		"COPY people TO 'x.csv'", "ATTACH 'x.duckdb'", "SET memory_limit='100GB'",
	} {
		if _, err := w.Query(t.Context(), sql); !fault.Is(err, fault.SQLPolicy) && !fault.Is(err, fault.SQLError) {
			t.Errorf("query %s: %v", sql, err)
		}
		if err := w.Create(t.Context(), "x", sql); !fault.Is(err, fault.SQLPolicy) && !fault.Is(err, fault.SQLError) {
			t.Errorf("create of %s: %v", sql, err)
		}
	}
	for _, name := range []string{"orders", "ORDERS", "people"} {
		if err := w.Create(t.Context(), name, "SELECT 1 AS one"); !fault.Is(err, fault.BadRequest) {
			t.Errorf("%s was replaced: %v", name, err)
		}
	}
	mustCreate(t, w, `x" AS SELECT 1; DROP TABLE people; --`, "SELECT 1 AS one")
	if got := workspaceRows(t, w, "SELECT count(*) FROM people"); got != "[[100]]" {
		t.Error(got)
	}
	if err := w.Create(t.Context(), "x", "SELECT $1 AS a", "\xff"); !fault.Is(err, fault.BadRequest) {
		t.Error(err)
	}
}

// A statement that is cancelled lands within a second, whatever it does.
func TestWorkspaceCancel(t *testing.T) {
	db, e := shop(t), newEngine(t, query.Config{})
	for name, call := range map[string]func(context.Context, *query.Workspace) error{
		"create": func(ctx context.Context, w *query.Workspace) error { return w.Create(ctx, "x", crossJoin) },
		"query": func(ctx context.Context, w *query.Workspace) error {
			_, err := w.Query(ctx, "SELECT sum(hash(i)) FROM ("+crossJoin+")")
			return err
		},
	} {
		w := openWorkspace(t, e, query.WorkspaceConfig{Inputs: []query.Input{{Name: "orders", Path: db.Path}}})
		ctx, cancel := context.WithCancel(t.Context())
		time.AfterFunc(300*time.Millisecond, cancel)
		err := call(ctx, w)
		if ctx.Err() == nil {
			t.Errorf("%s ended by itself: %v", name, err)
		}
		if !fault.Is(err, fault.QueryCancelled) {
			t.Errorf("%s: %v", name, err)
		}
		ended := time.Now()
		if err := w.Close(); err != nil {
			t.Error(err)
		}
		if took := time.Since(ended); took > slack(time.Second) {
			t.Errorf("%s: closing took %v", name, took)
		}
		if _, err := w.Query(t.Context(), "SELECT 1"); !fault.Is(err, fault.Unavailable) {
			t.Errorf("a closed workspace answers %v", err)
		}
	}
}

const crossJoin = "SELECT a.id * 1000000 + b.id * 1000 + c.id AS i FROM orders AS a, orders AS b, orders AS c"

// Memory, disk and time are bounded, and the workspace goes on where its worker does.
func TestWorkspaceLimits(t *testing.T) {
	db, e := shop(t), newEngine(t, query.Config{})
	inputs := []query.Input{{Name: "orders", Path: db.Path}}
	w := openWorkspace(t, e, query.WorkspaceConfig{Inputs: inputs, MemoryMB: 128, DiskMB: 64})
	err := w.Create(t.Context(), "x", "SELECT md5(CAST(i AS VARCHAR)) || md5(CAST(i + 1 AS VARCHAR)) AS t FROM ("+crossJoin+") LIMIT 20000000")
	if !fault.Is(err, fault.QueryMemory) {
		t.Errorf("a large table: %v", err)
	}
	if got := workspaceRows(t, w, "SELECT count(*) FROM orders"); got != "[[2000]]" {
		t.Error(got)
	}
	_ = w.Close()
	w = openWorkspace(t, e, query.WorkspaceConfig{Inputs: inputs, Timeout: 200 * time.Millisecond})
	if err := w.Create(t.Context(), "x", crossJoin); !fault.Is(err, fault.QueryTimeout) {
		t.Errorf("a long statement: %v", err)
	}
	_ = w.Close()
	w = openWorkspace(t, e, query.WorkspaceConfig{Inputs: inputs, MaxRows: 10})
	if r, err := w.Query(t.Context(), "SELECT * FROM orders"); err != nil || !r.Limited || r.RowCount != 10 {
		t.Error(r, err)
	}
	_ = w.Close()
	endless := query.Input{Name: "endless", Write: func(ctx context.Context, w *query.Writer, table string) error {
		a, err := w.Table(table, []schema.Column{{Name: "t", Type: schema.Type{Kind: schema.Text}}})
		for i := 0; err == nil; i++ {
			a.String(0, strings.Repeat(fmt.Sprint(i, " "), 100))
			if err = a.EndRow(); err == nil {
				err = ctx.Err()
			}
		}
		return err
	}}
	if _, err := e.OpenWorkspace(t.Context(), query.WorkspaceConfig{Inputs: []query.Input{endless}, DiskMB: 16}); !fault.Is(err, fault.TooLarge) {
		t.Errorf("an input without an end: %v", err)
	}
}

// So many workspaces are open at once; the next waits for its place, or gives up.
func TestWorkspaceAdmission(t *testing.T) {
	e := newEngine(t, query.Config{Workspaces: 1})
	first := openWorkspace(t, e, query.WorkspaceConfig{User: "ann"})
	ctx, cancel := context.WithTimeout(t.Context(), 50*time.Millisecond)
	defer cancel()
	if _, err := e.OpenWorkspace(ctx, query.WorkspaceConfig{User: "ben"}); !fault.Is(err, fault.QueryCancelled) {
		t.Errorf("a second workspace: %v", err)
	}
	if err := first.Close(); err != nil {
		t.Fatal(err)
	}
	openWorkspace(t, e, query.WorkspaceConfig{User: "ben"})
	failing := query.Input{Name: "x", Write: func(context.Context, *query.Writer, string) error { return errors.New("the source is gone") }}
	for range 3 { // what fails gives its place back
		e := newEngine(t, query.Config{Workspaces: 1})
		if _, err := e.OpenWorkspace(t.Context(), query.WorkspaceConfig{Inputs: []query.Input{failing}}); err == nil {
			t.Error("an input that fails was taken")
		}
	}
	for _, bad := range [][]query.Input{{{Name: "a"}}, {{Path: "x"}}, {{Name: "a", Path: "x", Write: writeTwoRows}}, {{Name: "a", Write: writeTwoRows}, {Name: "A", Write: writeTwoRows}}} {
		if _, err := e.OpenWorkspace(t.Context(), query.WorkspaceConfig{Inputs: bad}); err == nil {
			t.Errorf("%v was taken", bad)
		}
	}
}
