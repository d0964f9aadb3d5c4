package chart

import (
	"math"
	"regexp"
	"slices"
	"strings"

	"interlock/internal/fault"
	"interlock/internal/schema"
)

// A role is what a column can be in a chart.
type role int

const (
	category role = iota // names and everything that groups
	moment               // dates and points in time
	measure              // numbers
	key                  // numbers that name a thing, and are no quantity
)

var (
	isoDate    = regexp.MustCompile(`^\d{4}-\d{2}(-\d{2}([T ]\d{2}:\d{2}(:\d{2}(\.\d+)?)?(Z|[+-]\d{2}(:?\d{2})?)?)?)?$`)
	periodName = regexp.MustCompile(`(?i)^(year|month|quarter|week|day|hour|weekday|jahr|monat|quartal|woche|tag|stunde|wochentag)(_?(no|nr|num|number))?$`)
	keyName    = regexp.MustCompile(`(?i)(^|_)(id|key|code|zip|plz|postcode)$`)
)

// columnRole says what a column can be, by its type, its name and its values.
func columnRole(t Table, i int) role {
	c := t.Columns[i]
	switch c.Type.Kind {
	case schema.Date, schema.Timestamp, schema.TimestampTZ:
		return moment
	case schema.Int, schema.Uint, schema.Float, schema.Decimal:
		switch {
		case periodName.MatchString(c.Name):
			return category
		case keyName.MatchString(c.Name):
			return key
		}
		return measure
	case schema.Text, schema.Other:
		some := false
		for _, row := range t.Rows {
			text, isText := row[i].(string)
			if row[i] == nil {
				continue
			}
			if !isText || !isoDate.MatchString(text) {
				return category
			}
			some = true
		}
		if some {
			return moment
		}
	}
	return category
}

// choose fills what the request left open.
func (s *Spec) choose(t Table) error {
	measures, moments := s.columns(t, measure), s.columns(t, moment)
	groups := s.columns(t, moment, category, key)
	free := func(names []string) []string {
		return slices.DeleteFunc(slices.Clone(names), func(n string) bool { return n == s.X || n == s.Series || slices.Contains(s.Y, n) })
	}
	if s.Kind == "" {
		s.Kind = s.chooseKind(t, free(measures), moments, free(groups))
	}
	switch s.Kind {
	case Histogram:
		if s.X == "" && len(s.Y) > 0 {
			s.X = s.Y[0]
		}
		if s.X == "" && len(measures) > 0 {
			s.X = measures[0]
		}
		s.Y = nil
		if s.X == "" || s.roles[s.X] != measure && s.roles[s.X] != key {
			return fault.New(fault.InvalidArguments, "a histogram needs a column of numbers").Suggest("Draw bars of the categories, or fetch the numbers.")
		}
		return nil
	case Point:
		if s.X == "" {
			if rest := free(measures); len(rest) > 0 && (len(rest) > 1 || len(s.Y) > 0) {
				s.X = rest[0]
			} else if rest := free(moments); len(rest) > 0 {
				s.X = rest[0]
			}
		}
	}
	if s.X == "" {
		for _, names := range [][]string{free(moments), free(groups)} {
			if len(names) > 0 {
				s.X = names[0]
				break
			}
		}
	}
	if len(s.Y) == 0 {
		if rest := free(measures); len(rest) > 0 {
			s.Y, s.Unused = rest[:1], rest[1:]
		}
	}
	if s.Series == "" && s.X != "" && s.Kind != Pie && len(s.Y) == 1 && s.repeats(t) {
		if rest := free(s.columns(t, category)); len(rest) > 0 {
			s.Series = rest[0]
		}
	}
	return nil
}

// chooseKind chooses by the shape of the result: time is a line, categories are bars,
// two measures are points, one measure alone is a distribution.
func (s *Spec) chooseKind(t Table, measures, moments, groups []string) Kind {
	temporal := s.X != "" && s.roles[s.X] == moment || s.X == "" && len(moments) > 0
	switch {
	case temporal && len(t.Rows) > 2:
		return Line
	case s.X != "" && s.roles[s.X] == measure && len(s.Y)+len(measures) > 0:
		return Point
	case s.X != "" || len(groups) > 0:
		return Bar
	case len(s.Y)+len(measures) > 1:
		return Point
	}
	return Histogram
}

