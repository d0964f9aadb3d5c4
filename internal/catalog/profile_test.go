package catalog_test

import (
	"database/sql"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"interlock/internal/catalog"
	"interlock/internal/fault"
	"interlock/internal/source"
)

// A table of a database looks as its export does, and no copy of it stays.
func TestProfile(t *testing.T) {
	w := newWorld(t, map[string]string{"files/visits.csv": "id,city,at\n1,Rome,2024-01-01\n2,Rome,2024-01-02\n3,,2024-01-05\n"})
	path := filepath.Join(t.TempDir(), "visits.db")
	db, err := sql.Open("sqlite", path)
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	for _, s := range []string{
		`CREATE TABLE visits (id INTEGER PRIMARY KEY, city TEXT, at DATE)`,
		`INSERT INTO visits VALUES (1, 'Rome', '2024-01-01'), (2, 'Rome', '2024-01-02'), (3, NULL, '2024-01-05')`,
	} {
		if _, err := db.ExecContext(t.Context(), s); err != nil {
			t.Fatal(err)
		}
	}
	if err := w.Add(t.Context(), catalog.Connection{Alias: "there", URL: "sqlite:" + path}, source.Secret{}); err != nil {
		t.Fatal(err)
	}
	file, err := w.Profile(t.Context(), "files.visits")
	if err != nil {
		t.Fatal(err)
	}
	live, err := w.Profile(t.Context(), "there.visits")
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(file, live); diff != "" {
		t.Errorf("(-file +database): %s", diff)
	}
	if city := live.Columns[1]; city.Nulls != 1 || city.Distinct != 1 || city.Min != "Rome" || live.Columns[2].Max != "2024-01-05" {
		t.Errorf("%+v", live)
	}
	if again, err := w.Profile(t.Context(), "files.visits"); err != nil || again != file {
		t.Errorf("the profile of a version was made twice: %v", err)
	}
	left, err := os.ReadDir(w.config.Dir)
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range left {
		if strings.HasPrefix(f.Name(), ".profile-") || strings.HasPrefix(f.Name(), "there") {
			t.Errorf("left behind: %s", f.Name())
		}
	}
	if _, err := w.Profile(t.Context(), "visit"); !fault.Is(err, fault.SourceNotRegistered) {
		t.Errorf("a source that is not there: %v", err)
	}
	w.config.MaxRows = 2
	if w.Catalog, err = catalog.New(w.config); err != nil {
		t.Fatal(err)
	}
	if _, err := w.Profile(t.Context(), "there.visits"); !fault.Is(err, fault.TooLarge) {
		t.Errorf("a table that is too large to be copied: %v", err)
	}
}
