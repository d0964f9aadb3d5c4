package catalog_test

import (
	"os"
	"path/filepath"
	"sync"
	"testing"

	"interlock/internal/catalog"
	"interlock/internal/query"
)

// A result names the version that it was read from, also if the files change while the
// statement waits for their import.
func TestQueryNamesTheVersionThatItRead(t *testing.T) {
	w := newWorld(t, map[string]string{"shop/orders.csv": "id\n1\n2\n"})
	conf := w.config
	var once sync.Once
	conf.Progress = func(string, string, int64) {
		once.Do(func() {
			if err := os.WriteFile(filepath.Join(w.root, "shop/orders.csv"), []byte("id\n1\n2\n3\n"), 0o644); err != nil {
				t.Error(err)
			}
		})
	}
	changing, err := catalog.New(conf)
	if err != nil {
		t.Fatal(err)
	}
	defer changing.Close()
	before, err := changing.Get(t.Context(), "shop")
	if err != nil {
		t.Fatal(err)
	}
	const sql = "SELECT count(*) FROM orders"
	read, err := changing.Query(t.Context(), "shop", query.Request{SQL: sql})
	if err != nil {
		t.Fatal(err)
	}
	after, err := changing.Get(t.Context(), "shop")
	if err != nil {
		t.Fatal(err)
	}
	if before.Version == after.Version {
		t.Fatal("the files did not change while they were imported")
	}
	if read.Version != before.Version {
		t.Errorf("read version %.12s, which is not the %.12s that was imported", read.Version, before.Version)
	}
	db, ok := changing.Past("shop", read.Version)
	if !ok {
		t.Fatal("the version that was read is not kept")
	}
	again, err := w.engine.Run(t.Context(), query.Request{Database: db, SQL: sql})
	if err != nil || string(again.Rows) != string(read.Rows) || again.Version != read.Version {
		t.Errorf("read again: %+v %v, first %s", again, err, read.Rows)
	}
	if today, err := changing.Query(t.Context(), "shop", query.Request{SQL: sql}); err != nil || today.Version != after.Version || string(today.Rows) != "[[3]]" {
		t.Errorf("today: %+v %v", today, err)
	}
}
