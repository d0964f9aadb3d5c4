package nlq

import (
	"maps"
	"slices"
	"strings"

	"interlock/internal/queryplan"
)

// checkMeasures compares what is counted, summed or averaged.
func (j *judge) checkMeasures() {
	r, f := j.r, j.facts
	says := map[queryplan.Function]bool{}
	counts := false
	for i := range r.chunks {
		c := &r.chunks[i]
		switch c.role {
		case rAgg:
			if n := r.nextChunk(i); c.phrase.agg == queryplan.Sum && (r.hasRole(n, rCount) || !r.isNamed(n)) {
				continue
			}
			says[c.phrase.agg] = true
		case rCount:
			counts = true
		}
	}
	ranked := len(j.plan.OrderBy) > 0 || j.plan.Top != nil
	for _, want := range []queryplan.Function{queryplan.Avg, queryplan.Median, queryplan.StdDev} {
		if says[want] && f.functions[want] == 0 {
			j.addObjection("Use the function that the question names.", "The question asks for the %s; the plan does not compute it.", want)
		}
	}
	if says[queryplan.Sum] && f.functions[queryplan.Sum]+f.functions[queryplan.Count]+f.functions[queryplan.Share]+f.functions[queryplan.Percent] == 0 {
		j.addObjection("Add the values up.", "The question asks for a total; the plan does not add up.")
	}
	for _, want := range []queryplan.Function{queryplan.Min, queryplan.Max} {
		if says[want] && f.functions[want] == 0 && !ranked {
			j.addObjection("Take the "+string(want)+".", "The question asks for the %s; the plan does not take it.", want)
		}
		other := map[queryplan.Function]queryplan.Function{queryplan.Min: queryplan.Max, queryplan.Max: queryplan.Min}[want]
		if says[want] && !says[other] && f.functions[other] > 0 && f.functions[want] == 0 {
			j.addObjection("Take the "+string(want)+".", "The question asks for the %s, the plan takes the %s.", want, other)
		}
	}
	counted := f.functions[queryplan.Count]+f.functions[queryplan.CountDistinct]+f.functions[queryplan.Sum]+f.functions[queryplan.Percent]+f.functions[queryplan.Share] > 0
	measured := slices.ContainsFunc(slices.Collect(maps.Keys(says)), func(f2 queryplan.Function) bool { return f.functions[f2] > 0 })
	if counts && !counted && !measured && !j.isKeptNumber() && !j.countsByColumn() {
		j.addObjection("Count rows.", "The question asks for a number of rows; the plan counts nothing.")
	}
	other := counts || says[queryplan.Sum] || says[queryplan.Min] || says[queryplan.Max]
	if f.functions[queryplan.Avg] > 0 && !says[queryplan.Avg] && other && !j.vague {
		j.addObjection("Leave the average out.", "The plan takes an average that the question does not ask for.")
	}
	if f.functions[queryplan.Sum] > 0 && (says[queryplan.Avg] && f.functions[queryplan.Avg] == 0 || counts && !says[queryplan.Sum] && j.countedTable() != "" && !j.isKeptNumber() && !j.countsByColumn()) {
		j.addObjection("Use the function that the question names.", "The plan adds up where the question asks for something else.")
	}
	j.checkSums()
}

// countsByColumn reports whether what is counted by the words is a column of numbers that the
// plan uses: how many cylinders does it have.
func (j *judge) countsByColumn() bool {
	r := j.r
	for i := range r.chunks {
		if !r.hasRole(i, rCount) {
			continue
		}
		for n := r.nextChunk(i); n >= 0 && n <= i+3; n = r.nextChunk(n) {
			if !r.isNamed(n) {
				continue
			}
			for _, m := range r.chunks[n].mention.columns {
				if c := &r.x.columns[m.id]; m.score >= 0.5 && c.kind == queryplan.Number && slices.Contains(j.facts.columns, strings.ToLower(c.name)) {
					return true
				}
			}
		}
	}
	return false
}

// isKeptNumber reports whether a column of the plan keeps a number of things.
func (j *judge) isKeptNumber() bool {
	return slices.ContainsFunc(j.facts.columns, func(c string) bool {
		ws := splitIdentifier(c)
		return slices.ContainsFunc(ws, func(w string) bool {
			return w == "number" || w == "num" || w == "count" || w == "quantity" || w == "population" || w == "attendance" || w == "stock" || additive[w]
		})
	})
}

// checkSums finds sums of what cannot be added: averages, rates, years, keys.
func (j *judge) checkSums() {
	var walk func(p *queryplan.Plan)
	walk = func(p *queryplan.Plan) {
		inner := map[string]queryplan.Function{}
		if p.From != nil {
			for _, e := range p.From.Select {
				inner[strings.ToLower(e.Alias)] = e.Function
			}
			walk(p.From)
		}
		for _, e := range p.Select {
			name := strings.ToLower(e.Column[strings.LastIndexByte(e.Column, '.')+1:])
			if e.Function != queryplan.Sum || name == "" {
				continue
			}
			ws := splitIdentifier(name)
			odd := slices.ContainsFunc(ws, func(w string) bool { return notAdded[w] })
			id := j.r.x.isKeyColumn(name)
			if odd || id || inner[name] == queryplan.Avg || inner[name] == queryplan.Median {
				j.addObjection("Average it, or add up what it is made of.", "The plan adds up %s, which cannot be added up.", humanName(name))
			}
		}
	}
	walk(j.plan)
}

