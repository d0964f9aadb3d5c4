package nlq

import (
	"slices"
	"strings"

	"interlock/internal/queryplan"
)

// checkRanks compares superlatives with the order and the number of rows.
func (j *judge) checkRanks() {
	r := j.r
	asks, said := false, 0
	for i := range r.chunks {
		c := &r.chunks[i]
		if c.role == rTop || c.role == rSup {
			if n, _ := r.rowsNextTo(i); n > 0 {
				said = n
			}
		}
		if c.role == rTop && said > 0 || c.role == rTop && r.isNamed(r.nextChunk(i)) {
			asks = true
		}
		if c.role != rSup {
			continue
		}
		if n := i + 1; n < len(r.chunks) && r.toks[r.chunks[n].from].lower == "first" && len(j.plan.OrderBy) > 0 {
			continue // biggest first: an order of all rows
		}
		asks = true
		j.checkDirection(i)
	}
	for i := range r.chunks { // the 3 stadiums with the largest area
		if n := r.nextChunk(i); asks && said == 0 && r.hasRole(i, rNumber) && r.isNamed(n) && r.areNear(i, n, 0) && !r.chunks[i].cond && r.chunks[i].number <= 100 {
			said = int(r.chunks[i].number)
		}
	}
	j.checkPlace()
	p := j.plan
	ranked := len(p.OrderBy) > 0 && p.Limit > 0 || p.Top != nil || j.facts.functions[queryplan.Max]+j.facts.functions[queryplan.Min] > 0
	nested := slices.ContainsFunc(p.Filters, func(f queryplan.Filter) bool { return f.Plan != nil })
	switch {
	case asks && !ranked && !nested:
		j.addObjection("Sort and take the first.", "The question asks for the first by some measure; the plan does not rank.")
	case asks && said > 0 && p.Top == nil && p.Limit > 0 && p.Limit != said:
		j.addObjection("Set the limit to the number that was said.", "The question wants %d rows, the plan takes %d.", said, p.Limit)
	case asks && said == 0 && p.Limit > 1 && p.Limit < queryplan.DefaultLimit && p.Top == nil && !j.asksForSeveral():
		j.addObjection("Take only the first.", "The question asks for one; the plan takes %d.", p.Limit)
	case !asks && p.Limit > 0 && p.Limit < 50 && len(p.OrderBy) > 0 && !j.asksForExtreme():
		j.addObjection("Give all rows.", "The plan keeps only %d rows; the question asks for all.", p.Limit)
	}
}

// checkPlace checks that the second largest is not taken for the largest.
func (j *judge) checkPlace() {
	r, p := j.r, j.plan
	for i := range r.chunks {
		from := r.chunks[i].from
		if r.chunks[i].role != rSup || from == 0 || p.Limit != 1 || len(p.OrderBy) == 0 {
			continue
		}
		before := r.toks[from-1].lower
		place := slices.IndexFunc(ordinalWords, func(words []string) bool { return slices.Contains(words, before) }) + 1
		if place > 0 && p.Offset != place {
			j.addObjection("Leave out the rows before it by an offset.", "The question asks for the %s; the plan takes the %s.", before, ordinalText(p.Offset+1))
		}
	}
}

// asksForExtreme reports whether the question asks for a minimum or maximum.
func (j *judge) asksForExtreme() bool {
	if slices.ContainsFunc(j.r.toks, func(t token) bool { return endWords[t.lower] || len(t.lower) > 5 && strings.HasSuffix(t.lower, "est") }) {
		return true
	}
	return slices.ContainsFunc(j.r.chunks, func(c chunk) bool {
		return c.role == rAgg && (c.phrase.agg == queryplan.Min || c.phrase.agg == queryplan.Max) || c.role == rTop
	})
}

// endWords speak of one end of an order.
var endWords = wordSet("first last latest earliest newest oldest most least best worst top bottom next previous")

// asksForSeveral reports whether the question speaks of several firsts.
func (j *judge) asksForSeveral() bool { return j.r.countDoubts(rTop) > 0 }

