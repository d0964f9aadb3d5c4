package source_test

import (
	"database/sql"
	"path/filepath"
	"testing"

	"interlock/internal/query"
	"interlock/internal/schema"
	"interlock/internal/source"
)

// BenchmarkSQLiteImport copies a table of a million rows into a database of the
// embedded engine.
func BenchmarkSQLiteImport(b *testing.B) {
	path := filepath.Join(b.TempDir(), "big.db")
	db, err := sql.Open("sqlite", path)
	if err != nil {
		b.Fatal(err)
	}
	run(b, db, `CREATE TABLE big (id INTEGER PRIMARY KEY, customer INTEGER, amount DECIMAL(12,2), rate REAL, status TEXT, placed DATETIME, day DATE, note TEXT)`,
		`INSERT INTO big WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i+1 FROM n WHERE i < 1000000)
			SELECT i, i % 1000, i / 100.0, i * 0.37, 'paid', '2024-03-01 12:00:00', '2024-03-01', 'note of row ' || i FROM n`)
	db.Close()
	b.ResetTimer()
	for range b.N {
		w, err := query.Create(filepath.Join(b.TempDir(), "copy.duckdb"))
		if err != nil {
			b.Fatal(err)
		}
		s := open(b, source.Config{URL: "sqlite:" + path, Table: "big"})
		if n, err := source.Load(b.Context(), s, schema.Filter{}, w, "big", nil); err != nil || n != 1_000_000 {
			b.Fatal(n, err)
		}
		if err := w.Close(); err != nil {
			b.Fatal(err)
		}
		s.Close()
	}
}

// BenchmarkSQLiteQuery judges and runs a small statement over a small file that stays
// where it is.
func BenchmarkSQLiteQuery(b *testing.B) {
	conf := source.Config{URL: "sqlite:" + sqliteFile(b, "CREATE TABLE t (a INTEGER)", "INSERT INTO t VALUES (1), (2)"), SQLite: pool(b)}
	for b.Loop() {
		if a, err := runSQLite(b.Context(), b, conf, "SELECT sum(a) FROM t", source.Limits{}); err != nil || string(a.Rows) != "[[3]]" {
			b.Fatalf("%s, %v", a.Rows, err)
		}
	}
}
