package chart

import (
	"context"
	"math"
	"slices"
	"time"
)

// lines draws lines or areas over times, numbers or names.
func (c *canvas) lines() {
	c.bottom = c.top + plotHeight
	low, high := c.plot.valueRange(c.spec.Kind == Area)
	s := c.valueAxis(valueScale(low, high, c.spec.Kind))
	x := c.linePlaces()
	if c.spec.Kind == Area {
		c.areas(s, x)
	} else {
		c.paths(s, x)
	}
	c.zeroLineInside(s)
	if c.spec.roles[c.spec.X] == moment && len(c.plot.xs) > 1 {
		c.timeLabels(x)
	} else {
		step := (c.right - c.left) / float64(max(1, len(c.plot.xs)))
		c.bottom += c.placeLabels(x, step, false)
	}
	c.axisName()
}

// zeroLineInside draws zero where it is on the axis.
func (c *canvas) zeroLineInside(s scale) {
	if s.low <= 0 && s.high >= 0 {
		c.zeroLine(s)
	}
}

// linePlaces gives the x of each place: by its time, or by its number in the list.
func (c *canvas) linePlaces() func(int) float64 {
	n := len(c.plot.xs)
	if c.spec.roles[c.spec.X] == moment && n > 1 {
		first, last := c.plot.xs[0].at, c.plot.xs[n-1].at
		left, right := c.left+12, c.right-12
		return func(i int) float64 {
			return left + (right-left)*float64(c.plot.xs[i].at.Sub(first))/float64(last.Sub(first))
		}
	}
	step := (c.right - c.left) / float64(max(1, n))
	return func(i int) float64 { return c.left + step*(float64(i)+0.5) }
}

// paths draws a line for each series, broken where values are missing.
func (c *canvas) paths(s scale, x func(int) float64) {
	dots := len(c.plot.xs) <= 60
	for n, line := range c.plot.series {
		var run []Spot
		flush := func() {
			if len(run) > 1 {
				c.add(Polyline{Spots: run, Width: 2.2, Color: color(n)})
			} else if len(run) == 1 {
				c.add(Circle{Center: run[0], Radius: 2.5, Fill: color(n), Opacity: 1})
			}
			run = nil
		}
		for i, v := range line.values {
			if math.IsNaN(v) {
				flush()
				continue
			}
			run = append(run, Spot{x(i), s.at(v)})
		}
		flush()
		for i, v := range line.values {
			if dots && !math.IsNaN(v) {
				c.add(Circle{Center: Spot{x(i), s.at(v)}, Radius: 3.2, Fill: color(n), Opacity: 1, Note: c.label(c.plot.xs[i].label, line.name, v)})
			}
		}
	}
}

// areas draws the series on top of each other; a missing value adds nothing.
func (c *canvas) areas(s scale, x func(int) float64) {
	base := make([]float64, len(c.plot.xs))
	for n, line := range c.plot.series {
		lower, upper := make([]Spot, len(base)), make([]Spot, len(base))
		for i, v := range line.values {
			lower[i] = Spot{x(i), s.at(base[i])}
			if !math.IsNaN(v) {
				base[i] += v
			}
			upper[i] = Spot{x(i), s.at(base[i])}
		}
		slices.Reverse(lower)
		c.add(
			Polygon{Spots: slices.Concat(upper, lower), Fill: color(n), Opacity: 0.72, Note: readable(line.name)},
			Polyline{Spots: upper, Width: 1.5, Color: color(n)},
		)
	}
}

// timeLabels writes round times below an axis of time.
func (c *canvas) timeLabels(x func(int) float64) {
	xs := c.plot.xs
	first, last := xs[0].at, xs[len(xs)-1].at
	left, right := x(0), x(len(xs)-1)
	room := textWidth(c.plot.period.format(last), smallSize, false) + 18
	ticks, written := timeTicks(first, last, c.plot.period, int((right-left)/room)+1)
	c.writeTimes(ticks, written, func(at time.Time) float64 {
		return left + (right-left)*float64(at.Sub(first))/float64(last.Sub(first))
	})
	c.bottom += 22
}

