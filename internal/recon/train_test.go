package recon

import "testing"

// A handful of best pairs among very many decoys are chance, though chance makes few best
// pairs: rows without a partner seldom prefer each other while all others are there.
func TestCurveOfFewBestPairs(t *testing.T) {
	var tallies []tally
	for score := range 50 { // in whole units, from -20
		x := tally{Tenth: int64(10 * (score - 20))}
		switch {
		case score < 15:
			x.Decoys = 16
			x.Best = map[int]int64{5: 1, 10: 1}[score]
		case score < 25:
			x.Decoys = 4
		default:
			x.Best = 20
		}
		tallies = append(tallies, x)
	}
	c := fitCurve(tallies)
	if chance := c.chance[c.bin(-10_000)]; chance >= 0.5 {
		t.Errorf("two best pairs among 240 decoys have the chance %.2f", chance)
	}
	if chance := c.chance[c.bin(20_000)]; chance < 0.99 {
		t.Errorf("best pairs where there are no decoys have the chance %.2f", chance)
	}
	for i := range tallies[:15] {
		tallies[i].Best = 0
	}
	c = fitCurve(tallies)
	if low, high := c.chance[c.bin(-10_000)], c.chance[c.bin(20_000)]; low != 0 || high < 0.99 {
		t.Errorf("decoys only have the chance %.2f, best pairs only %.2f", low, high)
	}
}

// The candidates are chosen by near dates, so that hardly any is far apart. A few far ones
// among the matches are no reason to prefer them.
func TestWeightsOfDatesFallWithDistance(t *testing.T) {
	comparisons := []Comparison{{ID: "c1", As: Date}}
	all, matches := newLevelCounts(comparisons), newLevelCounts(comparisons)
	for g, bin := range lagBins {
		switch {
		case bin.from == 0:
			all[0][g], matches[0][g] = 2000, 90
		case bin.from >= -2 && bin.to <= 2:
			all[0][g], matches[0][g] = 2000, 60
		case bin.from >= -10 && bin.to <= 10:
			all[0][g], matches[0][g] = 900, 20
		default:
			all[0][g], matches[0][g] = 12, 8
		}
	}
	m := firstModel(comparisons, all, matches)
	m.learn(all, matches)
	w := m.weights[0]
	zero := Date.equalLevel()
	for g := range lagBins {
		if w[g] > w[zero]+1e-9 {
			t.Errorf("a lag of %s has the weight %.2f, the same day %.2f", lagBins[g].name, w[g], w[zero])
		}
	}
}
