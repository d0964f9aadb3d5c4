package figure

import (
	"encoding/json"
	"testing"
)

// passages are the result of a search, with how good each one is.
const passages = `{"chunks": [
	{"content": "Within 30 days of a charge in full. Charges made twice are always refunded.", "relevancy": 0.8196},
	{"content": "A solved ticket is closed after 14 days, or after 7 if nobody answers in 24 hours.", "relevancy": 0.6871}]}`

// A passage that is repeated word for word supports its numbers, small ones too; other
// words around the same number do not.
func TestQuotations(t *testing.T) {
	var e Evidence
	e.AddResult(Result{ID: "c1", Output: json.RawMessage(passages)})
	for text, want := range map[string][]Support{
		"> Within 30 days of a charge in full. Charges made *twice* are always refunded.\n\nfaq.html (relevancy 0.82)": {FromDocument, FromDocument, FromCell},
		"> A solved ticket is closed after 14 days, or after 7 if nobody answers in 24 hours.":                         {FromDocument, FromDocument, FromDocument},
		"The relevancy 0.69 is low.":              {FromCell},
		"The relevancy 0.42 is low.":              {None},
		"The share is 0.82.":                      {None},
		"A solved ticket is closed after 15 days": {None},
		"We have 7 offices.":                      {Weak},
	} {
		figures, _ := Trace(text, e)
		if len(figures) != len(want) {
			t.Errorf("%q has %+v", text, figures)
			continue
		}
		for i, f := range figures {
			if f.Support != want[i] {
				t.Errorf("%q: %s rests on %q (%s %v), want %q", text, f.Text, f.Support, f.Source, f.Cells, want[i])
			}
		}
	}
}
