package artifact_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"interlock/internal/artifact"
	"interlock/internal/fault"
)

// document returns the path of the document of the only artifact of a store, or of one version.
func document(t *testing.T, dir, name string) string {
	t.Helper()
	paths, err := filepath.Glob(filepath.Join(dir, "meta/*/*/*", name))
	if err != nil || len(paths) != 1 {
		t.Fatalf("%s: %v, %v", name, paths, err)
	}
	return paths[0]
}

// A damaged document is named and skipped: nothing else of the store suffers from it.
func TestDamagedDocument(t *testing.T) {
	for name, damage := range map[string]string{"empty": "", "cut": `{"artifact_id": "art`, "another version": `{"version": 7}`} {
		t.Run(name, func(t *testing.T) {
			dir := t.TempDir()
			s := open(t, dir)
			made := put(t, s, csv, "1")
			put(t, s, csv, "2")
			path := document(t, dir, "2.json")
			if err := os.WriteFile(path, []byte(damage), 0o600); err != nil {
				t.Fatal(err)
			}
			s = open(t, dir)
			versions, damaged, err := s.All(t.Context())
			if err != nil || len(versions) != 1 || len(damaged) != 1 || damaged[0].Path != path {
				t.Errorf("the store has %+v, damaged %+v, %v", versions, damaged, err)
			}
			if _, _, err := s.Open(t.Context(), "ann", made.ID); !fault.Is(err, fault.StoreFailed) || !strings.Contains(err.Error(), "2.json") {
				t.Errorf("the newest version, which is damaged: %v", err)
			}
			if got, _ := read(t, s, "ann", made.ID+"@1"); got != "1" {
				t.Errorf("the first version holds %q", got)
			}
			if next := put(t, s, csv, "3"); next.Version != 3 {
				t.Errorf("the next version is %d", next.Version)
			}
			if err := s.Remove(t.Context(), versions, "age"); err != nil {
				t.Fatal(err)
			}
			if freed, err := s.Sweep(t.Context()); err != nil || freed != 1 {
				t.Errorf("freed %d bytes, %v", freed, err)
			}
		})
	}
}

// A content that a damaged document names stays: the document can be mended.
func TestDamagedDocumentKeepsItsContent(t *testing.T) {
	dir := t.TempDir()
	s := open(t, dir)
	other := csv
	other.Thread = "other"
	put(t, s, csv, "shared")
	versions, _, err := s.All(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	path := document(t, dir, "1.json")
	whole, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	made := put(t, s, other, "shared")
	if err := os.WriteFile(path, whole[:len(whole)-3], 0o600); err != nil {
		t.Fatal(err)
	}
	_, meta := read(t, s, "ann", made.ID)
	if err := s.Remove(t.Context(), []artifact.Meta{meta}, "age"); err != nil {
		t.Fatal(err)
	}
	if freed, err := s.Sweep(t.Context()); err != nil || freed != 0 {
		t.Errorf("freed %d bytes, %v", freed, err)
	}
	if err := os.WriteFile(path, whole, 0o600); err != nil {
		t.Fatal(err)
	}
	if got, _ := read(t, s, "ann", versions[0].ID); got != "shared" {
		t.Errorf("the mended artifact holds %q", got)
	}
}

// What was removed says so, and what is made again goes on counting: a version never means
// two contents.
func TestRemovedAndMadeAgain(t *testing.T) {
	dir := t.TempDir()
	s := open(t, dir)
	made := put(t, s, csv, "1")
	put(t, s, csv, "2")
	versions, _, err := s.All(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	if err := s.Remove(t.Context(), versions, "it was not used for 30 days"); err != nil {
		t.Fatal(err)
	}
	if freed, err := s.Sweep(t.Context()); err != nil || freed != 2 {
		t.Errorf("freed %d bytes, %v", freed, err)
	}
	for _, id := range []string{made.ID, made.ID + "@1", made.ID + "@2"} {
		_, _, err := s.Open(t.Context(), "ann", id)
		if !fault.Is(err, fault.NotFound) || !strings.Contains(err.Error(), "sales.csv) was removed on 20") || !strings.Contains(err.Error(), "30 days") {
			t.Errorf("%s: %v", id, err)
		}
	}
	if _, _, err := s.Open(t.Context(), "ann", made.ID+"@3"); !fault.Is(err, fault.NotFound) || strings.Contains(err.Error(), "removed") {
		t.Errorf("a version that never was: %v", err)
	}
	again := put(t, open(t, dir), csv, "1")
	if again.ID != made.ID || again.Version != 3 || again.Reused {
		t.Errorf("made again: %+v", again)
	}
}

// The artifacts of a thread that is gone leave nothing, but those that others use.
func TestRemoveThread(t *testing.T) {
	dir := t.TempDir()
	s := open(t, dir)
	gone := put(t, s, csv, "gone")
	shared := csv
	shared.LogicalKey = "q2"
	kept := put(t, s, shared, "kept")
	if err := s.RemoveThread(t.Context(), "ann", "t", func(id string) bool { return id == kept.ID }); err != nil {
		t.Fatal(err)
	}
	if freed, err := s.Sweep(t.Context()); err != nil || freed != 4 {
		t.Errorf("freed %d bytes, %v", freed, err)
	}
	if _, _, err := s.Open(t.Context(), "ann", gone.ID); !fault.Is(err, fault.NotFound) {
		t.Errorf("the artifact is still there: %v", err)
	}
	if got, _ := read(t, s, "ann", kept.ID); got != "kept" {
		t.Errorf("the kept one holds %q", got)
	}
	if err := s.RemoveThread(t.Context(), "ann", "t", func(string) bool { return false }); err != nil {
		t.Fatal(err)
	}
	if left, err := filepath.Glob(filepath.Join(dir, "meta/*/*")); err != nil || len(left) != 0 {
		t.Errorf("left behind: %v, %v", left, err)
	}
}

// A removal that was cut off between document and content is finished at the next start.
func TestCutOffRemoval(t *testing.T) {
	dir := t.TempDir()
	s := open(t, dir)
	put(t, s, csv, "content")
	versions, _, err := s.All(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	if err := s.Remove(t.Context(), versions, "age"); err != nil {
		t.Fatal(err)
	}
	open(t, dir)
	if left, err := filepath.Glob(filepath.Join(dir, "objects/*/*")); err != nil || len(left) != 0 || len(leftovers(t, dir)) != 0 {
		t.Errorf("left behind: %v, %v, %v", left, leftovers(t, dir), err)
	}
}