// notAdded are words of columns whose sum means nothing.
var notAdded = wordSet("avg average mean median rate ratio percent percentage pct year age rank height temperature rating")

// isKeyColumn reports whether every column of that name is a key or refers to one.
func (x *Index) isKeyColumn(name string) bool {
	found := false
	for i := range x.columns {
		if c := &x.columns[i]; strings.EqualFold(c.name, name) {
			if !c.part && c.ref < 0 {
				return false
			}
			found = true
		}
	}
	return found
}

// checkGroups compares `for each` with what is grouped by.
func (j *judge) checkGroups() {
	r := j.r
	aggregates := slices.ContainsFunc(j.plan.Select, queryplan.Expr.Aggregate)
	each := false
	for i := range r.chunks {
		c := &r.chunks[i]
		if c.role != rEach || !aggregates {
			continue
		}
		if w := c.phrase.words; len(w) == 1 && w[0] == "by" && (!r.isGroupingBy(i) || j.plan.Limit > 0 && len(j.plan.OrderBy) > 0) {
			n := r.nextChunk(i)
			each = each || r.isNamed(n) && j.isGroupedBy(n) // done by: for each of them, or by each of them
			continue
		}
		n := r.nextChunk(i)
		for r.hasRole(n, rDistinct) {
			n = r.nextChunk(n)
		}
		if n < 0 || !r.areNear(i, n, 3) || r.hasRole(n, rNumber) || r.hasRole(n, rCount) {
			continue
		}
		each = true
		if m := r.chunks[n].mention; m != nil && len(m.tables) == 0 && (len(m.columns) == 0 || m.columns[0].score < 0.7) {
			continue // too vague to hold the plan to it
		}
		if t, s := r.asTable(n); s > 0.5 && strings.EqualFold(r.x.tableName(t), j.plan.Table) && j.facts.functions[queryplan.Avg] > 0 && len(j.plan.Joins) == 0 {
			continue // the average per order is that of all orders
		}
		if m := r.nextChunk(n); typeWords[r.toks[r.chunks[n].from].lemma] && m >= 0 && r.isNamed(m) {
			n = m // by type of insurance
		}
		if !r.isNamed(n) && unitWords[r.toks[r.chunks[n].from].lemma] == "" {
			continue // each, ordered by: no name
		}
		if !j.isGroupedBy(n) && !j.groupSounds(n) {
			j.addObjection("Group by it.", "The question wants one row for each %s; the plan does not group so.", r.chunkText(&r.chunks[n]))
		}
	}
	if len(j.plan.GroupBy) == 0 {
		return
	}
	mentioned := slices.ContainsFunc(j.plan.GroupBy, func(t queryplan.Term) bool {
		e := j.resolveAlias(t.Expr)
		return j.isMentioned(e) || j.standsForShown(e) || j.isChosenFrom(e)
	})
	if who := slices.ContainsFunc(r.toks, func(t token) bool { return t.lower == "who" || t.lower == "whom" }); !mentioned && !who && !j.vague {
		j.addObjection("Group by what the question names.", "The plan groups by %s, of which the question does not speak.", describer{}.expr(j.resolveAlias(j.plan.GroupBy[0].Expr)))
		return
	}
	if aggregates && !each && mentioned && !j.vague && len(j.plan.OrderBy) == 0 && len(j.plan.Having) == 0 && j.plan.Top == nil && !j.asksForNameToo() {
		j.addObjection("Do not group.", "The question asks for one number; the plan gives one for each %s.", describer{}.expr(j.resolveAlias(j.plan.GroupBy[0].Expr)))
	}
}

// standsForShown reports whether rows are grouped by a key so that another column of the same
// rows, which the question names, can be shown.
func (j *judge) standsForShown(e queryplan.Expr) bool {
	if e.Column == "" || e.Truncate != "" || e.Part != "" || !j.r.x.isKeyColumn(e.Column[strings.LastIndexByte(e.Column, '.')+1:]) && !j.showsTableOf(e) {
		return false
	}
	if c := j.r.x.findColumn(j.tableOf(e.Column), e.Column[strings.LastIndexByte(e.Column, '.')+1:]); c >= 0 && j.showsName(j.r.x.columns[c].table) {
		return true
	}
	return slices.ContainsFunc(j.plan.Select, func(s queryplan.Expr) bool {
		return s.Column != "" && s.Function == "" && s.Column != e.Column && j.isMentioned(s)
	})
}

