package document

import (
	"bytes"
	"errors"
	"io"
	"slices"
	"strings"

	"golang.org/x/net/html"
	"golang.org/x/net/html/atom"
	"golang.org/x/net/html/charset"
)

// hiddenElements have no text for a reader, or only the way to other pages.
var hiddenElements = []atom.Atom{atom.Script, atom.Style, atom.Template, atom.Noscript, atom.Svg, atom.Iframe, atom.Object, atom.Select, atom.Textarea, atom.Nav}

// inlineElements do not end a line.
var inlineElements = []atom.Atom{
	atom.A, atom.Abbr, atom.B, atom.Bdi, atom.Bdo, atom.Cite, atom.Code, atom.Data, atom.Del, atom.Dfn, atom.Em, atom.Font, atom.I, atom.Ins, atom.Kbd,
	atom.Label, atom.Mark, atom.Q, atom.S, atom.Samp, atom.Small, atom.Span, atom.Strong, atom.Sub, atom.Sup, atom.Time, atom.U, atom.Var, atom.Wbr,
}

// parseHTML makes a part of each section between headings. It reads tokens and builds no tree, so
// that nesting without end costs nothing.
func (b *builder) parseHTML(content []byte) error {
	decoded, err := charset.NewReader(bytes.NewReader(content), "text/html")
	if err != nil {
		return problem("its characters cannot be decoded")
	}
	z := html.NewTokenizer(decoded)
	z.SetMaxBuf(1 << 20)
	p := htmlParser{builder: b}
	for {
		kind := z.Next()
		if kind == html.ErrorToken {
			if !errors.Is(z.Err(), io.EOF) {
				return problem("its mark-up cannot be read")
			}
			return p.flush()
		}
		if err := p.token(kind, z.Token()); err != nil {
			return err
		}
	}
}

// An htmlParser gathers the text of the section at hand.
type htmlParser struct {
	*builder
	text    strings.Builder
	hidden  atom.Atom // the element whose end is waited for
	heading int       // the level of the heading that is open, else 0
	titled  bool      // inside <title>
}

func (p *htmlParser) token(kind html.TokenType, t html.Token) error {
	if p.hidden != 0 {
		if kind == html.EndTagToken && t.DataAtom == p.hidden {
			p.hidden = 0
		}
		return nil
	}
	switch kind {
	case html.TextToken:
		if p.titled {
			p.doc.Title = clip(strings.Join(strings.Fields(visible(t.Data)), " "), maxPlace)
			return nil
		}
		p.write(t.Data)
	case html.StartTagToken:
		if slices.Contains(hiddenElements, t.DataAtom) {
			p.hidden = t.DataAtom
			return nil
		}
		return p.start(t)
	case html.EndTagToken:
		return p.end(t)
	case html.SelfClosingTagToken:
		p.breakLine(t.DataAtom)
	}
	return nil
}

func (p *htmlParser) start(t html.Token) error {
	switch level := headingLevel(t.DataAtom); {
	case t.DataAtom == atom.Title:
		p.titled = true
	case level > 0:
		if err := p.flush(); err != nil {
			return err
		}
		p.heading = level
	default:
		p.breakLine(t.DataAtom)
	}
	return nil
}

func (p *htmlParser) end(t html.Token) error {
	switch {
	case t.DataAtom == atom.Title:
		p.titled = false
	case headingLevel(t.DataAtom) > 0 && p.heading > 0:
		title := p.text.String()
		p.text.Reset()
		p.enterHeading(p.heading, title)
		p.heading = 0
	default:
		p.breakLine(t.DataAtom)
	}
	return nil
}

func headingLevel(a atom.Atom) int {
	return 1 + slices.Index([]atom.Atom{atom.H1, atom.H2, atom.H3, atom.H4, atom.H5, atom.H6}, a)
}

// write adds text with its white space folded.
func (p *htmlParser) write(text string) {
	folded := strings.Join(strings.Fields(text), " ")
	if folded == "" {
		return
	}
	if strings.TrimLeft(text, " \t\r\n")[0] != text[0] {
		p.text.WriteByte(' ')
	}
	p.text.WriteString(folded)
	if strings.TrimRight(text, " \t\r\n") != text {
		p.text.WriteByte(' ')
	}
}

// breakLine ends the line at an element that is not part of one.
func (p *htmlParser) breakLine(a atom.Atom) {
	switch {
	case a == atom.Td || a == atom.Th:
		p.text.WriteString(" | ")
	case a == atom.P || a == atom.Table || a == atom.Ul || a == atom.Ol || a == atom.Dl || a == atom.Section || a == atom.Article:
		p.text.WriteString("\n\n")
	case !slices.Contains(inlineElements, a):
		p.text.WriteByte('\n')
	}
}

// flush adds the section.
func (p *htmlParser) flush() error {
	text := tidyLines(p.text.String())
	p.text.Reset()
	return p.add(Part{Place: p.section(), Text: text})
}

// tidyLines trims every line, and leaves at most one empty line between two.
func tidyLines(text string) string {
	var out strings.Builder
	empty := 0
	for line := range strings.Lines(text) {
		line = strings.Trim(strings.Join(strings.Fields(line), " "), " |")
		if line == "" {
			empty++
			continue
		}
		if out.Len() > 0 {
			out.WriteByte('\n')
			if empty > 1 {
				out.WriteByte('\n')
			}
		}
		empty = 0
		out.WriteString(strings.ReplaceAll(line, "| |", "|"))
	}
	return out.String()
}
