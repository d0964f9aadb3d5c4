package recon

import (
	"context"
	"fmt"
	"strings"

	"interlock/internal/fault"
)

// labelled holds the decided pairs: li, ri and w, 1 for confirmed and 0 for rejected.
const labelled = "recon_labels"

// A LabelProblem says why a label cannot be used, or which others it contradicts.
type LabelProblem struct {
	Pair    Pair   `json:"pair"`
	Problem string `json:"problem"`
}

// Contradictions lists labels that cannot all be true when each row has at most one
// partner.
func (l Labels) Contradictions() []LabelProblem {
	var out []LabelProblem
	confirmed := map[Pair]bool{}
	byLeft, byRight := map[string]Pair{}, map[string]Pair{}
	for _, p := range l.Confirmed {
		if confirmed[p] {
			continue
		}
		confirmed[p] = true
		if q, ok := byLeft[p.Left]; ok {
			out = append(out, LabelProblem{p, fmt.Sprintf("%q was confirmed with %q and with %q; in a one-to-one match it has one partner", p.Left, q.Right, p.Right)})
		}
		if q, ok := byRight[p.Right]; ok {
			out = append(out, LabelProblem{p, fmt.Sprintf("%q was confirmed with %q and with %q; in a one-to-one match it has one partner", p.Right, q.Left, p.Left)})
		}
		byLeft[p.Left], byRight[p.Right] = p, p
	}
	for _, p := range l.Rejected {
		if confirmed[p] {
			out = append(out, LabelProblem{p, fmt.Sprintf("%q and %q were both confirmed and rejected", p.Left, p.Right)})
		}
	}
	return out
}

// stageLabels finds the rows of the labels in two tables with i and k. A key that no row
// or more than one row has is a fault that lists all such labels.
func (r *Reconciler) stageLabels(ctx context.Context, l Labels, left, right string) error {
	var values, args []string
	add := func(pairs []Pair, w int) {
		for _, p := range pairs {
			args = append(args, p.Left, p.Right)
			values = append(values, fmt.Sprintf("(CAST($%d AS VARCHAR), CAST($%d AS VARCHAR), %d)", len(args)-1, len(args), w))
		}
	}
	add(l.Confirmed, 1)
	add(l.Rejected, 0)
	if len(values) == 0 {
		return r.space.Create(ctx, labelled, "SELECT CAST(0 AS BIGINT) AS li, CAST(0 AS BIGINT) AS ri, 0 AS w WHERE false")
	}
	list := fmt.Sprintf("(VALUES %s) AS v(lk, rk, w)", strings.Join(values, ", "))
	type row struct {
		Left, Right string
		N, M        int64
	}
	rows, err := selectRows[row](ctx, r.space, fmt.Sprintf(`SELECT lk, rk, (SELECT count(*) FROM %s AS l WHERE l.k = lk), (SELECT count(*) FROM %s AS r WHERE r.k = rk) FROM %s`, left, right, list), args...)
	if err != nil {
		return err
	}
	var problems []LabelProblem
	for _, x := range rows {
		for _, s := range []struct {
			side, key string
			n         int64
		}{{"left", x.Left, x.N}, {"right", x.Right, x.M}} {
			switch {
			case s.n == 0:
				problems = append(problems, LabelProblem{Pair{x.Left, x.Right}, fmt.Sprintf("no %s row has the key %q", s.side, s.key)})
			case s.n > 1:
				problems = append(problems, LabelProblem{Pair{x.Left, x.Right}, fmt.Sprintf("%d %s rows have the key %q", s.n, s.side, s.key)})
			}
		}
	}
	if len(problems) > 0 {
		return fault.New(fault.BadRequest, "%d labelled pairs do not name one row on each side: %s.", len(problems), problems[0].Problem).
			Suggest("Correct the keys, or name the column that holds them.").With(problems)
	}
	return r.space.Create(ctx, labelled, fmt.Sprintf(`SELECT l.i AS li, r.i AS ri, min(w) AS w FROM %s JOIN %s AS l ON l.k = lk JOIN %s AS r ON r.k = rk GROUP BY l.i, r.i`, list, left, right), args...)
}
