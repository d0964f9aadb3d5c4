package recon

import (
	"context"
	"fmt"
	"slices"
	"strings"
)

// patternBits is the room of one level in a packed pattern.
const patternBits = 5

// rowTables are the ready rows of both sides that pairs are made of.
type rowTables struct {
	left, right string
	costly      bool // the rows have their costly columns
}

// bothReady are all rows of a side, as training compares them.
var bothReady = rowTables{readyLeft, readyRight, true}

// pairsFrom joins a table of pairs c with their rows l and r and the lists of their
// words lt and rt.
func pairsFrom(pairs string, rows rowTables, comparisons []Comparison) string {
	sql := fmt.Sprintf("%s AS c JOIN %s AS l ON l.i = c.li JOIN %s AS r ON r.i = c.ri", pairs, rows.left, rows.right)
	if slices.ContainsFunc(comparisons, func(c Comparison) bool { return c.As.sharesWords() }) {
		sql += fmt.Sprintf(" LEFT JOIN %s AS lt ON lt.i = c.li LEFT JOIN %s AS rt ON rt.i = c.ri", listsLeft, listsRight)
	}
	return sql
}

// compareColumns gives the columns by which levels are decided: those of a pair, and
// those made of them.
func compareColumns(comparisons []Comparison, costly bool) (pair, shares string) {
	var inner []string
	outer := []string{"*"}
	for j, c := range comparisons {
		inner = append(inner, c.pairColumns(j, costly)...)
		outer = append(outer, c.shareColumns(j)...)
	}
	return strings.Join(inner, ", "), strings.Join(outer, ", ")
}

// makeLevels compares the candidates: li, ri, the closeness t, a level g0, g1 … for
// each comparison, and the pattern p that packs them.
func (r *Reconciler) makeLevels(ctx context.Context, into, candidates string, rows rowTables, comparisons []Comparison) error {
	inner, shares := compareColumns(comparisons, rows.costly)
	levels := each(comparisons, ", ", func(j int, c Comparison) string {
		return fmt.Sprintf("CAST(%s AS TINYINT) AS g%d", c.levelSQL(j), j)
	})
	close := each(comparisons, " + ", func(j int, c Comparison) string { return c.closenessSQL(j) })
	pack := each(comparisons, " + ", func(j int, _ Comparison) string {
		return fmt.Sprintf("(CAST(g%d AS BIGINT) + 1) * %d", j, int64(1)<<(patternBits*j))
	})
	sql := fmt.Sprintf(`SELECT *, %s AS p FROM (SELECT li, ri, CAST(round(%s) AS INTEGER) AS t, %s FROM (SELECT %s FROM (
		SELECT c.li, c.ri, %s FROM %s)))`,
		pack, close, levels, shares, inner, pairsFrom(candidates, rows, comparisons))
	return r.space.Create(ctx, into, sql)
}

// unpack gives the levels of a pattern; -1 is a missing value.
func unpack(pattern int64, n int) []int {
	out := make([]int, n)
	for j := range out {
		out[j] = int(pattern>>(patternBits*j)&(1<<patternBits-1)) - 1
	}
	return out
}

// scoreSQL sums the weights of the levels and the closeness, in thousandths.
func scoreSQL(weights [][]int64) string {
	sum := each(weights, " + ", func(j int, w []int64) string {
		list := each(w, ", ", func(_ int, x int64) string { return fmt.Sprint(x) })
		return fmt.Sprintf("[0, %s][g%d + 2]", list, j)
	})
	return fmt.Sprintf("CAST(%s + t AS BIGINT)", sum)
}

// mutualBest selects, of a table or SELECT with li, ri and s, the pairs whose rows
// prefer each other. Of equal partners the lower number stands for all.
func mutualBest(from string) string {
	return fmt.Sprintf(`SELECT a.li, a.ri, a.s FROM (SELECT li, arg_max(ri, s * 4294967296 - ri) AS ri, max(s) AS s FROM %[1]s GROUP BY li) AS a
		JOIN (SELECT ri, arg_max(li, s * 4294967296 - li) AS li FROM %[1]s GROUP BY ri) AS b ON a.li = b.li AND a.ri = b.ri`, from)
}
