package nlq

import (
	"slices"

	"interlock/internal/queryplan"
)

// fewest are adjectives whose superlative is the smallest value.
var fewest = wordSet("small short early young light cheap poor bad near inexpensive unpopulated uncommon")

// generic are adjectives that go with any number: the largest stock.
var generic = wordSet("large small long short good bad")

// readSuperlatives reads `the oldest dog`, `the most songs`, `top 3 by price`.
func (r *reader) readSuperlatives() {
	for i := range r.chunks {
		c := &r.chunks[i]
		switch {
		case c.used:
		case c.role == rSup:
			r.readSuperlative(i)
		case c.role == rTop:
			r.readTopN(i)
			r.readFirstOrLast(i)
		case c.role == rAgg && (c.phrase.agg == queryplan.Min || c.phrase.agg == queryplan.Max) && c.cond:
			r.readSuperlative(i)
		}
	}
}

// rowsNextTo finds the number of rows next to a superlative: the 3 youngest.
func (r *reader) rowsNextTo(i int) (int, int) {
	for _, k := range []int{r.prevChunk(i), r.nextChunk(i)} {
		if r.hasRole(k, rNumber) && r.areNear(i, k, 1) && !r.chunks[k].used && r.chunks[k].number >= 1 && r.chunks[k].number <= 1000 {
			if k > i && r.chunks[k].number > 100 {
				continue
			}
			return int(r.chunks[k].number), k
		}
	}
	return 0, -1
}

func (r *reader) readSuperlative(i int) {
	c := &r.chunks[i]
	s := superlative{desc: c.phrase.desc, limit: 1, cond: c.cond}
	s.at, s.col, s.table = i, -1, -1
	if c.role == rAgg {
		s.desc = c.phrase.agg == queryplan.Max
	}
	adj := c.phrase.adj
	if adj != "" {
		s.desc = !fewest[adj]
	}
	if n, k := r.rowsNextTo(i); n > 0 {
		s.limit, s.given = n, true
		r.markUsed(k)
		if p := r.prevChunk(k); r.hasRole(p, rTop) && k < i {
			r.markUsed(p)
		}
	}
	for k := range r.chunks { // the 3 countries with the fewest people
		n := r.nextChunk(k)
		if !s.given && r.hasRole(k, rNumber) && !r.chunks[k].used && !r.chunks[k].cond && k < i && r.isNamed(n) && r.areNear(k, n, 0) && r.chunks[k].number <= 1000 {
			s.limit, s.given = int(r.chunks[k].number), true
			r.markUsed(k)
		}
	}
	j := r.nextChunk(i)
	for r.hasRole(j, rNumber) && r.chunks[j].used {
		j = r.nextChunk(j)
	}
	if r.hasRole(j, rCount) {
		r.markUsed(j)
		j = r.nextChunk(j)
	}
	if r.hasRole(j, rDistinct) {
		r.markUsed(j)
		j = r.nextChunk(j)
		s.distinct = true
	}
	if r.hasRole(j, rAgg) && r.areNear(i, j, 1) {
		s.agg = r.chunks[j].phrase.agg
		r.markUsed(j)
		j = r.nextChunk(j)
	}
	for n := 0; n < 2 && j >= 0 && (r.hasRole(j, rWord) && !r.chunks[j].used || r.hasRole(j, rMention) && r.chunks[j].isValue && r.isNamed(r.nextChunk(j))); n++ {
		j = r.nextChunk(j) // an adjective that says nothing here: the most diverse languages
	}
	if !r.superlativeTarget(&s, i, j, adj) && !r.readMostAsked(&s, i, adj) && !r.readMostTimes(&s, i) {
		return
	}
	r.markUsed(i)
	r.sups = append(r.sups, s)
}

