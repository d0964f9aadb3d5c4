package nlq

import (
	"regexp"
	"slices"
	"strconv"
	"strings"
)

// Words of descriptions of columns.
var (
	// specialForm is a number with what a description says that it is: -1 = tracker failed, 0 if not measured.
	specialForm = regexp.MustCompile(`(?i)(?:^|[\s(,;:.])([-−]?\d+(?:\.\d+)?)['"]?\s*(?:=|:|means?|is|stands for|if|when|where|for)\s+([^,;.()=]+)`)
	// lackingForm says that something is not known or did not happen.
	lackingForm = regexp.MustCompile(`(?i)^(?:an? |that |the |it )*(?:(?:is|was|could|were|has) )*(?:not|unknown|missing|unset|absent|undefined|n/a|unclear|cannot|failed|no (?:answer|data|reading|value|entry|information|measurement))\b`)
	// unknownWords say that nobody knows, whatever the column holds.
	unknownWords = regexp.MustCompile(`(?i)\b(?:unknown|missing|unset|n/a|not (?:known|given|recorded|stated|set|entered|available|noted|measured|agreed|asked|filled))\b`)
	// noneForm says that there is nothing: no rating, none.
	noneForm = regexp.MustCompile(`(?i)^(?:an? |that )?(?:no|none|nobody|nothing|without)\b`)
	// scaleForm is a scale that begins with 1: a zero is none of its values.
	scaleForm = regexp.MustCompile(`(?i)\b1(?: \([^)]*\)| \pL+)? ?(?:to|-|–|until) ?\d+`)
	yearForm  = regexp.MustCompile(`(?i)\byear\b`)
	// countByForm says that rows count by a date.
	countByForm = regexp.MustCompile(`(?i)\b(?:count|counts|counted|dated|booked|reported|assigned|report|goes?|belongs?|falls?) (?:by|to|under|in|into|with) (?:the (?:day|week|month|quarter|year|period) of )?this (?:day|date)\b|\bthis (?:day|date) (?:decides|counts|is what counts|is the one that counts)\b|\b(?:reports?|statistics|figures|we) (?:all )?(?:use|go by|count by) this (?:day|date)\b`)
)

var scaleWords = wordSet("rating score grade star feedback rank satisfaction mark vintage year")

// learnUnknown takes the numbers of a column that its description says are no amounts. A column whose numbers
// are all explained is an enumeration and has none.
func (x *Index) learnUnknown(c int, said string) {
	if !x.columns[c].number {
		return
	}
	found := specialForm.FindAllStringSubmatch(said, -1)
	named := 0
	for _, m := range found {
		if m[1][0] >= '0' && m[1][0] <= '9' && !lackingForm.MatchString(m[2]) {
			named++
		}
	}
	if named > 1 {
		return
	}
	for _, m := range found {
		n, err := strconv.ParseFloat(strings.Replace(m[1], "−", "-", 1), 64)
		if err != nil {
			continue
		}
		switch lacks := lackingForm.MatchString(m[2]); {
		case n == 0 && x.isNoAmount(c, said, m[2]):
			x.sentinels[c] = true
		case n < 0, n > 0 && (lacks || noneForm.MatchString(m[2])):
			if !slices.Contains(x.unknown[c], any(n)) {
				x.unknown[c] = append(x.unknown[c], n)
			}
		}
	}
}

// isNoAmount reports whether a zero stands for no value, rather than for an amount of zero: a year that is 0, stars
// that were not given, and not a price of nothing.
func (x *Index) isNoAmount(c int, said, text string) bool {
	if unknownWords.MatchString(text) || scaleForm.MatchString(said) {
		return true
	}
	scale := yearForm.MatchString(said) || slices.ContainsFunc(x.columns[c].words, func(w string) bool { return scaleWords[w] })
	if scale {
		return lackingForm.MatchString(text) || noneForm.MatchString(text)
	}
	if !lackingForm.MatchString(text) || x.isMoney(c) {
		return false
	}
	// Units delivered, 0 = not delivered: the amount is zero.
	return !slices.ContainsFunc(tokenise(text), func(t token) bool {
		return slices.ContainsFunc(x.columns[c].words, func(w string) bool { return stem(w) == t.stem })
	})
}

// isMoney reports whether a column holds amounts of money.
func (x *Index) isMoney(c int) bool {
	return slices.ContainsFunc(x.columns[c].words, func(w string) bool { return moneyWords[w] || currencies[w] })
}

var currencies = wordSet("eur euro usd dollar gbp pound chf")
