package chart

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"interlock/internal/schema"
)

// A Reference says where the rows of a chart are.
type Reference struct {
	Name     string // of the result in its thread
	ResultID string
	URL      string // of the rows as JSON
}

// meta is what a document says about itself beside Vega-Lite: enough to draw it again.
type meta struct {
	Interlock struct {
		Result   string  `json:"result"`
		ResultID string  `json:"result_id"`
		Chart    Request `json:"chart"`
	} `json:"interlock"`
}

// ParseDocument reads of a document which result it shows, and how.
func ParseDocument(raw []byte) (Reference, Request, error) {
	var doc struct {
		Data struct {
			URL string `json:"url"`
		} `json:"data"`
		Meta meta `json:"usermeta"`
	}
	if err := json.Unmarshal(raw, &doc); err != nil {
		return Reference{}, Request{}, fmt.Errorf("reading a chart: %w", err)
	}
	m := doc.Meta.Interlock
	if m.ResultID == "" {
		return Reference{}, Request{}, errors.New("reading a chart: it names no result")
	}
	return Reference{Name: m.Result, ResultID: m.ResultID, URL: doc.Data.URL}, m.Chart, nil
}

// request is what the chart would be asked for with.
func (s Spec) request() Request {
	kind := string(s.Kind)
	if s.Stacked && s.Kind == Bar {
		kind = "stacked_bar"
	}
	return Request{Kind: kind, X: s.X, Y: s.Y, Series: s.Series, Title: s.Title, Unit: s.Unit}
}

type object = map[string]any

// VegaLite writes the chart as a Vega-Lite document. Its data is a reference: the
// document can be restyled, and drawn again of the same rows.
func (s Spec) VegaLite(ctx context.Context, t Table, data Reference) ([]byte, error) {
	var m meta
	m.Interlock.Result, m.Interlock.ResultID, m.Interlock.Chart = data.Name, data.ResultID, s.request()
	doc := object{
		"$schema":     "https://vega.github.io/schema/vega-lite/v5.json",
		"title":       s.title(),
		"description": s.title() + ", of the result " + data.Name,
		"data":        object{"name": data.Name, "url": data.URL, "format": object{"type": "json", "property": "rows"}},
		"transform":   s.transforms(t),
		"mark":        s.mark(),
		"encoding":    s.encoding(ctx, t),
		"width":       pictureWidth - 2*margin,
		"height":      plotHeight,
		"usermeta":    m,
	}
	raw, err := json.MarshalIndent(doc, "", "  ")
	if err != nil {
		return nil, fmt.Errorf("writing a chart: %w", err)
	}
	return append(raw, '\n'), nil
}

// transforms give the cells of a row, which is an array, the names of their columns,
// and repeat what the picture does to them.
func (s Spec) transforms(t Table) []any {
	out := []any{}
	used := append([]string{s.X, s.Series}, s.Y...)
	for i, c := range t.Columns {
		if !contains(used, c.Name) {
			continue
		}
		cell := "datum[" + strconv.Itoa(i) + "]"
		switch {
		case s.roles[c.Name] == moment && c.Type.Kind == schema.Timestamp: // without a zone, as dates are
			cell = "toDate(replace(" + cell + ", ' ', 'T') + 'Z')"
		case s.roles[c.Name] == moment:
			cell = "toDate(" + cell + ")"
		case s.roles[c.Name] == measure:
			cell = "isValid(" + cell + ") ? toNumber(" + cell + ") : null"
		}
		out = append(out, object{"calculate": cell, "as": s.field(t, c.Name)})
	}
	if len(s.Y) > 1 {
		out = append(out, s.fold(t)...)
	}
	places := newPlaces(t, s)
	if s.roles[s.X] == moment || (s.Kind != Bar && s.Kind != Pie) {
		return out
	}
	most := maxCategories
	if s.Kind == Pie {
		most = maxSlices
	}
	if places <= most {
		return out
	}
	x, y := s.field(t, s.X), s.valueField(t)
	out = append(
		out,
		object{"joinaggregate": []any{object{"op": "sum", "field": y, "as": "total_here"}}, "groupby": []string{x}},
		object{"window": []any{object{"op": "dense_rank", "as": "rank_here"}}, "sort": []any{object{"field": "total_here", "order": "descending"}}},
	)
	if s.Kind != Pie {
		return append(out, object{"filter": fmt.Sprintf("datum.rank_here <= %d", most)})
	}
	return append(
		out,
		object{"calculate": fmt.Sprintf("datum.rank_here < %d ? datum[%s] : '%d others'", most, quoteText(x), places-most+1), "as": x},
		object{"aggregate": []any{object{"op": "sum", "field": y, "as": y}}, "groupby": []string{x}},
	)
}

