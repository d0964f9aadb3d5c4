package nlq

import (
	"fmt"
	"slices"
	"strings"

	"interlock/internal/queryplan"
)

// readValues reads values of the data: in France, named "Plaza", French or German.
func (r *reader) readValues() {
	for i := range r.chunks {
		c := &r.chunks[i]
		if c.used || c.role != rMention || !c.isValue {
			continue
		}
		r.readValue(i)
	}
	r.joinValues()
}

// columnOfValue finds the mention that says which column a value belongs to: the
// one just before it (city of X, name is X) or just after it (X district).
func (r *reader) columnOfValue(i int) (before, after int) {
	before, after = -1, -1
	for k := i - 1; k >= 0 && k >= i-6; k-- {
		c := &r.chunks[k]
		if r.isNamed(k) {
			before = k
			break
		}
		if c.filler && !wordSet("and in from for at on to by")[r.toks[c.from].lower] || c.role == rBe || c.role == rNot || c.role == rCompare && c.phrase.op == queryplan.Eq || c.role == rOr || c.role == rMention && c.isValue || c.role == rBoth {
			continue
		}
		if c.role == rWord && wordSet("called named titled equal either equals")[r.toks[c.from].lower] {
			continue
		}
		break
	}
	if k := i + 1; k < len(r.chunks) && r.isNamed(k) && !r.toks[r.chunks[k].from].comma {
		after = k
	}
	return before, after
}

// A valueOption is a column that a value may belong to.
type valueOption struct {
	col   int
	value string
	score float64
	by    int // the mention that names the column
}

func (r *reader) readValue(i int) {
	c := &r.chunks[i]
	before, after := r.columnOfValue(i)
	text := r.chunkText(c)
	var options []valueOption
	for _, v := range c.mention.values {
		col := &r.x.columns[v.column]
		o := valueOption{v.column, v.value, v.score + 0.3*min(1, r.weight[col.table]), -1}
		for _, k := range []int{before, after} {
			if k < 0 {
				continue
			}
			for _, m := range r.chunks[k].mention.columns {
				if m.id == v.column && m.score > 0.45 {
					o.score += 0.9 * m.score
					o.by = k
				}
			}
			for _, m := range r.chunks[k].mention.tables {
				if m.id == col.table && m.score > 0.5 {
					o.score += 0.4 * m.score
					if col.id == r.x.tables[col.table].display {
						o.score += 0.15
					}
				}
			}
		}
		o.score += r.scoreNearbyWords(i, col)
		if n := len(r.conds); n > 0 && r.conds[n-1].col == col.id && r.chunks[r.conds[n-1].at].isValue {
			o.score += 0.12 // from X but not from Y: of one kind
		}
		if t := &r.x.tables[col.table]; t.display == col.id && r.isAlsoIn(c.mention.values, col) {
			o.score += 0.08 // a name before another name of the same row
		}
		if strings.EqualFold(v.value, text) {
			o.score += 0.02
		}
		if v.value == text {
			o.score += 0.02
		}
		if col.ref >= 0 {
			o.score -= 0.05
		}
		options = append(options, o)
	}
	slices.SortStableFunc(options, func(a, b valueOption) int {
		switch {
		case a.score > b.score:
			return -1
		case a.score < b.score:
			return 1
		}
		return a.col - b.col
	})
	if len(options) == 0 {
		r.readQuotedValue(i, before, text)
		return
	}
	best := options[0]
	key := fmt.Sprintf("v%d", i)
	if id, ok := r.chosenOption(key); ok {
		if k := slices.IndexFunc(options, func(o valueOption) bool { return o.col == id }); k >= 0 {
			best = options[k]
		}
	}
	close := []int{best.col}
	for _, o := range options {
		if o.score > best.score-0.05 && !slices.ContainsFunc(close, func(c int) bool { return c == o.col || r.linkedColumns(c, o.col) || r.sameReference(c, o.col) }) {
			close = append(close, o.col)
		}
	}
	r.offerChoice(choice{key: key, about: text, options: r.columnOptions(close), picked: best.col})
	for _, o := range options[1:] {
		if o.col != best.col && o.score > best.score-0.12 && !r.linkedColumns(o.col, best.col) {
			r.doubt("value in several columns", 1)
			break
		}
	}
	r.conds = append(r.conds, cond{col: best.col, table: -1, op: queryplan.Eq, values: []any{best.value}, at: i, score: min(1, c.mention.values[0].score)})
	r.markUsed(i)
	if best.by >= 0 && (r.chunks[best.by].cond || best.by == after || r.areNear(best.by, i, 1)) && !r.isAsked(best.by) {
		r.markUsed(best.by)
	}
}

