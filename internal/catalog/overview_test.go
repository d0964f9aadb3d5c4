package catalog_test

import (
	"database/sql"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"interlock/internal/catalog"
	"interlock/internal/source"
)

// The overview says what may be done: files of plain folders may come and go, those of
// a registry not, and what was added by hand may be taken out.
func TestOverview(t *testing.T) {
	w := newWorld(t, map[string]string{
		"shop/orders.csv": "id\n1\n", "shop/notes.txt": "x", "shop/parts/a.csv": "id\n1\n", "shop/.hidden.csv": "id\n1\n", "shop/empty.csv": "",
		"listed/registry.json": `{"id":"listed","files":[{"name":"a.csv"}]}`, "listed/a.csv": "id\n1\n",
	})
	outside := filepath.Join(t.TempDir(), "more.csv")
	if err := os.WriteFile(outside, []byte("id\n1\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := w.Add(t.Context(), catalog.Connection{Alias: "more", URL: outside}, source.Secret{}); err != nil {
		t.Fatal(err)
	}
	type row struct {
		Accepts, Added bool
		Files          string
	}
	list, err := w.Overview(t.Context(), "")
	if err != nil {
		t.Fatal(err)
	}
	got := map[string]row{}
	for _, d := range list {
		got[d.ID] = row{d.Accepts, d.Added, strings.Join(d.Files, " ")}
	}
	want := map[string]row{"shop": {true, false, "empty.csv orders.csv"}, "listed": {}, "more": {false, true, ""}}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
}

// A version that is no longer today's can be asked until it is swept.
func TestPast(t *testing.T) {
	w := newWorld(t, shop)
	_, first, err := w.Database(t.Context(), "shop")
	if err != nil {
		t.Fatal(err)
	}
	if _, err := w.Upload(t.Context(), catalog.Upload{Dataset: "shop", Name: "refunds.csv"}, strings.NewReader("id\n1\n")); err != nil {
		t.Fatal(err)
	}
	today, second, err := w.Database(t.Context(), "shop")
	if err != nil {
		t.Fatal(err)
	}
	db, ok := w.Past("shop", first.Version)
	if !ok || db.Path == today.Path || len(db.Tables) != len(first.Tables) {
		t.Fatalf("the version before: %+v %v", db, ok)
	}
	if same, ok := w.Past("shop", second.Version); !ok || same.Path != today.Path {
		t.Errorf("today's: %+v %v", same, ok)
	}
	if err := os.Remove(db.Path); err != nil {
		t.Fatal(err)
	}
	for id, hash := range map[string]string{"shop": first.Version, "gone": second.Version, "*": second.Version, "": ""} {
		if db, ok := w.Past(id, hash); ok {
			t.Errorf("%q has a past: %+v", id, db)
		}
	}
}

// A database under an alias that another one had is never answered from the copy of
// the other.
func TestAliasOfAnother(t *testing.T) {
	w := newWorld(t, nil)
	dir := t.TempDir()
	for _, name := range []string{"first", "second"} {
		path := filepath.Join(dir, name+".sqlite")
		db, err := sql.Open("sqlite", path)
		if err == nil {
			_, err = db.ExecContext(t.Context(), "CREATE TABLE t (name TEXT); INSERT INTO t VALUES ('"+name+"')")
		}
		if err = errors.Join(err, db.Close()); err != nil {
			t.Fatal(err)
		}
		if err := w.Add(t.Context(), catalog.Connection{Alias: "it", URL: "sqlite:" + path}, source.Secret{}); err != nil {
			t.Fatal(err)
		}
		if got := w.rows(t, "it", "SELECT name FROM t"); got != `[["`+name+`"]]` {
			t.Errorf("%s answers %s", name, got)
		}
		if err := w.Remove(t.Context(), "it"); err != nil {
			t.Fatal(err)
		}
	}
}
