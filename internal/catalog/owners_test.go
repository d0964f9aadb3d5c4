package catalog_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"interlock/internal/catalog"
	"interlock/internal/fault"
)

// What others uploaded and what the operator placed is theirs, after a restart too.
func TestUploadsHaveOwners(t *testing.T) {
	w := newWorld(t, shop)
	up := func(dataset, name, user string, replace bool) error {
		_, err := w.Upload(t.Context(), catalog.Upload{Dataset: dataset, Name: name, User: user, Replace: replace, Create: true}, strings.NewReader("a\n1\n"))
		return err
	}
	fine := func(err error) {
		t.Helper()
		if err != nil {
			t.Error(err)
		}
	}
	fine(up("hers", "x.csv", "ann", false))
	for range 2 { // before and after a restart
		wantCode(t, up("shop", "orders.csv", "ann", true), fault.Forbidden)
		wantCode(t, up("shop", "new.csv", "ann", false), fault.Forbidden)
		wantCode(t, w.Discard(t.Context(), "shop", "orders.csv", "ann"), fault.Forbidden)
		wantCode(t, up("default", "loose.csv", "ann", false), fault.Forbidden)
		wantCode(t, up("hers", "x.csv", "bob", true), fault.Forbidden)
		wantCode(t, w.Discard(t.Context(), "hers", "x.csv", "bob"), fault.Forbidden)
		fine(up("hers", "x.csv", "ann", true))
		fine(up("hers", "his.csv", "bob", false))
		wantCode(t, w.Discard(t.Context(), "hers", "his.csv", "ann"), fault.Forbidden)
		fine(w.Discard(t.Context(), "hers", "his.csv", "bob"))
		again, err := catalog.New(w.config)
		if err != nil {
			t.Fatal(err)
		}
		fine(w.Close())
		w.Catalog = again
	}
	fine(up("shop", "orders.csv", "", true)) // the operator may
	fine(up("hers", "x.csv", "", true))
	wantCode(t, up("hers", "x.csv", "ann", true), fault.Forbidden)
	fine(up("hers", "y.csv", "ann", false))
	if err := os.Remove(filepath.Join(w.root, "hers", "y.csv")); err != nil {
		t.Fatal(err)
	}
	w.write(t, "hers/y.csv", "a\n2\n") // placed by the operator since
	wantCode(t, w.Discard(t.Context(), "hers", "y.csv", "ann"), fault.Forbidden)
	fine(w.Discard(t.Context(), "hers", "y.csv", ""))
}
