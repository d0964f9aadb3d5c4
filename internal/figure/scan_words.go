package figure

import (
	"strings"
	"unicode"
)

// wordAt understands numbers, shares and multiples that are written as words.
func wordAt(text string, start, end int) (mention, bool) {
	word := strings.ToLower(text[start:end])
	if m, ok := compound(text, start, end); ok {
		return m, true
	}
	if (word == "one" || word == "ein" || strings.HasPrefix(word, "eine")) && oneOf.MatchString(textAfter(text, end)) { // one of the seven
		return mention{start: start, end: end, readings: []reading{{value: 1, unit: 1, digits: 1}}}, true
	}
	if v, ok := numberWords[word]; ok {
		m, ok := spread(text, mention{start: start, end: end, readings: []reading{{value: v, unit: 1, digits: 1}}})
		if next, gap := nextWord(textAfter(text, m.end)); ok && gap > 0 {
			if f, isShare := fractions[strings.ToLower(next)]; isShare && v > 0 { // two thirds
				return mention{start: start, end: m.end + gap + len(next), share: true, inWords: true, near: closenessOfShare(text, start), readings: []reading{shareInWords(v * f)}}, true
			}
		}
		return m, ok
	}
	if by := scales[word]; by >= 100 && len(word) > 4 {
		if article := start - len(lastWord(textBefore(text, start))); single[strings.ToLower(strings.TrimSpace(text[article:start]))] { // a million
			return mention{start: start, end: end, near: closenessBefore(text, article), readings: []reading{{value: by, unit: by, digits: 1}}, unit: unitAfter(textAfter(text, end))}, true
		}
	}
	if v, ok := fractions[word]; ok {
		if m, ok := ofScale(text, start, end, v); ok { // half a million
			return m, true
		}
		if ordinalShares[word] {
			before := strings.TrimRight(textBefore(text, start), " ")
			if i := strings.LastIndexFunc(before, unicode.IsSpace); !article(before[i+1:]) {
				return mention{}, false // the third quarter
			}
		}
		return mention{start: start, end: end, share: true, inWords: true, near: closenessOfShare(text, start), readings: []reading{shareInWords(v)}}, true
	}
	if m, ok := germanTimes(text, word, start, end); ok {
		return m, true
	}
	if v, ok := multiple(word); ok {
		return mention{start: start, end: end, ratio: true, near: about, readings: []reading{{value: v, unit: 0.2, digits: 1}}}, true
	}
	return mention{}, false
}

// shareInWords is a share such as a third, which people say of what lies around it.
func shareInWords(share float64) reading {
	return reading{value: share * 100, unit: 1, digits: 2, loose: true}
}

// closenessOfShare looks at the words before a share in words, past its article: more than a
// third, knapp die Hälfte. Without any it is about that much.
func closenessOfShare(text string, start int) closeness {
	for range 2 {
		if near := closenessBefore(text, start); near != rounded {
			return near
		}
		last := lastWord(textBefore(text, start))
		if !articles[strings.ToLower(strings.TrimSpace(last))] {
			break
		}
		start -= len(last)
	}
	return about
}

// germanTimes reads dreimal, where it compares: dreimal so hoch, zweimal mehr.
func germanTimes(text, word string, start, end int) (mention, bool) {
	number, ok := strings.CutSuffix(word, "mal")
	v := numberWords[number]
	if next, gap := nextWord(textAfter(text, end)); !ok || v == 0 || gap == 0 || next != "so" && next != "mehr" {
		return mention{}, false
	}
	return mention{start: start, end: end, ratio: true, near: closenessBefore(text, start), readings: []reading{{value: v, unit: 1, digits: 1}}}, true
}

// multiple reads a word that says how many times as much: doubled, tenfold, vervierfacht.
func multiple(word string) (float64, bool) {
	if v, ok := multiples[word]; ok {
		return v, true
	}
	if number, ok := strings.CutSuffix(word, "fold"); ok {
		return numberWords[number], numberWords[number] > 1
	}
	number, end, ok := strings.Cut(word, "fach")
	number = strings.TrimPrefix(number, "ver")
	return numberWords[number], ok && len(end) <= 3 && numberWords[number] > 1
}

// lastWord is the last word of a text with the blanks after it.
func lastWord(text string) string {
	trimmed := strings.TrimRight(text, " \u00a0\u202f")
	return text[strings.LastIndexFunc(trimmed, unicode.IsSpace)+1:]
}

func article(word string) bool {
	switch strings.ToLower(word) {
	case "a", "one", "about", "nearly", "almost", "roughly", "ein", "einem", "rund", "knapp", "fast", "etwa":
		return true
	}
	return false
}