// fold makes a series of each measure, under the measure's own name.
func (s Spec) fold(t Table) []any {
	var fields []string
	var names []any
	for _, y := range s.Y {
		f := s.field(t, y)
		fields = append(fields, f)
		if f != y {
			names = append(names, object{"calculate": fmt.Sprintf("datum.series === %q ? %s : datum.series", f, quoteText(y)), "as": "series"})
		}
	}
	return append([]any{object{"fold": fields, "as": []string{"series", "value"}}}, names...)
}

// quoteText writes a text for an expression.
func quoteText(text string) string {
	raw, err := json.Marshal(text)
	if err != nil { // no text is refused
		return `""`
	}
	return string(raw)
}

func contains(names []string, name string) bool {
	for _, n := range names {
		if n != "" && n == name {
			return true
		}
	}
	return false
}

// newPlaces counts the places on the x axis.
func newPlaces(t Table, s Spec) int {
	seen := map[string]bool{}
	x := t.index(s.X)
	for _, row := range t.Rows {
		seen[cellKey(row[x])] = true
	}
	return len(seen)
}

func (s Spec) mark() object {
	switch s.Kind {
	case Line:
		return object{"type": "line", "point": true, "tooltip": true}
	case Pie:
		return object{"type": "arc", "tooltip": true}
	case Point:
		return object{"type": "point", "filled": true, "tooltip": true}
	case Area:
		return object{"type": "area", "tooltip": true}
	}
	return object{"type": "bar", "tooltip": true}
}

// valueField is the field that holds the values after the transforms.
func (s Spec) valueField(t Table) string {
	if len(s.Y) > 1 {
		return "value"
	}
	return s.field(t, s.Y[0])
}

func (s Spec) encoding(ctx context.Context, t Table) object {
	if s.Kind == Histogram {
		return object{
			"x": object{"field": s.field(t, s.X), "bin": object{"maxbins": 30}, "type": "quantitative", "title": withUnit(readable(s.X), s.Unit)},
			"y": object{"aggregate": "count", "type": "quantitative", "title": "number of rows"},
		}
	}
	value := object{"field": s.valueField(t), "type": "quantitative", "title": s.subtitle()}
	place := object{"field": s.field(t, s.X), "title": readable(s.X), "type": "nominal", "sort": nil}
	switch s.roles[s.X] {
	case moment:
		place = object{"field": s.field(t, s.X), "title": readable(s.X), "type": "temporal", "scale": object{"type": "utc"}}
		if unit := timeUnits[newPlot(ctx, t, s).period]; s.Kind == Bar && unit != "" {
			place["timeUnit"] = unit
			delete(place, "scale")
		}
	case measure:
		if s.Kind == Point {
			place = object{"field": s.field(t, s.X), "title": readable(s.X), "type": "quantitative", "scale": object{"zero": false}}
		}
	}
	if s.Kind == Pie {
		place["sort"] = nil
		return object{"theta": value, "color": place}
	}
	out := object{"x": place, "y": value}
	series, named := s.Series, s.field(t, s.Series)
	if len(s.Y) > 1 {
		series, named = "series", "series"
	}
	if series != "" {
		out["color"] = object{"field": named, "type": "nominal", "title": readable(series), "sort": nil}
		switch {
		case s.Kind == Bar && !s.Stacked:
			out["xOffset"] = object{"field": named, "sort": nil}
			value["stack"] = nil
		case s.Kind == Point || s.Kind == Line:
			value["stack"] = nil
		}
	}
	return out
}

var timeUnits = map[period]string{years: "utcyear", quarters: "utcyearquarter", months: "utcyearmonth", days: "utcyearmonthdate"}

// ownFields are the fields that transforms add.
var ownFields = []string{"series", "value", "total_here", "rank_here"}

// field is the field of the document that holds a column. It has the column's name, unless
// Vega-Lite would take that for a path, for the number of a cell or for a field that the
// document adds.
func (s Spec) field(t Table, column string) string {
	number, err := strconv.Atoi(column)
	aCell := err == nil && number >= 0 && number < len(t.Columns)
	added := slices.Contains(ownFields[2:], column) || len(s.Y) > 1 && slices.Contains(ownFields, column)
	if !aCell && !added && !strings.HasPrefix(column, "column ") && !strings.ContainsAny(column, `.[]\'"`) {
		return column
	}
	return fmt.Sprintf("column %d", t.index(column)+1)
}
