package catalog_test

import (
	"os"
	"path/filepath"
	"testing"

	"interlock/internal/fault"
)

// A semantic model lies beside the files, is no table, and is replaced only by who has seen it.
func TestMeaningOfFiles(t *testing.T) {
	w := newWorld(t, map[string]string{"shop/orders.csv": "id\n1\n", "books/meaning.json": `{"a": 1}`, "books/b.csv": "id\n1\n"})
	books, err := w.Meaning(t.Context(), "books")
	if err != nil || string(books.Text) != `{"a": 1}` || filepath.Base(books.Path) != "meaning.json" {
		t.Errorf("%+v, %v", books, err)
	}
	if d, err := w.Get(t.Context(), "books"); err != nil || len(d.Tables) != 1 {
		t.Errorf("the semantic model is a table: %+v, %v", d.Tables, err)
	}
	none, err := w.Meaning(t.Context(), "shop")
	if err != nil || none.Text != nil || none.Version != "" {
		t.Fatalf("%+v, %v", none, err)
	}
	first, err := w.ReplaceMeaning(t.Context(), "shop", "", "", []byte("one"))
	if err != nil || first.Version == "" {
		t.Fatalf("%+v, %v", first, err)
	}
	if text, err := os.ReadFile(first.Path); err != nil || string(text) != "one" {
		t.Errorf("%q, %v", text, err)
	}
	if _, err := w.ReplaceMeaning(t.Context(), "shop", "", "", []byte("two")); !fault.Is(err, fault.Conflict) {
		t.Errorf("who had not seen it replaced it: %v", err)
	}
	if _, err := w.ReplaceMeaning(t.Context(), "shop", first.Version, "ann", []byte("two")); !fault.Is(err, fault.Forbidden) {
		t.Errorf("a user replaced a file of the operator: %v", err)
	}
	second, err := w.ReplaceMeaning(t.Context(), "shop", first.Version, "", []byte("two"))
	if err != nil || second.Version == first.Version {
		t.Errorf("%+v, %v", second, err)
	}
	if _, err := w.Meaning(t.Context(), "nowhere"); !fault.Is(err, fault.DatasetNotFound) {
		t.Error(err)
	}
}
