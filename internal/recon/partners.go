package recon

import (
	"context"
	"fmt"
)

// Partners gives for rows of the left side the row of the right side that shares the
// most rare words with it, the pairs that share most first. It needs no labels: a
// sample of one side is drawn with its help so that it can match the other.
func (r *Reconciler) Partners(ctx context.Context, in Input, limit int) ([]Pair, error) {
	in.Labels = Labels{}
	l, err := r.prepare(ctx, in)
	if err != nil {
		return nil, err
	}
	if _, err := r.seedPairs(ctx, l); err != nil {
		return nil, err
	}
	return selectRows[Pair](ctx, r.space, fmt.Sprintf(`SELECT lk.k, rk.k FROM (
		SELECT li, ri, s, row_number() OVER (PARTITION BY li ORDER BY s DESC, ri) AS n FROM %s) AS p JOIN %s AS lk ON lk.i = li JOIN %s AS rk ON rk.i = ri
		WHERE n = 1 ORDER BY s DESC, lk.k, li LIMIT %d`, seedTable, stagedLeft, stagedRight, limit))
}
