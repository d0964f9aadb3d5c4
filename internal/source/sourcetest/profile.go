package sourcetest

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"
	"time"

	diff "github.com/google/go-cmp/cmp"

	"interlock/internal/query"
	"interlock/internal/schema"
	"interlock/internal/source"
)

// bins is how many bars a histogram has, shown how many examples there are and how
// long a text of them may be.
const (
	bins     = 10
	examples = 5
	shown    = 200
)

// profile holds that the columns look the same from every system: what differs is
// how a value of another type is written.
func (f Fixture) profile(t *testing.T, s source.Source, rows []Row) {
	engine, err := query.New(query.Config{Dir: t.TempDir()})
	if err != nil {
		t.Fatal(err)
	}
	defer engine.Close()
	got, err := source.Profile(t.Context(), engine, s, "data", t.TempDir(), nil)
	if err != nil {
		t.Fatal(err)
	}
	if got.Rows != int64(len(rows)) || got.Sampled || len(got.Columns) != len(Columns) {
		t.Fatalf("%d rows of %d columns, sampled %v", got.Rows, len(got.Columns), got.Sampled)
	}
	for i, c := range Columns {
		if f.Lacks[c.Name] != "" {
			continue
		}
		kind := f.kind(c).Kind
		want := Profile(rows, i, kind)
		seen := got.Columns[i]
		if seen.Name != c.Name {
			t.Errorf("column %d is %s, want %s", i, seen.Name, c.Name)
		}
		seen.Column, seen.Min, seen.Max = schema.Column{}, canonical(kind, seen.Min), canonical(kind, seen.Max)
		for k, e := range seen.Examples {
			seen.Examples[k] = canonical(kind, e)
		}
		for k, b := range seen.Histogram {
			seen.Histogram[k].From, seen.Histogram[k].To = canonical(kind, b.From), ""
			if b.To != "" { // the ends of bars are rounded: the first one is enough
				seen.Histogram[k].From = ""
			}
		}
		if d := diff.Diff(want, seen); d != "" {
			t.Errorf("column %s (-want +got): %s", c.Name, d)
		}
	}
}

// Profile is the profile of a column, worked out by hand. Bars of equal width have
// no labels in it.
func Profile(rows []Row, col int, kind schema.Kind) query.ColumnProfile {
	var p query.ColumnProfile
	count := map[string]int64{}
	cells := map[string]any{}
	for _, r := range rows {
		cell := r.Cells()[col]
		if cell == nil {
			p.Nulls++
			continue
		}
		text := canonical(kind, fmt.Sprint(cell))
		count[text]++
		cells[text] = cell
	}
	var texts []string
	for text := range cells {
		texts = append(texts, text)
	}
	slices.SortFunc(texts, func(a, b string) int { return compare(Columns[col].Type.Kind, cells[a], cells[b]) })
	p.Distinct, p.Min, p.Max = int64(len(texts)), texts[0], texts[len(texts)-1]
	wide := bars(kind, rows, col)
	slices.SortStableFunc(texts, func(a, b string) int { return cmp.Compare(count[b], count[a]) })
	p.Examples = slices.Clone(texts[:min(examples, len(texts))])
	if wide != nil && len(texts) > bins {
		p.Histogram = wide
		return p
	}
	for _, text := range texts[:min(bins, len(texts))] {
		p.Histogram = append(p.Histogram, query.Bin{From: text, Count: count[text]})
	}
	return p
}

// bars counts the values of numbers and times in parts of equal width.
func bars(kind schema.Kind, rows []Row, col int) []query.Bin {
	var points []float64
	for _, r := range rows {
		cell := r.Cells()[col]
		if cell == nil {
			continue
		}
		switch kind {
		case schema.Int, schema.Decimal, schema.Float:
			x, _ := number(cell).Float64()
			points = append(points, x)
		case schema.Date, schema.Timestamp, schema.TimestampTZ:
			points = append(points, seconds(cell.(string)))
		default:
			return nil
		}
	}
	least, width := slices.Min(points), (slices.Max(points)-slices.Min(points))/bins
	out := make([]query.Bin, bins)
	for _, x := range points {
		out[min(bins-1, int(math.Floor((x-least)/width)))].Count++
	}
	return out
}

func seconds(text string) float64 {
	for _, layout := range []string{time.DateOnly, "2006-01-02 15:04:05"} {
		if at, err := time.Parse(layout, text); err == nil {
			return float64(at.UnixMicro()) / 1e6
		}
	}
	panic(text + " is no time")
}

// canonical is a value of a profile, the same however its type is written.
func canonical(kind schema.Kind, text string) string {
	switch kind {
	case schema.Int, schema.Decimal, schema.Float:
		if text != "" {
			return number(text).FloatString(6)
		}
	case schema.Timestamp, schema.TimestampTZ:
		text = strings.TrimSuffix(text, "+00")
		if strings.Contains(text, ".") {
			text = strings.TrimRight(strings.TrimRight(text, "0"), ".")
		}
	case schema.Text:
		if r := []rune(text); len(r) > shown {
			text = string(r[:shown])
		}
	}
	return text
}
