package nlq

import (
	"slices"
	"strings"

	"interlock/internal/queryplan"
)

// findSubject finds the table whose rows the question is about.
func (r *reader) findSubject() {
	for _, cond := range []bool{false, true} {
		for i := range r.chunks {
			if !r.isNamed(i) || r.chunks[i].cond != cond {
				continue
			}
			t, s := r.asTable(i)
			_, cs := r.asColumn(i, -1, nil)
			if t >= 0 && s >= 0.6 && s >= cs-0.12 {
				r.subject = t
				return
			}
			if col, cs := r.asColumn(i, r.nearTable(i), nil); col >= 0 && cs > 0.75 && r.namesTableToo(&r.chunks[i], r.x.columns[col].table) {
				r.subject = r.x.columns[col].table
				return
			}
		}
	}
	// No table is named: the columns and values say which one.
	score := make([]float64, len(r.x.tables))
	for i := range r.chunks {
		c := &r.chunks[i]
		if c.role != rMention {
			continue
		}
		seen := map[int]bool{}
		for _, m := range c.mention.columns {
			if t := r.x.columns[m.id].table; !seen[t] && !c.isValue {
				score[t] += m.score
				seen[t] = true
			}
		}
		for _, v := range c.mention.values {
			if t := r.x.columns[v.column].table; !seen[t] && c.isValue {
				score[t] += 0.5 * v.score
				seen[t] = true
			}
		}
	}
	best := -1
	for t, s := range score {
		if s > 0.5 && (best < 0 || s > score[best]+1e-9) {
			best = t
		}
	}
	r.subject = best
	if best >= 0 {
		r.doubt("no table named", 0.3)
	}
}

// readHowMuch reads `how much does it cost`: the number that the verb or superlative
// names.
func (r *reader) readHowMuch() {
	if len(r.toks) < 2 || r.toks[0].lower != "how" || r.toks[1].lower != "much" || len(r.items) > 0 {
		return
	}
	for i := range r.chunks {
		if !r.isNamed(i) || r.chunks[i].used {
			continue
		}
		verb := strings.HasSuffix(r.toks[r.chunks[i].from].lower, "ed")
		if col, s := r.asColumn(i, r.currentOrSubject(i), (*column).isNumeric); col >= 0 && (s > 0.5 || verb && s > 0.35) {
			it := item{col: col, table: r.x.columns[col].table, at: i, score: s}
			if (verb || r.chunks[i].from == 2) && len(r.sups) == 0 && r.isSummable(col) {
				it.agg, it.score = queryplan.Sum, max(s, 0.7) // how much tax, how much was refunded
			}
			r.items = append(r.items, it)
			r.markUsed(i)
			return
		}
	}
	for _, s := range r.sups {
		if s.col >= 0 && s.agg == "" {
			r.items = append(r.items, item{col: s.col, table: r.x.columns[s.col].table, at: s.at, score: s.score})
			return
		}
	}
}

// readAmountOfCounted reads `..., and how much was it`: the amount of what was counted.
func (r *reader) readAmountOfCounted() {
	for i := 1; i+1 < len(r.toks); i++ {
		if r.toks[i].lower != "how" || r.toks[i+1].lower != "much" || slices.ContainsFunc(r.items, func(it item) bool { return it.agg == queryplan.Sum || it.agg == queryplan.Avg }) {
			continue
		}
		col := -1
		if r.subject >= 0 {
			col = r.amountOf(r.subject, nil)
		}
		if col < 0 {
			r.lost = append(r.lost, "how much")
			return
		}
		r.items = append(r.items, item{agg: queryplan.Sum, col: col, table: r.subject, at: len(r.chunks), score: 0.8})
	}
}

// readWhen reads `when was ...`: the date of the subject.
func (r *reader) readWhen() {
	if len(r.toks) == 0 || r.toks[0].lower != "when" || r.subject < 0 || len(r.items) > 0 {
		return
	}
	col, n := r.onlyCalendar(r.subject)
	if n == 0 {
		return
	}
	if n > 1 {
		r.doubt("several dates", 1)
	}
	r.items = append(r.items, item{col: col, table: r.subject, at: 0, score: 0.85})
}

