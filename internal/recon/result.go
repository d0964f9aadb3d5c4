package recon

import (
	"context"
	"fmt"
	"strings"
)

// writeResult makes the tables of the result.
func (r *run) writeResult(ctx context.Context) error {
	for _, write := range []func(context.Context) error{r.writeMatches, r.writeEvidence, r.writeConflicts, r.writeUnmatched} {
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

// writeMatches makes the table of matches, one row to a pair, in the order of keys.
func (r *run) writeMatches(ctx context.Context) error {
	amounts := "CAST(NULL AS DOUBLE) AS left_amount, CAST(NULL AS DOUBLE) AS right_amount"
	if j := r.amount(); j >= 0 {
		amounts = fmt.Sprintf("lr.a%[1]d / 100.0 AS left_amount, rr.a%[1]d / 100.0 AS right_amount", j)
	}
	return r.space.Create(ctx, MatchTable, fmt.Sprintf(`SELECT row_number() OVER (ORDER BY l.k, r.k, li, ri) AS match_id, grp AS group_id, rule,
		CASE WHEN rule = '%s' THEN 'confirmed' WHEN chance >= %g OR chance IS NULL THEN 'auto' ELSE 'suggested' END AS status,
		l.k AS left_key, r.k AS right_key, s / 1000.0 AS score, chance, margin / 1000.0 AS margin, %s, li, ri
		FROM (SELECT *, %s AS chance FROM %s) AS m JOIN %s AS l ON l.i = m.li JOIN %s AS r ON r.i = m.ri JOIN %s AS lr ON lr.i = m.li JOIN %s AS rr ON rr.i = m.ri ORDER BY match_id`,
		ruleConfirmed, r.recipe.Scoring.Auto, amounts, r.recipe.Scoring.chanceSQL("s"), r.taken, stagedLeft, stagedRight, readyLeft, readyRight))
}

const matchLevels = "recon_matchlevels"

// writeEvidence makes the waterfall: for each match one row to a comparison, with both
// values, the level and its weight. The weights of a match and its closeness add up to
// its score.
func (r *run) writeEvidence(ctx context.Context) error {
	if err := r.makeLevels(ctx, matchLevels, r.taken, r.recipe.Comparisons); err != nil {
		return err
	}
	weights := r.recipe.Scoring.weights(r.recipe.Comparisons)
	parts := []string{}
	for j, c := range r.recipe.Comparisons {
		parts = append(parts, fmt.Sprintf(`SELECT m.match_id, %d AS step, %s AS compare, %s AS left_value, %s AS right_value, %s AS level, [0, %s][v.g%d + 2] / 1000.0 AS weight
			FROM %s AS m JOIN %s AS v ON v.li = m.li AND v.ri = m.ri JOIN %s AS l ON l.i = m.li JOIN %s AS r ON r.i = m.ri`,
			j+1, text(c.ID), qualified(c.source(r.left, c.Left), "l"), qualified(c.source(r.right, c.Right), "r"), levelNameSQL(c.As, fmt.Sprintf("v.g%d", j)),
			each(weights[j], ", ", func(_ int, w int64) string { return fmt.Sprint(w) }), j, MatchTable, matchLevels, stagedLeft, stagedRight))
	}
	parts = append(parts, fmt.Sprintf("SELECT m.match_id, %d, 'closeness', NULL, NULL, NULL, v.t / 1000.0 FROM %s AS m JOIN %s AS v ON v.li = m.li AND v.ri = m.ri", len(parts)+1, MatchTable, matchLevels))
	return r.space.Create(ctx, EvidenceTable, "SELECT * FROM ("+strings.Join(parts, " UNION ALL ")+") ORDER BY match_id, step")
}

// levelNameSQL names a level; a missing value has none.
func levelNameSQL(k Kind, g string) string {
	return fmt.Sprintf("['missing', %s][%s + 2]", each(k.Levels(), ", ", func(_ int, l string) string { return text(l) }), g)
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
		JOIN %s AS l ON l.i = li JOIN %s AS r ON r.i = ri ORDER BY conflict_id, left_key, right_key, li, ri`, ties, stagedLeft, stagedRight))
}

// lastCondition is what a pair had to meet in the passes by weights.
func (r *run) lastCondition() string {
	if g := r.recipe.Groups; g != nil {
		return "(" + r.equalAmountSQL(g) + " OR " + r.withoutAmountSQL(g) + ")"
	}
	return "true"
}