// superlativeTarget finds what a superlative measures.
func (r *reader) superlativeTarget(s *superlative, i, j int, adj string) bool {
	specific := adj != "" && !generic[adj]
	measurable := func(c *column) bool {
		if (!c.number && !c.isCalendar()) || c.ref >= 0 || c.part {
			return false
		}
		return !specific || slices.ContainsFunc(adjectives[adj].hints, func(h hint) bool { return slices.Contains(c.words, h.word) })
	}
	if r.isNamed(j) && r.areNear(i, j, 3) {
		col, cs := r.asColumn(j, r.nearTable(j), measurable)
		t, ts := r.asTable(j)
		counts := adjectives[adj].counts
		switch {
		case counts:
			if h, more := r.columnOfAdjective(adj, t); h >= 0 && t >= 0 && ts > 0.8 {
				s.col, s.desc, s.score, s.cond = h, more == s.desc, 0.7, true
				return true
			}
			return r.readMostCommon(s, j, adj)
		case col >= 0 && cs >= 0.5 && (cs >= ts-0.05 || t < 0):
			s.col, s.score = col, cs
			s.cond = s.cond || adj == "good" || adj == "bad"
			r.markUsed(j)
			return true
		case specific && col < 0 && t < 0:
			// The most recent treatment cost: the cost of the most recent treatment.
			if any, as := r.asColumn(j, r.nearTable(j), nil); any >= 0 && as > 0.6 {
				if h, more := r.columnOfAdjective(adj, r.x.columns[any].table); h >= 0 {
					s.col, s.score, s.cond, s.desc = h, 0.8, true, more
					return true
				}
			}
		case adj != "" && t >= 0:
			if h, more := r.columnOfAdjective(adj, t); h >= 0 {
				s.col, s.score, s.cond = h, 0.85, true
				s.desc = more
				return true
			}
			if amount := r.amountOf(t, nil); generic[adj] && amount >= 0 && ts > 0.7 {
				s.col, s.score, s.cond = amount, 0.8, true // the largest payment
				if !r.chunks[i].cond && !s.given {
					r.items = append(r.items, item{col: amount, table: t, at: j, score: 0.8})
				}
				return true
			}
		case adj == "" && t >= 0 && ts >= 0.55 && r.chunks[i].role == rSup && !(t == r.subject && r.isOnlyTable(t)):
			s.agg, s.table, s.score = queryplan.Count, t, ts
			if s.distinct {
				s.distinct = false
			}
			r.markUsed(j)
			return true
		case adj == "":
			if any, as := r.asColumn(j, -1, nil); any >= 0 && as > 0.6 && r.chunks[i].role == rSup {
				s.agg, s.table, s.score = queryplan.Count, r.x.columns[any].table, as*0.9
				r.markUsed(j)
				return true
			}
		}
		if col >= 0 && cs >= 0.45 {
			s.col, s.score = col, cs
			r.markUsed(j)
			return true
		}
	}
	if adj != "" {
		if h, more := r.columnOfAdjective(adj, r.currentTable(i)); h >= 0 {
			s.col, s.desc, s.score, s.cond = h, more, 0.8, true
			return true
		}
		return false
	}
	if w := r.chunks[i].phrase.words; len(w) > 2 {
		return false // the most number of something that is not known
	}
	// `is worth the most`: the measure stands before.
	for k := i - 1; k >= 0 && k >= i-3; k-- {
		if r.isNamed(k) && !r.chunks[k].used {
			if col, cs := r.asColumn(k, r.currentTable(k), measurable); col >= 0 && cs >= 0.42 {
				s.col, s.score = col, max(cs, 0.7)
				r.markUsed(k)
				return true
			}
			break
		}
	}
	return false
}

// readMostCommon reads `the most common X`: X by the number of its rows.
func (r *reader) readMostCommon(s *superlative, j int, adj string) bool {
	col, cs := r.asColumn(j, r.nearTable(j), nil)
	t, ts := r.asTable(j)
	s.agg = queryplan.Count
	s.desc = adj != "uncommon"
	if col >= 0 && cs >= ts-0.1 && cs > 0.5 {
		c := &r.x.columns[col]
		s.table, s.score = c.table, cs
		r.markUsed(j)
		if !r.chunks[j].cond {
			r.items = append(r.items, item{col: col, table: c.table, at: j, score: cs})
		}
		r.groups = append(r.groups, group{col: col, at: j})
		return true
	}
	if t >= 0 && ts > 0.6 {
		// Rows of the table that refers to it are counted.
		for _, rel := range r.x.schema.Relations {
			if r.x.findTable(rel.RefTable) == t {
				o := r.x.findTable(rel.Table)
				if r.weight[o] > 0.5 || s.table < 0 {
					s.table = o
				}
			}
		}
		s.score = ts * 0.8
		return s.table >= 0
	}
	return false
}

