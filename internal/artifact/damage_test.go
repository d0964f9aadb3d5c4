package artifact_test

import (
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"interlock/internal/fault"
)

// contentPath finds the one content of a store.
func contentPath(t *testing.T, dir string) string {
	t.Helper()
	found, err := filepath.Glob(filepath.Join(dir, "objects", "*", "*"))
	if err != nil || len(found) != 1 {
		t.Fatalf("contents: %v %v", found, err)
	}
	return found[0]
}

// A content that was cut is refused, and replaced as soon as the same thing is made again; so
// is one that has other bytes.
func TestDamagedContent(t *testing.T) {
	dir := t.TempDir()
	s := open(t, dir)
	made := put(t, s, csv, "id\n48211\n")
	place := contentPath(t, dir)
	for _, damage := range []string{"id\n4", "id\n98211\n"} {
		if err := errors.Join(os.Chmod(place, 0o600), os.Remove(place), os.WriteFile(place, []byte(damage), 0o600)); err != nil {
			t.Fatal(err)
		}
		if _, _, err := s.Open(t.Context(), csv.Owner, made.ID); len(damage) != 9 && !fault.Is(err, fault.StoreFailed) {
			t.Errorf("a content of %d bytes is served: %v", len(damage), err)
		}
		if again := put(t, s, csv, "id\n48211\n"); !again.Reused {
			t.Errorf("made again: %+v", again)
		}
		if content, _ := read(t, s, csv.Owner, made.ID); content != "id\n48211\n" {
			t.Errorf("after it was made again it holds %q", content)
		}
	}
}

// A folder that cannot be listed is an error: a sweep that did not see its documents would
// remove what they need.
func TestFolderThatCannotBeListed(t *testing.T) {
	dir := t.TempDir()
	s := open(t, dir)
	made := put(t, s, csv, "id\n1\n")
	loop := filepath.Join(dir, "meta", "loop") // ELOOP: a folder that no process can list
	if err := os.Symlink(loop, loop); err != nil {
		t.Fatal(err)
	}
	if _, _, err := s.All(t.Context()); err == nil {
		t.Error("a folder that cannot be listed counts as empty")
	}
	if err := os.Remove(loop); err != nil {
		t.Fatal(err)
	}
	if content, _ := read(t, s, csv.Owner, made.ID); content != "id\n1\n" {
		t.Errorf("it holds %q", content)
	}
}

// A folder in the place of a document, and a hash that is a path, are damages of one version.
func TestOddDocuments(t *testing.T) {
	dir := t.TempDir()
	s := open(t, dir)
	made := put(t, s, csv, "id\n1\n")
	var document string
	err := filepath.WalkDir(filepath.Join(dir, "meta"), func(path string, _ fs.DirEntry, err error) error {
		if strings.HasSuffix(path, "1.json") {
			document = path
		}
		return err
	})
	if err != nil || document == "" {
		t.Fatal(document, err)
	}
	if err := os.Mkdir(filepath.Join(filepath.Dir(document), "2.json"), 0o700); err != nil {
		t.Fatal(err)
	}
	all, damaged, err := s.All(t.Context())
	if err != nil || len(all) != 1 || len(damaged) != 1 {
		t.Errorf("%d versions, %d damaged, %v", len(all), len(damaged), err)
	}
	raw, err := os.ReadFile(document)
	if err != nil {
		t.Fatal(err)
	}
	hash := string(raw)[strings.Index(string(raw), `"sha256": "`)+len(`"sha256": "`):][:64]
	path := ".." + strings.Repeat("/", 64-len("../etc/hostname")) + "/etc/hostname"
	if err := os.WriteFile(document, []byte(strings.ReplaceAll(string(raw), hash, path)), 0o600); err != nil {
		t.Fatal(err)
	}
	if content, _, err := s.Open(t.Context(), csv.Owner, made.ID+"@1"); err == nil {
		raw, _ := io.ReadAll(content)
		t.Errorf("a path is served as a content: %q", raw)
	}
}

// The newest version is the one with the highest number, whatever the clock said.
func TestNewestByNumber(t *testing.T) {
	dir := t.TempDir()
	s := open(t, dir)
	put(t, s, csv, "first")
	var document string
	_ = filepath.WalkDir(filepath.Join(dir, "meta"), func(path string, _ fs.DirEntry, err error) error {
		if strings.HasSuffix(path, "1.json") {
			document = path
		}
		return err
	})
	raw, err := os.ReadFile(document)
	if err != nil {
		t.Fatal(err)
	}
	ahead := strings.Replace(string(raw), `"created_at": "20`, `"created_at": "21`, 1)
	if err := os.WriteFile(document, []byte(ahead), 0o600); err != nil {
		t.Fatal(err)
	}
	second := put(t, s, csv, "second")
	if content, meta := read(t, s, csv.Owner, second.ID); content != "second" || meta.Version != 2 {
		t.Errorf("version %d, %q", meta.Version, content)
	}
}
