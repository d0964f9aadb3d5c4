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
	return r.space.Create(ctx, UnmatchedTable, fmt.Sprintf("SELECT * FROM (%s UNION ALL %s) ORDER BY side, key, i", left, right))
}

// unmatchedSQL lists the open rows of a side. Of each the best scored candidate is the
// nearest miss; its weakest comparison says what was missing.
func (r *run) unmatchedSQL(isLeft bool) string {
	side, own, other, staged, otherStaged, ready, nearest := "left", "li", "ri", stagedLeft, stagedRight, readyLeft, nearestLeft
	if !isLeft {
		side, own, other, staged, otherStaged, ready, nearest = "right", "ri", "li", stagedRight, stagedLeft, readyRight, nearestRight
	}
	comparisons := r.recipe.Comparisons
	weights := r.recipe.Scoring.weights(comparisons)
	list := each(comparisons, ", ", func(j int, _ Comparison) string {
		return fmt.Sprintf("[0, %s][v.g%d + 2]", each(weights[j], ", ", func(_ int, w int64) string { return fmt.Sprint(w) }), j)
	})
	say := each(comparisons, ", ", func(j int, c Comparison) string {
		return fmt.Sprintf("%s || %s", text(describeColumns(c)+": "), levelNameSQL(c.As, fmt.Sprintf("v.g%d", j)))
	})
	likely := r.recipe.Scoring.likelySQL(comparisons, "v") + " AND " + r.lastCondition()
	return fmt.Sprintf(`SELECT '%[1]s' AS side, o.i, s.k AS key,
		CASE WHEN z.i IS NOT NULL THEN '%[2]s' WHEN c.i IS NOT NULL THEN '%[3]s' WHEN b.i IS NULL THEN '%[4]s' WHEN b.likely AND t.x IS NOT NULL THEN '%[5]s' WHEN b.likely THEN '%[3]s' ELSE '%[6]s' END AS reason,
		coalesce(zs.k, bs.k, ns.k) AS nearest_key, b.s / 1000.0 AS score, %[7]s AS chance,
		CASE WHEN z.i IS NOT NULL THEN 'the amounts of both add up to nothing' WHEN b.i IS NOT NULL THEN b.why[list_position(b.w, list_min(b.w))] END AS missing, ts.k AS taken_by
		FROM %[8]s AS s JOIN (SELECT i FROM %[9]s AS u ANTI JOIN %[10]s AS m ON m.%[11]s = u.i) AS o ON o.i = s.i
		LEFT JOIN (SELECT * FROM %[12]s WHERE side = '%[1]s') AS z ON z.i = o.i LEFT JOIN %[8]s AS zs ON zs.i = z.other
		LEFT JOIN (SELECT DISTINCT %[11]s AS i FROM %[13]s) AS c ON c.i = o.i
		LEFT JOIN (SELECT v.%[11]s AS i, v.%[14]s AS x, v.s, (%[15]s) AS likely, [%[16]s] AS w, [%[17]s] AS why FROM %[18]s AS v JOIN (SELECT %[11]s AS i, arg_max(%[14]s, s * 4294967296 - %[14]s) AS x FROM %[18]s GROUP BY %[11]s) AS top ON top.i = v.%[11]s AND top.x = v.%[14]s) AS b ON b.i = o.i
		LEFT JOIN %[19]s AS bs ON bs.i = b.x
		LEFT JOIN (SELECT %[14]s AS x, min(%[11]s) AS y FROM %[10]s GROUP BY %[14]s) AS t ON t.x = b.x LEFT JOIN %[8]s AS ts ON ts.i = t.y
		LEFT JOIN %[20]s AS n ON n.i = o.i LEFT JOIN %[19]s AS ns ON ns.i = n.x`,
		side, ReasonNetted, ReasonAmbiguous, ReasonNone, ReasonLost, ReasonBelow, r.recipe.Scoring.chanceSQL("b.s"), staged, ready, r.taken, own,
		nettedTable, ConflictTable, other, likely, list, say, scoredPairs, otherStaged, nearest)
}

// describeColumns names the columns of a comparison.
func describeColumns(c Comparison) string {
	names := func(list []string) string {
		if len(list) > 2 {
			return "all text"
		}
		return strings.Join(list, " and ")
	}
	l, r := names(c.Left), names(c.Right)
	if l == r {
		return l
	}
	return l + " and " + r
}

// Tables of nearest rows, for rows that have no candidate: i and x, a row of the other side.
const (
	nearestLeft  = "recon_lnearest"
	nearestRight = "recon_rnearest"
)

// nearestRows finds a row of the other side for every unmatched row without a
// candidate: the next smaller or else the next larger amount, date or text.
func (r *run) nearestRows(ctx context.Context) error {
	columns := r.orderColumns()
	for _, s := range []struct{ into, other, open, side string }{{nearestLeft, readyRight, r.openLeft(), "li"}, {nearestRight, readyLeft, r.openRight(), "ri"}} {
		open := fmt.Sprintf("(SELECT o.* FROM %s AS o ANTI JOIN (SELECT DISTINCT %s AS i FROM %s) AS c ON c.i = o.i)", s.open, s.side, scoredPairs)
		var found, joins []string
		for n, column := range columns {
			values := fmt.Sprintf("(SELECT %[1]s AS v, min(i) AS i FROM %[2]s WHERE %[1]s IS NOT NULL GROUP BY %[1]s)", column, s.other)
			joins = append(joins, fmt.Sprintf("ASOF LEFT JOIN %[1]s AS a%[2]d ON o.%[3]s >= a%[2]d.v ASOF LEFT JOIN %[1]s AS b%[2]d ON o.%[3]s <= b%[2]d.v", values, n, column))
			found = append(found, fmt.Sprintf("a%d.i, b%d.i", n, n))
		}
		sql := fmt.Sprintf("SELECT o.i, coalesce(%s) AS x FROM %s AS o %s", strings.Join(found, ", "), open, strings.Join(joins, " "))
		if err := r.space.Create(ctx, s.into, sql); err != nil {
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
