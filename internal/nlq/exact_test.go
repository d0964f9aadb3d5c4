package nlq

import "testing"

// TestExactText holds that numbers which travel as text, because a float would change
// them, are said with all their digits.
func TestExactText(t *testing.T) {
	for v, want := range map[string]string{
		"9007199254740995":       "9,007,199,254,740,995",
		"-9007199254740993.50":   "-9,007,199,254,740,993.5",
		"12345678901234567.895":  "12,345,678,901,234,567.9",
		"123456789012345678.004": "123,456,789,012,345,678",
	} {
		if got := formatMeasure(v); got != want {
			t.Errorf("%s is said as %s, want %s", v, got, want)
		}
	}
}

func TestPartText(t *testing.T) {
	for want, got := range map[string]string{
		"There are 3,000 rows.":          PartialResultText(200, 3000, false),
		"There are at least 1,001 rows.": PartialResultText(1000, 1001, true),
		"There are more than 200 rows.":  PartialResultText(200, 0, false),
	} {
		if got != want {
			t.Errorf("%q, want %q", got, want)
		}
	}
}
