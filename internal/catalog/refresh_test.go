package catalog_test

import (
	"database/sql"
	"testing"

	"interlock/internal/catalog"
	"interlock/internal/fault"
	"interlock/internal/query"
	"interlock/internal/source"
)

// TestRefresh copies a database anew on demand, sees its new tables, and reads an
// alias that was removed and added again as it is now.
func TestRefresh(t *testing.T) {
	path := ledger(t)
	w := newWorld(t, nil)
	conn := catalog.Connection{Alias: "bank", URL: "sqlite:" + path, MaxAge: "24h"}
	add := func() {
		t.Helper()
		if err := w.Add(t.Context(), conn, source.Secret{}); err != nil {
			t.Fatal(err)
		}
	}
	add()
	change := func(statement string) {
		t.Helper()
		db, err := sql.Open("sqlite", path)
		if err != nil {
			t.Fatal(err)
		}
		defer db.Close()
		if _, err := db.Exec(statement); err != nil {
			t.Fatal(err)
		}
	}
	const count = "SELECT count(*) FROM payments"
	if got := w.rows(t, "bank", count); got != "[[3]]" {
		t.Fatal(got)
	}
	first, err := w.Query(t.Context(), "bank", query.Request{SQL: count})
	if err != nil || first.CopiedAt.IsZero() {
		t.Fatal(first, err)
	}
	change("CREATE TABLE fees AS SELECT 1 AS n")
	change("DELETE FROM payments WHERE ref IS NULL")
	d, err := w.Refresh(t.Context(), "bank")
	if err != nil || len(d.Tables) != 3 || !d.CopiedAt.After(first.CopiedAt) {
		t.Fatalf("%+v %v", d, err)
	}
	if got := w.rows(t, "bank", count+", fees"); got != "[[2]]" {
		t.Errorf("after the refresh: %s", got)
	}
	change("DELETE FROM payments")
	if err := w.Remove(t.Context(), "bank"); err != nil {
		t.Fatal(err)
	}
	add()
	if got := w.rows(t, "bank", count); got != "[[0]]" {
		t.Errorf("removed and added again: %s", got)
	}
	w.write(t, "d/x.csv", "v\n1\n")
	if _, err := w.Refresh(t.Context(), "d"); !fault.Is(err, fault.BadRequest) {
		t.Errorf("a folder: %v", err)
	}
	if err := w.Add(t.Context(), catalog.Connection{Alias: "old", URL: "sqlite:" + path, MaxAge: "soon"}, source.Secret{}); !fault.Is(err, fault.BadRequest) {
		t.Errorf("an age that is none: %v", err)
	}
}
