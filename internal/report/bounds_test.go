package report_test

import (
	"strings"
	"testing"
	"time"

	"interlock/internal/fault"
	"interlock/internal/report"
	"interlock/internal/schema"
)

// writeBound is far more than any report takes, and far less than work that grows with
// the square of a text's length.
const writeBound = 20 * time.Second

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
			if _, err := report.PDF(t.Context(), d); err != nil {
				t.Fatal(err)
			}
			if took := time.Since(start); took > writeBound {
				t.Errorf("writing took %v", took)
			}
		})
	}
}

// fill repeats a text to about so many bytes.
func fill(text string, bytes int) string { return strings.Repeat(text, bytes/len(text)) }

// TestHostileMarkdown: text that the parser would spend seconds or gigabytes on is
// refused, or bounded to what takes no time.
func TestHostileMarkdown(t *testing.T) {
	t.Parallel()
	const most = 64 << 10
	dense := func(text string) string { return fill(fill(text, 2000*len(text)/2)+"\n\n", most/4) }
	for name, tt := range map[string]struct{ markdown, says string }{
		"emphasis":               {fill("*a_ ", most), "marks of emphasis"},
		"images":                 {fill("![a](", most), "marks of emphasis"},
		"links in brackets":      {fill("[a](<b", most), "marks of emphasis"},
		"quotes":                 {fill(">", most), "inside each other"},
		"lists":                  {fill("- ", most-2) + "a", "inside each other"},
		"numbered lists":         {fill("1. ", most-2) + "a", "inside each other"},
		"short rows of a table":  {fill("|a", 4096) + "\n" + fill("|-", 4096) + "\n" + fill("|\n", 4096), "cells"},
		"too long":               {fill("word ", most+10), "65536"},
		"emphasis in paragraphs": {dense("*a_ "), ""},
		"images in paragraphs":   {dense("![a]("), ""},
		"tables":                 {fill("a|a\n-|-\n", most), ""},
		"headings":               {fill("# a\n", most), ""},
		"half-open tags":         {fill("x <!-- ", most), ""},
		"code marks":             {"`" + fill("`` ` ", most-1), ""},
	} {
		t.Run(name, func(t *testing.T) {
			start := time.Now()
			_, err := report.HTML(t.Context(), report.Document{Title: "x", Markdown: tt.markdown})
			if took := time.Since(start); took > writeBound {
				t.Errorf("writing took %v", took)
			}
			switch {
			case tt.says == "" && err != nil:
				t.Error(err)
			case tt.says != "" && (!fault.Is(err, fault.TooLarge) || !strings.Contains(err.Error(), tt.says)):
				t.Errorf("got %v, want %q", err, tt.says)
			}
		})
	}
}

// TestOrdinaryMarkdown: what people write stays below the bounds.
func TestOrdinaryMarkdown(t *testing.T) {
	t.Parallel()
	for name, markdown := range map[string]string{
		"a list without blank lines": strings.Repeat("- **North**: 5 of [the sources](https://example.com), *see below*\n", 200),
		"a wide table":               strings.Repeat("| gross_revenue_eur ", 12) + "|\n" + strings.Repeat("|---", 12) + "|\n" + strings.Repeat(strings.Repeat("| net_of_tax_eur ", 12)+"|\n", 200),
		"a rule":                     "a\n\n" + strings.Repeat("- ", 20) + "\n\n" + strings.Repeat("-", 200) + "\n\nb",
	} {
		t.Run(name, func(t *testing.T) {
			if _, err := report.HTML(t.Context(), report.Document{Title: "x", Markdown: markdown}); err != nil {
				t.Error(err)
			}
		})
	}
}
