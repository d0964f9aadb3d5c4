package recon

import (
	"math"
	"slices"
)

// A model is what training learns: how much each level of each comparison speaks for
// a match, and how likely a pair of some score is one.
type model struct {
	comparisons []Comparison
	match       [][]float64 // share of each level among matches
	other       [][]float64 // and among other candidates
	weights     [][]float64 // log of their ratio
	curve       curve
}

// A curve gives the probability of a score: bins of equal width from low to high.
type curve struct {
	low, high float64
	chance    []float64
}

const scoreBins = 60

// bin is the place of a score, in thousandths, on the curve.
func (c curve) bin(score float64) int {
	x := math.Floor((score - c.low) / (c.high - c.low + 1e-9) * float64(len(c.chance)))
	return int(max(0, min(float64(len(c.chance)-1), x)))
}

// levelCounts has a number for each level of each comparison.
type levelCounts [][]float64

func newLevelCounts(comparisons []Comparison) levelCounts {
	out := make(levelCounts, len(comparisons))
	for j, c := range comparisons {
		out[j] = make([]float64, len(c.As.Levels()))
	}
	return out
}

// firstModel guesses before anything is learned: matches have high levels, and those
// of the confirmed pairs; others are like all candidates.
func firstModel(comparisons []Comparison, all, confirmed levelCounts) *model {
	m := &model{comparisons: comparisons, match: newLevelCounts(comparisons), other: newLevelCounts(comparisons)}
	for j, c := range comparisons {
		n := len(c.As.Levels())
		prior := make([]float64, n)
		total := 0.0
		for g := range prior {
			prior[g] = priorShare(c.As, g)
			total += prior[g]
		}
		sum, known := sumOf(all[j]), sumOf(confirmed[j])
		strength := 3.0
		for g := range n {
			m.other[j][g] = (all[j][g] + 1) / (sum + float64(n))
			m.match[j][g] = (strength*prior[g]/total + confirmed[j][g]) / (strength + known)
		}
	}
	m.weigh()
	return m
}

// priorShare is how much more often matches have a level, before anything is known.
func priorShare(k Kind, g int) float64 {
	if k.ordered() {
		return math.Pow(1.6, float64(g))
	}
	if g >= len(lagBins) {
		return 1
	}
	far := math.Min(math.Abs(float64(lagBins[g].from)), math.Abs(float64(lagBins[g].to)))
	return 8 / (1 + far)
}

// learn takes the levels of likely matches, weighted by their probability, and those of
// all candidates.
func (m *model) learn(all, matches levelCounts) {
	for j := range m.comparisons {
		n := float64(len(m.match[j]))
		sumAll, sumMatch := sumOf(all[j]), sumOf(matches[j])
		for g := range m.match[j] {
			m.match[j][g] = (matches[j][g] + 2/n) / (sumMatch + 2)
			m.other[j][g] = (max(0, all[j][g]-matches[j][g]) + 1/n) / (max(0, sumAll-sumMatch) + 1)
		}
	}
	m.weigh()
}

// settled says that a round of training changed no weight by more than a few thousandths,
// so that a further one would teach nothing.
func settled(before, now [][]float64) bool {
	for j := range now {
		for g := range now[j] {
			if math.Abs(now[j][g]-before[j][g]) > 0.005 {
				return false
			}
		}
	}
	return true
}

// weigh turns shares into weights that never fall while the level rises. Those of dates
// rise to the lag of most matches and fall after it: a lag that is farther from it is never
// stronger evidence, even where hardly any candidate has it.
func (m *model) weigh() {
	m.weights = make([][]float64, len(m.match))
	for j, match := range m.match {
		w, mass := make([]float64, len(match)), make([]float64, len(match))
		for g := range match {
			w[g] = math.Log(match[g] / m.other[j][g])
			mass[g] = match[g] + m.other[j][g]
		}
		if m.comparisons[j].As.ordered() {
			w = isotonic(w, mass)
		} else {
			n := len(lagBins)
			w = append(unimodal(w[:n], mass[:n], maxIndex(match[:n])), w[n:]...)
		}
		m.weights[j] = w
	}
}

// mostlyEqual says that more than half of the matches have equal values in comparison j, or
// values that differ by a cent.
func (m *model) mostlyEqual(j int) bool {
	return sumOf(m.match[j][slices.Index(m.comparisons[j].As.Levels(), "cent"):]) > 0.5
}

// thousandths gives the weights as whole numbers, so that sums are exact.
func (m *model) thousandths() [][]int64 {
	out := make([][]int64, len(m.weights))
	for j, w := range m.weights {
		out[j] = make([]int64, len(w))
		for g, x := range w {
			out[j][g] = int64(math.Round(x * 1000))
		}
	}
	return out
}

