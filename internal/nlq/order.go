package nlq

import "interlock/internal/queryplan"

// readOrdering reads `sorted by age`, `in descending order of population`.
func (r *reader) readOrdering() {
	for i := range r.chunks {
		c := &r.chunks[i]
		if c.used || c.role != rOrder && c.role != rDir {
			continue
		}
		if c.role == rOrder && !r.isOrdering(i) {
			continue
		}
		r.addOrdering(i)
	}
}

// isOrdering keeps a bare `order` or `listed` from being an ordering.
func (r *reader) isOrdering(i int) bool {
	words := r.chunks[i].phrase.words
	if len(words) > 1 && words[0] != "listed" {
		return true
	}
	for k := i + 1; k <= i+4 && k < len(r.chunks); k++ {
		if r.chunks[k].role == rDir || r.toks[r.chunks[k].from].lower == "by" {
			return true
		}
	}
	return false
}

func (r *reader) addOrdering(i int) {
	o := order{}
	o.at, o.col, o.table = i, -1, -1
	r.markUsed(i)
	if r.chunks[i].role == rDir {
		o.desc = r.chunks[i].phrase.desc
	}
	named := -1
	for k := i + 1; k < len(r.chunks) && k <= i+9; k++ {
		c := &r.chunks[k]
		if r.toks[c.from].sentence != r.toks[r.chunks[i].from].sentence {
			break
		}
		switch {
		case c.role == rDir:
			o.desc = c.phrase.desc
			r.markUsed(k)
			continue
		case c.role == rOrder, c.role == rEach && r.toks[c.from].lower == "by":
			r.markUsed(k)
			continue
		case c.role == rCount && named < 0:
			o.agg = queryplan.Count
			r.markUsed(k)
			continue
		case c.role == rAgg && named < 0:
			o.agg = c.phrase.agg
			r.markUsed(k)
			continue
		case r.isNamed(k) && named < 0:
			named = k
			r.markUsed(k)
			continue
		case c.filler, c.role == rEach:
			continue
		}
		if named >= 0 || c.role == rRel || c.role == rAnd {
			break
		}
	}
	if named >= 0 {
		t, ts := r.asTable(named)
		col, cs := r.asColumn(named, r.sortedTable(named), nil)
		switch {
		case o.agg == queryplan.Count && t >= 0 && ts >= cs-0.2:
			o.table, o.score = t, ts
		case o.agg == queryplan.Count && col >= 0:
			o.table, o.score = r.x.columns[col].table, cs
			if r.x.columns[col].number && r.hasWord(col, "number", "num", "count", "no") {
				o.agg, o.col = "", col
			}
		case col >= 0:
			o.col, o.score = col, cs
		default:
			r.doubt("order not understood", 1)
			return
		}
	}
	r.orders = append(r.orders, o)
}

// sortedTable is the table whose rows are sorted: the one that is asked for.
func (r *reader) sortedTable(i int) int {
	if r.subject >= 0 {
		return r.subject
	}
	return r.currentTable(i)
}

func (r *reader) hasWord(col int, words ...string) bool {
	for _, w := range words {
		for _, v := range r.x.columns[col].words {
			if v == w {
				return true
			}
		}
	}
	return false
}
