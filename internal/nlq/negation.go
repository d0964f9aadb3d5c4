package nlq

import (
	"slices"
	"strings"

	"interlock/internal/queryplan"
)

// readNegations reads `not French`, `without any orders`, `never visited`.
func (r *reader) readNegations() {
	for i := range r.chunks {
		c := &r.chunks[i]
		if c.used || c.role != rNot {
			continue
		}
		r.readNegation(i)
	}
}

func (r *reader) readNegation(i int) {
	if p := r.prevChunk(i); r.hasRole(p, rMention) && r.chunks[p].isValue && r.areNear(p, i, 1) && r.toks[r.chunks[i].from].lower != "but" {
		for n := range r.conds { // English is not the official language
			if r.conds[n].at == p && !r.conds[n].neg {
				r.conds[n].neg = true
				r.markUsed(i)
				return
			}
		}
	}
	if r.readLacks(i) {
		return
	}
	for k := i + 1; k < len(r.chunks) && k <= i+10; k++ {
		c := &r.chunks[k]
		if r.toks[c.from].sentence != r.toks[r.chunks[i].from].sentence || c.role == rRel && k > i+2 && !r.findCondition(k+1, k+3) {
			break
		}
		for n := range r.conds {
			if r.conds[n].at == k && !r.conds[n].neg {
				r.conds[n].neg = true
				r.markUsed(i)
				// Further conditions of the same clause belong to the same negation.
				return
			}
		}
		if r.isNamed(k) && !c.used {
			if t, s := r.asTable(k); t >= 0 && s >= 0.55 && t != r.subject && !r.valueFollows(k) {
				if r.negateConditionBehind(i, k, t) {
					return
				}
				r.conds = append(r.conds, cond{col: -1, table: t, exists: true, neg: true, at: i, score: s})
				r.markUsed(i, k)
				return
			}
			if col, s := r.asColumn(k, -1, nil); col >= 0 && s > 0.75 && r.x.columns[col].table != r.subject && !r.valueFollows(k) {
				r.conds = append(r.conds, cond{col: -1, table: r.x.columns[col].table, exists: true, neg: true, at: i, score: s * 0.9})
				r.markUsed(i, k)
				return
			}
		}
		if c.role == rAnd && k > i+3 || c.role == rOr {
			break
		}
	}
	// `are not used`, `never sold`: a verb that is the name of a table or column.
	for k := i + 1; k < len(r.chunks) && k <= i+3; k++ {
		if r.chunks[k].role == rWord && !r.chunks[k].filler {
			if t := r.tableOfVerb(k); t >= 0 && t != r.subject {
				r.conds = append(r.conds, cond{col: -1, table: t, exists: true, neg: true, at: i, score: 0.7})
				r.markUsed(i, k)
				return
			}
		}
	}
}

// readLacks reads `have no reference`, `without a phone`: the column is empty.
func (r *reader) readLacks(i int) bool {
	w := r.chunks[i].phrase.words
	if last := w[len(w)-1]; last != "no" && last != "without" && last != "any" && !strings.HasPrefix(last, "lack") {
		return false
	}
	k := r.nextChunk(i)
	if !r.isNamed(k) || r.chunks[k].used || !r.areNear(i, k, 1) || r.subject < 0 || r.valueFollows(k) {
		return false
	}
	col, s := r.asColumn(k, r.subject, func(c *column) bool { return c.table == r.subject && (c.kind == queryplan.Text || c.date) && c.ref < 0 })
	if _, ts := r.asTable(k); col < 0 || s < 0.7 || ts >= s {
		return false
	}
	r.conds = append(r.conds, cond{col: col, table: -1, op: queryplan.IsNull, at: i, score: s})
	r.markUsed(i, k)
	return true
}

// readHas reads `orders with a coupon`: the column is filled.
func (r *reader) readHas() {
	for i := range r.chunks {
		c := &r.chunks[i]
		if c.used || c.role != rRel || c.phrase.words[0] != "with" && c.phrase.words[0] != "having" && c.phrase.words[len(c.phrase.words)-1] != "have" && c.phrase.words[len(c.phrase.words)-1] != "has" {
			continue
		}
		k := r.nextChunk(i)
		article := c.to > c.from+1 || c.to < len(r.toks) && wordSet("a an any")[r.toks[c.to].lower]
		if !article || !r.isNamed(k) || r.chunks[k].used || !r.areNear(i, k, 1) || r.subject < 0 || c.phrase.words[len(c.phrase.words)-1] == "the" {
			continue
		}
		if n := r.nextChunk(k); n >= 0 && !r.hasRole(n, rAnd) && !r.hasRole(n, rEach) && !r.hasRole(n, rPeriod) {
			continue // with a name like ...
		}
		col, s := r.asColumn(k, r.subject, func(c *column) bool {
			return c.table == r.subject && (c.kind == queryplan.Text || c.date) && c.ref < 0 && !c.part
		})
		if _, ts := r.asTable(k); col < 0 || s < 0.9 || ts >= s-0.2 {
			continue
		}
		r.conds = append(r.conds, cond{col: col, table: -1, op: queryplan.IsNotNull, at: i, score: s})
		r.markUsed(i, k)
	}
}

