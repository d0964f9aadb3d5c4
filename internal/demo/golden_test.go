package demo_test

import (
	"database/sql"
	"encoding/json"
	"os"
	"path/filepath"
	"testing"

	"github.com/google/go-cmp/cmp"

	"interlock/internal/demo"
	"interlock/internal/eval"
	"interlock/internal/racetest"
)

// The values of the golden queries are those of another engine on the same files.
func TestGoldenQueries(t *testing.T) {
	dir := demoData(t)
	for _, id := range datasets {
		t.Run(id, func(t *testing.T) {
			db := openSeedOne(t, id)
			var written []demo.Golden
			readJSON(t, &written, dir, id, "golden.json")
			if len(written) != 6 {
				t.Errorf("%d questions, want 6", len(written))
			}
			for i, g := range written {
				got := answer(t, db, g.SQL)
				n := len(got.Rows)
				check := demo.Check{Status: "answered", Columns: got.Columns, RowCount: &n, Values: got.Rows}
				if *update {
					written[i].Check = check
					continue
				}
				if diff := cmp.Diff(check.Columns, g.Check.Columns); diff != "" || g.Check.Status != check.Status || g.Check.RowCount == nil || *g.Check.RowCount != n {
					t.Errorf("%s: %+v; columns %s", g.Question, g.Check, diff)
				}
				if !eval.Same(got, eval.Result{Columns: g.Check.Columns, Rows: g.Check.Values}, eval.Ordered(g.SQL)) {
					t.Errorf("%s: found %v, golden %v", g.Question, got.Rows, g.Check.Values)
				}
				if n == 0 || len(g.Check.Values) != n {
					t.Errorf("%s: %d rows and %d golden ones", g.Question, n, len(g.Check.Values))
				}
			}
			if *update {
				raw, err := json.MarshalIndent(written, "", "  ")
				if err != nil {
					t.Fatal(err)
				}
				if err := os.WriteFile(filepath.Join("golden", id+".json"), append(raw, '\n'), 0o644); err != nil {
					t.Fatal(err)
				}
			}
		})
	}
}

// Other data has other answers, so none are claimed.
func TestGoldenQueriesOfOtherSeeds(t *testing.T) {
	racetest.Skip(t, "computes on the whole demo")
	dir := t.TempDir()
	if _, err := demo.Write(dir, demo.Options{Seed: 2, Scale: 0.05}); err != nil {
		t.Fatal(err)
	}
	for _, id := range datasets {
		var written []demo.Golden
		readJSON(t, &written, dir, id, "golden.json")
		for _, g := range written {
			if g.Check.RowCount != nil || g.Check.Values != nil || g.Check.Status != "answered" {
				t.Errorf("%s: %+v", g.Question, g.Check)
			}
		}
	}
}

func answer(t *testing.T, db *sql.DB, query string) eval.Result {
	t.Helper()
	rows, err := db.Query(query)
	if err != nil {
		t.Fatalf("%s: %v", query, err)
	}
	defer rows.Close()
	var r eval.Result
	if r.Columns, err = rows.Columns(); err != nil {
		t.Fatal(err)
	}
	for rows.Next() {
		cells := make([]any, len(r.Columns))
		into := make([]any, len(cells))
		for i := range cells {
			into[i] = &cells[i]
		}
		if err := rows.Scan(into...); err != nil {
			t.Fatal(err)
		}
		r.Rows = append(r.Rows, cells)
	}
	if err := rows.Err(); err != nil {
		t.Fatal(err)
	}
	return r
}
