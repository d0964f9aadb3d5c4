package document

import (
	"bytes"
	"errors"
	"fmt"
	"math"
	"regexp"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/ledongthuc/pdf"
)

const (
	maxPages     = 20_000
	maxPageDepth = 50 // of the tree of pages
	maxPageRunes = 1 << 20
)

// parsePDF makes a part of each page, or of each section of it.
func (b *builder) parsePDF(content []byte) error {
	content, ok := repairPDF(content)
	if !ok {
		return problem("it is no PDF file")
	}
	r, err := pdf.NewReader(bytes.NewReader(content), int64(len(content)))
	if err != nil {
		if errors.Is(err, pdf.ErrInvalidPassword) || bytes.Contains(content, []byte("/Encrypt")) {
			return problem(problemEncrypted)
		}
		return problem("it is damaged")
	}
	var damaged, empty, size int
	var pages []pdfPage
	err = walkPages(r, func(page pdf.Page) error {
		if len(pages) == maxPages {
			b.note("pages after the first %d are left out", maxPages)
			return errFull
		}
		read, ok := readPDFPage(page)
		switch {
		case !ok:
			damaged++
		case strings.TrimSpace(read.text) == "":
			empty++
		}
		pages = append(pages, read)
		if size += len(read.text); int64(size) > 2*b.left { // adding them finds that they are too many
			return errFull
		}
		return nil
	})
	b.doc.Pages = len(pages)
	for i, text := range withoutRunningHeads(markHeadings(pages)) {
		if added := b.addPage(fmt.Sprintf("page %d", i+1), text); added != nil {
			err = added
			break
		}
	}
	if damaged > 0 {
		b.note("%d of %d pages are damaged and left out", damaged, b.doc.Pages)
	}
	if empty > 0 && empty < b.doc.Pages {
		b.note("%d of %d pages have no text", empty, b.doc.Pages)
	}
	if err == nil && damaged > 0 && len(b.doc.Parts) == 0 {
		return problem("its pages are damaged")
	}
	return err
}

// repairPDF gives the file the header and the end that the library insists on: others are as good.
func repairPDF(content []byte) ([]byte, bool) {
	const header, end = "%PDF-1.7\n", "%%EOF"
	if !bytes.HasPrefix(content, []byte("%PDF-")) || len(content) < 200 {
		return nil, false
	}
	copy(content, header)
	if last := bytes.LastIndex(content, []byte(end)); last >= 0 {
		content = content[:last+len(end)]
	}
	return content, true
}

// walkPages calls each for every page in order. The library's own way to a page reads all before it.
func walkPages(r *pdf.Reader, each func(pdf.Page) error) error {
	nodes := 0
	var walk func(node pdf.Value, depth int) error
	walk = func(node pdf.Value, depth int) error {
		if nodes++; depth > maxPageDepth || nodes > 4*maxPages {
			return problem("its list of pages has no end")
		}
		kids := node.Key("Kids")
		if kids.Kind() != pdf.Array {
			return each(pdf.Page{V: node})
		}
		for i := range kids.Len() {
			if err := walk(kids.Index(i), depth+1); err != nil {
				return err
			}
		}
		return nil
	}
	return walk(r.Trailer().Key("Root").Key("Pages"), 0)
}

// readPDFPage reads the text of a page in the order in which it was written. A page that the library
// cannot read is not ok.
func readPDFPage(page pdf.Page) (read pdfPage, ok bool) {
	defer func() {
		if recover() != nil {
			read, ok = pdfPage{}, false
		}
	}()
	var f flow
	readPage(page, &f)
	return pdfPage{f.out.String(), f.lines}, true
}

// ligatures are characters that fonts have for several letters, in which nobody searches.
var ligatures = strings.NewReplacer("\uFB00", "ff", "\uFB01", "fi", "\uFB02", "fl", "\uFB03", "ffi", "\uFB04", "ffl")

// looseMark is a mark that kerning has moved from its word.
var looseMark = regexp.MustCompile(`(\pL) ([,;.!?])( |\n|$)`)

// A flow puts the characters of a page back into lines.
type flow struct {
	out         strings.Builder
	begun       bool
	x, y, right float64 // of the last character
	size        float64
	measured    bool // the font has widths
	lines       []pdfLine
}

func (f *flow) put(t pdf.Text) {
	if t.S == "" || t.S == "\n" || t.S == "\u0000" {
		return
	}
	size := math.Abs(t.FontSize)
	if size == 0 {
		size = max(f.size, 1)
	}
	if f.begun {
		drop := math.Abs(t.Y - f.y)
		gap := t.X - f.right
		switch {
		case drop > 1.7*max(size, f.size):
			f.out.WriteString("\n\n")
		case drop > 0.5*min(size, f.size), t.X < f.x-size:
			f.out.WriteByte('\n')
		case f.measured && gap > 0.2*size, !f.measured && gap > size:
			f.space()
		}
	}
	width := t.W
	f.measured = width > 0
	if !f.measured {
		width = 0.5 * size * float64(utf8.RuneCountInString(t.S))
		if f.begun && t.X == f.x && t.Y == f.y { // a run whose characters all have its own place
			width += f.right - f.x
		}
	}
	if n := len(f.lines); !f.begun || f.endsLine() {
		f.lines = append(f.lines, pdfLine{f.out.Len(), size})
	} else if f.lines[n-1].size < size {
		f.lines[n-1].size = size
	}
	if unicode.IsSpace([]rune(t.S)[0]) {
		f.space()
	} else {
		f.out.WriteString(ligatures.Replace(t.S))
	}
	f.begun, f.x, f.y, f.right, f.size = true, t.X, t.Y, t.X+width, size
}

// space writes a space, but not two.
func (f *flow) space() {
	if s := f.out.String(); s != "" && s[len(s)-1] != ' ' && s[len(s)-1] != '\n' {
		f.out.WriteByte(' ')
	}
}

func (f *flow) endsLine() bool { return strings.HasSuffix(f.out.String(), "\n") }

// reflow joins the lines of paragraphs, and words that a line end divides.
func reflow(text string) string {
	var out strings.Builder
	for i, paragraph := range strings.Split(text, "\n\n") {
		if i > 0 {
			out.WriteString("\n\n")
		}
		var joined string
		for line := range strings.SplitSeq(paragraph, "\n") {
			line = strings.TrimSpace(line)
			next, _ := utf8.DecodeRuneInString(line)
			switch {
			case line == "":
			case joined == "":
				joined = line
			case strings.HasSuffix(joined, "-") && len(joined) > 1 && joined[len(joined)-2] != ' ' && unicode.IsLower(next):
				joined = joined[:len(joined)-1] + line
			default:
				joined += "\n" + line
			}
		}
		out.WriteString(joined)
	}
	return strings.TrimSpace(looseMark.ReplaceAllString(out.String(), "$1$2$3"))
}
