package recon

import (
	"context"
	"fmt"
	"slices"
)

// A run is one execution of a recipe.
type run struct {
	*Reconciler
	recipe      *Recipe
	left, right table
	taken       string // table of the matches so far: li, ri, rule, s, margin, grp
	made        int    // tables of that kind
}

// takenColumns types the columns of matches.
const takenColumns = "CAST(%s AS BIGINT) AS li, CAST(%s AS BIGINT) AS ri, CAST(%s AS VARCHAR) AS rule, CAST(%s AS BIGINT) AS s, CAST(%s AS BIGINT) AS margin, CAST(%s AS BIGINT) AS grp"

// Rules that every recipe has.
const (
	ruleConfirmed = "confirmed" // a person said so
	ruleScored    = "scored"    // by weights
	ruleSum       = "sum"       // by adding up
)

// take adds the pairs of a SELECT of li, ri, s and margin to the matches.
func (r *run) take(ctx context.Context, rule, sql, group string) (int64, error) {
	old := r.taken
	r.made++
	r.taken = fmt.Sprintf("recon_taken_%d", r.made)
	next := fmt.Sprintf("SELECT "+takenColumns+" FROM (%s)", "li", "ri", text(rule), "s", "margin", group, sql)
	if old != "" {
		next = "SELECT * FROM " + old + " UNION ALL " + next
	}
	if err := r.space.Create(ctx, r.taken, next); err != nil {
		return 0, err
	}
	n, err := r.count(ctx, "SELECT count(*) FROM "+r.taken)
	if err != nil || old == "" {
		return n, err
	}
	before, err := r.count(ctx, "SELECT count(*) FROM "+old)
	if err != nil {
		return 0, err
	}
	return n - before, r.space.Drop(ctx, old)
}

// openLeft and openRight are the ready rows that have no partner yet.
func (r *run) openLeft() string {
	return fmt.Sprintf("(SELECT * FROM %s AS o ANTI JOIN %s AS m ON m.li = o.i ANTI JOIN (SELECT i FROM %s WHERE side = 'left') AS z ON z.i = o.i)", readyLeft, r.taken, nettedTable)
}

func (r *run) openRight() string {
	return fmt.Sprintf("(SELECT * FROM %s AS o ANTI JOIN %s AS m ON m.ri = o.i ANTI JOIN (SELECT i FROM %s WHERE side = 'right') AS z ON z.i = o.i)", readyRight, r.taken, nettedTable)
}

// confirmedPass matches what a person confirmed.
func (r *run) confirmedPass(ctx context.Context) error {
	if err := r.space.Create(ctx, nettedTable, "SELECT '' AS side, CAST(0 AS BIGINT) AS i, CAST(0 AS BIGINT) AS other WHERE false"); err != nil {
		return err
	}
	_, err := r.take(ctx, ruleConfirmed, fmt.Sprintf("SELECT li, ri, NULL AS s, NULL AS margin FROM %s WHERE w = 1", labelled), "NULL")
	return err
}

// scoredPass compares the candidates among the open rows and matches those that
// prefer each other and are likely enough.
func (r *run) scoredPass(ctx context.Context) error {
	rc := r.recipe
	const left, right = "recon_lopen", "recon_ropen"
	if err := r.space.Create(ctx, left, "SELECT * FROM "+r.openLeft()); err != nil {
		return err
	}
	if err := r.space.Create(ctx, right, "SELECT * FROM "+r.openRight()); err != nil {
		return err
	}
	if err := r.makeCandidates(ctx, candidatePairs, rc.Candidates, rc.Comparisons, left, right, "SELECT li, ri FROM "+labelled+" WHERE false"); err != nil {
		return fmt.Errorf("finding candidates: %w", err)
	}
	if err := r.makeLevels(ctx, levelTable, candidatePairs, rc.Comparisons); err != nil {
		return fmt.Errorf("comparing candidates: %w", err)
	}
	sql := fmt.Sprintf("SELECT *, %s AS s FROM %s AS v ANTI JOIN (SELECT * FROM %s WHERE w = 0) AS n ON n.li = v.li AND n.ri = v.ri",
		scoreSQL(rc.Scoring.weights(rc.Comparisons)), levelTable, labelled)
	if err := r.space.Create(ctx, scoredPairs, sql); err != nil {
		return fmt.Errorf("scoring candidates: %w", err)
	}
	if g := rc.Groups; g != nil {
		return r.assign(ctx, r.equalAmountSQL(g))
	}
	return r.assign(ctx, "true")
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
// open row. Of rows that prefer two partners alike none is taken.
func (r *run) strictBest(condition string) string {
	e := r.eligible(condition)
	return fmt.Sprintf(`SELECT a.li, a.ri, a.s, least(coalesce(a.top[1] - a.top[2], 99999), coalesce(b.top[1] - b.top[2], 99999)) AS margin
		FROM (SELECT li, arg_max(ri, s * 4294967296 - ri) AS ri, max(s) AS s, max(s, 2) AS top FROM %[1]s GROUP BY li) AS a
		JOIN (SELECT ri, arg_max(li, s * 4294967296 - li) AS li, max(s, 2) AS top FROM %[1]s GROUP BY ri) AS b ON a.li = b.li AND a.ri = b.ri
		WHERE coalesce(a.top[1] > a.top[2], true) AND coalesce(b.top[1] > b.top[2], true)`, e)
}
