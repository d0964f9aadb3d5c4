package nlq

import (
	"fmt"
	"slices"
	"time"

	"interlock/internal/queryplan"
)

// An Ambiguity is a question back, with what the answers would mean.
type Ambiguity struct {
	Question     string        `json:"question"`
	Alternatives []Alternative `json:"alternatives"`
}

// An Alternative is one reading of a question that can be read in several ways.
type Alternative struct {
	Text string          `json:"text"`
	Plan *queryplan.Plan `json:"plan"` // nil where it can be meant and not be planned
	SQL  string          `json:"sql"`
}

// A choice is a place where a reading could have gone another way.
type choice struct {
	key     string
	about   string // the words that can be read in several ways
	options []option
	picked  int
	passing bool // of this question alone: the year of a month, the form of a number
}

// An option is one way. Its id means what the key says: a column, a relation, or a
// counted table (from countedFrom on).
type option struct {
	id   int
	text string
}

const (
	countedFrom = 1 << 20
	// tie is how near in score two names must be to be a real question.
	tie = 0.045
	// maxOptions bounds the alternatives of one question.
	maxOptions = 4
)

// chosenOption returns what the person chose at a place.
func (r *reader) chosenOption(key string) (int, bool) {
	id, ok := r.choices[key]
	return id, ok
}

// offerChoice notes that a place could be read in several ways.
func (r *reader) offerChoice(c choice) {
	if _, ok := r.choices[c.key]; ok || len(c.options) < 2 || slices.ContainsFunc(r.open, func(o choice) bool { return o.key == c.key }) {
		return
	}
	c.options = c.options[:min(len(c.options), maxOptions)]
	r.open = append(r.open, c)
}

func (r *reader) columnOption(id int) option {
	return option{id, r.x.columnText(id)}
}

func (r *reader) columnOptions(ids []int) []option {
	var out []option
	for _, id := range ids {
		out = append(out, r.columnOption(id))
	}
	return out
}

// usesColumn reports whether a part of the frame comes from the column.
func (r *reader) usesColumn(col int) bool {
	return slices.ContainsFunc(r.items, func(x item) bool { return x.col == col }) ||
		slices.ContainsFunc(r.conds, func(x cond) bool { return x.col == col }) ||
		slices.ContainsFunc(r.groups, func(x group) bool { return x.col == col }) ||
		slices.ContainsFunc(r.orders, func(x order) bool { return x.col == col }) ||
		slices.ContainsFunc(r.sups, func(x superlative) bool { return x.col == col })
}

// offerTies offers the names that fitted as well as the one that was taken.
func (r *reader) offerTies() {
	for i := range r.chunks {
		ids := r.ties[i]
		if len(ids) < 2 || !r.chunks[i].used || !r.usesColumn(ids[0]) {
			continue
		}
		kept := ids[:1]
		for _, id := range ids[1:] {
			if !slices.ContainsFunc(kept, func(k int) bool { return r.linkedColumns(k, id) || r.sameReference(k, id) }) {
				kept = append(kept, id)
			}
		}
		r.offerChoice(choice{key: fmt.Sprintf("c%d", i), about: r.chunkText(&r.chunks[i]), options: r.columnOptions(kept), picked: ids[0]})
	}
}

// sameReference reports whether two columns refer to the same table: then they hold
// the same kind of thing and a join makes them equal.
func (r *reader) sameReference(a, b int) bool {
	ca, cb := &r.x.columns[a], &r.x.columns[b]
	return ca.ref >= 0 && ca.ref == cb.ref && ca.table != cb.table
}

// alternatives reads the question in the other ways.
func (g *reading) alternatives(now time.Time) []*reading {
	g.r.offerTies()
	if len(g.r.open) == 0 {
		return nil
	}
	var out []*reading
	for _, o := range g.r.open[0].options {
		choices := map[string]int{g.r.open[0].key: o.id}
		for k, v := range g.r.choices {
			choices[k] = v
		}
		alt := readQuestion(g.r.x, g.text, now, choices)
		if alt.plan == nil || slices.ContainsFunc(out, func(x *reading) bool { return x.sql == alt.sql }) {
			continue
		}
		alt.r.about = o.text
		alt.chosen = chosenAs(g.r.open[0], o.text)
		out = append(out, alt)
	}
	if len(out) < 2 {
		return nil
	}
	return out
}

// askBack makes the question back.
func askBack(g *reading, alternatives []*reading) []Ambiguity {
	about := ""
	if len(g.r.open) > 0 {
		about = g.r.open[0].about
	}
	a := Ambiguity{Question: fmt.Sprintf("What does %q mean here?", about)}
	if about == "when" {
		a.Question = "Which date do you mean?"
	}
	for _, alt := range alternatives {
		a.Alternatives = append(a.Alternatives, Alternative{Text: alt.r.about, Plan: alt.plan, SQL: alt.sql})
	}
	return []Ambiguity{a}
}

// applyClarification takes the alternative that the person chose, or reads question and
// answer together.
func (g *reading) applyClarification(alternatives []*reading, answer string, now time.Time) (*reading, []*reading) {
	readings := make([]string, len(alternatives))
	for i, alt := range alternatives {
		readings[i] = alt.r.about
	}
	if i := pickReading(answer, readings, true); i >= 0 {
		return alternatives[i], alternatives[i].alternatives(now) // what else is open
	}
	said := splitIdentifier(answer)
	best, most, second := -1, 0.0, 0.0
	for i, alt := range alternatives {
		names := splitIdentifier(alt.r.about)
		hits := 0.0
		for _, w := range said {
			if slices.Contains(names, w) {
				hits++
			}
		}
		score := hits / float64(max(1, len(names)))
		if score > most {
			best, second, most = i, most, score
		} else {
			second = max(second, score)
		}
	}
	if best >= 0 && most > second {
		chosen := alternatives[best]
		return chosen, chosen.alternatives(now)
	}
	together := readQuestion(g.r.x, g.text+" "+answer, now, nil)
	if together.plan == nil && g.plan != nil {
		return g, alternatives
	}
	return together, together.alternatives(now)
}

// dropRejected leaves out readings that were judged wrong before.
func dropRejected(first *reading, alternatives []*reading, wrong []string) (*reading, []*reading) {
	bad := func(g *reading) bool { return slices.Contains(wrong, g.sql) }
	if len(wrong) == 0 || first.plan == nil {
		return first, alternatives
	}
	alternatives = slices.DeleteFunc(slices.Clone(alternatives), bad)
	switch {
	case !bad(first) && len(alternatives) < 2:
		return first, nil
	case !bad(first):
		return first, alternatives
	case len(alternatives) > 0:
		if len(alternatives) == 1 {
			return alternatives[0], nil
		}
		return alternatives[0], alternatives
	}
	first.plan, first.reason = nil, "the only way to read the question was judged wrong before"
	return first, nil
}
