package figure

import (
	"regexp"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"
)

// The row that an answer gives a value to, against the row that holds it: "South sold 412"
// where 412 is what the North sold. Only where it is plain which row is spoken of: the clause
// of the figure names one of a column, and nothing in the sentence compares.

// clauseParts part what is said about one row from what is said about another. A bracket
// and a colon do not: Ferritin (9,608), TSH: 5,127.
var clauseParts = regexp.MustCompile(`(?i)[;!?\n]|,\s| (?:and|but|while|then|und|aber|dann|sondern) | [–—-] `)

// comparing are words of a sentence that may set a value of one row against another row.
var comparing = wordSet("than als compared comparison versus vs unlike against besides beside except excluding apart ahead behind after before previous preceding prior earlier later next following followed other others another rest remaining respectively jeweils beziehungsweise bzw verglichen vergleich gegenüber gegen außer neben vor nach davor danach vorher zuvor folgt gefolgt anderen andere übrigen vorjahr vormonat follows trails leads over under above below exceeds exceeded über unter hinter beyond since seit until bis between zwischen instead not nicht kein keine neither nor weder both beide sowohl")

// Bounds of what is looked at: places of one name in a sentence, rows of a table, names in
// a sentence, and figures of a sentence. One with more is no plain sentence.
const (
	maxOccurrences = 4
	maxNaming      = 10_000
	maxNamings     = 200
	maxSpoken      = 40
)

// A naming is a place of a sentence that names rows of a table.
type naming struct {
	label      label // its key
	start, end int   // in the answer
}

// markNames marks figures that the data holds in the row of another name than the one that
// their clause gives.
func (t *tracer) markNames(found []mention, figures []Figure) {
	for first := 0; first < len(found); {
		next := first + 1 // behind the last figure of this sentence
		for next < len(found) && found[next].written == found[first].written {
			next++
		}
		if m := found[first]; next-first <= maxSpoken && !compares(m.sentence) {
			in := spokenSentence{t: t, mentions: found[first:next], spoken: make([][]naming, len(t.grids)), read: make([]bool, len(t.grids))}
			in.from, in.to = t.sentenceAround(m)
			for i := first; i < next; i++ {
				in.mark(i-first, &figures[i])
			}
		}
		first = next
	}
}

// compares says that a sentence sets something against something else, or denies it.
func compares(sentence string) bool {
	return strings.Contains(sentence, "n't") || slices.ContainsFunc(words.FindAllString(sentence, -1), func(w string) bool { return comparing[w] })
}

// A spokenSentence is a sentence of the answer with its figures and the names in it.
type spokenSentence struct {
	t        *tracer
	mentions []mention
	from, to int        // in the answer
	spoken   [][]naming // by table, once they are read
	read     []bool
}

// mark marks a figure if the name that its clause gives is denied.
func (s *spokenSentence) mark(i int, f *Figure) {
	m := s.mentions[i]
	weak := f.Support == Weak && f.Formula == "" && m.digits() >= hiddenDigits
	if f.Support != FromCell && !weak || len(f.Cells) == 0 || amountWords[m.before] || s.isEnd(m) {
		return
	}
	name, at, denied := s.deniedName(i)
	if denied && !s.t.searchFormulas(m).certain { // otherwise it is computed of what the sentence names
		f.Support, f.Denies, f.Cells = Contradicted, name, at
	}
}

// isEnd says that a figure is one end of a change from one value to another.
func (s *spokenSentence) isEnd(m mention) bool {
	behind := func(links map[string]bool) bool {
		return slices.ContainsFunc(s.mentions, func(o mention) bool { return links[o.before] })
	}
	return (fromWords[m.before] || toWords[m.before]) && behind(fromWords) && behind(toWords)
}