func (c *canvas) writeTimes(ticks []time.Time, written period, x func(time.Time) float64) {
	end := math.Inf(-1)
	for _, at := range ticks {
		text := written.format(at)
		half := textWidth(text, smallSize, false) / 2
		middle := min(max(x(at), half+2), c.Width-half-2)
		c.add(StraightLine{Spot{x(at), c.bottom}, Spot{x(at), c.bottom + 4}, 1, axis})
		if middle-half < end+6 {
			continue
		}
		c.text(middle, c.bottom+17, text, smallSize, faded, Middle)
		end = middle + half
	}
}

// A scatter is the points of one series; x is a number, or seconds of a time.
type scatter struct {
	key  string // of its cell
	name string
	xs   []float64
	ys   []float64
}

// scatterPoints reads the points of a scatter plot, by series.
func (c *canvas) scatterPoints(ctx context.Context, t Table) []scatter {
	var out []scatter
	x, by := t.index(c.spec.X), t.index(c.spec.Series)
	dropped := 0
	for _, name := range c.spec.Y {
		y := t.index(name)
		for _, row := range t.rowsUntil(ctx) {
			at, hasX := cellNumber(row[x])
			if c.spec.roles[c.spec.X] == moment {
				var when time.Time
				if when, hasX = cellTime(row[x]); hasX {
					at = float64(when.Unix())
				}
			}
			v, hasY := cellNumber(row[y])
			if !hasX || !hasY {
				dropped++
				continue
			}
			key, label := name, name
			if by >= 0 {
				key, label = cellKey(row[by]), CellText(row[by])
			}
			i := slices.IndexFunc(out, func(s scatter) bool { return s.key == key })
			if i < 0 {
				i, out = len(out), append(out, scatter{key: key, name: label})
			}
			out[i].xs, out[i].ys = append(out[i].xs, at), append(out[i].ys, v)
		}
	}
	if dropped > 0 {
		c.plot.note("%d %s without both values: left out.", dropped, plural(dropped, "row", "rows"))
	}
	if len(out) > maxSeries {
		c.plot.note("The first %d of %d series are shown.", maxSeries, len(out))
		out = out[:maxSeries]
	}
	for _, s := range out {
		c.plot.series = append(c.plot.series, series{name: s.name})
	}
	return out
}

// points draws a scatter plot.
func (c *canvas) points(all []scatter) {
	c.bottom = c.top + plotHeight
	if len(all) == 0 {
		c.text((c.left+c.right)/2, c.top+plotHeight/2, "no values", textSize, faded, Middle)
		return
	}
	lowX, highX, lowY, highY := math.Inf(1), math.Inf(-1), math.Inf(1), math.Inf(-1)
	for _, s := range all {
		lowX, highX = min(lowX, slices.Min(s.xs)), max(highX, slices.Max(s.xs))
		lowY, highY = min(lowY, slices.Min(s.ys)), max(highY, slices.Max(s.ys))
	}
	y := c.valueAxis(valueScale(lowY, highY, Point))
	temporal := c.spec.roles[c.spec.X] == moment
	x := newScale(lowX, highX, 7)
	if temporal {
		x.low, x.high = lowX, max(highX, lowX+1)
	}
	x.from, x.to = c.left+8, c.right-8
	write := func(v float64) string { return formatValue(v) }
	if temporal {
		write = func(v float64) string { return time.Unix(int64(v), 0).UTC().Format(time.DateOnly) }
	} else {
		for _, v := range x.ticks {
			c.add(StraightLine{Spot{x.at(v), c.top}, Spot{x.at(v), c.bottom}, 1, grid})
		}
	}
	for n, s := range all {
		for i := range s.xs {
			note := write(s.xs[i]) + ": " + withUnit(formatValue(s.ys[i]), c.spec.Unit)
			if len(all) > 1 {
				note = readable(s.name) + ", " + note
			}
			c.add(Circle{Center: Spot{x.at(s.xs[i]), y.at(s.ys[i])}, Radius: 3.4, Fill: color(n), Opacity: 0.65, Note: note})
		}
	}
	c.zeroLineInside(y)
	if temporal {
		first, last := time.Unix(int64(x.low), 0).UTC(), time.Unix(int64(x.high), 0).UTC()
		ticks, written := timeTicks(first, last, seconds, 7)
		c.writeTimes(ticks, written, func(at time.Time) float64 { return x.at(float64(at.Unix())) })
	} else {
		c.tickNumbers(x)
	}
	c.bottom += 22
	c.axisName()
}
