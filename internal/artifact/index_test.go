package artifact_test

import (
	"os"
	"path/filepath"
	"testing"
	"time"

	"interlock/internal/artifact"
)

// Equal contents are found by the links of their thread: also in a folder of an earlier
// version that has none, and never by the link of a version that was removed.
func TestEqualContentIsFoundByItsLink(t *testing.T) {
	dir := t.TempDir()
	s := open(t, dir)
	made := put(t, s, csv, "1")
	links := filepath.Join(dir, "meta/*/*/hashes")
	found, err := filepath.Glob(links)
	if err != nil || len(found) != 1 {
		t.Fatalf("links: %v, %v", found, err)
	}
	if err := os.RemoveAll(found[0]); err != nil {
		t.Fatal(err)
	}
	if again := put(t, s, csv, "1"); !again.Reused || again.ID != made.ID {
		t.Errorf("without links: %+v", again)
	}
	versions, _, err := s.All(t.Context())
	if err != nil || len(versions) != 1 {
		t.Fatalf("%+v, %v", versions, err)
	}
	if err := s.Remove(t.Context(), versions, "age"); err != nil {
		t.Fatal(err)
	}
	if again := put(t, s, csv, "1"); again.Reused || again.Version != 2 {
		t.Errorf("after it was removed: %+v", again)
	}
	if err := s.RemoveThread(t.Context(), csv.Owner, csv.Thread, func(string) bool { return false }); err != nil {
		t.Fatal(err)
	}
	if left, _ := filepath.Glob(filepath.Join(dir, "meta/*/*")); len(left) > 0 {
		t.Errorf("of the thread is left: %v", left)
	}
}

// A content whose writer died before it wrote the document goes after a time of grace; one
// that is young may be on its way.
func TestLeakedContent(t *testing.T) {
	dir := t.TempDir()
	s := open(t, dir)
	kept := put(t, s, csv, "kept")
	leak := func(name string, age time.Duration) string {
		path := filepath.Join(dir, "objects", name[:2], name[2:])
		at := time.Now().Add(-age)
		if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte("12345"), 0o600); err != nil {
			t.Fatal(err)
		}
		if err := os.Chtimes(path, at, at); err != nil {
			t.Fatal(err)
		}
		return path
	}
	const hash = "5994471abb01112afcc18159f6cc74b4f511b99806da59b3caf5a9c173cacfc"
	old, young := leak(hash+"1", 2*time.Hour), leak(hash+"2", time.Minute)
	paths, _ := filepath.Glob(filepath.Join(dir, "objects/*/*"))
	for _, p := range paths {
		if p != young {
			_ = os.Chtimes(p, time.Now().Add(-2*time.Hour), time.Now().Add(-2*time.Hour))
		}
	}
	if freed, err := s.Sweep(t.Context()); err != nil || freed != 5 {
		t.Errorf("freed %d bytes, %v", freed, err)
	}
	if _, err := os.Stat(old); err == nil {
		t.Error("the old content is still there")
	}
	if _, err := os.Stat(young); err != nil {
		t.Errorf("the young content: %v", err)
	}
	if content, _ := read(t, s, csv.Owner, kept.ID); content != "kept" {
		t.Errorf("the other one holds %q", content)
	}
}

// A damaged note of a removal still says which number was used: a version never means two
// contents.
func TestDamagedRemovalKeepsTheNumber(t *testing.T) {
	for name, damage := range map[string]string{"empty": "", "cut": `{"name":"sales.csv","vers`} {
		t.Run(name, func(t *testing.T) {
			dir := t.TempDir()
			s := open(t, dir)
			put(t, s, csv, "1")
			put(t, s, csv, "2")
			removeAll(t, s)
			if err := os.WriteFile(document(t, dir, "2.removed"), []byte(damage), 0o600); err != nil {
				t.Fatal(err)
			}
			if next := put(t, s, csv, "3"); next.Version != 3 {
				t.Errorf("the next version is %d", next.Version)
			}
		})
	}
}

func removeAll(t *testing.T, s *artifact.Store) {
	t.Helper()
	versions, _, err := s.All(t.Context())
	if err == nil {
		err = s.Remove(t.Context(), versions, "age")
	}
	if err != nil {
		t.Fatal(err)
	}
}
