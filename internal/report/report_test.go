package report_test

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"interlock/internal/chart"
	"interlock/internal/fault"
	"interlock/internal/report"
	"interlock/internal/schema"
)

const findings = `# Umsatz 2025

Der Umsatz stieg auf **12.345,67 €**, das sind 8 % mehr. Größter Monat: *März*.

## Findings

1. North leads with 5120 EUR; see the [method](https://example.com/method).
2. South has ` + "`NULL`" + ` in 3 rows.
   - a nested point with a rather long text that must be broken into several lines, because it does not fit into one line of the page at all
   - another one
3. About a third is open.

> Caveat: returns are not in it & <b>bold</b> is text.

![Revenue by month](revenue_by_month)

| region | revenue |
|:-------|--------:|
| North  | 5120    |
| South  | 3980    |

![Best customers](chart:customers)

` + "```sql\nSELECT region,\n       sum(amount) AS revenue\nFROM orders\n```" + `

<script>alert(1)</script>

---

The invented figure is 999.
`

func sample(t *testing.T) report.Document {
	t.Helper()
	data, err := chart.DecodeTable([]schema.Column{{Name: "month", Type: schema.ParseType("DATE")}, {Name: "revenue", Type: schema.ParseType("DOUBLE")}},
		[]byte(`[["2025-01-01",1000.5],["2025-02-01",1500],["2025-03-01",2200],["2025-04-01",1800]]`))
	if err != nil {
		t.Fatal(err)
	}
	spec, err := chart.Plan(data, chart.Request{Title: "Umsatz je Monat", Unit: "€"})
	if err != nil {
		t.Fatal(err)
	}
	rows := make([][]any, 230)
	for i := range rows {
		rows[i] = []any{fmt.Sprintf("Kundin %03d mit einem langen Namen GmbH & Co. KG, Zweigstelle Süd", i), float64(230-i) * 10.5, nil, "2025-01-02"}
	}
	figure := func(text, source string, none bool) report.Figure {
		start := strings.Index(findings, text)
		return report.Figure{Start: start, End: start + len(text), Text: text, Source: source, NoOrigin: none}
	}
	return report.Document{
		Title: "Umsatz 2025", Markdown: findings,
		Charts: []report.Chart{{Name: "revenue_by_month", Picture: draw(t, data, spec)}},
		Tables: []report.Table{{Name: "customers", Columns: []schema.Column{
			{Name: "customer", Type: schema.ParseType("VARCHAR")}, {Name: "spent_eur", Type: schema.ParseType("DOUBLE")}, {Name: "missing", Type: schema.ParseType("BIGINT")}, {Name: "since", Type: schema.ParseType("DATE")},
		}, Rows: rows}},
		Figures: []report.Figure{
			figure("12.345,67", "sum(revenue) over the result monthly", false), figure("8 %", "change between two cells of monthly", false),
			figure("5120", "the result by_region, row 1, column revenue", false), figure("999", "Nothing in this thread supports this figure.", true),
		},
	}
}

// TestReport writes both forms of a report; INTERLOCK_KEEP names a folder in which to
// keep them, to be looked at.
func TestReport(t *testing.T) {
	d := sample(t)
	page, err := report.HTML(t.Context(), d)
	if err != nil {
		t.Fatal(err)
	}
	pdf, err := report.PDF(t.Context(), d)
	if err != nil {
		t.Fatal(err)
	}
	if dir := os.Getenv("INTERLOCK_KEEP"); dir != "" {
		for name, content := range map[string][]byte{"report.html": page, "report.pdf": pdf} {
			if err := os.WriteFile(filepath.Join(dir, name), content, 0o600); err != nil {
				t.Fatal(err)
			}
		}
	}
	text := string(page)
	for _, want := range []string{
		"<h1>Umsatz 2025</h1>", "<strong>12.345,67</strong><sup><a href=\"#note-1\">1</a></sup><strong> €</strong>", "<svg ", "<figcaption>Revenue by month</figcaption>", "Kundin 099", "The first 100 of 230 rows.",
		"&lt;script&gt;alert(1)&lt;/script&gt;", "&lt;b&gt;bold&lt;/b&gt;", `href="https://example.com/method"`, `class="none" href="#note-4"`, "<li id=\"note-4\" class=\"none\">Nothing in this thread supports",
	} {
		if !strings.Contains(text, want) {
			t.Errorf("the page has no %s", want)
		}
	}
	for _, bad := range []string{"<script", "<b>bold", "Kundin 100", "<h2>Umsatz 2025"} {
		if strings.Contains(text, bad) {
			t.Errorf("the page has %s", bad)
		}
	}
	if !bytes.HasPrefix(pdf, []byte("%PDF-")) || !bytes.Contains(pdf, []byte("/Count ")) || len(pdf) < 20_000 {
		t.Errorf("the PDF has %d bytes and begins with %.20q", len(pdf), pdf)
	}
	again, err := report.PDF(t.Context(), d)
	if err != nil || !bytes.Equal(again, pdf) {
		t.Errorf("the same report has other bytes the second time (%v)", err)
	}
}

