package recon

import (
	"context"
	"fmt"
	"slices"

	"interlock/internal/fault"
)

// Tables of training.
const (
	candidatePairs = "recon_candidates"
	levelTable     = "recon_levels" // li, ri, t, g0 …, p
	scoredPairs    = "recon_scored" // li, ri, s
	bestPairs      = "recon_best"   // mutual best: li, ri, s
	decoyPairs     = "recon_decoys" // mutual best without those
)

const (
	trainingRounds = 6
	assignRounds   = 4     // in which rows that lost their best partner choose again
	firstRows      = 1_500 // left rows from which the first model is learned: it only has to find the teachers
	likely         = 0.95  // probability from which a pair teaches the column map
	teachers       = 400   // such pairs at most
)

// learnt is the outcome of training on two staged tables.
type learnt struct {
	left, right table
	lp, rp      Profile
	comparisons []Comparison
	keys        []Key
	model       *model
	patterns    []patternCount
	sampled     int64 // left rows that training looked at
}

// train learns from the labelled pairs, and a second time from what it then takes for
// matches: three pairs show which columns belong together, the data show how closely.
func (r *Reconciler) train(ctx context.Context, l *learnt, say *steps) error {
	seeds, err := r.seedPairs(ctx, l)
	if err != nil {
		return err
	}
	for round := range 2 {
		if err := say.next(ctx, "mapping columns"); err != nil {
			return err
		}
		if l.comparisons, err = r.mapColumns(ctx, l.left, l.right, l.lp, l.rp, seeds); err != nil {
			return fmt.Errorf("mapping the columns: %w", err)
		}
		if len(l.comparisons) == 0 {
			return errNothingAlike
		}
		if err := r.space.Create(ctx, knownPairs, seeds); err != nil {
			return err
		}
		if err := r.makeReady(ctx, l.left, l.right, l.comparisons); err != nil {
			return fmt.Errorf("preparing the values: %w", err)
		}
		if err := say.next(ctx, "looking for candidates"); err != nil {
			return err
		}
		if l.keys, err = r.chooseKeys(ctx, l.comparisons, r.budget(l.left.rows, l.right.rows)); err != nil {
			return fmt.Errorf("choosing keys: %w", err)
		}
		leftRows := readyLeft
		l.sampled = l.left.rows
		look := int64(r.config.TrainRows)
		if round == 0 {
			look = min(look, firstRows)
		}
		if step := l.left.rows/look + 1; step > 1 {
			l.sampled = l.left.rows / step
			leftRows = fmt.Sprintf("(SELECT * FROM %s WHERE hash(i) %% %d = 0)", readyLeft, step)
		}
		if err := r.makeCandidates(ctx, candidatePairs, l.keys, slices.Repeat([]int{r.config.KeyPairs}, len(l.keys)), l.comparisons, leftRows, readyRight, "SELECT li, ri FROM "+labelled); err != nil {
			return fmt.Errorf("finding candidates: %w", err)
		}
		if err := say.next(ctx, "comparing candidates"); err != nil {
			return err
		}
		if err := r.makeLevels(ctx, levelTable, candidatePairs, bothReady, l.comparisons); err != nil {
			return fmt.Errorf("comparing candidates: %w", err)
		}
		if err := say.next(ctx, "training"); err != nil {
			return err
		}
		if l.model, err = r.fit(ctx, l); err != nil {
			return fmt.Errorf("training: %w", err)
		}
		if round == 0 {
			seeds = fmt.Sprintf(`SELECT li, ri FROM (SELECT li, ri FROM %s WHERE %s >= %d ORDER BY hash(li), li LIMIT %d) UNION SELECT li, ri FROM %s WHERE w = 1`,
				bestPairs, "s", l.model.curve.scoreOf(likely), teachers, labelled)
			if err := r.space.Create(ctx, "recon_teachers", seeds); err != nil {
				return err
			}
			seeds = "SELECT li, ri FROM recon_teachers"
		}
	}
	return nil
}

// budget is how many candidates two sides of these sizes may have.
func (r *Reconciler) budget(left, right int64) int64 {
	return max(400_000, int64(r.config.PairsPerRow)*max(left, right))
}

// scoreOf is the lowest score, in thousandths, of at least this probability.
func (c curve) scoreOf(chance float64) int64 {
	for b, p := range c.chance {
		if p >= chance {
			return int64(c.low + float64(b)*(c.high-c.low+1e-9)/float64(len(c.chance)))
		}
	}
	return int64(c.high) + 1
}

// levelCount counts the pairs of one level of a comparison.
type levelCount struct{ J, Level, N int64 }

