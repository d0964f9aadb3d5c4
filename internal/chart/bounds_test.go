package chart_test

import (
	"bytes"
	"strings"
	"testing"
	"time"

	"interlock/internal/chart"
	"interlock/internal/fault"
)

// drawBound is far more than any chart takes, and far less than work that grows with the
// square of a text's length.
const drawBound = 20 * time.Second

// TestLongTexts: a text of any length is cut in time that grows with its length.
func TestLongTexts(t *testing.T) {
	t.Parallel()
	long := strings.Repeat("x", 40_000)
	for name, tt := range map[string]struct {
		rows    string
		request chart.Request
	}{
		"category":           {`[["` + long + `",1],["b",2]]`, chart.Request{Kind: "bar"}},
		"slice":              {`[["` + long + `",1],["b",2]]`, chart.Request{Kind: "pie"}},
		"title":              {`[["a",1],["b",2]]`, chart.Request{Kind: "bar", Title: long}},
		"long word in title": {`[["a",1],["b",2]]`, chart.Request{Kind: "bar", Title: long + " by month"}},
		"unit":               {`[["a",1],["b",2]]`, chart.Request{Kind: "bar", Unit: long}},
	} {
		t.Run(name, func(t *testing.T) {
			data := table(t, "c:VARCHAR, v:DOUBLE", tt.rows)
			spec, err := chart.Plan(data, tt.request)
			if err != nil {
				t.Fatal(err)
			}
			start := time.Now()
			picture := draw(t, data, spec)
			if took := time.Since(start); took > drawBound {
				t.Errorf("drawing took %v", took)
			}
			cut := false
			for _, s := range picture.Shapes {
				if l, ok := s.(chart.Label); ok {
					cut = cut || strings.HasSuffix(l.Text, "x…")
					if len(l.Text) > 500 {
						t.Errorf("a label has %d characters", len(l.Text))
					}
				}
			}
			if !cut {
				t.Error("no label is marked as cut")
			}
		})
	}
}

// TestExtremeNumbers: a picture has no broken number, whatever the values; those for which
// an axis has no room are refused.
func TestExtremeNumbers(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct {
		rows   string
		refuse bool
	}{
		"largest floats":        {`[[1,1.7e308],[2,-1.7e308],[3,1]]`, true},
		"smallest float":        {`[[1,5e-324],[2,0],[3,0]]`, true},
		"denormal":              {`[[1,1e-320],[2,2e-320],[3,0]]`, true},
		"noise beside a value":  {`[[1,5e-324],[2,5],[3,-1e-300]]`, false},
		"large":                 {`[[1,9e37],[2,1e38],[3,1]]`, false},
		"small":                 {`[[1,6.6e-34],[2,1e-34],[3,0]]`, false},
		"neighbours":            {`[[1,1],[2,1.0000000000000002],[3,1]]`, false},
		"neighbours and a zero": {`[[1,0],[2,1e-300],[3,1]]`, false},
	} {
		for _, kind := range []string{"bar", "stacked_bar", "line", "point", "histogram"} {
			t.Run(name+" "+kind, func(t *testing.T) {
				data := table(t, "c:DOUBLE, v:DOUBLE", tt.rows)
				request := chart.Request{Kind: kind, X: "c", Y: []string{"v"}}
				if kind == "histogram" {
					request = chart.Request{Kind: kind, X: "v"}
				}
				spec, err := chart.Plan(data, request)
				if tt.refuse {
					if !fault.Is(err, fault.InvalidArguments) || !strings.Contains(err.Error(), `largest value of "v"`) {
						t.Errorf("got %v", err)
					}
					return
				}
				if err != nil {
					t.Fatal(err)
				}
				picture := draw(t, data, spec)
				inside(t, picture)
				if svg := picture.SVG(); bytes.Contains(svg, []byte("NaN")) || bytes.Contains(svg, []byte("Inf")) {
					t.Errorf("the picture has a broken number:\n%s", svg)
				}
			})
		}
	}
}

// TestColumnsOfOneName: a join gives two columns one name; each can be drawn.
func TestColumnsOfOneName(t *testing.T) {
	t.Parallel()
	data := table(t, "name:VARCHAR, name:DOUBLE, name_2:DOUBLE", `[["a",1,7],["b",2,8]]`)
	spec, err := chart.Plan(data, chart.Request{})
	if err != nil {
		t.Fatal(err)
	}
	if spec.X != "name" || len(spec.Y) != 1 || spec.Y[0] != "name_3" {
		t.Errorf("drawn: %v over %s", spec.Y, spec.X)
	}
	if svg := string(draw(t, data, spec).SVG()); !strings.Contains(svg, "a: 1<") || !strings.Contains(svg, "b: 2<") {
		t.Errorf("the picture is\n%s", svg)
	}
	doc, err := spec.VegaLite(t.Context(), data, chart.Reference{Name: "r", ResultID: "art_1@1"})
	if err != nil || !bytes.Contains(doc, []byte(`"name_3"`)) {
		t.Errorf("%v\n%s", err, doc)
	}
}

// TestMissingCategory: a missing category and a dash are two places, and two series.
func TestMissingCategory(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct {
		columns, rows string
		request       chart.Request
		notes         []string
	}{
		"places": {"c:VARCHAR, v:DOUBLE", `[[null,1],["–",2]]`, chart.Request{Kind: "bar"}, []string{"–: 1<", "–: 2<"}},
		"slices": {"c:VARCHAR, v:DOUBLE", `[[null,1],["–",3]]`, chart.Request{Kind: "pie"}, []string{"–: 1 ", "–: 3 "}},
		"series": {
			"month:DATE, c:VARCHAR, v:DOUBLE", `[["2025-01-01",null,1],["2025-01-01","–",2],["2025-02-01",null,3],["2025-02-01","–",4]]`,
			chart.Request{Kind: "bar", X: "month", Y: []string{"v"}, Series: "c"},
			[]string{"2025-01: 1<", "2025-01: 2<", "2025-02: 3<", "2025-02: 4<"},
		},
		"points": {"a:DOUBLE, c:VARCHAR, v:DOUBLE", `[[1,null,1],[2,"–",2]]`, chart.Request{Kind: "point", X: "a", Y: []string{"v"}, Series: "c"}, []string{"–, 1: 1<", "–, 2: 2<"}},
	} {
		t.Run(name, func(t *testing.T) {
			data := table(t, tt.columns, tt.rows)
			spec, err := chart.Plan(data, tt.request)
			if err != nil {
				t.Fatal(err)
			}
			svg := string(draw(t, data, spec).SVG())
			for _, note := range tt.notes {
				if !strings.Contains(svg, note) {
					t.Errorf("the picture has no %q:\n%s", note, svg)
				}
			}
		})
	}
}
