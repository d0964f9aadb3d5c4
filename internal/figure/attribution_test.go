package figure

import (
	"slices"
	"testing"
)

// shops is a result with one row for a name, trips one with a row for a name and a month.
func shops() Evidence {
	return Evidence{Tables: []Table{{ID: "a", Columns: []string{"shop", "orders", "revenue_eur", "opened"}, Rows: [][]any{
		{"Nordhafen", 1834, 90412.5, "2024-02-11"}, {"Linz", 962, 51377.0, "2023-09-05"}, {"Linz Süd", 1215, 60233.25, "2025-01-20"}, {"Kern & Sohn", 431, 18860.0, "2022-06-30"},
	}}}}
}

func trips() Evidence {
	return Evidence{Tables: []Table{{ID: "a", Columns: []string{"line", "month", "riders"}, Rows: [][]any{
		{"Red", "June", 18412}, {"Red", "July", 21937}, {"Blue", "June", 13281}, {"Blue", "July", 14470},
	}}}}
}

// TestDeniedNames holds that a value of one row beside the name of another is marked with
// that name, and that what is true, compares or leaves it open is not.
func TestDeniedNames(t *testing.T) {
	years := Evidence{Tables: []Table{{ID: "a", Columns: []string{"year", "exports_mio_eur"}, Rows: [][]any{{2022, 489.3}, {2023, 512.8}, {2024, 540.1}}}}}
	for _, c := range []struct {
		e      Evidence
		answer string
		denied []string
	}{
		{shops(), "Nordhafen had 962 orders.", []string{"Nordhafen"}},
		{shops(), "Nordhafen had 962 orders and Linz 1,834.", []string{"Nordhafen", "Linz"}},
		{shops(), "Linz Süd had 962 orders.", []string{"Linz Süd"}},
		{shops(), "Linz opened on 11 February 2024.", []string{"Linz"}},
		{shops(), "Kern & Sohn opened in June 2022 and took 51,377 euros.", []string{"Kern & Sohn"}},
		{shops(), "- Nordhafen: 1,834\n- Linz: 1,215\n- Linz Süd: 962", []string{"Linz", "Linz Süd"}},
		{trips(), "The Red line carried 13,281 riders in June.", []string{"Red"}},
		{trips(), "In June, the Red line carried 21,937 riders.", []string{"June"}},
		{years, "Exports in 2023 amounted to 489.3 million euros.", []string{"2023"}},

		{shops(), "Nordhafen had 1,834 orders, Linz 962 and Linz Süd 1,215.", nil},
		{shops(), "Linz Süd had 1,215 orders.", nil},
		{shops(), "Linz had 872 fewer orders than Nordhafen with 1,834.", nil},
		{shops(), "Nordhafen leads with 1,834 orders, followed by 1,215 in second place.", nil},
		{shops(), "Nordhafen had 1,834 orders; the runner-up had 1,215.", nil},
		{shops(), "Nordhafen had 1,834 orders, the runner-up 1,215.", nil},
		{shops(), "Compared with Linz, 1,834 orders are a lot.", nil},
		{shops(), "Unlike Linz, the best shop had 1,834 orders.", nil},
		{shops(), "Linz and Linz Süd had 962 and 1,215 orders respectively.", nil},
		{shops(), "Orders fell from 1,834 to 962 in Linz.", nil},
		{shops(), "962 orders came from Linz, 1,834 from Nordhafen.", nil},
		{shops(), "Not Linz but Nordhafen had 1,834 orders.", nil},
		{shops(), "Kern & Sohn had 431 orders worth 18,860 euros.", nil},
		{shops(), "The largest value is 1,834.", nil},
		{shops(), "Linz needed 1,215 + 431 orders to pass Nordhafen.", nil},
		{trips(), "The Red line carried 18,412 riders in June and 21,937 in July, the Blue line 13,281 and 14,470.", nil},
		{trips(), "Red: 18,412 in June, 21,937 a month later.", nil},
		{trips(), "| line | June | July |\n|---|---|---|\n| Red | 18,412 | 21,937 |\n| Blue | 13,281 | 14,470 |", nil},
		{years, "Exports reached 540.1 million in 2024, 512.8 million the year before.", nil},
		{years, "Since 2022, exports have reached 540.1 million.", nil},
	} {
		var denied []string
		for _, f := range traced(c.answer, c.e) {
			if f.Support == Contradicted {
				denied = append(denied, f.Denies)
			}
		}
		if !slices.Equal(denied, c.denied) {
			t.Errorf("the names %q are denied, want %q: %s", denied, c.denied, c.answer)
		}
	}
}