// isotonic is the nearest rising sequence, by pooling neighbours that fall.
func isotonic(values, mass []float64) []float64 {
	type block struct {
		value, mass float64
		n           int
	}
	var blocks []block
	for i, v := range values {
		blocks = append(blocks, block{v, mass[i], 1})
		for len(blocks) > 1 && blocks[len(blocks)-2].value > blocks[len(blocks)-1].value {
			a, b := blocks[len(blocks)-2], blocks[len(blocks)-1]
			blocks = append(blocks[:len(blocks)-2], block{(a.value*a.mass + b.value*b.mass) / (a.mass + b.mass), a.mass + b.mass, a.n + b.n})
		}
	}
	out := make([]float64, 0, len(values))
	for _, b := range blocks {
		for range b.n {
			out = append(out, b.value)
		}
	}
	return out
}

// unimodal is the nearest sequence that rises up to a place and falls from there on.
func unimodal(values, mass []float64, top int) []float64 {
	rise := isotonic(values[:top+1], mass[:top+1])
	down, downMass := slices.Clone(values[top:]), slices.Clone(mass[top:])
	slices.Reverse(down)
	slices.Reverse(downMass)
	fall := isotonic(down, downMass)
	slices.Reverse(fall)
	peak := max(rise[top], fall[0])
	return slices.Concat(rise[:top], []float64{peak}, fall[1:])
}

func maxIndex(x []float64) (at int) {
	for i, v := range x {
		if v > x[at] {
			at = i
		}
	}
	return at
}

func sumOf(x []float64) (s float64) {
	for _, v := range x {
		s += v
	}
	return s
}

// A tally counts, for a score in tenths, mutual best pairs and decoys: the mutual best
// pairs once those are taken away, which show what the best wrong partner looks like.
type tally struct {
	Tenth        int64
	Best, Decoys int64
}

// fitCurve compares best pairs with decoys. Scores at which decoys are as frequent as
// best pairs are chance; where there are none, a best pair is a match.
func fitCurve(tallies []tally) curve {
	c := curve{chance: make([]float64, scoreBins)}
	if len(tallies) == 0 {
		c.high = 1
		return c
	}
	total := int64(0)
	for _, t := range tallies {
		total += t.Best + t.Decoys
	}
	seen := int64(0)
	for _, t := range tallies {
		if seen += t.Best + t.Decoys; seen*1000 >= total {
			c.low = float64(t.Tenth) * 100
			break
		}
	}
	c.high = float64(tallies[len(tallies)-1].Tenth+1) * 100
	best, decoys := make([]float64, scoreBins), make([]float64, scoreBins)
	for _, t := range tallies {
		b := c.bin(float64(t.Tenth)*100 + 50)
		best[b] += float64(t.Best)
		decoys[b] += float64(t.Decoys)
	}
	// The low half of the decoys says how many best pairs chance makes for one decoy.
	half, chanceBest, chanceDecoys := 0.0, 0.0, 0.0
	for b := 0; b < scoreBins && half < sumOf(decoys)/2; b++ {
		half += decoys[b]
		chanceBest += best[b]
		chanceDecoys += decoys[b]
	}
	// That none was seen does not say that there are none.
	ratio := max(0.001, min(1, chanceBest/max(1, chanceDecoys)))
	var at []int
	var values, mass []float64
	for b := range scoreBins {
		if best[b]+decoys[b] == 0 {
			continue
		}
		// Neighbours are pooled by their best pairs, of which the chance is told: many decoys
		// and no best pair speak against the few best pairs beside them.
		seen := best[b] + 0.3*ratio
		at, values, mass = append(at, b), append(values, 1-ratio*(decoys[b]+0.3)/seen), append(mass, seen)
	}
	fitted := isotonic(values, mass)
	for i, b := range at {
		c.chance[b] = max(0, min(0.9999, fitted[i]))
	}
	// Of a gap without pairs the lower half is like what lies below it and the upper half
	// like what lies above: the limit is as far from chance as from matches.
	for i := 1; i < len(at); i++ {
		for b := at[i-1] + 1; b < at[i]; b++ {
			c.chance[b] = c.chance[at[i-1]]
			if 2*b >= at[i-1]+at[i] {
				c.chance[b] = c.chance[at[i]]
			}
		}
	}
	for b := at[len(at)-1] + 1; b < scoreBins; b++ {
		c.chance[b] = c.chance[b-1]
	}
	return c
}
