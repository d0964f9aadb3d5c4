package recon

import (
	"context"
	"fmt"
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
	s.Precision = float64(s.Right) / float64(max(1, s.Found))
	s.Recall = float64(s.Right) / float64(max(1, s.True))
	s.F1 = 2 * float64(s.Right) / float64(max(1, s.Found+s.True))
	return s, nil
}
