package report

import (
	"strings"
	"unicode"

	"codeberg.org/go-pdf/fpdf"

	"interlock/internal/chart"
)

// Sizes of tables, in millimetres.
const (
	cellPad    = 1.6
	minColumn  = 9.0
	maxNatural = 105.0 // what one column may ask for before the others
)

// padding is the room beside the content of a cell; in tables of many columns it is less.
func padding(columns int) float64 {
	if columns > 7 {
		return cellPad / 2
	}
	return cellPad
}

// table writes a table; its header is repeated on each page.
func (w *writer) table(b block) {
	columns := len(b.header)
	if columns == 0 {
		return
	}
	width, height := w.GetPageSize()
	upright, lying := min(width, height)-2*sideMargin, max(width, height)-2*sideMargin
	size, widths := w.fitTable(b, upright)
	if larger, wide := w.fitTable(b, lying); size < leastUpright && larger > size {
		size, widths = larger, wide
		w.turn(true)
	} else {
		w.turn(false)
	}
	w.need(4 * lineHeight(size))
	if b.caption != "" {
		w.flow([]span{{text: b.caption, italic: true}}, smallSize, w.left)
	}
	header := w.layoutRow(b.header, widths, size)
	w.row(header, widths, size, true)
	for _, cells := range b.rows {
		row := w.layoutRow(cells, widths, size)
		if w.y+row.height > w.bottom {
			w.newPage()
			w.row(header, widths, size, true)
		}
		w.row(row, widths, size, false)
	}
	if b.note != "" {
		w.y++
		w.flow([]span{{text: b.note}}, smallSize, w.left)
	}
	w.y += 4
}

// tableSizes are the sizes of text in tables, in points: the largest is taken in which no
// number and no word of common length has to be broken.
var tableSizes = []float64{9, 8.5, 8, 7.5, 7, 6.5, 6, 5.5, 5}

// leastUpright is the least size of text in a table on an upright page: one that needs
// smaller text is put on a lying page, if it is larger there.
const leastUpright = 7

// longWord is from how many characters on a word of letters may be broken in a table, so
// that one long word does not make all columns narrow.
const longWord = 18

// fitTable chooses the size of the text and the widths of the columns for a width.
func (w *writer) fitTable(b block, room float64) (size float64, widths []float64) {
	for _, size = range tableSizes {
		natural, least := w.columnNeeds(b, size)
		needed := 0.0
		for _, n := range least {
			needed += n
		}
		widths = shareWidth(natural, least, room)
		if needed <= room {
			break
		}
	}
	return size, widths
}

// columnNeeds measures what each column asks for: all of its content in one line, and at
// least its longest number, or its longest word of common length.
func (w *writer) columnNeeds(b block, size float64) (natural, least []float64) {
	natural, least = make([]float64, len(b.header)), make([]float64, len(b.header))
	pad := 2 * padding(len(b.header))
	measure := func(cells []cell) {
		for i, c := range cells[:min(len(cells), len(natural))] {
			width, longest, joined := pad, 0.0, 0.0
			for _, x := range w.words(c.spans, size) {
				width += x.width
				if joined += x.width; x.blank || x.lineBreak {
					joined = 0
				}
				if strings.ContainsFunc(x.text, unicode.IsLetter) {
					joined = min(joined, longWord*size*pointMM/2)
				}
				longest = max(longest, joined)
			}
			natural[i] = min(maxNatural, max(natural[i], width, minColumn))
			least[i] = min(maxNatural, max(least[i], longest+pad))
		}
	}
	measure(b.header)
	for _, row := range b.rows {
		measure(row)
	}
	return natural, least
}

// shareWidth gives each column what it asks for; where the page is too narrow, at least its
// longest word, and of the rest a share of what it asks for beyond that.
func shareWidth(natural, least []float64, room float64) []float64 {
	wanted, needed := 0.0, 0.0
	for i := range natural {
		natural[i] = max(natural[i], least[i])
		wanted, needed = wanted+natural[i], needed+least[i]
	}
	out := make([]float64, len(natural))
	for i := range out {
		switch {
		case wanted <= room:
			out[i] = natural[i]
		case needed >= room:
			out[i] = least[i] * room / needed
		default:
			out[i] = least[i] + (natural[i]-least[i])*(room-needed)/(wanted-needed)
		}
	}
	return out
}

// A tableRow is the cells of a row, broken into lines.
type tableRow struct {
	cells  []cell
	lines  [][][]word // of each cell
	height float64
}

