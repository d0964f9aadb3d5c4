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

// maxOccurrences bounds how often one name is looked for in a sentence, maxNaming the rows
// whose names are.
const (
	maxOccurrences = 4
	maxNaming      = 10_000
)

// A naming is a place of a sentence that names rows of a table.
type naming struct {
	label      label // its key
	start, end int   // in the answer
}

// markNames marks figures that the data holds in the row of another name than the one that
// their clause gives.
func (t *tracer) markNames(found []mention, figures []Figure) {
	for i, m := range found {
		if figures[i].Support != FromCell || len(figures[i].Cells) == 0 || amountWords[m.before] || isEnd(found, i) {
			continue
		}
		if slices.ContainsFunc(words.FindAllString(m.sentence, -1), func(w string) bool { return comparing[w] }) || strings.Contains(m.sentence, "n't") {
			continue
		}
		if name, at, ok := t.deniedName(found, i); ok {
			if t.searchFormulas(m).certain {
				continue // it is computed of what the sentence names
			}
			figures[i].Support, figures[i].Denies, figures[i].Cells = Contradicted, name, at
		}
	}
}

// isEnd says that a figure is one end of a change from one value to another.
func isEnd(found []mention, i int) bool {
	inSentence := func(links map[string]bool) bool {
		return slices.ContainsFunc(found, func(o mention) bool { return o.written == found[i].written && links[o.before] })
	}
	return (fromWords[found[i].before] || toWords[found[i].before]) && inSentence(fromWords) && inSentence(toWords)
}

