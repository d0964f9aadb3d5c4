package nlq

import (
	"math"
	"slices"

	"interlock/internal/queryplan"
)

// A feature is something about a reading that makes it less sure. All are about the
// form of the question and the plan, none about particular data, so that what was
// learned on some databases holds on others.
type feature struct {
	name   string
	weight float64 // log odds per unit
	value  func(e *evidence) float64
}

// evidence is what the features look at.
type evidence struct {
	r    *reader
	plan *queryplan.Plan
}

// bias is the log odds of a reading without any doubt.
const bias = 3.73

// features are the doubts. The first group was fitted by logistic regression on
// questions with known answers; TestCalibration fits it again without each database
// in turn and measures on the one left out. The second group is too rare there to
// learn from and was set by hand.
var features = []feature{
	{"unknown words", -0.5, func(e *evidence) float64 { return float64(len(e.r.unknownWords())) }},
	{"alternatives not used", -0.32, func(e *evidence) float64 { return e.r.countUnusedChunks(rOr) }},
	{"names not used", -0.66, func(e *evidence) float64 { return e.r.countUnusedNames(false) }},
	{"close second", -2.26, func(e *evidence) float64 { return e.r.sumDoubts("close second") }},
	{"two ways to join", -0.61, func(e *evidence) float64 { return e.r.sumDoubts("two ways to join") }},
	{"table in between", -1.43, func(e *evidence) float64 { return e.r.sumDoubts("table in between") }},
	{"counting values", -3, func(e *evidence) float64 {
		return e.r.sumDoubts("counting values") + e.r.sumDoubts("counting a number")
	}},
	{"nothing to show named", -3, func(e *evidence) float64 { return e.r.sumDoubts("nothing to show named") }},
	{"joins", -0.55, func(e *evidence) float64 { return float64(len(e.plan.Joins)) }},
	{"nested", -0.57, func(e *evidence) float64 { return float64(nestedPlans(e.plan)) }},
	{"conditions", -0.34, func(e *evidence) float64 { return float64(len(e.r.conds)) }},
	{"negations", -0.51, func(e *evidence) float64 { return e.r.countDoubts(rNot) }},
	{"superlatives by count", -1.21, func(e *evidence) float64 { return e.r.countSuperlatives(true) }},
	{"superlatives by value", -1.29, func(e *evidence) float64 { return e.r.countSuperlatives(false) }},
	{"numbers kept as text", -2.25, func(e *evidence) float64 { return e.r.comparesTextNumbers() }},
	{"grouped", -0.66, func(e *evidence) float64 { return truthValue(len(e.plan.GroupBy) > 0) }},
	{"grouped by nothing said", -1.18, func(e *evidence) float64 {
		return truthValue(len(e.plan.GroupBy) > 0 && len(e.r.groups) == 0 && len(e.r.sups) == 0 && len(e.plan.Having) == 0)
	}},
	{"no condition at all", -2.37, func(e *evidence) float64 {
		return truthValue(len(e.plan.Filters)+len(e.plan.Having)+len(e.plan.GroupBy)+len(e.plan.OrderBy) == 0 && len(e.r.toks) > 12)
	}},
	{"length", -1.45, func(e *evidence) float64 { return float64(max(0, len(e.r.toks)-12)) / 10 }},

	{"measures not used", -2, func(e *evidence) float64 { return e.r.countUnusedChunks(rSup, rTop, rAgg, rCount, rShare) }},
	{"comparisons not used", -1.5, func(e *evidence) float64 {
		return e.r.countUnusedChunks(rCompare, rNumber, rPeriod, rLike, rOrMore, rEmpty)
	}},
	{"groups not used", -0.3, func(e *evidence) float64 { return e.r.countUnusedChunks(rEach) }},
	{"value not seen", -1.5, func(e *evidence) float64 {
		return e.r.sumDoubts("value not seen") + e.r.sumDoubts("value not in the data")
	}},
	{"several dates", -1, func(e *evidence) float64 { return e.r.sumDoubts("several dates") }},
	{"several superlatives", -2, func(e *evidence) float64 { return e.r.sumDoubts("several superlatives") }},
	{"weak match", -0.5, func(e *evidence) float64 { return max(0, 0.7-e.r.lowestScore()) }},
}

// confidence is the probability that the plan says what was asked.
func confidence(e *evidence) float64 {
	z := bias
	for _, f := range features {
		z += f.weight * f.value(e)
	}
	return 1 / (1 + math.Exp(-z))
}