// isAlsoIn reports whether the value occurs in another column of the table that is called
// alike: name and local name.
func (r *reader) isAlsoIn(values []scoredValue, c *column) bool {
	return slices.ContainsFunc(values, func(v scoredValue) bool {
		o := &r.x.columns[v.column]
		return o.id != c.id && o.table == c.table && len(o.words) > 0 && len(c.words) > 0 && o.words[o.head] == c.words[c.head]
	})
}

// isAsked reports whether a mention is what the question asks for: which city ...
func (r *reader) isAsked(k int) bool {
	p := r.chunks[k].from - 1
	return p >= 0 && wh[r.toks[p].lower]
}

// linkedColumns reports whether one column refers to the other: then either will do.
func (r *reader) linkedColumns(a, b int) bool {
	ca, cb := &r.x.columns[a], &r.x.columns[b]
	return ca.ref == cb.table && cb.key || cb.ref == ca.table && ca.key
}

// scoreNearbyWords adds to the score of a column for words near a value that are
// forms of its name: departing from X speaks of a source, landing at X of a
// destination.
func (r *reader) scoreNearbyWords(i int, c *column) float64 {
	best := 0.0
	from, to := r.chunks[i].from, r.chunks[i].to
	for k := max(0, from-5); k < min(len(r.toks), to+3); k++ {
		if k >= from && k < to {
			continue
		}
		t := &r.toks[k]
		for _, w := range c.words {
			if slices.Contains(r.x.tables[c.table].core, w) {
				continue
			}
			switch {
			case t.lower == "from" && k < from && directions["from"][w]:
				best = max(best, 0.25)
			case (t.lower == "to" || t.lower == "into" || t.lower == "at" && directions["to"][w]) && k < from && directions["to"][w]:
				best = max(best, 0.25)
			case !grammar[t.lower] && similar(t, w) > 0.7:
				best = max(best, 0.35)
			case !grammar[t.lower] && stemSynonym(t, w):
				best = max(best, 0.35)
			}
		}
	}
	return best
}

var directions = map[string]map[string]bool{
	"from": wordSet("source src origin departure from start sender seller"),
	"to":   wordSet("destination dest arrival to end receiver target buyer"),
}

// stemSynonym compares a verb form with the synonyms of a name.
func stemSynonym(t *token, w string) bool {
	for s := range synonyms[w] {
		if stem(s) == t.stem {
			return true
		}
	}
	for full := range synonyms[w] {
		for s := range synonyms[full] {
			if stem(s) == t.stem {
				return true
			}
		}
	}
	return false
}

// readQuotedValue takes a quoted text that is no known value for the column that stands
// beside it.
func (r *reader) readQuotedValue(i, before int, text string) {
	if before < 0 {
		return
	}
	col, s := r.asColumn(before, r.nearTable(before), func(c *column) bool { return c.kind == queryplan.Text })
	if col < 0 {
		if t, ts := r.asTable(before); t >= 0 && ts > 0.8 {
			col, s = r.x.tables[t].display, 0.6
		}
	}
	if col < 0 {
		return
	}
	if r.x.known[col] {
		r.doubt("value not in the data", 1)
	} else {
		r.doubt("value not seen", 0.5)
	}
	r.conds = append(r.conds, cond{col: col, table: -1, op: queryplan.Eq, values: []any{text}, at: i, score: s})
	r.markUsed(i)
	if !r.isAsked(before) {
		r.markUsed(before)
	}
}

