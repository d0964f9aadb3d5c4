package nlq

import (
	"strings"
	"testing"

	"interlock/internal/schema"
)

// TestTranslate writes German messages in English: compounds by their parts, verbs that are parted, values and
// names of the data as they are, and words that nobody knows as they are written.
func TestTranslate(t *testing.T) {
	t.Parallel()
	column := func(name, kind string) schema.Column { return schema.Column{Name: name, Type: schema.ParseType(kind)} }
	x := NewIndex(schema.Dataset{Tables: []schema.Table{
		{Name: "buyers", Rows: 9, Columns: []schema.Column{column("buyer_no", "BIGINT"), column("town", "VARCHAR"), column("umsatzklasse", "VARCHAR"), column("turnover", "DOUBLE")}},
	}}, []ColumnValues{{Table: "buyers", Column: "town", Values: []string{"Markt Süd", "Poland", "Kiel"}, Complete: true}}, schema.Dictionary{})
	for german, want := range map[string]string{
		"Wie viele Kunden haben keine Handynummer hinterlegt?": "how many buyers have no mobile ?",
		"Umsatz nach Stadt":                                       "turnover by town",
		"Umsatz nach dem 1. Juli 2025":                            "turnover after 1 July 2025",
		"Wie viele Sendungen gingen nach Polen?":                  "how many shipments went to Poland ?",
		"Kundenzahl pro Stadt":                                    "number of buyers per town",
		"Durchschnittspreis je Artikel":                           "average price per product",
		"Monatsumsatz 2025":                                       "Monatsumsatz 2025", // one word tells no language
		"Wie hoch ist der Monatsumsatz?":                          "what is monthly turnover ?",
		"Wie viele Beschwerden gingen 2025 ein?":                  "how many complaints came in 2025 ?",
		"Wie viele Rechnungen sind überfällig und nicht bezahlt?": "how many invoices are overdue and not paid ?",
		"Wie viele Rechnungen sind ueberfaellig?":                 "how many invoices are overdue ?",
		"Wie viele sind weder bezahlt noch storniert?":            "how many are neither paid nor cancelled ?",
		"Kunden in Markt Süd nach Umsatzklasse":                   "buyers in Markt Süd by Umsatzklasse",
		"Wie hoch ist der Krankenstand bei den Mechanikern?":      "what is Krankenstand at mechanics ?",
		"Welche Kunden heißen \"Haus und Garten\"?":               "which buyers heißen \"Haus und Garten\" ?",
		"Bestellwert im ersten Quartal 2025 im Vergleich zu 2024": "order value in first quarter 2025 compared to 2024",
		"pro plan customers":                                      "pro plan customers",
		"what was the total of all orders in May":                 "what was the total of all orders in May",
	} {
		if got, _ := x.translate(german); got != want {
			t.Errorf("%s\n got %s\nwant %s", german, got, want)
		}
	}
}

// TestGermanLexicon holds the form of the lexicon: every line has German words, and no word means two things.
func TestGermanLexicon(t *testing.T) {
	t.Parallel()
	seen := map[string]string{}
	for line := range strings.Lines(germanText) {
		if line = strings.TrimSpace(line); line == "" || strings.HasPrefix(line, "#") {
			continue
		}
		english, german, ok := strings.Cut(line, ":")
		if !ok || strings.TrimSpace(german) == "" {
			t.Errorf("%q is no English with the German for it", line)
		}
		for phrase := range strings.SplitSeq(german, ",") {
			word := foldGerman(strings.TrimSpace(phrase))
			if before, twice := seen[word]; twice || word == "" {
				t.Errorf("%q means %q and %q", word, before, english)
			}
			seen[word] = english
		}
	}
}
