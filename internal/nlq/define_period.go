package nlq

import (
	"regexp"
	"strconv"
	"strings"
	"time"
)

// A namedPeriod is a part of every year, or of two that meet, that the glossary names: the season.
type namedPeriod struct {
	words            []string // base forms
	from, to         time.Month
	fromDay, lastDay int // 0 is the first and the last of the month
}

var (
	monthName    = `(january|february|march|april|may|june|july|august|september|october|november|december)`
	seasonForm   = regexp.MustCompile(`(?i)^(?:it (?:runs|lasts|goes) )?(?:from )?(?:the )?(?:(\d{1,2})(?:st|nd|rd|th)? )?` + monthName + ` (?:to|until|through) (?:the )?(?:(\d{1,2})(?:st|nd|rd|th)? )?` + monthName + `$`)
	exampleForm  = regexp.MustCompile(`(?i)^(.+?) (\d{4})(?:/(\d{2}|\d{4}))? (?:is|means|runs|was|goes|lasts)(?: from)? (\d{4}-\d{2}-\d{2}) to (\d{4}-\d{2}-\d{2})$`)
	twoYearsForm = regexp.MustCompile(`^(\d{4})/(\d{2}|\d{4})$`)
)

// learnPeriod reads a term that names a part of the year, with examples that must agree.
func (x *Index) learnPeriod(name, text string) bool {
	sentences := splitSentences(text)
	if len(sentences) == 0 {
		return false
	}
	m := seasonForm.FindStringSubmatch(sentences[0])
	if m == nil {
		return false
	}
	p := namedPeriod{words: strings.Fields(defineKey(name)), from: months[strings.ToLower(m[2])], to: months[strings.ToLower(m[4])]}
	p.fromDay, _ = strconv.Atoi(m[1])
	p.lastDay, _ = strconv.Atoi(m[3])
	for _, s := range sentences[1:] {
		e := exampleForm.FindStringSubmatch(s)
		if e == nil || defineKey(e[1]) != defineKey(name) {
			x.unread[name] = s
			return false
		}
		year, _ := strconv.Atoi(e[2])
		if got, ok := p.in(year, e[3] != ""); !ok || got.from.Format(time.DateOnly) != e[4] || got.until.AddDate(0, 0, -1).Format(time.DateOnly) != e[5] {
			x.unread[name] = s
			return false
		}
	}
	x.periods = append(x.periods, p)
	for _, w := range p.words {
		x.vocabulary[w] = true
	}
	return true
}

// in is the period of a year. One that goes on into the next year must be named by both.
func (p namedPeriod) in(year int, both bool) (period, bool) {
	end := year
	if p.to < p.from || p.to == p.from && p.lastDay > 0 && p.lastDay < p.fromDay {
		end++
	}
	if both != (end > year) {
		return period{}, false
	}
	from := time.Date(year, p.from, max(p.fromDay, 1), 0, 0, 0, 0, time.UTC)
	until := time.Date(end, p.to+1, 1, 0, 0, 0, 0, time.UTC)
	if p.lastDay > 0 {
		until = time.Date(end, p.to, p.lastDay+1, 0, 0, 0, 0, time.UTC)
	}
	return period{from: from, until: until}, true
}

// namedPeriodAt reads a period that the glossary names, with its year: season 2025, the 2025 season, school year
// 2024/25. It gives the length in tokens.
func (x *Index) namedPeriodAt(toks []token, i int) (period, int) {
	for _, p := range x.periods {
		at := i
		year, both, first := yearToken(toks, at)
		if first > 0 {
			at += first
		}
		if at+len(p.words) > len(toks) || joinLemmas(toks[at:at+len(p.words)]) != strings.Join(p.words, " ") {
			continue
		}
		at += len(p.words)
		if first == 0 {
			var n int
			if year, both, n = yearToken(toks, at); n == 0 {
				continue
			}
			at += n
		}
		if found, ok := p.in(year, both); ok {
			return found, at - i
		}
	}
	return period{}, 0
}

// yearToken reads 2025 or 2024/25 at a token, and gives how many tokens that is.
func yearToken(toks []token, i int) (year int, both bool, n int) {
	for n := min(3, len(toks)-i); n > 0; n-- {
		text := ""
		for _, t := range toks[i : i+n] {
			text += t.lower
		}
		if y, ok := yearWord(text); ok {
			return y, false, n
		}
		if m := twoYearsForm.FindStringSubmatch(text); m != nil {
			first, _ := strconv.Atoi(m[1])
			second, _ := strconv.Atoi(m[2])
			if second%100 == (first+1)%100 {
				return first, true, n
			}
		}
	}
	return 0, false, 0
}
