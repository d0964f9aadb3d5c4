package nlq

import (
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"
)

// A period is a stretch of the calendar, [from, until).
type period struct {
	from, until time.Time
	year        int // when it is a whole year
}

var months = map[string]time.Month{
	"january": 1, "february": 2, "march": 3, "april": 4, "may": 5, "june": 6, "july": 7, "august": 8, "september": 9,
	"october": 10, "november": 11, "december": 12, "jan": 1, "feb": 2, "mar": 3, "apr": 4, "jun": 6, "jul": 7, "aug": 8, "sep": 9, "sept": 9, "oct": 10, "nov": 11, "dec": 12,
}

var dateForms = []string{time.DateOnly, "2006/01/02", "02.01.2006", "2006-01-02T15:04:05", time.DateTime}

// looksLikeDate reports whether a text value is a date in a form that sorts as text.
func looksLikeDate(s string) bool {
	return len(s) >= 10 && s[4] == '-' && s[7] == '-' && isNumber(s[:4])
}

func isNumber(s string) bool {
	_, err := strconv.ParseFloat(strings.TrimSpace(s), 64)
	return err == nil
}

var (
	quarterWord = regexp.MustCompile(`^q([1-4])$`)
	ordinalDay  = regexp.MustCompile(`^(\d{1,2})(st|nd|rd|th)?$`)
)

// periodAt reads a date or period at a token and gives its length in tokens.
func periodAt(toks []token, i int, now time.Time) (period, int) {
	word := func(k int) string {
		if k < len(toks) && !toks[k].quoted && toks[k].sentence == toks[i].sentence {
			return toks[k].lower
		}
		return ""
	}
	w := toks[i].lower
	if toks[i].quoted {
		w = strings.TrimSpace(w)
	}
	for _, form := range dateForms {
		if t, err := time.Parse(form, strings.ToUpper(w)); err == nil {
			return period{from: t, until: t.AddDate(0, 0, 1)}, 1
		}
	}
	day := func(y int, m time.Month, d int) time.Time { return time.Date(y, m, d, 0, 0, 0, 0, time.UTC) }
	today := day(now.Year(), now.Month(), now.Day())
	if m := quarterWord.FindStringSubmatch(w); m != nil {
		q, _ := strconv.Atoi(m[1])
		y, n := now.Year(), 1
		if yy, ok := yearWord(word(i + 1)); ok {
			y, n = yy, 2
		} else if yy, ok := yearWord(word(i + 2)); ok && word(i+1) == "of" {
			y, n = yy, 3
		}
		from := day(y, time.Month(q*3-2), 1)
		return period{from: from, until: from.AddDate(0, 3, 0)}, n
	}
	if m, ok := months[w]; ok && (len(w) > 3 && w != "may" && w != "march" || toks[i].capital || isYear(word(i+1))) {
		if d := ordinalDay.FindStringSubmatch(word(i + 1)); d != nil {
			dd, _ := strconv.Atoi(d[1])
			if yy, ok := yearWord(word(i + 2)); ok {
				from := day(yy, m, dd)
				return period{from: from, until: from.AddDate(0, 0, 1)}, 3
			}
		}
		y, n := now.Year(), 1
		if yy, ok := yearWord(word(i + 1)); ok {
			y, n = yy, 2
		} else if yy, ok := yearOfList(toks, i); ok {
			y = yy
		} else if m > now.Month() {
			y--
		}
		from := day(y, m, 1)
		until, n := joinMonths(toks, i, i+n, from.AddDate(0, 1, 0))
		return period{from: from, until: until}, n
	}
	if d := ordinalDay.FindStringSubmatch(w); d != nil && months[word(i+1)] != 0 {
		dd, _ := strconv.Atoi(d[1])
		if yy, ok := yearWord(word(i + 2)); ok {
			from := day(yy, months[word(i+1)], dd)
			return period{from: from, until: from.AddDate(0, 0, 1)}, 3
		}
	}
	switch w {
	case "yesterday":
		return period{from: today.AddDate(0, 0, -1), until: today}, 1
	case "today":
		return period{from: today, until: today.AddDate(0, 0, 1)}, 1
	case "last", "past", "previous", "this", "current":
		back := -1
		if w == "this" || w == "current" {
			back = 0
		}
		if n := toks[min(i+1, len(toks)-1)]; i+1 < len(toks) && n.number && back < 0 {
			if from, ok := shiftPeriod(today, lemma(word(i+2)), -int(n.value)); ok {
				return period{from: from, until: today.AddDate(0, 0, 1)}, 3
			}
			return period{}, 0
		}
		if from, ok := unitStart(today, lemma(word(i+1))); ok && word(i+1) == lemma(word(i+1)) {
			start, _ := shiftPeriod(from, word(i+1), back)
			end, _ := shiftPeriod(start, word(i+1), 1)
			return period{from: start, until: end}, 2
		}
	}
	return period{}, 0
}

