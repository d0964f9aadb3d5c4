package source_test

import (
	"fmt"
	"os"
	"path/filepath"
	"testing"

	"github.com/google/go-cmp/cmp"

	"interlock/internal/query"
	"interlock/internal/schema"
	"interlock/internal/source"
	"interlock/internal/source/sourcetest"
	"interlock/internal/sqlpolicy"
)

// loaded copies a table into a database of the embedded engine.
func loaded(t testing.TB, s source.Source, f schema.Filter) (query.Database, int64) {
	t.Helper()
	path := filepath.Join(t.TempDir(), "loaded.duckdb")
	w, err := query.Create(path)
	if err != nil {
		t.Fatal(err)
	}
	defer w.Abort()
	rows, err := source.Load(t.Context(), s, f, w, "data", nil)
	if err == nil {
		err = w.Close()
	}
	if err != nil {
		t.Fatal(err)
	}
	columns, err := s.Describe(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	return query.Database{Path: path, Tables: []sqlpolicy.Table{{Name: "data", Columns: schema.Names(columns)}}}, rows
}

// survives says that the engine shows a copied table as its own system does.
func survives(t *testing.T, engine *query.Engine, s source.Source) {
	t.Helper()
	page, err := s.Preview(t.Context(), schema.Filter{}, 0, 100)
	if err != nil {
		t.Fatal(err)
	}
	db, _ := loaded(t, s, schema.Filter{})
	result, err := engine.Run(t.Context(), query.Request{Database: db, SQL: "SELECT * FROM data ORDER BY id"})
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(string(page.Rows), string(result.Rows)); diff != "" {
		t.Errorf("(-there +copied): %s", diff)
	}
	columns, err := s.Describe(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	for i, c := range columns {
		if got, want := result.Columns[i].Type, query.StoredType(c.Type); !got.Equal(want) {
			t.Errorf("column %s is %s, want %s", c.Name, got, want)
		}
	}
}

// BenchmarkLoadPostgreSQL copies a million rows of ten columns.
func BenchmarkLoadPostgreSQL(b *testing.B) {
	server := sourcetest.Postgres(b)
	address := fmt.Sprintf("postgres:///postgres?host=%s&user=owner", server.Socket)
	execPostgres(b, address, `CREATE TABLE t1m AS SELECT i::int AS id, (random()*1e6)::bigint AS cust, (random()*10000)::numeric(15,2) AS amt, random() AS score,
		'name_' || i%10000 AS name, md5(i::text) AS code, date '2020-01-01' + i%1500 AS d, timestamp '2020-01-01' + i * interval '13 seconds' AS ts, i%3=0 AS flag,
		CASE WHEN i%10=0 THEN NULL ELSE i%100 END AS cat FROM generate_series(1, 1000000) i`, "VACUUM ANALYZE t1m")
	s := open(b, source.Config{URL: address, Table: "t1m"})
	defer s.Close()
	for name, f := range map[string]schema.Filter{
		"copy":      {},
		"statement": {Conditions: []schema.Condition{{Column: "id", Op: schema.Gte, Value: 1}}},
	} {
		b.Run(name, func(b *testing.B) {
			for b.Loop() {
				db, rows := loaded(b, s, f)
				if rows != 1_000_000 {
					b.Fatalf("%d rows", rows)
				}
				b.StopTimer()
				info, err := os.Stat(db.Path)
				if err != nil {
					b.Fatal(err)
				}
				b.ReportMetric(float64(info.Size()>>20), "MB")
				b.StartTimer()
			}
			b.ReportMetric(1e6*float64(b.N)/b.Elapsed().Seconds(), "rows/s")
		})
	}
}
