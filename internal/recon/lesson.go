package recon

import (
	"context"
	"fmt"
	"math"
	"slices"
)

// A Lesson is what Learn found.
type Lesson struct {
	Recipe   *Recipe        `json:"recipe"`
	Left     Profile        `json:"left"`
	Right    Profile        `json:"right"`
	Problems []LabelProblem `json:"problems"` // labels that contradict each other or the rest
	Note     string         `json:"note"`
}

// Learn makes a recipe from the labelled pairs and the two tables. Without confirmed
// pairs it starts from rows that share rare words.
func (r *Reconciler) Learn(ctx context.Context, in Input) (*Lesson, error) {
	say := r.steps(10)
	if err := say.next(ctx, "reading both sides"); err != nil {
		return nil, err
	}
	l, err := r.prepare(ctx, in)
	if err != nil {
		return nil, err
	}
	if err := r.train(ctx, l, say); err != nil {
		return nil, err
	}
	if err := say.next(ctx, "writing the recipe"); err != nil {
		return nil, err
	}
	if l.patterns, err = r.patternCounts(ctx, l.model); err != nil {
		return nil, fmt.Errorf("counting patterns: %w", err)
	}
	groups, err := r.learnGroups(ctx, l)
	if err != nil {
		return nil, fmt.Errorf("learning about sums: %w", err)
	}
	cardinality := OneToOne
	if groups != nil {
		cardinality = ManyToMany
	}
	scoring := l.model.scoring()
	scoring.Patterns = corrections(l, scoring)
	matches, err := r.count(ctx, fmt.Sprintf("SELECT count(*) FROM %s WHERE s >= %d", bestPairs, scoring.scoreFrom(scoring.Suggested)))
	if err != nil {
		return nil, err
	}
	rules, err := distil(ctx, l.model, l.patterns, l.sampled)
	if err != nil {
		return nil, err
	}
	recipe := &Recipe{
		Version: RecipeVersion, Left: Source{Key: in.Left.Key}, Right: Source{Key: in.Right.Key}, Cardinality: cardinality,
		Comparisons: l.comparisons, Candidates: slices.Concat([]Key{}, l.keys), Rules: rules, Scoring: scoring, Groups: groups,
		Learned: &Learned{
			Confirmed: len(in.Labels.Confirmed), Rejected: len(in.Labels.Rejected), LeftRows: l.left.rows, RightRows: l.right.rows,
			MatchRate: roundTo(math.Min(1, float64(matches)/float64(max(1, min(l.sampled, l.right.rows))))),
		},
	}
	lesson := &Lesson{Recipe: recipe, Left: l.lp, Right: l.rp, Problems: slices.Concat(in.Labels.Contradictions(), r.doubtfulLabels(ctx, l))}
	from := "the data alone"
	if labels := in.Labels; len(labels.Confirmed)+len(labels.Rejected) > 0 {
		from = fmt.Sprintf("the data, %d confirmed and %d rejected pairs", len(labels.Confirmed), len(labels.Rejected))
	}
	lesson.Note = fmt.Sprintf("Learned from %s; %.1f %% of the rows of the smaller side are expected to match.", from, 100*recipe.Learned.MatchRate)
	return lesson, nil
}

// corrections lowers or raises the probability of patterns about which a person
// decided. The more pairs have a pattern, the more decisions it takes.
func corrections(l *learnt, s *Scoring) []Pattern {
	var out []Pattern
	weights := s.weights(l.comparisons)
	for _, p := range l.patterns {
		if p.Confirmed+p.Rejected == 0 {
			continue
		}
		levels := unpack(p.Pattern, len(l.comparisons))
		score := int64(0)
		for j, g := range levels {
			if g >= 0 {
				score += weights[j][g]
			}
		}
		before := l.model.curve.chance[l.model.curve.bin(float64(score))]
		strength := 1 + float64(p.Likely)/50
		after := (strength*before + float64(p.Confirmed)) / (strength + float64(p.Confirmed+p.Rejected))
		if p.Rejected == 0 || (before >= s.Suggested) == (after >= s.Suggested) {
			continue
		}
		named := map[string]string{}
		for j, g := range levels {
			if g >= 0 {
				named[l.comparisons[j].ID] = l.comparisons[j].As.Levels()[g]
			}
		}
		out = append(out, Pattern{named, roundTo(after)})
	}
	return out
}

// doubtfulLabels names labels that the recipe cannot follow: rejected pairs that look
// exactly like confirmed ones, and confirmed pairs that look like no match at all.
func (r *Reconciler) doubtfulLabels(ctx context.Context, l *learnt) []LabelProblem {
	type row struct {
		Left, Right string
		W           int64
		Same        int64
		Score       int64
	}
	rows, err := selectRows[row](ctx, r.space, fmt.Sprintf(`SELECT lk.k, rk.k, a.w, (SELECT count(*) FROM (SELECT v2.p FROM %[1]s AS b JOIN %[2]s AS v2 ON v2.li = b.li AND v2.ri = b.ri WHERE b.w = 1) AS q WHERE q.p = v.p), %[3]s
		FROM %[1]s AS a JOIN %[2]s AS v ON v.li = a.li AND v.ri = a.ri JOIN %[4]s AS lk ON lk.i = a.li JOIN %[5]s AS rk ON rk.i = a.ri ORDER BY 1, 2`,
		labelled, levelTable, scoreSQL(l.model.thousandths()), stagedLeft, stagedRight))
	if err != nil {
		return []LabelProblem{{Problem: "the labels could not be checked: " + err.Error()}}
	}
	var out []LabelProblem
	for _, x := range rows {
		switch pair := (Pair{x.Left, x.Right}); {
		case x.W == 0 && x.Same > 0:
			out = append(out, LabelProblem{pair, fmt.Sprintf("%q and %q were rejected, but %d confirmed pairs agree in the same way", x.Left, x.Right, x.Same)})
		case x.W == 1 && l.model.curve.chance[l.model.curve.bin(float64(x.Score))] < 0.1:
			out = append(out, LabelProblem{pair, fmt.Sprintf("%q and %q were confirmed, but agree less than rows that do not belong together", x.Left, x.Right)})
		}
	}
	return out
}