// readRequested reads what is asked for: counts, aggregates and columns.
func (r *reader) readRequested() {
	distinct := -1
	for i := range r.chunks {
		c := &r.chunks[i]
		if c.cond && !(c.role == rCount && i == 0) {
			continue
		}
		switch {
		case c.role == rDistinct && !c.used:
			distinct = i
			r.markUsed(i)
		case c.used:
		case c.role == rCount:
			r.readCounts(i)
		case c.role == rAgg:
			r.readAggregates(i)
		case c.role == rShare:
			r.readShare(i)
		case r.isNamed(i):
			r.readShown(i, distinct >= 0 && r.areNear(distinct, i, 2))
		}
	}
	if distinct >= 0 && !slices.ContainsFunc(r.items, func(it item) bool { return it.agg != "" }) {
		r.distinct = true
	}
}

// readCounts reads `how many X`.
func (r *reader) readCounts(i int) {
	distinct := false
	j := r.nextChunk(i)
	if r.hasRole(j, rDistinct) {
		distinct = true
		r.markUsed(j)
		j = r.nextChunk(j)
	}
	for r.isNamed(j) && r.chunks[j].used && r.areNear(i, j, 3) {
		j = r.nextChunk(j) // official languages
	}
	if k := r.nextChunk(j); r.hasRole(j, rMention) && r.chunks[j].isValue && r.hasRole(k, rWord) && r.areNear(j, k, 0) && r.isNoun(k) {
		r.lost = append(r.lost, r.chunkText(&r.chunks[k])) // how many French things that are unknown
	}
	if r.hasRole(j, rMention) && r.chunks[j].isValue && !r.isNamed(r.nextChunk(j)) {
		for _, c := range r.conds { // how many strikers
			if c.at == j && c.col >= 0 {
				r.items = append(r.items, item{agg: queryplan.Count, col: -1, table: r.x.columns[c.col].table, at: i, score: 0.85})
				r.markUsed(i)
				return
			}
		}
	}
	if r.hasRole(j, rWord) && r.areNear(i, j, 1) && r.isNoun(j) {
		r.lost = append(r.lost, r.chunkText(&r.chunks[j])) // how many of something unknown, or of an unknown kind
	}
	if !r.isNamed(j) || !r.areNear(i, j, 4) || r.chunks[j].role == rRel {
		r.items = append(r.items, item{agg: queryplan.Count, col: -1, table: -1, at: i, score: 0.7})
		r.markUsed(i)
		return
	}
	r.markUsed(i)
	t, ts := r.asTable(j)
	col, cs := r.asColumn(j, r.nearTable(j), nil)
	switch {
	case col >= 0 && cs > ts && (cs > 0.8 && r.hasWord(col, "population", "quantity", "attendance", "stock", "inventory") && r.x.columns[col].number || r.isAdditive(col)):
		r.items = append(r.items, item{agg: queryplan.Sum, col: col, table: r.x.columns[col].table, at: j, score: cs})
	case col >= 0 && cs > 0.6 && r.hasWord(col, "number", "num", "count", "total") && r.x.columns[col].isNumeric() && cs > ts:
		// The column keeps the number: how many staff -> Num_of_Staff.
		agg := queryplan.Function("")
		if w := r.toks[r.chunks[i].from].lower; w == "total" || w == "how" {
			agg = queryplan.Sum
		}
		r.items = append(r.items, item{agg: agg, col: col, table: r.x.columns[col].table, at: j, score: cs})
	case t >= 0 && ts >= 0.55 && ts >= cs-0.12:
		it := item{agg: queryplan.Count, col: -1, table: t, distinct: distinct, at: j, score: ts}
		if distinct && r.x.tables[t].key >= 0 {
			it.agg, it.col = queryplan.CountDistinct, r.x.tables[t].key
		}
		r.items = append(r.items, it)
	case col >= 0 && r.x.columns[col].ref >= 0 && cs > 0.5 && !distinct && t >= 0 && ts > 0.5:
		r.items = append(r.items, item{agg: queryplan.Count, col: -1, table: t, at: j, score: ts})
	case col >= 0 && cs > 0.42:
		c := &r.x.columns[col]
		it := item{agg: queryplan.CountDistinct, col: col, table: c.table, distinct: distinct, at: j, score: cs * 0.95}
		tab := &r.x.tables[c.table]
		keyed := slices.ContainsFunc(r.x.schema.Tables[c.table].Key, func(k string) bool { return k == c.name })
		if !distinct && (keyed || tab.display == col && tab.key >= 0) {
			it.agg, it.col = queryplan.Count, -1
		} else if !distinct && c.number && c.ref < 0 {
			it.score *= 0.7
			r.doubt("counting a number", 0.6)
		} else if !distinct {
			r.doubt("counting values", 0.25)
		}
		r.items = append(r.items, it)
	default:
		r.items = append(r.items, item{agg: queryplan.Count, col: -1, table: -1, at: i, score: 0.4})
		return
	}
	r.markUsed(j)
}

