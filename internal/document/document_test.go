package document_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"go.uber.org/goleak"

	"interlock/internal/document"
	"interlock/internal/document/documenttest"
	"interlock/internal/fault"
	"interlock/internal/jail"
	"interlock/internal/racetest"
)

func TestMain(m *testing.M) {
	_ = os.Unsetenv("INTERLOCK_PLAIN_PROGRAM") // the race detector watches the workers of this package
	jail.Main()
	document.Main()
	goleak.VerifyTestMain(m, goleak.IgnoreAnyFunction("interlock/internal/jail.init.func1.1"))
}

func newReader(t *testing.T, c document.Config) *document.Reader {
	t.Helper()
	r := document.NewReader(c)
	t.Cleanup(func() {
		if err := r.Close(); err != nil {
			t.Error(err)
		}
	})
	return r
}

func read(t *testing.T, r *document.Reader, name string, content []byte) (*document.Document, error) {
	t.Helper()
	return r.Read(t.Context(), name, document.KindOf(name), bytes.NewReader(content), int64(len(content)))
}

func TestKinds(t *testing.T) {
	t.Parallel()
	r := newReader(t, document.Config{})
	for _, c := range []struct {
		name    string
		content []byte
		want    document.Document
	}{
		{"a.txt", []byte("First line\nof a paragraph.\n\n\nSecond.\n"), document.Document{Parts: []document.Part{
			{Place: "line 1", Text: "First line\nof a paragraph."}, {Place: "line 5", Text: "Second.", Continues: true},
		}}},
		{"pages.txt", []byte("one\ftwo"), document.Document{Parts: []document.Part{{Place: "page 1", Text: "one"}, {Place: "page 2", Text: "two"}}}},
		{"utf16.txt", []byte("\xFF\xFEh\x00\xE9\x00"), document.Document{Parts: []document.Part{{Place: "line 1", Text: "hé"}}}},
		{"western.txt", []byte("caf\xE9"), document.Document{Parts: []document.Part{{Place: "line 1", Text: "café"}}}},
		{"a.md", []byte("# Guide\n\nIntro.\n\n## Refunds ##\nIn *14* days.\n\n```sh\n# no heading\n```\n\nUnderlined\n----------\nMore.\n### Deep\nText.\n"), document.Document{Title: "Guide", Parts: []document.Part{
			{Place: "Guide", Text: "Intro."}, {Place: "Refunds", Text: "In *14* days.\n\n```sh\n# no heading\n```"}, {Place: "Underlined", Text: "More."}, {Place: "Underlined > Deep", Text: "Text."},
		}}},
		{"a.html", []byte(`<!doctype html><title>Help &amp; FAQ</title><script>var x = "<p>no"</script><h1>FAQ</h1><p>Hello <b>big</b> world.</p><p>Next.</p><h2>Where?</h2><table><tr><th>step<th>who<tr><td>1<td>Ann</table>`), document.Document{Title: "Help & FAQ", Parts: []document.Part{
			{Place: "FAQ", Text: "Hello big world.\n\nNext."}, {Place: "FAQ > Where?", Text: "step | who\n1 | Ann"},
		}}},
		{"a.csv", []byte("item;price\nlamp;12,50\nchair;\n"), document.Document{Parts: []document.Part{{Place: "rows 2-3", Text: "item: lamp; price: 12,50\nitem: chair"}}}},
		{"a.docx", documenttest.DOCX("# Handbook", "Welcome & hello.", "## Hours", "Nine to five.", "day\topen"), document.Document{Title: "Handbook", Parts: []document.Part{
			{Place: "Handbook", Text: "Welcome & hello."}, {Place: "Hours", Text: "Nine to five.\n\nday | open"},
		}}},
		{"a.pdf", documenttest.PDF("A first page (with brackets).\n\nA second paragraph.", "The second page."), document.Document{Pages: 2, Parts: []document.Part{
			{Place: "page 1", Text: "A first page (with brackets).\n\nA second paragraph."}, {Place: "page 2", Text: "The second page."},
		}}},
	} {
		got, err := read(t, r, c.name, c.content)
		if err != nil {
			t.Errorf("%s: %v", c.name, err)
			continue
		}
		if diff := cmp.Diff(c.want, *got); diff != "" {
			t.Errorf("%s (-want +got):\n%s", c.name, diff)
		}
	}
}

