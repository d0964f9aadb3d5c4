package recon

import (
	"context"
	"fmt"
	"strings"
)

// writeResult makes the tables of the result.
func (r *run) writeResult(ctx context.Context) error {
	for _, write := range []func(context.Context) error{r.writeMatches, r.writeConflicts, r.writeUnmatched} {
		if err := write(ctx); err != nil {
			return err
		}
	}
	return nil
}

// chanceSQL is the probability of a score in thousandths.
func (s *Scoring) chanceSQL(score string) string {
	var b strings.Builder
	fmt.Fprintf(&b, "CASE WHEN %s IS NULL THEN NULL", score)
	for i := len(s.Chances) - 1; i >= 0; i-- {
		fmt.Fprintf(&b, " WHEN %s >= %d THEN %g", score, int64(s.Chances[i].From*1000), s.Chances[i].Chance)
	}
	return b.String() + " ELSE 0 END"
}

// amount gives the comparison that adds up, or -1.
func (r *run) amount() int {
	if r.recipe.Groups == nil {
		return -1
	}
	return indexOf(r.recipe.Comparisons, r.recipe.Groups.Amount)
}

// qualified puts an alias before the cells of a staged row.
func qualified(sql, alias string) string {
	for i := 0; strings.Contains(sql, "v"); i++ {
		if i > 4096 {
			break
		}
		sql = replaceColumn(sql, fmt.Sprintf("v%d", i), alias)
	}
	return sql
}

// writeConflicts lists the pairs between which no choice was made, because a row
// prefers several partners alike.
func (r *run) writeConflicts(ctx context.Context) error {
	amounts := amountsSQL(r.amount())
	ties := fmt.Sprintf(`SELECT li, ri, s FROM (SELECT *, max(s) OVER (PARTITION BY li) AS ls, max(s) OVER (PARTITION BY ri) AS rs FROM %s) WHERE s = ls OR s = rs`, r.eligible(r.lastCondition()))
	return r.space.Create(ctx, ConflictTable, fmt.Sprintf(`SELECT dense_rank() OVER (ORDER BY c) AS conflict_id, l.k AS left_key, r.k AS right_key, %s, s / 1000.0 AS score, li, ri FROM (
		SELECT *, min(a) OVER (PARTITION BY ri) AS c FROM (SELECT *, min(ri) OVER (PARTITION BY li) AS a FROM (%s)))
		JOIN %s AS l ON l.i = li JOIN %s AS r ON r.i = ri ORDER BY conflict_id, left_key, right_key, li, ri`, amounts, ties, readyLeft, readyRight))
}

// lastCondition is what a pair had to meet in the passes by weights.
func (r *run) lastCondition() string {
	if g := r.recipe.Groups; g != nil {
		return "(" + r.equalAmountSQL(g) + " OR " + r.withoutAmountSQL(g) + ")"
	}
	return "true"
}
