package nlq

import (
	"fmt"
	"slices"

	"interlock/internal/queryplan"
	"interlock/internal/schema"
)

// An edge is a way from one table to another.
type edge struct {
	from, to int
	rel      schema.Relation
	many     bool // one row of from has many of to
}

// edgesOf lists the ways out of a table.
func (x *Index) edgesOf(t int) []edge {
	var out []edge
	for _, rel := range x.schema.Relations {
		a, b := x.findTable(rel.Table), x.findTable(rel.RefTable)
		if a == t && b >= 0 {
			out = append(out, edge{t, b, rel, false})
		}
		if b == t && a >= 0 && a != b {
			c := x.findColumn(rel.Table, rel.Column)
			out = append(out, edge{t, a, rel, c < 0 || !x.columns[c].key})
		}
	}
	return out
}

// cheapestPath finds the cheapest way between tables; tables that the question
// speaks of cost less to pass.
func (r *reader) cheapestPath(from []int, to int) []edge {
	type node struct {
		cost float64
		via  edge
		ok   bool
	}
	best := make([]node, len(r.x.tables))
	done := make([]bool, len(r.x.tables))
	for _, f := range from {
		best[f] = node{ok: true}
	}
	for {
		cur := -1
		for t, n := range best {
			if n.ok && !done[t] && (cur < 0 || n.cost < best[cur].cost) {
				cur = t
			}
		}
		if cur < 0 || cur == to {
			break
		}
		done[cur] = true
		for _, e := range r.x.edgesOf(cur) {
			if id, ok := r.chosenOption(joinKey(e)); ok && r.x.schema.Relations[id] != e.rel {
				continue
			}
			cost := best[cur].cost + 1 - 0.4*min(1, r.weight[e.to]) - 0.2*r.edgeHint(e)
			if n := &best[e.to]; !n.ok || cost < n.cost-1e-9 {
				*n = node{cost, e, true}
			}
		}
	}
	if !best[to].ok {
		return nil
	}
	var way []edge
	for t := to; !slices.Contains(from, t); {
		e := best[t].via
		way = append(way, e)
		t = e.from
	}
	slices.Reverse(way)
	return way
}

// edgeHint reports whether the question has words of the referring column, where two
// references lead to the same table: departing from speaks of the source.
func (r *reader) edgeHint(e edge) float64 {
	id := r.x.findColumn(e.rel.Table, e.rel.Column)
	if id < 0 {
		return 0
	}
	c := &r.x.columns[id]
	best := 0.0
	if r.x.ownsPair(c) {
		best = 0.3
	}
	for k := range r.toks {
		t := &r.toks[k]
		for _, w := range c.words {
			if weakNames[w] || slices.Contains(r.x.tables[c.table].core, w) || c.ref >= 0 && slices.Contains(r.x.tables[c.ref].core, w) {
				continue
			}
			switch {
			case grammar[t.lower] && !directions[t.lower][w]:
			case directions[t.lower][w], t.lower == "into" && directions["to"][w]:
				best = max(best, 0.5)
			case similar(t, w) > 0.7, stemSynonym(t, w):
				best = 1
			}
		}
	}
	return best
}

// ownsPair reports whether a reference is the owning side of a table that pairs rows of
// one table: in friend(student_id, friend_id) the friends are those of the student.
func (x *Index) ownsPair(c *column) bool {
	own := func(o *column) bool {
		return slices.ContainsFunc(o.words, func(w string) bool {
			return slices.ContainsFunc(x.tables[c.table].core, func(t string) bool { return stem(t) == stem(w) })
		})
	}
	if c.ref < 0 || own(c) {
		return false
	}
	return slices.ContainsFunc(x.tables[c.table].columns, func(id int) bool {
		o := &x.columns[id]
		return o.id != c.id && o.ref == c.ref && own(o)
	})
}

// joinKey names the choice between the references that link two tables.
func joinKey(e edge) string { return fmt.Sprintf("j%d-%d", min(e.from, e.to), max(e.from, e.to)) }

// ambiguousEdge reports whether another reference between the same tables would do as
// well; then the person is asked.
func (r *reader) ambiguousEdge(e edge) bool {
	if _, ok := r.chosenOption(joinKey(e)); ok {
		return false
	}
	var options []option
	for _, o := range r.x.edgesOf(e.from) {
		if o.to == e.to && (o.rel == e.rel || r.edgeHint(o) >= r.edgeHint(e)) {
			options = append(options, option{slices.Index(r.x.schema.Relations, o.rel), fmt.Sprintf("%s by %s", humanName(o.rel.RefTable), humanName(o.rel.Column))})
		}
	}
	r.offerChoice(choice{key: joinKey(e), about: humanName(r.x.tableName(e.to)), options: options})
	return len(options) > 1
}

// mayMultiply reports whether one row of a may have many of b.
func (r *reader) mayMultiply(a, b int) bool {
	if a == b {
		return false
	}
	return slices.ContainsFunc(r.cheapestPath([]int{a}, b), func(e edge) bool { return e.many })
}

// joinTables joins tables to a base. It returns the joins and whether all could be
// linked.
func (r *reader) joinTables(base int, need []int) ([]queryplan.Join, bool) {
	in := []int{base}
	var joins []queryplan.Join
	for _, t := range need {
		if slices.Contains(in, t) {
			continue
		}
		way := r.cheapestPath(in, t)
		if way == nil {
			return nil, false
		}
		for _, e := range way {
			if slices.Contains(in, e.to) {
				continue
			}
			if r.ambiguousEdge(e) {
				r.doubt("two ways to join", 1)
			}
			if r.weight[e.to] < 0.3 && e.to != t {
				r.doubt("table in between", 0.15)
			}
			joins = append(joins, r.join(e))
			in = append(in, e.to)
		}
	}
	return joins, true
}

func (r *reader) join(e edge) queryplan.Join {
	left, right := e.rel.Table+"."+e.rel.Column, e.rel.RefTable+"."+e.rel.RefColumn
	if r.x.findTable(e.rel.Table) == e.to {
		left, right = right, left
	}
	return queryplan.Join{Table: r.x.tableName(e.to), On: []queryplan.Pair{{Left: left, Right: right}}}
}
