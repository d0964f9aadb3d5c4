package llm

import "testing"

func TestSplitWish(t *testing.T) {
	for said, want := range map[string]struct {
		question string
		wish     wish
	}{
		"Chart of revenue by month as a report":        {"revenue by month", wish{true, true, "pdf"}},
		"Draw a chart of total amount by status":       {"total amount by status", wish{true, false, "pdf"}},
		"Total amount by status as an HTML report":     {"Total amount by status", wish{false, true, "html"}},
		"Umsatz je Monat als Diagramm und als Bericht": {"Umsatz je Monat", wish{true, true, "pdf"}},
		"How many orders are there?":                   {"How many orders are there?", wish{false, false, "pdf"}},
		"revenue by month with a chart, as a PDF":      {"revenue by month", wish{true, true, "pdf"}},
	} {
		if question, w := splitWish(said); question != want.question || w != want.wish {
			t.Errorf("%s: %q %+v, want %q %+v", said, question, w, want.question, want.wish)
		}
	}
}
