package chart

import (
	"context"
	"math"
	"strings"
)

// Sizes of a picture.
const (
	pictureWidth = 720
	plotHeight   = 300
	margin       = 24
	titleSize    = 17
	textSize     = 12
	smallSize    = 11
)

// A canvas is a picture in the making, with the area that is left for the values.
type canvas struct {
	*Picture
	spec                     Spec
	plot                     plot
	left, top, right, bottom float64
}

// Draw draws a chart of a result that it was planned for.
func Draw(ctx context.Context, t Table, s Spec) (*Picture, error) {
	c := &canvas{Picture: &Picture{Width: pictureWidth, Title: s.title()}, spec: s, left: margin, right: pictureWidth - margin}
	var points []scatter
	var values []float64
	switch s.Kind {
	case Histogram:
		values = c.histogramValues(ctx, t)
	case Point:
		points = c.scatterPoints(ctx, t)
	default:
		c.plot = newPlot(ctx, t, s)
	}
	if err := ctx.Err(); err != nil { // of the rows only a part was read
		return nil, err
	}
	c.header()
	switch s.Kind {
	case Bar:
		c.bars()
	case Line, Area:
		c.lines()
	case Pie:
		c.pie()
	case Point:
		c.points(points)
	case Histogram:
		c.histogram(values)
	}
	c.footer()
	c.Shapes = append([]Shape{Polygon{Spots: []Spot{{0, 0}, {c.Width, 0}, {c.Width, c.Height}, {0, c.Height}}, Fill: paper, Opacity: 1}}, c.Shapes...)
	return c.Picture, ctx.Err()
}

// title is what the chart shows, said by its columns where nobody said it.
func (s Spec) title() string {
	switch {
	case s.Title != "":
		return s.Title
	case s.Kind == Histogram:
		return "Distribution of " + readable(s.X)
	}
	measures := make([]string, len(s.Y))
	for i, name := range s.Y {
		measures[i] = readable(name)
	}
	out := strings.Join(measures, ", ") + " by " + readable(s.X)
	if s.Series != "" {
		out += " and " + readable(s.Series)
	}
	return strings.ToUpper(out[:1]) + out[1:]
}

// subtitle says what the values are.
func (s Spec) subtitle() string {
	switch {
	case s.Kind == Histogram:
		return "number of rows"
	case len(s.Y) > 1:
		return s.Unit
	case s.Unit != "":
		return readable(s.Y[0]) + ", " + s.Unit
	}
	return readable(s.Y[0])
}

// header writes title, subtitle and legend, and leaves the rest to the values.
func (c *canvas) header() {
	y := 14.0
	for _, line := range wrap(c.Title, titleSize, c.right-c.left, true, 2) {
		y += titleSize + 4
		c.add(Label{At: Spot{c.left, y}, Text: line, Size: titleSize, Bold: true, Color: ink})
	}
	if text := c.spec.subtitle(); text != "" {
		y += textSize + 6
		c.text(c.left, y, truncate(text, textSize, c.right-c.left, false), textSize, faded, Start)
	}
	if names := c.seriesNames(); len(names) > 1 {
		y = c.legend(names, y+10)
	}
	c.top = y + 16
}

func (c *canvas) seriesNames() []string {
	var names []string
	if c.spec.Kind == Pie || c.spec.Kind == Histogram {
		return nil
	}
	for _, s := range c.plot.series {
		names = append(names, s.name)
	}
	return names
}

// legend names the colours in as many lines as it takes.
func (c *canvas) legend(names []string, y float64) float64 {
	x := c.left
	y += textSize
	for i, name := range names {
		name = truncate(readable(name), textSize, 200, false)
		width := 16 + textWidth(name, textSize, false) + 18
		if x > c.left && x+width > c.right {
			x, y = c.left, y+textSize+7
		}
		c.rect(x, y-9.5, 11, 11, color(i), "")
		c.text(x+16, y, name, textSize, ink, Start)
		x += width
	}
	return y
}

func color(i int) Color { return palette[i%len(palette)] }

// footer writes the notes and ends the picture.
func (c *canvas) footer() {
	y := c.bottom
	if text := strings.Join(c.plot.notes, " "); text != "" {
		y += 4
		for _, line := range wrap(text, smallSize, c.Width-2*margin, false, 3) {
			y += smallSize + 4
			c.text(margin, y, line, smallSize, faded, Start)
		}
	}
	c.Height = math.Ceil(y + 16)
}

// valueAxis draws the lines of a vertical scale and makes room for its numbers.
func (c *canvas) valueAxis(s scale) scale {
	widest := 0.0
	for _, v := range s.ticks {
		widest = max(widest, textWidth(formatNumber(v, s.decimals), smallSize, false))
	}
	c.left += widest + 8
	s.from, s.to = c.bottom, c.top
	for _, v := range s.ticks {
		y := s.at(v)
		c.add(StraightLine{Spot{c.left, y}, Spot{c.right, y}, 1, grid})
		c.text(c.left-8, y+4, formatNumber(v, s.decimals), smallSize, faded, End)
	}
	return s
}

// zeroLine is the line that bars stand on.
func (c *canvas) zeroLine(s scale) {
	y := s.at(min(max(0, s.low), s.high))
	c.add(StraightLine{Spot{c.left, y}, Spot{c.right, y}, 1, axis})
}

// placeLabels writes names below the values: side by side where they fit, of times
// every second or third, of names that are too long turned.
func (c *canvas) placeLabels(x func(i int) float64, room float64, temporal bool) float64 {
	widest := 0.0
	for _, p := range c.plot.xs {
		widest = max(widest, textWidth(p.label, smallSize, false))
	}
	switch {
	case widest+8 <= room:
		for i, p := range c.plot.xs {
			c.text(x(i), c.bottom+16, p.label, smallSize, faded, Middle)
		}
		return 22
	case temporal || len(c.plot.xs) > 40:
		step := int(math.Ceil((widest + 12) / room))
		for i := 0; i < len(c.plot.xs); i += step {
			c.text(x(i), c.bottom+16, truncate(c.plot.xs[i].label, smallSize, room*float64(step), false), smallSize, faded, Middle)
		}
		return 22
	}
	const angle, longest = 40.0, 130.0
	for i, p := range c.plot.xs {
		c.add(Label{At: Spot{x(i) + 4, c.bottom + 14}, Text: truncate(p.label, smallSize, longest, false), Size: smallSize, Color: faded, Anchor: End, Turned: -angle})
	}
	return 18 + min(widest, longest)*math.Sin(angle*math.Pi/180)
}

// label is what a person reads who points at a value.
func (c *canvas) label(place, series string, v float64) string {
	text := place + ": " + withUnit(formatValue(v), c.spec.Unit)
	if series != "" && len(c.plot.series) > 1 {
		text = readable(series) + ", " + text
	}
	return text
}
