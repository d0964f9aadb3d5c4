package recon

import (
	"cmp"
	"context"
	"fmt"
	"math"
)

// outcome counts the result.
func (r *run) outcome(ctx context.Context) (*Outcome, error) {
	o := &Outcome{LeftRows: r.left.rows, RightRows: r.right.rows, ByRule: map[string]int64{}}
	if err := r.countRules(ctx, o); err != nil {
		return nil, err
	}
	counts, err := selectOne[struct{ Groups, Left, Right, Netted, Ambiguous int64 }](ctx, r.space, fmt.Sprintf(`SELECT
		(SELECT count(DISTINCT group_id) FROM %[1]s), (SELECT count(*) FROM %[2]s WHERE side = 'left'), (SELECT count(*) FROM %[2]s WHERE side = 'right'),
		(SELECT count(*) FROM %[2]s WHERE reason = '%[3]s'), (SELECT count(*) FROM %[2]s WHERE reason = '%[4]s')`, MatchTable, UnmatchedTable, ReasonNetted, ReasonAmbiguous))
	if err != nil {
		return nil, err
	}
	o.Groups, o.UnmatchedLeft, o.UnmatchedRight, o.Netted, o.Ambiguous = counts.Groups, counts.Left, counts.Right, counts.Netted, counts.Ambiguous
	o.Skewed = r.skewed
	if o.Agreements, err = r.countAgreements(ctx); err != nil {
		return nil, err
	}
	if err := r.countReasons(ctx, o); err != nil {
		return nil, err
	}
	return o, r.sumAmounts(ctx, o)
}

// countReasons says for which reasons rows are open, and with which amounts.
func (r *run) countReasons(ctx context.Context, o *Outcome) (err error) {
	amount := "0"
	if j := r.amount(); j >= 0 {
		amount = fmt.Sprintf("coalesce(t.a%d, 0)", j)
	}
	side := func(name, ready, counted string) string {
		return fmt.Sprintf("SELECT reason, %s FROM (SELECT u.reason, %s AS a FROM %s AS u JOIN %s AS t ON t.i = u.i WHERE u.side = '%s')", counted, amount, UnmatchedTable, ready, name)
	}
	o.Open, err = selectRows[OpenReason](ctx, r.space, fmt.Sprintf(`SELECT reason, CAST(sum(l) AS BIGINT), CAST(sum(r) AS BIGINT), CAST(sum(la) AS BIGINT) / 100.0, CAST(sum(ra) AS BIGINT) / 100.0 FROM (%s UNION ALL %s) GROUP BY reason ORDER BY reason`,
		side("left", readyLeft, "1 AS l, 0 AS r, a AS la, 0 AS ra"), side("right", readyRight, "0 AS l, 1 AS r, 0 AS la, a AS ra")))
	if o.Open == nil {
		o.Open = []OpenReason{}
	}
	return err
}

// maxAgreements is how many ways to agree an outcome tells.
const maxAgreements = 100

// countAgreements counts the ways in which pairs that were matched by weights agree.
func (r *run) countAgreements(ctx context.Context) ([]Agreement, error) {
	comparisons := r.recipe.Comparisons
	rows, err := selectRows[struct {
		Levels []string
		N      int64
	}](ctx, r.space, fmt.Sprintf("SELECT [%s] AS levels, count(*) AS n FROM %s WHERE rule = '%s' GROUP BY 1 ORDER BY n DESC, levels LIMIT %d",
		each(comparisons, ", ", func(_ int, c Comparison) string { return c.ID + "_level" }), MatchTable, ruleScored, maxAgreements))
	out := []Agreement{}
	for _, x := range rows {
		out = append(out, Agreement{each(comparisons, ", ", func(j int, c Comparison) string { return c.subject() + " " + c.As.levelInWords(x.Levels[j]) }), x.N})
	}
	return out, err
}

// countRules says what each rule matched, in the order in which they apply. A row that
// belongs to a sum counts once.
func (r *run) countRules(ctx context.Context, o *Outcome) error {
	type ruleCount struct {
		Rule        string
		N, Second   int64
		Left, Right float64
	}
	grouped := func(row, amount string) string {
		return fmt.Sprintf("SELECT rule, 0 AS n, 0 AS second, %[3]s FROM (SELECT DISTINCT rule, %[1]s, %[2]s AS a FROM %[4]s WHERE group_id IS NOT NULL)", row, amount,
			map[bool]string{true: "a AS l, NULL AS r", false: "NULL AS l, a AS r"}[row == "li"], MatchTable)
	}
	rules, err := selectRows[ruleCount](ctx, r.space, fmt.Sprintf(`SELECT rule, CAST(sum(n) AS BIGINT), CAST(sum(second) AS BIGINT), coalesce(round(sum(l), 2), 0), coalesce(round(sum(r), 2), 0) FROM (
		SELECT rule, 1 AS n, CASE WHEN status = 'suggested' THEN 1 ELSE 0 END AS second, CASE WHEN group_id IS NULL THEN left_amount END AS l, CASE WHEN group_id IS NULL THEN right_amount END AS r FROM %s
		UNION ALL %s UNION ALL %s) GROUP BY rule ORDER BY rule`, MatchTable, grouped("li", "left_amount"), grouped("ri", "right_amount")))
	if err != nil {
		return err
	}
	counted := map[string]ruleCount{}
	for _, x := range rules {
		counted[x.Rule] = x
		o.ByRule[x.Rule] = x.N
		o.Matched += x.N
		o.Suggested += x.Second
	}
	o.Rules = []RuleOutcome{}
	add := func(rule, sentence string) {
		x := counted[rule]
		o.Rules = append(o.Rules, RuleOutcome{rule, sentence, x.N, x.Left, x.Right})
	}
	if g := r.recipe.Groups; g != nil {
		for _, b := range g.Batches {
			add(b.ID, cmp.Or(b.Sentence, b.sentence()))
		}
	}
	add(ruleConfirmed, "A person confirmed the pair.")
	for _, rule := range r.recipe.Rules {
		add(rule.ID, cmp.Or(rule.Sentence, rule.sentence(r.recipe.Comparisons)))
	}
	if len(r.recipe.Scoring.Chances) > 0 {
		add(ruleScored, "The comparisons together make a match likely, and each row is the other's best partner.")
	}
	if r.recipe.Groups != nil {
		add(ruleSum, "The amounts of several rows add up to the amount of one row of the other side.")
	}
	return nil
}

