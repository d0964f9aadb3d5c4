package retrieve

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"go.uber.org/goleak"

	"interlock/internal/document"
	"interlock/internal/document/documenttest"
	"interlock/internal/embed"
	"interlock/internal/fault"
	"interlock/internal/jail"
)

func TestMain(m *testing.M) {
	jail.Main()
	document.Main()
	goleak.VerifyTestMain(m, goleak.IgnoreAnyFunction("interlock/internal/jail.init.func1.1"), goleak.IgnoreAnyFunction("database/sql.(*DB).connectionOpener"))
}

// openIndex makes an empty index that compares words, or meanings where the encoder does.
func openIndex(tb testing.TB, encoder embed.Encoder) *Index {
	tb.Helper()
	x, err := Open(Config{Path: filepath.Join(tb.TempDir(), "index.db"), Encoder: encoder})
	if err != nil {
		tb.Fatal(err)
	}
	tb.Cleanup(func() {
		if err := x.Close(); err != nil {
			tb.Error(err)
		}
	})
	return x
}

// openModel returns the embedding model, and skips the test where it was not fetched.
func openModel(tb testing.TB) embed.Encoder {
	tb.Helper()
	if !embed.Describe().Model {
		tb.Skip("the embedding model was not fetched (package weights)")
	}
	return embed.Open()
}

func writeFiles(tb testing.TB, files map[string]string) (dir string) {
	tb.Helper()
	dir = tb.TempDir()
	for name, content := range files {
		writeFile(tb, filepath.Join(dir, name), content)
	}
	return dir
}

func writeFile(tb testing.TB, path, content string) {
	tb.Helper()
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		tb.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(content), 0o644); err != nil {
		tb.Fatal(err)
	}
}

func add(tb testing.TB, x *Index, q AddRequest) AddReport {
	tb.Helper()
	r, err := x.Add(context.Background(), q)
	if err != nil {
		tb.Fatal(err)
	}
	return r
}

func search(tb testing.TB, x *Index, s Scope, text string) []Chunk {
	tb.Helper()
	found, err := x.Search(context.Background(), Query{Scope: s, Text: text})
	if err != nil {
		tb.Fatal(err)
	}
	return found
}

func files(found []Chunk) []string {
	var out []string
	for _, c := range found {
		out = append(out, c.SourceFile)
	}
	return out
}

func TestSearchCites(t *testing.T) {
	x := openIndex(t, nil)
	dir := writeFiles(t, map[string]string{
		"policy.md":       "# Policy\n\n## Returns\n\nGoods may be sent back within thirty days.\n\n## Parking\n\nVisitors park behind the building.",
		"deep/manual.pdf": string(documenttest.PDF("The cover page of the manual.", "To reset the pump hold the red button for five seconds.")),
		"notes.txt":       "Nothing of interest.\n\nThe kitchen closes at eight.",
		".hidden.md":      "# Hidden\nreset the pump",
		"program.go":      "package main",
	})
	report := add(t, x, AddRequest{Collection: "house", Path: dir})
	if report.Added != 3 || len(report.Problems) > 0 {
		t.Fatalf("report %+v", report)
	}
	for question, want := range map[string]Chunk{
		"How do I reset the pump?":             {SourceFile: "deep/manual.pdf", Place: "page 2", Content: "To reset the pump hold the red button for five seconds."},
		"How many days to send goods back?":    {SourceFile: "policy.md", Place: "Returns", Content: "Goods may be sent back within thirty days."},
		"When does the kitchen close at night": {SourceFile: "notes.txt", Place: "line 1", Content: "Nothing of interest.\n\nThe kitchen closes at eight."},
	} {
		found := search(t, x, Scope{}, question)
		if len(found) == 0 || found[0].SourceFile != want.SourceFile || found[0].Place != want.Place || found[0].Content != want.Content {
			t.Errorf("%s: found %+v", question, found)
			continue
		}
		for _, c := range found {
			if c.Relevancy < 0 || c.Relevancy > 1 {
				t.Errorf("%s: relevancy %v", question, c.Relevancy)
			}
		}
	}
}

