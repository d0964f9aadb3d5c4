package report

import (
	"bytes"
	"context"
	"fmt"
	"strconv"
	"strings"
	"sync"
	"time"

	"codeberg.org/go-pdf/fpdf"
	"github.com/go-fonts/liberation/liberationmonoregular"
	"github.com/go-fonts/liberation/liberationsansbold"
	"github.com/go-fonts/liberation/liberationsansbolditalic"
	"github.com/go-fonts/liberation/liberationsansitalic"
	"github.com/go-fonts/liberation/liberationsansregular"
	"golang.org/x/image/font/sfnt"
)

// Sizes of a page, in millimetres, and of text, in points.
const (
	sideMargin   = 20.0
	topMargin    = 20.0
	bottomMargin = 18.0
	textSize     = 10.5
	smallSize    = 8.5
	lineFactor   = 1.45
	pointMM      = 25.4 / 72
	// roundingRoom is what the sum of widths may differ from the width that was made of it.
	roundingRoom = 0.001
)

// A writer puts blocks on the pages of a PDF.
type writer struct {
	*fpdf.Fpdf
	notes       []note
	left, right float64
	bottom      float64
	y           float64 // of the next line's top
	lying       bool    // the page is wider than high, for a wide table
}

// written is when every report says it was made: the bytes of a report depend on what
// it holds alone. When it was made stands in the log.
var written = time.Date(2000, 1, 1, 0, 0, 0, 0, time.UTC)

// PDF writes the document as a PDF with its fonts inside. It stops when the context ends.
func PDF(ctx context.Context, d Document) ([]byte, error) {
	p, err := readDocument(d)
	if err != nil {
		return nil, err
	}
	w := newWriter(p)
	w.newPage()
	for i := range p.heading {
		p.heading[i].bold = true
	}
	w.flow(p.heading, 19, w.left)
	w.y += 3
	for i, b := range p.blocks {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		w.block(b, i+1 < len(p.blocks) && p.blocks[i+1].kind == item)
	}
	w.sources()
	var out bytes.Buffer
	if err := w.Output(&out); err != nil {
		return nil, fmt.Errorf("writing a PDF: %w", err)
	}
	return out.Bytes(), nil
}

func newWriter(p page) *writer {
	f := fpdf.New("P", "mm", "A4", "")
	f.SetCatalogSort(true)
	f.SetCreationDate(written)
	f.SetModificationDate(written)
	f.SetTitle(p.title, true)
	f.SetProducer("Interlock", true)
	f.SetAutoPageBreak(false, 0)
	f.SetMargins(0, 0, 0)
	f.SetCellMargin(0)
	for style, ttf := range map[string][]byte{"": liberationsansregular.TTF, "B": liberationsansbold.TTF, "I": liberationsansitalic.TTF, "BI": liberationsansbolditalic.TTF} {
		f.AddUTF8FontFromBytes("sans", style, ttf)
	}
	f.AddUTF8FontFromBytes("mono", "", liberationmonoregular.TTF)
	width, height := f.GetPageSize()
	w := &writer{Fpdf: f, notes: p.notes, left: sideMargin, right: width - sideMargin, bottom: height - bottomMargin}
	f.SetFooterFunc(func() {
		f.SetFont("sans", "", smallSize)
		f.SetTextColor(0x5b, 0x66, 0x73)
		number := strconv.Itoa(f.PageNo())
		width, height := f.GetPageSize()
		f.Text(width-sideMargin-f.GetStringWidth(number), height-10, number)
	})
	return w
}

var sansFont = sync.OnceValues(func() (*sfnt.Font, error) { return sfnt.Parse(liberationsansregular.TTF) })

// Unprintable lists characters of a text that the fonts of a PDF do not have, at most a
// few.
func Unprintable(text string) string {
	f, err := sansFont()
	if err != nil {
		return ""
	}
	var buf sfnt.Buffer
	var out strings.Builder
	for _, r := range text {
		if r < ' ' || strings.ContainsRune(out.String(), r) {
			continue
		}
		if i, err := f.GlyphIndex(&buf, r); err == nil && i == 0 {
			if out.WriteRune(r); out.Len() > 20 {
				break
			}
		}
	}
	return out.String()
}

