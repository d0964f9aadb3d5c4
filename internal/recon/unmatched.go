package recon

import (
	"context"
	"fmt"
	"slices"
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

// A missSide is a side whose open rows are written, with the tables that this takes.
type missSide struct {
	side, own, other  string // left, li, ri
	rows, others      string // ready rows
	open              string
	best, misses      string // tables: the best candidate of each open row, and what is known about it
	nearest, nameRows string // tables: a near row of rows without a candidate, and the keys of the rows of this side that misses name
}

func (r *run) missSides() [2]missSide {
	return [2]missSide{
		{"left", "li", "ri", readyLeft, readyRight, r.openLeft(), "recon_lbest", "recon_lmisses", nearestLeft, "recon_lnames"},
		{"right", "ri", "li", readyRight, readyLeft, r.openRight(), "recon_rbest", "recon_rmisses", nearestRight, "recon_rnames"},
	}
}

// writeUnmatched gives every unmatched row a reason and its nearest miss. Rows are named
// by their numbers until the end, when the keys of the few that are named are looked up.
func (r *run) writeUnmatched(ctx context.Context) error {
	if err := r.nearestRows(ctx); err != nil {
		return err
	}
	sides := r.missSides()
	for _, s := range sides {
		if err := r.space.Create(ctx, s.best, r.bestMissSQL(s)); err != nil {
			return err
		}
		if err := r.space.Create(ctx, s.misses, missesSQL(s)); err != nil {
			return err
		}
	}
	for i, s := range sides {
		named := fmt.Sprintf("SELECT i FROM %[1]s UNION SELECT netted FROM %[1]s UNION SELECT taker FROM %[1]s UNION SELECT x FROM %[2]s", s.misses, sides[1-i].misses)
		if err := r.space.Create(ctx, s.nameRows, fmt.Sprintf("SELECT i, k FROM %s SEMI JOIN (%s) USING (i)", s.rows, named)); err != nil {
			return err
		}
	}
	left, right := r.unmatchedSQL(sides[0], sides[1]), r.unmatchedSQL(sides[1], sides[0])
	return r.space.Create(ctx, UnmatchedTable, fmt.Sprintf("SELECT * FROM (%s UNION ALL %s) ORDER BY side, i", left, right))
}

// bestMissSQL selects, for each open row that has candidates, the best one: its weakest
// comparison says what was missing.
func (r *run) bestMissSQL(s missSide) string {
	comparisons := r.recipe.Comparisons
	weights := r.recipe.Scoring.weights(comparisons)
	list := each(comparisons, ", ", func(j int, c Comparison) string {
		second := 0 // a column of its own says more than all texts together
		if c.allText() {
			second = 20_000
		}
		return fmt.Sprintf("[0, %s][v.g%d + 2] + %d", each(weights[j], ", ", func(_ int, w int64) string { return fmt.Sprint(w) }), j, second)
	})
	say := each(comparisons, ", ", func(j int, c Comparison) string { return c.levelSentenceSQL(fmt.Sprintf("v.g%d", j)) })
	likely := r.recipe.Scoring.likelySQL(comparisons, "v") + " AND " + r.lastCondition()
	return fmt.Sprintf(`SELECT v.%[1]s AS i, v.%[2]s AS x, v.s, (%[3]s) AS likely, [%[4]s] AS w, [%[5]s] AS why FROM %[6]s AS v
		JOIN (SELECT c.%[1]s AS i, arg_max(c.%[2]s, c.s * 4294967296 - c.%[2]s) AS x FROM %[6]s AS c SEMI JOIN %[7]s AS o ON o.i = c.%[1]s GROUP BY c.%[1]s) AS top ON top.i = v.%[1]s AND top.x = v.%[2]s`,
		s.own, s.other, likely, list, say, scoredPairs, s.open)
}

// missesSQL lists the open rows of a side with the numbers of the rows that explain them.
func missesSQL(s missSide) string {
	return fmt.Sprintf(`SELECT o.i, o.netted, c.i IS NOT NULL AS tied, b.i IS NOT NULL AS found, coalesce(b.likely, false) AS likely, t.y AS taker, coalesce(b.x, n.x) AS x, b.s, b.why[list_position(b.w, list_min(b.w))] AS why
		FROM (SELECT i, CAST(NULL AS BIGINT) AS netted FROM %[1]s UNION ALL SELECT i, other FROM %[2]s WHERE side = '%[3]s') AS o
		LEFT JOIN (SELECT DISTINCT %[4]s AS i FROM %[5]s) AS c ON c.i = o.i
		LEFT JOIN %[6]s AS b ON b.i = o.i
		LEFT JOIN (SELECT m.%[7]s AS x, min(m.%[4]s) AS y FROM %[8]s AS m SEMI JOIN %[6]s AS w ON w.x = m.%[7]s GROUP BY m.%[7]s) AS t ON t.x = b.x
		LEFT JOIN %[9]s AS n ON n.i = o.i`, s.open, nettedTable, s.side, s.own, ConflictTable, s.best, s.other, takenPairs, s.nearest)
}

// unmatchedSQL names the rows of misses by their keys and says the reasons.
func (r *run) unmatchedSQL(s, other missSide) string {
	return fmt.Sprintf(`SELECT '%[1]s' AS side, m.i, o.k AS key,
		CASE WHEN m.netted IS NOT NULL THEN '%[2]s' WHEN m.tied THEN '%[3]s' WHEN NOT m.found THEN '%[4]s' WHEN m.likely AND m.taker IS NOT NULL THEN '%[5]s' WHEN m.likely THEN '%[3]s' ELSE '%[6]s' END AS reason,
		coalesce(z.k, x.k) AS nearest_key, m.s / 1000.0 AS score, %[7]s AS chance,
		CASE WHEN m.netted IS NOT NULL THEN 'the amounts of both add up to nothing' WHEN m.tied THEN 'another row fits equally well' WHEN m.found THEN m.why WHEN m.x IS NOT NULL THEN 'they share no key; it is only the next by amount, date or text' ELSE 'the other side has no row to compare' END AS missing, t.k AS taken_by
		FROM %[8]s AS m JOIN %[9]s AS o ON o.i = m.i LEFT JOIN %[9]s AS z ON z.i = m.netted LEFT JOIN %[9]s AS t ON t.i = m.taker LEFT JOIN %[10]s AS x ON x.i = m.x`,
		s.side, ReasonNetted, ReasonAmbiguous, ReasonNone, ReasonLost, ReasonBelow, r.recipe.Scoring.chanceSQL("m.s"), s.misses, s.nameRows, other.nameRows)
}

// sideName names the columns of a side: an amount may be written in two.
func sideName(columns []string) string { return strings.Join(columns, " less ") }

// describeColumns names the columns of a comparison.
func describeColumns(c Comparison) string {
	if c.allText() {
		return "all text"
	}
	if slices.Equal(c.Left, c.Right) {
		return sideName(c.Left)
	}
	return sideName(c.Left) + " and " + sideName(c.Right)
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
		stillOpen := func(column string) string {
			return fmt.Sprintf("(SELECT o.i, o.%s AS v FROM %s_open AS o ANTI JOIN (%s) AS f ON f.i = o.i WHERE v IS NOT NULL)", column, s.into, strings.Join(found, " UNION ALL "))
		}
		for _, column := range r.orderColumns() {
			open := stillOpen(column)
			left, err := r.count(ctx, "SELECT count(*) FROM "+open)
			if err != nil {
				return err
			}
			if left == 0 {
				continue
			}
			for _, side := range []string{">=", "<="} {
				step := fmt.Sprintf("%s_%d", s.into, len(found))
				// Of equal values the first row stands for all: a million of them are joined once each.
				if err := r.space.Create(ctx, step, fmt.Sprintf(`SELECT o.i, a.x FROM %[1]s AS o
					ASOF JOIN (SELECT %[2]s AS v, min(i) AS x FROM %[3]s WHERE %[2]s IS NOT NULL GROUP BY 1) AS a ON o.v %[4]s a.v`, open, column, s.other, side)); err != nil {
					return err
				}
				found = append(found, "SELECT i, x FROM "+step)
				n, err := r.count(ctx, "SELECT count(*) FROM "+step)
				if err != nil {
					return err
				}
				if left -= n; left == 0 {
					break
				}
				open = stillOpen(column)
			}
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
