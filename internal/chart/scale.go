package chart

import (
	"fmt"
	"math"
	"slices"
	"strings"
	"time"
)

// A scale maps values to a side of the picture. ticks are round values inside it.
type scale struct {
	low, high float64
	from, to  float64 // in the picture
	ticks     []float64
	decimals  int
}

func (s scale) at(v float64) float64 {
	if s.high == s.low {
		return s.from
	}
	return s.from + (v-s.low)/(s.high-s.low)*(s.to-s.from)
}

// newScale makes a scale whose ends are round values, with about so many ticks.
func newScale(low, high float64, about int) scale {
	if high-low <= 1e-12*max(math.Abs(low), math.Abs(high)) { // as equal as floats can tell
		low, high = min(low, 0), max(high, 0)
		if low == high {
			high = 1
		}
	}
	step := niceStep((high - low) / float64(max(about, 1)))
	s := scale{low: math.Floor(low/step+1e-9) * step, high: math.Ceil(high/step-1e-9) * step}
	if s.decimals = int(math.Ceil(-math.Log10(step) - 1e-9)); s.decimals < 0 {
		s.decimals = 0
	}
	if mantissa := step * math.Pow(10, float64(s.decimals)); math.Abs(mantissa-math.Round(mantissa)) > 1e-6 {
		s.decimals++ // 0.25 and 2.5 have a digit more than their size says
	}
	for i := 0; ; i++ {
		v := s.low + float64(i)*step
		if v > s.high+step/2 || i > 100 {
			break
		}
		s.ticks = append(s.ticks, v)
	}
	return s
}

// niceStep is the next round number: 1, 2, 2.5 or 5 times a power of ten.
func niceStep(raw float64) float64 {
	power := math.Pow(10, math.Floor(math.Log10(raw)))
	for _, m := range []float64{1, 2, 2.5, 5} {
		if raw <= m*power*(1+1e-9) {
			return m * power
		}
	}
	return 10 * power
}

// valueScale is the scale of a measure. Bars and areas begin at zero; a line does so
// unless its values lie close together far from it.
func valueScale(low, high float64, kind Kind) scale {
	if kind == Bar || kind == Area || kind == Histogram || low > 0 && (high-low) > 0.25*high || high < 0 && (high-low) > 0.25*-low {
		low, high = min(low, 0), max(high, 0)
	}
	return newScale(low, high, 5)
}

// A period is the step of an axis of time.
type period int

const (
	seconds period = iota
	minutes
	days
	months
	quarters
	years
)

// findPeriod says which period the times of a column stand for, by its name and by
// what all of them have in common.
func findPeriod(xs []place, column string) period {
	all := func(f func(time.Time) bool) bool {
		return !slices.ContainsFunc(xs, func(x place) bool { return !f(x.at) })
	}
	name := strings.ToLower(column)
	named := func(words ...string) bool {
		return slices.ContainsFunc(words, func(w string) bool { return strings.Contains(name, w) })
	}
	switch {
	case !all(func(t time.Time) bool { return t.Second() == 0 && t.Nanosecond() == 0 }):
		return seconds
	case !all(func(t time.Time) bool { return t.Hour() == 0 && t.Minute() == 0 }):
		return minutes
	case !all(func(t time.Time) bool { return t.Day() == 1 }) || named("day", "date", "tag", "datum", "week", "woche"):
		return days
	case named("month", "monat"):
		return months
	case all(func(t time.Time) bool { return t.Month() == time.January }) && (len(xs) > 1 || named("year", "jahr")):
		return years
	case all(func(t time.Time) bool { return t.Month()%3 == 1 }) && (len(xs) > 2 || named("quarter", "quartal")):
		return quarters
	}
	return months
}

