package figure

import "testing"

// TestUnits holds that a value is no origin of the same digits in another unit than the name
// of its column says, and that one in that unit, or converted, is.
func TestUnits(t *testing.T) {
	e := Evidence{Tables: []Table{{ID: "a", Columns: []string{"item", "turnaround_min", "weight_kg", "price_eur", "revenue_teur", "fee_usd", "price_eur_per_kg"}, Rows: [][]any{
		{"Filter", 438, 871, 917.5, 3347, 6612, 1.29}, {"Pump", 96, 1304, 2240, 5260, 7718, 2.48},
	}}}}
	for answer, want := range map[string]Support{
		"The filter takes 438 minutes.":          FromCell,
		"The filter takes 7.3 hours.":            FromCell,
		"The filter takes 438 hours.":            None,
		"The filters weigh 871 kg.":              FromCell,
		"The filters weigh 0.871 t.":             FromCell,
		"The filters weigh 871 tonnes.":          None,
		"The filter costs 917.50 euros.":         FromCell,
		"The filter costs 917.5 cents.":          None,
		"The filter costs $917.50.":              None,
		"The filter brought 3,347 T€.":           FromCell,
		"The filter brought €3.347 million.":     FromCell,
		"The filter brought 3,347 euros.":        None,
		"Filter, revenue in T€: 3,347":           FromCell,
		"The fee of the filter is $6,612.":       FromCell,
		"The fee of the filter is 6,612 euros.":  None,
		"A kilogram of the filter is 1.29 euros": FromCell,
	} {
		if all := traced(answer, e); len(all) != 1 || all[0].Support != want {
			t.Errorf("%s: %+v, want %s", answer, all, want)
		}
	}
}
