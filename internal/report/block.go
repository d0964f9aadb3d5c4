package report

import (
	"cmp"
	"fmt"
	"net/url"
	"slices"
	"strconv"
	"strings"

	"github.com/yuin/goldmark"
	"github.com/yuin/goldmark/ast"
	"github.com/yuin/goldmark/extension"
	east "github.com/yuin/goldmark/extension/ast"
	"github.com/yuin/goldmark/text"

	"interlock/internal/chart"
	"interlock/internal/fault"
	"interlock/internal/schema"
)

type blockKind int

const (
	paragraph blockKind = iota
	heading
	item // of a list
	quote
	code
	rule
	grid // a table
	drawing
)

// A block is one part of a report from top to bottom.
type block struct {
	kind    blockKind
	level   int    // of a heading; how deep a list or quote is nested
	marker  string // of an item
	spans   []span
	text    string // of code
	caption string
	header  []cell
	rows    [][]cell
	note    string // below a table
	picture *chart.Picture
}

// A span is text of one style; note is the number of the note behind it, 0 for none.
type span struct {
	text               string
	bold, italic, mono bool
	link               string
	note               int
	lineBreak          bool
}

type cell struct {
	spans []span
	right bool // numbers stand at the right
}

func plainText(spans []span) string {
	var b strings.Builder
	for _, s := range spans {
		b.WriteString(s.text)
	}
	return strings.TrimSpace(b.String())
}

// A reader makes blocks of Markdown.
type reader struct {
	doc     Document
	source  []byte
	figures []Figure // by their end
	notes   []note
	blocks  []block
}

func newReader(d Document) *reader {
	r := &reader{doc: d, source: []byte(d.Markdown), figures: slices.Clone(d.Figures)}
	slices.SortStableFunc(r.figures, func(a, b Figure) int { return cmp.Compare(a.End, b.End) })
	return r
}

func (r *reader) read() ([]block, error) {
	md := goldmark.New(goldmark.WithExtensions(extension.Table, extension.Strikethrough))
	root := md.Parser().Parse(text.NewReader(r.source))
	if err := r.container(root, 0, ""); err != nil {
		return nil, err
	}
	return r.blocks, nil
}

func (r *reader) add(b block) { r.blocks = append(r.blocks, b) }

