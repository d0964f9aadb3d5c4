package recon

import (
	"context"
	"fmt"
	"slices"
	"strings"
)

// A run is one execution of a recipe.
type run struct {
	*Reconciler
	recipe      *Recipe
	left, right table
	rejected    bool // a person rejected pairs
	held        bool // heldPairs has some
	passes      []pass
	open        openRows
	skewed      []Skew
	groups      int64 // the highest number of a group of rows
}

// A pass is a table of matches that one rule made: li, ri, s, margin, grp and, where it
// compared them, the levels g0, g1 … of its pairs and their closeness t.
type pass struct {
	table, rule string
	compared    bool
}

// Rules that every recipe has.
const (
	ruleConfirmed = "confirmed" // a person said so
	ruleScored    = "scored"    // by weights
	ruleSum       = "sum"       // by adding up
)

// take adds the pairs of a SELECT of li, ri, s and margin to the matches and gives their
// number. Their rows are open no more.
func (r *run) take(ctx context.Context, rule, sql, group string) (int64, error) {
	return r.takePass(ctx, pass{rule: rule}, fmt.Sprintf("SELECT CAST(li AS BIGINT) AS li, CAST(ri AS BIGINT) AS ri, CAST(s AS BIGINT) AS s, CAST(margin AS BIGINT) AS margin, CAST(%s AS BIGINT) AS grp FROM (%s)", group, sql))
}

// takePass is take of a SELECT of all columns of a pass.
func (r *run) takePass(ctx context.Context, p pass, sql string) (int64, error) {
	p.table = fmt.Sprintf("recon_pass_%d", len(r.passes))
	if err := r.space.Create(ctx, p.table, sql); err != nil {
		return 0, err
	}
	n, err := r.count(ctx, "SELECT count(*) FROM "+p.table)
	if err != nil || n == 0 {
		return 0, err
	}
	r.passes = append(r.passes, p)
	return n, r.closeRows(ctx, n, "SELECT li AS i FROM "+p.table, "SELECT ri AS i FROM "+p.table)
}

// openRows are the rows that have no partner yet: tables of ready rows, without those of
// SELECTs of i.
type openRows struct {
	rowTables
	closedLeft, closedRight []string
	rows, closed            int64 // of both sides: in the tables, and about so many of them closed
	made                    int   // tables of open rows
}

// reads says that the open rows cannot be told without a table of a pass.
func (o openRows) reads(table string) bool {
	return slices.ContainsFunc(slices.Concat(o.closedLeft, o.closedRight), func(sql string) bool { return strings.HasSuffix(sql, " "+table) })
}

// openLeft and openRight are the ready rows that have no partner yet.
func (r *run) openLeft() string  { return without(r.open.left, r.open.closedLeft) }
func (r *run) openRight() string { return without(r.open.right, r.open.closedRight) }

func without(rows string, closed []string) string {
	if len(closed) == 0 {
		return rows
	}
	return fmt.Sprintf("(SELECT o.* FROM %s AS o ANTI JOIN (%s) AS z ON z.i = o.i)", rows, strings.Join(closed, " UNION ALL "))
}

// closeRows says that rows, given by SELECTs of i, are open no more.
func (r *run) closeRows(ctx context.Context, n int64, left, right string) error {
	r.open.closedLeft, r.open.closedRight = append(r.open.closedLeft, left), append(r.open.closedRight, right)
	if r.open.closed += 2 * n; 4*r.open.closed < r.open.rows {
		return nil
	}
	return r.copyOpenRows(ctx, r.open.costly)
}

// copyOpenRows makes tables of the rows that are open now, with costly columns if many
// candidates will be compared.
func (r *run) copyOpenRows(ctx context.Context, costly bool) error {
	columns := []string{"i"}
	for j, c := range r.recipe.Comparisons {
		columns = append(columns, c.readyNames(j)...)
		if _, column := c.costlyColumn(j, ""); r.open.costly && column != "" {
			columns = append(columns, column)
		}
	}
	list := strings.Join(columns, ", ")
	if costly && !r.open.costly {
		list += costlyColumns(r.recipe.Comparisons)
	}
	old := r.open
	r.open.made++
	r.open.left, r.open.right = fmt.Sprintf("recon_lopen_%d", r.open.made), fmt.Sprintf("recon_ropen_%d", r.open.made)
	r.open.rows = 0
	for i, s := range [][2]string{{r.open.left, without(old.left, old.closedLeft)}, {r.open.right, without(old.right, old.closedRight)}} {
		if err := r.space.Create(ctx, s[0], fmt.Sprintf("SELECT %s%s FROM %s", list, r.batchCells(i == 1), s[1])); err != nil {
			return err
		}
		n, err := r.count(ctx, "SELECT count(*) FROM "+s[0])
		if err != nil {
			return err
		}
		r.open.rows += n
	}
	r.open.costly, r.open.closed, r.open.closedLeft, r.open.closedRight = costly, 0, nil, nil
	if old.made == 0 {
		return nil
	}
	return r.space.Drop(ctx, old.left, old.right)
}

