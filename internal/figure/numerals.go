package figure

import (
	"math"
	"strings"
)

// Numbers that are written in several words, or in one long word: two hundred and five,
// einundzwanzig.

// magnitudes are words that end a group of a number in words.
var magnitudes = map[string]float64{"thousand": 1e3, "million": 1e6, "billion": 1e9, "trillion": 1e12}

// maxNumeralWords bounds the words of one number.
const maxNumeralWords = 20

// A numeral is a number in words, with where it ends in its text.
type numeral struct {
	value float64
	unit  float64 // of its last word
	end   int
	words int // that mean a number
}

// englishNumeral reads a number in words from its first word on, as far as it makes sense:
// twenty-one, two hundred and five, one thousand.
func englishNumeral(text string, start, end int) (numeral, bool) {
	var done, group float64 // what is before the last magnitude, and behind it
	n := numeral{unit: 1}
	last := math.Inf(1) // the smallest part of the group so far
	from := start
	if word := strings.ToLower(text[start:end]); word == "hundred" && single[strings.ToLower(strings.TrimSpace(lastWord(textBefore(text, start))))] {
		group, last = 1, 99 // a hundred thousand
	}
	for range maxNumeralWords {
		word := strings.ToLower(text[from:end])
		v, isNumber := numberWords[word]
		if word == "one" {
			v, isNumber = 1, true
		}
		switch {
		case isNumber && v > 0 && v < last && (math.IsInf(last, 1) || last >= 100 || last >= 20 && v < 10):
			group, last, n.unit = group+v, v, 1
		case word == "hundred" && group > 0 && group < 100 && last < 100:
			group, last, n.unit = group*100, 100, 100
		case magnitudes[word] > 0 && group > 0 && (done == 0 || done >= 1000*magnitudes[word]):
			done, group, last, n.unit = done+group*magnitudes[word], 0, magnitudes[word], magnitudes[word]
		default:
			return n, n.words > 1
		}
		n.value, n.end, n.words = done+group, end, n.words+1
		next, gap := nextWord(textAfter(text, end))
		if strings.EqualFold(next, "and") && gap > 0 && last >= 100 {
			after, space := nextWord(textAfter(text, end+gap+len(next)))
			if space > 0 {
				gap, next = gap+len(next)+space, after
			}
		}
		if next == "" || gap == 0 {
			break
		}
		from, end = end+gap, end+gap+len(next)
	}
	return n, n.words > 1
}

// germanNumeral reads a number that is one word: zweihundertfünf, einundzwanzig.
func germanNumeral(word string) (float64, bool) {
	if left, right, ok := strings.Cut(word, "tausend"); ok {
		thousands, ok := germanPart(left, belowThousand)
		rest, ok2 := 0.0, true
		if right != "" {
			rest, ok2 = belowThousand(strings.TrimPrefix(right, "und"))
		}
		return thousands*1000 + rest, ok && ok2
	}
	return belowThousand(word)
}

func belowThousand(word string) (float64, bool) {
	left, right, ok := strings.Cut(word, "hundert")
	if !ok {
		return belowHundred(word)
	}
	hundreds, ok := germanPart(left, belowHundred)
	if right == "" {
		return hundreds * 100, ok
	}
	rest, ok2 := belowHundred(strings.TrimPrefix(right, "und"))
	return hundreds*100 + rest, ok && ok2 && hundreds < 100
}

// germanPart reads what stands before hundert or tausend; nothing is one.
func germanPart(word string, read func(string) (float64, bool)) (float64, bool) {
	if word == "" {
		return 1, true
	}
	return read(word)
}

func belowHundred(word string) (float64, bool) {
	if word == "ein" || word == "eins" {
		return 1, true
	}
	if v, ok := numberWords[word]; ok && v > 0 {
		return v, true
	}
	left, right, ok := strings.Cut(word, "und")
	unit, isUnit := belowTen(left)
	tens, isTens := numberWords[right]
	return unit + tens, ok && isUnit && isTens && tens >= 20
}

func belowTen(word string) (float64, bool) {
	if word == "ein" {
		return 1, true
	}
	v, ok := numberWords[word]
	return v, ok && v > 0 && v < 10
}