// Two processes that add the same folder at once store each document once.
func TestAddTwiceAtOnce(t *testing.T) {
	files := map[string]string{}
	for i := range 20 {
		files[fmt.Sprintf("note%d.txt", i)] = fmt.Sprintf("The invoice %d was paid late.", i)
	}
	dir, path := writeFiles(t, files), filepath.Join(t.TempDir(), "index.db")
	var all sync.WaitGroup
	var stored atomic.Int64
	for range 3 {
		x, err := Open(Config{Path: path})
		if err != nil {
			t.Fatal(err)
		}
		all.Go(func() {
			defer x.Close()
			report, err := x.Add(t.Context(), AddRequest{Path: dir, Collection: "notes", WordsOnly: true})
			if err != nil {
				t.Error(err)
			}
			if report.Added+report.Unchanged != len(files) {
				t.Errorf("the report is %+v", report)
			}
			stored.Add(int64(report.Added))
		})
	}
	all.Wait()
	if n := stored.Load(); n != int64(len(files)) {
		t.Errorf("%d documents were added, want %d", n, len(files))
	}
}

func TestIncremental(t *testing.T) {
	counted := &countingEncoder{}
	x := openIndex(t, counted)
	dir := writeFiles(t, map[string]string{"a.md": "# A\nalpha", "b.md": "# B\nbeta", "c.md": "# C\ngamma"})
	q := AddRequest{Collection: "c", Path: dir}
	if r := add(t, x, q); r.Added != 3 || counted.texts != 3 {
		t.Fatalf("first: %+v, %d texts embedded", r, counted.texts)
	}
	if r := add(t, x, q); r.Unchanged != 3 || r.Added+r.Changed+r.Removed != 0 || counted.texts != 3 {
		t.Errorf("nothing changed: %+v, %d texts embedded", r, counted.texts)
	}
	writeFile(t, filepath.Join(dir, "a.md"), "# A\nalpha is now omega")
	if err := os.Chtimes(filepath.Join(dir, "b.md"), time.Time{}, time.Now().Add(time.Hour)); err != nil { // touched, not changed
		t.Fatal(err)
	}
	if err := os.Remove(filepath.Join(dir, "c.md")); err != nil {
		t.Fatal(err)
	}
	if r := add(t, x, q); r.Changed != 1 || r.Unchanged != 1 || r.Removed != 1 || counted.texts != 4 {
		t.Errorf("after changes: %+v, %d texts embedded", r, counted.texts)
	}
	if found := search(t, x, Scope{}, "omega"); len(found) == 0 || !strings.Contains(found[0].Content, "omega") {
		t.Errorf("the new text is not found: %+v", found)
	}
	if found := files(search(t, x, Scope{}, "gamma")); slices.Contains(found, "c.md") {
		t.Error("a removed file is found")
	}
	writeFile(t, filepath.Join(dir, "b.md"), "# B\nbeta became delta")
	r, err := x.Refresh(t.Context(), AddRequest{Collection: "c"})
	if err != nil || r.Changed != 1 || r.Unchanged != 1 {
		t.Errorf("refresh: %+v, %v", r, err)
	}
}

// countingEncoder counts what is embedded.
type countingEncoder struct {
	embed.Words
	texts int
}

func (e *countingEncoder) Name() string { return "counting" }

func (e *countingEncoder) Embed(ctx context.Context, texts []string) ([]embed.Vector, error) {
	e.texts += len(texts)
	return e.Words.Embed(ctx, texts)
}