// format writes a time as its period, in the order that every language reads.
func (p period) format(t time.Time) string {
	switch p {
	case years:
		return t.Format("2006")
	case quarters:
		return fmt.Sprintf("%d-Q%d", t.Year(), (t.Month()+2)/3)
	case months:
		return t.Format("2006-01")
	case days:
		return t.Format(time.DateOnly)
	case minutes:
		return t.Format("2006-01-02 15:04")
	}
	return t.Format("2006-01-02 15:04:05")
}

func (p period) next(t time.Time) time.Time {
	switch p {
	case years:
		return t.AddDate(1, 0, 0)
	case quarters:
		return t.AddDate(0, 3, 0)
	case months:
		return t.AddDate(0, 1, 0)
	case days:
		return t.AddDate(0, 0, 1)
	case minutes:
		return t.Add(time.Minute)
	}
	return t.Add(time.Second)
}

// A timeStep is a distance of ticks on an axis of time.
type timeStep struct {
	months   int
	duration time.Duration
	period   period // in which its ticks are written
}

var timeSteps = []timeStep{
	{duration: time.Second, period: seconds},
	{duration: 5 * time.Second, period: seconds},
	{duration: 30 * time.Second, period: seconds},
	{duration: time.Minute, period: minutes},
	{duration: 5 * time.Minute, period: minutes},
	{duration: 15 * time.Minute, period: minutes},
	{duration: time.Hour, period: minutes},
	{duration: 3 * time.Hour, period: minutes},
	{duration: 12 * time.Hour, period: minutes},
	{duration: 24 * time.Hour, period: days},
	{duration: 2 * 24 * time.Hour, period: days},
	{duration: 7 * 24 * time.Hour, period: days},
	{duration: 14 * 24 * time.Hour, period: days},
	{months: 1, period: months},
	{months: 3, period: months},
	{months: 6, period: months},
	{months: 12, period: years},
	{months: 24, period: years},
	{months: 60, period: years},
	{months: 120, period: years},
	{months: 600, period: years},
	{months: 1200, period: years},
}

// timeTicks lists round times between two, at most so many, none finer than the data.
func timeTicks(first, last time.Time, data period, most int) ([]time.Time, period) {
	for _, step := range timeSteps {
		if step.period < data && !(data == quarters && step.months == 3) {
			continue
		}
		ticks, fits := stepTicks(first, last, step, most)
		if fits {
			written := step.period
			if data == quarters && step.months < 12 {
				written = quarters
			}
			return ticks, written
		}
	}
	return []time.Time{first, last}, data
}

func stepTicks(first, last time.Time, step timeStep, most int) ([]time.Time, bool) {
	at := first.Truncate(max(step.duration, time.Second))
	if step.months > 0 {
		number := first.Year()*12 + int(first.Month()) - 1
		number -= number % step.months
		at = time.Date(number/12, time.Month(number%12+1), 1, 0, 0, 0, 0, time.UTC)
	}
	var out []time.Time
	for !at.After(last) {
		if !at.Before(first) {
			if out = append(out, at); len(out) > most {
				return nil, false
			}
		}
		if step.months > 0 {
			at = at.AddDate(0, step.months, 0)
		} else {
			at = at.Add(step.duration)
		}
	}
	return out, len(out) > 0
}

// bins divides numbers into steps of a round width.
func bins(values []float64) (edges []float64, counts []int) {
	low, high := slices.Min(values), slices.Max(values)
	whole := !slices.ContainsFunc(values, func(v float64) bool { return v != math.Trunc(v) })
	number := min(30, max(5, int(math.Ceil(2*math.Cbrt(float64(len(values)))))))
	step := 1.0
	if high > low {
		step = niceStep((high - low) / float64(number))
	}
	if whole {
		step = max(1, math.Ceil(step))
	}
	start := math.Floor(low/step+1e-9) * step
	number = int(math.Floor((high-start)/step+1e-9)) + 1
	counts = make([]int, number)
	for _, v := range values {
		counts[min(number-1, max(0, int(math.Floor((v-start)/step+1e-9))))]++
	}
	for i := range number + 1 {
		edges = append(edges, start+float64(i)*step)
	}
	return edges, counts
}
