package query_test

import (
	"context"
	"fmt"
	"runtime"
	"strings"
	"testing"
	"time"

	"interlock/internal/query"
	"interlock/internal/schema"
)

// TestLineage says for each column of a result what feeds it: what it reads, which numbers
// of the statement it may be, and which ones it is computed with.
func TestLineage(t *testing.T) {
	db := shop(t)
	e := newEngine(t, query.Config{})
	eachCorpus(t, "lineage", func(t *testing.T, sql string) string {
		d, err := e.Check(t.Context(), db, sql)
		if err != nil {
			t.Fatal(err)
		}
		if len(d.Lineage) == 0 {
			t.Error("no lineage")
		}
		return lineageText(d.Lineage)
	})
}

// Statements for other engines have a lineage where the embedded engine can read them.
func TestLineageRemote(t *testing.T) {
	db, e := shop(t), newEngine(t, query.Config{})
	for _, name := range []string{"postgres", "mysql", "snowflake"} {
		check := checkRemote(t, e, db, name)
		for sql, want := range map[string]string{
			"SELECT replace('48,211.37', ',', '') AS r FROM orders":                  "r: with 48211.37",
			"SELECT sum(amount) * 1.37 AS f FROM orders":                             "f: reads orders, orders.amount; with 1.37",
			"SELECT o.status, c.v FROM orders o CROSS JOIN (SELECT 48211.37 AS v) c": "status: reads orders.status\nv: is 48211.37",
		} {
			d, err := check(t, sql)
			if err != nil {
				t.Errorf("%s: %s: %v", name, sql, err)
				continue
			}
			if got := strings.ToLower(lineageText(d.Lineage)); got != want {
				t.Errorf("%s: %s\ngot  %s\nwant %s", name, sql, got, want)
			}
		}
	}
}

// TestLineageIsBounded: stars of stars multiply columns; neither memory nor time may follow.
func TestLineageIsBounded(t *testing.T) {
	db, e := shop(t), newEngine(t, query.Config{})
	stars := strings.Repeat("*,", 19) + "*"
	var with strings.Builder
	for i := range 4 {
		fmt.Fprintf(&with, ", c%d AS (SELECT %s FROM c%d)", i+1, stars, i)
	}
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	ctx, cancel := context.WithTimeout(t.Context(), 5*time.Second) // the engine itself may take long to bind it
	defer cancel()
	_, err := e.Check(ctx, db, "WITH c0 AS (SELECT * FROM orders)"+with.String()+" SELECT count(*) FROM c4")
	runtime.ReadMemStats(&after)
	if used := after.TotalAlloc - before.TotalAlloc; used > 64<<20 {
		t.Errorf("%d MB were allocated for a statement of some hundred bytes (%v)", used>>20, err)
	}
	t.Logf("%d KB: %v", (after.TotalAlloc-before.TotalAlloc)>>10, err)
}

// lineageText writes a lineage, a line for each column.
func lineageText(all []schema.Lineage) string {
	var lines []string
	for _, l := range all {
		line := l.Column + ":"
		for _, part := range []struct {
			name string
			list []string
		}{{"reads", l.Reads}, {"is", l.Constants}, {"with", l.Factors}} {
			if len(part.list) > 0 {
				line += " " + part.name + " " + strings.Join(part.list, ", ") + ";"
			}
		}
		lines = append(lines, strings.TrimRight(line, ";"))
	}
	return strings.Join(lines, "\n")
}
