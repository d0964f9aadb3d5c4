package nlq

import (
	"slices"

	"interlock/internal/queryplan"
)

// runPasses runs the passes. Their order matters: each leaves to the next what it
// did not understand.
func (r *reader) runPasses() {
	r.findSubject()
	r.readOrdering()
	r.readComparisons()
	r.readPatterns()
	r.readMissingValues()
	r.readSuperlatives()
	r.readGrouping()
	r.readValues()
	r.readCompare()
	r.readFlags()
	r.readNegations()
	r.readHas()
	r.readHowMuch()
	r.readWhen()
	r.readRequested()
	r.bindRequested()
	r.readAmountOfCounted()
	r.readExistence()
	r.joinAlternatives()
	r.resolveOpenParts()
}

// readFlags reads adjectives that are columns of yes and no: official languages.
func (r *reader) readFlags() {
	for i := range r.chunks {
		if !r.isNamed(i) || r.chunks[i].used {
			continue
		}
		col, s := r.asColumn(i, r.nearTable(i), func(c *column) bool { return r.x.truths[c.id] != nil })
		if col < 0 || s < 0.6 {
			continue
		}
		if best := r.chunks[i].mention.columns[0]; best.id != col && best.score > s+0.1 {
			continue
		}
		if !r.chunks[i].cond && !r.isNamed(r.nextChunk(i)) && r.toks[0].lower != "who" {
			continue
		}
		v := r.x.truths[col]
		val := v[0]
		if r.takeNotBefore(i) {
			val = v[1]
		}
		r.conds = append(r.conds, cond{col: col, table: -1, op: queryplan.Eq, values: []any{val}, at: i, score: s})
		r.markUsed(i)
	}
}

// joinAlternatives marks conditions that `or` joins.
func (r *reader) joinAlternatives() {
	slices.SortStableFunc(r.conds, func(a, b cond) int { return a.at - b.at })
	for i := 1; i < len(r.conds); i++ {
		for k := r.conds[i-1].at + 1; k < r.conds[i].at; k++ {
			if r.chunks[k].role == rOr && !r.chunks[k].used {
				r.conds[i].or = true
				r.markUsed(k)
			}
		}
	}
}

// resolveOpenParts decides what the passes left open.
func (r *reader) resolveOpenParts() {
	r.resolveSuperlatives()
	r.resolveGroups()
	r.addImpliedSums()
	r.askForMeasure()
	r.resolveItems()
	r.addImpliedSums()
	slices.SortStableFunc(r.items, func(a, b item) int { return a.at - b.at })
	var kept []item
	for _, it := range r.items {
		if !slices.ContainsFunc(kept, func(o item) bool { return o.agg == it.agg && o.col == it.col && o.table == it.table }) {
			kept = append(kept, it)
		}
	}
	r.items = kept
	if r.asksForProperties() {
		r.distinct = true
	}
}

// asksForProperties reports whether the question asks for properties that many rows share, and
// not for rows: which regions speak English.
func (r *reader) asksForProperties() bool {
	for _, it := range r.items {
		if it.agg != "" || it.col < 0 {
			return false
		}
		c := &r.x.columns[it.col]
		if it.at >= 0 && r.isPropertyOf(&r.chunks[it.at]) {
			return false // emails of the members: one for each row
		}
		if c.key || r.x.tables[c.table].display == it.col || r.weight[c.table] > 0.6 || it.at < 0 || r.toks[r.chunks[it.at].to-1].lower == r.toks[r.chunks[it.at].to-1].lemma {
			return false
		}
	}
	return len(r.conds) > 0 && len(r.items) > 0 && len(r.sups) == 0
}

