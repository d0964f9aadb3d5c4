package report

import (
	"strings"
	"testing"

	"interlock/internal/schema"
)

// wideTable is a table of twelve columns as they come from queries.
func wideTable() Table {
	t := Table{Name: "wide"}
	for i, name := range []string{"region", "customer", "orders", "revenue", "discount", "shipping", "returns", "margin", "first_order", "last_order", "average", "segment"} {
		c := schema.Column{Name: name}
		if i > 1 && i < 8 || i == 10 {
			c.Type = schema.Type{Kind: schema.Int}
		}
		t.Columns = append(t.Columns, c)
	}
	for i := range 20 {
		t.Rows = append(t.Rows, []any{"Northrhine", "Westerhausen", 900 + 37.0*float64(i), 1234567.0, 48211.0, 1234.0, 12.0, 99999.0, "2024-01-01", "2024-12-31", 4321.0, "wholesale"})
	}
	return t
}

// No word of a table of twelve columns is broken in a PDF, and the text stays as large as the
// page allows; a small table keeps its size.
func TestWordsStayWholeInWideTables(t *testing.T) {
	small := wideTable()
	small.Columns = small.Columns[:4]
	for name, tt := range map[string]struct {
		table Table
		least float64 // size of the text
	}{"wide": {wideTable(), 5.5}, "small": {small, 9}} {
		p, err := readDocument(Document{Title: "x", Markdown: "![All](wide)", Tables: []Table{tt.table}})
		if err != nil {
			t.Fatal(err)
		}
		w := newWriter(p)
		for _, b := range p.blocks {
			size, widths := w.fitTable(b)
			total := 0.0
			for _, width := range widths {
				total += width
			}
			if size < tt.least || total > w.right-w.left+0.01 {
				t.Errorf("%s: text of %g points in %g mm", name, size, total)
			}
			for _, row := range append([][]cell{b.header}, b.rows...) {
				laid := w.layoutRow(row, widths, size)
				for i, lines := range laid.lines {
					words := strings.Fields(plainText(row[i].spans))
					for _, line := range lines {
						for _, x := range line {
							if !x.blank && len(words) > 0 && !strings.Contains(strings.Join(words, " ")+" ", x.text+" ") {
								t.Errorf("%s: %q is broken at %q", name, words, x.text)
							}
						}
					}
				}
			}
		}
	}
}

// A column has one form of thousands; years and keys have none.
func TestThousands(t *testing.T) {
	column := func(name string, values ...any) string {
		rows := make([][]any, len(values))
		for i, v := range values {
			rows[i] = []any{v}
		}
		f := newColumnFormat(schema.Column{Name: name, Type: schema.Type{Kind: schema.Int}}, rows, 0)
		var out []string
		for _, v := range values {
			out = append(out, f.text(v))
		}
		return strings.Join(out, " ")
	}
	for _, tt := range []struct{ got, want string }{
		{column("orders", 999.0, 1234.0, 48211.0), "999 1,234 48,211"},
		{column("period", 2023.0, 2024.0), "2023 2024"},
		{column("fiscal_year", 1850.0, 2024.0), "1850 2024"},
		{column("order_id", 1234.0, 48211.0), "1234 48211"},
		{column("visits", 1999.0, 2101.0), "1,999 2,101"},
	} {
		if tt.got != tt.want {
			t.Errorf("got %s, want %s", tt.got, tt.want)
		}
	}
}