// deniedName is the name in the clause of a figure that no row which holds the figure has.
func (s *spokenSentence) deniedName(i int) (name string, at []Cell, denied bool) {
	m := s.mentions[i]
	holds := func(c cell) bool {
		if m.date != nil {
			return c.date != nil && m.date.covers(*c.date)
		}
		return c.number && !c.stated && m.holds(c.value, c.column) != noFit
	}
	for gi := range s.t.grids {
		g := &s.t.grids[gi]
		var given []naming
		looked := false
		for row := range g.cells {
			for _, c := range g.cells[row] {
				if !holds(c) {
					continue
				}
				if c.column.key || c.column.time || m.date == nil && !m.isPlainly(c) || len(at) == maxCells {
					return "", nil, false
				}
				if !looked {
					given, looked = s.namesFor(gi, i), true
				}
				n := slices.IndexFunc(given, func(n naming) bool { return !g.hasName(row, n.label) && !s.saysOther(g, i, n, c.Column) })
				if n < 0 {
					return "", nil, false
				}
				name = s.t.answer[given[n].start:given[n].end]
				at = append(at, c.Cell)
			}
		}
	}
	return name, at, len(at) > 0
}

// isPlainly says that a cell holds the figure with so many digits, or beside the name of its
// column, that it does not do so by chance.
func (m mention) isPlainly(c cell) bool {
	return m.digits() >= statedDigits || m.digits() > 1 && containsAny(m.sentence, c.column.words) || m.share && c.column.share
}

// hasName says that a row has a name in one of its columns.
func (g *grid) hasName(row int, l label) bool {
	return slices.ContainsFunc(g.labels[row], func(own label) bool {
		return own.kind == l.kind && own.text == l.text && own.number == l.number
	})
}

// saysOther says that the clause gives the row of a name its own value of a column beside
// the figure, or that this row has none: then the figure may be that of a row without a name.
func (s *spokenSentence) saysOther(g *grid, i int, n naming, column string) bool {
	from, to := s.clauseAround(i, nil)
	if n.start < from || n.end > to { // the name of an earlier clause is meant
		from, to = s.from, s.to
	}
	has, rows := false, 0
	for row := range g.cells {
		if !g.hasName(row, n.label) {
			continue
		}
		if rows++; rows > maxSpoken {
			return true
		}
		for _, c := range g.cells[row] {
			if c.Column != column || !c.number && c.date == nil {
				continue
			}
			has = true
			for j, other := range s.mentions {
				if j != i && other.start >= from && other.end <= to && other.date == nil && other.holds(c.value, c.column) != noFit {
					return true
				}
			}
		}
	}
	return !has
}

// namesFor are the names that the clause of a figure gives the rows of a table: those of each
// column in which it names one row, or else the sentence does before the figure.
func (s *spokenSentence) namesFor(grid, i int) []naming {
	m := s.mentions[i]
	if !s.read[grid] {
		s.spoken[grid], s.read[grid] = s.namesOf(&s.t.grids[grid]), true
	}
	from, to := s.clauseAround(i, s.spoken[grid])
	var out []naming
	for col := range s.t.grids[grid].columns {
		var here, all []naming
		behind := false
		for _, n := range s.spoken[grid] {
			if n.label.column != col || n.start < m.end && m.start < n.end { // the figure names no row itself
				continue
			}
			if n.start >= from && n.end <= to {
				here = appendName(here, n)
			}
			all, behind = appendName(all, n), behind || n.end > m.start
		}
		switch {
		case len(here) == 1:
			out = append(out, here[0])
		case len(here) == 0 && len(all) == 1 && !behind:
			out = append(out, all[0])
		}
	}
	return out
}

func appendName(list []naming, n naming) []naming {
	if slices.ContainsFunc(list, func(o naming) bool { return o.label == n.label }) {
		return list
	}
	return append(list, n)
}

// sentenceAround are the bounds of a figure's sentence in the answer.
func (t *tracer) sentenceAround(m mention) (from, to int) {
	from = max(0, m.start-len(m.written))
	if i := strings.Index(t.answer[from:], m.written); i >= 0 {
		from += i
	}
	return from, min(len(t.answer), from+len(m.written))
}

// clauseAround are the bounds of a figure's clause. What parts clauses does not so inside a
// name.
func (s *spokenSentence) clauseAround(i int, spoken []naming) (from, to int) {
	m := s.mentions[i]
	from = s.from
	for _, loc := range clauseParts.FindAllStringIndex(s.t.answer[s.from:s.to], -1) {
		at, end := s.from+loc[0], s.from+loc[1]
		switch {
		case slices.ContainsFunc(spoken, func(n naming) bool { return n.start < end && at < n.end }):
		case end <= m.start:
			from = end
		case at >= m.end:
			return from, at
		}
	}
	return from, s.to
}