// TestPrintedPage reads a PDF that a browser printed: compressed objects, embedded fonts of two-byte
// codes, kerning.
func TestPrintedPage(t *testing.T) {
	t.Parallel()
	doc, err := newReader(t, document.Config{}).ReadFile(t.Context(), "testdata/printed.pdf")
	if err != nil {
		t.Fatal(err)
	}
	text := ""
	for _, p := range doc.Parts {
		text += p.Text + "\n"
	}
	for _, want := range []string{"Warranty of garden furniture", "The frame is covered for five years from the day of delivery", "Cushions fade in the sun"} {
		if !strings.Contains(strings.Join(strings.Fields(text), " "), want) {
			t.Errorf("%q is not in the text:\n%s", want, text)
		}
	}
	if doc.Pages != 2 || doc.Parts[len(doc.Parts)-1].Place != "page 2" {
		t.Errorf("%d pages, the last part is of %s", doc.Pages, doc.Parts[len(doc.Parts)-1].Place)
	}
}

// TestTypesetPage reads a PDF whose words are apart only by distances, of a font of two-byte codes with widths.
func TestTypesetPage(t *testing.T) {
	t.Parallel()
	const want = "The lighthouse keeper fills the lamp at dusk and notes the hour in his little book."
	doc, err := read(t, newReader(t, document.Config{}), "typeset.pdf", documenttest.TypesetPDF(want))
	if err != nil {
		t.Fatal(err)
	}
	if got := strings.Join(strings.Fields(doc.Parts[0].Text), " "); got != want {
		t.Errorf("text %q, want %q", got, want)
	}
}

// TestRunningHeads leaves the title and the number of each page out of its text, but for the first.
func TestRunningHeads(t *testing.T) {
	t.Parallel()
	var pages []string
	for i := range 8 {
		pages = append(pages, fmt.Sprintf("Harbour manual, part %d\n\nChapter %c tells of ropes . . . . . . . . 12\n\nIt ends with knot %c.\n\nPage %d of 8", i+1, 'A'+i, 'A'+i, i+1))
	}
	doc, err := read(t, newReader(t, document.Config{}), "heads.pdf", documenttest.PDF(pages...))
	if err != nil {
		t.Fatal(err)
	}
	text := ""
	for _, p := range doc.Parts {
		text += p.Text + "\n"
	}
	for what, times := range map[string]int{"Harbour manual": 1, "Page ": 0, ". . .": 0, "tells of ropes … 12": 8, "It ends with knot": 8} {
		if n := strings.Count(text, what); n != times {
			t.Errorf("%q stands %d times in the text, want %d:\n%s", what, n, times, text)
		}
	}
	if len(doc.Parts) != 8 || doc.Parts[7].Place != "page 8" {
		t.Errorf("%d parts", len(doc.Parts))
	}
}

// TestInvisibleCharacters are left out of texts and places: a model would read what no person sees.
func TestInvisibleCharacters(t *testing.T) {
	t.Parallel()
	text := "# Leave\u202E rules\n\nUr\u00ADlaubs\u00ADtage: 30.\U000E0049\U000E0067\u200B The fee\tis 12.\x1b[31m 👩\u200D🔧\n"
	for name, content := range map[string]string{"a.md": text, "a.html": "<h1>Leave\u202E rules</h1><p>" + strings.SplitN(text, "\n\n", 2)[1]} {
		doc, err := read(t, newReader(t, document.Config{}), name, []byte(content))
		if err != nil {
			t.Fatal(err)
		}
		got := strings.Join(strings.Fields(doc.Parts[0].Text), " ")
		if want := "Urlaubstage: 30. The fee is 12.[31m 👩\u200D🔧"; got != want || doc.Parts[0].Place != "Leave rules" || doc.Title != "Leave rules" {
			t.Errorf("%s: %q at %q, want %q", name, got, doc.Parts[0].Place, want)
		}
	}
}

