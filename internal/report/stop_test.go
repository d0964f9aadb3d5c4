package report_test

import (
	"context"
	"errors"
	"strings"
	"testing"

	"interlock/internal/chart"
	"interlock/internal/report"
	"interlock/internal/schema"
)

// Whoever gives up on a report or a chart does not wait for it.
func TestStops(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	d := sample(t)
	if _, err := report.PDF(ctx, d); !errors.Is(err, context.Canceled) {
		t.Errorf("PDF: %v", err)
	}
	if _, err := report.HTML(ctx, d); !errors.Is(err, context.Canceled) {
		t.Errorf("HTML: %v", err)
	}
	data := chart.Table{Columns: []schema.Column{{Name: "city"}, {Name: "n", Type: schema.Type{Kind: schema.Int}}}, Rows: [][]any{{"Bonn", 1.0}, {"Ulm", 2.0}}}
	plan, err := chart.Plan(data, chart.Request{Kind: "bar", X: "city", Y: []string{"n"}})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := chart.Draw(ctx, data, plan); !errors.Is(err, context.Canceled) {
		t.Errorf("chart: %v", err)
	}
}

// A figure of the title has its note like one of the text.
func TestTitleFigures(t *testing.T) {
	d := report.Document{Title: "Revenue of 48,211", Markdown: "It grew.", TitleFigures: []report.Figure{{Start: 11, End: 17, Text: "48,211", Source: "No origin was found.", NoOrigin: true}}}
	page, err := report.HTML(t.Context(), d)
	if err != nil {
		t.Fatal(err)
	}
	if !strings.Contains(string(page), "48,211<sup") || !strings.Contains(string(page), `<li id="note-1" class="none">No origin was found.`) {
		t.Errorf("the title has no note:\n%s", page)
	}
	if pdf, err := report.PDF(t.Context(), d); err != nil || len(pdf) == 0 {
		t.Errorf("PDF: %v", err)
	}
}