func (w *writer) layoutRow(cells []cell, widths []float64, size float64) tableRow {
	row := tableRow{cells: cells[:min(len(cells), len(widths))]}
	most := 1
	for i, c := range row.cells {
		lines := w.layout(w.words(c.spans, size), widths[i]-2*padding(len(widths)), size)
		row.lines = append(row.lines, lines)
		most = max(most, len(lines))
	}
	row.height = float64(most)*lineHeight(size) + 1.4
	return row
}

func (w *writer) row(row tableRow, widths []float64, size float64, header bool) {
	top, x := w.y, w.left
	for i, c := range row.cells {
		w.y = top + 0.7
		for _, line := range row.lines[i] {
			if w.y+lineHeight(size) > w.bottom+bottomMargin/2 {
				break // a cell longer than a page ends here
			}
			at := x + padding(len(widths))
			if c.right {
				at = x + widths[i] - padding(len(widths))
				for _, p := range line {
					at -= p.width
				}
			}
			w.line(line, at, size)
			w.y += lineHeight(size)
		}
		x += widths[i]
	}
	w.y = top + row.height
	w.SetDrawColor(0xe3, 0xe7, 0xec)
	w.SetLineWidth(0.2)
	if header {
		w.SetDrawColor(0x8a, 0x94, 0xa0)
		w.SetLineWidth(0.4)
	}
	w.Line(w.left, w.y, x, w.y)
}

// picture draws a chart in lines and areas, as wide as the text.
func (w *writer) picture(b block) {
	p := b.picture
	scale := min((w.right-w.left)/p.Width, (w.bottom-topMargin-8)/p.Height)
	w.need(p.Height*scale + 8)
	left, top := w.left, w.y
	at := func(s chart.Spot) fpdf.PointType {
		return fpdf.PointType{X: left + s.X*scale, Y: top + s.Y*scale}
	}
	for _, shape := range p.Shapes {
		w.shape(shape, at, scale)
	}
	w.SetAlpha(1, "Normal")
	w.y = top + p.Height*scale + 1
	if b.caption != "" {
		w.flow([]span{{text: b.caption, italic: true}}, smallSize, w.left)
	}
	w.y += 4
}

func (w *writer) shape(s chart.Shape, at func(chart.Spot) fpdf.PointType, scale float64) {
	stroke := func(c chart.Color, width float64) {
		w.SetDrawColor(int(c.R), int(c.G), int(c.B))
		w.SetLineWidth(width * scale)
		w.SetAlpha(1, "Normal")
	}
	fill := func(c chart.Color, opacity float64) {
		w.SetFillColor(int(c.R), int(c.G), int(c.B))
		w.SetAlpha(opacity, "Normal")
	}
	points := func(spots []chart.Spot) []fpdf.PointType {
		out := make([]fpdf.PointType, len(spots))
		for i, spot := range spots {
			out[i] = at(spot)
		}
		return out
	}
	switch s := s.(type) {
	case chart.StraightLine:
		stroke(s.Color, s.Width)
		a, b := at(s.From), at(s.To)
		w.Line(a.X, a.Y, b.X, b.Y)
	case chart.Polyline:
		stroke(s.Color, s.Width)
		list := points(s.Spots)
		for i := 1; i < len(list); i++ {
			w.Line(list[i-1].X, list[i-1].Y, list[i].X, list[i].Y)
		}
	case chart.Polygon:
		fill(s.Fill, s.Opacity)
		w.Polygon(points(s.Spots), "F")
	case chart.Circle:
		fill(s.Fill, s.Opacity)
		c := at(s.Center)
		w.Circle(c.X, c.Y, s.Radius*scale, "F")
	case chart.Label:
		w.label(s, at(s.At), scale)
	}
}

func (w *writer) label(l chart.Label, at fpdf.PointType, scale float64) {
	style := ""
	if l.Bold {
		style = "B"
	}
	w.SetAlpha(1, "Normal")
	w.SetFont("sans", style, l.Size*scale/pointMM)
	w.SetTextColor(int(l.Color.R), int(l.Color.G), int(l.Color.B))
	x := at.X
	switch l.Anchor {
	case chart.Middle:
		x -= w.GetStringWidth(l.Text) / 2
	case chart.End:
		x -= w.GetStringWidth(l.Text)
	}
	if l.Turned == 0 {
		w.Text(x, at.Y, l.Text)
		return
	}
	w.TransformBegin()
	w.TransformRotate(-l.Turned, at.X, at.Y)
	w.Text(x, at.Y, l.Text)
	w.TransformEnd()
}