// heldPairs holds confirmed pairs of which one row is a part of the other: their amounts do
// not agree, and further parts may complete the sum. They wait until sums were searched, and
// no other pass takes their rows.
const heldPairs = "recon_held"

// confirmedPass matches what a person confirmed. Where rows have one partner at most, labels
// that give a row two are named as contradictions and decide nothing.
func (r *run) confirmedPass(ctx context.Context) error {
	if err := r.holdParts(ctx); err != nil {
		return err
	}
	confirmed := fmt.Sprintf("SELECT li, ri FROM %s WHERE w = 1", labelled)
	if r.recipe.Cardinality == OneToOne {
		confirmed += " QUALIFY count(*) OVER (PARTITION BY li) = 1 AND count(*) OVER (PARTITION BY ri) = 1"
	}
	if r.held {
		confirmed += " EXCEPT SELECT li, ri FROM " + heldPairs
	}
	return r.takeConfirmed(ctx, confirmed)
}

// takeConfirmed takes the pairs of a SELECT whose rows are open: those of a batch or of a
// sum are matched already.
func (r *run) takeConfirmed(ctx context.Context, pairs string) error {
	_, err := r.take(ctx, ruleConfirmed, fmt.Sprintf("SELECT k.li, k.ri, NULL AS s, NULL AS margin FROM (%s) AS k SEMI JOIN %s AS l ON l.i = k.li SEMI JOIN %s AS r ON r.i = k.ri", pairs, r.openLeft(), r.openRight()), "NULL")
	return err
}

// holdParts finds the confirmed pairs whose amounts do not add up, where sums are searched.
func (r *run) holdParts(ctx context.Context) error {
	g := r.recipe.Groups
	if g == nil || r.recipe.Cardinality == OneToOne {
		return nil
	}
	amount, tolerance := indexOf(r.recipe.Comparisons, g.Amount), int64(g.Tolerance*100+0.5)
	if err := r.space.Create(ctx, heldPairs, fmt.Sprintf(`SELECT li, ri FROM (
			SELECT k.li, k.ri, l.a%[1]d AS la, r.a%[1]d AS ra, sum(r.a%[1]d) OVER (PARTITION BY k.li) AS parts_right, sum(l.a%[1]d) OVER (PARTITION BY k.ri) AS parts_left
			FROM %[2]s AS k JOIN %[3]s AS l ON l.i = k.li JOIN %[4]s AS r ON r.i = k.ri WHERE k.w = 1)
		WHERE abs(la - parts_right) > %[5]d AND abs(ra - parts_left) > %[5]d`, amount, labelled, r.openLeft(), r.openRight(), tolerance)); err != nil {
		return err
	}
	n, err := r.count(ctx, "SELECT count(*) FROM "+heldPairs)
	r.held = n > 0
	return err
}

// scoredPass compares the candidates among the open rows and matches those that
// prefer each other and are likely enough.
func (r *run) scoredPass(ctx context.Context) error {
	rc := r.recipe
	if err := r.copyOpenRows(ctx, true); err != nil {
		return err
	}
	if err := r.makeWords(ctx, r.open.rowTables, r.open.rows, rc.Comparisons, Kind.usesWords); err != nil {
		return err
	}
	limits, err := r.boundKeys(ctx, rc.Candidates, r.budget(r.left.rows, r.right.rows))
	if err != nil {
		return err
	}
	if err := r.makeCandidates(ctx, candidatePairs, rc.Candidates, limits, rc.Comparisons, r.open.left, r.open.right, "SELECT li, ri FROM "+labelled+" WHERE false"); err != nil {
		return fmt.Errorf("finding candidates: %w", err)
	}
	if err := r.makeLevels(ctx, levelTable, candidatePairs, r.open.rowTables, rc.Comparisons); err != nil {
		return fmt.Errorf("comparing candidates: %w", err)
	}
	sql := fmt.Sprintf("SELECT *, %s AS s FROM %s AS v%s", scoreSQL(rc.Scoring.weights(rc.Comparisons)), levelTable, r.withoutDecided("v"))
	if err := r.space.Create(ctx, scoredPairs, sql); err != nil {
		return fmt.Errorf("scoring candidates: %w", err)
	}
	if g := rc.Groups; g != nil {
		return r.assign(ctx, r.equalAmountSQL(g))
	}
	return r.assign(ctx, "true")
}

// withoutDecided joins rejected pairs away, and pairs of rows that are held.
func (r *run) withoutDecided(pairs string) (sql string) {
	if r.rejected {
		sql += fmt.Sprintf(" ANTI JOIN (SELECT * FROM %[1]s WHERE w = 0) AS n ON n.li = %[2]s.li AND n.ri = %[2]s.ri", labelled, pairs)
	}
	if r.held {
		sql += fmt.Sprintf(" ANTI JOIN %[1]s AS hl ON hl.li = %[2]s.li ANTI JOIN %[1]s AS hr ON hr.ri = %[2]s.ri", heldPairs, pairs)
	}
	return sql
}

