package recon

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"interlock/internal/fault"
)

// Tables of a result, which stay in the workspace.
const (
	MatchTable     = "recon_matches" // with the evidence: both values, level and weight of each comparison
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
	MatchedRight    float64          `json:"amount_matched_right"`
	AmountOpen      float64          `json:"amount_open"` // of the left side
	AmountOpenRight float64          `json:"amount_open_right"`
	ByRule          map[string]int64 `json:"by_rule"`
	Rules           []RuleOutcome    `json:"rules"`
	Open            []OpenReason     `json:"open_by_reason"`
	Carried         *Carried         `json:"carried,omitempty"` // among the rows, open ones of an earlier run
	Skewed          []Skew           `json:"skewed,omitempty"`
	Agreements      []Agreement      `json:"agreements"` // of the pairs matched by weights, the most frequent first
}

// An Agreement is a way in which the rows of matched pairs agree.
type Agreement struct {
	Sentence string `json:"sentence"`
	Pairs    int64  `json:"pairs"`
}

// A RuleOutcome is what one rule matched.
type RuleOutcome struct {
	Rule        string  `json:"rule"`
	Sentence    string  `json:"sentence"`
	Pairs       int64   `json:"pairs"`
	LeftAmount  float64 `json:"left_amount"` // of the rows that it matched
	RightAmount float64 `json:"right_amount"`
}

// An OpenReason is how many rows of both sides are open for a reason, and their amounts.
type OpenReason struct {
	Reason      string  `json:"reason"`
	Left        int64   `json:"left_rows"`
	Right       int64   `json:"right_rows"`
	LeftAmount  float64 `json:"left_amount"`
	RightAmount float64 `json:"right_amount"`
}

// A Skew is a key of which some values were not looked up, because too many rows have
// them.
type Skew struct {
	Key    Key   `json:"key"`
	Values int64 `json:"values"`
	Pairs  int64 `json:"pairs"` // that were not compared because of it
}

// Run executes a recipe. The matches with their evidence, the unmatched rows and the
// conflicts are tables of the workspace afterwards.
func (r *Reconciler) Run(ctx context.Context, in Input, recipe *Recipe) (*Outcome, error) {
	say := r.steps(11)
	if err := say.next(ctx, "reading both sides"); err != nil {
		return nil, err
	}
	if recipe.Scoring == nil { // rules only: nothing is likely by weights
		rulesOnly := *recipe
		rulesOnly.Scoring = &Scoring{Auto: 0.9, Suggested: 0.5}
		recipe = &rulesOnly
	}
	run := &run{Reconciler: r, recipe: recipe, rejected: len(in.Labels.Rejected) > 0}
	if err := run.prepareRows(ctx, in); err != nil {
		return nil, err
	}
	for _, pass := range []struct {
		step string
		do   func(context.Context) error
	}{
		{"adding up batches", run.batchPass},
		{"taking confirmed pairs", run.confirmedPass},
		{"applying rules", run.rulesPass},
		{"matching by weights", run.scoredPass},
		{"setting aside rows that cancel each other", run.nettingPass},
		{"searching sums", run.groupPass},
		{"matching the rest", run.restPass},
		{"adding up what is left of batches", run.lastBatchPass},
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

// prepareRows brings the rows of both sides into the forms that are compared, and finds
// the labelled ones. All rows are open.
func (r *run) prepareRows(ctx context.Context, in Input) (err error) {
	r.ready = nil
	if r.left, err = r.describeSide(ctx, in.Left, readyLeft); err != nil {
		return fmt.Errorf("reading the left side: %w", err)
	}
	if r.right, err = r.describeSide(ctx, in.Right, readyRight); err != nil {
		return fmt.Errorf("reading the right side: %w", err)
	}
	comparisons := r.recipe.Comparisons
	if problems := r.recipe.Check(r.left.columns, r.right.columns); len(problems) > 0 {
		return fault.New(fault.PlanInvalid, "The recipe has %d problems: %s.", len(problems), problems[0].Message).With(problems)
	}
	for _, s := range []struct {
		t       *table
		isRight bool
	}{{&r.left, false}, {&r.right, true}} {
		used := func(i int) bool { return r.recipe.usesColumn(s.isRight, s.t.columns[i]) }
		if err := r.space.Create(ctx, numberedRows, s.t.numberedSQL(used)); err != nil {
			return fmt.Errorf("numbering the rows: %w", err)
		}
		asText := func(i int) bool { return s.t.typedSQL(i) == "" || r.recipe.batchedBy(s.isRight, s.t.columns[i]) }
		if err := r.space.Create(ctx, s.t.staged, readySQL(*s.t, "("+s.t.cellsSQL(numberedRows, "*", used)+")", s.t.cellNames(used, asText), s.isRight, comparisons)); err != nil {
			return fmt.Errorf("preparing the values: %w", err)
		}
		if err := r.space.Drop(ctx, numberedRows); err != nil {
			return err
		}
		if s.t.rows, err = r.count(ctx, "SELECT count(*) FROM "+s.t.staged); err != nil {
			return err
		}
	}
	r.lastLeft, r.lastRight = r.left, r.right
	r.open = openRows{rowTables: rowTables{left: readyLeft, right: readyRight}, rows: r.left.rows + r.right.rows}
	if slices.ContainsFunc(comparisons, func(c Comparison) bool { return c.As.sharesWords() }) {
		if err := r.makeWords(ctx, r.open.rowTables, r.open.rows, comparisons, Kind.sharesWords); err != nil {
			return fmt.Errorf("weighing words: %w", err)
		}
		if err := r.makeLists(ctx, comparisons); err != nil {
			return fmt.Errorf("weighing words: %w", err)
		}
	}
	return r.stageLabels(ctx, in.Labels, readyLeft, readyRight)
}

// cellNames lists number, key and some cells of a side, as text or as they came.
func (t table) cellNames(keep, asText func(column int) bool) string {
	names := []string{"i", "k"}
	for i := range t.columns {
		switch {
		case !keep(i):
		case asText(i):
			names = append(names, fmt.Sprintf("v%d", i))
		default:
			names = append(names, fmt.Sprintf("c%[1]d AS v%[1]d", i))
		}
	}
	return strings.Join(names, ", ")
}

// usesColumn says that the recipe looks at a column of a side.
func (r *Recipe) usesColumn(isRight bool, column string) bool {
	return r.batchedBy(isRight, column) || slices.ContainsFunc(r.Comparisons, func(c Comparison) bool {
		return !isRight && slices.Contains(c.Left, column) || isRight && slices.Contains(c.Right, column)
	})
}
