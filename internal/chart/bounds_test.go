package chart_test

import (
	"strings"
	"testing"
	"time"

	"interlock/internal/chart"
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
			picture := chart.Draw(data, spec)
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