// equalAmountSQL says that the amounts of a scored pair agree, or that one is missing.
// Other pairs wait until sums were searched.
func (r *run) equalAmountSQL(g *Groups) string {
	amount := indexOf(r.recipe.Comparisons, g.Amount)
	levels := Number.Levels()
	return fmt.Sprintf("v.g%d NOT BETWEEN 0 AND %d", amount, slices.Index(levels, "cent")-1)
}

// restPass matches by weights what is open after sums were searched: amounts that
// differ by a fee or a slip, where the rest would suffice without them.
func (r *run) restPass(ctx context.Context) error {
	g := r.recipe.Groups
	if g == nil {
		return nil
	}
	if r.held { // no sum was found for these
		if err := r.takeConfirmed(ctx, "SELECT li, ri FROM "+heldPairs); err != nil {
			return err
		}
	}
	return r.assign(ctx, r.withoutAmountSQL(g))
}

// withoutAmountSQL says that a scored pair is likely, and would be if its amounts said
// nothing.
func (r *run) withoutAmountSQL(g *Groups) string {
	amount := indexOf(r.recipe.Comparisons, g.Amount)
	s := r.recipe.Scoring
	list := each(s.weights(r.recipe.Comparisons)[amount], ", ", func(_ int, w int64) string { return fmt.Sprint(w) })
	return fmt.Sprintf("(v.s - [0, %s][v.g%d + 2] >= %d AND v.s >= %d)", list, amount, s.scoreFrom(s.Suggested), s.scoreFrom(s.Auto))
}

// assign takes mutual best pairs, again and again, because each taken row may free the
// choice of others.
func (r *run) assign(ctx context.Context, condition string) error {
	const rounds = 12
	for range rounds {
		n, err := r.take(ctx, ruleScored, r.strictBest(condition), "NULL")
		if err != nil {
			return fmt.Errorf("assigning partners: %w", err)
		}
		if n == 0 {
			break
		}
	}
	return nil
}

// eligible are the scored pairs of open rows that are likely enough and meet a condition.
func (r *run) eligible(condition string) string {
	return fmt.Sprintf("(SELECT v.li, v.ri, v.s FROM %s AS v SEMI JOIN %s AS a ON a.i = v.li SEMI JOIN %s AS b ON b.i = v.ri WHERE %s AND %s)",
		scoredPairs, r.openLeft(), r.openRight(), r.recipe.Scoring.likelySQL(r.recipe.Comparisons, "v"), condition)
}

// likelySQL says whether a scored pair is likely enough to be a match.
func (s *Scoring) likelySQL(comparisons []Comparison, alias string) string {
	limit := fmt.Sprintf("%s.s >= %d", alias, s.scoreFrom(s.Suggested))
	yes, no := s.corrected(comparisons)
	if len(no) > 0 {
		limit = fmt.Sprintf("(%s AND %s.p NOT IN (%s))", limit, alias, joinNumbers(no))
	}
	if len(yes) > 0 {
		limit = fmt.Sprintf("(%s OR %s.p IN (%s))", limit, alias, joinNumbers(yes))
	}
	return limit
}

// corrected lists the patterns whose probability a person changed, as likely or not.
func (s *Scoring) corrected(comparisons []Comparison) (yes, no []int64) {
	for _, p := range s.Patterns {
		packed := packLevels(p.Levels, comparisons)
		if p.Chance >= s.Suggested {
			yes = append(yes, packed)
		} else {
			no = append(no, packed)
		}
	}
	return yes, no
}

func joinNumbers(list []int64) string {
	return each(list, ", ", func(_ int, n int64) string { return fmt.Sprint(n) })
}

// packLevels is the pattern of named levels; a comparison without one has no value.
func packLevels(levels map[string]string, comparisons []Comparison) int64 {
	var p int64
	for j, c := range comparisons {
		for g, level := range c.As.Levels() {
			if levels[c.ID] == level {
				p += int64(g+1) << (patternBits * j)
			}
		}
	}
	return p
}

// strictBest selects the eligible pairs whose rows prefer each other to every other
// open row. Of rows that prefer two partners alike none is taken. The margin is NULL where
// neither row has a second candidate.
func (r *run) strictBest(condition string) string {
	e := r.eligible(condition)
	return fmt.Sprintf(`SELECT a.li, a.ri, a.s, least(a.top[1] - a.top[2], b.top[1] - b.top[2]) AS margin
		FROM (SELECT li, arg_max(ri, s * 4294967296 - ri) AS ri, max(s) AS s, max(s, 2) AS top FROM %[1]s GROUP BY li) AS a
		JOIN (SELECT ri, arg_max(li, s * 4294967296 - li) AS li, max(s, 2) AS top FROM %[1]s GROUP BY ri) AS b ON a.li = b.li AND a.ri = b.ri
		WHERE coalesce(a.top[1] > a.top[2], true) AND coalesce(b.top[1] > b.top[2], true)`, e)
}
