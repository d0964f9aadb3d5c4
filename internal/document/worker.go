package document

import (
	"bufio"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/signal"
	"strings"
	"syscall"
	"unicode"
)

// workerArg is the argument that makes this binary a worker for documents. Requests come in on
// descriptor 3, each followed by the bytes of its document; answers go out on descriptor 4, a line each.
const workerArg = "interlock-document-worker"

// A request announces a document.
type request struct {
	Kind    Kind
	Size    int64
	MaxText int64
}

// An answer is a document or the reason why there is none.
type answer struct {
	Document *Document
	Problem  string
	Pages    int
}

// Problems that the caller has codes for.
const (
	problemEncrypted = "encrypted"
	problemNoText    = "no text"
)

// A problem is what is wrong with a document, as opposed to a defect of the worker.
type problem string

func (p problem) Error() string { return string(p) }

// Main turns this process into the worker for documents that it was started as, and never returns
// then; in any other process it does nothing. Call it in main, and in TestMain of tests that read
// documents, after jail.Main.
func Main() {
	if len(os.Args) != 2 || os.Args[1] != workerArg {
		return
	}
	signal.Ignore(syscall.SIGXFSZ, syscall.SIGINT, syscall.SIGPIPE)
	in, out := bufio.NewReaderSize(os.NewFile(3, "requests"), 256<<10), os.NewFile(4, "answers")
	for {
		if err := serve(in, out); err != nil {
			if errors.Is(err, io.EOF) {
				os.Exit(0) // nobody wants more
			}
			fmt.Fprintln(os.Stderr, "document worker:", err)
			os.Exit(1)
		}
	}
}

// serve answers one request.
func serve(in *bufio.Reader, out io.Writer) error {
	head, err := in.ReadBytes('\n')
	if err != nil {
		return err
	}
	var q request
	if err := json.Unmarshal(head, &q); err != nil {
		return err
	}
	content := make([]byte, q.Size)
	if _, err := io.ReadFull(in, content); err != nil {
		return err
	}
	line, err := json.Marshal(extract(q, content))
	if err != nil {
		return err
	}
	_, err = out.Write(append(line, '\n'))
	return err
}

// extract parses a document. A parser that panics has met a broken document.
func extract(q request, content []byte) (a answer) {
	defer func() {
		if cause := recover(); cause != nil {
			a = answer{Problem: "it is damaged"}
		}
	}()
	b := &builder{left: q.MaxText, doc: &Document{}}
	err := b.parse(q.Kind, content)
	if errors.Is(err, errFull) {
		b.note("the text after the first %d MB is left out", q.MaxText>>20)
		err = nil
	}
	if err == nil && len(b.doc.Parts) == 0 {
		err = problem("it has no text")
		if b.doc.Pages > 0 {
			err = problem(problemNoText)
		}
	}
	if err != nil {
		return answer{Problem: err.Error(), Pages: b.doc.Pages}
	}
	return answer{Document: b.doc}
}

// errFull ends the parsing of a document whose text is longer than allowed.
var errFull = errors.New("the document has too much text")

// A builder gathers the parts of a document.
type builder struct {
	doc      *Document
	left     int64 // bytes of text that may still be added
	headings [6]string
}

func (b *builder) parse(kind Kind, content []byte) error {
	switch kind {
	case PDF:
		return b.parsePDF(content)
	case DOCX:
		return b.parseDOCX(content)
	case HTML:
		return b.parseHTML(content)
	}
	text, err := decodeText(content)
	if err != nil {
		return err
	}
	switch kind {
	case Markdown:
		return b.parseMarkdown(text)
	case CSV:
		return b.parseCSV(text)
	default:
		return b.parseText(text)
	}
}

func (b *builder) note(format string, args ...any) {
	if len(b.doc.Notes) < 20 {
		b.doc.Notes = append(b.doc.Notes, fmt.Sprintf(format, args...))
	}
}

// add appends a part, without what is white space only.
func (b *builder) add(p Part) error {
	p.Text = strings.Trim(visible(strings.ToValidUTF8(p.Text, "\uFFFD")), " \t\r\n\f")
	if p.Text == "" {
		return nil
	}
	p.Place, p.Heading = clip(visible(strings.ToValidUTF8(p.Place, "\uFFFD")), maxPlace), visible(p.Heading)
	if b.left -= int64(len(p.Text) + len(p.Place)); b.left < 0 {
		return errFull
	}
	b.doc.Parts = append(b.doc.Parts, p)
	return nil
}

// visible takes out what no reader sees but a model reads: control characters, marks that turn the direction of
// writing, tags, blanks without width. Soft hyphens go as well: they divide words that are searched for. Joiners
// belong to words of some scripts.
func visible(text string) string {
	return strings.Map(func(r rune) rune {
		if unicode.IsControl(r) && !unicode.IsSpace(r) || unicode.Is(unicode.Cf, r) && r != '\u200C' && r != '\u200D' {
			return -1
		}
		return r
	}, text)
}

const maxPlace = 300

// clip shortens a text to n bytes, between characters.
func clip(text string, n int) string {
	if len(text) <= n {
		return text
	}
	return strings.ToValidUTF8(text[:n], "") + "…"
}

// enterHeading begins a section; level 1 is the highest.
func (b *builder) enterHeading(level int, title string) {
	title = strings.Join(strings.Fields(visible(title)), " ")
	level = min(max(level, 1), len(b.headings))
	b.headings[level-1] = clip(title, maxPlace/2)
	clear(b.headings[level:])
	if b.doc.Title == "" {
		b.doc.Title = clip(title, maxPlace)
	}
}

// section is the path of headings, without the document's title where there are others.
func (b *builder) section() string {
	var path []string
	for _, h := range b.headings {
		if h != "" {
			path = append(path, h)
		}
	}
	if len(path) > 1 && path[0] == b.doc.Title {
		path = path[1:]
	}
	return strings.Join(path, " > ")
}