// TestOwners looks from every side at documents of two people, of everybody and of threads.
func TestOwners(t *testing.T) {
	x := openIndex(t, embed.Words{})
	for _, q := range []AddRequest{
		{Collection: "shared"},
		{Owner: "ann", Collection: "ann"},
		{Owner: "bob", Collection: "bob"},
		{Owner: "ann", Thread: "t1"},
		{Owner: "bob", Thread: "t2"},
	} {
		q.Path = writeFiles(t, map[string]string{strings.Trim(q.Owner+"-"+q.Collection+q.Thread, "-") + ".txt": "the secret recipe"})
		add(t, x, q)
	}
	for _, c := range []struct {
		scope Scope
		want  []string
	}{
		{Scope{}, []string{"shared.txt"}},
		{Scope{Owner: "ann"}, []string{"ann-ann.txt", "shared.txt"}},
		{Scope{Owner: "ann", Thread: "t1"}, []string{"ann-ann.txt", "ann-t1.txt", "shared.txt"}},
		{Scope{Owner: "ann", Thread: "t2"}, []string{"ann-ann.txt", "shared.txt"}},
		{Scope{Owner: "ann", Collections: []string{"bob"}}, nil},
		{Scope{Owner: "bob", Collections: []string{"bob"}}, []string{"bob-bob.txt"}},
		{Scope{Owner: "bob", Collections: []string{"shared"}, Thread: "t2"}, []string{"bob-t2.txt", "shared.txt"}},
		{Scope{Owner: "eve", Thread: "t1"}, []string{"shared.txt"}},
	} {
		got := files(search(t, x, c.scope, "secret recipe"))
		slices.Sort(got)
		if !slices.Equal(got, c.want) {
			t.Errorf("%+v sees %q, want %q", c.scope, got, c.want)
		}
	}
	if n, err := x.Remove(t.Context(), "eve", "bob", ""); err != nil || n != 0 {
		t.Errorf("somebody else removed %d documents, %v", n, err)
	}
	if n, err := x.Remove(t.Context(), "bob", "bob", ""); err != nil || n != 1 {
		t.Errorf("the owner removed %d documents, %v", n, err)
	}
	if got := files(search(t, x, Scope{Owner: "bob", Collections: []string{"bob"}}, "secret recipe")); len(got) > 0 {
		t.Errorf("removed documents are found: %q", got)
	}
}

func TestProblemsAreListed(t *testing.T) {
	x := openIndex(t, embed.Words{})
	dir := writeFiles(t, map[string]string{
		"scan.pdf": string(documenttest.PDF("", "")), "locked.pdf": string(documenttest.EncryptedPDF("x")), "broken.docx": "PK broken", "good.md": "# Good\nfine", "half.pdf": string(documenttest.PDF("text", "")),
	})
	r := add(t, x, AddRequest{Collection: "c", Path: dir})
	codes := map[string]fault.Code{}
	for _, p := range r.Problems {
		codes[p.File] = p.Code
		if strings.Contains(p.Message, dir) {
			t.Errorf("the message names the folder of the server: %s", p.Message)
		}
	}
	for file, want := range map[string]fault.Code{"scan.pdf": fault.DocumentNoText, "locked.pdf": fault.DocumentEncrypted, "broken.docx": fault.DocumentUnreadable, "half.pdf": ""} {
		if got, there := codes[file]; !there || got != want {
			t.Errorf("%s: %q, want %q", file, got, want)
		}
	}
	list, err := x.List(t.Context(), Scope{})
	if err != nil || len(list) != 5 {
		t.Fatalf("%d documents listed, %v", len(list), err)
	}
	for _, d := range list {
		if (d.Problem != nil) != (codes[d.File] != "") || d.Problem == nil && d.Embedded != d.Chunks {
			t.Errorf("listed %+v", d)
		}
	}
	if r := add(t, x, AddRequest{Collection: "c", Path: dir}); r.Unchanged != 5 {
		t.Errorf("unreadable documents are read again: %+v", r)
	}
}

