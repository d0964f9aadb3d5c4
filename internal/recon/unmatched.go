package recon

import (
	"context"
	"fmt"
	"strings"
)

// Reasons why a row has no partner.
const (
	ReasonNone      = "no_candidate"    // nothing on the other side shares a key or a rare word with it
	ReasonBelow     = "below_threshold" // its best candidate is not likely enough
	ReasonLost      = "lost_to"         // its best candidate has a better partner
	ReasonAmbiguous = "ambiguous"       // several partners fit alike
	ReasonNetted    = "netted"          // another row of its side cancels it
)

// writeUnmatched gives every unmatched row a reason and its nearest miss.
func (r *run) writeUnmatched(ctx context.Context) error {
	if err := r.nearestRows(ctx); err != nil {
		return err
	}
	left, right := r.unmatchedSQL(true), r.unmatchedSQL(false)
	return r.space.Create(ctx, UnmatchedTable, fmt.Sprintf("SELECT * FROM (%s UNION ALL %s) ORDER BY side, i", left, right))
}

// unmatchedSQL lists the open rows of a side. Of each the best scored candidate is the
// nearest miss; its weakest comparison says what was missing.
func (r *run) unmatchedSQL(isLeft bool) string {
	side, own, other, rows, others, nearest := "left", "li", "ri", readyLeft, readyRight, nearestLeft
	if !isLeft {
		side, own, other, rows, others, nearest = "right", "ri", "li", readyRight, readyLeft, nearestRight
	}
	comparisons := r.recipe.Comparisons
	weights := r.recipe.Scoring.weights(comparisons)
	list := each(comparisons, ", ", func(j int, c Comparison) string {
		second := 0 // a column of its own says more than all texts together
		if len(c.Left) > 1 || len(c.Right) > 1 {
			second = 20_000
		}
		return fmt.Sprintf("[0, %s][v.g%d + 2] + %d", each(weights[j], ", ", func(_ int, w int64) string { return fmt.Sprint(w) }), j, second)
	})
	say := each(comparisons, ", ", func(j int, c Comparison) string { return c.levelSentenceSQL(fmt.Sprintf("v.g%d", j)) })
	likely := r.recipe.Scoring.likelySQL(comparisons, "v") + " AND " + r.lastCondition()
	return fmt.Sprintf(`SELECT '%[1]s' AS side, o.i, o.k AS key,
		CASE WHEN z.i IS NOT NULL THEN '%[2]s' WHEN c.i IS NOT NULL THEN '%[3]s' WHEN b.i IS NULL THEN '%[4]s' WHEN b.likely AND t.x IS NOT NULL THEN '%[5]s' WHEN b.likely THEN '%[3]s' ELSE '%[6]s' END AS reason,
		coalesce(zs.k, bs.k, ns.k) AS nearest_key, b.s / 1000.0 AS score, %[7]s AS chance,
		CASE WHEN z.i IS NOT NULL THEN 'the amounts of both add up to nothing' WHEN c.i IS NOT NULL THEN 'another row fits equally well' WHEN b.i IS NOT NULL THEN b.why[list_position(b.w, list_min(b.w))] END AS missing, ts.k AS taken_by
		FROM (SELECT u.i, u.k FROM %[8]s AS u ANTI JOIN %[9]s AS m ON m.%[10]s = u.i) AS o
		LEFT JOIN (SELECT * FROM %[11]s WHERE side = '%[1]s') AS z ON z.i = o.i LEFT JOIN %[8]s AS zs ON zs.i = z.other
		LEFT JOIN (SELECT DISTINCT %[10]s AS i FROM %[12]s) AS c ON c.i = o.i
		LEFT JOIN (SELECT v.%[10]s AS i, v.%[13]s AS x, v.s, (%[14]s) AS likely, [%[15]s] AS w, [%[16]s] AS why FROM %[17]s AS v JOIN (SELECT %[10]s AS i, arg_max(%[13]s, s * 4294967296 - %[13]s) AS x FROM %[17]s GROUP BY %[10]s) AS top ON top.i = v.%[10]s AND top.x = v.%[13]s) AS b ON b.i = o.i
		LEFT JOIN %[18]s AS bs ON bs.i = b.x
		LEFT JOIN (SELECT %[13]s AS x, min(%[10]s) AS y FROM %[9]s GROUP BY %[13]s) AS t ON t.x = b.x LEFT JOIN %[8]s AS ts ON ts.i = t.y
		LEFT JOIN %[19]s AS n ON n.i = o.i LEFT JOIN %[18]s AS ns ON ns.i = n.x`,
		side, ReasonNetted, ReasonAmbiguous, ReasonNone, ReasonLost, ReasonBelow, r.recipe.Scoring.chanceSQL("b.s"), rows, MatchTable, own,
		nettedTable, ConflictTable, other, likely, list, say, scoredPairs, others, nearest)
}

