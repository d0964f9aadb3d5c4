package chart

import (
	"context"
	"math"
	"slices"
)

// Sizes of bars that lie: the room of one, and of its name.
const (
	lyingStep    = 26
	maxLyingName = 240
)

// A bar is one value at a place: side by side with those of other series (slot of
// slots), or on top of them. from and to are values.
type bar struct {
	series      int
	slot, slots int
	from, to    float64
}

func (b bar) value() float64 { return b.to - b.from }

// barsAt lists the bars of a place.
func (c *canvas) barsAt(i int) []bar {
	var out []bar
	up, down := 0.0, 0.0
	for n, s := range c.plot.series {
		v := s.values[i]
		switch {
		case math.IsNaN(v):
		case !c.spec.Stacked:
			out = append(out, bar{n, n, len(c.plot.series), 0, v})
		case v < 0:
			out = append(out, bar{n, 0, 1, down, down + v})
			down += v
		default:
			out = append(out, bar{n, 0, 1, up, up + v})
			up += v
		}
	}
	return out
}

// bars draws standing bars, or lying ones where the names are too long or too many to
// stand side by side.
func (c *canvas) bars() {
	temporal := c.spec.roles[c.spec.X] == moment
	room := (c.right - c.left - 60) / float64(max(1, len(c.plot.xs)))
	long := slices.ContainsFunc(c.plot.xs, func(p place) bool { return textWidth(p.label, smallSize, false)+8 > room })
	if !temporal && (long || len(c.plot.xs) > 16) {
		c.lyingBars()
		return
	}
	c.bottom = c.top + plotHeight
	low, high := c.plot.valueRange(c.spec.Stacked)
	s := c.valueAxis(valueScale(low, high, Bar))
	step := (c.right - c.left) / float64(max(1, len(c.plot.xs)))
	thick := min(96, step*0.78)
	labels := c.labelled(func(text string) bool { return textWidth(text, smallSize, false)+6 <= step })
	for i, p := range c.plot.xs {
		for _, b := range c.barsAt(i) {
			width := thick / float64(b.slots)
			x := c.left + step*(float64(i)+0.5) - thick/2 + width*float64(b.slot)
			top, bottom := s.at(max(b.from, b.to)), s.at(min(b.from, b.to))
			c.rect(x, top, max(0.6, width-slotGap(b)), max(bottom-top, 0.4), color(b.series), c.label(p.label, c.plot.series[b.series].name, b.value()))
			if !labels {
				continue
			}
			y := top - 5
			if b.value() < 0 {
				y = bottom + 13
			}
			c.text(x+width/2, y, formatValue(b.value()), smallSize, ink, Middle)
		}
	}
	c.zeroLine(s)
	c.bottom += c.placeLabels(func(i int) float64 { return c.left + step*(float64(i)+0.5) }, step, temporal)
	if temporal || len(c.plot.xs) > 0 {
		c.axisName()
	}
}

// slotGap is the blank behind a bar that has neighbours in its group.
func slotGap(b bar) float64 {
	if b.slots > 1 {
		return 1
	}
	return 0
}

// labelled reports whether every value can be written at its bar.
func (c *canvas) labelled(fits func(text string) bool) bool {
	if len(c.plot.series) != 1 {
		return false
	}
	return !slices.ContainsFunc(c.plot.series[0].values, func(v float64) bool { return !math.IsNaN(v) && !fits(formatValue(v)) })
}

