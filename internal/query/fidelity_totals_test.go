package query_test

import (
	"slices"
	"strings"
	"testing"
	"time"

	"interlock/internal/query"
	"interlock/internal/schema"
)

// totalTruths are files with rows of totals, and files with rows that only look so.
func totalTruths() []truth {
	rows := func(lines ...string) (out [][]string) {
		for _, l := range lines {
			cells := strings.Split(l, ",")
			for i, c := range cells {
				if c == "" {
					cells[i] = null
				}
			}
			out = append(out, cells)
		}
		return out
	}
	left, kept := []schema.Rule{schema.RuleTotals}, []schema.Rule(nil)
	spent := "what VARCHAR, spent DECIMAL(18,2)"
	many := func(name, columns, head string, rules []schema.Rule, lines ...string) truth {
		var content, stay []string
		for _, l := range lines {
			line, isLeft := strings.CutPrefix(l, "!")
			content = append(content, line)
			if !isLeft {
				stay = append(stay, line)
			}
		}
		return truth{name: name, files: map[string][]byte{"a.csv": []byte(head + "\n" + strings.Join(content, "\n") + "\n")}, columns: columns, rows: rows(stay...), rules: rules}
	}
	keep := many("kept because somebody said so", spent, "what,spent", kept, "a,10.00", "b,20.50", "Total,30.50")
	keep.options.KeepTotals = true
	return []truth{ // a row with ! is left out
		many("a total at the end", spent, "what,spent", left, "a,10.00", "b,20.50", "!Total,30.50"),
		many("with a colon and in capitals", spent, "what,spent", left, "a,10.00", "b,20.50", "!SUMME:,30.50"),
		many("of two words", spent, "what,spent", left, "a,10.00", "b,20.50", "!Grand Total,30.50"),
		many("in a column of dates", "day DATE, n BIGINT", "day,n", left, "2025-01-01,10", "2025-01-02,7", "!Gesamt,17"),
		many("in a column of numbers", "id BIGINT, name VARCHAR, n BIGINT", "id,name,n", left, "10,a,10", "11,b,7", "!Total,,17"),
		many("two columns of numbers", "what VARCHAR, n BIGINT, spent DECIMAL(18,2)", "what,n,spent", left, "a,5,10.00", "b,3,20.50", "!Total,8,30.50"),
		many("a column without a total", "what VARCHAR, price DECIMAL(18,2), spent DECIMAL(18,2)", "what,price,spent", left, "a,5.00,10.00", "b,3.00,20.50", "!Total,,30.50"),
		many("of each group, and of all", "region VARCHAR, what VARCHAR, n BIGINT", "region,what,n", left,
			"North,a,5", "North,b,6", "!North Total,,11", "South,c,7", "!South Total,,7", "!Grand Total,,18"),
		many("of each group alone", "region VARCHAR, what VARCHAR, n BIGINT", "region,what,n", left,
			"Nord,a,5", "Nord,b,6", "!Nord,Summe,11", "Süd,c,7", "Süd,d,9", "!Süd,Summe,16"),
		many("of each year", "year BIGINT, what VARCHAR, n BIGINT", "year,what,n", left,
			"2024,a,5", "2024,b,6", "!2024,Total,11", "2025,a,7", "2025,b,9", "!2025,Total,16"),
		many("a customer of that name above it", spent, "what,spent", left, "a,10.00", "Total,5.00", "b,20.50", "!Total,35.50"),
		keep,
		many("a sum that does not fit", spent, "what,spent", left, "a,10.00", "b,20.50", "Total,30.49"), // the note says that it stays
		many("a customer of that name", "id BIGINT, name VARCHAR, spent DECIMAL(18,2)", "id,name,spent", kept, "1,a,10.00", "2,b,20.50", "7,Total,30.50"),
		many("a customer of that name whose number fits", "id BIGINT, name VARCHAR, spent DECIMAL(18,2)", "id,name,spent", left, "1,a,10.00", "2,b,20.50", "3,Total,30.50"), // may be; stays
		many("a customer with a day", "name VARCHAR, since DATE, spent DECIMAL(18,2)", "name,since,spent", kept, "a,2025-01-01,10.00", "b,2025-01-02,20.50", "Total,2025-01-03,30.50"),
		many("a name that goes on", spent, "what,spent", kept, "a,10.00", "b,20.50", "Total Energies,30.50"),
		many("a name that ends so", spent, "what,spent", kept, "a,10.00", "b,20.50", "Sub Total Ltd,30.50"),
		many("one row above", spent, "what,spent", kept, "a,10.00", "Total,10.00"),
		many("one row alone", spent, "what,spent", kept, "Total,10.00"),
		many("a sum without a name", spent, "what,spent", kept, "a,10.00", "b,20.50", "c,30.50"),
		many("in the middle", spent, "what,spent", kept, "a,10.00", "b,20.50", "Total,30.50", "c,1.00"),
		many("zeros", "what VARCHAR, n BIGINT", "what,n", kept, "a,0", "b,0", "Total,0"),
		many("the same quantity throughout", "what VARCHAR, n BIGINT, spent DECIMAL(18,2)", "what,n,spent", left, "a,1,10.00", "b,1,20.50", "Total,1,30.50"), // stays, and is said
		many("no numbers", "what VARCHAR, more VARCHAR", "what,more", kept, "a,x", "b,y", "Total,z"),
		{
			name: "two files, each with its total", files: map[string][]byte{"a.csv": []byte("what,n\na,1\nb,5\nTotal,6\n"), "b.csv": []byte("what,n\nc,3\nd,4\nTotal,7\n")},
			columns: "what VARCHAR, n BIGINT", rows: rows("a,1", "b,5", "c,3", "d,4"), rules: left,
		},
	}
}

// Rows that add up others are left out where that is beyond doubt, and said; rows that only
// look so stay.
func TestTotalRows(t *testing.T) { checkTruths(t, totalTruths()) }

// TestTotalRowsOfSheet leaves the total of a sheet out, and reads the column that held its
// name as dates. The note has the values of the row.
func TestTotalRowsOfSheet(t *testing.T) {
	day := func(d int) time.Time { return time.Date(2025, 3, d, 0, 0, 0, 0, time.UTC) }
	path := writeBook(t, map[string][][]any{"Sheet1": {{"day", "n", "spent"}, {day(1), 5, 10.1}, {day(2), 6, 0.2}, {"Summe", 11, 10.299999999999999}}})
	r, _ := built(t, newEngine(t, query.Config{}), query.Import{Table: "book", Files: []string{path}})
	i := slices.IndexFunc(r.Notes, func(n schema.Note) bool { return n.Rule == schema.RuleTotals })
	if i < 0 || r.Rows != 2 || r.Columns[0].Type.Kind != schema.Date && r.Columns[0].Type.Kind != schema.Timestamp {
		t.Fatalf("%d rows, columns %v, notes %+v", r.Rows, r.Columns, r.Notes)
	}
	want := schema.RejectedLine{Line: 3, Text: `"Summe | 11 | 10.299999999999999"`, Reason: "it adds up the 2 rows above it"}
	if n := r.Notes[i]; n.Count != 1 || len(n.Lines) != 1 || n.Lines[0] != want || !strings.Contains(n.Message, want.Text) {
		t.Errorf("the note is %+v", n)
	}
	if slices.ContainsFunc(r.Notes, func(n schema.Note) bool { return n.Rule == schema.RuleKeptText }) {
		t.Errorf("a column is said to hold two kinds of values: %+v", r.Notes)
	}
}
