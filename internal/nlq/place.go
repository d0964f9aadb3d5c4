package nlq

import (
	"fmt"
	"slices"
)

// isMeasure reports whether a mention is a column of numbers.
func (r *reader) isMeasure(i int) bool {
	col, s := r.asColumn(i, r.nearTable(i), (*column).isNumeric)
	return col >= 0 && s > 0.5
}

// hasBetween reports whether `has` stands between: grades that have more than 3 pupils.
func (r *reader) hasBetween(a, b int) bool {
	for _, t := range r.toks[r.chunks[a].to:r.chunks[b].from] {
		if t.lemma == "have" || t.lower == "with" || t.lower == "having" {
			return true
		}
	}
	return false
}

// subjectOf is the mention before a comparison that it is about: only `is`, fillers
// and unknown words stand between.
func (r *reader) subjectOf(i int) int {
	for k := i - 1; k >= 0 && k >= i-5; k-- {
		switch {
		case r.chunks[k].role == rMention && !r.chunks[k].isValue:
			if r.chunks[k].used {
				return -1
			}
			return k
		case r.chunks[k].filler, r.chunks[k].role == rBe, r.chunks[k].role == rNot, r.chunks[k].role == rWord:
			if t := &r.toks[r.chunks[k].from]; t.lower == "and" || r.toks[r.chunks[k+1].from].comma {
				return -1
			}
		case r.chunks[k].role == rRel && wordSet("that which")[r.toks[r.chunks[k].from].lower]:
		default:
			return -1
		}
	}
	return -1
}

// nearTable is the table that a mention belongs to by its neighbours: the one that
// it names, the one of `of the T` behind it, or the last one before it.
func (r *reader) nearTable(i int) int {
	if p := i - 1; p >= 0 && r.chunks[p].to == r.chunks[i].from && !r.toks[r.chunks[i].from].comma {
		if t, s := r.asTable(p); t >= 0 && s >= 0.75 {
			return t // the singer's name
		}
	}
	for k := i + 1; k < len(r.chunks) && k <= i+12; k++ {
		c := &r.chunks[k]
		if t, s := r.asTable(k); t >= 0 && s >= 0.75 {
			if r.areListedBetween(i, k) {
				return t
			}
			break
		}
		if r.isNamed(k) && len(c.mention.columns) > 0 && r.isPropertyOf(c) {
			if t := r.x.columns[c.mention.columns[0].id].table; r.namesTableToo(c, t) && r.inSameList(i, k) {
				return t
			}
		}
		if c.role == rRel || c.role == rOrder || r.toks[c.from].sentence != r.toks[r.chunks[i].from].sentence {
			break
		}
	}
	if s := r.toks[r.chunks[i].from].sentence; s > 0 && r.subject >= 0 && r.asksColumns(s) {
		if k := slices.IndexFunc(r.groups, func(g group) bool { return g.each && r.x.columns[g.col].key }); k >= 0 {
			return r.x.columns[r.groups[k].col].table
		}
		return r.subject // which owners have a dog? List name and id: of the owners
	}
	return r.currentTable(i)
}

// asksColumns reports whether a sentence only lists what to show: list the name and the id.
func (r *reader) asksColumns(sentence int) bool {
	first := true
	for i := range r.chunks {
		t := &r.toks[r.chunks[i].from]
		if t.sentence != sentence {
			continue
		}
		if first && !leads[t.lower] || r.hasRole(i, rMention) && r.chunks[i].isValue || r.hasRole(i, rRel) || r.hasRole(i, rCompare) {
			return false
		}
		first = false
		if o, s := r.asTable(i); o >= 0 && o != r.subject && s >= 0.75 && (len(r.chunks[i].mention.columns) == 0 || r.chunks[i].mention.columns[0].score < s) {
			return false
		}
	}
	return !first
}

// isPropertyOf reports whether a mention is of the form `code of the template`.
func (r *reader) isPropertyOf(c *chunk) bool {
	for _, t := range r.toks[c.from:c.to] {
		if t.lower == "of" || t.lower == "for" {
			return true
		}
	}
	return false
}

// inSameList reports whether two mentions stand in one list.
func (r *reader) inSameList(i, k int) bool {
	for m := i + 1; m < k; m++ {
		if c := &r.chunks[m]; !(c.role == rMention && !c.isValue || c.role == rAnd || c.filler) {
			return false
		}
	}
	return true
}

// areListedBetween reports whether the words between are only a list of names and `of`.
func (r *reader) areListedBetween(i, k int) bool {
	of := false
	for m := i + 1; m < k; m++ {
		switch c := &r.chunks[m]; {
		case c.role == rMention && !c.isValue, c.role == rAnd, c.role == rDistinct, c.role == rEach:
			of = of || c.role == rEach
		case c.filler:
			of = of || wordSet("of for in from")[r.toks[c.from].lower]
		default:
			return false
		}
	}
	return of
}

// currentTable is the table spoken of at a place: the last one named before it.
func (r *reader) currentTable(i int) int {
	for k := i - 1; k >= 0; k-- {
		if t, s := r.asTable(k); t >= 0 && s >= 0.7 {
			if _, cs := r.asColumn(k, -1, nil); cs <= s+0.05 {
				return t
			}
		}
	}
	return r.subject
}

// columnOfAdjective finds the column of a table (or of those linked to it) that an adjective
// speaks of.
func (r *reader) columnOfAdjective(adj string, t int) (int, bool) {
	if t < 0 {
		t = r.subject
	}
	if t < 0 {
		return -1, false
	}
	var found []int
	var more []bool
	for _, h := range adjectives[adj].hints {
		for _, id := range r.x.tables[t].columns {
			c := &r.x.columns[id]
			if slices.Contains(c.words, h.word) && (c.number || c.isCalendar()) && c.ref < 0 && !c.part && !slices.Contains(found, id) {
				found, more = append(found, id), append(more, h.more)
			}
		}
	}
	if len(found) == 0 {
		return -1, false
	}
	key := fmt.Sprintf("h%s%d", adj, t)
	if id, ok := r.chosenOption(key); ok {
		if k := slices.Index(found, id); k >= 0 {
			return id, more[k]
		}
	}
	if vague[adj] {
		r.offerChoice(choice{key: key, about: adj, options: r.columnOptions(found), picked: found[0]})
	}
	return found[0], more[0]
}

// vague are adjectives whose hints mean different things where a table has several.
var vague = wordSet("large small expensive costly inexpensive cheap good bad late early long short rich")

// columnOfVerb finds a column by a word near a comparison that is a form of its name.
func (r *reader) columnOfVerb(i int, ok func(*column) bool) int {
	for k := i - 1; k >= 0 && k >= i-4; k-- {
		c := &r.chunks[k]
		if c.role == rMention && !c.isValue && !c.used {
			if col, s := r.asColumn(k, r.currentTable(k), ok); col >= 0 && s >= 0.42 {
				r.markUsed(k)
				return col
			}
		}
		if c.role == rRel || c.role == rAnd {
			break
		}
	}
	return -1
}