// TestNotesAreReferredTo: a number in the title's own heading or in a caption makes no note
// that nothing refers to, and the notes are numbered as they are referred to.
func TestNotesAreReferredTo(t *testing.T) {
	d := sample(t)
	d.Markdown = strings.Replace(d.Markdown, "![Best customers]", "![Best custom 17]", 1) // as long as before
	for _, in := range []struct{ text, number string }{{"# Umsatz 2025", "2025"}, {"![Best custom 17]", "17"}} {
		end := strings.Index(d.Markdown, in.text) + strings.Index(in.text, in.number) + len(in.number)
		d.Figures = append(d.Figures, report.Figure{Start: end - len(in.number), End: end, Text: in.number, Source: "the origin of " + in.number})
	}
	page, err := report.HTML(t.Context(), d)
	if err != nil {
		t.Fatal(err)
	}
	text := string(page)
	for n := 1; strings.Contains(text, fmt.Sprintf(`<li id="note-%d"`, n)); n++ {
		if !strings.Contains(text, fmt.Sprintf(`href="#note-%d"`, n)) {
			t.Errorf("nothing refers to note %d", n)
		}
	}
	if strings.Contains(text, "the origin of") || !strings.Contains(text, `<strong>12.345,67</strong><sup><a href="#note-1">`) {
		t.Errorf("%s", text)
	}
}

// TestReportRefusals: what a report cannot show is said, with what it can.
func TestReportRefusals(t *testing.T) {
	for name, tt := range map[string]struct {
		change func(*report.Document)
		code   fault.Code
		says   string
	}{
		"no title":             {func(d *report.Document) { d.Title = " " }, fault.InvalidArguments, "no title"},
		"no text":              {func(d *report.Document) { d.Markdown = "\n" }, fault.InvalidArguments, "no text"},
		"too long":             {func(d *report.Document) { d.Markdown = strings.Repeat("x", 600<<10) }, fault.TooLarge, "bytes"},
		"unknown picture":      {func(d *report.Document) { d.Markdown = "![x](sales_chart)" }, fault.NotFound, "sales_chart"},
		"picture in emphasis":  {func(d *report.Document) { d.Markdown = "*see ![x](sales_chart)* text" }, fault.NotFound, "sales_chart"},
		"picture in a heading": {func(d *report.Document) { d.Markdown = "# ![x](sales_chart) title" }, fault.NotFound, "sales_chart"},
		"picture in a link":    {func(d *report.Document) { d.Markdown = "[![x](sales_chart)](https://example.com)" }, fault.NotFound, "sales_chart"},
		"picture in a table":   {func(d *report.Document) { d.Markdown = "| a |\n|---|\n| ![x](sales_chart) |" }, fault.NotFound, "sales_chart"},
		"picture from web":     {func(d *report.Document) { d.Markdown = "![x](https://example.com/a.png)" }, fault.NotFound, "example.com"},
	} {
		t.Run(name, func(t *testing.T) {
			d := sample(t)
			tt.change(&d)
			for form, write := range map[string]func(context.Context, report.Document) ([]byte, error){"html": report.HTML, "pdf": report.PDF} {
				if _, err := write(t.Context(), d); !fault.Is(err, tt.code) || !strings.Contains(err.Error(), tt.says) {
					t.Errorf("%s: %v", form, err)
				}
			}
		})
	}
}

// TestImagesInside: a table is shown wherever the text names it.
func TestImagesInside(t *testing.T) {
	for _, markdown := range []string{"**see ![Best](customers)**", "# Best ![Best](customers)", "[![Best](customers)](https://example.com)", "- *![Best](customers)*", "| a |\n|---|\n| ![Best](customers) |"} {
		d := sample(t)
		d.Markdown, d.Figures = markdown, nil
		page, err := report.HTML(t.Context(), d)
		if err != nil {
			t.Fatal(err)
		}
		if n := strings.Count(string(page), "<caption>Best</caption>"); n != 1 {
			t.Errorf("%q shows the table %d times", markdown, n)
		}
	}
}

// TestEntities: entities are the characters that they name, unless they would make a
// figure that nobody looked up.
func TestEntities(t *testing.T) {
	for markdown, want := range map[string]string{
		"R&amp;D cost&nbsp;5 &euro; &lt;b&gt;": "<p>R&amp;D cost\u00a05 € &lt;b&gt;</p>",
		"&copy; &#228; &#x20AC;":               "<p>© ä €</p>",
		"a &unknown; &amp b \\&amp;":           "<p>a &amp;unknown; &amp;amp b &amp;amp;</p>",
		"`&amp;`":                              "<code>&amp;amp;</code>",
		"&#57;&#57;":                           "<p>&amp;#57;&amp;#57;</p>",
		"9&nbsp;999":                           "<p>9&amp;nbsp;999</p>",
		"&minus;5":                             "<p>&amp;minus;5</p>",
		"5&#8203; or &#8203;":                  "<p>5&amp;#8203; or &amp;#8203;</p>",
	} {
		page, err := report.HTML(t.Context(), report.Document{Title: "x", Markdown: markdown})
		if err != nil {
			t.Fatal(err)
		}
		if !strings.Contains(string(page), want) {
			_, body, _ := strings.Cut(string(page), "</h1>")
			t.Errorf("%s is written as %s, want %s", markdown, body, want)
		}
	}
}

func TestUnprintable(t *testing.T) {
	if got := report.Unprintable("Größe 5 € – „gut“, ≥ 3 Ω"); got != "" {
		t.Errorf("the fonts lack %q", got)
	}
	if got := report.Unprintable("売上 is 売上"); got != "売上" {
		t.Errorf("got %q", got)
	}
}