// TestPDFHeadings finds headings by the size of their letters: a page that goes on with a section has its heading, too.
func TestPDFHeadings(t *testing.T) {
	t.Parallel()
	doc, err := read(t, newReader(t, document.Config{}), "manual.pdf", documenttest.PDF(
		"# Harbour manual\n\nBefore the first use read this page.\n\n# Mooring lines\n\nThey are changed every two years.",
		"Worn ones are cut up, so that nobody takes them again. 1 \x01 2",
		"# Winter storage\n\nCovers are fastened with straps.",
	))
	if err != nil {
		t.Fatal(err)
	}
	want := []document.Part{
		{Place: "page 1", Heading: "Harbour manual", Text: "Harbour manual\n\nBefore the first use read this page."},
		{Place: "page 1", Heading: "Mooring lines", Text: "Mooring lines\n\nThey are changed every two years.", Continues: true},
		{Place: "page 2", Heading: "Mooring lines", Text: "Worn ones are cut up, so that nobody takes them again. 1   2"},
		{Place: "page 3", Heading: "Winter storage", Text: "Winter storage\n\nCovers are fastened with straps."},
	}
	if diff := cmp.Diff(want, doc.Parts); diff != "" || doc.Title != "Harbour manual" {
		t.Errorf("title %q, parts (-want +got):\n%s", doc.Title, diff)
	}
}

func TestUnreadable(t *testing.T) {
	racetest.Skip(t, "unpacks large files")
	t.Parallel()
	r := newReader(t, document.Config{MaxFileBytes: 8 << 20, MaxTextBytes: 1 << 20})
	pdf := documenttest.PDF("some text on a page", "and another")
	for _, c := range []struct {
		name    string
		content []byte
		want    fault.Code
	}{
		{"scanned.pdf", documenttest.PDF("", ""), fault.DocumentNoText},
		{"locked.pdf", documenttest.EncryptedPDF("secret"), fault.DocumentEncrypted},
		{"locked.docx", []byte("\xD0\xCF\x11\xE0\xA1\xB1\x1A\xE1 rest"), fault.DocumentEncrypted},
		{"cut.pdf", pdf[:len(pdf)/2], fault.DocumentUnreadable},
		{"notes.pdf", []byte("not a PDF at all"), fault.DocumentUnreadable},
		{"empty.pdf", nil, fault.DocumentUnreadable},
		{"endless.pdf", endlessPDF(), fault.DocumentUnreadable},
		{"cut.docx", documenttest.DOCX("text")[:90], fault.DocumentUnreadable},
		{"other.docx", documenttest.Zip(map[string]string{"a.txt": "b"}), fault.DocumentUnreadable},
		{"broken.docx", documenttest.Zip(map[string]string{"word/document.xml": "<w:document><w:p>"}), fault.DocumentUnreadable},
		{"bomb.docx", documenttest.Zip(map[string]string{"word/document.xml": "<d>" + strings.Repeat("<w:p></w:p>", 1<<20) + "</d>"}), fault.DocumentUnreadable},
		{"binary.txt", []byte("a\x00b"), fault.DocumentUnreadable},
		{"empty.txt", []byte(" \n"), fault.DocumentUnreadable},
		{"huge.txt", bytes.Repeat([]byte("a"), 9<<20), fault.TooLarge},
	} {
		doc, err := read(t, r, c.name, c.content)
		if !fault.Is(err, c.want) {
			t.Errorf("%s: %v, %v; want %s", c.name, doc, err, c.want)
		}
	}
	// The worker is still there, or a new one is.
	if _, err := read(t, r, "good.txt", []byte("fine")); err != nil {
		t.Error(err)
	}
}

// endlessPDF has a tree of pages that contains itself.
func endlessPDF() []byte {
	return bytes.Replace(documenttest.PDF("text"), []byte("/Kids [5 0 R]"), []byte("/Kids [2 0 R]"), 1)
}

func TestLongTextIsCut(t *testing.T) {
	t.Parallel()
	r := newReader(t, document.Config{MaxTextBytes: 1 << 20})
	doc, err := read(t, r, "long.txt", bytes.Repeat([]byte("a line of words\n\n"), 200_000))
	if err != nil {
		t.Fatal(err)
	}
	if len(doc.Notes) != 1 || !strings.Contains(doc.Notes[0], "left out") {
		t.Errorf("notes %q", doc.Notes)
	}
	var size int
	for _, p := range doc.Parts {
		size += len(p.Text)
	}
	if size > 1<<20 {
		t.Errorf("%d bytes of text", size)
	}
}

