package engine

import "testing"

func TestLastQuoted(t *testing.T) {
	tables := []resultTable{
		{call: "a", numbers: []float64{1200, 1350.456}, texts: []string{"Bern"}},
		{call: "b", numbers: []float64{0.231, 7}},
		{call: "c", texts: []string{"Basel"}},
	}
	for text, want := range map[string]string{
		"It rose from 1,200 to 1.350,46.": "a", "From 1200 to 1350.": "a", "That is 23.1 %.": "b", "Basel leads.": "c", "Bern leads.": "a",
		"Of 7 it rose from 1,200 to 1,350.5.": "a", "Nothing is known.": "", "There are 8.": "",
	} {
		if got := lastQuoted(text, tables); got != want {
			t.Errorf("%q quotes %q, not %q", text, got, want)
		}
	}
}
