package main

import (
	"bytes"
	"strings"
	"testing"

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
		a, ok := parseChoice(card, line)
		if got := a.Answer + " " + a.Note; ok != (want != "") || ok && got != want {
			t.Errorf("%q: %q, want %q", line, got, want)
		}
	}
}

// The rows of a pair are shown line by line and not as JSON.
func TestShowCard(t *testing.T) {
	var out bytes.Buffer
	c := &chat{app: &app{out: &out}}
	c.showField("pair", map[string]any{"left": map[string]any{"no": 7, "town": "Linz"}, "left_key": "7"})
	if got, want := out.String(), "  pair left: no 7, town Linz\n  pair left_key: 7\n"; got != want {
		t.Errorf("%q, want %q", got, want)
	}
	if strings.Contains(out.String(), "{") {
		t.Errorf("JSON: %s", out.String())
	}
}
