package recon

import (
	"context"
	"fmt"

	"interlock/internal/fault"
)

// A Score says how much of the truth a run found, where the truth is known.
type Score struct {
	Precision float64 `json:"precision"` // share of the matches that are true
	Recall    float64 `json:"recall"`    // share of the true pairs that were found
	F1        float64 `json:"f1"`
	Found     int64   `json:"found"`
	Right     int64   `json:"right"`
	True      int64   `json:"true"`
}

// ScoreRun holds the matches of the last run against the true pairs.
func (r *Reconciler) ScoreRun(ctx context.Context, truth []Pair) (Score, error) {
	known := make(map[Pair]bool, len(truth))
	for _, p := range truth {
		known[p] = true
	}
	s := Score{True: int64(len(known))}
	for from := int64(0); ; from += MaxRows / 2 {
		page, err := selectRows[Pair](ctx, r.space, fmt.Sprintf("SELECT left_key, right_key FROM %s WHERE match_id > %d AND match_id <= %d ORDER BY match_id", MatchTable, from, from+MaxRows/2))
		if err != nil {
			return s, fmt.Errorf("reading the matches: %w", err)
		}
		for _, p := range page {
			s.Found++
			if known[p] {
				s.Right++
			}
		}
		if len(page) < MaxRows/2 {
			break
		}
	}
	if s.Right == 0 {
		if err := r.checkTruth(ctx, truth); err != nil {
			return s, err
		}
	}
	s.Precision = float64(s.Right) / float64(max(1, s.Found))
	s.Recall = float64(s.Right) / float64(max(1, s.True))
	s.F1 = 2 * float64(s.Right) / float64(max(1, s.Found+s.True))
	return s, nil
}

// checkTruth says so where the truth is about other rows: no row of a side has any of its
// first keys.
func (r *Reconciler) checkTruth(ctx context.Context, truth []Pair) error {
	truth = truth[:min(len(truth), maxKnownKeys)]
	for _, s := range []struct {
		side, rows string
		key        func(Pair) string
	}{{"left", readyLeft, func(p Pair) string { return p.Left }}, {"right", readyRight, func(p Pair) string { return p.Right }}} {
		var keys []string
		for _, p := range truth {
			keys = append(keys, s.key(p))
		}
		if len(keys) == 0 {
			continue
		}
		known, err := selectOne[count](ctx, r.space, fmt.Sprintf("SELECT count(*) FROM %s WHERE k IN (%s)", s.rows, each(keys, ", ", func(i int, _ string) string { return fmt.Sprintf("$%d", i+1) })), keys...)
		if err != nil {
			return err
		}
		if known.N == 0 {
			return fault.New(fault.BadRequest, "No %s row has a key of the truth, such as %q.", s.side, keys[0]).
				Suggest("The truth needs a header and two columns: the key of a left row and the key of a right row, in this order.")
		}
	}
	return nil
}
