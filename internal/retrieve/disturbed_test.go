package retrieve

import (
	"fmt"
	"math"
	"os"
	"path/filepath"
	"slices"
	"syscall"
	"testing"

	"interlock/internal/embed"
	"interlock/internal/fault"
)

// What a document keeps of its text, and what another document has as well, is not embedded again.
func TestEqualPassagesAreEmbeddedOnce(t *testing.T) {
	t.Parallel()
	encoder := &countingEncoder{}
	x := openIndex(t, encoder)
	const kept = "# Policy\n\n## Parking\n\nVisitors park behind the building.\n\n## Returns\n\nGoods come back within "
	dir := writeFiles(t, map[string]string{"policy.md": kept + "30 days."})
	add(t, x, AddRequest{Collection: "one", Path: dir})
	if encoder.texts != 2 {
		t.Fatalf("embedded %d texts of 2 passages", encoder.texts)
	}
	add(t, x, AddRequest{Owner: "ann", Collection: "two", Path: dir})
	if encoder.texts != 2 {
		t.Errorf("the same document in another collection embedded %d texts more", encoder.texts-2)
	}
	writeFile(t, filepath.Join(dir, "policy.md"), kept+"90 days of delivery.")
	add(t, x, AddRequest{Collection: "one", Path: dir})
	if encoder.texts != 3 {
		t.Errorf("one changed passage embedded %d texts", encoder.texts-2)
	}
	for _, scope := range []Scope{{Collections: []string{"one"}}, {Owner: "ann", Collections: []string{"two"}}} {
		list, err := x.List(t.Context(), scope)
		if err != nil || len(list) != 1 || list[0].Embedded != list[0].Chunks {
			t.Errorf("%v: %+v, %v", scope.Collections, list, err)
		}
	}
	found := search(t, x, Scope{Collections: []string{"one"}}, "Within how many days do goods come back?")
	if found[0].Place != "Returns" || !slices.ContainsFunc(found, func(c Chunk) bool { return c.Place == "Parking" }) {
		t.Errorf("found %+v", found)
	}
}

// A folder that cannot be read, such as that of a disk which is not mounted, takes no document away.
func TestRefreshWithoutTheFolder(t *testing.T) {
	t.Parallel()
	x := openIndex(t, embed.Words{})
	dir := writeFiles(t, map[string]string{"a.md": "# A\n\napples", "b.md": "# B\n\npears"})
	add(t, x, AddRequest{Collection: "c", Path: dir})
	if err := os.Rename(dir, dir+"-away"); err != nil {
		t.Fatal(err)
	}
	report, err := x.Refresh(t.Context(), AddRequest{Collection: "c"})
	if err != nil || report.Removed != 0 || report.Unchanged != 2 || len(report.Problems) != 1 {
		t.Errorf("without the folder: %+v, %v", report, err)
	}
	if err := os.Rename(dir+"-away", dir); err != nil {
		t.Fatal(err)
	}
	if err := os.Remove(filepath.Join(dir, "a.md")); err != nil {
		t.Fatal(err)
	}
	report, err = x.Refresh(t.Context(), AddRequest{Collection: "c"})
	if err != nil || report.Removed != 1 || report.Unchanged != 1 {
		t.Errorf("without one file: %+v, %v", report, err)
	}
}

// Opening a pipe would wait for its writer for ever.
func TestPipesAreNoDocuments(t *testing.T) {
	t.Parallel()
	x := openIndex(t, embed.Words{})
	dir := writeFiles(t, map[string]string{"a.md": "# A\n\napples", "later.md": "# L\n\nplums"})
	if err := syscall.Mkfifo(filepath.Join(dir, "pipe.txt"), 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := x.Add(t.Context(), AddRequest{Collection: "c", Path: filepath.Join(dir, "pipe.txt")}); fault.From(err).Code != fault.DocumentUnreadable {
		t.Errorf("a pipe: %v", err)
	}
	if report := add(t, x, AddRequest{Collection: "c", Path: dir}); report.Added != 2 {
		t.Errorf("a folder with a pipe: %+v", report)
	}
	later := filepath.Join(dir, "later.md")
	if err := os.Remove(later); err != nil {
		t.Fatal(err)
	}
	if err := syscall.Mkfifo(later, 0o600); err != nil {
		t.Fatal(err)
	}
	if report, err := x.Refresh(t.Context(), AddRequest{Collection: "c"}); err != nil || report.Removed != 1 {
		t.Errorf("a document that became a pipe: %+v, %v", report, err)
	}
}

// A vector that is damaged in the file is left out; its passage is found by its words.
func TestDamagedVector(t *testing.T) {
	t.Parallel()
	x := openIndex(t, embed.Words{})
	dir := writeFiles(t, map[string]string{"a.md": "# A\n\napples from the orchard", "b.md": "# B\n\npears from the garden"})
	add(t, x, AddRequest{Collection: "c", Path: dir})
	for _, scale := range []float32{float32(math.NaN()), float32(math.Inf(1)), -1} {
		damaged := embed.Packed{Values: make([]int8, embed.Dimensions), Scale: scale}.Bytes()
		if _, err := x.db.ExecContext(t.Context(), "UPDATE chunk_vectors SET vector = ? WHERE id = (SELECT min(id) FROM chunks); UPDATE generations SET number = number + 1", damaged); err != nil {
			t.Fatal(err)
		}
		for _, c := range search(t, x, Scope{}, "apples from the orchard") {
			if !(c.Relevancy >= 0 && c.Relevancy <= 1) {
				t.Errorf("scale %v: the relevancy of %s is %v", scale, c.SourceFile, c.Relevancy)
			}
		}
	}
}

// A name that nobody has is told with those that there are, and removes nothing.
func TestUnknownNames(t *testing.T) {
	t.Parallel()
	x := openIndex(t, embed.Words{})
	dir := writeFiles(t, map[string]string{"a.md": "# A\n\napples"})
	add(t, x, AddRequest{Owner: "ann", Collection: "private", Path: dir})
	add(t, x, AddRequest{Collection: "shared", Path: dir})
	err := x.CheckKnown(t.Context(), "bob", "private")
	if f := fault.From(err); f.Code != fault.NotFound || f.Suggestion != "Collections: shared." {
		t.Errorf("a collection of somebody else: %+v", f)
	}
	if err := x.CheckKnown(t.Context(), "ann", "private"); err != nil {
		t.Error(err)
	}
	if n, err := x.Remove(t.Context(), "", "shared", "", "a.md", "b.md"); n != 0 || fault.From(err).Code != fault.NotFound {
		t.Errorf("removed %d, %v", n, err)
	}
}

// A turn asks the same question of documents and of tables: it is embedded once.
func TestQuestionsAreEmbeddedOnce(t *testing.T) {
	t.Parallel()
	encoder := &countingEncoder{}
	x := openIndex(t, encoder)
	dir := writeFiles(t, map[string]string{"a.md": "# A\n\napples"})
	add(t, x, AddRequest{Collection: "c", Path: dir})
	before := encoder.texts
	for range 2 {
		search(t, x, Scope{}, "apples?")
		if _, err := x.SearchTables(t.Context(), TableQuery{Text: "apples?"}); err != nil {
			t.Fatal(err)
		}
	}
	if encoder.texts != before+1 {
		t.Errorf("embedded %d times", encoder.texts-before)
	}
	for i := range 3 * keptQuestions {
		search(t, x, Scope{}, fmt.Sprint("apples ", i))
	}
	if len(x.questions) > keptQuestions {
		t.Errorf("%d questions are kept", len(x.questions))
	}
}
