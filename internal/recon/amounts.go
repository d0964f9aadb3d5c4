package recon

import (
	"context"
	"fmt"
	"slices"
)

// withAmounts selects pairs with the amounts la and ra of their rows.
func withAmounts(pairs string, amount int) string {
	return fmt.Sprintf("(SELECT p.li, p.ri, p.s, l.a%[1]d AS la, r.a%[1]d AS ra FROM %[2]s AS p JOIN %[3]s AS l ON l.i = p.li JOIN %[4]s AS r ON r.i = p.ri)", amount, pairs, readyLeft, readyRight)
}

// withoutParts selects the decoys without those that are a further part of a sum: neither
// their amounts are equal nor those of the best pair that shares a row with them, and both
// parts together are no more than the row that they share.
func withoutParts(amount int) string {
	shares := func(row, whole, part string) string {
		return fmt.Sprintf(" ANTI JOIN (SELECT * FROM %[1]s WHERE la <> ra) AS %[2]s ON %[2]s.%[3]s = d.%[3]s AND d.la <> d.ra AND abs(d.%[5]s) + abs(%[2]s.%[5]s) <= abs(d.%[4]s)",
			withAmounts(bestPairs, amount), "b"+row, row, whole, part)
	}
	return fmt.Sprintf("(SELECT d.* FROM %s AS d%s%s)", withAmounts(decoyPairs, amount), shares("li", "la", "ra"), shares("ri", "ra", "la"))
}

const (
	evenChance = 0.5 // the probability at which scores of the two kinds of pairs are compared
	minEqual   = 50  // best pairs with equal amounts from which their chance is told apart
)

// raiseEqualAmounts raises the weight of equal amounts as far as pairs that have them are
// matches from a lower score on than others. The weights of texts fall together where a payer
// wrote nothing, and count each: what they say against a pair is too much then, which the
// second-best partners with equal amounts show, because there are hardly any.
func (r *Reconciler) raiseEqualAmounts(ctx context.Context, m *model, amount int) (bool, error) {
	best, decoys := withAmounts(bestPairs, amount), withoutParts(amount)
	where := func(pairs, condition string) string {
		return fmt.Sprintf("(SELECT s FROM %s WHERE %s)", pairs, condition)
	}
	n, err := r.count(ctx, "SELECT count(*) FROM "+where(best, "abs(la - ra) <= 1"))
	if err != nil || n < minEqual {
		return false, err
	}
	equal, err := r.curveOf(ctx, where(best, "abs(la - ra) <= 1"), where(decoys, "abs(la - ra) <= 1"))
	if err != nil {
		return false, err
	}
	other, err := r.curveOf(ctx, where(best, "abs(la - ra) > 1"), where(decoys, "abs(la - ra) > 1"))
	if err != nil {
		return false, err
	}
	by := float64(other.scoreOf(evenChance)-equal.scoreOf(evenChance)) / 1000
	if by <= 0 {
		return false, nil
	}
	for g := slices.Index(Number.Levels(), "cent"); g < len(m.weights[amount]); g++ {
		m.weights[amount][g] += by
	}
	return true, nil
}