// readAggregates reads `average age`, `the average and maximum price`.
func (r *reader) readAggregates(i int) {
	aggs := []queryplan.Function{r.chunks[i].phrase.agg}
	j := r.nextChunk(i)
	for r.hasRole(j, rAnd) || r.hasRole(j, rAgg) || r.hasRole(j, rCount) || r.hasRole(j, rSup) && r.chunks[j].phrase.adj == "" && !r.chunks[j].used {
		switch {
		case r.hasRole(j, rAgg):
			aggs = append(aggs, r.chunks[j].phrase.agg)
			r.markUsed(j)
		case r.hasRole(j, rCount):
			r.markUsed(j)
		}
		if k := r.nextChunk(j); k == j || k < 0 {
			break
		} else {
			j = k
		}
	}
	if !r.isNamed(j) || !r.areNear(i, j, 8) {
		return
	}
	if t, ts := r.asTable(j); ts > 0.7 && len(aggs) == 1 {
		// The total amount of payments, the average payment: the one amount they have.
		if _, cs := r.asColumn(j, r.nearTable(j), (*column).isNumeric); cs < ts-0.12 {
			if col := r.amountOf(t, r.chunks[i].phrase.words); col >= 0 {
				r.items = append(r.items, item{agg: aggs[0], col: col, table: t, at: i, score: 0.85})
				r.markUsed(i, j)
				return
			}
		}
	}
	add := func(j int) bool {
		col, cs := r.asColumn(j, r.nearTable(j), (*column).isNumeric)
		if col < 0 && !slices.ContainsFunc(aggs, func(f queryplan.Function) bool { return f != queryplan.Min && f != queryplan.Max }) {
			col, cs = r.asColumn(j, r.nearTable(j), nil) // of texts, too
		}
		if col < 0 || cs < 0.42 {
			return false
		}
		for _, agg := range aggs {
			r.items = append(r.items, item{agg: agg, col: col, table: r.x.columns[col].table, at: i, score: cs})
		}
		r.markUsed(i, j)
		return true
	}
	if add(j) {
		for { // the average height and weight
			k := r.nextChunk(j)
			m := r.nextChunk(k)
			if !r.hasRole(k, rAnd) || !r.isNamed(m) || r.chunks[m].used || !r.areNear(k, m, 1) {
				break
			}
			col, cs := r.asColumn(m, r.nearTable(m), (*column).isNumeric)
			if col < 0 || cs < 0.8 || r.x.columns[col].isCalendar() || slices.ContainsFunc(r.groups, func(g group) bool { return g.col == col }) || !add(m) {
				break
			}
			j = m
		}
	} else {
		t, ts := r.asTable(j)
		if t >= 0 && ts > 0.7 && len(aggs) == 1 && aggs[0] == queryplan.Sum {
			r.items = append(r.items, item{agg: queryplan.Count, col: -1, table: t, at: i, score: ts * 0.7})
			r.markUsed(i, j)
		}
	}
}

