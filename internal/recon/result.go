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

// takenPairs holds the pairs of all passes, numbered.
const takenPairs = "recon_taken"

// writeMatches makes the table of matches, one row to a pair, numbered in the order of
// the left rows. For each comparison it has the evidence: both values, the level and its weight.
// The weights of a match and its closeness add up to its score.
func (r *run) writeMatches(ctx context.Context) error {
	amounts := "CAST(NULL AS DOUBLE) AS left_amount, CAST(NULL AS DOUBLE) AS right_amount"
	if j := r.amount(); j >= 0 {
		amounts = fmt.Sprintf("l.a%[1]d / 100.0 AS left_amount, r.a%[1]d / 100.0 AS right_amount", j)
	}
	comparisons, scoring := r.recipe.Comparisons, r.recipe.Scoring
	weights := scoring.weights(comparisons)
	var values, evidence []string
	for j, c := range comparisons {
		values = append(values, fmt.Sprintf("%s AS lv%d, %s AS rv%d", qualified(c.source(r.left, c.Left), "l"), j, qualified(c.source(r.right, c.Right), "r"), j))
		list := each(weights[j], ", ", func(_ int, w int64) string { return fmt.Sprint(w) })
		evidence = append(evidence, fmt.Sprintf("lv%[1]d AS %[2]s_left, rv%[1]d AS %[2]s_right, %[3]s AS %[2]s_level, [0, %[4]s][g%[1]d + 2] / 1000.0 AS %[2]s_weight", j, c.ID, levelNameSQL(c.As, fmt.Sprintf("g%d", j)), list))
	}
	levels := each(comparisons, ", ", func(j int, c Comparison) string { return fmt.Sprintf("%s AS g%d", c.levelSQL(j), j) })
	closeness := each(comparisons, " + ", func(j int, c Comparison) string { return c.closenessSQL(j) })
	inner, shares := compareColumns(comparisons, false)
	all := each(r.passes, " UNION ALL ", func(_ int, p pass) string { return fmt.Sprintf("SELECT *, %s AS rule FROM %s", text(p.rule), p.table) })
	if all == "" {
		all = "SELECT CAST(0 AS BIGINT) AS li, CAST(0 AS BIGINT) AS ri, CAST(0 AS BIGINT) AS s, CAST(0 AS BIGINT) AS margin, CAST(0 AS BIGINT) AS grp, '' AS rule WHERE false"
	}
	if err := r.space.Create(ctx, takenPairs, fmt.Sprintf("SELECT row_number() OVER (ORDER BY li, ri) AS match_id, * FROM (%s)", all)); err != nil {
		return err
	}
	return r.space.Create(ctx, MatchTable, fmt.Sprintf(`SELECT match_id, grp AS group_id, rule,
		CASE WHEN rule = '%s' THEN 'confirmed' WHEN chance >= %g OR chance IS NULL THEN 'auto' ELSE 'suggested' END AS status,
		left_key, right_key, s / 1000.0 AS score, chance, margin / 1000.0 AS margin, left_amount, right_amount, %s, CAST(round(t) AS INTEGER) / 1000.0 AS closeness, li, ri
		FROM (SELECT *, %s, %s AS t, %s AS chance FROM (SELECT %s FROM (SELECT c.*, l.k AS left_key, r.k AS right_key, %s, %s, %s FROM %s)))`,
		ruleConfirmed, scoring.Auto, strings.Join(evidence, ", "), levels, closeness, scoring.chanceSQL("s"), shares,
		amounts, strings.Join(values, ", "), inner, pairsFrom(takenPairs, rowTables{left: readyLeft, right: readyRight}, comparisons)))
}

// levelNameSQL names a level; a missing value has none.
func levelNameSQL(k Kind, g string) string {
	return fmt.Sprintf("['"+levelMissing+"', %s][%s + 2]", each(k.Levels(), ", ", func(_ int, l string) string { return text(l) }), g)
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
	ties := fmt.Sprintf(`SELECT li, ri, s FROM (SELECT *, max(s) OVER (PARTITION BY li) AS ls, max(s) OVER (PARTITION BY ri) AS rs FROM %s) WHERE s = ls OR s = rs`, r.eligible(r.lastCondition()))
	return r.space.Create(ctx, ConflictTable, fmt.Sprintf(`SELECT dense_rank() OVER (ORDER BY c) AS conflict_id, l.k AS left_key, r.k AS right_key, s / 1000.0 AS score, li, ri FROM (
		SELECT *, min(a) OVER (PARTITION BY ri) AS c FROM (SELECT *, min(ri) OVER (PARTITION BY li) AS a FROM (%s)))
		JOIN %s AS l ON l.i = li JOIN %s AS r ON r.i = ri ORDER BY conflict_id, left_key, right_key, li, ri`, ties, readyLeft, readyRight))
}

// lastCondition is what a pair had to meet in the passes by weights.
func (r *run) lastCondition() string {
	if g := r.recipe.Groups; g != nil {
		return "(" + r.equalAmountSQL(g) + " OR " + r.withoutAmountSQL(g) + ")"
	}
	return "true"
}
