package recon

import (
	"context"
	"fmt"
	"math"
	"slices"
)

const (
	rulePrecision = 0.98 // share of right pairs that a rule needs; that each row must have one partner only raises it
	maxRules      = 5
	minNew        = 0.02 // of the expected matches that a further rule must add
)

// A patternCount is how many candidates have a pattern, and how many of them are
// likely matches, confirmed and rejected.
type patternCount struct {
	Pattern, All, Likely, Confirmed, Rejected int64
}

// patternCounts groups the compared candidates, the most frequent first.
func (r *Reconciler) patternCounts(ctx context.Context, m *model) ([]patternCount, error) {
	return selectRows[patternCount](ctx, r.space, fmt.Sprintf(`SELECT p, count(*) AS n, count(*) FILTER (b.s >= %d OR k.w = 1), count(*) FILTER (k.w = 1), count(*) FILTER (k.w = 0)
		FROM %s AS v LEFT JOIN %s AS b ON b.li = v.li AND b.ri = v.ri LEFT JOIN %s AS k ON k.li = v.li AND k.ri = v.ri GROUP BY p ORDER BY n DESC, p LIMIT 60000`,
		m.curve.scoreOf(likely), levelTable, bestPairs, labelled))
}

// ruleLevels are the levels that conditions may ask for.
var ruleLevels = map[Kind][]string{
	Text:      {"equal", "near", "close"},
	Words:     {"equal", "14/16", "11/16", "8/16"},
	Reference: {"equal", "number", "contained"},
	Number:    {"equal", "cent", "1%"},
}

// listConditions lists what rules may demand.
func listConditions(m *model) []Condition {
	var out []Condition
	for j, c := range m.comparisons {
		if c.allText() {
			continue
		}
		for _, level := range ruleLevels[c.As] {
			out = append(out, Condition{Compare: c.ID, AtLeast: level})
		}
		if c.As == Date {
			if days, ok := usualDays(m.weights[j]); ok {
				out = append(out, Condition{Compare: c.ID, Days: &days})
			}
			out = append(out, Condition{Compare: c.ID, Days: &[2]int{}})
		}
	}
	return out
}

// usualDays is the range of lags around the best one that speaks for a match.
func usualDays(weights []float64) ([2]int, bool) {
	best := 0
	for g := range lagBins {
		if weights[g] > weights[best] {
			best = g
		}
	}
	from, to := best, best
	for from > 1 && weights[from-1] > 0 {
		from--
	}
	for to < len(lagBins)-2 && weights[to+1] > 0 {
		to++
	}
	days := [2]int{lagBins[from].from, lagBins[to].to}
	return days, weights[best] > 0 && days[0] > -farDays && days[1] < farDays
}

// meets says whether levels meet a condition.
func (c Condition) meets(levels []int, comparisons []Comparison) bool {
	j := indexOf(comparisons, c.Compare)
	g := levels[j]
	if c.Days != nil {
		return g >= 0 && g < len(lagBins) && lagBins[g].from >= c.Days[0] && lagBins[g].to <= c.Days[1]
	}
	return g >= slices.Index(comparisons[j].As.Levels(), c.AtLeast)
}

// A draft is a set of conditions with the patterns that meet it.
type draft struct {
	set                              []int // conditions
	patterns                         []int
	all, likely, confirmed, rejected int64
}

// distil finds a few rules that say most of what the weights say. A rule that would
// match a rejected pair is none.
func distil(ctx context.Context, m *model, patterns []patternCount, leftRows int64) ([]Rule, error) {
	conditions := listConditions(m)
	met := make([][]bool, len(conditions))
	where := make([][]int, len(conditions)) // the patterns that meet a condition
	for i, c := range conditions {
		met[i] = make([]bool, len(patterns))
		for k, p := range patterns {
			if met[i][k] = c.meets(unpack(p.Pattern, len(m.comparisons)), m.comparisons); met[i][k] {
				where[i] = append(where[i], k)
			}
		}
	}
	total := int64(0)
	for _, p := range patterns {
		total += p.Likely
	}
	least := max(1, int64(math.Ceil(minNew*float64(total))))
	var drafts []draft
	eachConjunction(conditions, func(set []int) {
		if ctx.Err() != nil {
			return
		}
		d := draft{set: slices.Clone(set)}
		narrow := set[0]
		for _, i := range set {
			if len(where[i]) < len(where[narrow]) {
				narrow = i
			}
		}
		for _, k := range where[narrow] {
			if holdsAll(met, set, k) {
				p := patterns[k]
				d.patterns = append(d.patterns, k)
				d.all, d.likely, d.confirmed, d.rejected = d.all+p.All, d.likely+p.Likely, d.confirmed+p.Confirmed, d.rejected+p.Rejected
			}
		}
		if d.likely >= least && d.rejected == 0 && float64(d.likely) >= rulePrecision*float64(d.all) {
			drafts = append(drafts, d)
		}
	}, m.comparisons)
	return chooseDrafts(drafts, patterns, conditions, m.comparisons, least, leftRows), ctx.Err()
}

// chooseDrafts takes the draft that matches most of what is left, again and again.
func chooseDrafts(drafts []draft, patterns []patternCount, conditions []Condition, comparisons []Comparison, least, leftRows int64) []Rule {
	covered := make([]bool, len(patterns))
	rules := []Rule{}
	for len(rules) < maxRules {
		best, most := -1, least-1
		for i, d := range drafts {
			fresh := int64(0)
			for _, k := range d.patterns {
				if !covered[k] {
					fresh += patterns[k].Likely
				}
			}
			if fresh > most || best >= 0 && fresh == most && len(d.set) < len(drafts[best].set) {
				best, most = i, fresh
			}
		}
		if best < 0 {
			break
		}
		d := drafts[best]
		rule := Rule{
			ID: fmt.Sprintf("r%d", len(rules)+1), Covered: int(d.confirmed),
			Precision: roundTo(float64(d.likely) / float64(max(1, d.all))), Share: roundTo(math.Min(1, float64(d.likely)/float64(max(1, leftRows)))),
		}
		for _, i := range d.set {
			rule.When = append(rule.When, conditions[i])
		}
		rule.Sentence = rule.sentence(comparisons)
		rules = append(rules, rule)
		for _, k := range d.patterns {
			covered[k] = true
		}
	}
	return rules
}

func holdsAll(met [][]bool, set []int, pattern int) bool {
	for _, i := range set {
		if !met[i][pattern] {
			return false
		}
	}
	return true
}

// eachConjunction visits sets of one to three conditions on different comparisons, of
// which at least one makes rows equal in something.
func eachConjunction(conditions []Condition, visit func([]int), comparisons []Comparison) {
	findable := func(set []int) bool {
		var r Rule
		for _, i := range set {
			r.When = append(r.When, conditions[i])
		}
		return len(r.key(comparisons).All) > 0
	}
	apart := func(i, j int) bool { return conditions[i].Compare != conditions[j].Compare }
	for i, c := range conditions {
		// That two amounts or days are equal is never enough.
		kind := comparisons[indexOf(comparisons, c.Compare)].As
		if kind != Number && kind != Date && findable([]int{i}) {
			visit([]int{i})
		}
		for j := i + 1; j < len(conditions); j++ {
			if !apart(i, j) {
				continue
			}
			if findable([]int{i, j}) {
				visit([]int{i, j})
			}
			for k := j + 1; k < len(conditions); k++ {
				if apart(i, k) && apart(j, k) && findable([]int{i, j, k}) {
					visit([]int{i, j, k})
				}
			}
		}
	}
}