// deniedName is the name in the clause of a figure that no row which holds the figure has.
func (t *tracer) deniedName(found []mention, i int) (name string, at []Cell, denied bool) {
	m := found[i]
	for gi := range t.grids {
		g := &t.grids[gi]
		holds := func(c cell) bool {
			if m.date != nil {
				return c.date != nil && m.date.covers(*c.date)
			}
			return c.number && !c.stated && m.holds(c.value, c.column) != noFit
		}
		var spoken []naming
		looked := false
		for row := range g.cells {
			for _, c := range g.cells[row] {
				if !holds(c) {
					continue
				}
				if c.column.key || c.column.time || m.date == nil && !m.isPlainly(c) {
					return "", nil, false
				}
				if !looked {
					spoken, looked = t.namesFor(g, found, i), true
				}
				n := slices.IndexFunc(spoken, func(n naming) bool { return !g.hasName(row, n.label) && !t.saysOther(g, found, i, n, c.Column) })
				if n < 0 {
					return "", nil, false
				}
				name = t.answer[spoken[n].start:spoken[n].end]
				at = append(at[:min(len(at), maxCells-1)], c.Cell)
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

// saysOther says that the sentence gives the row of a name its own value of a column beside
// the figure, or that this row has none: then the figure may be that of a row without a name.
func (t *tracer) saysOther(g *grid, found []mention, i int, n naming, column string) bool {
	from, to := t.clauseAround(found[i], nil)
	has := false
	for row := range g.cells {
		if !g.hasName(row, n.label) {
			continue
		}
		for _, c := range g.cells[row] {
			if c.Column != column || !c.number && c.date == nil {
				continue
			}
			has = true
			for j, other := range found {
				inherits := n.start < from || n.start >= to
				if j != i && other.written == found[i].written && (inherits || other.start >= from && other.end <= to) && other.date == nil && other.holds(c.value, c.column) != noFit {
					return true
				}
			}
		}
	}
	return !has
}

// namesFor are the names that the clause of a figure gives the rows of a table: those of each
// column in which it names one row, or else the sentence does before the figure.
func (t *tracer) namesFor(g *grid, found []mention, i int) []naming {
	m := found[i]
	all := t.namesAround(g, found, i)
	from, to := t.clauseAround(m, all)
	var out []naming
	for col := range g.columns {
		var here, before []naming
		sentences := 0
		for _, n := range all {
			if n.label.column != col {
				continue
			}
			if n.start >= from && n.end <= to {
				here = appendName(here, n)
			}
			if before = appendName(before, n); n.end > m.start {
				sentences++ // a name behind the figure, in another clause
			}
		}
		switch {
		case len(here) == 1:
			out = append(out, here[0])
		case len(here) == 0 && len(before) == 1 && sentences == 0:
			out = append(out, before[0])
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
func (t *tracer) clauseAround(m mention, spoken []naming) (from, to int) {
	from, to = t.sentenceAround(m)
	start := from
	for _, loc := range clauseParts.FindAllStringIndex(t.answer[from:to], -1) {
		at, end := start+loc[0], start+loc[1]
		if slices.ContainsFunc(spoken, func(n naming) bool { return n.start < end && at < n.end }) {
			continue
		}
		if end <= m.start {
			from = end
		} else if at >= m.end {
			return from, at
		}
	}
	return from, to
}

// namesAround finds the names of a table's rows in the sentence of a figure: texts and codes,
// and the periods and keys that number rows. Of one inside another only the longer counts.
func (t *tracer) namesAround(g *grid, found []mention, i int) []naming {
	m := found[i]
	if len(g.cells) > maxNaming {
		return nil
	}
	from, to := t.sentenceAround(m)
	text := t.answer[from:to]
	lower := plainName(strings.ToLower(text))
	if len(lower) != len(text) {
		return nil
	}
	var out []naming
	seen := map[label]bool{}
	for row := range g.cells {
		for _, l := range g.labels[row] {
			key := l.key()
			if seen[key] {
				continue
			}
			seen[key] = true
			switch l.kind {
			case textLabel:
				out = append(out, textNamings(g.cells[row][l.column].written, key, text, lower, from)...)
			case numberLabel:
				for j, o := range found {
					if j != i && o.written == m.written && o.start >= from && o.end <= to && o.isNumberOf(l, g.columns[l.column]) {
						out = append(out, naming{key, o.start, o.end})
					}
				}
			case dateLabel:
				if c := g.columns[l.column]; c.time || l.column == 0 {
					out = append(out, dateNamings(l, g.isYearly(l.column), found, i, text, from)...)
				}
			}
		}
	}
	return slices.DeleteFunc(out, func(n naming) bool {
		return slices.ContainsFunc(out, func(o naming) bool {
			return o.start <= n.start && n.end <= o.end && o.end-o.start > n.end-n.start
		})
	})
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

// isNumberOf says that a number names a row: vehicle 4512, or a year.
func (m mention) isNumberOf(l label, c column) bool {
	if m.date != nil || len(m.readings) == 0 || m.share || m.readings[0].value != l.number {
		return false
	}
	return m.digits() >= hiddenDigits && len(m.text) == m.digits() || m.before != "" && containsAny(m.before, c.words)
}

// isYearly says that the dates of a column stand for years.
func (g *grid) isYearly(col int) bool {
	return !slices.ContainsFunc(g.cells, func(row []cell) bool { return row[col].date != nil && !row[col].date.isYear() })
}

// dateNamings are the places of a sentence that name the period of a row: by its date, or by
// a month where the sentence names no year.
func dateNamings(l label, yearly bool, found []mention, i int, text string, base int) []naming {
	var out []naming
	dated := false
	for j, o := range found {
		if o.written != found[i].written || o.start < base || o.end > base+len(text) {
			continue
		}
		y, isYear := o.year()
		dated = dated || o.date != nil || isYear
		if j == i {
			continue
		}
		if o.date != nil && o.date.month > 0 && o.date.covers(*l.date) || isYear && yearly && y == l.date.year {
			out = append(out, naming{l.key(), o.start, o.end})
		}
	}
	if dated {
		return out
	}
	for _, loc := range monthWords.FindAllStringIndex(strings.ToLower(text), maxOccurrences) {
		if word := strings.ToLower(text[loc[0]:loc[1]]); len(word) > 3 && months[word] == l.date.month {
			out = append(out, naming{l.key(), base + loc[0], base + loc[1]})
		}
	}
	return out
}
