package nlq

import (
	"regexp"
	"strconv"
	"strings"
	"time"
)

var (
	englishNumber = regexp.MustCompile(`^-?\d{1,3}(,\d{3})+(\.\d+)?$`)
	germanNumber  = regexp.MustCompile(`^-?\d{1,3}(\.\d{3})+(,\d+)?$`)
	decimalComma  = regexp.MustCompile(`^-?\d+,\d{1,2}$`)
	shortNumber   = regexp.MustCompile(`^(-?\d+(?:\.\d+)?)(k|m)$`)
	germanDate    = regexp.MustCompile(`^\d{1,2}\.\d{1,2}\.\d{4}$`)
)

// parseNumber reads a number in English or German form. other is the second way to read it, 0 where there is none.
func parseNumber(text string) (value, other float64, ok bool) {
	plain := func(s string) (float64, bool) {
		n, err := strconv.ParseFloat(s, 64)
		return n, err == nil
	}
	switch {
	case englishNumber.MatchString(text):
		value, ok = plain(strings.ReplaceAll(text, ",", ""))
	case germanNumber.MatchString(text):
		value, ok = plain(strings.ReplaceAll(strings.ReplaceAll(text, ".", ""), ",", "."))
		if !strings.Contains(text, ",") && strings.Count(text, ".") == 1 {
			other, _ = plain(text)
		}
	case decimalComma.MatchString(text):
		value, ok = plain(strings.ReplaceAll(text, ",", "."))
	default:
		if m := shortNumber.FindStringSubmatch(text); m != nil {
			value, ok = plain(m[1])
			value *= map[string]float64{"k": 1e3, "m": 1e6}[m[2]]
			return value, 0, ok
		}
		if len(text) > 0 && text[len(text)-1] >= '0' && text[len(text)-1] <= '9' {
			value, ok = plain(text)
		}
	}
	return value, other, ok
}

// readNumbers reads the numbers of a message by their form.
func readNumbers(toks []token, german bool) []token {
	for _, t := range toks {
		german = german || germanDate.MatchString(t.lower)
	}
	for i := range toks {
		t := &toks[i]
		if t.quoted {
			continue
		}
		if v, other, ok := parseNumber(t.lower); ok {
			t.number, t.value, t.otherValue = true, v, other
			if german {
				t.otherValue = 0
			}
		}
	}
	return toks
}

func trimNumber(v float64) string { return strconv.FormatFloat(v, 'f', -1, 64) }

// periodHere reads a date or a period at a token; said tells that its year was said or follows
// from today.
func (x *Index) periodHere(toks []token, i int, now time.Time) (period, int, bool) {
	word := func(k int) string {
		if k < len(toks) && !toks[k].quoted {
			return toks[k].lower
		}
		return ""
	}
	if p, n := x.namedPeriodAt(toks, i); n > 0 {
		return p, n, true
	}
	w := word(i)
	day := func(y int, m time.Month, d int) time.Time { return time.Date(y, m, d, 0, 0, 0, 0, time.UTC) }
	today := day(now.Year(), now.Month(), now.Day())
	if y, ok := yearWord(w); ok && y >= 1950 && y <= 2060 {
		if k := i + 1; k < len(toks) && (units[lemma(word(k))] || word(k) == "€") {
			return period{}, 0, false
		}
		if i > 0 && (isSign(toks[i-1]) || amountWords[toks[i-1].lower] || toks[i-1].lower == "than" && i > 1 && amountWords[toks[i-2].lower]) {
			return period{}, 0, false // an amount above 2000
		}
		return period{from: day(y, 1, 1), until: day(y+1, 1, 1), year: y}, 1, true
	}
	if w == "year" {
		if y, ok := yearWord(word(i + 1)); ok {
			return period{from: day(y, 1, 1), until: day(y+1, 1, 1), year: y}, 2, true
		}
	}
	if (w == "first" || w == "second") && word(i+1) == "half" {
		k := i + 2
		if word(k) == "of" {
			k++
		}
		if y, ok := yearWord(word(k)); ok {
			from := day(y, 1, 1)
			if w == "second" {
				from = day(y, 7, 1)
			}
			return period{from: from, until: from.AddDate(0, 6, 0)}, k + 1 - i, true
		}
	}
	if q := map[string]int{"first": 1, "second": 2, "third": 3, "fourth": 4, "last": 4}[w]; q > 0 && word(i+1) == "quarter" && word(i+2) != "" {
		k := i + 2
		if word(k) == "of" {
			k++
		}
		if y, ok := yearWord(word(k)); ok {
			from := day(y, time.Month(3*q-2), 1)
			return period{from: from, until: from.AddDate(0, 3, 0)}, k + 1 - i, true
		}
	}
	if germanDate.MatchString(w) {
		if t, err := time.Parse("2.1.2006", w); err == nil {
			return period{from: t, until: t.AddDate(0, 0, 1)}, 1, true
		}
	}
	// Between 1 and 15 June 2025: the first day has its month behind the second.
	if d := ordinalDay.FindStringSubmatch(w); d != nil && i > 0 && word(i-1) == "between" && word(i+1) == "and" && ordinalDay.MatchString(word(i+2)) && months[word(i+3)] != 0 {
		if y, ok := yearWord(word(i + 4)); ok {
			n, _ := strconv.Atoi(d[1])
			from := day(y, months[word(i+3)], n)
			return period{from: from, until: from.AddDate(0, 0, 1)}, 1, true
		}
	}
	if (w == "last" || w == "past" || w == "next" || w == "coming" || w == "previous") && i+2 < len(toks) && toks[i+1].number {
		n := int(toks[i+1].value)
		if w == "next" || w == "coming" {
			if until, ok := shiftPeriod(today, lemma(word(i+2)), n); ok {
				return period{from: today, until: until.AddDate(0, 0, 1)}, 3, true
			}
		}
		if from, ok := shiftPeriod(today, lemma(word(i+2)), -n); ok {
			return period{from: from, until: today.AddDate(0, 0, 1)}, 3, true
		}
	}
	if w == "next" || w == "coming" {
		if from, ok := unitStart(today, word(i+1)); ok {
			start, _ := shiftPeriod(from, word(i+1), 1)
			end, _ := shiftPeriod(start, word(i+1), 1)
			return period{from: start, until: end}, 2, true
		}
	}
	p, n := periodAt(toks, i, now)
	if n == 0 {
		return p, 0, false
	}
	said := months[w] == 0 || n > 1
	if q := quarterWord.FindStringSubmatch(w); q != nil && n == 1 {
		said = false
	}
	return p, n, said
}

// amountWords stand before a number that is an amount and no year.
var amountWords = wordSet("over above below under exceeding exceeds exceed least more less fewer greater higher lower larger smaller bigger")
