package main

import (
	"bytes"
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

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

// A slowEncoder embeds questions, and passages never.
type slowEncoder struct{ embed.Words }

func (slowEncoder) Embed(ctx context.Context, texts []string) ([]embed.Vector, error) {
	if len(texts) == 1 {
		return embed.Words{}.Embed(ctx, texts)
	}
	<-ctx.Done()
	return nil, ctx.Err()
}

// TestSearchDoesNotWaitForVectors: a search finds by words what another program is still embedding, and says so.
func TestSearchDoesNotWaitForVectors(t *testing.T) {
	x, err := retrieve.Open(retrieve.Config{Path: filepath.Join(t.TempDir(), "documents.db"), Encoder: slowEncoder{}})
	if err != nil {
		t.Fatal(err)
	}
	defer x.Close()
	path := filepath.Join(t.TempDir(), "notes.md")
	if err := os.WriteFile(path, []byte("# Leave\n\nStaff have paid leave.\n\n# Soup\n\nThe soup has paprika."), 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := x.Add(t.Context(), retrieve.AddRequest{Collection: "staff", Path: path, WordsOnly: true}); err != nil {
		t.Fatal(err)
	}
	defer func(before time.Duration) { embedWait = before }(embedWait)
	embedWait = 50 * time.Millisecond
	var out, errs bytes.Buffer
	a := &app{out: &out, errw: &errs}
	if err := a.searchDocs(t.Context(), x, docsFlags{collection: "staff", limit: 5}, []string{"paprika soup"}); err != nil {
		t.Fatal(err)
	}
	if !strings.Contains(out.String(), "notes.md, Soup") || !strings.Contains(errs.String(), "2 passages found by words alone so far") {
		t.Errorf("the search says\n%s\nand\n%s", out.String(), errs.String())
	}
}