// repeats reports whether two rows have the same x.
func (s *Spec) repeats(t Table) bool {
	seen := map[string]bool{}
	x := t.index(s.X)
	for _, row := range t.Rows {
		key := cellKey(row[x])
		if seen[key] {
			return true
		}
		seen[key] = true
	}
	return false
}

// check makes sure that the chart can be drawn and says what it means.
func (s *Spec) check(t Table) error {
	if s.Kind == Histogram {
		if len(t.Rows) < 2 {
			return fault.New(fault.InvalidArguments, "one row is no distribution").Suggest("Say the value in a sentence, or fetch more rows.")
		}
		return checkMagnitude(t, s.X)
	}
	switch {
	case len(s.Y) == 0:
		return fault.New(fault.InvalidArguments, "the result has no column of numbers to draw").Suggest("Count or sum something in the query.")
	case s.X == "":
		return fault.New(fault.InvalidArguments, "the result has one column of numbers and nothing to draw it over").
			Suggest("Add a date or a category to the query, or ask for a histogram.")
	case s.Series != "" && len(s.Y) > 1:
		return fault.New(fault.InvalidArguments, "a chart has one measure by %q, or several measures, not both", s.Series).Suggest("Name one y, or leave the series out.")
	case s.Kind == Pie && len(s.Y) > 1:
		return fault.New(fault.InvalidArguments, "a pie shows the parts of one measure").Suggest("Name one y, or take bars.")
	case s.Kind == Pie && s.Series != "":
		return fault.New(fault.InvalidArguments, "a pie has no series").Suggest("Take stacked bars.")
	case s.Kind == Point && s.roles[s.X] == category:
		return fault.New(fault.InvalidArguments, "points need numbers or dates in both directions, and %q holds names", s.X).Suggest("Take bars.")
	case s.Kind == Point && len(t.Rows) > maxPoints:
		return fault.New(fault.TooLarge, "%d points cannot be told apart; at most %d are drawn", len(t.Rows), maxPoints).Suggest("Group the rows, or draw a histogram.")
	}
	for _, name := range s.Y {
		if err := checkMagnitude(t, name); err != nil {
			return err
		}
	}
	if s.Kind != Point {
		return s.checkRows(t)
	}
	if s.roles[s.X] == moment {
		return nil
	}
	return checkMagnitude(t, s.X)
}

// checkMagnitude refuses numbers for which an axis has no room: their differences and
// sums leave the range of a float, and their digits the picture.
func checkMagnitude(t Table, column string) error {
	i, largest := t.index(column), 0.0
	for _, row := range t.Rows {
		if v, ok := cellNumber(row[i]); ok {
			largest = max(largest, math.Abs(v))
		}
	}
	if largest == 0 || largest >= minMagnitude && largest <= maxMagnitude {
		return nil
	}
	return fault.New(fault.InvalidArguments, "the largest value of %q is %g, and a chart shows values between %g and %g", column, largest, minMagnitude, maxMagnitude).
		Suggest("Leave such values out in the query, or take another unit or the logarithm.")
}

// checkRows looks for what the kind cannot show: two values in one place, and parts
// that are negative.
func (s *Spec) checkRows(t Table) error {
	x, series := t.index(s.X), t.index(s.Series)
	seen := map[[2]string]bool{} // place and series
	negative := false
	for _, row := range t.Rows {
		place := [2]string{cellKey(row[x])}
		if series >= 0 {
			place[1] = cellKey(row[series])
		}
		if seen[place] {
			return fault.New(fault.InvalidArguments, "the result has several rows for %s = %.60q, and a chart shows one value there", s.X, CellText(row[x])).
				Suggest("Sum or average them in the query, or name the column that tells them apart as series.")
		}
		seen[place] = true
		for _, name := range s.Y {
			if v, ok := cellNumber(row[t.index(name)]); ok && v < 0 {
				negative = true
			}
		}
	}
	switch {
	case s.Kind == Bar && s.roles[s.X] == moment && len(seen) > maxPeriods:
		return fault.New(fault.TooLarge, "%d bars cannot be told apart", len(seen)).Suggest("Take a line, or group the rows by a longer period.")
	case negative && s.Kind == Pie:
		return fault.New(fault.InvalidArguments, "%s has negative values, and a slice cannot be smaller than nothing", s.Y[0]).Suggest("Take bars.")
	case negative && s.Kind == Area:
		return fault.New(fault.InvalidArguments, "%s has negative values, which areas on top of each other hide", strings.Join(s.Y, ", ")).Suggest("Take lines or bars.")
	}
	return nil
}
