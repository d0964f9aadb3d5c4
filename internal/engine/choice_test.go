package engine_test

import (
	"testing"

	"interlock/internal/engine"
	"interlock/internal/event"
)

// A card is answered as people do: by number, key, name, label or a sentence that begins
// with yes or no. Anything else is no answer.
func TestParseChoice(t *testing.T) {
	card := event.CardRaised{Card: "c1", Answers: []event.CardChoice{{Name: "confirm", Label: "They match", Key: "y"}, {Name: "reject", Label: "They do not", Key: "n"}}}
	for line, want := range map[string]string{
		"1":                     "confirm ",
		"y":                     "confirm ",
		"yes, that is a match":  "confirm that is a match",
		"Yes!":                  "confirm ",
		"no other date":         "reject other date",
		"nope.":                 "reject ",
		"reject because of it":  "reject because of it",
		"They match.":           "confirm ",
		"they do not":           "reject ",
		"how many rows?":        "",
		"yesterday it was open": "",
		"":                      "",
	} {
		a, ok := engine.ParseChoice(card, line)
		if got := a.Answer + " " + a.Note; ok != (want != "") || ok && got != want {
			t.Errorf("%q: %q, want %q", line, got, want)
		}
	}
}