// TestBombsStayInTheWorker reads documents that unpack to far more than they are: a stream of a PDF
// with a page of a million words, and nested marks. The program that asked must stay small and go on.
func TestBombsStayInTheWorker(t *testing.T) {
	racetest.Skip(t, "unpacks bombs")
	t.Parallel()
	r := newReader(t, document.Config{MemoryBytes: 1 << 30, Timeout: time.Minute})
	bomb := documenttest.PDF(strings.Repeat("word ", 1<<20))
	start := time.Now()
	// Its worker ends for want of memory, or, where the race detector allows no limit, the page is cut.
	if doc, err := read(t, r, "bomb.pdf", bomb); !fault.Is(err, fault.DocumentUnreadable) && (err != nil || len(doc.Parts[0].Text) > 2<<20) {
		t.Errorf("a page of 5 MB: %v, %v", doc, err)
	}
	if took := time.Since(start); took > 3*time.Minute {
		t.Errorf("the bomb took %s", took)
	}
	if doc, err := read(t, r, "deep.html", bytes.Repeat([]byte("<div>"), 1<<18)); !fault.Is(err, fault.DocumentUnreadable) {
		t.Errorf("nested marks without text: %v, %v", doc, err)
	}
	if doc, err := read(t, r, "good.md", []byte("# A\nfine")); err != nil || len(doc.Parts) != 1 {
		t.Errorf("after the bomb: %v, %v", doc, err)
	}
}

func TestFiles(t *testing.T) {
	t.Parallel()
	r := newReader(t, document.Config{})
	dir := t.TempDir()
	if err := os.Symlink("/dev/zero", filepath.Join(dir, "zero.txt")); err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"zero.txt", "missing.txt", "program.exe"} {
		if _, err := r.ReadFile(t.Context(), filepath.Join(dir, name)); !fault.Is(err, fault.DocumentUnreadable) {
			t.Errorf("%s: %v", name, err)
		}
	}
}

func TestReadStops(t *testing.T) {
	t.Parallel()
	r := newReader(t, document.Config{})
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	_, err := r.Read(ctx, "a.txt", document.Text, strings.NewReader("text"), 4)
	if !errors.Is(err, context.Canceled) {
		t.Errorf("a cancelled call returned %v", err)
	}
	if _, err := read(t, r, "a.txt", []byte("text")); err != nil {
		t.Errorf("after a cancelled call: %v", err)
	}
}

// FuzzExtract looks for documents that end the worker or keep it busy.
func FuzzExtract(f *testing.F) {
	f.Add("a.pdf", documenttest.PDF("text"))
	f.Add("a.docx", documenttest.DOCX("# A", "text"))
	f.Add("a.md", []byte("# A\n```\n=\n---\n"))
	f.Add("a.html", []byte("<h1>a<table><td>b"))
	f.Add("a.csv", []byte("a,b\n\"c"))
	r := document.NewReader(document.Config{Timeout: 30 * time.Second})
	f.Cleanup(func() { _ = r.Close() })
	f.Fuzz(func(t *testing.T, name string, content []byte) {
		kind := document.KindOf(name)
		if kind == "" {
			return // no document
		}
		_, err := r.Read(t.Context(), name, kind, bytes.NewReader(content), int64(len(content)))
		if err == nil {
			return
		}
		if found, ok := errors.AsType[*fault.Fault](err); !ok || errors.Unwrap(found) != nil {
			t.Errorf("%s ended the worker: %v (%v)", name, err, errors.Unwrap(err))
		}
	})
}

func BenchmarkPDF(b *testing.B) {
	pages := make([]string, 300)
	for i := range pages {
		pages[i] = fmt.Sprintf("Page %d. ", i) + strings.Repeat("The warehouse ships orders placed before noon on the same day. ", 45)
	}
	content := documenttest.PDF(pages...)
	r := document.NewReader(document.Config{})
	defer r.Close()
	for b.Loop() {
		if _, err := r.Read(context.Background(), "a.pdf", document.PDF, bytes.NewReader(content), int64(len(content))); err != nil {
			b.Fatal(err)
		}
	}
}
