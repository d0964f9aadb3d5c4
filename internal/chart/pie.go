package chart

import (
	"math"
)

// pie draws the parts of a whole, each named with its value and share beside it. The
// slices keep the order of the result.
func (c *canvas) pie() {
	const radius, rowHeight = 118, 22
	rows := float64(len(c.plot.xs))
	c.bottom = c.top + max(2*radius+8, rows*rowHeight)
	center := Spot{c.left + radius + 4, c.top + (c.bottom-c.top)/2}
	whole := 0.0
	for i := range c.plot.xs {
		whole += c.plot.placeTotal(i)
	}
	if whole == 0 {
		c.text(center.X, center.Y, "all values are 0", textSize, faded, Middle)
		return
	}
	angle := -math.Pi / 2
	y := center.Y - rows*rowHeight/2 + 14
	nameAt := center.X + radius + 44
	for i, p := range c.plot.xs {
		v := c.plot.placeTotal(i)
		share := v / whole
		text := withUnit(formatValue(v), c.spec.Unit) + "  (" + formatNumber(100*share, 1) + "\u00a0%)"
		c.slice(center, radius, angle, angle+2*math.Pi*share, color(i), p.label+": "+text)
		angle += 2 * math.Pi * share
		c.rect(nameAt-18, y-10, 11, 11, color(i), "")
		width := textWidth(text, textSize, false)
		c.text(nameAt, y, truncate(p.label, textSize, c.right-nameAt-width-16, false), textSize, ink, Start)
		c.text(c.right, y, text, textSize, ink, End)
		y += rowHeight
	}
}

// slice draws a sector as a polygon whose steps the eye does not see, with a white edge.
func (c *canvas) slice(center Spot, radius, from, to float64, fill Color, note string) {
	if to <= from {
		return
	}
	steps := max(2, int(math.Ceil((to-from)/(math.Pi/90))))
	spots := []Spot{center}
	for i := range steps + 1 {
		at := from + (to-from)*float64(i)/float64(steps)
		spots = append(spots, Spot{center.X + radius*math.Cos(at), center.Y + radius*math.Sin(at)})
	}
	c.add(Polygon{Spots: spots, Fill: fill, Opacity: 1, Note: note})
	if to-from < 2*math.Pi-1e-6 {
		c.add(StraightLine{center, spots[1], 1.2, paper}, StraightLine{center, spots[len(spots)-1], 1.2, paper})
	}
}
