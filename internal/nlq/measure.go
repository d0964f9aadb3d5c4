package nlq

import (
	"slices"

	"interlock/internal/queryplan"
)

// additive are words of columns that people mean the sum of when they name no
// function: revenue by region.
var additive = wordSet("revenue amount sale quantity qty unit total profit income turnover spend spent budget volume sold expense earning loss gain click view visit hour")

// isAdditive reports whether a column holds amounts that add up.
func (r *reader) isAdditive(col int) bool {
	c := &r.x.columns[col]
	if !c.isNumeric() || slices.ContainsFunc(c.words, func(w string) bool { return notAdded[w] || w == "price" }) {
		return false
	}
	return slices.ContainsFunc(c.words, func(w string) bool { return additive[w] })
}

// amountOf finds the amount that rows of a table are measured by: the one that the
// words name, else the only one. -1 where there are several.
func (r *reader) amountOf(t int, said []string) int {
	var all []int
	for _, id := range r.x.tables[t].columns {
		if !r.isAdditive(id) {
			continue
		}
		ws := withoutWords(r.x.columns[id].words, r.x.tables[t].core)
		if len(ws) == 1 && slices.Contains(said, ws[0]) {
			return id
		}
		all = append(all, id)
	}
	if len(all) == 1 {
		return all[0]
	}
	return -1
}

// isSummable reports whether adding a column up means anything.
func (r *reader) isSummable(col int) bool {
	return r.x.columns[col].isNumeric() && !slices.ContainsFunc(r.x.columns[col].words, func(w string) bool { return notAdded[w] || w == "price" })
}

// hasSharedValues reports whether several rows are known to have the same value in a column.
func (r *reader) hasSharedValues(col int) bool {
	c := &r.x.columns[col]
	n, ok := r.x.distinct[col]
	return ok && !c.key && int64(n) < r.x.tables[c.table].rows
}

// addImpliedSums adds up amounts that are asked for per group without a function, and
// ranks groups of rows by what they add up to.
func (r *reader) addImpliedSums() {
	grouped := slices.ContainsFunc(r.groups, func(g group) bool { return g.each && g.wide })
	counted := len(r.groups) == 0 && slices.ContainsFunc(r.items, func(it item) bool { return it.agg == queryplan.Count })
	for i := range r.items {
		it := &r.items[i]
		if counted && it.agg == "" && it.col >= 0 && r.isAdditive(it.col) {
			it.agg = queryplan.Sum // how many are open, and what is their total
			continue
		}
		if grouped && it.agg == "" && it.col >= 0 && r.x.columns[it.col].isNumeric() && !slices.ContainsFunc(r.groups, func(g group) bool { return g.col == it.col }) {
			it.agg = queryplan.Sum
			if !r.isAdditive(it.col) {
				it.agg = queryplan.Avg
				r.doubt("close second", 0.5)
			}
		}
	}
	for i := range r.sups {
		s := &r.sups[i]
		if s.agg != "" || s.col < 0 || !r.isAdditive(s.col) || len(r.items) == 0 {
			continue
		}
		all := true // everything shown is a property that many rows share
		for _, it := range r.items {
			all = all && it.agg == "" && it.col != s.col && (r.hasSharedValues(it.col) && r.x.columns[it.col].table == r.x.columns[s.col].table || r.mayMultiply(it.table, r.x.columns[s.col].table))
		}
		if all {
			s.agg = queryplan.Sum
		}
	}
}

// compares reads `compare the revenue of North and South`: one row for each.
func (r *reader) readCompare() {
	if len(r.toks) == 0 || r.toks[0].lemma != "compare" {
		return
	}
	for _, c := range r.conds {
		if c.op == queryplan.In && c.col >= 0 && len(c.values) > 1 {
			r.groups = append(r.groups, group{col: c.col, at: c.at, each: true, wide: true})
		}
	}
}

// askForMeasure asks what to compute where a question groups and names no measure.
func (r *reader) askForMeasure() {
	wide := slices.IndexFunc(r.groups, func(g group) bool { return g.wide })
	if wide < 0 || r.subject < 0 || slices.ContainsFunc(r.items, func(it item) bool { return it.agg != "" }) || len(r.sups) > 0 {
		return
	}
	options := []option{{countedFrom + r.subject, "the number of " + plural(humanName(r.x.tableName(r.subject)))}}
	for _, id := range r.x.tables[r.subject].columns {
		if r.isAdditive(id) {
			options = append(options, option{id, "the total " + humanName(r.x.columns[id].name)})
		}
	}
	pick := options[0].id
	if id, ok := r.chosenOption("measure"); ok {
		pick = id
	}
	r.offerChoice(choice{key: "measure", about: r.x.tableName(r.subject), options: options, picked: pick})
	if pick >= countedFrom {
		r.items = append(r.items, item{agg: queryplan.Count, col: -1, table: r.subject, at: len(r.chunks), score: 0.7})
		return
	}
	r.items = append(r.items, item{agg: queryplan.Sum, col: pick, table: r.subject, at: len(r.chunks), score: 0.8})
}