// container reads the blocks inside a node. marker is that of the list item whose first
// block comes next.
func (r *reader) container(parent ast.Node, depth int, marker string) error {
	for n := parent.FirstChild(); n != nil; n = n.NextSibling() {
		var err error
		switch n := n.(type) {
		case *ast.Heading:
			r.add(block{kind: heading, level: n.Level, spans: r.spans(n, span{})})
			err = r.showImages(n)
		case *ast.Paragraph, *ast.TextBlock:
			err = r.paragraph(n, depth, marker)
			marker = ""
		case *ast.List:
			err = r.list(n, depth)
		case *ast.Blockquote:
			from := len(r.blocks)
			err = r.container(n, depth+1, "")
			for i := from; i < len(r.blocks); i++ {
				if r.blocks[i].kind == paragraph {
					r.blocks[i].kind = quote
				}
			}
		case *ast.FencedCodeBlock, *ast.CodeBlock:
			r.add(block{kind: code, level: depth, text: r.lines(n)})
		case *ast.HTMLBlock:
			r.add(block{kind: code, level: depth, text: r.lines(n)}) // shown, never run
		case *ast.ThematicBreak:
			r.add(block{kind: rule})
		case *east.Table:
			r.markdownTable(n)
			err = r.showImages(n)
		default:
			err = r.container(n, depth, marker)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

func (r *reader) lines(n ast.Node) string {
	var b strings.Builder
	for i := range n.Lines().Len() {
		line := n.Lines().At(i)
		b.Write(line.Value(r.source))
	}
	return strings.TrimRight(b.String(), "\n")
}

func (r *reader) list(n *ast.List, depth int) error {
	number := n.Start
	for child := n.FirstChild(); child != nil; child = child.NextSibling() {
		marker := "•"
		if n.IsOrdered() {
			marker = strconv.Itoa(number) + "."
			number++
		}
		if err := r.container(child, depth+1, marker); err != nil {
			return err
		}
	}
	return nil
}

// paragraph reads text; images in it are tables and charts, which stand alone.
func (r *reader) paragraph(n ast.Node, depth int, marker string) error {
	kind := paragraph
	if marker != "" {
		kind = item
	}
	shown, err := r.images(n)
	if err != nil {
		return err
	}
	if spans := r.spans(n, span{}); plainText(spans) != "" {
		r.add(block{kind: kind, level: depth, marker: marker, spans: spans})
	}
	r.blocks = append(r.blocks, shown...)
	return nil
}

// show finds the table or chart that an image names: a chart where both have the name,
// unless "table:" stands before it.
func (r *reader) show(n *ast.Image) (block, error) {
	name := strings.TrimSpace(string(n.Destination))
	if plain, err := url.PathUnescape(name); err == nil {
		name = plain
	}
	name, tableFirst := strings.CutPrefix(name, "table:")
	name = strings.TrimPrefix(name, "chart:")
	caption := plainText(r.spans(n, span{}))
	isTable := func(t Table) bool { return strings.EqualFold(t.Name, name) }
	for _, c := range slices.Backward(r.doc.Charts) {
		if strings.EqualFold(c.Name, name) && c.Picture != nil && !(tableFirst && slices.ContainsFunc(r.doc.Tables, isTable)) {
			return block{kind: drawing, caption: caption, picture: c.Picture}, nil
		}
	}
	for _, t := range slices.Backward(r.doc.Tables) {
		if isTable(t) {
			return resultTable(t, cmp.Or(caption, strings.ReplaceAll(t.Name, "_", " "))), nil
		}
	}
	f := fault.New(fault.NotFound, "the report shows %.80q, which is neither a chart nor a result of this thread", name).With(r.doc.names())
	if names := r.doc.names(); len(names) > 0 {
		return block{}, f.Suggest("Name one of: %s.", strings.Join(names, ", "))
	}
	return block{}, f.Suggest("Fetch rows or draw a chart first; pictures from elsewhere are not shown.")
}

// resultTable makes a table of the first rows of a result.
func resultTable(t Table, caption string) block {
	b := block{kind: grid, caption: caption}
	columns := t.Columns[:min(maxColumns, len(t.Columns))]
	shown := t.Rows[:min(maxTableRows, len(t.Rows))]
	formats := make([]columnFormat, len(columns))
	rounded := false
	for i, c := range columns {
		b.header = append(b.header, cell{spans: []span{{text: strings.ReplaceAll(c.Name, "_", " "), bold: true}}, right: isNumber(c.Type)})
		formats[i] = newColumnFormat(c, shown, i)
		rounded = rounded || formats[i].rounded
	}
	for _, row := range shown {
		var cells []cell
		for i, c := range columns {
			cells = append(cells, cell{spans: []span{{text: formats[i].text(row[i])}}, right: isNumber(c.Type)})
		}
		b.rows = append(b.rows, cells)
	}
	var notes []string
	if rounded {
		notes = append(notes, fmt.Sprintf("Numbers are rounded; the result %s holds them exactly.", t.Name))
	}
	if len(t.Rows) > maxTableRows {
		notes = append(notes, fmt.Sprintf("The first %d of %d rows.", maxTableRows, len(t.Rows)))
	}
	if len(t.Columns) > maxColumns {
		notes = append(notes, fmt.Sprintf("The first %d of %d columns.", maxColumns, len(t.Columns)))
	}
	b.note = strings.Join(notes, " ")
	return b
}

func isNumber(t schema.Type) bool {
	return slices.Contains([]schema.Kind{schema.Int, schema.Uint, schema.Float, schema.Decimal}, t.Kind)
}

// markdownTable reads a table that the text writes out.
func (r *reader) markdownTable(n *east.Table) {
	b := block{kind: grid}
	for row := n.FirstChild(); row != nil; row = row.NextSibling() {
		_, isHeader := row.(*east.TableHeader)
		var cells []cell
		for c := row.FirstChild(); c != nil; c = c.NextSibling() {
			at := c.(*east.TableCell)
			cells = append(cells, cell{spans: r.spans(c, span{bold: isHeader}), right: at.Alignment == east.AlignRight})
		}
		if isHeader {
			b.header = cells
		} else {
			b.rows = append(b.rows, cells)
		}
	}
	r.add(b)
}

// spans reads the text inside a node, without images.
func (r *reader) spans(parent ast.Node, style span) []span {
	var out []span
	for n := parent.FirstChild(); n != nil; n = n.NextSibling() {
		switch n := n.(type) {
		case *ast.Text:
			out = append(out, r.noted(n.Segment.Start, n.Segment.Stop, style)...)
			if n.HardLineBreak() {
				out = append(out, span{lineBreak: true})
			} else if n.SoftLineBreak() {
				out = append(out, span{text: " "})
			}
		case *ast.String:
			s := style
			s.text = string(n.Value)
			out = append(out, s)
		case *ast.CodeSpan:
			s := style
			s.mono = true
			out = append(out, r.spans(n, s)...)
		case *ast.Emphasis:
			s := style
			s.bold, s.italic = s.bold || n.Level > 1, s.italic || n.Level == 1
			out = append(out, r.spans(n, s)...)
		case *ast.Link:
			s := style
			s.link = safeLink(string(n.Destination))
			out = append(out, r.spans(n, s)...)
		case *ast.AutoLink:
			s := style
			s.text, s.link = string(n.Label(r.source)), safeLink(string(n.URL(r.source)))
			out = append(out, s)
		case *ast.RawHTML:
			for i := range n.Segments.Len() {
				at := n.Segments.At(i)
				out = append(out, r.noted(at.Start, at.Stop, style)...)
			}
		case *ast.Image:
		default:
			out = append(out, r.spans(n, style)...)
		}
	}
	return out
}

// safeLink leaves links that a report may have; others are text.
func safeLink(to string) string {
	u, err := url.Parse(to)
	if err != nil || u.Scheme != "http" && u.Scheme != "https" && u.Scheme != "mailto" {
		return ""
	}
	return to
}

// noted cuts a piece of the source behind each figure that ends in it and adds the
// figure's note there.
func (r *reader) noted(from, to int, style span) []span {
	var out []span
	piece := func(end, number int) {
		s := style
		s.text, s.note = r.plain(from, end, style.mono), number
		if s.text != "" || number > 0 {
			out = append(out, s)
		}
		from = end
	}
	first, _ := slices.BinarySearchFunc(r.figures, from+1, func(f Figure, at int) int { return cmp.Compare(f.End, at) })
	for _, f := range r.figures[first:] {
		if f.End > to {
			break
		}
		if number := r.noteNumber(f); number > 0 {
			piece(f.End, number)
		}
	}
	piece(to, 0)
	return out
}

// noteNumber gives the number of a figure's note; figures of one source share it.
func (r *reader) noteNumber(f Figure) int {
	if f.Source == "" {
		return 0
	}
	i := slices.IndexFunc(r.notes, func(n note) bool { return n.text == f.Source })
	if i < 0 {
		if len(r.notes) >= maxNotes {
			return 0
		}
		i = len(r.notes)
		r.notes = append(r.notes, note{f.Source, f.NoOrigin})
	}
	return i + 1
}

// titleSpans is the title, cut behind the figures that have a note.
func (r *reader) titleSpans(title string, figures []Figure) []span {
	var out []span
	from := 0
	for _, f := range figures {
		number := r.noteNumber(f)
		if number == 0 || f.End > len(title) || f.End <= from {
			continue
		}
		out = append(out, span{text: title[from:f.End], note: number})
		from = f.End
	}
	if from < len(title) {
		out = append(out, span{text: title[from:]})
	}
	return out
}
