package recon

import (
	"context"
	"fmt"
)

// amount is the place of the comparison whose values add up: a number with decimals or signs
// whose equality speaks for a match and that is equal in most of them. Prices of two shops
// are none: -1.
func (l *learnt) amount(m *model) int {
	amount, most := -1, 0.5
	for j, c := range l.comparisons {
		if w := m.weights[j]; c.As == Number && !(l.lp.whole(c.Left) && l.rp.whole(c.Right)) && w[len(w)-1] > most && m.mostlyEqual(j) {
			amount, most = j, w[len(w)-1]
		}
	}
	return amount
}

// learnGroups says how sums are searched, if the sides have amounts.
func (r *Reconciler) learnGroups(ctx context.Context, l *learnt) (*Groups, error) {
	amount := l.amount(l.model)
	if amount < 0 {
		return nil, nil
	}
	g := &Groups{Amount: l.comparisons[amount].ID, Netting: true}
	for j, c := range l.comparisons {
		if c.As != Date {
			continue
		}
		lags, err := selectOne[struct{ From, To, N int64 }](ctx, r.space, fmt.Sprintf(`SELECT coalesce(quantile_disc(lag, 0.005), 0), coalesce(quantile_disc(lag, 0.995), 0), count(*) FROM (
			SELECT r.d%[1]d - l.d%[1]d AS lag FROM %[2]s AS b JOIN %[3]s AS l ON l.i = b.li JOIN %[4]s AS r ON r.i = b.ri WHERE b.s >= %[5]d) WHERE lag IS NOT NULL`,
			j, bestPairs, readyLeft, readyRight, l.model.curve.scoreOf(likely)))
		if err != nil {
			return nil, err
		}
		if lags.N >= 20 {
			slack := 7 + (lags.To-lags.From)/2 // parts of a sum are spread more widely
			g.Days = &[2]int{int(lags.From - slack), int(lags.To + slack)}
		}
		break
	}
	var err error
	g.Batches, err = r.learnBatches(ctx, l, amount)
	return g, err
}

// whole says that a column has numbers without decimals and signs: counts or codes.
// Two columns are an amount.
func (p Profile) whole(columns []string) bool {
	for _, c := range p.Columns {
		if len(columns) == 1 && c.Name == columns[0] {
			return c.Whole
		}
	}
	return false
}
