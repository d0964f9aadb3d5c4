// Package chart makes charts of results. A chart is two things: a Vega-Lite document
// that names its result instead of holding a copy of the rows, so that a person can
// restyle it, and a picture that is drawn here, without a browser and a network.
//
//	Table, Request --Plan--> Spec --VegaLite--> the document
//	                           \--Draw------> Picture --SVG--> the picture
//
// A Picture is a list of shapes, so that a report can draw the same picture in a PDF.
package chart

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"iter"
	"slices"
	"strings"

	"interlock/internal/fault"
	"interlock/internal/schema"
)

// A Kind is a kind of chart.
type Kind string

// The kinds. Each measure, and each value of the column named as series, is drawn as a
// series of its own.
const (
	Bar       Kind = "bar"
	Line      Kind = "line"
	Area      Kind = "area"
	Point     Kind = "point"
	Pie       Kind = "pie"
	Histogram Kind = "histogram"
)

// Kinds lists the kinds by name.
func Kinds() []string {
	return []string{string(Bar), string(Line), string(Area), string(Point), string(Pie), string(Histogram)}
}

// kindNames are the names under which models know the kinds, and whether they stack.
var kindNames = map[string]struct {
	kind    Kind
	stacked bool
}{
	"bar": {Bar, false}, "column": {Bar, false}, "bars": {Bar, false}, "grouped_bar": {Bar, false}, "stacked_bar": {Bar, true}, "stacked": {Bar, true},
	"line": {Line, false}, "area": {Area, true}, "stacked_area": {Area, true}, "point": {Point, false}, "scatter": {Point, false},
	"pie": {Pie, false}, "arc": {Pie, false}, "donut": {Pie, false}, "histogram": {Histogram, false},
}

// A Table is the rows of a result. Cells are what encoding/json makes of typed JSON.
type Table struct {
	Columns []schema.Column
	Rows    [][]any
}

// rowsUntil goes through the rows until the context ends.
func (t Table) rowsUntil(ctx context.Context) iter.Seq2[int, []any] {
	return func(yield func(int, []any) bool) {
		for i, row := range t.Rows {
			if i%1024 == 0 && ctx.Err() != nil || !yield(i, row) {
				return
			}
		}
	}
}

// DecodeTable reads rows as results keep them: a JSON array of arrays.
func DecodeTable(columns []schema.Column, rows json.RawMessage) (Table, error) {
	t := Table{Columns: uniqueColumns(columns)}
	dec := json.NewDecoder(strings.NewReader(string(rows)))
	dec.UseNumber() // digits beyond those of a float are rounded once, when they are drawn
	if err := dec.Decode(&t.Rows); err != nil {
		return t, fmt.Errorf("reading the rows of a chart: %w", err)
	}
	for i, row := range t.Rows {
		if len(row) != len(columns) {
			return t, fmt.Errorf("reading the rows of a chart: row %d has %d cells, and there are %d columns", i+1, len(row), len(columns))
		}
	}
	return t, nil
}

// uniqueColumns gives the second column of a name, and each further one, a number: charts
// refer to columns by their names.
func uniqueColumns(columns []schema.Column) []schema.Column {
	taken := make(map[string]bool, len(columns))
	for _, c := range columns {
		taken[c.Name] = true
	}
	out := slices.Clone(columns)
	seen := make(map[string]bool, len(columns))
	for i, c := range columns {
		name := c.Name
		for n := 2; seen[name] || name != c.Name && taken[name]; n++ {
			name = fmt.Sprintf("%s_%d", c.Name, n)
		}
		out[i].Name, seen[name] = name, true
	}
	return out
}

// A Request is what somebody wants to see. Empty fields are chosen by the shape of the
// result.
type Request struct {
	Kind   string   `json:"kind,omitempty"`
	X      string   `json:"x,omitempty"`
	Y      []string `json:"y,omitempty"`
	Series string   `json:"series,omitempty"`
	Title  string   `json:"title,omitempty"`
	Unit   string   `json:"unit,omitempty"` // of the measures, such as EUR or %
}

