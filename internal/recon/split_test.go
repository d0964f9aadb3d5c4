package recon

import (
	"slices"
	"strings"
	"testing"
)

// Amounts with signs on one side meet a credit and a debit column on the other, whether the
// column that is not used is empty or nought. Of two entries that differ in an account only,
// which the other side does not know, none is taken.
func TestCreditAndDebit(t *testing.T) {
	for _, unused := range []string{"", "0,00"} {
		left, right, pairs := hostileRows(120)
		for i := range left {
			value := strings.TrimSuffix(right[i][3], " EUR")
			left[i] = append(left[i], []string{"8400", "1200"}[i%2])
			right[i] = append(right[i], unused)
			right[i][3], right[i][5] = value, unused
			if i%3 == 0 {
				left[i][3] = "-" + left[i][3]
				right[i][3], right[i][5] = unused, value
			}
		}
		twice := slices.Clone(left[60])
		twice[0], twice[5] = "again", "4400"
		s := newSpace(t)
		s.table(t, "l", append(slices.Clone(leftHead), "account"), append(left, twice))
		s.table(t, "r", append(slices.Clone(rightHead), "out"), right)
		in := Input{Left: Side{"l", "k"}, Right: Side{"r", "k"}, Labels: Labels{Confirmed: pairs[:5]}}
		recipe, outcome := s.learnAndRun(t, in)
		amount := recipe.Comparisons[indexOf(recipe.Comparisons, recipe.Groups.Amount)]
		if !slices.Equal(amount.Right, []string{"value", "out"}) || amount.Opposite {
			t.Errorf("the amount is compared with %v", amount.Right)
		}
		if again, err := ParseRecipe(recipe.Encode()); err != nil || string(again.Encode()) != string(recipe.Encode()) {
			t.Errorf("the recipe cannot be read again: %v", err)
		}
		if outcome.Matched != 119 || outcome.Ambiguous != 3 || outcome.AmountMatched != outcome.MatchedRight {
			t.Errorf("%+v", outcome)
		}
		s.checkResult(t, outcome)
	}
}
