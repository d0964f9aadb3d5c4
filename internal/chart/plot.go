package chart

import (
	"cmp"
	"context"
	"fmt"
	"math"
	"slices"
	"strings"
	"time"
)

// A plot is the values of a chart, ready to be drawn: for every place on the x axis one
// value of each series.
type plot struct {
	xs     []place
	series []series
	period period // of an axis of time
	// notes say what the picture leaves out.
	notes []string
}

// A place is where values stand on the x axis: its name, and its time or number.
type place struct {
	label  string
	at     time.Time
	number float64
}

// A series is one value for each place, NaN where there is none.
type series struct {
	name   string
	values []float64
}

// newPlot arranges the rows. What is too much for the eye is left out, the largest
// values stay, and a note says so.
func newPlot(ctx context.Context, t Table, s Spec) plot {
	var p plot
	places, dropped := p.findPlaces(ctx, t, s)
	p.fillSeries(ctx, t, s, places)
	if dropped > 0 {
		p.note("%d %s without %s: left out.", dropped, plural(dropped, "row", "rows"), s.X)
	}
	missing := 0
	for _, row := range t.rowsUntil(ctx) {
		for _, name := range s.Y {
			if _, ok := cellNumber(row[t.index(name)]); !ok {
				missing++
			}
		}
	}
	if missing > 0 {
		p.note("%d %s missing.", missing, plural(missing, "value is", "values are"))
	}
	p.limitSeries()
	if s.roles[s.X] != moment {
		p.limitPlaces(s)
	} else if s.Kind == Bar {
		p.fillPeriods()
	}
	return p
}

func plural(n int, one, many string) string {
	if n == 1 {
		return one
	}
	return many
}

func (p *plot) note(format string, args ...any) {
	p.notes = append(p.notes, fmt.Sprintf(format, args...))
}

// findPlaces lists the places on the x axis: times in their order, names in the order
// of the result. It returns the place of each row, -1 for a row that has none.
func (p *plot) findPlaces(ctx context.Context, t Table, s Spec) (byRow []int, dropped int) {
	x, temporal := t.index(s.X), s.roles[s.X] == moment
	byRow = make([]int, len(t.Rows))
	index := map[string]int{}
	for i, row := range t.rowsUntil(ctx) {
		pl, key := place{label: CellText(row[x])}, cellKey(row[x])
		ok := true
		if temporal {
			if pl.at, ok = cellTime(row[x]); ok {
				key = pl.at.Format(time.RFC3339Nano)
			}
		} else if n, isNumber := cellNumber(row[x]); isNumber {
			pl.number = n
		}
		if !ok {
			byRow[i], dropped = -1, dropped+1
			continue
		}
		at, known := index[key]
		if !known {
			at = len(p.xs)
			index[key] = at
			p.xs = append(p.xs, pl)
		}
		byRow[i] = at
	}
	numeric := !temporal && len(p.xs) > 0 && s.roles[s.X] != category
	if !temporal && !numeric {
		numeric = periodName.MatchString(s.X) && allNumbers(t, x)
	}
	if temporal || numeric {
		p.sortPlaces(byRow, temporal)
	}
	if temporal {
		p.period = findPeriod(p.xs, s.X)
		for i := range p.xs {
			p.xs[i].label = p.period.format(p.xs[i].at)
		}
	}
	return byRow, dropped
}

func allNumbers(t Table, column int) bool {
	return !slices.ContainsFunc(t.Rows, func(row []any) bool { _, ok := cellNumber(row[column]); return !ok })
}

// sortPlaces puts the places in order and corrects the rows' references to them.
func (p *plot) sortPlaces(byRow []int, temporal bool) {
	order := make([]int, len(p.xs))
	for i := range order {
		order[i] = i
	}
	slices.SortStableFunc(order, func(a, b int) int {
		if temporal {
			return p.xs[a].at.Compare(p.xs[b].at)
		}
		return cmp.Compare(p.xs[a].number, p.xs[b].number)
	})
	moved, sorted := make([]int, len(order)), make([]place, len(order))
	for to, from := range order {
		moved[from], sorted[to] = to, p.xs[from]
	}
	p.xs = sorted
	for i, at := range byRow {
		if at >= 0 {
			byRow[i] = moved[at]
		}
	}
}