// checkDirection checks that the largest is not taken for the smallest.
func (j *judge) checkDirection(i int) {
	p := j.plan
	if len(p.OrderBy) != 1 || p.Limit <= 0 {
		if ph := j.r.chunks[i].phrase; len(p.OrderBy) == 0 && ph.adj == "" && len(p.Select) == 1 {
			f := p.Select[0].Function
			if ph.desc && f == queryplan.Min || !ph.desc && f == queryplan.Max {
				j.addObjection("Take the other end.", "The question says %q; the plan takes the other end.", j.r.chunkText(&j.r.chunks[i]))
			}
		}
		return
	}
	o := p.OrderBy[0]
	desc := strings.EqualFold(string(o.Direction), string(queryplan.Desc))
	ph := j.r.chunks[i].phrase
	want := ph.desc
	e := j.resolveAlias(o.Expr)
	if ph.adj != "" {
		want = !fewest[ph.adj]
		name := splitIdentifier(e.Column[strings.LastIndexByte(e.Column, '.')+1:])
		for _, h := range adjectives[ph.adj].hints {
			if slices.Contains(name, h.word) && e.Function == "" {
				want = h.more
				break
			}
		}
	}
	if id := j.r.x.columnOf(p, e); id >= 0 && j.r.x.columns[id].date && (ph.adj == "long" || ph.adj == "short") {
		return // what runs the longest began first
	}
	if want != desc {
		j.addObjection("Turn the order round.", "The question says %q; the plan sorts the other way.", j.r.chunkText(&j.r.chunks[i]))
	}
}

// checkJoins finds joins that multiply what is added up or counted, and joins on columns
// that are no key.
func (j *judge) checkJoins() {
	p, x := j.plan, j.r.x
	if len(p.Joins) == 0 {
		return
	}
	tables := []string{p.Table}
	for _, join := range p.Joins {
		for _, on := range join.On {
			if !x.isRelation(on, tables, join.Table) {
				j.addObjection("Join along the key.", "The plan joins %s with %s, which no key links.", on.Left, on.Right)
			}
		}
		tables = append(tables, join.Table)
	}
	for _, e := range p.Select {
		if e.Function != queryplan.Sum && e.Function != queryplan.Avg && e.Function != queryplan.Count || e.Function == queryplan.Count && e.Column != "" {
			continue
		}
		t := ""
		if e.Column != "" {
			t = j.tableOf(e.Column)
		} else {
			t = j.countedTable()
		}
		if many := x.multipliedBy(t, tables); t != "" && many != "" {
			what := "counts " + humanName(t)
			if e.Column != "" {
				what = "takes the " + string(e.Function) + " of " + humanName(e.Column[strings.LastIndexByte(e.Column, '.')+1:])
			}
			j.addObjection("Ask with `in` whether rows of "+many+" exist, or count different keys.", "The plan %s after joining %s, which repeats rows of %s.", what, humanName(many), humanName(t))
		}
	}
}

// isRelation reports whether a pair of columns is a relation of the schema, or refers to the same key.
func (x *Index) isRelation(on queryplan.Pair, before []string, joined string) bool {
	col := func(ref string) string { return ref[strings.LastIndexByte(ref, '.')+1:] }
	referred := func(table, column string) int {
		if c := x.findColumn(table, column); c >= 0 {
			return x.columns[c].ref
		}
		return -1
	}
	for _, t := range before {
		if to := referred(t, col(on.Left)); to >= 0 && to == referred(joined, col(on.Right)) {
			return true
		}
		if x.soundsLikeKey(t, col(on.Left), joined, col(on.Right)) || x.soundsLikeKey(joined, col(on.Right), t, col(on.Left)) {
			return true
		}
	}
	for _, r := range x.schema.Relations {
		a, b := col(on.Left), col(on.Right)
		for _, t := range before {
			if strings.EqualFold(r.Table, t) && strings.EqualFold(r.RefTable, joined) && strings.EqualFold(r.Column, a) && strings.EqualFold(r.RefColumn, b) ||
				strings.EqualFold(r.RefTable, t) && strings.EqualFold(r.Table, joined) && strings.EqualFold(r.RefColumn, a) && strings.EqualFold(r.Column, b) {
				return true
			}
		}
	}
	return false
}