// negateConditionBehind negates a condition that lies behind the table: did not visit any
// museum opened after 2010.
func (r *reader) negateConditionBehind(i, k, t int) bool {
	for n := range r.conds {
		c := &r.conds[n]
		if c.at < k || c.at > k+8 || c.neg || c.agg != "" || c.col < 0 || r.subject < 0 || r.toks[r.chunks[c.at].from].sentence != r.toks[r.chunks[k].from].sentence {
			continue
		}
		ct := r.x.columns[c.col].table
		if ct == t || slices.ContainsFunc(r.cheapestPath([]int{r.subject}, ct), func(e edge) bool { return e.to == t }) {
			c.neg = true
			r.markUsed(i, k)
			return true
		}
	}
	return false
}

func (r *reader) findCondition(from, to int) bool {
	for _, c := range r.conds {
		if c.at >= from && c.at <= to {
			return true
		}
	}
	return false
}

// valueFollows reports whether a condition hangs on this mention: `not in the city X`.
func (r *reader) valueFollows(k int) bool {
	n := r.nextChunk(k)
	for r.hasRole(n, rBe) || r.hasRole(n, rRel) && r.areNear(k, n, 1) {
		n = r.nextChunk(n)
	}
	return n >= 0 && r.areNear(k, n, 3) && (r.hasRole(n, rMention) && r.chunks[n].isValue || r.hasRole(n, rNumber) || r.hasRole(n, rCompare)) && r.findCondition(n, n)
}

// tableOfVerb finds a table by a verb: visited, enrolled.
func (r *reader) tableOfVerb(k int) int {
	t := &r.toks[r.chunks[k].from]
	for i := range r.x.tables {
		for _, w := range r.x.tables[i].core {
			if len(t.stem) >= 4 && stem(w) == t.stem {
				return i
			}
		}
	}
	return -1
}

// readExistence reads tables that are only mentioned in a condition: students who have
// friends. A table that some other part of the question needs is joined anyway.
func (r *reader) readExistence() {
	for i := range r.chunks {
		c := &r.chunks[i]
		if c.used || !c.cond || c.isValue {
			continue
		}
		t, s := -1, 0.0
		switch c.role {
		case rMention:
			t, s = r.asTable(i)
			if _, cs := r.asColumn(i, r.currentTable(i), nil); cs > s+0.15 {
				continue
			}
		case rWord:
			if !c.filler {
				t, s = r.tableOfVerb(i), 0.6
			}
		}
		if t < 0 || s < 0.55 || t == r.subject || r.subject < 0 {
			continue
		}
		c.used = true
		behind := false // treatments on dogs: the first says it all
		for _, o := range r.conds {
			behind = behind || o.exists && o.table != t && o.at < i && len(r.x.schema.Between(r.x.tableName(o.table), r.x.tableName(t))) > 0
		}
		if behind || r.needsTable(t) || !r.mayMultiply(r.subject, t) {
			continue // joined anyway, or every row has one
		}
		r.conds = append(r.conds, cond{col: -1, table: t, exists: true, at: i, score: s})
	}
}

// needsTable reports whether a part of the frame speaks of the table.
func (r *reader) needsTable(t int) bool {
	for _, c := range r.conds {
		if c.table == t || c.col >= 0 && r.x.columns[c.col].table == t {
			return true
		}
	}
	for _, s := range r.sups {
		if s.table == t && s.agg == queryplan.Count || s.col >= 0 && r.x.columns[s.col].table == t {
			return true
		}
	}
	for _, it := range r.items {
		if it.col >= 0 && r.x.columns[it.col].table == t || it.agg == queryplan.Count && it.table == t {
			return true
		}
	}
	for _, g := range r.groups {
		if r.x.columns[g.col].table == t {
			return true
		}
	}
	return false
}
