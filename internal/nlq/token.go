package nlq

import (
	"regexp"
	"strconv"
	"strings"
	"unicode"
)

// A token is a word, a number or a quoted text of the question.
type token struct {
	text       string // as written
	lower      string
	lemma      string
	stem       string
	quoted     bool // the whole of a quoted text
	number     bool
	value      float64
	otherValue float64 // the second way to read a number, 0 where there is none
	capital    bool
	sentence   int
	comma      bool // a comma stands before it
	bracket    bool // it stands in brackets
	owner      bool // it was written with 's
}

// legend is a remark on how the data are written, which asks for nothing.
var legend = regexp.MustCompile(`(?i)(note that )?\S+ stands for [^.?!]*`)

var quotes = strings.NewReplacer("‘", "'", "’", "'", "“", `"`, "”", `"`, "`", "'")

// maxText bounds the question that is read.
const maxText = 2000

// tokenise splits a question into tokens.
func tokenise(s string) []token {
	if len(s) > maxText {
		s = s[:maxText]
	}
	s = legend.ReplaceAllString(quotes.Replace(s), "")
	rs := []rune(s)
	var out []token
	sentence, comma, depth := 0, false, 0
	add := func(t token) {
		t.lower = strings.ToLower(t.text)
		t.lemma = lemma(t.lower)
		t.stem = stem(t.lower)
		t.sentence, t.comma, t.bracket = sentence, comma, depth > 0
		comma = false
		if n, ok := numberWords[t.lower]; ok && !t.quoted {
			t.number, t.value = true, n
		}
		if n, err := strconv.ParseFloat(strings.ReplaceAll(t.lower, ",", ""), 64); err == nil && unicode.IsDigit(rune(t.lower[len(t.lower)-1])) {
			t.number, t.value = true, n
		}
		out = append(out, t)
	}
	for i := 0; i < len(rs); {
		r := rs[i]
		switch {
		case r == '\'' || r == '"':
			if j := closingQuote(rs, i); j > 0 {
				if text := strings.TrimSpace(string(rs[i+1 : j])); text != "" {
					add(token{text: text, quoted: true})
				}
				i = j + 1
				continue
			}
			i++
		case unicode.IsLetter(r) || unicode.IsDigit(r) || r == '_' || (r == '-' && i+1 < len(rs) && unicode.IsDigit(rs[i+1]) && (i == 0 || unicode.IsSpace(rs[i-1]))):
			j := i + 1
			for j < len(rs) && isWordRune(rs, j) {
				j++
			}
			word := string(rs[i:j])
			t := token{text: word, capital: unicode.IsUpper(r)}
			if base, ok := strings.CutSuffix(word, "'s"); ok {
				t.text, t.owner = base, true
			} else if base, ok := strings.CutSuffix(word, "'"); ok {
				t.text, t.owner = base, true
			}
			if full, ok := contractions[strings.ToLower(word)]; ok {
				for _, w := range strings.Fields(full) {
					add(token{text: w})
				}
			} else if parts := strings.Split(t.text, "-"); len(parts) > 1 && !unicode.IsDigit(rs[i]) {
				for _, w := range parts {
					if w != "" {
						add(token{text: w, capital: t.capital})
					}
				}
			} else if t.text != "" {
				add(t)
			}
			i = j
		default:
			switch r {
			case '?', '!', ';', '\n':
				sentence++
			case '.':
				if i+1 >= len(rs) || unicode.IsSpace(rs[i+1]) {
					sentence++
				}
			case ',', ':':
				comma = true
			case '(':
				depth++
			case ')':
				depth = max(0, depth-1)
			case '%', '$', '€', '£':
			case '<', '>', '=':
				j := i + 1
				for j < len(rs) && (rs[j] == '=' || rs[j] == '>') {
					j++
				}
				add(token{text: string(rs[i:j])})
				i = j
				continue
			}
			i++
		}
	}
	return out
}

// isWordRune reports whether the rune at i goes on with a word or number.
func isWordRune(rs []rune, i int) bool {
	r := rs[i]
	inner := i+1 < len(rs) && (unicode.IsLetter(rs[i+1]) || unicode.IsDigit(rs[i+1]))
	switch {
	case unicode.IsLetter(r) || unicode.IsDigit(r) || r == '_':
		return true
	case r == '\'':
		return unicode.IsLetter(rs[i-1]) && (inner || rs[i-1] == 's')
	case r == '-' || r == '/' || r == ':':
		return inner && (r == '-' || unicode.IsDigit(rs[i+1]) && unicode.IsDigit(rs[i-1]))
	case r == '.' || r == ',':
		return inner && unicode.IsDigit(rs[i-1]) && unicode.IsDigit(rs[i+1])
	case r == '@':
		return inner
	}
	return false
}

// closingQuote finds the end of a quoted text that begins at i, or 0. A quote inside a
// word is an apostrophe.
func closingQuote(rs []rune, i int) int {
	if i > 0 && (unicode.IsLetter(rs[i-1]) || unicode.IsDigit(rs[i-1])) {
		return 0
	}
	for j := i + 1; j < len(rs); j++ {
		if rs[j] == rs[i] && (j+1 == len(rs) || !unicode.IsLetter(rs[j+1])) && j > i+1 {
			return j
		}
	}
	return 0
}

var contractions = map[string]string{
	"don't": "do not", "doesn't": "does not", "didn't": "did not", "isn't": "is not", "aren't": "are not", "wasn't": "was not",
	"weren't": "were not", "hasn't": "has not", "haven't": "have not", "hadn't": "had not", "can't": "can not", "cannot": "can not",
	"won't": "will not", "what's": "what is", "who's": "who is", "that's": "that is", "there's": "there is", "where's": "where is",
}

// reorderComparisons puts what is compared before the comparison: more pages than average
// becomes pages more than average.
func reorderComparisons(toks []token) []token {
	for i := 0; i < len(toks); i++ {
		if !comparatives[toks[i].lower] || i+1 < len(toks) && toks[i+1].lower == "than" {
			continue
		}
		for k := i + 2; k < len(toks) && k <= i+4; k++ {
			if toks[k].comma || toks[k].number || toks[k].quoted {
				break
			}
			if toks[k].lower == "than" {
				more := toks[i]
				copy(toks[i:], toks[i+1:k])
				toks[k-1] = more
				break
			}
		}
	}
	return toks
}

var comparatives = wordSet("more less fewer higher lower larger smaller greater bigger better worse")

// completeLists writes out what a list leaves out: first, middle and last names.
func completeLists(toks []token) []token {
	var out []token
	for i := range toks {
		out = append(out, toks[i])
		if !nameParts[toks[i].lower] {
			continue
		}
		for k := i + 1; k < len(toks) && k <= i+4; k++ {
			if toks[k].lemma == "name" && k > i+1 {
				name := toks[k]
				name.comma = false
				out = append(out, name)
				break
			}
			if !nameParts[toks[k].lower] && toks[k].lower != "and" {
				break
			}
		}
	}
	return out
}

var nameParts = wordSet("first middle last given family")
