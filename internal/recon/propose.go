package recon

import (
	"context"
	"fmt"
	"math"

	"interlock/internal/fault"
)

// A Proposal is a pair that a person is asked about.
type Proposal struct {
	Pair   Pair     `json:"pair"`
	Agree  []string `json:"agree"`  // comparisons whose values are equal
	Nearly []string `json:"nearly"` // and those whose values are close
	Chance float64  `json:"chance"` // that it is a match, as far as is known
	Reason string   `json:"reason"`
}

// Propose picks the pair whose answer teaches most: of the pattern with the most pairs
// that are least certain, one that was not decided yet. It fails with cannot_answer
// when there is nothing left to ask.
func (r *Reconciler) Propose(ctx context.Context, in Input) (*Proposal, error) {
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
	best, most := -1, -1.0
	for i, x := range rows {
		// A certain pattern teaches a little too: it shows what a plain match looks like.
		if worth := float64(x.N) * (entropy(c.chance[x.Bin]) + 0.001); worth > most {
			best, most = i, worth
		}
	}
	if best < 0 {
		return nil, fault.New(fault.CannotAnswer, "There is no further pair to ask about.")
	}
	x := rows[best]
	p := &Proposal{Chance: math.Round(c.chance[x.Bin]*1e4) / 1e4, Reason: fmt.Sprintf("%d pairs agree in the same way; the answer is about all of them.", x.N)}
	p.describe(unpack(x.Pattern, len(l.comparisons)), l.comparisons)
	keys, err := selectOne[Pair](ctx, r.space, fmt.Sprintf("SELECT (SELECT k FROM %s WHERE i = %d), (SELECT k FROM %s WHERE i = %d)", stagedLeft, x.Li, stagedRight, x.Ri))
	p.Pair = keys
	return p, err
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
	pattern, err := r.count(ctx, "SELECT p FROM "+levelTable)
	p.describe(unpack(pattern, len(l.comparisons)), l.comparisons)
	p.Reason = fmt.Sprintf("%d comparisons agree and %d nearly.", len(p.Agree), len(p.Nearly))
	return p, err
}

// describe sorts the comparisons of a pair into those that agree and nearly agree.
func (p *Proposal) describe(levels []int, comparisons []Comparison) {
	p.Agree, p.Nearly = []string{}, []string{}
	for j, g := range levels {
		c := comparisons[j]
		top := len(c.As.Levels()) - 1
		switch {
		case g < 0:
		case c.As == Date && lagBinIs(g, 0) || c.As != Date && g == top:
			p.Agree = append(p.Agree, describeColumns(c))
		case c.As == Date && (lagBinIs(g, 10) || g == top) || c.As != Date && 2*g >= top:
			p.Nearly = append(p.Nearly, describeColumns(c)+" ("+c.As.Levels()[g]+")")
		}
	}
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
