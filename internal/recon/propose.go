package recon

import (
	"cmp"
	"context"
	"fmt"
	"math"
	"slices"

	"interlock/internal/fault"
)

// A Proposal is a pair that a person is asked about.
type Proposal struct {
	Pair   Pair     `json:"pair"`
	Agree  []string `json:"agree"`  // sentences about comparisons whose values are equal
	Nearly []string `json:"nearly"` // and about those whose values are close
	Chance float64  `json:"chance"` // that it is a match, as far as is known
	Reason string   `json:"reason"`
	Values []Values `json:"values"` // what is compared, in both rows
}

// Values are the two values of a comparison in a pair of rows.
type Values struct {
	Columns string `json:"columns"`
	Left    string `json:"left"`
	Right   string `json:"right"`
	Level   string `json:"level"`
	Says    string `json:"says"` // the level in words
}

// Proposals picks up to n pairs whose answers teach most, the best first: of the patterns
// with the most pairs that are least certain, one each that was not decided yet. It fails
// with cannot_answer when there is nothing left to ask.
func (r *Reconciler) Proposals(ctx context.Context, in Input, n int) ([]Proposal, error) {
	l, err := r.prepare(ctx, in)
	if err != nil {
		return nil, err
	}
	if err := r.train(ctx, l, r.steps(9)); err != nil {
		return nil, err
	}
	c := l.model.curve
	bin := fmt.Sprintf("least(%d, greatest(0, CAST(floor((b.s - %g) / %g * %d) AS BIGINT)))", scoreBins-1, c.low, c.high-c.low+1e-9, scoreBins)
	type row struct{ Pattern, Bin, N, Li, Ri int64 }
	rows, err := selectRows[row](ctx, r.space, fmt.Sprintf(`SELECT p, bin, n, li, ri FROM (
		SELECT v.p, %s AS bin, v.li, v.ri, count(*) OVER (PARTITION BY v.p) AS n, row_number() OVER (PARTITION BY v.p ORDER BY hash(v.li), v.li) AS k
		FROM %s AS b JOIN %s AS v ON v.li = b.li AND v.ri = b.ri ANTI JOIN %s AS z ON z.li = v.li AND z.ri = v.ri) WHERE k = 1 ORDER BY n DESC, p LIMIT 20000`, bin, bestPairs, levelTable, labelled))
	if err != nil {
		return nil, err
	}
	if len(rows) == 0 {
		return nil, fault.New(fault.CannotAnswer, "There is no further pair to ask about.")
	}
	// A certain pattern teaches a little too: it shows what a plain match looks like.
	worth := func(x row) float64 { return float64(x.N) * (entropy(c.chance[x.Bin]) + 0.001) }
	slices.SortStableFunc(rows, func(x, y row) int { return cmp.Compare(worth(y), worth(x)) })
	var out []Proposal
	for _, x := range rows[:min(n, len(rows))] {
		p := Proposal{Chance: math.Round(c.chance[x.Bin]*1e4) / 1e4, Reason: fmt.Sprintf("%d pairs agree in the same way; the answer is about all of them.", x.N)}
		if x.N == 1 {
			p.Reason = "No other pair agrees in this way."
		}
		if err := r.describe(ctx, &p, l, x.Li, x.Ri, unpack(x.Pattern, len(l.comparisons))); err != nil {
			return nil, err
		}
		out = append(out, p)
	}
	return out, nil
}

// Explain compares two rows that somebody else proposes.
func (r *Reconciler) Explain(ctx context.Context, in Input, pair Pair) (*Proposal, error) {
	asked := in
	asked.Labels = Labels{Confirmed: []Pair{pair}}
	l, err := r.prepare(ctx, asked)
	if err != nil {
		return nil, err
	}
	if l.comparisons, err = r.mapColumns(ctx, l.left, l.right, l.lp, l.rp, "SELECT li, ri FROM "+labelled); err != nil {
		return nil, err
	}
	p := &Proposal{Pair: pair, Reason: "Nothing in the two rows is alike."}
	if len(l.comparisons) == 0 {
		return p, nil
	}
	if err := r.makeReady(ctx, l.left, l.right, l.comparisons); err != nil {
		return nil, err
	}
	if err := r.makeLevels(ctx, levelTable, labelled, bothReady, l.comparisons); err != nil {
		return nil, err
	}
	found, err := selectOne[struct{ Pattern, Li, Ri int64 }](ctx, r.space, "SELECT p, li, ri FROM "+levelTable)
	if err != nil {
		return nil, err
	}
	err = r.describe(ctx, p, l, found.Li, found.Ri, unpack(found.Pattern, len(l.comparisons)))
	p.Reason = fmt.Sprintf("%d comparisons agree and %d nearly.", len(p.Agree), len(p.Nearly))
	return p, err
}

// describe fills in the keys and compared values of a pair, and sorts its comparisons
// into those that agree and nearly agree.
func (r *Reconciler) describe(ctx context.Context, p *Proposal, l *learnt, li, ri int64, levels []int) error {
	comparisons := l.comparisons
	found, err := selectOne[struct {
		Pair        Pair
		Left, Right []string
	}](ctx, r.space, fmt.Sprintf("SELECT {'left_key': l.k, 'right_key': r.k}, [%s], [%s] FROM %s AS l, %s AS r WHERE l.i = %d AND r.i = %d",
		each(comparisons, ", ", func(_ int, c Comparison) string {
			return "coalesce(" + qualified(c.source(l.left, c.Left), "l") + ", '')"
		}),
		each(comparisons, ", ", func(_ int, c Comparison) string {
			return "coalesce(" + qualified(c.source(l.right, c.Right), "r") + ", '')"
		}),
		stagedLeft, stagedRight, li, ri))
	if err != nil {
		return err
	}
	p.Pair, p.Agree, p.Nearly, p.Values = found.Pair, []string{}, []string{}, []Values{}
	for j, g := range levels {
		c := comparisons[j]
		level := levelMissing
		if g >= 0 {
			level = c.As.Levels()[g]
		}
		p.Values = append(p.Values, Values{describeColumns(c), found.Left[j], found.Right[j], level, c.As.levelInWords(level)})
		top := len(c.As.Levels()) - 1
		switch {
		case g < 0:
		case c.As == Date && lagBinIs(g, 0) || c.As != Date && g == top:
			p.Agree = append(p.Agree, c.subject()+" "+c.As.levelInWords(level))
		case c.As == Date && (lagBinIs(g, 10) || g == top) || c.As != Date && 2*g >= top:
			p.Nearly = append(p.Nearly, c.subject()+" "+c.As.levelInWords(level))
		}
	}
	return nil
}

// lagBinIs says that the days of a bin lie within so many days of each other.
func lagBinIs(g, days int) bool {
	return g < len(lagBins) && lagBins[g].from >= -days && lagBins[g].to <= days
}

func entropy(p float64) float64 {
	if p <= 0 || p >= 1 {
		return 0
	}
	return -p*math.Log2(p) - (1-p)*math.Log2(1-p)
}