// namesOf finds the names of a table's rows in the sentence: texts and codes, and the periods
// and keys that number rows. Of one inside another only the longer counts.
func (s *spokenSentence) namesOf(g *grid) []naming {
	text := s.t.answer[s.from:s.to]
	lower := plainName(strings.ToLower(text))
	if len(lower) != len(text) || len(g.cells) > maxNaming {
		return nil
	}
	var out []naming
	seen, numbers := map[label]bool{}, map[numbered]label{}
	for row := range g.cells {
		for _, l := range g.labels[row] {
			key := l.key() // of a date it has the text
			if seen[key] {
				continue
			}
			seen[key] = true
			switch l.kind {
			case textLabel:
				out = append(out, textNamings(g.cells[row][l.column].written, key, text, lower, s.from)...)
			case numberLabel:
				numbers[numbered{l.column, l.number}] = key
			case dateLabel:
				if c := g.columns[l.column]; c.time || l.column == 0 {
					out = append(out, s.dateNamings(l, g.isYearly(l.column))...)
				}
			}
		}
	}
	for _, m := range s.mentions {
		for col, c := range g.columns {
			if !c.key && !c.time || m.date != nil || len(m.readings) == 0 {
				continue
			}
			if l, ok := numbers[numbered{col, m.readings[0].value}]; ok && m.isNumberOf(c) {
				out = append(out, naming{l, m.start, m.end})
			}
		}
	}
	if len(out) > maxNamings {
		return nil
	}
	return slices.DeleteFunc(slices.Clone(out), func(n naming) bool {
		return slices.ContainsFunc(out, func(o naming) bool {
			return o.start <= n.start && n.end <= o.end && o.end-o.start > n.end-n.start
		})
	})
}

// A numbered is a number of a column that names rows.
type numbered struct {
	column int
	number float64
}

// textNamings are the places where a text stands in a sentence. A name with a capital is
// another word without it.
func textNamings(written string, l label, text, lower string, base int) []naming {
	within := lower
	if l.code {
		within = text
	}
	first, _ := utf8.DecodeRuneInString(written)
	var out []naming
	for from := 0; len(out) < maxOccurrences; {
		i := strings.Index(within[from:], l.text)
		if i < 0 || l.text == "" {
			return out
		}
		i += from
		from = i + 1
		stands, _ := utf8.DecodeRuneInString(text[i:])
		if letterAt(within, i-1) || letterAt(within, i+len(l.text)) || unicode.IsUpper(first) && !unicode.IsUpper(stands) {
			continue
		}
		out = append(out, naming{l, base + i, base + i + len(l.text)})
	}
	return out
}

// isNumberOf says that a number may name a row: vehicle 4512, or a year.
func (m mention) isNumberOf(c column) bool {
	return !m.share && (m.digits() >= hiddenDigits && len(m.text) == m.digits() || m.before != "" && containsAny(m.before, c.words))
}

// isYearly says that the dates of a column stand for years.
func (g *grid) isYearly(col int) bool {
	return !slices.ContainsFunc(g.cells, func(row []cell) bool { return row[col].date != nil && !row[col].date.isYear() })
}

// dateNamings are the places of the sentence that name the period of a row: by its date, or
// by a month where the sentence names no year.
func (s *spokenSentence) dateNamings(l label, yearly bool) []naming {
	var out []naming
	dated := false
	for _, m := range s.mentions {
		y, isYear := m.year()
		dated = dated || m.date != nil || isYear
		if m.date != nil && m.date.month > 0 && m.date.covers(*l.date) || isYear && yearly && y == l.date.year {
			out = append(out, naming{l.key(), m.start, m.end})
		}
	}
	if dated {
		return out
	}
	text := s.t.answer[s.from:s.to]
	for _, loc := range monthWords.FindAllStringIndex(strings.ToLower(text), maxOccurrences) {
		if word := strings.ToLower(text[loc[0]:loc[1]]); len(word) > 3 && months[word] == l.date.month {
			out = append(out, naming{l.key(), s.from + loc[0], s.from + loc[1]})
		}
	}
	return out
}