// halves are numbers with a half: zweieinhalb.
func germanHalf(word string) (float64, bool) {
	if word == "anderthalb" {
		return 1.5, true
	}
	whole, ok := strings.CutSuffix(word, "einhalb")
	v, known := belowTen(whole)
	return v + 0.5, ok && known
}

// compound understands a number of several words, or of one that is put together.
func compound(text string, start, end int) (mention, bool) {
	if n, ok := englishNumeral(text, start, end); ok {
		m, ok := spread(text, mention{start: start, end: n.end, readings: []reading{{value: n.value, unit: n.unit, digits: digitsOf(n.value)}}})
		if before := lastWord(textBefore(text, start)); single[strings.ToLower(strings.TrimSpace(before))] {
			m.near = closenessBefore(text, start-len(before)) // about a hundred thousand
		}
		return m, ok
	}
	word := strings.ToLower(text[start:end])
	if _, plain := numberWords[word]; plain || scales[word] > 0 || word == "ein" || word == "eins" {
		return mention{}, false
	}
	if v, ok := germanHalf(word); ok {
		return spread(text, mention{start: start, end: end, readings: []reading{{value: v, unit: 0.1, digits: 2}}})
	}
	if v, ok := germanNumeral(word); ok {
		unit := 1.0
		if strings.HasSuffix(word, "hundert") {
			unit = 100
		} else if strings.HasSuffix(word, "tausend") {
			unit = 1000
		}
		return spread(text, mention{start: start, end: end, readings: []reading{{value: v, unit: unit, digits: digitsOf(v)}}})
	}
	return mention{}, false
}

// digitsOf counts the digits of a whole number up to the last that is no zero.
func digitsOf(v float64) int {
	for v >= 10 && math.Mod(v, 10) == 0 {
		v /= 10
	}
	return max(1, int(math.Log10(max(v, 1)))+1)
}

// fractionScales are words that a fraction may be of: half a million.
func fractionScale(text string, end int) (by float64, to int, ok bool) {
	at := end
	for range 3 { // of a
		next, gap := nextWord(textAfter(text, at))
		if next == "" {
			return 0, 0, false
		}
		lower := strings.ToLower(next)
		if by, ok := scales[lower]; ok && by >= 1000 && len(lower) > 2 {
			return by, at + gap + len(next), true
		}
		if lower != "of" && !single[lower] {
			return 0, 0, false
		}
		at += gap + len(next)
	}
	return 0, 0, false
}

// ofScale is a fraction of a scale: half a million, ½ Million.
func ofScale(text string, start, end int, fraction float64) (mention, bool) {
	by, to, ok := fractionScale(text, end)
	if !ok {
		return mention{}, false
	}
	return mention{
		start: start, end: to, near: closenessBefore(text, start), unit: unitAfter(textAfter(text, to)),
		readings: []reading{{value: fraction * by, unit: by / 10, digits: 1}},
	}, true
}

// fractionSigns are fractions in one character.
var fractionSigns = map[rune]float64{
	'½': 0.5, '¼': 0.25, '¾': 0.75, '⅓': 1.0 / 3, '⅔': 2.0 / 3, '⅕': 0.2, '⅖': 0.4, '⅗': 0.6, '⅘': 0.8, '⅙': 1.0 / 6, '⅚': 5.0 / 6,
	'⅛': 0.125, '⅜': 0.375, '⅝': 0.625, '⅞': 0.875, '⅐': 1.0 / 7, '⅑': 1.0 / 9, '⅒': 0.1,
}

// signAt understands a fraction in one character, with the digits before it.
func signAt(text string, start, end int, sign rune) (mention, bool) {
	whole := 0.0
	if start < end-len(string(sign)) {
		for _, r := range text[start : end-len(string(sign))] {
			whole = whole*10 + float64(r-'0')
		}
	}
	value := whole + fractionSigns[sign]
	if m, ok := ofScale(text, start, end, value); ok {
		m.readings[0].unit, m.readings[0].digits = m.readings[0].unit/10, 2
		return m, true
	}
	if whole > 0 {
		return spread(text, mention{start: start, end: end, readings: []reading{{value: value, unit: 0.1, digits: 2}}})
	}
	return mention{start: start, end: end, share: true, inWords: true, near: closenessOfShare(text, start), readings: []reading{shareInWords(value)}}, true
}
