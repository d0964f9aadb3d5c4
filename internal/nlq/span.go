package nlq

import (
	"strings"
	"time"
)

// A Span is a stretch of days that a text names, such as "October 2025".
type Span struct {
	From, Until time.Time // the first day, and the day after the last; zero where it has no bound
	At, End     int       // its place in the text, in bytes
}

// Spans lists the days, months, quarters and years that a text names. What has no year is
// the last one that began before now. Two that "to" joins are one span, and a word such as
// "since" or "before" opens one at its other end.
func Spans(text string, now time.Time) []Span {
	tokens, places := placeTokens(text)
	var out []Span
	for i := 0; i < len(tokens); i++ {
		p, n := spanAt(tokens, i, now)
		if n == 0 {
			continue
		}
		s := Span{From: p.from, Until: p.until, At: places[i].at, End: places[i+n-1].end}
		between := text[:s.At]
		if last := len(out) - 1; last >= 0 {
			between = text[out[last].End:s.At]
			if joinsSpans[strings.ToLower(strings.Trim(between, " ,"))] && !out[last].From.IsZero() && s.From.After(out[last].From) {
				out[last].Until, out[last].End = s.Until, s.End
				i += n - 1
				continue
			}
		}
		words := strings.Fields(strings.ToLower(between))
		if len(words) > 0 {
			switch words[len(words)-1] {
			case "since", "from", "seit", "ab":
				if !joinsNext(text[s.End:]) {
					s.Until = time.Time{}
				}
			case "after", "nach":
				s.From, s.Until = p.until, time.Time{}
			case "before", "vor":
				s.From, s.Until = time.Time{}, p.from
			case "until", "till", "bis":
				s.From = time.Time{}
			}
		}
		out = append(out, s)
		i += n - 1
	}
	return out
}

// joinsSpans are the words between the first and the last day of one span.
var joinsSpans = map[string]bool{"to": true, "until": true, "till": true, "through": true, "-": true, "–": true, "bis": true, "and": true, "und": true}

// joinsNext says that a text goes on with the end of a span.
func joinsNext(rest string) bool {
	words := strings.Fields(strings.ToLower(rest))
	return len(words) > 1 && joinsSpans[words[0]] && words[0] != "and" && words[0] != "und"
}

// A place is where a token stands in its text, in bytes.
type place struct{ at, end int }

// placeTokens splits a text into tokens and says where they stand. German names of months
// are read as English ones.
func placeTokens(text string) ([]token, []place) {
	var tokens []token
	var places []place
	from := 0
	for _, t := range tokenise(text) {
		i := strings.Index(text[from:], t.text)
		if i < 0 {
			continue
		}
		if english, ok := germanMonths[t.lower]; ok {
			t.lower = english
		}
		at := from + i
		from = at + len(t.text)
		tokens, places = append(tokens, t), append(places, place{at, from})
	}
	return tokens, places
}

var germanMonths = map[string]string{"januar": "january", "februar": "february", "märz": "march", "mai": "may", "juni": "june", "juli": "july", "oktober": "october", "dezember": "december"}

// spanAt reads a period at a token: one that periodAt knows, a month such as 2025-10, or a
// year.
func spanAt(tokens []token, i int, now time.Time) (period, int) {
	if p, n := periodAt(tokens, i, now); n > 0 {
		return p, n
	}
	if month, err := time.Parse("2006-01", tokens[i].lower); err == nil {
		return period{from: month, until: month.AddDate(0, 1, 0)}, 1
	}
	if year, ok := yearWord(tokens[i].lower); ok && year >= 1900 && !tokens[i].quoted {
		from := time.Date(year, 1, 1, 0, 0, 0, 0, time.UTC)
		return period{from: from, until: from.AddDate(1, 0, 0), year: year}, 1
	}
	return period{}, 0
}
