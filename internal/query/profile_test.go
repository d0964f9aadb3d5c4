package query_test

import (
	"math"
	"path/filepath"
	"testing"

	"github.com/google/go-cmp/cmp"

	"interlock/internal/query"
	"interlock/internal/schema"
	"interlock/internal/sqlpolicy"
)

// Values that no bar of a histogram can hold are in no bar, and a column of any type
// has a profile.
func TestProfileOfOddColumns(t *testing.T) {
	e := newEngine(t, query.Config{})
	path := filepath.Join(t.TempDir(), "odd.duckdb")
	w, err := query.Create(path)
	if err != nil {
		t.Fatal(err)
	}
	defer w.Abort()
	specs := []schema.Column{
		{Name: "at", Type: schema.Type{Kind: schema.Timestamp}},
		{Name: "zoned", Type: schema.Type{Kind: schema.TimestampTZ}},
		{Name: "day", Type: schema.Type{Kind: schema.Date}},
		{Name: "x", Type: schema.Type{Kind: schema.Float}},
		{Name: "raw", Type: schema.Type{Kind: schema.Bytes}},
		{Name: "doc", Type: schema.Type{Kind: schema.JSON}},
		{Name: "clock", Type: schema.Type{Kind: schema.Time}},
		{Name: "none", Type: schema.Type{Kind: schema.Int}},
		{Name: "key", Type: schema.Type{Kind: schema.UUID}},
	}
	a, err := w.Table("t", specs)
	if err != nil {
		t.Fatal(err)
	}
	for i := range 23 {
		at, day, x := int64(i)*86_400_000_000, int32(i), float64(i)
		switch i {
		case 20:
			at, day, x = math.MaxInt64, math.MaxInt32, math.Inf(1)
		case 21:
			at, day, x = -math.MaxInt64, -math.MaxInt32, math.Inf(-1)
		case 22:
			x = math.NaN()
		}
		a.Timestamp(0, at)
		a.Timestamp(1, at)
		a.Date(2, day)
		a.Float(3, x)
		a.Bytes(4, []byte{byte(i), 0xff})
		a.String(5, `{"a": [1]}`)
		a.TimeOfDay(6, int64(i)*1_000_000)
		a.Null(7)
		a.UUID(8, [16]byte{byte(i)})
		if err := a.EndRow(); err != nil {
			t.Fatal(err)
		}
	}
	if _, err := w.Table("empty", specs); err != nil {
		t.Fatal(err)
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	db := query.Database{Path: path, Tables: []sqlpolicy.Table{{Name: "t"}, {Name: "empty"}}}
	p, err := e.Profile(t.Context(), db, "t")
	if err != nil {
		t.Fatal(err)
	}
	type ends struct {
		Min, Max string
		Bars     int
		In       int64
	}
	got := map[string]ends{}
	for _, c := range p.Columns {
		of := ends{Min: c.Min, Max: c.Max, Bars: len(c.Histogram)}
		for _, b := range c.Histogram {
			of.In += b.Count
		}
		got[c.Name] = of
	}
	if diff := cmp.Diff(map[string]ends{
		"at":    {"-infinity", "infinity", 10, 21},
		"zoned": {"-infinity", "infinity", 10, 21},
		"day":   {"-infinity", "infinity", 10, 21},
		"x":     {"-inf", "nan", 10, 20},
		"raw":   {`\x00\xFF`, `\x16\xFF`, 10, 10},
		"doc":   {`{"a": [1]}`, `{"a": [1]}`, 1, 23},
		"clock": {"00:00:00", "00:00:22", 10, 10},
		"none":  {},
		"key":   {"00000000-0000-0000-0000-000000000000", "16000000-0000-0000-0000-000000000000", 10, 10},
	}, got); diff != "" {
		t.Error(diff)
	}
	if p, err = e.Profile(t.Context(), db, "empty"); err != nil || p.Rows != 0 || len(p.Columns) != len(specs) || p.Columns[0].Histogram != nil {
		t.Errorf("%+v, %v", p, err)
	}
}

func TestProfileOfNestedColumns(t *testing.T) {
	e := newEngine(t, query.Config{})
	path := filepath.Join(t.TempDir(), "nested.duckdb")
	file := put(t, "a.ndjson", []byte(`{"l": [2, 1], "s": {"k": "v"}, "d": null}`+"\n"+`{"l": [1], "s": {"k": "w"}}`+"\n"+`{"l": null, "s": null}`))
	if _, err := e.Build(t.Context(), path, []query.Import{{Table: "t", Files: []string{file}}}, nil); err != nil {
		t.Fatal(err)
	}
	p, err := e.Profile(t.Context(), query.Database{Path: path, Tables: []sqlpolicy.Table{{Name: "t"}}}, "t")
	if err != nil {
		t.Fatal(err)
	}
	if l := p.Columns[0]; l.Nulls != 1 || l.Distinct != 2 || l.Min != "[1]" || l.Max != "[2, 1]" {
		t.Errorf("%+v", l)
	}
	if s := p.Columns[1]; s.Nulls != 1 || s.Distinct != 2 || len(s.Examples) != 2 {
		t.Errorf("%+v", s)
	}
}
