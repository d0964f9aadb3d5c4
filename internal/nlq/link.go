package nlq

import (
	"slices"
	"strings"

	"interlock/internal/queryplan"
)

// A mention is what a span of tokens may stand for in the data.
type mention struct {
	from, to int // tokens [from, to)
	columns  []scored
	tables   []scored
	values   []scoredValue
}

type scored struct {
	id    int
	score float64
}

type scoredValue struct {
	valueRef
	score float64
}

// linker finds mentions in one question.
type linker struct {
	x    *Index
	toks []token
	sims map[[2]string]float64
}

const maxSpan = 6

// similar says how surely two base words mean the same, 0 to 1.
func similar(t *token, w string) float64 {
	switch {
	case t.lemma == w || t.lower == w:
		return 1
	case t.stem == stem(w) && len(t.stem) > 2:
		return 0.93
	case synonyms[t.lemma][w]:
		return 0.82
	case len(w) >= 3 && len(t.lemma) >= len(w)+2 && strings.HasPrefix(t.lemma, w) && !fillers[w] && len(t.lemma) > 5:
		return 0.8
	case len(t.lemma) >= 4 && len(w) >= len(t.lemma)+3 && strings.HasPrefix(w, t.lemma) && !fillers[t.lemma]:
		return 0.72
	case differByTypo(t.lemma, w) && !isOrdinary(t.lower):
		return 0.75
	}
	return 0
}

func (l *linker) similar(t *token, w string) float64 {
	k := [2]string{t.lower, w}
	s, ok := l.sims[k]
	if !ok {
		s = similar(t, w)
		l.sims[k] = s
	}
	return s
}

// contentTokens are the tokens of a span that must be found in a name.
func (l *linker) contentTokens(from, to int) []*token {
	var out []*token
	if grammar[l.toks[from].lower] || grammar[l.toks[to-1].lower] {
		return nil
	}
	for i := from; i < to; i++ {
		switch l.toks[i].lower {
		case "of", "the", "a", "an", "in", "their", "its", "for", "s":
			if i == from || i == to-1 {
				return nil
			}
			continue
		}
		if l.toks[i].quoted || l.toks[i].comma && i > from || l.toks[i].sentence != l.toks[from].sentence {
			return nil
		}
		out = append(out, &l.toks[i])
	}
	return out
}

// matchColumn scores a span against a column.
func (l *linker) matchColumn(content []*token, of bool, c *column) float64 {
	tab := &l.x.tables[c.table]
	if len(content) > 1 || len(c.words) > 1 {
		if joinTokens(content) == c.flat {
			return 1
		}
	}
	used := make([]float64, len(c.words))
	owned, own := 0, 0
	for k, t := range content {
		best, at := 0.0, -1
		for i, w := range c.words {
			if s := l.similar(t, w); used[i] == 0 && s > best {
				best, at = s, i
			}
		}
		if at >= 0 {
			if of && (owned > 0 || t.lemma == "number" && (c.words[at] == "no" || c.words[at] == "nr")) {
				return 0 // dogs of an age, the number of flights
			}
			used[at] = best
			own++
			continue
		}
		if k == len(content)-1 && k > 0 && own+owned == k && (t.lemma == "name" || t.lemma == "title") && (tab.display == c.id || own == k && c.kind == queryplan.Text && c.ref < 0) {
			owned++ // the name of a row is what names it; a text is a name
			continue
		}
		if !of && own > 0 {
			return 0 // official languages
		}
		ok := false
		for _, w := range tab.core {
			if l.similar(t, w) >= 0.9 {
				ok = true
			}
		}
		if !ok {
			return 0
		}
		owned++
	}
	if own == 0 {
		if owned > 1 && tab.display == c.id && content[len(content)-1].lemma == "name" && len(withoutWords(c.words, tab.core)) == 0 {
			return 0.95
		}
		return 0
	}
	var got, total float64
	core := 0
	for i, w := range c.words {
		inTable := slices.Contains(tab.core, w)
		weight := 0.8
		switch {
		case w == "of":
			weight = 0.05
		case i == c.head:
			weight = 1
		}
		if used[i] == 0 {
			switch {
			case inTable && len(c.words) > 1:
				weight = 0.12
			case w == "of":
			case units[w]:
				weight = 0.1
			case weakNames[w]:
				weight = 0.35
			}
		} else if !inTable {
			core++
		}
		total += weight
		got += weight * used[i]
	}
	// A reference is meant only where it is called by its kind: customer id. The bare
	// word means what it refers to.
	if last := len(c.words) - 1; c.ref >= 0 && last > 0 && keyWords[c.words[last]] && used[last] == 0 {
		return 0
	}
	// The table's own words in a column's name say nothing about the column.
	if core == 0 && len(withoutWords(c.words, tab.core)) > 0 {
		return 0
	}
	score := got / total
	if owned > 0 {
		score = min(1, score*1.02)
	}
	return score
}

