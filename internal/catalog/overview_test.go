package catalog_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"interlock/internal/catalog"
	"interlock/internal/fault"
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
	list, err := w.Overview(t.Context())
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

// A version that is no longer today's can be asked until it is swept; then its end is
// said, with what there is instead.
func TestPast(t *testing.T) {
	w := newWorld(t, shop)
	_, first, err := w.Database(t.Context(), "shop")
	if err != nil {
		t.Fatal(err)
	}
	if _, d, err := w.Past(t.Context(), "shop", first.VersionHash); err != nil || d.VersionHash != first.VersionHash {
		t.Errorf("today's: %s %v", d.VersionHash, err)
	}
	if _, err := w.Upload(t.Context(), catalog.Upload{Dataset: "shop", Name: "refunds.csv"}, strings.NewReader("id\n1\n")); err != nil {
		t.Fatal(err)
	}
	_, second, err := w.Database(t.Context(), "shop")
	if err != nil {
		t.Fatal(err)
	}
	db, d, err := w.Past(t.Context(), "shop", first.VersionHash)
	if err != nil || d.VersionHash != first.VersionHash || len(d.Tables) != len(first.Tables) {
		t.Fatalf("the version before: %+v %v", d, err)
	}
	if err := os.Remove(db.Path); err != nil {
		t.Fatal(err)
	}
	_, _, err = w.Past(t.Context(), "shop", first.VersionHash)
	wantCode(t, err, fault.Conflict)
	if f := fault.From(err); !strings.Contains(f.Suggestion, second.VersionHash[:12]) {
		t.Errorf("%s %s", f.Message, f.Suggestion)
	}
	_, _, err = w.Past(t.Context(), "gone", first.VersionHash)
	wantCode(t, err, fault.Conflict)
}