// resolveSuperlatives tells `what is the highest price` from `the one with the
// highest price`.
func (r *reader) resolveSuperlatives() {
	var rest []superlative
	for _, s := range r.sups {
		plain := slices.ContainsFunc(r.items, func(it item) bool { return it.agg == "" && it.col != s.col })
		each := slices.ContainsFunc(r.groups, func(g group) bool { return g.each })
		if !s.cond && s.col >= 0 && s.agg == "" && !s.given && (!plain || each) && r.x.columns[s.col].ref < 0 {
			agg := queryplan.Max
			if !s.desc {
				agg = queryplan.Min
			}
			r.items = append(r.items, item{agg: agg, col: s.col, table: r.x.columns[s.col].table, at: s.at, score: s.score})
			continue
		}
		if !s.cond && s.col >= 0 && s.agg == "" && plain && !each {
			r.items = append(r.items, item{col: s.col, table: r.x.columns[s.col].table, at: s.at, score: s.score})
		}
		if each && s.given {
			r.perGroup = true
		}
		rest = append(rest, s)
	}
	r.sups = rest
	if len(r.sups) > 1 {
		r.doubt("several superlatives", 1)
	}
}

// resolveGroups drops a group for each row of what is averaged: the average revenue
// per order, where an order is a row.
func (r *reader) resolveGroups() {
	r.groups = slices.DeleteFunc(r.groups, func(g group) bool {
		c := &r.x.columns[g.col]
		return g.unit == "" && g.col == r.x.tables[c.table].key && slices.ContainsFunc(r.items, func(it item) bool {
			return it.agg == queryplan.Avg && it.col >= 0 && r.x.columns[it.col].table == c.table
		})
	})
}

// resolveItems fills in what people leave out: the name of what is asked for.
func (r *reader) resolveItems() {
	plain := slices.ContainsFunc(r.items, func(it item) bool { return it.agg == "" })
	if slices.ContainsFunc(r.items, func(it item) bool { return it.agg == queryplan.Count && it.table >= 0 }) {
		// A bare `the number` behind `how many songs` is that number.
		r.items = slices.DeleteFunc(r.items, func(it item) bool { return it.agg == queryplan.Count && it.table < 0 })
	}
	for i := range r.items {
		if it := &r.items[i]; it.table < 0 {
			it.table = r.countedTable()
		}
	}
	for _, g := range r.groups {
		if plain && g.unit == "" {
			break
		}
		c := &r.x.columns[g.col]
		col := g.col
		if g.each && g.unit == "" && c.key && r.x.tables[c.table].display >= 0 {
			col = r.x.tables[c.table].display
		}
		if names := r.x.personName(c.table); names != nil && g.unit == "" && g.each && c.key {
			for _, name := range names {
				r.items = append(r.items, item{col: name, table: c.table, at: -1, score: 0.9})
			}
			continue
		}
		if g.unit == "" {
			r.items = append(r.items, item{col: col, table: c.table, at: -1, score: 0.9})
		}
	}
	if len(r.items) == 0 && len(r.groups) == 0 && r.subject >= 0 {
		cols := []int{r.x.tables[r.subject].display}
		if names := r.x.personName(r.subject); names != nil {
			cols = names
		}
		if cols[0] < 0 {
			cols[0] = r.x.tables[r.subject].key
		} else if r.hasSharedValues(cols[0]) && !slices.Contains(r.x.columns[cols[0]].words, "name") && !slices.Contains(r.x.columns[cols[0]].words, "title") {
			// Nothing names a row: show the row.
			cols = r.x.tables[r.subject].columns[:min(maxShown, len(r.x.tables[r.subject].columns))]
		}
		for _, c := range cols {
			if c >= 0 {
				r.items = append(r.items, item{col: c, table: r.subject, at: -1, score: 0.8})
			}
		}
		if rest := withoutWords(r.x.columns[max(cols[0], 0)].words, r.x.tables[r.subject].core); len(cols) == 1 && len(rest) == 1 && (rest[0] == "name" || rest[0] == "title") {
			r.doubt("nothing to show named", 0.05) // who it is, is what it is called
			return
		}
		r.doubt("nothing to show named", 0.3)
	}
}

// maxShown bounds the columns of a row that is shown whole.
const maxShown = 12

// countedTable is the table whose rows a bare `count` counts: one that hangs on the
// subject, else the subject.
func (r *reader) countedTable() int {
	best := r.subject
	for t, w := range r.weight {
		if w > 0.6 && t != r.subject && r.subject >= 0 && r.mayMultiply(r.subject, t) && (best == r.subject || w > r.weight[best]) {
			best = t
		}
	}
	return best
}