// joinValues joins `French or German` and `both English and Dutch` to one condition.
func (r *reader) joinValues() {
	slices.SortStableFunc(r.conds, func(a, b cond) int { return a.at - b.at })
	var out []cond
	for _, c := range r.conds {
		if n := len(out); n > 0 && c.op == queryplan.Eq && c.agg == "" && !c.exists {
			p := &out[n-1]
			if p.col == c.col && (p.op == queryplan.Eq || p.op == queryplan.In) && p.agg == "" && r.chunks[p.at].isValue == r.chunks[c.at].isValue {
				or, and, both, not := r.wordsBetween(p.at, c.at)
				switch {
				case not:
				case or || and && !both && !r.mayHaveSeveral(c.col):
					p.op, p.values, p.at = queryplan.In, append(p.values, c.values...), c.at
					continue
				case and:
					for k := range r.chunks[:c.at] {
						if r.hasRole(k, rBoth) {
							r.markUsed(k)
						}
					}
					p.both, p.values = true, append(p.values, c.values...)
					continue
				}
			}
		}
		out = append(out, c)
	}
	r.conds = out
}

// wordsBetween looks at the words between two chunks.
func (r *reader) wordsBetween(a, b int) (or, and, both, not bool) {
	for k := a; k <= b; k++ {
		switch r.chunks[k].role {
		case rOr:
			or = true
		case rAnd:
			and = true
		case rNot:
			not = k > a
		}
	}
	p := r.prevChunk(a)
	for n := 0; p >= 0 && n < 4; n++ {
		if r.hasRole(p, rBoth) {
			both = true
		}
		p = r.prevChunk(p)
	}
	return or, and, both, not
}

// mayHaveSeveral reports whether one row of what is asked for may have several of the column:
// it belongs to a table that refers to the subject.
func (r *reader) mayHaveSeveral(col int) bool {
	t := r.x.columns[col].table
	return r.subject >= 0 && t != r.subject && r.mayMultiply(r.subject, t)
}

// readPatterns reads `whose name contains 'West'`.
func (r *reader) readPatterns() {
	for i := range r.chunks {
		c := &r.chunks[i]
		if c.used || c.role != rLike {
			continue
		}
		j := i + 1
		for j < len(r.chunks) && r.chunks[j].filler && !r.toks[r.chunks[j].from].quoted {
			j++
		}
		if j >= len(r.chunks) || !r.areNear(i, j, 3) {
			continue
		}
		t := &r.toks[r.chunks[j].from]
		words := len(c.phrase.words)
		if !t.quoted && (words < 3 || r.isNamed(j) && len([]rune(t.text)) > 1 && words < 2) {
			continue
		}
		col, s := -1, 0.0
		for k := i - 1; k >= 0 && k >= i-5; k-- {
			if r.isNamed(k) {
				text := func(c *column) bool { return c.kind == queryplan.Text }
				if p := r.prevChunk(k); r.hasRole(p, rRel) && r.toks[r.chunks[k].from].lemma == "name" && r.isNamed(r.prevChunk(p)) && !r.isPropertyOf(&r.chunks[r.prevChunk(p)]) {
					if whose, ws := r.asColumn(r.prevChunk(p), r.currentTable(p), text); whose >= 0 && ws > 0.8 {
						col, s = whose, ws // a state whose name
						r.markUsed(k, r.prevChunk(p))
						break
					}
				}
				col, s = r.asColumn(k, r.nearTable(k), text)
				if col >= 0 {
					r.markUsed(k)
				}
				break
			}
		}
		if k := r.nextChunk(j); col < 0 && r.isNamed(k) {
			col, s = r.asColumn(k, r.currentTable(k), func(c *column) bool { return c.kind == queryplan.Text })
			r.markUsed(k)
		}
		if col < 0 {
			continue
		}
		r.conds = append(r.conds, cond{col: col, table: -1, op: c.phrase.op, values: []any{t.text}, at: i, score: s})
		r.markUsed(i, j)
	}
}

// readMissingValues reads `whose end date is missing`.
func (r *reader) readMissingValues() {
	for i := range r.chunks {
		c := &r.chunks[i]
		if c.used || c.role != rEmpty {
			continue
		}
		k := r.subjectOf(i)
		if k < 0 {
			k = r.nextChunk(i)
		}
		if col, s := r.asColumn(k, r.nearTable(max(k, 0)), nil); col >= 0 && s > 0.6 {
			op := c.phrase.op
			if op == queryplan.IsNull && r.takeNotBefore(i) {
				op = queryplan.IsNotNull
			}
			r.conds = append(r.conds, cond{col: col, table: -1, op: op, at: i, score: s})
			r.markUsed(i, k)
		}
	}
}