// A Spec is a chart that fits its result: every name is a column of it.
type Spec struct {
	Kind    Kind
	Title   string
	Unit    string
	X       string
	Y       []string // measures; empty for a histogram
	Series  string   // the column whose values are series; "" for none
	Stacked bool
	// Unused are measures that were left out because nobody asked for them.
	Unused []string

	roles map[string]role
}

// Bounds of what a chart shows.
const (
	maxRows       = 50_000 // read
	maxPoints     = 5_000  // drawn in a scatter plot
	maxCategories = 30     // of an axis; the largest are shown
	maxSlices     = 8      // of a pie; the rest is one slice
	maxSeries     = 10
	maxPeriods    = 400 // of an axis of time with bars
	maxMagnitude  = 1e40
	minMagnitude  = 1e-40 // of the largest value
)

// Plan checks a request against the columns of the result and chooses what it leaves
// open.
func Plan(t Table, r Request) (Spec, error) {
	switch {
	case len(t.Rows) == 0:
		return Spec{}, fault.New(fault.InvalidArguments, "the result has no rows to draw").Suggest("Say that nothing was found instead of drawing it.")
	case len(t.Rows) > maxRows:
		return Spec{}, fault.New(fault.TooLarge, "the result has %d rows; a chart is drawn of at most %d", len(t.Rows), maxRows).
			Suggest("Group the rows in the query and draw the groups.")
	}
	s := Spec{Title: strings.TrimSpace(r.Title), Unit: strings.TrimSpace(r.Unit), roles: make(map[string]role, len(t.Columns))}
	for i, c := range t.Columns {
		s.roles[c.Name] = columnRole(t, i)
	}
	if r.Kind != "" {
		known, ok := kindNames[strings.ToLower(strings.NewReplacer(" ", "_", "-", "_").Replace(r.Kind))]
		if !ok {
			return Spec{}, fault.New(fault.InvalidArguments, "%.40q is no kind of chart", r.Kind).Suggest("Take one of: %s.", strings.Join(Kinds(), ", "))
		}
		s.Kind, s.Stacked = known.kind, known.stacked
	}
	if err := s.takeColumns(t, r); err != nil {
		return Spec{}, err
	}
	if err := s.choose(t); err != nil {
		return Spec{}, err
	}
	return s, s.check(t)
}

// takeColumns finds the columns that the request names.
func (s *Spec) takeColumns(t Table, r Request) (err error) {
	if s.X, err = columnName(t, r.X); err != nil {
		return err
	}
	if s.Series, err = columnName(t, r.Series); err != nil {
		return err
	}
	for _, named := range r.Y {
		name, err := columnName(t, named)
		if err != nil {
			return err
		}
		if name == "" || slices.Contains(s.Y, name) {
			continue
		}
		if s.roles[name] != measure && s.roles[name] != key {
			return fault.New(fault.InvalidArguments, "the column %q holds no numbers, so it cannot be the height of anything", name).
				Suggest("Take a column of numbers as y: %s.", cmp.Or(strings.Join(s.columns(t, measure), ", "), "there is none"))
		}
		s.Y = append(s.Y, name)
	}
	return nil
}

// columnName gives a column its name in the result, whatever its case.
func columnName(t Table, named string) (string, error) {
	named = strings.TrimSpace(named)
	if named == "" {
		return "", nil
	}
	var names []string
	for _, c := range t.Columns {
		if c.Name == named {
			return c.Name, nil
		}
		names = append(names, c.Name)
	}
	for _, name := range names {
		if strings.EqualFold(name, named) {
			return name, nil
		}
	}
	return "", fault.New(fault.InvalidArguments, "the result has no column %.80q", named).With(names).Suggest("Its columns are: %s.", strings.Join(names, ", "))
}

// columns lists the columns of a role in their order.
func (s *Spec) columns(t Table, roles ...role) []string {
	var out []string
	for _, c := range t.Columns {
		if slices.Contains(roles, s.roles[c.Name]) {
			out = append(out, c.Name)
		}
	}
	return out
}

// index is the place of a column, -1 for none.
func (t Table) index(name string) int {
	return slices.IndexFunc(t.Columns, func(c schema.Column) bool { return c.Name == name })
}
