package recon

import (
	"context"
	"fmt"
	"slices"
	"strings"
)

const (
	// takenPairs holds the pairs of all passes, numbered in the order of the left rows, with
	// the place of their pass and their levels.
	takenPairs = "recon_taken"

	bareTaken  = "recon_baretaken" // pairs of passes that did not compare them
	bareLevels = "recon_barelevels"
)

// writeMatches makes the table of matches, one row to a pair. For each comparison it has
// the evidence: both values, the level and its weight. The weights of a match and its
// closeness add up to its score.
func (r *run) writeMatches(ctx context.Context) error {
	if err := r.numberTaken(ctx); err != nil {
		return err
	}
	amounts := amountsSQL(r.amount())
	comparisons, scoring := r.recipe.Comparisons, r.recipe.Scoring
	weights := scoring.weights(comparisons)
	var evidence []string
	score := "c.s" // a pair that a rule took has no score of its own: what its comparisons say
	if len(scoring.Chances) > 0 {
		score = "coalesce(c.s, c.t"
	}
	for j, c := range comparisons {
		weight := "0"
		if len(scoring.Chances) > 0 {
			weight = fmt.Sprintf("[0, %s][c.g%d + 2]", joinNumbers(weights[j]), j)
			score += " + " + weight
		}
		evidence = append(evidence, fmt.Sprintf("%[2]s AS %[1]s_left, %[3]s AS %[1]s_right, %[4]s AS %[1]s_level, %[5]s / 1000.0 AS %[1]s_weight", c.ID,
			qualified(c.source(r.left, c.Left), "l"), qualified(c.source(r.right, c.Right), "r"), levelNameSQL(c.As, fmt.Sprintf("c.g%d", j)), weight))
	}
	if len(scoring.Chances) > 0 {
		score += ")"
	}
	rule := "''"
	if len(r.passes) > 0 {
		rule = "[" + each(r.passes, ", ", func(_ int, p pass) string { return text(p.rule) }) + "][c.pass + 1]"
	}
	chance := scoring.chanceSQL("c.s")
	return r.space.Create(ctx, MatchTable, fmt.Sprintf(`SELECT c.match_id, c.grp AS group_id, %[1]s AS rule,
		CASE WHEN %[1]s = '%[2]s' THEN 'confirmed' WHEN %[3]s >= %[4]g OR c.s IS NULL THEN 'auto' ELSE 'suggested' END AS status,
		l.k AS left_key, r.k AS right_key, %[10]s / 1000.0 AS score, %[3]s AS chance, c.margin / 1000.0 AS margin, %[5]s, %[6]s, c.t / 1000.0 AS closeness, c.li, c.ri
		FROM %[7]s AS c JOIN %[8]s AS l ON l.i = c.li JOIN %[9]s AS r ON r.i = c.ri`,
		rule, ruleConfirmed, chance, scoring.Auto, amounts, strings.Join(evidence, ", "), takenPairs, readyLeft, readyRight, score))
}

// amountsSQL selects the amounts of two rows l and r by the comparison that adds up, if any.
func amountsSQL(comparison int) string {
	if comparison < 0 {
		return "CAST(NULL AS DOUBLE) AS left_amount, CAST(NULL AS DOUBLE) AS right_amount"
	}
	return fmt.Sprintf("l.a%[1]d / 100.0 AS left_amount, r.a%[1]d / 100.0 AS right_amount", comparison)
}

// numberTaken brings the pairs of all passes together, in the order of the left rows, and
// compares those that no pass compared.
func (r *run) numberTaken(ctx context.Context) error {
	levels := each(r.recipe.Comparisons, "", func(j int, _ Comparison) string { return fmt.Sprintf(", g%d", j) })
	var parts, bare []string
	for i, p := range r.passes {
		sql := fmt.Sprintf("SELECT li, ri, s, margin, grp, CAST(%d AS SMALLINT) AS pass", i)
		if p.compared {
			parts = append(parts, sql+", t"+levels+" FROM "+p.table)
		} else {
			bare = append(bare, sql+" FROM "+p.table)
		}
	}
	if len(bare) > 0 || len(r.passes) == 0 {
		all := strings.Join(bare, " UNION ALL ")
		if all == "" {
			all = "SELECT CAST(0 AS BIGINT) AS li, CAST(0 AS BIGINT) AS ri, CAST(0 AS BIGINT) AS s, CAST(0 AS BIGINT) AS margin, CAST(0 AS BIGINT) AS grp, CAST(0 AS SMALLINT) AS pass WHERE false"
		}
		if err := r.space.Create(ctx, bareTaken, all); err != nil {
			return err
		}
		if err := r.makeLevels(ctx, bareLevels, bareTaken, rowTables{left: readyLeft, right: readyRight}, r.recipe.Comparisons); err != nil {
			return err
		}
		closeness := "v.t"
		if len(r.recipe.Scoring.Chances) == 0 {
			closeness = "CAST(0 AS INTEGER)"
		}
		parts = append(parts, fmt.Sprintf("SELECT b.*, %s AS t%s FROM %s AS b JOIN %s AS v ON v.li = b.li AND v.ri = b.ri", closeness, strings.ReplaceAll(levels, "g", "v.g"), bareTaken, bareLevels))
	}
	if err := r.space.Create(ctx, takenPairs, fmt.Sprintf("SELECT row_number() OVER () AS match_id, * FROM (SELECT * FROM (%s) ORDER BY li, ri)", strings.Join(parts, " UNION ALL "))); err != nil {
		return err
	}
	dropped := []string{bareTaken, bareLevels}
	for _, p := range r.passes {
		dropped = append(dropped, p.table)
	}
	return r.space.Drop(ctx, slices.DeleteFunc(dropped, func(t string) bool { return r.open.reads(t) })...)
}

// levelNameSQL names a level; a missing value has none.
func levelNameSQL(k Kind, g string) string {
	return fmt.Sprintf("['"+levelMissing+"', %s][%s + 2]", each(k.Levels(), ", ", func(_ int, l string) string { return text(l) }), g)
}