// showsName reports whether the plan shows what the rows of a table are called.
func (j *judge) showsName(t int) bool {
	x := j.r.x
	return x.tables[t].display >= 0 && slices.ContainsFunc(j.plan.Select, func(s queryplan.Expr) bool {
		return s.Function == "" && strings.EqualFold(s.Column[strings.LastIndexByte(s.Column, '.')+1:], x.columns[x.tables[t].display].name)
	})
}

// isChosenFrom reports whether the values of a grouped column that the plan keeps are named: road against rail.
func (j *judge) isChosenFrom(e queryplan.Expr) bool {
	return e.Column != "" && slices.ContainsFunc(j.plan.Filters, func(f queryplan.Filter) bool { return f.Column == e.Column && f.Operator == queryplan.In })
}

// showsTableOf reports whether the table of a grouped column is one that the question names.
func (j *judge) showsTableOf(e queryplan.Expr) bool {
	t := j.tableOf(e.Column)
	for i := range j.r.chunks {
		if at, s := j.r.asTable(i); at >= 0 && s > 0.5 && strings.EqualFold(j.r.x.tableName(at), t) {
			return true
		}
	}
	return false
}

// resolveAlias follows an alias to its value.
func (j *judge) resolveAlias(e queryplan.Expr) queryplan.Expr {
	return describer{}.followAlias(j.plan, e)
}

// isGroupedBy reports whether the plan groups by what a mention names.
func (j *judge) isGroupedBy(n int) bool {
	r := j.r
	unit, timed := unitWords[r.toks[r.chunks[n].from].lemma]
	for _, t := range j.plan.GroupBy {
		e := j.resolveAlias(t.Expr)
		if timed && (e.Truncate == unit || string(e.Part) == string(unit)) {
			return true
		}
		if j.namesValue(n, e) {
			return true
		}
	}
	return timed && !r.isNamed(n) && slices.ContainsFunc(j.plan.GroupBy, func(t queryplan.Term) bool { return j.resolveAlias(t.Expr).Truncate == unit })
}

// groupSounds reports whether a word of the question is one of the name of what is grouped by.
func (j *judge) groupSounds(n int) bool {
	c := &j.r.chunks[n]
	return slices.ContainsFunc(j.plan.GroupBy, func(t queryplan.Term) bool {
		e := j.resolveAlias(t.Expr)
		return slices.ContainsFunc(splitIdentifier(e.Column[strings.LastIndexByte(e.Column, '.')+1:]), func(w string) bool {
			return slices.ContainsFunc(j.r.toks[c.from:c.to], func(t token) bool { return stem(w) == t.stem })
		})
	})
}

// namesValue reports whether a mention names the column of a value, or its table where the
// column stands for a row.
func (j *judge) namesValue(n int, e queryplan.Expr) bool {
	r := j.r
	if !r.isNamed(n) || e.Column == "" {
		return false
	}
	name := e.Column[strings.LastIndexByte(e.Column, '.')+1:]
	owner := strings.TrimSuffix(e.Column[:len(e.Column)-len(name)], ".")
	if owner == "" {
		owner = j.plan.Table
	}
	for _, m := range r.chunks[n].mention.columns {
		if c := &r.x.columns[m.id]; m.score > 0.5 && strings.EqualFold(c.name, name) {
			return true
		}
	}
	for _, m := range r.chunks[n].mention.tables {
		if m.score < 0.5 {
			continue
		}
		t := &r.x.tables[m.id]
		if strings.EqualFold(t.name, owner) {
			id := r.x.findColumn(t.name, name)
			if id >= 0 && (id == t.key || id == t.display || slices.Contains(r.x.personName(t.id), id) || len(j.plan.GroupBy) > 1) {
				return true
			}
		}
		if id := r.x.findColumn(owner, name); id >= 0 && r.x.columns[id].ref == t.id {
			return true
		}
	}
	return false
}

// isMentioned reports whether any word names the value.
func (j *judge) isMentioned(e queryplan.Expr) bool {
	if e.Truncate != "" && j.r.countDoubts(rTrend) > 0 {
		return true
	}
	if e.Truncate != "" || e.Part != "" {
		for _, t := range j.r.toks {
			if u, ok := unitWords[t.lemma]; ok && (u == e.Truncate || string(u) == string(e.Part)) {
				return true
			}
		}
	}
	for i := range j.r.chunks {
		if j.namesValue(i, e) {
			return true
		}
	}
	return false
}

// asksForNameToo reports whether the question asks for a name beside the number: teams and
// their number of players.
func (j *judge) asksForNameToo() bool {
	for i := range j.r.chunks {
		c := &j.r.chunks[i]
		if c.role == rAnd || c.role == rDistinct {
			return true
		}
		if j.r.isNamed(i) && !c.cond && isAskedAlone(j.r, i) {
			return true
		}
	}
	return false
}

// isAskedAlone reports whether a mention is asked for by itself: what comes before it is no
// measure.
func isAskedAlone(r *reader, i int) bool {
	p := r.prevChunk(i)
	if p < 0 {
		return true
	}
	role := r.chunks[p].role
	return role != rCount && role != rAgg && role != rSup && role != rMention && len(r.chunks[i].mention.columns) > 0
}