// readShare reads `what percentage of customers are from France`.
func (r *reader) readShare(i int) {
	j := r.nextChunk(i)
	if n := len(r.items); n > 0 && r.items[n-1].at == r.prevChunk(i) && r.items[n-1].agg == "" && r.items[n-1].col >= 0 && r.x.columns[r.items[n-1].col].isNumeric() {
		r.items[n-1].agg = queryplan.Percent // the revenue share
		r.markUsed(i)
		return
	}
	if !r.isNamed(j) {
		return
	}
	if t, s := r.asTable(j); t >= 0 && s > 0.6 {
		r.items = append(r.items, item{agg: queryplan.Percent, col: -1, table: t, at: i, score: s})
		r.markUsed(i, j)
		return
	}
	if col, s := r.asColumn(j, r.nearTable(j), (*column).isNumeric); col >= 0 {
		r.items = append(r.items, item{agg: queryplan.Percent, col: col, table: r.x.columns[col].table, at: i, score: s})
		r.markUsed(i, j)
	}
}

// readShown reads a column or table that is asked for.
func (r *reader) readShown(i int, distinct bool) {
	t, ts := r.asTable(i)
	near := r.nearTable(i)
	col, cs := r.asColumn(i, near, nil)
	margin := r.margin
	if p := r.prevChunk(i); r.toks[r.chunks[i].from].bracket && col >= 0 && r.usesColumn(col) && p >= 0 {
		r.markUsed(i) // miles per gallon (mpg): said twice
		return
	}
	listed := r.isListItem(i)
	if r.isRankedBehindOf(i) {
		r.markUsed(i) // the price of the most expensive kind: the kind is not asked for
		return
	}
	table := t >= 0 && ts >= cs && ts >= 0.55
	if table && col >= 0 && cs >= 0.95 && r.x.columns[col].ref < 0 && r.x.columns[col].table != t && listed && near == r.x.columns[col].table {
		table = false
	}
	switch {
	case table && distinct && len(r.items) == 0 && r.x.tables[t].display >= 0 && r.isFirstAsked(i):
		r.showTable(i, t, ts)
	case table && listed:
		r.showTable(i, t, ts)
	case r.isVerbLike(i):
		r.markUsed(i) // shared by, founded in: says how, not what
	case table:
		r.markUsed(i) // the subject, or the owner of the columns before it
	case col >= 0 && cs >= 0.42:
		c := &r.x.columns[col]
		if margin < 0.08 {
			r.doubt("close second", 1)
		}
		if cs < 0.9 && len(r.items) > 0 && !listed && r.chunks[i].from > 0 && r.toks[r.chunks[i].from-1].lower == "of" && r.items[len(r.items)-1].table != c.table {
			r.lost = append(r.lost, r.chunkText(&r.chunks[i])) // the percentage of people is no population
		}
		if cs < 0.6 && len(c.words) > 1 {
			r.doubt("part of a name", 0.6-cs+0.2)
		}
		r.items = append(r.items, item{col: col, table: c.table, at: i, score: cs})
		r.markUsed(i)
	}
}

// isVerbLike reports whether a mention is a verb that only resembles a name.
func (r *reader) isVerbLike(i int) bool {
	c := &r.chunks[i]
	t := &r.toks[c.from]
	if c.to == c.from+1 && irregularDone[t.lower] {
		return true
	}
	if c.to != c.from+1 || !strings.HasSuffix(t.lower, "ed") && !strings.HasSuffix(t.lower, "ing") || len(c.mention.columns) == 0 {
		return false
	}
	return c.mention.columns[0].score < 0.6 || !slices.Contains(r.x.columns[c.mention.columns[0].id].words, t.lemma)
}

// showTable shows the column that names a table's rows.
func (r *reader) showTable(i, t int, score float64) {
	if d := r.x.tables[t].display; d >= 0 {
		r.items = append(r.items, item{col: d, table: t, at: i, score: score * 0.9})
		r.markUsed(i)
	}
}

// isFirstAsked reports whether a mention is the first thing asked for.
func (r *reader) isFirstAsked(i int) bool {
	for k := range i {
		if r.isNamed(k) {
			return false
		}
	}
	return true
}

// isListItem reports whether a mention is one more thing of a list: names and orchestras.
func (r *reader) isListItem(i int) bool {
	if len(r.items) == 0 {
		return false
	}
	for k := i - 1; k >= 0 && k >= i-3; k-- {
		c := &r.chunks[k]
		switch {
		case c.role == rAnd:
			return true
		case c.filler && wordSet("of for in from")[r.toks[c.from].lower], !c.filler && c.role != rWord:
			return false
		}
	}
	return r.toks[r.chunks[i].from].comma
}
