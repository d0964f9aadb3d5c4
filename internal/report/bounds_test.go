package report_test

import (
	"strings"
	"testing"
	"time"

	"interlock/internal/report"
	"interlock/internal/schema"
)

// writeBound is far more than any report takes, and far less than work that grows with
// the square of a text's length.
const writeBound = 5 * time.Second

// TestLongWords: a word of any length is broken into lines in time that grows with it.
func TestLongWords(t *testing.T) {
	t.Parallel()
	var columns []schema.Column
	var row []any
	for i := range 12 {
		columns = append(columns, schema.Column{Name: string(rune('a' + i)), Type: schema.ParseType("VARCHAR")})
		row = append(row, strings.Repeat("x", 40_000))
	}
	for name, d := range map[string]report.Document{
		"cells":     {Title: "x", Markdown: "![t](t)", Tables: []report.Table{{Name: "t", Columns: columns, Rows: [][]any{row}}}},
		"paragraph": {Title: "x", Markdown: strings.Repeat("ä", 30_000)},
		"code":      {Title: "x", Markdown: "```\n" + strings.Repeat("x", 60_000) + "\n```"},
	} {
		t.Run(name, func(t *testing.T) {
			start := time.Now()
			if _, err := report.PDF(d); err != nil {
				t.Fatal(err)
			}
			if took := time.Since(start); took > writeBound {
				t.Errorf("writing took %v", took)
			}
		})
	}
}