// nextListed is the token of the next thing of a list that goes on at k, or -1: January, February and March.
func nextListed(toks []token, i, k int) int {
	if k >= len(toks) || toks[k].sentence != toks[i].sentence || toks[k].quoted {
		return -1
	}
	joined := toks[k].comma
	if w := toks[k].lower; w == "and" || w == "or" || w == "&" {
		joined = true
		k++
	}
	if !joined || k >= len(toks) {
		return -1
	}
	return k
}

// yearOfList is the year behind the last of several months: February and March 2025.
func yearOfList(toks []token, i int) (int, bool) {
	for k := nextListed(toks, i, i+1); k >= 0 && months[toks[k].lower] != 0; k = nextListed(toks, i, k+1) {
		if k+1 < len(toks) {
			if y, ok := yearWord(toks[k+1].lower); ok {
				return y, true
			}
		}
	}
	return 0, false
}

// joinMonths adds the months of a list that follow one another to a period that ends before until,
// unless they are to be told apart. It returns the end of all and how many tokens they are from i on.
func joinMonths(toks []token, i, k int, until time.Time) (time.Time, int) {
	apart := wordSet("compare comparing comparison versus vs against difference between")
	if slices.ContainsFunc(toks, func(t token) bool { return apart[t.lower] }) {
		return until, k - i
	}
	for j := nextListed(toks, i, k); j >= 0 && months[toks[j].lower] == until.Month(); j = nextListed(toks, i, k) {
		end := j + 1
		if end < len(toks) {
			if y, ok := yearWord(toks[end].lower); ok {
				if y != until.Year() {
					break
				}
				end++
			}
		}
		until, k = until.AddDate(0, 1, 0), end
	}
	return until, k - i
}

func isYear(w string) bool {
	_, ok := yearWord(w)
	return ok
}

func yearWord(w string) (int, bool) {
	n, err := strconv.Atoi(w)
	return n, err == nil && len(w) == 4 && n >= 1000 && n <= 2200
}

// unitStart is the first day of the unit that holds t.
func unitStart(t time.Time, unit string) (time.Time, bool) {
	switch unit {
	case "day":
		return t, true
	case "week":
		return t.AddDate(0, 0, -(int(t.Weekday())+6)%7), true
	case "month":
		return t.AddDate(0, 0, 1-t.Day()), true
	case "quarter":
		return time.Date(t.Year(), (t.Month()-1)/3*3+1, 1, 0, 0, 0, 0, time.UTC), true
	case "year":
		return time.Date(t.Year(), 1, 1, 0, 0, 0, 0, time.UTC), true
	}
	return t, false
}

func shiftPeriod(t time.Time, unit string, n int) (time.Time, bool) {
	switch unit {
	case "day":
		return t.AddDate(0, 0, n), true
	case "week":
		return t.AddDate(0, 0, 7*n), true
	case "month":
		return t.AddDate(0, n, 0), true
	case "quarter":
		return t.AddDate(0, 3*n, 0), true
	case "year":
		return t.AddDate(n, 0, 0), true
	}
	return t, false
}

func (p period) String() string {
	if p.year != 0 {
		return strconv.Itoa(p.year)
	}
	last := p.until.AddDate(0, 0, -1)
	if last.Equal(p.from) {
		return p.from.Format(time.DateOnly)
	}
	return fmt.Sprintf("%s to %s", p.from.Format(time.DateOnly), last.Format(time.DateOnly))
}
