package query_test

import (
	"fmt"
	"path/filepath"
	"runtime"
	"slices"
	"testing"
	"time"

	"interlock/internal/query"
)

const benchStatement = `SELECT c.city, o.status, count(*) AS n, sum(o.amount) AS total FROM orders o JOIN customers c ON c.id = o.customer_id
WHERE o.day >= DATE '2023-11-14' AND o.note IS NOT NULL GROUP BY 1, 2 HAVING count(*) > %d ORDER BY total DESC LIMIT 20`

// A statement that was never seen: tree, walk, bound plan, walk.
func BenchmarkDecisionNew(b *testing.B) {
	db := shop(b)
	e := newEngine(b, query.Config{})
	if _, err := e.Check(b.Context(), db, "SELECT 1"); err != nil {
		b.Fatal(err)
	}
	took := make([]time.Duration, 0, 4096)
	i := 0
	for b.Loop() {
		began := time.Now()
		if _, err := e.Check(b.Context(), db, fmt.Sprintf(benchStatement, i)); err != nil {
			b.Fatal(err)
		}
		took = append(took, time.Since(began))
		i++
	}
	slices.Sort(took)
	b.ReportMetric(float64(took[len(took)/2].Microseconds()), "p50-µs")
	b.ReportMetric(float64(took[len(took)*95/100].Microseconds()), "p95-µs")
}

// The same statement again.
func BenchmarkDecisionSeen(b *testing.B) {
	db := shop(b)
	e := newEngine(b, query.Config{})
	sql := fmt.Sprintf(benchStatement, 1)
	for b.Loop() {
		if _, err := e.Check(b.Context(), db, sql); err != nil {
			b.Fatal(err)
		}
	}
}

// Short and long statements, through everything and through the bare engine.
func BenchmarkPath(b *testing.B) {
	db := writeShop(b, filepath.Join(b.TempDir(), "big-1.duckdb"), 1_000_000)
	e := newEngine(b, query.Config{})
	bare, err := query.OpenBare(db.Path, runtime.NumCPU())
	if err != nil {
		b.Fatal(err)
	}
	defer bare.Close()
	for _, c := range []struct{ name, sql string }{
		{"one", "SELECT 1"},
		{"group", "SELECT status, count(*), sum(amount) FROM orders GROUP BY status"},
		{"thousand rows", "SELECT * FROM orders LIMIT 1000"},
		{"join", "SELECT c.city, i.sku, sum(i.qty * i.price) FROM orders o JOIN items i ON i.order_id = o.id JOIN customers c ON c.id = o.customer_id GROUP BY ALL ORDER BY 3 DESC LIMIT 100"},
		{"distinct", "SELECT count(DISTINCT (customer_id, amount, note)), median(amount) FROM orders"},
	} {
		b.Run(c.name+"/bare", func(b *testing.B) {
			for b.Loop() {
				if _, err := bare.Run(b.Context(), c.sql); err != nil {
					b.Fatal(err)
				}
			}
		})
		b.Run(c.name+"/whole", func(b *testing.B) {
			for b.Loop() {
				if _, err := e.Run(b.Context(), query.Request{Database: db, SQL: c.sql}); err != nil {
					b.Fatal(err)
				}
			}
		})
		i := 0
		b.Run(c.name+"/whole, new text", func(b *testing.B) {
			for b.Loop() {
				i++
				if _, err := e.Run(b.Context(), query.Request{Database: db, SQL: fmt.Sprintf("%s -- %d", c.sql, i)}); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