// TestInterrupted stops an Add while it embeds: what was read is found by its words, and the next
// Add goes on.
func TestInterrupted(t *testing.T) {
	x := openIndex(t, embed.Words{})
	var text strings.Builder
	for range 200 {
		text.WriteString(strings.Repeat("Some sentence about pumps. ", 30) + "\n\n")
	}
	dir := writeFiles(t, map[string]string{"long.txt": text.String()})
	ctx, cancel := context.WithCancel(t.Context())
	_, err := x.Add(ctx, AddRequest{Collection: "c", Path: dir, Progress: func(p Progress) {
		if p.Stage == StageEmbedding && p.Done > 0 {
			cancel()
		}
	}})
	if !errors.Is(err, context.Canceled) {
		t.Fatalf("the cancelled Add returned %v", err)
	}
	list, err := x.List(t.Context(), Scope{})
	if err != nil || len(list) != 1 || list[0].Embedded == 0 || list[0].Embedded == list[0].Chunks {
		t.Fatalf("%+v, %v", list, err)
	}
	if found := search(t, x, Scope{}, "pumps"); len(found) == 0 {
		t.Error("nothing is found by words")
	}
	add(t, x, AddRequest{Collection: "c", Path: dir})
	if list, err = x.List(t.Context(), Scope{}); err != nil || list[0].Embedded != list[0].Chunks {
		t.Errorf("%+v, %v", list, err)
	}
}

// TestWordsAreEnoughUntilThereAreVectors: a passage that has every word of the question goes before embedded ones that
// have none, although it is not embedded yet.
func TestWordsAreEnoughUntilThereAreVectors(t *testing.T) {
	x := openIndex(t, openModel(t))
	files := map[string]string{}
	for i, text := range []string{"A berth costs forty pounds.", "Sails are washed in cold water.", "Dogs are kept on a lead.", "The jetty sells diesel.", "Lifting stops in strong wind.", "Soup is sold in the harbour canteen at noon."} {
		files[fmt.Sprintf("%d.txt", i)] = text
	}
	add(t, x, AddRequest{Collection: "c", Path: writeFiles(t, files)})
	late := writeFiles(t, map[string]string{"late.txt": "The secret ingredient of the harbour soup is smoked paprika."})
	add(t, x, AddRequest{Collection: "c", Path: late, WordsOnly: true})
	if found := search(t, x, Scope{}, "secret ingredient of the harbour soup"); found[0].SourceFile != "late.txt" || found[0].Relevancy < chunkThreshold {
		t.Errorf("found %+v", found[0])
	}
}

// TestAnotherEncoder opens an index with an encoder that did not write it: old vectors are not
// compared with new ones, and the next Add replaces them.
func TestAnotherEncoder(t *testing.T) {
	path := filepath.Join(t.TempDir(), "index.db")
	dir := writeFiles(t, map[string]string{"a.md": "# A\nalpha"})
	open := func(e embed.Encoder) *Index {
		x, err := Open(Config{Path: path, Encoder: e})
		if err != nil {
			t.Fatal(err)
		}
		return x
	}
	x := open(embed.Words{})
	add(t, x, AddRequest{Collection: "c", Path: dir})
	if err := x.Close(); err != nil {
		t.Fatal(err)
	}
	counted := &countingEncoder{}
	x = open(counted)
	defer x.Close()
	if found := search(t, x, Scope{}, "alpha"); len(found) != 1 {
		t.Errorf("found %+v", found)
	}
	counted.texts = 0
	if r := add(t, x, AddRequest{Collection: "c", Path: dir}); r.Unchanged != 1 || counted.texts != 1 {
		t.Errorf("%+v, %d texts embedded", r, counted.texts)
	}
}

func TestWrongRequests(t *testing.T) {
	x := openIndex(t, embed.Words{})
	dir := t.TempDir()
	for name, q := range map[string]AddRequest{
		"no path": {Collection: "c"}, "no collection": {Path: dir}, "bad name": {Collection: "../c", Path: dir}, "missing": {Collection: "c", Path: filepath.Join(dir, "none")},
	} {
		if _, err := x.Add(t.Context(), q); !fault.Is(err, fault.BadRequest) && !fault.Is(err, fault.NotFound) {
			t.Errorf("%s: %v", name, err)
		}
	}
	if _, err := x.Search(t.Context(), Query{Text: " "}); !fault.Is(err, fault.BadRequest) {
		t.Errorf("an empty question: %v", err)
	}
	for _, text := range []string{`"`, `a" OR b*`, "NEAR(", "-", "'; DROP TABLE chunks", strings.Repeat("word ", 10_000), "\x00", "和平"} {
		if _, err := x.Search(t.Context(), Query{Text: text}); err != nil {
			t.Errorf("%.20q: %v", text, err)
		}
	}
}

