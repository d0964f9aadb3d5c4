package query_test

import (
	"path/filepath"
	"testing"

	"github.com/google/go-cmp/cmp"

	"interlock/internal/fault"
	"interlock/internal/query"
	"interlock/internal/schema"
	"interlock/internal/sqlpolicy"
)

// Results of earlier statements are tables beside the dataset's own, under the same
// policy: what is in their files and not on the list stays hidden.
func TestBeside(t *testing.T) {
	db, e := shop(t), newEngine(t, query.Config{})
	result := filepath.Join(t.TempDir(), "result-1.duckdb")
	w, err := query.Create(result)
	if err != nil {
		t.Fatal(err)
	}
	defer w.Abort()
	for _, name := range []string{"top cities", "orders", "secret"} {
		a, err := w.Table(name, []schema.Column{{Name: "city", Type: schema.Type{Kind: schema.Text}}, {Name: "n", Type: schema.Type{Kind: schema.Int}}})
		if err != nil {
			t.Fatal(err)
		}
		a.String(0, "Rome")
		a.Int(1, 7)
		if err := a.EndRow(); err != nil {
			t.Fatal(err)
		}
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	db.Attached = []string{result}
	db.Tables = append(append([]sqlpolicy.Table{}, db.Tables...), sqlpolicy.Table{Name: "top cities", Columns: []string{"city", "n"}})
	for sql, want := range map[string]string{
		`SELECT * FROM "top cities"`: `[["Rome",7]]`,
		`SELECT t.n, count(*) FROM customers c JOIN "top cities" t ON t.city = c.city GROUP BY 1`: `[[7,25]]`,
		`SELECT count(*) FROM orders`: `[[2000]]`, // the dataset's own
	} {
		r, err := e.Run(t.Context(), query.Request{Database: db, SQL: sql})
		if err != nil {
			t.Errorf("%s: %v", sql, err)
		} else if string(r.Rows) != want {
			t.Errorf("%s: %s", sql, r.Rows)
		}
	}
	d, err := e.Check(t.Context(), db, `SELECT city FROM "top cities" JOIN items ON qty = n`)
	want := []sqlpolicy.Touch{{Table: "items", Columns: []string{"qty"}}, {Table: "top cities", Columns: []string{"city", "n"}}}
	if diff := cmp.Diff(want, d.Touches); err != nil || diff != "" {
		t.Error(err, diff)
	}
	for _, sql := range []string{
		`SELECT * FROM secret`, `SELECT * FROM beside_0.main.secret`, `SELECT * FROM beside_0.main."top cities"`, `SELECT * FROM main.secret`, `SELECT * FROM hidden`,
		`SELECT * FROM query_table('secret')`, `SET search_path = 'beside_0.main'`,
	} {
		if _, err := e.Run(t.Context(), query.Request{Database: db, SQL: sql}); !fault.Is(err, fault.SQLPolicy) {
			t.Errorf("%s: %v", sql, err)
		}
	}
	db.Attached = nil // another worker: it knows nothing of the result
	if _, err := e.Run(t.Context(), query.Request{Database: db, SQL: `SELECT * FROM "top cities"`}); err == nil {
		t.Error("a result that is not there was read")
	}
}
