package report

import (
	"fmt"
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
	}{"wide": {wideTable(), 5.5}, "small": {small, 9}, "long": {germanTable(), 5}} {
		p, err := readDocument(Document{Title: "x", Markdown: "![All](wide)", Tables: []Table{tt.table}})
		if err != nil {
			t.Fatal(err)
		}
		w := newWriter(p)
		for _, b := range p.blocks {
			size, widths := w.fitTable(b, w.right-w.left)
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
							if !x.blank && len(words) > 0 && len(strings.Join(words, "")) < longWord && !strings.Contains(strings.Join(words, " ")+" ", x.text+" ") {
								t.Errorf("%s: %q is broken at %q", name, words, x.text)
							}
						}
					}
				}
			}
		}
	}
}

// The longest text of a column decides its width and stands in it in one line, whatever the
// sum of its words rounds to.
func TestLongestCellsStayInOneLine(t *testing.T) {
	table := Table{Name: "rows", Columns: []schema.Column{{Name: "n"}, {Name: "name"}, {Name: "sentence"}}}
	for i := range 100 {
		table.Rows = append(table.Rows, []any{float64(i), fmt.Sprintf("name %d", i), fmt.Sprintf("of %d and %d in all", i, 2*i)})
	}
	p, err := readDocument(Document{Title: "x", Markdown: "![All](rows)", Tables: []Table{table}})
	if err != nil {
		t.Fatal(err)
	}
	w := newWriter(p)
	size, widths := w.fitTable(p.blocks[0], w.right-w.left)
	for _, row := range p.blocks[0].rows {
		for i, lines := range w.layoutRow(row, widths, size).lines {
			if len(lines) != 1 {
				t.Fatalf("%q takes %d lines", plainText(row[i].spans), len(lines))
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
		{column("Vorjahr €", 946500.0, 1764000.0), "946,500 1,764,000"},
	} {
		if tt.got != tt.want {
			t.Errorf("got %s, want %s", tt.got, tt.want)
		}
	}
}

// germanTable has twelve columns, long words, umlauts and negative numbers.
func germanTable() Table {
	t := Table{Name: "wide"}
	for i, name := range []string{"Filiale", "Geschäftsführerin", "Umsatz €", "Vorjahr €", "Veränderung €", "Fläche m²", "Mitarbeiterzahl", "Retourenquote %", "Straße", "Eröffnet", "Bemerkung", "Straßenbahnhaltestelle"} {
		c := schema.Column{Name: name}
		if i > 1 && i < 8 {
			c.Type = schema.Type{Kind: schema.Float}
		}
		t.Columns = append(t.Columns, c)
	}
	for range 6 {
		t.Rows = append(t.Rows, []any{"Garmisch-Partenkirchen", "Özlem Müller-Lüdenscheidt", 1234567.89, 1300000.0, -65432.11, 1200.0, 17.0, 3.45, "Königsstraße 4", "2019-04-15", "Donaudampfschifffahrtsgesellschaftskapitänsmützenabzeichen", "Marktplatz"})
	}
	return t
}

// A table that would need tiny text upright is put on a lying page, alone; what follows it
// stands upright again.
func TestWideTablesLie(t *testing.T) {
	p, err := readDocument(Document{Title: "x", Markdown: "Before.\n\n![All](wide)\n\nAfter.", Tables: []Table{germanTable()}})
	if err != nil {
		t.Fatal(err)
	}
	w := newWriter(p)
	w.newPage()
	var lying []bool
	for _, b := range p.blocks {
		w.block(b, false)
		lying = append(lying, w.lying)
	}
	if len(lying) != 3 || lying[0] || !lying[1] || lying[2] || w.PageNo() != 3 {
		t.Errorf("lying %v on %d pages", lying, w.PageNo())
	}
	if size, _ := w.fitTable(p.blocks[1], 257); size < 6 {
		t.Errorf("text of %g points on a lying page", size)
	}
}
