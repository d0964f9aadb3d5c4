package figure

import (
	"fmt"
	"strings"
	"testing"
)

// TestNumerals reads numbers that are several words, or one long word.
func TestNumerals(t *testing.T) {
	for text, want := range map[string]string{
		"twenty-one kinds":                                  "twenty-one=21",
		"Two hundred and five members":                      "Two hundred and five=205",
		"three hundred and ninety euros":                    "three hundred and ninety=390",
		"one thousand two hundred and six":                  "one thousand two hundred and six=1206",
		"two million three hundred thousand":                "two million three hundred thousand=2.3e+06",
		"a hundred thousand":                                "hundred thousand=100000",
		"five and six":                                      "five=5 six=6",
		"two, three":                                        "two=2 three=3",
		"two three":                                         "two=2 three=3",
		"two hundred and nobody":                            "two hundred=200",
		"one of them":                                       "",
		"thirty-seven of them":                              "thirty-seven=37",
		"einundzwanzig Mal":                                 "einundzwanzig=21",
		"zweihundertfünf und 7":                             "zweihundertfünf=205 7=7",
		"siebenhundertachtzig":                              "siebenhundertachtzig=780",
		"eintausendzweihundertdreiundvierzig":               "eintausendzweihundertdreiundvierzig=1243",
		"zweitausend":                                       "zweitausend=2000",
		"Hundertschaft, tausende, Achtung, verhundertfacht": "",
		"half a million people":                             "half a million=500000",
		"a quarter of a million":                            "quarter of a million=250000",
		"eine halbe Million":                                "halbe Million=500000",
		"anderthalb Millionen":                              "anderthalb Millionen=1.5e+06",
		"zweieinhalb Stunden":                               "zweieinhalb=2.5",
		"½ Million, 2½ Stunden, ¾ davon":                    "½ Million=500000 2½=2.5 ¾=75",
		"1,5 Mio. Euro":                                     "1,5 Mio=1.5e+06",
		"half of them":                                      "half=50",
	} {
		var got []string
		for _, m := range scan(text) {
			got = append(got, fmt.Sprintf("%s=%g", m.text, m.readings[0].value))
		}
		if strings.Join(got, " ") != want {
			t.Errorf("%s: got %s, want %s", text, strings.Join(got, " "), want)
		}
	}
}
