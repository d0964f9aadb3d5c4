package document

import (
	"archive/zip"
	"bytes"
	"encoding/xml"
	"errors"
	"fmt"
	"io"
	"strconv"
	"strings"
)

// Marks of files that are not what their ending says.
const (
	compoundFile = "\xD0\xCF\x11\xE0" // an encrypted or old document of Office
	zipFile      = "PK"
)

// parseDOCX makes a part of each section between headings.
func (b *builder) parseDOCX(content []byte) error {
	if bytes.HasPrefix(content, []byte(compoundFile)) {
		return problem(problemEncrypted)
	}
	if !bytes.HasPrefix(content, []byte(zipFile)) {
		return problem("it is no DOCX file")
	}
	archive, err := zip.NewReader(bytes.NewReader(content), int64(len(content)))
	if err != nil {
		return problem("it is damaged")
	}
	levels, err := b.headingStyles(archive)
	if err != nil {
		return err
	}
	f, err := archive.Open("word/document.xml")
	if err != nil {
		return problem("it has no text of a document")
	}
	defer f.Close()
	p := docxParser{builder: b, levels: levels}
	return p.parse(xml.NewDecoder(b.bounded(f)))
}

// bounded makes reading end with errFull where a member of an archive unpacks to much more than the
// text that is wanted: mark-up takes a multiple of it.
func (b *builder) bounded(r io.Reader) io.Reader { return &boundedReader{r, 20*b.left + 1<<20} }

type boundedReader struct {
	r    io.Reader
	left int64
}

func (r *boundedReader) Read(p []byte) (int, error) {
	if r.left <= 0 {
		return 0, errFull
	}
	n, err := r.r.Read(p[:min(int64(len(p)), r.left)])
	r.left -= int64(n)
	return n, err
}

// headingStyles finds which styles are headings: their ids are in the language of the writer, their
// names are not.
func (b *builder) headingStyles(archive *zip.Reader) (map[string]int, error) {
	levels := map[string]int{}
	for level := 1; level <= 6; level++ {
		levels[fmt.Sprintf("Heading%d", level)] = level
	}
	f, err := archive.Open("word/styles.xml")
	if err != nil {
		return levels, nil // a document without styles of its own
	}
	defer f.Close()
	d := xml.NewDecoder(b.bounded(f))
	id := ""
	for {
		token, err := d.Token()
		if errors.Is(err, io.EOF) {
			return levels, nil
		}
		if err != nil {
			return nil, xmlProblem(err)
		}
		start, ok := token.(xml.StartElement)
		if !ok {
			continue
		}
		switch start.Name.Local {
		case "style":
			id = attribute(start, "styleId")
		case "name":
			name := strings.ToLower(attribute(start, "val"))
			if n, err := strconv.Atoi(strings.TrimPrefix(name, "heading ")); err == nil && n >= 1 && n <= 6 {
				levels[id] = n
			}
			if name == "title" {
				levels[id] = 1
			}
		}
	}
}

func attribute(e xml.StartElement, name string) string {
	for _, a := range e.Attr {
		if a.Name.Local == name {
			return a.Value
		}
	}
	return ""
}

func xmlProblem(err error) error {
	if errors.Is(err, errFull) {
		return problem("it unpacks to more than a document may")
	}
	return problem("it is damaged")
}

// A docxParser follows the paragraphs of a document.
type docxParser struct {
	*builder
	levels    map[string]int
	section   strings.Builder
	paragraph strings.Builder
	style     int // heading level of the paragraph, 0 for none
	inText    bool
	cells     int  // cells of the table's row so far
	filled    bool // the cell has text
	depth     int  // of tables
}

func (p *docxParser) parse(d *xml.Decoder) error {
	for {
		token, err := d.Token()
		if errors.Is(err, io.EOF) {
			return p.flush()
		}
		if err != nil {
			return xmlProblem(err)
		}
		switch t := token.(type) {
		case xml.StartElement:
			p.start(t)
		case xml.EndElement:
			if err := p.end(t.Name.Local); err != nil {
				return err
			}
		case xml.CharData:
			if p.inText {
				p.paragraph.Write(t)
			}
		}
	}
}

func (p *docxParser) start(e xml.StartElement) {
	switch e.Name.Local {
	case "p":
		p.style = 0
	case "pStyle":
		p.style = p.levels[attribute(e, "val")]
	case "t":
		p.inText = true
	case "tab":
		p.paragraph.WriteByte('\t')
	case "br", "cr":
		p.paragraph.WriteByte('\n')
	case "tbl":
		p.depth++
	case "tr":
		p.cells = 0
	case "tc":
		if p.cells > 0 {
			p.section.WriteString(" | ")
		}
		p.cells++
		p.filled = false
	}
}

func (p *docxParser) end(name string) error {
	switch name {
	case "t":
		p.inText = false
	case "tbl":
		p.depth--
		p.section.WriteByte('\n')
	case "tr":
		p.section.WriteByte('\n')
	case "p":
		text := p.paragraph.String()
		p.paragraph.Reset()
		if p.style > 0 && strings.TrimSpace(text) != "" {
			if err := p.flush(); err != nil {
				return err
			}
			p.enterHeading(p.style, text)
			return nil
		}
		if p.depth == 0 {
			p.section.WriteString(text + "\n\n")
			return nil
		}
		if text = strings.TrimSpace(text); text != "" {
			if p.filled { // paragraphs of a cell stand in one line
				p.section.WriteByte(' ')
			}
			p.section.WriteString(text)
			p.filled = true
		}
	}
	return nil
}

func (p *docxParser) flush() error {
	text := p.section.String()
	p.section.Reset()
	return p.add(Part{Place: p.builder.section(), Text: text})
}