// fillSeries puts the value of each row into its series.
func (p *plot) fillSeries(ctx context.Context, t Table, s Spec, byRow []int) {
	index := map[string]int{}
	find := func(key, name string) *series {
		i, known := index[key]
		if !known {
			i = len(p.series)
			index[key] = i
			values := make([]float64, len(p.xs))
			for n := range values {
				values[n] = math.NaN()
			}
			p.series = append(p.series, series{name, values})
		}
		return &p.series[i]
	}
	by := t.index(s.Series)
	for i, row := range t.rowsUntil(ctx) {
		if byRow[i] < 0 {
			continue
		}
		for _, name := range s.Y {
			key, label := name, name
			if by >= 0 {
				key, label = cellKey(row[by]), CellText(row[by])
			}
			s := find(key, label) // a series without a value has its place in the legend
			if v, ok := cellNumber(row[t.index(name)]); ok {
				s.values[byRow[i]] = v
			}
		}
	}
}

func (s series) total() float64 {
	sum := 0.0
	for _, v := range s.values {
		if !math.IsNaN(v) {
			sum += math.Abs(v)
		}
	}
	return sum
}

// limitSeries leaves the largest series.
func (p *plot) limitSeries() {
	if len(p.series) <= maxSeries {
		return
	}
	p.note("The %d largest of %d series are shown.", maxSeries, len(p.series))
	slices.SortStableFunc(p.series, func(a, b series) int { return cmp.Compare(b.total(), a.total()) })
	p.series = p.series[:maxSeries]
}

// placeTotal is how much stands at a place.
func (p *plot) placeTotal(i int) float64 {
	sum := 0.0
	for _, s := range p.series {
		if v := s.values[i]; !math.IsNaN(v) {
			sum += math.Abs(v)
		}
	}
	return sum
}

// limitPlaces leaves the largest categories of an axis; of a pie the rest is summed up,
// because its slices are parts of a whole.
func (p *plot) limitPlaces(s Spec) {
	most := maxCategories
	if s.Kind == Pie {
		most = maxSlices
	}
	if len(p.xs) <= most || s.Kind == Line || s.Kind == Area {
		return
	}
	order := make([]int, len(p.xs))
	for i := range order {
		order[i] = i
	}
	slices.SortStableFunc(order, func(a, b int) int { return cmp.Compare(p.placeTotal(b), p.placeTotal(a)) })
	keep, rest := order[:most], order[most:]
	if s.Kind == Pie {
		keep, rest = order[:most-1], order[most-1:]
	} else {
		p.note("The %d largest of %d are shown.", most, len(p.xs))
	}
	xs := make([]place, 0, len(keep)+1)
	for _, from := range keep {
		xs = append(xs, p.xs[from])
	}
	for n, old := range p.series {
		values := make([]float64, 0, len(keep)+1)
		for _, from := range keep {
			values = append(values, old.values[from])
		}
		if s.Kind == Pie {
			sum := 0.0
			for _, from := range rest {
				if v := old.values[from]; !math.IsNaN(v) {
					sum += v
				}
			}
			values = append(values, sum)
		}
		p.series[n].values = values
	}
	if s.Kind == Pie {
		xs = append(xs, place{label: fmt.Sprintf("%d others", len(rest))})
	}
	p.xs = xs
}

// fillPeriods adds the periods that the result has no rows for: a gap must be seen.
func (p *plot) fillPeriods() {
	if len(p.xs) < 2 {
		return
	}
	var all []place
	from := map[string]int{}
	for i, x := range p.xs {
		from[x.label] = i
	}
	for at := p.xs[0].at; !at.After(p.xs[len(p.xs)-1].at); at = p.period.next(at) {
		if len(all) >= maxPeriods {
			return
		}
		all = append(all, place{label: p.period.format(at), at: at})
	}
	for _, x := range p.xs {
		if !slices.ContainsFunc(all, func(o place) bool { return o.label == x.label }) {
			return // the times keep no regular steps
		}
	}
	for n, s := range p.series {
		values := make([]float64, len(all))
		for i, x := range all {
			values[i] = math.NaN()
			if old, ok := from[x.label]; ok {
				values[i] = s.values[old]
			}
		}
		p.series[n].values = values
	}
	p.xs = all
}

// valueRange is the smallest and the largest value, of stacks the ends of the stacks.
func (p *plot) valueRange(stacked bool) (low, high float64) {
	low, high = math.Inf(1), math.Inf(-1)
	for i := range p.xs {
		down, up := 0.0, 0.0
		for _, s := range p.series {
			v := s.values[i]
			switch {
			case math.IsNaN(v):
				continue
			case !stacked:
				low, high = min(low, v), max(high, v)
			case v < 0:
				down += v
			default:
				up += v
			}
		}
		if stacked {
			low, high = min(low, down), max(high, up)
		}
	}
	if low > high {
		return 0, 1
	}
	return low, high
}

// readable makes words of a column's name.
func readable(name string) string { return strings.TrimSpace(strings.ReplaceAll(name, "_", " ")) }
