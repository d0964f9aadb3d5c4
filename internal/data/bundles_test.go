package data

import (
	"os"
	"path/filepath"
	"testing"
	"time"
)

// The bundles that nobody used for longest go when the folder is full.
func TestBundlesAreSwept(t *testing.T) {
	dir := t.TempDir()
	b, err := openBundles(dir)
	if err != nil {
		t.Fatal(err)
	}
	b.limit = 250
	get := func(key string, made *int) string {
		path, err := b.file([]string{key}, func(path string) error { *made++; return os.WriteFile(path, make([]byte, 100), 0o600) })
		if err != nil {
			t.Fatal(err)
		}
		return path
	}
	made := 0
	old := get("old", &made)
	older := get("older", &made)
	for path, age := range map[string]time.Duration{old: time.Hour, older: 2 * time.Hour} {
		if err := os.Chtimes(path, time.Now().Add(-age), time.Now().Add(-age)); err != nil {
			t.Fatal(err)
		}
	}
	half := filepath.Join(dir, "x.bundle.arrow")
	if err := os.WriteFile(half, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	if err := os.Chtimes(half, time.Now().Add(-2*time.Hour), time.Now().Add(-2*time.Hour)); err != nil {
		t.Fatal(err)
	}
	get("new", &made)
	left, _ := os.ReadDir(dir)
	if len(left) != 2 || made != 3 {
		t.Errorf("%d files left, %d made", len(left), made)
	}
	if _, err := os.Stat(older); err == nil {
		t.Error("the oldest was kept")
	}
	get("older", &made)
	get("new", &made)
	if made != 4 {
		t.Errorf("%d made, want the one that was swept made again and the other used", made)
	}
}
