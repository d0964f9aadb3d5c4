package nlq

import (
	"slices"
	"strings"

	"interlock/internal/queryplan"
)

// readGrouping reads `for each country`, `per month`, `by region`.
func (r *reader) readGrouping() {
	for i := range r.chunks {
		c := &r.chunks[i]
		if c.role == rTrend && !c.used {
			if slices.ContainsFunc(r.groups, func(g group) bool { return g.unit != "" }) {
				r.markUsed(i) // the trend over time: said twice
			} else if r.groupByUnit(i, "month") {
				r.groups[len(r.groups)-1].wide = true
				r.markUsed(i)
			}
			continue
		}
		if c.role == rWord && !c.used {
			if u, ok := unitWords[r.toks[c.from].lower]; ok && strings.HasSuffix(r.toks[c.from].lower, "ly") {
				r.groupByUnit(i, u)
			}
			continue
		}
		if c.used || c.role != rEach {
			continue
		}
		if w := c.phrase.words; len(w) == 1 && w[0] == "by" && !r.isGroupingBy(i) {
			continue
		}
		if !r.hasMeasure() {
			r.markUsed(i) // each treatment: all of them
			continue
		}
		j := r.nextChunk(i)
		for r.hasRole(j, rDistinct) || r.hasRole(j, rCount) {
			r.markUsed(j)
			j = r.nextChunk(j)
		}
		if j < 0 || !r.areNear(i, j, 3) {
			continue
		}
		if r.addGroup(i, j) {
			if w := c.phrase.words; w[0] == "by" || w[0] == "per" || len(w) == 2 && w[1] == "by" || len(w) == 3 && w[2] == "by" {
				r.groups[len(r.groups)-1].wide = true
			}
			for n := len(r.groups) - 1; ; { // by region and product
				k := r.nextChunk(j)
				m := r.nextChunk(k)
				if !r.hasRole(k, rAnd) || !r.isNamed(m) || !r.areNear(j, m, 2) || r.chunks[m].mention == nil || len(c.phrase.words) != 1 || !r.addGroup(i, m) {
					break
				}
				r.groups[len(r.groups)-1].wide = r.groups[n].wide
				r.markUsed(k)
				j = m
			}
		}
	}
}

// hasMeasure reports whether the question has anything to compute per group.
func (r *reader) hasMeasure() bool {
	for k := range r.chunks {
		switch r.chunks[k].role {
		case rCount, rAgg, rShare, rSup, rTop:
			return true
		case rEach:
			if w := r.chunks[k].phrase.words[0]; (w == "by" || w == "per") && r.isGroupingBy(k) {
				return true
			}
		}
	}
	return false
}

// isGroupingBy tells `sales by region` from `owned by a person`.
func (r *reader) isGroupingBy(i int) bool {
	if i == 0 {
		return false
	}
	p := r.toks[r.chunks[i].from-1].lower
	if r.toks[r.chunks[i].from].lower != "per" && (strings.HasSuffix(p, "ed") || strings.HasSuffix(p, "en") || irregularDone[p]) {
		return false
	}
	for k := range r.chunks {
		if role := r.chunks[k].role; role == rCount || role == rAgg || role == rShare {
			return true
		}
	}
	// Revenue by region: an amount stands before.
	for k := range i {
		if r.isNamed(k) && !r.chunks[k].cond {
			if col, s := r.asColumn(k, -1, (*column).isNumeric); col >= 0 && s > 0.6 {
				return true
			}
		}
	}
	if r.toks[0].lower == "how" && len(r.toks) > 1 && r.toks[1].lower == "much" {
		return true
	}
	return r.toks[0].lower != "which" && len(r.toks) <= 8
}

var irregularDone = wordSet("made built sold bought run won sung written taught held led read done spoken given taken driven grown paid")

func (r *reader) addGroup(i, j int) bool {
	word := r.toks[r.chunks[j].from].lower
	if r.isNamed(j) {
		t, ts := r.asTable(j)
		col, cs := r.asColumn(j, r.currentOrSubject(i), nil)
		if col >= 0 && r.x.columns[col].ref >= 0 && (t < 0 || ts < 0.85) && !r.hasWord(col, "id", "code") {
			t, ts = r.x.columns[col].ref, cs // a reference stands for what it refers to
		}
		unit, timed := unitWords[lemma(word)]
		switch {
		case timed && col >= 0 && r.x.columns[col].date:
			r.groups = append(r.groups, group{col: col, unit: unit, at: j, each: true})
		case t >= 0 && ts >= 0.55 && ts >= cs-0.12:
			g := group{col: r.x.tables[t].key, at: j, each: true}
			if g.col < 0 {
				g.col = r.x.tables[t].display
			}
			if g.col < 0 {
				return false
			}
			r.groups = append(r.groups, g)
			if r.subject < 0 {
				r.subject = t
			}
		case col >= 0 && cs >= 0.5:
			r.groups = append(r.groups, group{col: col, at: j, each: true})
		default:
			return false
		}
		r.markUsed(i, j)
		return true
	}
	if u, ok := unitWords[lemma(word)]; ok {
		if r.groupByUnit(j, u) {
			r.markUsed(i)
			return true
		}
	}
	return false
}

func (r *reader) currentOrSubject(i int) int {
	if t := r.currentTable(i); t >= 0 {
		return t
	}
	return r.subject
}

// groupByUnit groups by month or year of the only date of the table spoken of.
func (r *reader) groupByUnit(i int, unit queryplan.Unit) bool {
	if k := r.nextChunk(i); r.isNamed(k) && r.areNear(i, k, 2) {
		if col, s := r.asColumn(k, r.currentOrSubject(i), func(c *column) bool { return c.date }); col >= 0 && s > 0.5 {
			r.groups = append(r.groups, group{col: col, unit: unit, at: i, each: true}) // month of the order date
			r.markUsed(i, k)
			return true
		}
	}
	for _, t := range []int{r.currentOrSubject(i), r.subject} {
		if t < 0 {
			continue
		}
		date, n := r.onlyCalendar(t)
		if n == 0 || !r.x.columns[date].date {
			continue
		}
		if n > 1 {
			r.doubt("several dates", 1)
		}
		r.groups = append(r.groups, group{col: date, unit: unit, at: i, each: true})
		r.markUsed(i)
		return true
	}
	return false
}
