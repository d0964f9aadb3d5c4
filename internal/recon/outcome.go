package recon

import (
	"context"
	"fmt"
	"math"
)

// outcome counts the result.
func (r *run) outcome(ctx context.Context) (*Outcome, error) {
	o := &Outcome{LeftRows: r.left.rows, RightRows: r.right.rows, ByRule: map[string]int64{}}
	type ruleCount struct {
		Rule      string
		N, Second int64
	}
	rules, err := selectRows[ruleCount](ctx, r.space, "SELECT rule, count(*), count(*) FILTER (status = 'suggested') FROM "+MatchTable+" GROUP BY rule ORDER BY rule")
	if err != nil {
		return nil, err
	}
	for _, x := range rules {
		o.ByRule[x.Rule] = x.N
		o.Matched += x.N
		o.Suggested += x.Second
	}
	counts, err := selectOne[struct{ Groups, Left, Right, Netted, Ambiguous int64 }](ctx, r.space, fmt.Sprintf(`SELECT
		(SELECT count(DISTINCT group_id) FROM %[1]s), (SELECT count(*) FROM %[2]s WHERE side = 'left'), (SELECT count(*) FROM %[2]s WHERE side = 'right'),
		(SELECT count(*) FROM %[2]s WHERE reason = '%[3]s'), (SELECT count(*) FROM %[2]s WHERE reason = '%[4]s')`, MatchTable, UnmatchedTable, ReasonNetted, ReasonAmbiguous))
	if err != nil {
		return nil, err
	}
	o.Groups, o.UnmatchedLeft, o.UnmatchedRight, o.Netted, o.Ambiguous = counts.Groups, counts.Left, counts.Right, counts.Netted, counts.Ambiguous
	o.Skewed = r.skewed
	return o, r.sumAmounts(ctx, o)
}

// sumAmounts adds up the amounts of the left side.
func (r *run) sumAmounts(ctx context.Context, o *Outcome) error {
	j := r.amount()
	if j < 0 {
		return nil
	}
	open := func(side, ready string) string {
		return fmt.Sprintf("(SELECT coalesce(CAST(sum(a%d) AS BIGINT), 0) FROM %s JOIN (SELECT i FROM %s WHERE side = '%s') USING (i))", j, ready, UnmatchedTable, side)
	}
	sums, err := selectOne[struct{ All, Left, Right int64 }](ctx, r.space, fmt.Sprintf("SELECT (SELECT coalesce(CAST(sum(a%d) AS BIGINT), 0) FROM %s), %s, %s", j, readyLeft, open("left", readyLeft), open("right", readyRight)))
	o.AmountMatched, o.AmountOpen, o.AmountOpenRight = float64(sums.All-sums.Left)/100, float64(sums.Left)/100, float64(sums.Right)/100
	return err
}

// countSkew finds the values of keys that too many open rows have to be compared.
func (r *run) countSkew(ctx context.Context, keys ...Key) error {
	for _, k := range keys {
		compiled, err := compileKey(k, r.recipe.Comparisons, r.openLeft(), r.openRight())
		if err != nil {
			return err
		}
		// Where one value makes more pairs than the limit, one side has it more often than
		// the limit's root. Hashes are counted more quickly than values.
		heavy := func(rows string) string {
			return fmt.Sprintf("(SELECT count(*) FROM (SELECT hash(%s) AS h FROM (%s) GROUP BY h HAVING count(*) > %d))", compiled.columns(""), rows, int64(math.Sqrt(float64(r.config.KeyPairs))))
		}
		n, err := r.count(ctx, "SELECT "+heavy(compiled.left)+" + "+heavy(compiled.right))
		if err != nil {
			return err
		}
		if n == 0 {
			continue
		}
		skew, err := selectOne[struct{ Values, Pairs int64 }](ctx, r.space, fmt.Sprintf("SELECT count(*), coalesce(CAST(sum(n * m) AS BIGINT), 0) FROM %s WHERE n * m > %d", compiled.sizes(), r.config.KeyPairs))
		if err != nil {
			return err
		}
		if skew.Values > 0 {
			r.skewed = append(r.skewed, Skew{k, skew.Values, skew.Pairs})
		}
	}
	return nil
}
