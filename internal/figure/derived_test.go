package figure

import (
	"strings"
	"testing"
)

// TestDerivedFigures holds the formulas beyond sums, means and ratios: rows that a limit or an
// order chooses, prices times amounts, rates for another period, mean growth, the change from
// the period before, spans of time, and lengths of time in several units.
func TestDerivedFigures(t *testing.T) {
	shops := Table{ID: "a", Columns: []string{"shop", "units", "price_cents", "revenue_teur", "visitors", "returned"}, Rows: [][]any{
		{"Kiel", 9608, 980, 3347, 23912, 96}, {"Bonn", 5127, 1125, 1269, 10578, 160}, {"Ulm", 3275, 2260, 618, 5621, 33}, {"Jena", 1204, 315, 402, 4410, 71},
	}}
	years := Table{ID: "a", Columns: []string{"year", "exports", "imports"}, Rows: [][]any{{2019, 431.9, 379.1}, {2020, 352.4, 341.8}, {2021, 407.6, 398.3}, {2022, 489.3, 512.7}}}
	calls := Table{ID: "a", Columns: []string{"caller", "wait_seconds"}, Rows: [][]any{{"Adler", 1284}, {"Okoye", 1140}, {"Lind", 845}}, Total: 900}
	gifts := Table{ID: "a", Columns: []string{"donors", "first_gift", "last_gift"}, Rows: [][]any{{6127, "2019-04-02", "2026-09-30"}}}
	for _, c := range []struct {
		table              Table
		answer, text, want string
	}{
		{shops, "Two of the four shops sold more than 4,000 units.", "Two", "formula count(units > 4,000)"},
		{shops, "Three of the four shops sold more than 4,000 units.", "Three", "weak"},
		{shops, "One of the 4 shops had revenue of less than €500,000.", "One", "formula count(revenue_teur < 500,000)"},
		{shops, "The two largest shops make 81.9% of the revenue.", "81.9%", "formula sum(revenue_teur of the 2 largest) / sum(revenue_teur)"},
		{shops, "The units of Kiel were worth €94,158.", "€94,158", "formula units[1] * price_cents[1]"},
		{shops, "The units of Kiel were worth €84,158.", "€84,158", "none"},
		{shops, "Per visitor, Kiel took 140 euros.", "140", "formula revenue_teur[1] / visitors[1]"},
		{shops, "A year of revenue at the rate of Bonn is €15.2 million annually.", "€15.2 million", "formula revenue_teur[2] * 12"},
		{years, "In 2020 exports fell by 18.4%.", "18.4%", "formula (exports[2] - exports[1]) / exports[1]"},
		{years, "Exports grew by 4.2% a year from 2019 to 2022, on an annual average.", "4.2%", "formula (exports[4] / exports[1]) ^ (1/3) - 1"},
		{years, "Only in one of the four years did imports exceed exports.", "one", "formula count(imports > exports)"},
		{calls, "Adler waited 21 minutes and 24 seconds.", "24", "cell"},
		{calls, "Adler waited 21 minutes and 54 seconds.", "54", "none"},
		{calls, "The three longest waits averaged 1,090 seconds.", "1,090", "formula avg(wait_seconds of the 3 largest)"},
		{gifts, "The gifts span seven and a half years.", "seven and a half", "formula years from first_gift[1] to last_gift[1]"},
	} {
		found := false
		for _, f := range traced(c.answer, Evidence{Tables: []Table{c.table}}) {
			if f.Text != c.text && "€"+f.Text != c.text {
				continue
			}
			found = true
			if got := strings.TrimSpace(string(f.Support) + " " + f.Formula); got != c.want && (c.want != "weak" || f.Support != Weak) {
				t.Errorf("%s\n%q is %s, want %s", c.answer, f.Text, got, c.want)
			}
		}
		if !found {
			t.Errorf("%q is no figure of %q", c.text, c.answer)
		}
	}
}

// TestDaysWithoutYear holds that a day of a month is one figure, linked to the rows of that
// day, and that a month before an amount is none.
func TestDaysWithoutYear(t *testing.T) {
	e := Evidence{Tables: []Table{{ID: "a", Columns: []string{"day", "orders"}, Rows: [][]any{{"2026-03-05", 540}, {"2026-03-06", 790}}}}}
	for answer, want := range map[string]string{
		"On 6 March the shop had 790 orders.": "6 March: cell; 790: cell",
		"Am 6. März waren es 790.":            "6. März: cell; 790: cell",
		"On March 6 there were 790.":          "March 6: cell; 790: cell",
		"From 5 to 6 March it rose.":          "5: cell; 6 March: cell",
		"On 9 March there were 790.":          "9 March: none; 790: cell",
		"In March 790 orders came.":           "790: cell",
		"In Q1 790 orders came.":              "790: cell",
		"On 5 March there were 790 orders.":   "5 March: cell; 790: contradicted",
	} {
		var got []string
		for _, f := range traced(answer, e) {
			got = append(got, f.Text+": "+string(f.Support))
		}
		if strings.Join(got, "; ") != want {
			t.Errorf("%s\ngot  %s\nwant %s", answer, strings.Join(got, "; "), want)
		}
	}
}