func (r *Reconciler) countLevels(ctx context.Context, comparisons []Comparison, from string) (levelCounts, error) {
	rows, err := selectRows[levelCount](ctx, r.space, fmt.Sprintf("SELECT j, g, count(*) FROM (SELECT unnest([%s]) AS g, unnest([%s]) AS j FROM %s) WHERE g >= 0 GROUP BY j, g ORDER BY j, g",
		listLevels(comparisons), each(comparisons, ", ", func(j int, _ Comparison) string { return fmt.Sprint(j) }), from))
	out := newLevelCounts(comparisons)
	for _, x := range rows {
		out[x.J][x.Level] = float64(x.N)
	}
	return out, err
}

func listLevels(comparisons []Comparison) string {
	return each(comparisons, ", ", func(j int, _ Comparison) string { return fmt.Sprintf("g%d", j) })
}

// fit trains a model on the compared candidates. Rows compete for partners in every
// round: only mutual best pairs are taken for matches.
func (r *Reconciler) fit(ctx context.Context, l *learnt) (*model, error) {
	comparisons := l.comparisons
	all, err := r.countLevels(ctx, comparisons, levelTable)
	if err != nil {
		return nil, err
	}
	confirmed, err := r.countLevels(ctx, comparisons, fmt.Sprintf("(SELECT v.* FROM %s AS v JOIN %s AS k ON k.li = v.li AND k.ri = v.ri)", levelTable, knownPairs))
	if err != nil {
		return nil, err
	}
	m := firstModel(comparisons, all, confirmed)
	for range trainingRounds {
		if m.curve, err = r.rank(ctx, m, -1, 1); err != nil {
			return nil, err
		}
		matches, err := r.likelyLevels(ctx, m)
		if err != nil {
			return nil, err
		}
		before := m.weights
		m.learn(all, matches)
		if settled(before, m.weights) {
			break
		}
	}
	amount := l.amount(m)
	if m.curve, err = r.rank(ctx, m, amount, assignRounds); err != nil || amount < 0 {
		return m, err
	}
	raised, err := r.raiseEqualAmounts(ctx, m, amount)
	if err != nil || !raised {
		return m, err
	}
	m.curve, err = r.rank(ctx, m, amount, assignRounds)
	return m, err
}

// rank scores the candidates and finds best pairs and decoys. A rejected pair is never
// a best pair. Rows whose best partner has a better one choose again, in so many rounds:
// a run lets them, so that the chance of a score must be told of such pairs too. Where amounts
// add up, by the comparison amount, parts of a sum are no decoys.
func (r *Reconciler) rank(ctx context.Context, m *model, amount, rounds int) (curve, error) {
	if err := r.space.Create(ctx, scoredPairs, fmt.Sprintf("SELECT li, ri, %s AS s FROM %s AS v ANTI JOIN (SELECT * FROM %s WHERE w = 0) AS n ON n.li = v.li AND n.ri = v.ri", scoreSQL(m.thousandths()), levelTable, labelled)); err != nil {
		return curve{}, err
	}
	if err := r.choosePartners(ctx, bestPairs, scoredPairs, rounds); err != nil {
		return curve{}, err
	}
	rest := fmt.Sprintf("(SELECT v.* FROM %s AS v ANTI JOIN %s AS b ON b.li = v.li AND b.ri = v.ri)", scoredPairs, bestPairs)
	if err := r.choosePartners(ctx, decoyPairs, rest, rounds); err != nil {
		return curve{}, err
	}
	decoys := decoyPairs
	if amount >= 0 {
		decoys = withoutParts(amount)
	}
	return r.curveOf(ctx, bestPairs, decoys)
}

// curveOf tells the chance of scores from the scores s of best pairs and decoys.
func (r *Reconciler) curveOf(ctx context.Context, best, decoys string) (curve, error) {
	tallies, err := selectRows[tally](ctx, r.space, fmt.Sprintf(`SELECT tenth, CAST(sum(best) AS BIGINT), CAST(sum(decoy) AS BIGINT) FROM (
		SELECT CAST(floor(s / 100.0) AS BIGINT) AS tenth, 1 AS best, 0 AS decoy FROM %s UNION ALL SELECT CAST(floor(s / 100.0) AS BIGINT), 0, 1 FROM %s) GROUP BY tenth ORDER BY tenth`, best, decoys))
	return fitCurve(tallies), err
}