// common are words that name a column of nearly every table and so no table.
var common = wordSet("name id code number type date title description")

var keyWords = wordSet("id code key no number num")

// units are words at the end of a name that only say in what it is measured.
var units = wordSet("million thousand billion percent pct usd eur gbp dollar euro km kg cm mm mile meter metre minute second hour sqft")

// matchTable scores a span against a table.
func (l *linker) matchTable(content []*token, of bool, t *table) float64 {
	if joinTokens(content) == t.flat {
		return 1
	}
	used := make([]float64, len(t.words))
	for _, tok := range content {
		best, at := 0.0, -1
		for i, w := range t.words {
			if s := l.similar(tok, w); used[i] == 0 && s > best {
				best, at = s, i
			}
		}
		if at < 0 {
			return 0
		}
		used[at] = best
	}
	if !slices.ContainsFunc(t.core, func(w string) bool { return used[slices.Index(t.words, w)] > 0 }) {
		return 0 // only words that say nothing: list, data
	}
	if of && l.similar(content[0], t.core[len(t.core)-1]) == 0 {
		return 0 // a type of template is a template type; templates of a type are templates
	}
	var got, total float64
	headed := true
	last := len(t.words) - 1
	for last > 0 && weakTables[t.words[last]] {
		last--
	}
	for i, w := range t.words {
		weight := 0.7
		if i == last {
			weight = 1
			headed = used[i] > 0
		}
		if weakTables[w] && used[i] == 0 {
			weight = 0.08
		}
		total += weight
		got += weight * used[i]
	}
	score := got / total
	if !headed {
		score *= 0.6
	}
	return score
}

// isAlias reports whether the words are another name of a table: what references to it
// are called by.
func (l *linker) isAlias(content []*token, alias []string) bool {
	if len(content) != len(alias) {
		return false
	}
	for i, t := range content {
		if l.similar(t, alias[i]) < 0.9 {
			return false
		}
	}
	return true
}

func joinTokens(content []*token) string {
	var b strings.Builder
	for i, t := range content {
		if i == len(content)-1 {
			b.WriteString(t.lemma)
		} else {
			b.WriteString(t.lower)
		}
	}
	return flatten(b.String())
}

const (
	minColumn = 0.42
	minTable  = 0.38
)

// mentions finds every span that may name something in the data.
func (l *linker) mentions() []mention {
	var out []mention
	for i := range l.toks {
		for n := 1; n <= maxSpan && i+n <= len(l.toks); n++ {
			if m, ok := l.mention(i, i+n); ok {
				out = append(out, m)
			}
		}
	}
	return append(out, l.valueMentions()...)
}

// isSign reports whether a token is a sign of comparison, which is a part of no name.
func isSign(t token) bool {
	return !t.quoted && t.lower != "" && strings.Trim(t.lower, "<>=") == ""
}

func (l *linker) mention(from, to int) (mention, bool) {
	content := l.contentTokens(from, to)
	if content == nil || slices.ContainsFunc(l.toks[from:to], isSign) {
		return mention{}, false
	}
	for _, t := range content {
		if t.number && len(content) == 1 || len(content) == 1 && grammar[t.lower] && !t.owner {
			return mention{}, false
		}
	}
	m := mention{from: from, to: to}
	of, initials := false, ""
	for _, t := range l.toks[from:to] {
		of = of || t.lower == "of" || t.lower == "for" || t.lower == "in"
		initials += t.lower[:1]
	}
	for i := range l.x.columns {
		s := l.matchColumn(content, of, &l.x.columns[i])
		if len(initials) >= 3 && initials == l.x.columns[i].flat {
			s = 0.95
		}
		if s >= minColumn {
			m.columns = append(m.columns, scored{i, s})
		}
	}
	for i := range l.x.tables {
		s := l.matchTable(content, of, &l.x.tables[i])
		if len(content) == 1 && common[content[0].lemma] && s < 1 {
			s = 0
		}
		for _, alias := range l.x.tables[i].aliases {
			if s < 0.8 && l.isAlias(content, alias) {
				s = 0.8
			}
		}
		if s >= minTable {
			m.tables = append(m.tables, scored{i, s})
		}
	}
	byScore := func(a, b scored) int {
		if a.score != b.score {
			if a.score > b.score {
				return -1
			}
			return 1
		}
		return a.id - b.id
	}
	slices.SortFunc(m.columns, byScore)
	slices.SortFunc(m.tables, byScore)
	return m, len(m.columns)+len(m.tables) > 0
}

// grammar are words that are never a name by themselves.
var grammar = wordSet(`a an the of to is are was were be been do does did have has had having there their it its they them these those this that which who
	whom whose what where when how for in on at by with from into and or as i we you our us me my he she his her please can could all any some
	each every both also only than then but not no more less most least other one ones many much if so such between before after since over
	under above below average mean different distinct unique find show give return tell get per across out up along corresponding ever per`)
