package recon

import (
	"context"
	"fmt"
	"strings"
)

// writeResult makes the tables of the result.
func (r *run) writeResult(ctx context.Context) error {
	if err := r.writeMatches(ctx); err != nil {
		return err
	}
	return nil
}

// writeMatches makes the table of matches, one row to a pair.
func (r *run) writeMatches(ctx context.Context) error {
	s := r.recipe.Scoring
	var chance strings.Builder
	chance.WriteString("CASE WHEN s IS NULL THEN NULL")
	for i := len(s.Chances) - 1; i >= 0; i-- {
		fmt.Fprintf(&chance, " WHEN s >= %d THEN %g", int64(s.Chances[i].From*1000), s.Chances[i].Chance)
	}
	chance.WriteString(" ELSE 0 END")
	sql := fmt.Sprintf(`SELECT row_number() OVER (ORDER BY l.k, r.k, li, ri) AS match_id, grp AS group_id, rule, CASE WHEN rule = 'confirmed' THEN 'confirmed' WHEN chance >= %g OR chance IS NULL THEN 'auto' ELSE 'suggested' END AS status,
		l.k AS left_key, r.k AS right_key, s / 1000.0 AS score, chance, margin / 1000.0 AS margin, li, ri
		FROM (SELECT *, %s AS chance FROM %s) AS m JOIN %s AS l ON l.i = m.li JOIN %s AS r ON r.i = m.ri ORDER BY match_id`, s.Auto, chance.String(), r.taken, stagedLeft, stagedRight)
	return r.space.Create(ctx, MatchTable, sql)
}

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
	rows, err := selectOne[struct{ L, R int64 }](ctx, r.space, "SELECT count(DISTINCT li), count(DISTINCT ri) FROM "+MatchTable)
	if err != nil {
		return nil, err
	}
	o.UnmatchedLeft, o.UnmatchedRight = o.LeftRows-rows.L, o.RightRows-rows.R
	return o, nil
}