// soundsLikeKey reports whether a column refers, by its name, to what is the key of another table
// though nobody declared it: pickup_station to the station_code of stations.
func (x *Index) soundsLikeKey(table, column, ref, key string) bool {
	c, k, t := x.findColumn(table, column), x.findColumn(ref, key), x.findTable(ref)
	if c < 0 || k < 0 || t < 0 || x.columns[c].kind != x.columns[k].kind {
		return false
	}
	if x.guessKey(t) != k && x.tables[t].columns[0] != k {
		return false
	}
	return slices.ContainsFunc(x.columns[c].words, func(w string) bool {
		return slices.ContainsFunc(x.tables[t].words, func(o string) bool { return stem(w) == stem(o) })
	})
}

// multipliedBy names a joined table of which one row of t may have many.
func (x *Index) multipliedBy(t string, tables []string) string {
	for _, o := range tables {
		for _, r := range x.schema.Relations {
			if !strings.EqualFold(o, t) && strings.EqualFold(r.Table, o) && strings.EqualFold(r.RefTable, t) {
				if c := x.findColumn(r.Table, r.Column); c < 0 || !x.columns[c].key {
					return o
				}
			}
		}
	}
	return ""
}

// tableOf finds the table of a column of the plan.
func (j *judge) tableOf(ref string) string {
	if dot := strings.LastIndexByte(ref, '.'); dot >= 0 {
		return ref[:dot]
	}
	for _, t := range append([]string{j.plan.Table}, joinedTables(j.plan)...) {
		if j.r.x.findColumn(t, ref) >= 0 {
			return t
		}
	}
	return ""
}

func joinedTables(p *queryplan.Plan) []string {
	var out []string
	for _, join := range p.Joins {
		out = append(out, join.Table)
	}
	return out
}

// countedTable is the table whose rows the question counts.
func (j *judge) countedTable() string {
	r := j.r
	for i := range r.chunks {
		if r.chunks[i].role != rCount {
			continue
		}
		n := r.nextChunk(i)
		if n >= 0 && unitWords[r.toks[r.chunks[n].from].lemma] != "" {
			continue // how many hours
		}
		for n >= 0 && (r.hasRole(n, rDistinct) || r.hasRole(n, rMention) && r.chunks[n].isValue || r.hasRole(n, rWord)) {
			n = r.nextChunk(n)
		}
		if t, s := r.asTable(n); t >= 0 && s > 0.6 && r.areNear(i, n, 2) {
			return r.x.tableName(t)
		}
	}
	return ""
}

// typeWords stand in front of what they are the type of.
var typeWords = wordSet("type kind sort category class level form")

// checkShown checks that columns that are asked for by name are in the plan.
func (j *judge) checkShown() {
	r := j.r
	for i := range r.chunks {
		c := &r.chunks[i]
		if !r.isNamed(i) || c.cond || len(c.mention.columns) == 0 || c.mention.columns[0].score < 0.95 || len(c.mention.tables) > 0 && c.mention.tables[0].score > 0.7 || r.isVerbLike(i) {
			continue
		}
		if p := r.prevChunk(i); r.isNamed(p) && r.areNear(p, i, 0) && slices.ContainsFunc(r.chunks[p].mention.columns, func(m scored) bool {
			return slices.Contains(j.facts.columns, strings.ToLower(r.x.columns[m.id].name))
		}) {
			continue // the feedback score is the feedback
		}
		if p := r.prevChunk(i); r.hasRole(p, rCount) || r.hasRole(p, rNumber) || r.hasRole(p, rSup) || r.hasRole(p, rDistinct) {
			continue // a number of them is asked for
		}
		if n := r.nextChunk(i); typeWords[r.toks[c.from].lemma] && n >= 0 && r.isNamed(n) || r.hasRole(i, rPeriod) || unitWords[r.toks[c.from].lemma] != "" {
			continue // the type of an insurance is the insurance; a month may be one of any date
		}
		if w := r.toks[c.from].lemma; w == "name" || w == "title" {
			continue // what names a row may be called otherwise
		}
		used := slices.ContainsFunc(c.mention.columns, func(m scored) bool {
			of := &r.x.columns[m.id]
			counted := j.facts.functions[queryplan.Count] > 0 && slices.Contains(j.facts.tables, strings.ToLower(r.x.tableName(of.table)))
			return m.score >= 0.5 && (counted || slices.Contains(j.facts.columns, strings.ToLower(of.name)))
		})
		if !used {
			j.addObjection("Show it.", "The question asks for %q; the plan does not use it.", r.chunkText(c))
		}
	}
}
