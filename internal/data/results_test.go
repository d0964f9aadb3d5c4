package data

import (
	"os"
	"path/filepath"
	"testing"
	"time"
)

// What another process is making now stays; what one left that died is removed.
func TestHalfMadeResults(t *testing.T) {
	dir := t.TempDir()
	for name, age := range map[string]time.Duration{"export-live": 0, "open-live.csv": time.Minute, "export-left": 2 * time.Hour, "open-left.csv": 25 * time.Hour} {
		path := filepath.Join(dir, name)
		if err := os.WriteFile(path, []byte("a,b\n"), 0o600); err != nil {
			t.Fatal(err)
		}
		written := time.Now().Add(-age)
		if err := os.Chtimes(path, written, written); err != nil {
			t.Fatal(err)
		}
	}
	NewResults(ResultsConfig{Dir: dir})
	for name, stays := range map[string]bool{"export-live": true, "open-live.csv": true, "export-left": false, "open-left.csv": false} {
		if _, err := os.Stat(filepath.Join(dir, name)); (err == nil) != stays {
			t.Errorf("%s: %v, want that it stays: %t", name, err, stays)
		}
	}
}
