package recon

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"
)

// Tables of the group passes.
const (
	linkCandidates = "recon_linkpairs"
	linkLevels     = "recon_linklevels"
	linkTable      = "recon_links"  // li, ri, o: open rows that something other than the amount connects
	nettedTable    = "recon_netted" // side, i, other, grp
)

// A sumFound is a row of one side and the parts of the other that add up to it.
type sumFound struct {
	whole int64
	parts []part
}

// A pool is an open row with those it may be the sum of.
type pool struct {
	Whole, Total int64
	Rows         []int64
	Amounts      []int64
	Links        []int64
}

// groupPass finds sums among the open rows, in both directions.
func (r *run) groupPass(ctx context.Context) error {
	g := r.recipe.Groups
	if g == nil || r.recipe.Cardinality == OneToOne {
		return nil
	}
	amount := indexOf(r.recipe.Comparisons, g.Amount)
	if err := r.linkOpenRows(ctx, amount); err != nil {
		return fmt.Errorf("linking open rows: %w", err)
	}
	var sql []string
	group := r.groups
	ambiguous := map[bool][]int64{}
	for _, manyLeft := range []bool{true, false} {
		if manyLeft && r.recipe.Cardinality == OneToMany || !manyLeft && r.recipe.Cardinality == ManyToOne {
			continue
		}
		pools, err := r.pools(ctx, amount, manyLeft)
		if err != nil {
			return fmt.Errorf("collecting parts: %w", err)
		}
		found, several, err := r.findSums(ctx, pools, int64(g.Tolerance*100+0.5))
		if err != nil {
			return err
		}
		ambiguous[manyLeft] = several
		for _, f := range found {
			group++
			for _, p := range f.parts {
				li, ri := f.whole, p.row
				if manyLeft {
					li, ri = p.row, f.whole
				}
				sql = append(sql, fmt.Sprintf("(%d, %d, %d)", li, ri, group))
			}
		}
	}
	if len(sql) == 0 {
		return nil
	}
	r.groups = group
	return r.takeGroups(ctx, sql)
}

// takeGroups adds the sums to the matches. A row that two sums claim stays open, and
// so do these sums.
func (r *run) takeGroups(ctx context.Context, values []string) error {
	// Texts are bounded: tables are made in parts.
	const batch = 1500
	var names []string
	for part := range slices.Chunk(values, batch) {
		t := fmt.Sprintf("recon_sums_%d", len(names))
		if err := r.space.Create(ctx, t, fmt.Sprintf("SELECT * FROM (VALUES %s) AS v(li, ri, grp)", strings.Join(part, ", "))); err != nil {
			return err
		}
		names = append(names, t)
	}
	all := each(names, " UNION ALL ", func(_ int, t string) string { return "SELECT * FROM " + t })
	if err := r.space.Create(ctx, "recon_sums", all); err != nil {
		return err
	}
	clash := ""
	if r.held { // a sum with one row of a confirmed pair has the other, too
		clash = fmt.Sprintf("SELECT s.grp FROM recon_sums AS s JOIN %s AS k ON (k.li = s.li) <> (k.ri = s.ri) WHERE NOT (k.li, k.ri, s.grp) IN (SELECT (li, ri, grp) FROM recon_sums) UNION ", heldPairs)
	}
	clash += `SELECT DISTINCT grp FROM recon_sums WHERE li IN (SELECT li FROM recon_sums GROUP BY li HAVING count(DISTINCT grp) > 1) OR ri IN (SELECT ri FROM recon_sums GROUP BY ri HAVING count(DISTINCT grp) > 1)`
	_, err := r.take(ctx, ruleSum, fmt.Sprintf("SELECT li, ri, NULL AS s, NULL AS margin, grp FROM recon_sums WHERE grp NOT IN (%s)", clash), "grp")
	if err != nil {
		return err
	}
	return r.space.Drop(ctx, names...)
}

