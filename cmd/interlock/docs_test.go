package main

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"interlock/internal/embed"
	"interlock/internal/retrieve"
)

// TestDocsSay: adding says how many files cannot be read, and a search over several
// collections says which of two documents of one name is meant.
func TestDocsSay(t *testing.T) {
	x, err := retrieve.Open(retrieve.Config{Path: filepath.Join(t.TempDir(), "documents.db"), Encoder: embed.Words{}})
	if err != nil {
		t.Fatal(err)
	}
	defer x.Close()
	var out, errs bytes.Buffer
	a := &app{out: &out, errw: &errs}
	for collection, files := range map[string]map[string]string{
		"staff":   {"notes.md": "# Leave\n\nStaff have paid leave.", "empty.txt": ""},
		"outside": {"notes.md": "# Leave\n\nContractors have no paid leave."},
	} {
		dir := t.TempDir()
		for name, text := range files {
			if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
				t.Fatal(err)
			}
		}
		if err := a.addDocs(t.Context(), x, docsFlags{collection: collection}, dir); err != nil {
			t.Fatal(err)
		}
	}
	for _, want := range []string{"staff: 2 added, 0 changed, 0 unchanged, 0 removed; 1 of them cannot be read and will not be found\n", "outside: 1 added, 0 changed, 0 unchanged, 0 removed\n"} {
		if !strings.Contains(out.String(), want) {
			t.Errorf("adding says %q, want %q", out.String(), want)
		}
	}
	out.Reset()
	if err := a.searchDocs(t.Context(), x, docsFlags{limit: 5}, []string{"Who has paid leave?"}); err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{"notes.md, Leave (collection staff)\n", "notes.md, Leave (collection outside)\n"} {
		if !strings.Contains(out.String(), want) {
			t.Errorf("the search says\n%s\nwant %q", out.String(), want)
		}
	}
	out.Reset()
	if err := a.searchDocs(t.Context(), x, docsFlags{collection: "staff", limit: 5}, []string{"Who has paid leave?"}); err != nil || strings.Contains(out.String(), "(collection") {
		t.Errorf("in one collection: %v\n%s", err, out.String())
	}
}
