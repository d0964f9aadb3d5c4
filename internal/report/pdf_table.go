package report

import (
	"codeberg.org/go-pdf/fpdf"

	"interlock/internal/chart"
)

// Sizes of tables, in millimetres.
const (
	cellPad    = 1.6
	minColumn  = 9.0
	maxNatural = 105.0 // what one column may ask for before the others
)

// table writes a table; its header is repeated on each page.
func (w *writer) table(b block) {
	columns := len(b.header)
	if columns == 0 {
		return
	}
	size := 9.0
	if columns > 7 {
		size = 7.5
	}
	widths := w.columnWidths(b, size)
	w.need(4 * lineHeight(size))
	if b.caption != "" {
		w.flow([]span{{text: b.caption, italic: true}}, smallSize, w.left)
	}
	header := w.layoutRow(b.header, widths, size)
	w.row(header, widths, size, true)
	for _, cells := range b.rows {
		row := w.layoutRow(cells, widths, size)
		if w.y+row.height > w.bottom {
			w.AddPage()
			w.y = topMargin
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

// columnWidths gives each column what its content asks for, less where the page is too
// narrow for all of them.
func (w *writer) columnWidths(b block, size float64) []float64 {
	natural := make([]float64, len(b.header))
	measure := func(cells []cell) {
		for i, c := range cells[:min(len(cells), len(natural))] {
			width := 2 * cellPad
			for _, x := range w.words(c.spans, size) {
				width += x.width
			}
			natural[i] = min(maxNatural, max(natural[i], width, minColumn))
		}
	}
	measure(b.header)
	for _, row := range b.rows {
		measure(row)
	}
	room, total := w.right-w.left, 0.0
	for _, n := range natural {
		total += n
	}
	for range 4 { // what the wide ones give up, the narrow ones need not
		if total <= room {
			break
		}
		fair, over, wide := room/float64(len(natural)), 0.0, 0.0
		for _, n := range natural {
			if n > fair {
				wide += n
			} else {
				over += n
			}
		}
		if wide == 0 {
			break
		}
		total = 0
		for i, n := range natural {
			if n > fair {
				natural[i] = max(min(fair, n), n*(room-over)/wide)
			}
			total += natural[i]
		}
	}
	if total > room {
		for i := range natural {
			natural[i] *= room / total
		}
	}
	return natural
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
		lines := w.layout(w.words(c.spans, size), widths[i]-2*cellPad, size)
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
			at := x + cellPad
			if c.right {
				at = x + widths[i] - cellPad
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