// linkOpenRows connects open rows by what is left of the score without the amount.
func (r *run) linkOpenRows(ctx context.Context, amount int) error {
	comparisons := r.recipe.Comparisons
	words := func(words, open string) string {
		return fmt.Sprintf("(SELECT w.* FROM %s AS w SEMI JOIN %s AS o ON o.i = w.i)", words, open)
	}
	l, rt := words(wordsLeft, r.openLeft()), words(wordsRight, r.openRight())
	sql := fmt.Sprintf(`SELECT DISTINCT a.i AS li, b.i AS ri FROM (
			SELECT j, word FROM (SELECT j, word, count(*) AS n FROM %[1]s GROUP BY j, word) JOIN (SELECT j, word, count(*) AS m FROM %[2]s GROUP BY j, word) USING (j, word) WHERE n * m <= %[3]d) AS w
		JOIN %[1]s AS a USING (j, word) JOIN %[2]s AS b USING (j, word)`, l, rt, max(900, r.config.KeyPairs/20))
	if err := r.space.Create(ctx, linkCandidates, sql); err != nil {
		return err
	}
	if err := r.makeLevels(ctx, linkLevels, linkCandidates, r.open.rowTables, comparisons); err != nil {
		return err
	}
	weights := r.recipe.Scoring.weights(comparisons)
	for g := range weights[amount] {
		weights[amount][g] = 0
	}
	for j, c := range comparisons { // a sum need not name its parts
		for g, w := range weights[j] {
			if c.As == Reference || c.allText() {
				weights[j][g] = max(0, w)
			}
		}
	}
	window := r.windowSQL("l", "r")
	links := fmt.Sprintf("SELECT v.li, v.ri, v.o FROM (SELECT li, ri, %s - t AS o FROM %s) AS v JOIN %s AS l ON l.i = v.li JOIN %s AS r ON r.i = v.ri WHERE v.o > 0 AND %s",
		scoreSQL(weights), linkLevels, readyLeft, readyRight, window)
	if r.held { // what a person confirmed is the strongest link
		links = fmt.Sprintf("SELECT v.* FROM (%[1]s) AS v ANTI JOIN %[2]s AS k ON k.li = v.li AND k.ri = v.ri UNION ALL SELECT li, ri, %[3]d AS o FROM %[2]s", links, heldPairs, confirmedLink)
	}
	return r.space.Create(ctx, linkTable, links)
}

// confirmedLink links the rows of a confirmed pair more strongly than any score.
const confirmedLink = 1_000_000

// windowSQL holds the dates of two ready rows within the window of the groups.
func (r *run) windowSQL(l, rt string) string {
	days, j := r.recipe.Groups.Days, firstDate(r.recipe.Comparisons)
	if days == nil || j < 0 {
		return "true"
	}
	return fmt.Sprintf("coalesce(%[1]s.d%[3]d - %[2]s.d%[3]d BETWEEN %[4]d AND %[5]d, true)", rt, l, j, days[0], days[1])
}

// pools collects, for each open row of one side, the linked rows of the other that are
// smaller and have its sign.
func (r *run) pools(ctx context.Context, amount int, manyLeft bool) ([]pool, error) {
	whole, part, wholeTable, partTable := "ri", "li", readyRight, readyLeft
	if !manyLeft {
		whole, part, wholeTable, partTable = "li", "ri", readyLeft, readyRight
	}
	return selectRows[pool](ctx, r.space, fmt.Sprintf(`SELECT whole, any_value(total), list(part ORDER BY o DESC, part), list(amount ORDER BY o DESC, part), list(o ORDER BY o DESC, part) FROM (
			SELECT v.%[1]s AS whole, v.%[2]s AS part, w.a%[5]d AS total, p.a%[5]d AS amount, v.o, row_number() OVER (PARTITION BY v.%[1]s ORDER BY v.o DESC, v.%[2]s) AS n
			FROM %[6]s AS v JOIN %[3]s AS w ON w.i = v.%[1]s JOIN %[4]s AS p ON p.i = v.%[2]s
			WHERE abs(p.a%[5]d) < abs(w.a%[5]d) AND (p.a%[5]d < 0) = (w.a%[5]d < 0) AND p.a%[5]d <> 0) WHERE n <= %[7]d GROUP BY whole HAVING count(*) >= 2 ORDER BY whole LIMIT %[8]d`,
		whole, part, wholeTable, partTable, amount, linkTable, r.config.GroupPool, r.config.MaxPools))
}

// findSums searches every pool. Totals that can be reached in several ways are listed
// apart.
func (r *run) findSums(ctx context.Context, pools []pool, tolerance int64) (found []sumFound, several []int64, err error) {
	for _, p := range pools {
		if err := ctx.Err(); err != nil {
			return nil, nil, err
		}
		parts := make([]part, len(p.Rows))
		for i := range parts {
			parts[i] = part{p.Rows[i], p.Amounts[i], p.Links[i]}
		}
		switch f, more := findSum(p.Total, tolerance, parts, r.config.GroupSize); {
		case more:
			several = append(several, p.Whole)
		case f != nil:
			found = append(found, sumFound{p.Whole, f})
		}
	}
	slices.SortFunc(found, func(a, b sumFound) int { return cmp.Compare(a.whole, b.whole) })
	return found, several, nil
}