// need begins a new page where the present one has no room.
func (w *writer) need(height float64) {
	if w.y+height > w.bottom && w.y > topMargin {
		w.newPage()
	}
}

// newPage begins a page, lying or upright.
func (w *writer) newPage() {
	orientation := "P"
	if w.lying {
		orientation = "L"
	}
	w.AddPageFormat(orientation, w.GetPageSizeStr("A4"))
	width, height := w.GetPageSize()
	w.right, w.bottom, w.y = width-sideMargin, height-bottomMargin, topMargin
}

// turn begins a page that lies, or one that stands, unless the present one does.
func (w *writer) turn(lying bool) {
	if w.lying != lying {
		w.lying = lying
		w.newPage()
	}
}

func (w *writer) font(s span, size float64) {
	family, style := "sans", ""
	if s.mono {
		family = "mono"
	} else {
		if s.bold {
			style += "B"
		}
		if s.italic {
			style += "I"
		}
	}
	w.SetFont(family, style, size)
	switch {
	case s.link != "":
		w.SetTextColor(0x2f, 0x6f, 0xb5)
	default:
		w.SetTextColor(0x22, 0x2b, 0x36)
	}
}

func lineHeight(size float64) float64 { return size * pointMM * lineFactor }

func (w *writer) block(b block, inList bool) {
	if b.kind != grid {
		w.turn(false)
	}
	indent := w.left + 6*float64(max(0, b.level-1))
	switch b.kind {
	case heading:
		size := []float64{15, 15, 13, 11.5, 10.5, 10.5, 10.5}[min(6, b.level)]
		w.y += 3
		w.need(3 * lineHeight(size)) // not alone at the end of a page
		for i := range b.spans {
			b.spans[i].bold = true
		}
		w.flow(b.spans, size, w.left)
		w.y += 1.5
	case paragraph:
		w.flow(b.spans, textSize, w.left+6*float64(b.level))
		w.y += 2.5
	case item:
		w.need(lineHeight(textSize))
		w.font(span{}, textSize)
		w.Text(indent, w.baseline(textSize), b.marker)
		w.flow(b.spans, textSize, indent+7)
		if w.y += 0.8; !inList {
			w.y += 1.7
		}
	case quote:
		top, page := w.y, w.PageNo()
		w.flow(b.spans, textSize, w.left+6)
		if page == w.PageNo() {
			w.SetDrawColor(0xc5, 0xcc, 0xd4)
			w.SetLineWidth(0.8)
			w.Line(w.left+1, top, w.left+1, w.y)
		}
		w.y += 2.5
	case code:
		for line := range strings.SplitSeq(b.text, "\n") {
			w.flow([]span{{text: strings.ReplaceAll(line, "\t", "    "), mono: true}}, smallSize, w.left+3)
		}
		w.y += 2.5
	case rule:
		w.y += 2
		w.SetDrawColor(0xe3, 0xe7, 0xec)
		w.SetLineWidth(0.3)
		w.Line(w.left, w.y, w.right, w.y)
		w.y += 4
	case grid:
		w.table(b)
	case drawing:
		w.picture(b)
	}
}

// baseline is where the text of the next line stands.
func (w *writer) baseline(size float64) float64 { return w.y + lineHeight(size)*0.74 }

// A word is a piece of text that is not broken, unless it is wider than a line.
type word struct {
	span
	blank bool
	width float64
}