func truthValue(b bool) float64 {
	if b {
		return 1
	}
	return 0
}

// nestedPlans counts the plans inside a plan.
func nestedPlans(p *queryplan.Plan) int {
	n := 0
	var walk func(fs []queryplan.Filter)
	walk = func(fs []queryplan.Filter) {
		for _, f := range fs {
			if f.Plan != nil {
				n += 1 + nestedPlans(f.Plan)
			}
			walk(f.Any)
			walk(f.All)
			if f.Not != nil {
				walk([]queryplan.Filter{*f.Not})
			}
		}
	}
	walk(p.Filters)
	return n
}

// sumDoubts sums the doubts of a kind.
func (r *reader) sumDoubts(name string) float64 {
	sum := 0.0
	for _, d := range r.doubts {
		if d.name == name {
			sum += d.size
		}
	}
	return sum
}

// unknownWords lists the words that mean nothing here.
func (r *reader) unknownWords() []string {
	var out []string
	for i := range r.chunks {
		c := &r.chunks[i]
		if c.role == rWord && !c.filler && !c.used && !harmless[r.toks[c.from].lemma] && !begins[r.toks[c.from].lower] {
			out = append(out, r.chunkText(c))
		}
	}
	return out
}

// harmless are words that are understood without meaning a part of the plan.
var harmless = wordSet(`live living reside stay locate located base based come belong hold have own perform do offer provide serve play work
	speak spoken produce build design create release receive pay spend buy sell cost visit attend register enrol enroll join go fly depart arrive
	land leave write wrote written read publish published teach study win won lose lead manage run direct star act feature sing compose score
	earn borrow lend loan rent order purchase ship deliver travel drive ride hire employ train compete participate host organise organize conduct
	record issue sign open close start begin finish happen occur keep store carry cover place place receive treat operate undergo assign
	name call title mean describe correspond affiliate respective respectively whole specific certain particular individual sort`)

// countUnusedChunks counts the chunks of some roles that no part of the plan comes
// from.
func (r *reader) countUnusedChunks(roles ...role) float64 {
	n := 0.0
	for i := range r.chunks {
		c := &r.chunks[i]
		if c.used || !slices.Contains(roles, c.role) {
			continue
		}
		word := r.toks[c.from].lower
		if c.role == rShare && word == "share" || c.role == rEach && word == "by" || c.role == rCompare && (c.phrase.op == queryplan.Eq || word == "from") || c.role == rTop && r.isNamed(r.nextChunk(i)) {
			continue // these words often mean nothing
		}
		n++
	}
	return n
}

// countUnusedNames counts names or values that no part of the plan comes from.
func (r *reader) countUnusedNames(values bool) float64 {
	n := 0.0
	for i := range r.chunks {
		if c := &r.chunks[i]; c.role == rMention && !c.used && c.isValue == values {
			n++
		}
	}
	return n
}

// lowestScore is the score of the least certain part.
func (r *reader) lowestScore() float64 {
	w := 1.0
	for _, it := range r.items {
		w = min(w, it.score)
	}
	for _, c := range r.conds {
		w = min(w, c.score)
	}
	for _, s := range r.sups {
		w = min(w, s.score)
	}
	return w
}

// countSuperlatives counts superlatives, by the number of rows or by a value. Ties are likelier
// among the first.
func (r *reader) countSuperlatives(counts bool) float64 {
	n := 0.0
	for _, s := range r.sups {
		if (s.agg != "") == counts {
			n++
		}
	}
	return n
}

// comparesTextNumbers reports whether the plan compares, sorts or condenses numbers that are kept as text.
func (r *reader) comparesTextNumbers() float64 {
	odd := func(col int) bool {
		return col >= 0 && r.x.columns[col].number && r.x.columns[col].kind == queryplan.Text
	}
	if slices.ContainsFunc(r.items, func(it item) bool {
		return it.agg != "" && it.agg != queryplan.Count && it.agg != queryplan.CountDistinct && odd(it.col)
	}) ||
		slices.ContainsFunc(r.sups, func(s superlative) bool { return odd(s.col) }) || slices.ContainsFunc(r.conds, func(c cond) bool { return odd(c.col) }) {
		return 1
	}
	return 0
}

func (r *reader) countDoubts(role role) float64 {
	n := 0.0
	for i := range r.chunks {
		if r.chunks[i].role == role {
			n++
		}
	}
	return n
}
