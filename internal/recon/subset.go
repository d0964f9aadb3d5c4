package recon

import (
	"math"
	"slices"
)

// A part is a row that may belong to a sum.
type part struct {
	row    int64
	amount int64 // cents
	link   int64 // how strongly it belongs to the row whose sum is searched
}

const (
	maxChance = 0.005   // expected number of sums that fit by chance
	maxVisits = 300_000 // steps of one search
)

// findSum searches the parts whose amounts add up to the total. The best linked parts
// are looked at first: the pool grows only while nothing fits. Two ways to reach the
// total in one pool are no answer (several), and neither is a total that so many
// combinations could reach by chance.
func findSum(total, tolerance int64, parts []part, maxParts int) (found []part, several bool) {
	parts = slices.Clone(parts)
	slices.SortFunc(parts, func(a, b part) int {
		if a.link != b.link {
			return int(b.link - a.link)
		}
		return int(a.row - b.row)
	})
	for end := 2; end <= len(parts); end++ {
		if end < len(parts) && parts[end].link == parts[end-1].link {
			continue // rows that are linked alike come together
		}
		pool := parts[:end]
		if chanceOfSum(pool, tolerance, maxParts) > maxChance {
			return nil, false
		}
		ways := sums(total, tolerance, pool, maxParts)
		switch {
		case len(ways) == 1:
			return ways[0], false
		case len(ways) > 1:
			return nil, true
		}
	}
	return nil, false
}

// chanceOfSum estimates how many combinations of the pool would reach a given total if
// amounts were random.
func chanceOfSum(pool []part, tolerance int64, maxParts int) float64 {
	span := int64(0)
	for _, p := range pool {
		span += max(p.amount, -p.amount)
	}
	combinations, choose := 0.0, 1.0
	for k := 1; k <= min(maxParts, len(pool)); k++ {
		choose = choose * float64(len(pool)-k+1) / float64(k)
		if k >= 2 {
			combinations += choose
		}
	}
	return combinations * float64(2*tolerance+1) / math.Max(1, float64(span))
}

// sums lists the first two combinations of at least two parts that reach the total.
func sums(total, tolerance int64, pool []part, maxParts int) [][]part {
	pool = slices.Clone(pool)
	slices.SortFunc(pool, func(a, b part) int {
		if a.amount != b.amount {
			return int(max(b.amount, -b.amount) - max(a.amount, -a.amount))
		}
		return int(a.row - b.row)
	})
	// positive[i] and negative[i] are what the parts from i on can still add.
	positive, negative := make([]int64, len(pool)+1), make([]int64, len(pool)+1)
	for i := len(pool) - 1; i >= 0; i-- {
		positive[i] = positive[i+1] + max(0, pool[i].amount)
		negative[i] = negative[i+1] + min(0, pool[i].amount)
	}
	var out [][]part
	var chosen []part
	visits := 0
	var search func(i int, rest int64)
	search = func(i int, rest int64) {
		if visits++; visits > maxVisits || len(out) > 1 {
			return
		}
		if rest >= -tolerance && rest <= tolerance && len(chosen) >= 2 {
			out = append(out, slices.Clone(chosen))
			return
		}
		if i == len(pool) || len(chosen) == maxParts || rest > positive[i]+tolerance || rest < negative[i]-tolerance {
			return
		}
		chosen = append(chosen, pool[i])
		search(i+1, rest-pool[i].amount)
		chosen = chosen[:len(chosen)-1]
		search(i+1, rest)
	}
	search(0, total)
	if visits > maxVisits {
		return nil
	}
	return out
}
