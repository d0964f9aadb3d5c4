package nlq

import (
	"slices"
	"strings"

	"interlock/internal/queryplan"
)

// valueMentions finds spans that are values of the data: exactly, by base form, by
// another name of a place, or as the inside of quotes.
func (l *linker) valueMentions() []mention {
	var out []mention
	for i := range l.toks {
		if l.toks[i].quoted {
			m := mention{from: i, to: i + 1}
			for _, r := range l.x.values[normaliseValue(l.toks[i].text)] {
				m.values = append(m.values, scoredValue{r, 1})
			}
			out = append(out, m)
			continue
		}
		for n := 1; n <= max(l.x.longest, 1) && i+n <= len(l.toks); n++ {
			if m, ok := l.valueMention(i, i+n); ok {
				out = append(out, m)
			}
		}
	}
	return out
}

func (l *linker) valueMention(from, to int) (mention, bool) {
	m := mention{from: from, to: to}
	var texts []string
	for i := from; i < to; i++ {
		if l.toks[i].quoted || l.toks[i].sentence != l.toks[from].sentence {
			return m, false
		}
		texts = append(texts, l.toks[i].text)
	}
	first := &l.toks[from]
	key := normaliseValue(strings.Join(texts, " "))
	one := to == from+1
	called := from > 0 && wordSet("named called titled")[l.toks[from-1].lower]
	if key == "" || one && (grammar[first.lower] || len([]rune(key)) == 1 && !called) {
		return m, false
	}
	saying := one && sayings[first.lower]
	add := func(refs []valueRef, score float64) {
		for _, r := range refs {
			c := &l.x.columns[r.column]
			if one && first.number && (c.number || c.kind == queryplan.Number) && len(key) < 6 {
				continue // a number says nothing about its column by itself
			}
			if saying && !l.isValueWord(from, c) {
				continue
			}
			m.values = append(m.values, scoredValue{r, score})
		}
	}
	add(l.x.values[key], 1)
	if len(m.values) == 0 && !first.number {
		last := &l.toks[to-1]
		if last.lemma != last.lower {
			add(l.x.values[normaliseValue(strings.Join(append(texts[:len(texts)-1:len(texts)-1], last.lemma), " "))], 0.92)
		}
	}
	if one && len(m.values) == 0 {
		for _, place := range demonyms[first.lower] {
			add(l.x.values[normaliseValue(place)], 0.9)
		}
		if len(m.values) == 0 && len(first.stem) >= 4 && !fillers[first.lemma] && first.capital && from > 0 {
			add(l.x.stems[first.stem], 0.6)
		}
	}
	return m, len(m.values) > 0
}

// isValueWord reports whether an everyday word stands where it tells rows apart,
// tickets that are open or open tickets, and belongs to a column of a few such
// words.
func (l *linker) isValueWord(i int, c *column) bool {
	if n, ok := l.x.distinct[c.id]; !ok || n > maxSaid*4 {
		return false
	}
	if i > 0 && wordSet("is are was were be been still not currently")[l.toks[i-1].lower] {
		return i+1 == len(l.toks) || !l.isNameWord(i+1)
	}
	return i+1 < len(l.toks) && i > 0 && slices.Contains(l.x.tables[c.table].core, l.toks[i+1].lemma)
}

// isNameWord reports whether a token is a word of a table or column.
func (l *linker) isNameWord(i int) bool {
	for k := range l.x.tables {
		if slices.Contains(l.x.tables[k].words, l.toks[i].lemma) {
			return true
		}
	}
	return slices.ContainsFunc(l.x.columns, func(c column) bool { return slices.Contains(c.words, l.toks[i].lemma) })
}

// sayings are everyday words that also occur as values but rarely mean them.
var sayings = wordSet(`list show find give name names number total average top first last country city state year day date type kind order open
	single new old high low long short big small large people person other none yes no good bad light`)
