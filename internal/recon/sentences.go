package recon

import (
	"cmp"
	"context"
	"fmt"
	"strings"
)

// Sentences say in plain words, in order, how the recipe matches rows.
func (r *Recipe) Sentences() []string {
	var out []string
	if r.Groups != nil {
		for _, b := range r.Groups.Batches {
			out = append(out, cmp.Or(b.Sentence, b.sentence()))
		}
	}
	for _, rule := range r.Rules {
		sentence := cmp.Or(rule.Sentence, rule.sentence(r.Comparisons))
		if rule.Share > 0 {
			sentence += fmt.Sprintf(" That is %.0f %% of the left rows; about %.1f %% of such matches are right.", 100*rule.Share, 100*rule.Precision)
		}
		out = append(out, sentence)
	}
	if r.Scoring != nil {
		var names []string
		for _, c := range r.Comparisons {
			names = append(names, describeColumns(c))
		}
		out = append(out, fmt.Sprintf("Other rows match where %s together make it likely: from %.0f %% on, and from %.0f %% on without a second look.", strings.Join(names, "; "), 100*r.Scoring.Suggested, 100*r.Scoring.Auto))
	}
	if g := r.Groups; g != nil && r.Cardinality != OneToOne {
		c := r.Comparisons[indexOf(r.Comparisons, g.Amount)]
		sentence := fmt.Sprintf("Several rows match one row of the other side where their amounts (%s) add up to it", describeColumns(c))
		if g.Days != nil {
			sentence += fmt.Sprintf(" and the right row lies %d to %d days after the left one", g.Days[0], g.Days[1])
		}
		out = append(out, sentence+".")
	}
	if g := r.Groups; g != nil && g.Netting {
		out = append(out, "Rows of one side that cancel each other are set aside.")
	}
	return append(out, "A row that prefers two partners alike is matched with none: it is reported as a conflict.")
}

// An OpenRow is a row without a partner.
type OpenRow struct{ Side, Key, Reason, Nearest, Missing string }

// FirstOpen gives the first n open rows of each side that nothing settles.
func (r *Reconciler) FirstOpen(ctx context.Context, n int) ([]OpenRow, error) {
	return selectRows[OpenRow](ctx, r.space, fmt.Sprintf(`SELECT side, key, reason, coalesce(nearest_key, ''), coalesce(missing, '') FROM (
		SELECT *, row_number() OVER (PARTITION BY side ORDER BY i) AS n FROM %s WHERE reason <> '%s') WHERE n <= %d ORDER BY side, n`, UnmatchedTable, ReasonNetted, n))
}