// readTopN reads `top 5 products by revenue`, where no adjective says of what.
func (r *reader) readTopN(i int) {
	n, k := r.rowsNextTo(i)
	if n == 0 {
		return
	}
	for m := k; m < len(r.chunks) && m <= k+2; m++ {
		if r.chunks[m].role == rSup {
			return // the superlative takes the number
		}
	}
	for m := k + 1; m < len(r.chunks); m++ {
		c := &r.chunks[m]
		t := r.toks[c.from].lower
		if c.role == rEach && t == "by" || c.role == rOrder || t == "based" || c.role == rRel && t == "with" {
			j := r.nextChunk(m)
			s := superlative{desc: r.chunks[i].phrase.desc, limit: n, given: true, cond: true}
			s.at, s.col, s.table = i, -1, -1
			if r.hasRole(j, rAgg) || r.hasRole(j, rCount) {
				s.agg = r.chunks[j].phrase.agg
				if r.hasRole(j, rCount) {
					s.agg = queryplan.Count
				}
				r.markUsed(j)
				j = r.nextChunk(j)
			}
			if !r.isNamed(j) {
				return
			}
			if t, ts := r.asTable(j); s.agg == queryplan.Count && t >= 0 {
				s.table, s.score = t, ts
			} else if col, cs := r.asColumn(j, r.currentTable(m), (*column).isNumeric); col >= 0 {
				s.col, s.score = col, cs
			} else if t >= 0 {
				s.agg, s.table, s.score = queryplan.Count, t, ts
			} else {
				return
			}
			r.sups = append(r.sups, s)
			r.markUsed(i, k, m, j)
			return
		}
	}
}

// readFirstOrLast reads `the last order`: the one with the latest date.
func (r *reader) readFirstOrLast(i int) {
	c := &r.chunks[i]
	w := c.phrase.words[len(c.phrase.words)-1]
	if c.used || w != "first" && w != "last" {
		return
	}
	j := r.nextChunk(i)
	t, s := r.asTable(j)
	if t < 0 || s < 0.7 || !r.areNear(i, j, 1) {
		return
	}
	col, n := r.onlyCalendar(t)
	if n == 0 {
		return
	}
	if n > 1 {
		r.doubt("several dates", 1)
	}
	x := superlative{desc: w == "last", limit: 1, cond: true}
	x.at, x.col, x.table, x.score = i, col, -1, 0.8
	r.sups = append(r.sups, x)
	r.markUsed(i)
}

// readMostAsked reads `which language is the most popular`: what is asked for, by the
// number of its rows.
func (r *reader) readMostAsked(s *superlative, i int, adj string) bool {
	if !adjectives[adj].counts {
		return false
	}
	for k := range i {
		if r.isNamed(k) {
			return !r.chunks[k].used && r.readMostCommon(s, k, adj)
		}
	}
	return false
}

// readMostTimes reads `visited most times`, `enrolled the most`: rows of the table that
// the verb names.
func (r *reader) readMostTimes(s *superlative, i int) bool {
	if r.chunks[i].role != rSup || r.chunks[i].phrase.adj != "" && !adjectives[r.chunks[i].phrase.adj].counts {
		return false
	}
	if n := r.nextChunk(i); r.isNamed(n) && r.areNear(i, n, 1) {
		return false
	}
	for k := max(0, i-4); k < i; k++ {
		t := -1
		switch {
		case r.chunks[k].role == rWord && !r.chunks[k].filler:
			t = r.tableOfVerb(k)
		case r.isNamed(k):
			if tt, ts := r.asTable(k); ts > 0.7 {
				t = tt
			}
		}
		if t >= 0 && t != r.subject {
			s.agg, s.table, s.score, s.cond = queryplan.Count, t, 0.75, true
			r.markUsed(k)
			if n := i + 1; n < len(r.chunks) && r.toks[r.chunks[n].from].lemma == "time" {
				r.markUsed(n)
			}
			return true
		}
	}
	return false
}

// isOnlyTable reports whether the question speaks of no other table and of no property
// that rows of the table could be counted by.
func (r *reader) isOnlyTable(t int) bool {
	for i := range r.chunks {
		if !r.isNamed(i) {
			continue
		}
		if o, s := r.asTable(i); o >= 0 && o != t && s > 0.5 {
			return false
		}
		if col, s := r.asColumn(i, t, nil); col >= 0 && s > 0.5 && r.x.tables[t].display != col {
			return false
		}
	}
	return true
}
