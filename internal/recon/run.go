package recon

import (
	"context"
	"fmt"

	"interlock/internal/fault"
)

// Tables of a result, which stay in the workspace.
const (
	MatchTable     = "recon_matches"
	EvidenceTable  = "recon_evidence"
	UnmatchedTable = "recon_unmatched"
	ConflictTable  = "recon_conflicts"
)

// An Outcome sums a run up.
type Outcome struct {
	Matched         int64            `json:"matched"`   // pairs
	Suggested       int64            `json:"suggested"` // of these, pairs that a person should look at
	Groups          int64            `json:"groups"`    // sums, whose pairs count as matched
	Netted          int64            `json:"netted"`    // rows that cancel another row of their side
	Ambiguous       int64            `json:"ambiguous"` // rows with several equal partners
	LeftRows        int64            `json:"left_rows"`
	RightRows       int64            `json:"right_rows"`
	UnmatchedLeft   int64            `json:"unmatched_left"`
	UnmatchedRight  int64            `json:"unmatched_right"`
	AmountMatched   float64          `json:"amount_matched"` // of the left side
	AmountOpen      float64          `json:"amount_open"`    // of the left side
	AmountOpenRight float64          `json:"amount_open_right"`
	ByRule          map[string]int64 `json:"by_rule"`
	Skewed          []Skew           `json:"skewed,omitempty"`
}

// A Skew is a key of which some values were not looked up, because too many rows have
// them.
type Skew struct {
	Key    Key   `json:"key"`
	Values int64 `json:"values"`
	Pairs  int64 `json:"pairs"` // that were not compared because of it
}

// Run executes a recipe. The matches, their evidence, the unmatched rows and the
// conflicts are tables of the workspace afterwards.
func (r *Reconciler) Run(ctx context.Context, in Input, recipe *Recipe) (*Outcome, error) {
	say := r.steps(9)
	if err := say.next(ctx, "reading both sides"); err != nil {
		return nil, err
	}
	if recipe.Scoring == nil { // rules only: nothing is likely by weights
		rulesOnly := *recipe
		rulesOnly.Scoring = &Scoring{Auto: 0.9, Suggested: 0.5}
		recipe = &rulesOnly
	}
	run := &run{Reconciler: r, recipe: recipe}
	var err error
	if run.left, run.right, err = r.stageBoth(ctx, in); err != nil {
		return nil, err
	}
	if problems := recipe.Check(run.left.columns, run.right.columns); len(problems) > 0 {
		return nil, fault.New(fault.PlanInvalid, "The recipe has %d problems: %s.", len(problems), problems[0].Message).With(problems)
	}
	if err := r.stageLabels(ctx, in.Labels); err != nil {
		return nil, err
	}
	if err := r.makeReady(ctx, run.left, run.right, recipe.Comparisons); err != nil {
		return nil, fmt.Errorf("preparing the values: %w", err)
	}
	for _, pass := range []struct {
		step string
		do   func(context.Context) error
	}{
		{"taking confirmed pairs", run.confirmedPass},
		{"applying rules", run.rulesPass},
		{"matching by weights", run.scoredPass},
		{"setting aside rows that cancel each other", run.nettingPass},
		{"searching sums", run.groupPass},
		{"matching the rest", run.restPass},
		{"writing the result", run.writeResult},
	} {
		if err := say.next(ctx, pass.step); err != nil {
			return nil, err
		}
		if err := pass.do(ctx); err != nil {
			return nil, fmt.Errorf("%s: %w", pass.step, err)
		}
	}
	return run.outcome(ctx)
}