// sumAmounts adds up the amounts of both sides.
func (r *run) sumAmounts(ctx context.Context, o *Outcome) error {
	j := r.amount()
	if j < 0 {
		return nil
	}
	open := func(side, ready string) string {
		return fmt.Sprintf("(SELECT coalesce(CAST(sum(a%d) AS BIGINT), 0) FROM %s JOIN (SELECT i FROM %s WHERE side = '%s') USING (i))", j, ready, UnmatchedTable, side)
	}
	all := func(ready string) string {
		return fmt.Sprintf("(SELECT coalesce(CAST(sum(a%d) AS BIGINT), 0) FROM %s)", j, ready)
	}
	sums, err := selectOne[struct{ AllLeft, AllRight, Left, Right int64 }](ctx, r.space, fmt.Sprintf("SELECT %s, %s, %s, %s", all(readyLeft), all(readyRight), open("left", readyLeft), open("right", readyRight)))
	o.AmountMatched, o.AmountOpen, o.AmountOpenRight = float64(sums.AllLeft-sums.Left)/100, float64(sums.Left)/100, float64(sums.Right)/100
	o.MatchedRight = float64(sums.AllRight-sums.Right) / 100
	return err
}

// crowdedValues holds the hashes of the values of a key that many rows of a side have.
const crowdedValues = "recon_crowded"

// skipCrowded reports the values of a key that have more pairs than are compared, and says
// whether there are any. Only values that many rows of one side have are counted on both.
func (r *run) skipCrowded(ctx context.Context, k Key) (bool, error) {
	compiled, err := compileKey(k, r.recipe.Comparisons, r.openLeft(), r.openRight())
	if err != nil {
		return false, err
	}
	hashed := func(rows string) string {
		return fmt.Sprintf("SELECT hash(%s) AS h FROM (%s)", compiled.columns(""), rows)
	}
	many := func(rows string) string {
		return fmt.Sprintf("SELECT h FROM (%s) GROUP BY h HAVING count(*) > %d", hashed(rows), int(math.Sqrt(float64(r.config.KeyPairs))))
	}
	if err := r.space.Create(ctx, crowdedValues, many(compiled.left)+" UNION "+many(compiled.right)); err != nil {
		return false, err
	}
	counted := func(rows, n string) string {
		return fmt.Sprintf("(SELECT h, count(*) AS %s FROM (%s) SEMI JOIN %s USING (h) GROUP BY h)", n, hashed(rows), crowdedValues)
	}
	found, err := selectOne[struct{ Pairs, Values int64 }](ctx, r.space, fmt.Sprintf("SELECT CAST(coalesce(sum(n * m), 0) AS BIGINT), count(*) FROM %s JOIN %s USING (h) WHERE n * m > %d",
		counted(compiled.left, "n"), counted(compiled.right, "m"), r.config.KeyPairs))
	if err == nil && found.Values > 0 {
		r.skewed = append(r.skewed, Skew{k, found.Values, found.Pairs})
	}
	return found.Values > 0, err
}

// boundKeys says, for each key, how many pairs one of its values may have, so that the
// pairs of the key stay within the budget. Values that more open rows have are reported.
func (r *run) boundKeys(ctx context.Context, keys []Key, budget int64) ([]int, error) {
	limits := make([]int, len(keys))
	for i, k := range keys {
		compiled, err := compileKey(k, r.recipe.Comparisons, r.openLeft(), r.openRight())
		if err != nil {
			return nil, err
		}
		type pairs struct{ All, Skipped, Values int64 }
		var found pairs
		for limits[i] = r.config.KeyPairs; ; limits[i] /= 4 {
			found, err = selectOne[pairs](ctx, r.space, fmt.Sprintf("SELECT CAST(coalesce(sum(n * m), 0) AS BIGINT), CAST(coalesce(sum(n * m) FILTER (n * m > %[1]d), 0) AS BIGINT), count(*) FILTER (n * m > %[1]d) FROM %[2]s",
				limits[i], compiled.hashSizes()))
			if err != nil {
				return nil, err
			}
			if found.All-found.Skipped <= budget || limits[i] < 4 {
				break
			}
		}
		if found.Values > 0 {
			r.skewed = append(r.skewed, Skew{k, found.Values, found.Skipped})
		}
	}
	return limits, nil
}