// choosePartners makes the table of mutual best pairs of scored ones, and in further rounds
// of those among the rows that have no partner yet.
func (r *Reconciler) choosePartners(ctx context.Context, into, scored string, rounds int) error {
	var tables []string
	open := scored
	for round := range rounds {
		t := into
		if rounds > 1 {
			t = fmt.Sprintf("%s_%d", into, round)
		}
		if err := r.space.Create(ctx, t, mutualBest(open)); err != nil {
			return err
		}
		tables = append(tables, t)
		if rounds == 1 {
			return nil
		}
		n, err := r.count(ctx, "SELECT count(*) FROM "+t)
		if err != nil {
			return err
		}
		if n == 0 {
			break
		}
		taken := each(tables, " UNION ALL ", func(_ int, t string) string { return "SELECT li, ri FROM " + t })
		open = fmt.Sprintf("(SELECT v.li, v.ri, v.s FROM %[1]s AS v ANTI JOIN (%[2]s) AS x ON x.li = v.li ANTI JOIN (%[2]s) AS y ON y.ri = v.ri)", scored, taken)
	}
	if err := r.space.Create(ctx, into, each(tables, " UNION ALL ", func(_ int, t string) string { return "SELECT li, ri, s FROM " + t })); err != nil {
		return err
	}
	return r.space.Drop(ctx, tables...)
}

// likelyLevels counts the levels of the best pairs, each as much as it is likely.
// Confirmed pairs count whole.
func (r *Reconciler) likelyLevels(ctx context.Context, m *model) (levelCounts, error) {
	c := m.curve
	bin := fmt.Sprintf("least(%d, greatest(0, CAST(floor((s - %g) / %g * %d) AS BIGINT)))", scoreBins-1, c.low, c.high-c.low+1e-9, scoreBins)
	type row struct{ Bin, Known, J, Level, N int64 }
	rows, err := selectRows[row](ctx, r.space, fmt.Sprintf(`SELECT b, known, j, g, count(*) FROM (
		SELECT b, known, unnest([%s]) AS g, unnest([%s]) AS j FROM (
			SELECT v.*, %s AS b, CASE WHEN k.li IS NULL THEN 0 ELSE 1 END AS known
			FROM %s AS v LEFT JOIN %s AS best ON best.li = v.li AND best.ri = v.ri LEFT JOIN (SELECT li, ri FROM %s WHERE w = 1) AS k ON k.li = v.li AND k.ri = v.ri
			WHERE best.li IS NOT NULL OR k.li IS NOT NULL)) WHERE g >= 0 GROUP BY ALL ORDER BY ALL`,
		listLevels(m.comparisons), each(m.comparisons, ", ", func(j int, _ Comparison) string { return fmt.Sprint(j) }), bin, levelTable, bestPairs, labelled))
	if err != nil {
		return nil, err
	}
	out := newLevelCounts(m.comparisons)
	for _, x := range rows {
		p := 1.0
		if x.Known == 0 {
			p = c.chance[x.Bin]
		}
		out[x.J][x.Level] += p * float64(x.N)
	}
	return out, nil
}

// stagedSides are the two sides as they were staged and profiled last. The tables of a
// workspace do not change, so that other labels need no other staging.
type stagedSides struct {
	inLeft, inRight Side
	left, right     table
	lp, rp          Profile
}

// prepare stages and profiles both sides and finds the labelled rows.
func (r *Reconciler) prepare(ctx context.Context, in Input) (*learnt, error) {
	if s := r.staged; s == nil || s.inLeft != in.Left || s.inRight != in.Right {
		if err := r.stageAndProfile(ctx, in); err != nil {
			return nil, err
		}
	}
	s := r.staged
	for i, t := range []table{s.left, s.right} {
		if t.rows == 0 {
			return nil, fault.New(fault.CannotAnswer, "The %s side has no rows: there is nothing to learn from.", [...]string{"left", "right"}[i]).
				Suggest("Check its file, and the conditions that choose its rows.")
		}
	}
	l := &learnt{left: s.left, right: s.right, lp: s.lp, rp: s.rp}
	return l, r.stageLabels(ctx, in.Labels, stagedLeft, stagedRight)
}

func (r *Reconciler) stageAndProfile(ctx context.Context, in Input) (err error) {
	r.staged, r.keyCosts, r.ready = nil, map[string]int64{}, nil
	s := &stagedSides{inLeft: in.Left, inRight: in.Right}
	if s.left, s.right, err = r.stageBoth(ctx, in); err != nil {
		return err
	}
	if s.lp, err = r.profile(ctx, s.left); err != nil {
		return err
	}
	if s.rp, err = r.profile(ctx, s.right); err != nil {
		return err
	}
	r.staged = s
	return nil
}