// words cuts spans at blanks and measures the pieces.
func (w *writer) words(spans []span, size float64) []word {
	var out []word
	for _, s := range spans {
		if s.lineBreak {
			out = append(out, word{span: s})
			continue
		}
		w.font(s, size)
		text := strings.ReplaceAll(s.text, "\n", " ")
		for text != "" {
			piece, blank := text, false
			if i := strings.IndexByte(text, ' '); i == 0 {
				piece, blank = text[:len(text)-len(strings.TrimLeft(text, " "))], true
				if !s.mono {
					piece = " "
				}
				text = strings.TrimLeft(text, " ")
			} else if i > 0 {
				piece, text = text[:i], text[i:]
			} else {
				text = ""
			}
			sp := s
			sp.text, sp.note = piece, 0
			out = append(out, word{sp, blank, w.GetStringWidth(piece)})
		}
		if s.note > 0 {
			sp := span{note: s.note, text: strconv.Itoa(s.note)}
			w.font(sp, size*0.62)
			out = append(out, word{span: sp, width: w.GetStringWidth(sp.text) + 0.3})
		}
	}
	return out
}

// layout breaks words into lines of a width.
func (w *writer) layout(words []word, width, size float64) [][]word {
	width += roundingRoom
	var lines [][]word
	var line []word
	used := 0.0
	flush := func() {
		lines, line, used = append(lines, line), nil, 0
	}
	for _, x := range words {
		switch {
		case x.lineBreak:
			flush()
			continue
		case x.blank && len(line) == 0 && !x.mono:
			continue
		case used+x.width > width && len(line) > 0 && x.note == 0:
			flush()
			if x.blank {
				continue
			}
		}
		if x.width > width {
			pieces := w.cut(x, width, size)
			for _, piece := range pieces[:len(pieces)-1] {
				line = append(line, piece)
				flush()
			}
			x = pieces[len(pieces)-1]
		}
		line, used = append(line, x), used+x.width
	}
	if len(line) > 0 || len(lines) == 0 {
		flush()
	}
	return lines
}

// cut breaks a word that is longer than a line into pieces of at most a line, each of one
// character at least. It measures each character once.
func (w *writer) cut(x word, width, size float64) []word {
	w.font(x.span, size)
	_, fontSize := w.GetFontSize()
	var out []word
	from, used := 0, 0
	add := func(to int) {
		piece := x
		piece.text, piece.width = x.text[from:to], float64(used)*fontSize/1000
		out = append(out, piece)
		from, used = to, 0
	}
	for i, r := range x.text {
		symbol := w.GetStringSymbolWidth(string(r))
		if i > from && float64(used+symbol)*fontSize/1000 > width {
			add(i)
		}
		used += symbol
	}
	add(len(x.text))
	return out
}

// flow writes text from an indent to the right margin, over as many lines and pages as
// it takes.
func (w *writer) flow(spans []span, size, indent float64) {
	for _, line := range w.layout(w.words(spans, size), w.right-indent, size) {
		w.need(lineHeight(size))
		w.line(line, indent, size)
		w.y += lineHeight(size)
	}
}

// line writes the words of one line; notes stand higher and are small.
func (w *writer) line(words []word, x, size float64) {
	base := w.baseline(size)
	for _, p := range words {
		switch {
		case p.note > 0:
			w.font(p.span, size*0.62)
			w.SetTextColor(0x2f, 0x6f, 0xb5)
			if w.notes[p.note-1].noOrigin {
				w.SetTextColor(0xb0, 0x2a, 0x2a)
			}
			w.Text(x, base-size*pointMM*0.34, p.text)
		case !p.blank:
			w.font(p.span, size)
			w.Text(x, base, p.text)
			if p.link != "" {
				w.LinkString(x, w.y, p.width, lineHeight(size), p.link)
			}
		}
		x += p.width
	}
}

// sources writes where the figures come from.
func (w *writer) sources() {
	if len(w.notes) == 0 {
		return
	}
	w.y += 4
	w.turn(false)
	w.need(20)
	w.SetDrawColor(0xc5, 0xcc, 0xd4)
	w.SetLineWidth(0.3)
	w.Line(w.left, w.y, w.right, w.y)
	w.y += 2
	w.flow([]span{{text: "Sources of the figures", bold: true}}, textSize, w.left)
	for i, n := range w.notes {
		w.need(lineHeight(smallSize))
		w.font(span{}, smallSize)
		w.Text(w.left, w.baseline(smallSize), strconv.Itoa(i+1))
		w.flow([]span{{text: n.text, italic: n.noOrigin}}, smallSize, w.left+7)
	}
}
