package nlq

import (
	"fmt"
	"regexp"
	"slices"
	"strings"
)

var ordinals = map[string]int{"first": 1, "second": 2, "third": 3, "fourth": 4, "former": 1, "latter": 2}

// answerFrame is what people say around a choice.
var answerFrame = regexp.MustCompile(`(?i)^\s*(?:(?:no|well|ok|okay|yes|nein|ja)\b[\s,.:;-]*)?(?:(?:i|we) (?:mean|meant|want|wanted|prefer|would like|choose|take|was asking (?:about|for))\b|(?:ich|wir) (?:meine|meinte|meinen|möchte|nehme|will)\b|(?:number|option|choice|nummer)\b)?\s*`)

// pickReading finds the reading that an answer to a question back chooses, by its number, by its
// place or by words of it; -1 where none is plain. Where every word counts, a word that the reading
// does not have makes it no choice of it: then the answer may be a question of its own.
func pickReading(answer string, readings []string, everyWord bool) int {
	text := strings.TrimRight(strings.TrimSpace(answerFrame.ReplaceAllString(answer, "")), ".)!")
	said := splitIdentifier(text)
	words := slices.DeleteFunc(slices.Clone(said), func(w string) bool { return harmlessWords[w] || w == "one" || w == "number" })
	for i, reading := range readings {
		if text == fmt.Sprint(i+1) || strings.EqualFold(text, reading) || strings.EqualFold(strings.TrimSpace(answer), reading) {
			return i
		}
		for _, w := range said {
			if ordinals[w] == i+1 && len(said) <= 4 {
				return i
			}
		}
	}
	best, most, ties := -1, 0, 0
	for i, reading := range readings {
		names := splitIdentifier(reading)
		hits := 0
		for _, w := range words {
			if slices.Contains(names, w) {
				hits++
			}
		}
		switch {
		case hits > most:
			best, most, ties = i, hits, 1
		case hits == most:
			ties++
		}
	}
	if best < 0 || ties != 1 || most < (len(words)+1)/2 || everyWord && most < len(words) {
		return -1
	}
	return best
}

// Chooses reports whether a message is the answer to a question back with these readings: all that it
// says is a number, a place or words of one of them.
func Chooses(message string, readings []string) bool {
	return pickReading(message, readings, true) >= 0
}

// asksAnew is how a question of its own begins.
var asksAnew = regexp.MustCompile(`(?i)\?|^\s*(?:how|what|which|who|whose|when|where|why|is|are|do|does|did|show|list|give|count|name|find|tell|wie|was|welche[rns]?|wer|wann|wo|warum|gib|zeig|zähle|nenne|liste)\b`)

// AsksAnew reports whether a message has the form of a question, and not of an answer to one.
func AsksAnew(message string) bool { return asksAnew.MatchString(message) }
