package figure

import (
	"encoding/json"
	"strings"
	"testing"
	"time"
)

// What a person reads is not hidden by the form of a link or of a program.
func TestNothingHidesBehindForms(t *testing.T) {
	for text, want := range map[string]int{
		"[1](Revenue was 9,999,999 EUR)":                   2,
		"[the report](https://example.org/2024/17)":        0,
		"[the report](files/2024.csv \"in 2024\")":         0,
		"```sql\nRevenue: 9,999,999\n```":                  1,
		"```sql\nSELECT 9999999 FROM orders\n```":          0,
		"```r\n17\n```sql\nselect 4\n```\n\nThere are 12.": 2,
	} {
		found, _ := scanBounded(text)
		if len(found) != want {
			t.Errorf("%q has %d figures, want %d: %+v", text, len(found), want, found)
		}
	}
}

// Many fences cost no more than one.
func TestManyFences(t *testing.T) {
	begin := time.Now()
	scanBounded(strings.Repeat("```r\n", 12_000))
	if took := time.Since(begin); took > 5*time.Second {
		t.Errorf("12,000 fences took %s", took)
	}
}

// The name that a model gives a file supports no figure, though the tool repeats it.
func TestNameIsNoEvidence(t *testing.T) {
	var e Evidence
	e.AddResult(Result{
		ID: "c1", Args: json.RawMessage(`{"name": "Revenue 48,211.37 EUR", "format": "csv"}`),
		Output: json.RawMessage(`{"note": "The rows are kept as Revenue 48,211.37 EUR.csv for the next steps of this thread."}`),
	})
	figures, _ := Trace("Revenue was 48,211.37 EUR.", e)
	if len(figures) != 1 || !figures[0].Unsupported() {
		t.Errorf("%+v", figures)
	}
}