func TestChunks(t *testing.T) {
	long := strings.Repeat("This is a sentence of some words. ", 100)
	chunks := makeChunks([]document.Part{{Place: "A", Text: "short"}, {Place: "B", Text: long}, {Place: "line 1", Text: "one"}, {Place: "line 3", Text: "two", Continues: true}})
	if chunks[0] != (chunk{"A", "", "short"}) || chunks[len(chunks)-1] != (chunk{"line 1", "", "one\n\ntwo"}) {
		t.Errorf("chunks %q", chunks)
	}
	for _, c := range chunks {
		if len(c.content) > maxChunk || c.place == "B" && !strings.HasSuffix(c.content, ".") {
			t.Errorf("chunk %q", c)
		}
	}
	if got := splitName("order_lineItems2024-HTTPCode"); !slices.Equal(got, []string{"order", "line", "Items", "2024", "HTTP", "Code"}) {
		t.Errorf("words of a name: %q", got)
	}
}

// TestIndexOfTheVersionBefore is brought up to date when it is opened: its passages are found by their English words as well.
func TestIndexOfTheVersionBefore(t *testing.T) {
	t.Parallel()
	dir, path := t.TempDir(), filepath.Join(t.TempDir(), "documents.db")
	text := "# Hausordnung\n\nDer Müll wird am Montag abgeholt, und die Treppe wird am Freitag gereinigt.\n"
	if err := os.WriteFile(filepath.Join(dir, "haus.md"), []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	open := func() *Index {
		x, err := Open(Config{Path: path, Encoder: embed.Words{}})
		if err != nil {
			t.Fatal(err)
		}
		return x
	}
	x := open()
	add(t, x, AddRequest{Collection: "c", Path: dir})
	if _, err := x.db.Exec(`DROP TABLE chunk_words; ALTER TABLE chunks DROP COLUMN heading;
		CREATE VIRTUAL TABLE chunk_words USING fts5 (content, heading, content='', contentless_delete=1, tokenize='porter unicode61 remove_diacritics 2');
		INSERT INTO chunk_words (rowid, content, heading) SELECT id, content, place FROM chunks; PRAGMA user_version = 2`); err != nil {
		t.Fatal(err)
	}
	if err := x.Close(); err != nil {
		t.Fatal(err)
	}
	x = open()
	defer x.Close()
	for _, question := range []string{"when is rubbish collected", "Wann wird der Abfall geholt?", "Treppe"} {
		if found := search(t, x, Scope{}, question); len(found) != 1 || found[0].Relevancy == 0 {
			t.Errorf("%s: found %+v", question, found)
		}
	}
}

func TestQuestionTerms(t *testing.T) {
	for question, want := range map[string][]string{
		"What is the warranty of a pump?":             {"warranty", "pump"},
		"Did the man die in the war?":                 {"man", "die", "war"},
		"Wie lang ist die Frist in der Probezeit?":    {"lang*", "fris* period", "probezei* probation"},
		"Wer hat die Zauberflöte komponiert?":         {"zauberflöt*", "komponier* composer"},
		"Werden Überstunden bezahlt?":                 {"überstund* overtime", "bezahl* pay"},
		"how MANY How many days, days of 7 x stock's": {"days", "7", "stock"},
	} {
		var got []string
		for _, t := range questionTerms(question) {
			got = append(got, strings.Join(t, " "))
		}
		if !slices.Equal(got, want) {
			t.Errorf("%s: %q, want %q", question, got, want)
		}
	}
}