// lyingBars draws bars from the left to the right, with their names before them.
func (c *canvas) lyingBars() {
	slots := 1
	if !c.spec.Stacked {
		slots = len(c.plot.series)
	}
	step := max(lyingStep, 13*float64(slots)+8)
	c.bottom = c.top + step*float64(len(c.plot.xs))
	widest, widestValue := 0.0, 0.0
	for _, p := range c.plot.xs {
		widest = max(widest, textWidth(p.label, textSize, false))
	}
	labels := slots == 1 && len(c.plot.series) == 1
	low, high := c.plot.valueRange(c.spec.Stacked)
	if labels {
		for _, v := range []float64{low, high} {
			widestValue = max(widestValue, textWidth(formatValue(v), smallSize, false)+14)
		}
	}
	c.left += min(widest, maxLyingName) + 10
	s := valueScale(low, high, Bar)
	s.from, s.to = c.left, c.right-widestValue
	if low < 0 {
		s.from += widestValue
	}
	for _, v := range s.ticks {
		c.add(StraightLine{Spot{s.at(v), c.top - 4}, Spot{s.at(v), c.bottom}, 1, grid})
	}
	for i, p := range c.plot.xs {
		middle := c.top + step*(float64(i)+0.5)
		c.text(c.left-8, middle+4, truncate(p.label, textSize, maxLyingName, false), textSize, ink, End)
		for _, b := range c.barsAt(i) {
			height := (step - 8) / float64(b.slots)
			left, right := s.at(min(b.from, b.to)), s.at(max(b.from, b.to))
			y := middle - (step-8)/2 + height*float64(b.slot)
			c.rect(left, y, max(right-left, 0.4), height-slotGap(b), color(b.series), c.label(p.label, c.plot.series[b.series].name, b.value()))
			switch {
			case !labels:
			case b.value() < 0:
				c.text(left-5, middle+4, formatValue(b.value()), smallSize, ink, End)
			default:
				c.text(right+5, middle+4, formatValue(b.value()), smallSize, ink, Start)
			}
		}
	}
	zero := s.at(min(max(0, s.low), s.high))
	c.add(StraightLine{Spot{zero, c.top - 4}, Spot{zero, c.bottom}, 1, axis})
	c.tickNumbers(s)
	c.bottom += 22
}

// tickNumbers writes the numbers of a lying scale, none over another.
func (c *canvas) tickNumbers(s scale) {
	end := math.Inf(-1)
	for _, v := range s.ticks {
		text := formatNumber(v, s.decimals)
		half := textWidth(text, smallSize, false) / 2
		if s.at(v)-half < end+8 {
			continue
		}
		c.text(s.at(v), c.bottom+16, text, smallSize, faded, Middle)
		end = s.at(v) + half
	}
}

// axisName writes the name of the x column below its values.
func (c *canvas) axisName() {
	c.bottom += 16
	c.text((c.left+c.right)/2, c.bottom, truncate(readable(c.spec.X), textSize, c.right-c.left, false), textSize, faded, Middle)
	c.bottom += 4
}

// histogramValues reads the numbers of a distribution.
func (c *canvas) histogramValues(ctx context.Context, t Table) []float64 {
	var out []float64
	x := t.index(c.spec.X)
	for _, row := range t.rowsUntil(ctx) {
		if v, ok := cellNumber(row[x]); ok {
			out = append(out, v)
		}
	}
	if missing := len(t.Rows) - len(out); missing > 0 {
		c.plot.note("%d %s missing.", missing, plural(missing, "value is", "values are"))
	}
	return out
}

// histogram draws how many values lie in each step.
func (c *canvas) histogram(values []float64) {
	c.bottom = c.top + plotHeight
	if len(values) == 0 {
		c.text((c.left+c.right)/2, c.top+plotHeight/2, "no values", textSize, faded, Middle)
		return
	}
	edges, counts := bins(values)
	s := c.valueAxis(valueScale(0, float64(slices.Max(counts)), Histogram))
	x := newScale(edges[0], edges[len(edges)-1], 8)
	x.low, x.high = edges[0], edges[len(edges)-1]
	x.ticks = slices.DeleteFunc(x.ticks, func(v float64) bool { return v < x.low-1e-9 || v > x.high+1e-9 })
	x.from, x.to = c.left, c.right
	for i, n := range counts {
		if n == 0 {
			continue
		}
		left, right := x.at(edges[i]), x.at(edges[i+1])
		note := formatValue(edges[i]) + " to " + formatValue(edges[i+1]) + ": " + formatValue(float64(n))
		c.rect(left+0.5, s.at(float64(n)), max(0.5, right-left-1), s.at(0)-s.at(float64(n)), color(0), note)
	}
	c.zeroLine(s)
	c.tickNumbers(x)
	c.bottom += 22 + 16
	c.text((c.left+c.right)/2, c.bottom, truncate(withUnit(readable(c.spec.X), c.spec.Unit), textSize, c.right-c.left, false), textSize, faded, Middle)
	c.bottom += 4
}
