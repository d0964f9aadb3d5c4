package figure

import (
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"
)

// fromNames looks whether the figure is a part of a name in the data: iPhone 15.
func (t *tracer) fromNames(m mention) (origin, bool) {
	for i := range t.grids {
		for row := range t.grids[i].labels {
			for _, l := range t.grids[i].labels[row] {
				if l.kind == textLabel && m.isPartOf(l.text, t.answer) && !t.grids[i].table.made.writes(strings.ToLower(l.text), m) {
					return origin{support: FromCell, cells: []Cell{t.grids[i].cells[row][l.column].Cell}}, true
				}
			}
		}
	}
	return origin{}, false
}

// isPartOf says whether a name stands in a text around the figure.
func (m mention) isPartOf(name, text string) bool {
	if len(name) <= len(m.text) || len(name) > shortText {
		return false
	}
	i := strings.Index(name, m.lower())
	if i < 0 || m.start < i || m.start-i+len(name) > len(text) {
		return false
	}
	from, to := m.start-i, m.start-i+len(name)
	if !strings.EqualFold(plainName(text[from:to]), name) {
		return false
	}
	before, _ := utf8.DecodeLastRuneInString(text[:from])
	after, _ := utf8.DecodeRuneInString(text[to:])
	return !unicode.IsLetter(before) && !unicode.IsDigit(before) && !unicode.IsLetter(after) && !unicode.IsDigit(after)
}

// mentioned counts how a sentence speaks of a cell: its row by what stands in it, its
// column by its name.
func (t *tracer) mentioned(m mention, grid, row, col int) int {
	g := &t.grids[grid]
	c := g.columns[col]
	if _, isYear := m.year(); c.key || c.time && !isYear { // it numbers rows and is no quantity: order 7 is one, 7 orders are not
		switch {
		case m.before != "" && containsAny(m.before, c.words):
			return 1
		case m.digits() >= hiddenDigits && g.namedBy(m)[row] && slices.ContainsFunc(g.labels[row], func(l label) bool { return l.column != col && g.nameIn.name(l) }):
			return 2 // a row is listed with its numbers
		}
		return 0
	}
	score := 0
	if containsAny(m.sentence, c.words) {
		score++
	}
	if g.namedBy(m)[row] {
		score += 2
	}
	return score
}

// namedBy says which rows a figure's sentence names, or else the line above its list.
func (g *grid) namedBy(m mention) []bool {
	if g.isNamed != nil && g.namedIn == m.written && g.namedUnder == m.lead {
		return g.isNamed
	}
	g.namedIn, g.namedUnder = m.written, m.lead
	g.isNamed, g.isMeant, g.groupsIn, g.valuesIn = make([]bool, len(g.cells)), nil, nil, nil
	for _, text := range []string{m.written, m.lead} {
		if text == "" {
			continue
		}
		found := false
		if n, ok := g.read[text]; ok {
			g.nameIn = n
		} else {
			g.nameIn = newNames(text)
			g.read[text] = g.nameIn
		}
		for row := range g.cells {
			if g.names(g.nameIn, row) {
				g.isNamed[row], found = true, true
			}
		}
		if found {
			break
		}
	}
	return g.isNamed
}

// containsWord says whether a text stands in a sentence as a whole.
func containsWord(sentence, text string) bool {
	for from := 0; ; {
		i := strings.Index(sentence[from:], text)
		if i < 0 {
			return false
		}
		i += from
		if !letterAt(sentence, i-1) && !letterAt(sentence, i+len(text)) {
			return true
		}
		from = i + 1
	}
}

func letterAt(s string, i int) bool {
	return i >= 0 && i < len(s) && (s[i] >= 'a' && s[i] <= 'z' || isUpperAt(s, i) || s[i] >= '0' && s[i] <= '9' || s[i] >= 0x80)
}

// containsStem says whether a word of the sentence begins like this one: plurals and
// endings do not count.
func containsStem(sentence, word string) bool {
	stem := word
	for _, ending := range []string{"ies", "ed", "es", "s", "y", "e", "n"} {
		if s, ok := strings.CutSuffix(word, ending); ok && len(s) >= 3 {
			stem = s
			break
		}
	}
	for from := 0; ; {
		i := strings.Index(sentence[from:], stem)
		if i < 0 {
			return false
		}
		if i += from; !letterAt(sentence, i-1) {
			return true
		}
		from = i + 1
	}
}
