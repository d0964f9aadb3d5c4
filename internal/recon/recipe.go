package recon

import (
	"bytes"
	"encoding/json"
	"math"
	"slices"

	"interlock/internal/schema"
)

// RecipeVersion is the version of the document that this package writes and reads.
const RecipeVersion = 1

// The cardinalities of a recipe.
const (
	OneToOne   = "one_to_one"
	OneToMany  = "one_to_many"  // a left row may have several right ones, whose amounts add up
	ManyToOne  = "many_to_one"  // and the other way round
	ManyToMany = "many_to_many" // both
)

// A Recipe says how two sources are matched. It runs without any model.
type Recipe struct {
	Version     int          `json:"version"`
	Left        Source       `json:"left"`
	Right       Source       `json:"right"`
	Cardinality string       `json:"cardinality"`
	Comparisons []Comparison `json:"comparisons"`
	Candidates  []Key        `json:"candidates"`
	Rules       []Rule       `json:"rules"`
	Scoring     *Scoring     `json:"scoring,omitempty"`
	Groups      *Groups      `json:"groups,omitempty"`
	Learned     *Learned     `json:"learned,omitempty"`
}

// A Source is one side: what it is called outside, its key, and which rows of it
// belong to the reconciliation.
type Source struct {
	Source string             `json:"source,omitempty"`
	Key    string             `json:"key,omitempty"`
	Scope  []schema.Condition `json:"scope,omitempty"`
}

// A Rule matches rows that meet all of its conditions, if each is the other's only
// partner. Rules apply in order.
type Rule struct {
	ID        string      `json:"id"`
	Sentence  string      `json:"sentence"`
	When      []Condition `json:"when"`
	Covered   int         `json:"covered"`   // confirmed pairs that it matches
	Precision float64     `json:"precision"` // estimated share of its matches that are right
	Share     float64     `json:"share"`     // share of the left rows that it matches
}

// A Condition is a demand on one comparison: a level at least, or a range of days from
// the left date to the right one.
type Condition struct {
	Compare string  `json:"compare"`
	AtLeast string  `json:"at_least,omitempty"`
	Days    *[2]int `json:"days,omitempty"`
}

// Scoring matches the rest by the sum of weights: how much each level of each
// comparison speaks for or against a match.
type Scoring struct {
	Weights   map[string]map[string]float64 `json:"weights"`   // by comparison and level
	Chances   []Chance                      `json:"chances"`   // probability from a score on, rising
	Auto      float64                       `json:"auto"`      // probability from which a match needs no eye
	Suggested float64                       `json:"suggested"` // and from which it is one at all
	Patterns  []Pattern                     `json:"patterns,omitempty"`
}

// A Chance is the probability of pairs that score at least From.
type Chance struct {
	From   float64 `json:"from"`
	Chance float64 `json:"chance"`
}

// A Pattern corrects the probability of pairs with exactly these levels, because a
// person decided about such pairs.
type Pattern struct {
	Levels map[string]string `json:"levels"`
	Chance float64           `json:"chance"`
}

// Groups match sums: several rows of one side with one row of the other.
type Groups struct {
	Amount    string  `json:"amount"`              // the comparison that adds up
	Tolerance float64 `json:"tolerance,omitempty"` // by which a sum may differ
	Days      *[2]int `json:"days,omitempty"`      // from the left date to the right one
	Netting   bool    `json:"netting"`             // rows of one side that cancel each other are set aside
	Batches   []Batch `json:"batches,omitempty"`   // whole groups of rows, matched before anything else
}

// Learned says what a recipe was learned from, as a measure for later runs.
type Learned struct {
	Confirmed int     `json:"confirmed"`
	Rejected  int     `json:"rejected"`
	LeftRows  int64   `json:"left_rows"`
	RightRows int64   `json:"right_rows"`
	MatchRate float64 `json:"match_rate"` // share of the rows of the smaller side that are expected to match
}

// Encode writes the document: the same recipe is the same bytes, one line to a fact.
func (r *Recipe) Encode() []byte {
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	e.SetIndent("", "  ")
	if err := e.Encode(r); err != nil {
		panic("recon: a recipe cannot be encoded: " + err.Error())
	}
	return b.Bytes()
}

// weights gives the weights of every level, in thousandths.
func (s *Scoring) weights(comparisons []Comparison) [][]int64 {
	out := make([][]int64, len(comparisons))
	for j, c := range comparisons {
		for _, level := range c.As.Levels() {
			out[j] = append(out[j], int64(math.Round(s.Weights[c.ID][level]*1000)))
		}
	}
	return out
}

// scoreFrom is the lowest score, in thousandths, of at least this probability.
func (s *Scoring) scoreFrom(chance float64) int64 {
	i := slices.IndexFunc(s.Chances, func(c Chance) bool { return c.Chance >= chance })
	if i < 0 {
		return math.MaxInt32
	}
	return int64(math.Ceil(s.Chances[i].From * 1000))
}

// scoring writes a trained model down.
func (m *model) scoring() *Scoring {
	s := &Scoring{Weights: map[string]map[string]float64{}, Auto: 0.9, Suggested: 0.5}
	for j, c := range m.comparisons {
		s.Weights[c.ID] = map[string]float64{}
		for g, level := range c.As.Levels() {
			s.Weights[c.ID][level] = roundTo(m.weights[j][g])
		}
	}
	last := -1.0
	width := (m.curve.high - m.curve.low + 1e-9) / float64(len(m.curve.chance))
	for b, p := range m.curve.chance {
		if p = math.Round(p*1e4) / 1e4; p > last {
			s.Chances = append(s.Chances, Chance{roundTo((m.curve.low + float64(b)*width) / 1000), p})
			last = p
		}
	}
	return s
}