// describeColumns names the columns of a comparison.
func describeColumns(c Comparison) string {
	if len(c.Left) > 1 || len(c.Right) > 1 {
		return "all text"
	}
	if c.Left[0] == c.Right[0] {
		return c.Left[0]
	}
	return c.Left[0] + " and " + c.Right[0]
}

// Tables of nearest rows, for rows that have no candidate: i and x, a row of the other side.
const (
	nearestLeft  = "recon_lnearest"
	nearestRight = "recon_rnearest"
)

// nearestRows finds a row of the other side for every unmatched row without a
// candidate: the next smaller or else the next larger amount, else date, else text.
func (r *run) nearestRows(ctx context.Context) error {
	for _, s := range []struct{ into, other, open, side string }{{nearestLeft, readyRight, r.openLeft(), "li"}, {nearestRight, readyLeft, r.openRight(), "ri"}} {
		alone := fmt.Sprintf("SELECT o.* FROM %s AS o ANTI JOIN (SELECT DISTINCT %s AS i FROM %s) AS c ON c.i = o.i", s.open, s.side, scoredPairs)
		if err := r.space.Create(ctx, s.into+"_open", alone); err != nil {
			return err
		}
		found := []string{"SELECT CAST(0 AS BIGINT) AS i, CAST(0 AS BIGINT) AS x WHERE false"}
		for n, column := range r.orderColumns() {
			open := fmt.Sprintf("(SELECT o.i, o.%s AS v FROM %s_open AS o ANTI JOIN (%s) AS f ON f.i = o.i WHERE v IS NOT NULL)", column, s.into, strings.Join(found, " UNION ALL "))
			if left, err := r.count(ctx, "SELECT count(*) FROM "+open); err != nil || left == 0 {
				if err != nil {
					return err
				}
				continue
			}
			values := fmt.Sprintf("(SELECT %[1]s AS v, min(i) AS i FROM %[2]s WHERE %[1]s IS NOT NULL GROUP BY %[1]s)", column, s.other)
			step := fmt.Sprintf("%s_%d", s.into, n)
			if err := r.space.Create(ctx, step, fmt.Sprintf("SELECT o.i, coalesce(a.i, b.i) AS x FROM %[1]s AS o ASOF LEFT JOIN %[2]s AS a ON o.v >= a.v ASOF LEFT JOIN %[2]s AS b ON o.v <= b.v WHERE coalesce(a.i, b.i) IS NOT NULL", open, values)); err != nil {
				return err
			}
			found = append(found, "SELECT i, x FROM "+step)
		}
		if err := r.space.Create(ctx, s.into, strings.Join(found, " UNION ALL ")); err != nil {
			return err
		}
	}
	return nil
}

// orderColumns are the ready columns by which rows without a candidate have
// neighbours: an amount, a date, and the longest text.
func (r *run) orderColumns() []string {
	var out []string
	for _, k := range []struct {
		kind   Kind
		column string
	}{{Number, "f"}, {Date, "d"}} {
		for j, c := range r.recipe.Comparisons {
			if c.As == k.kind {
				out = append(out, fmt.Sprintf("%s%d", k.column, j))
				break
			}
		}
	}
	for j := len(r.recipe.Comparisons) - 1; j >= 0; j-- {
		if r.recipe.Comparisons[j].As.usesWords() {
			out = append(out, fmt.Sprintf("n%d", j))
			break
		}
	}
	return out
}
