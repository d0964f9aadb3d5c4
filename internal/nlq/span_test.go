package nlq

import (
	"strings"
	"testing"
	"time"
)

func TestSpans(t *testing.T) {
	t.Parallel()
	now := time.Date(2026, 2, 10, 0, 0, 0, 0, time.UTC)
	for text, want := range map[string]string{
		"match the invoices of October 2025 with the payments": "October 2025: 2025-10-01 2025-11-01",
		"invoices of october":                           "october: 2025-10-01 2025-11-01",
		"Rechnungen vom Oktober 2025":                   "Oktober 2025: 2025-10-01 2025-11-01",
		"everything in 2025":                            "2025: 2025-01-01 2026-01-01",
		"Q3 2025 and 2024-11":                           "Q3 2025: 2025-07-01 2025-10-01; 2024-11: 2024-11-01 2024-12-01",
		"from October 2025 to December 2025":            "October 2025 to December 2025: 2025-10-01 2026-01-01",
		"between 2025-10-05 and 2025-10-09, please":     "2025-10-05 and 2025-10-09: 2025-10-05 2025-10-10",
		"since March 2025":                              "March 2025: 2025-03-01 open",
		"booked before 2025-10-01":                      "2025-10-01: open 2025-10-01",
		"until 2025-10-31":                              "2025-10-31: open 2025-11-01",
		"last month":                                    "last month: 2026-01-01 2026-02-01",
		"the 200 largest of table orders_2025, you may": "",
		"compare ledger with bank":                      "",
	} {
		var got []string
		for _, s := range Spans(text, now) {
			day := func(d time.Time) string {
				if d.IsZero() {
					return "open"
				}
				return d.Format(time.DateOnly)
			}
			got = append(got, text[s.At:s.End]+": "+day(s.From)+" "+day(s.Until))
		}
		if strings.Join(got, "; ") != want {
			t.Errorf("%s: %q, want %q", text, got, want)
		}
	}
}
