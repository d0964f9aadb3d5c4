package retrieve

import (
	"strings"
	"testing"
)

func TestGermanIsGlossed(t *testing.T) {
	for german, want := range map[string]string{
		"Wie lang muss mein Passwort sein?":       "how long must password?",
		"Wer genehmigt die Dienstreisen?":         "who permit business trip?",
		"Die Bestellungen werden geprüft.":        "order test.",
		"Bis wann sind die Belege einzureichen?":  "until when receipt hand in?",
		"Der Verlust des Geräts ist zu melden.":   "loss device report.",
		"Kuendigungsfrist":                        "Kuendigungsfrist", // one word tells no language
		"Der Urlaubsantrag und die Krankenkasse.": "vacation application health insurance.",
		"Artikel | Preis | Lieferzeit":            "item | price | deliver time",
		"Item | Price | Delivery time":            "Item | Price | Delivery time",
		"Brand | Stock | Colour | Shipping":       "Brand | Stock | Colour | Shipping",
		"How long must the password be?":          "How long must the password be?",
	} {
		if got := strings.Join(strings.Fields(inEnglish(german)), " "); strings.ReplaceAll(got, " ?", "?") != want {
			t.Errorf("%q is glossed %q, want %q", german, got, want)
		}
	}
	if got := loadGlossary().find("Donaudampfschifffahrtsgesellschaftskapitän" + string(make([]byte, 100))); got != "" {
		t.Errorf("a word without end is glossed %q", got)
	}
}
