package figure

import (
	"encoding/json"
	"slices"
	"strings"
	"unicode"
)

const (
	quotedWords = 3      // that agree beside a figure, so that it is a quotation
	quotedBytes = 120    // in which they are looked for, on each side
	maxQuoted   = 20_000 // places that are compared for one answer
)

// fromQuotation looks for the figure in a passage that the answer repeats word for word:
// so many words beside it do not agree by chance.
func (t *tracer) fromQuotation(m mention) (origin, bool) {
	for i, d := range t.documents {
		text := t.e.Documents[i].Text
		for _, other := range d.mentions {
			if other.stated || !m.same(other) {
				continue
			}
			if t.quoted++; t.quoted > maxQuoted {
				t.cut = true
				return origin{}, false
			}
			if wordsInCommon(t.answer, m, text, other) >= quotedWords {
				return origin{support: FromDocument, source: d.source}, true
			}
		}
	}
	return origin{}, false
}

// wordsInCommon counts the words right before and after two figures that are the same.
func wordsInCommon(text string, m mention, other string, o mention) int {
	words := func(s string) []string {
		return strings.FieldsFunc(strings.ToLower(s), func(r rune) bool { return !unicode.IsLetter(r) && !unicode.IsDigit(r) })
	}
	before, otherBefore := words(text[max(0, m.start-quotedBytes):m.start]), words(other[max(0, o.start-quotedBytes):o.start])
	slices.Reverse(before)
	slices.Reverse(otherBefore)
	return equalWords(before, otherBefore) +
		equalWords(words(text[m.end:min(len(text), m.end+quotedBytes)]), words(other[o.end:min(len(other), o.end+quotedBytes)]))
}

// equalWords counts the words with which two lists begin alike.
func equalWords(a, b []string) int {
	n := 0
	for n < min(len(a), len(b)) && a[n] == b[n] {
		n++
	}
	return n
}

// A measure says how a result came about, such as the relevancy of a passage.
type measure struct {
	cell  Cell
	value float64
}

// isAboutTheWork says that a member measures how a result came about, and no data: it
// supports only a figure that is said to be that measure.
func isAboutTheWork(key string) bool {
	switch key {
	case "ms", "confidence", "relevancy", "max_relevancy", "attempts":
		return true
	}
	return strings.HasSuffix(key, "_ms")
}

// addMeasure keeps a measure of how a result came about.
func (e *Evidence) addMeasure(id string, row int, m member) {
	n, ok := m.value.(json.Number)
	if !ok || len(e.measures) >= maxMentions {
		return
	}
	if f, err := n.Float64(); err == nil {
		e.measures = append(e.measures, measure{Cell{Table: id, Row: row, Column: m.key}, f})
	}
}

// fromMeasures looks for a figure that stands right behind the name of a measure.
func (t *tracer) fromMeasures(m mention) (origin, bool) {
	for _, x := range t.e.measures {
		if m.before == x.cell.Column && slices.ContainsFunc(m.readings, func(r reading) bool { return r.fits(x.value, m.near) }) {
			return origin{support: FromCell, cells: []Cell{x.cell}}, true
		}
	}
	return origin{}, false
}
