package catalog_test

import (
	"database/sql"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"interlock/internal/catalog"
	"interlock/internal/query"
	"interlock/internal/source"
)

// sqliteAt opens a file with SQLite and runs statements there.
func sqliteAt(t *testing.T, path string, statements ...string) *sql.DB {
	t.Helper()
	db, err := sql.Open("sqlite", path)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { db.Close() })
	db.SetMaxOpenConns(1)
	for _, s := range statements {
		if _, err := db.ExecContext(t.Context(), s); err != nil {
			t.Fatalf("%s: %v", s, err)
		}
	}
	return db
}

// answer runs a statement on a dataset.
func (w *world) answer(t *testing.T, id, sql string) string {
	t.Helper()
	r, err := w.Query(t.Context(), id, query.Request{SQL: sql})
	if err != nil {
		t.Fatalf("%s: %v", sql, err)
	}
	return string(r.Rows)
}

// A view without an end is a problem with a name; what stands beside it works, and
// what a column could not keep is said.
func TestSQLiteImport(t *testing.T) {
	w := newWorld(t, nil)
	if err := os.Mkdir(filepath.Join(w.root, "shop"), 0o700); err != nil {
		t.Fatal(err)
	}
	sqliteAt(t, filepath.Join(w.root, "shop", "data.db"), "CREATE TABLE orders (id INTEGER, mixed)", "INSERT INTO orders VALUES (1, x'00ff'), (2, 'a')",
		"CREATE VIEW endless AS WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n) SELECT i, hex(zeroblob(8000000)) AS big FROM n",
		"CREATE VIEW totals AS SELECT count(*) AS n FROM orders").Close()
	if got := w.answer(t, "shop", "SELECT mixed, (SELECT n FROM totals) AS n FROM orders ORDER BY id"); got != `[["\\x00\\xFF",2],["a",2]]` {
		t.Error(got)
	}
	d, err := w.Get(t.Context(), "shop")
	if err != nil || len(d.Tables) != 2 {
		t.Fatalf("%+v, %v", d, err)
	}
	var said []string
	for _, p := range d.Problems {
		said = append(said, p.Path+": "+p.Message)
	}
	text := strings.Join(said, "\n")
	for _, want := range []string{"the view endless at data.db gives more than", `"mixed" holds 1 values that are bytes beside others`} {
		if !strings.Contains(text, want) {
			t.Errorf("%q is not said: %s", want, text)
		}
	}
	if strings.Contains(text, w.root) {
		t.Errorf("a path is told: %s", text)
	}
}

// The version of a file covers its write-ahead log: what is committed there is in the
// next answer, of a file in a data folder and of one that was added.
func TestSQLiteLogIsPartOfTheVersion(t *testing.T) {
	w := newWorld(t, nil)
	dir := filepath.Join(w.root, "live")
	if err := os.Mkdir(dir, 0o700); err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(dir, "app.sqlite")
	db := sqliteAt(t, path, "PRAGMA journal_mode = wal", "CREATE TABLE t (a INTEGER)", "INSERT INTO t VALUES (1)")
	if err := w.Add(t.Context(), catalog.Connection{Alias: "copy", URL: "sqlite:" + path}, source.Secret{}); err != nil {
		t.Fatal(err)
	}
	if err := w.Add(t.Context(), catalog.Connection{Alias: "there", URL: "sqlite:" + path, Remote: true}, source.Secret{}); err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{"[[1]]", "[[2]]", "[[3]]"} {
		for _, id := range []string{"live", "copy", "there"} {
			if got := w.answer(t, id, "SELECT count(*) FROM t"); got != want {
				t.Errorf("%s: %s, want %s", id, got, want)
			}
		}
		if _, err := db.ExecContext(t.Context(), "INSERT INTO t VALUES (2)"); err != nil {
			t.Fatal(err)
		}
	}
	if err := errors.Join(db.Close(), os.Remove(path)); err != nil {
		t.Fatal(err)
	}
	for _, id := range []string{"copy", "there"} {
		if _, err := w.Query(t.Context(), id, query.Request{SQL: "SELECT count(*) FROM t"}); err == nil || !strings.Contains(err.Error(), "there is no SQLite file") {
			t.Errorf("%s without its file: %v", id, err)
		}
	}
}
