package recon

import (
	"context"
	"fmt"
	"strings"

	"interlock/internal/fault"
	"interlock/internal/schema"
)

// maxKnownKeys bounds the keys that FindKey looks up.
const maxKnownKeys = 400

// FindKey finds the column of a table, called so by the person, that names its rows: the one that holds known keys,
// which somebody used for labels, or else the first whose values are all different, short
// and without spaces. It is "" where no column does; then rows are named by position.
func (r *Reconciler) FindKey(ctx context.Context, table, called string, known []string) (string, error) {
	res, err := r.space.Query(ctx, "SELECT * FROM "+name(table)+" LIMIT 0")
	if err != nil {
		return "", err
	}
	known = known[:min(len(known), maxKnownKeys)]
	if len(known) > 0 {
		return r.keyOfLabels(ctx, table, called, res.Columns, known)
	}
	for _, c := range res.Columns {
		if c.Type.Kind != schema.Text && c.Type.Kind != schema.Int && c.Type.Kind != schema.Uint && c.Type.Kind != schema.UUID {
			continue
		}
		counts, err := selectOne[struct{ Rows, Distinct, Spaced int64 }](ctx, r.space, fmt.Sprintf("SELECT count(*), count(DISTINCT v), count(*) FILTER (length(v) > 40 OR contains(trim(v), ' ')) FROM (SELECT CAST(%s AS VARCHAR) AS v FROM %s)", name(c.Name), name(table)))
		if err != nil {
			return "", err
		}
		if counts.Rows > 0 && counts.Distinct == counts.Rows && counts.Spaced == 0 {
			return c.Name, nil
		}
	}
	return "", nil
}

// keyOfLabels finds the column that holds all of the known keys.
func (r *Reconciler) keyOfLabels(ctx context.Context, table, called string, columns []schema.Column, known []string) (string, error) {
	values := each(known, ", ", func(i int, _ string) string { return fmt.Sprintf("(CAST($%d AS VARCHAR))", i+1) })
	best, most := "", int64(0)
	for _, c := range columns {
		hits, err := selectOne[count](ctx, r.space, fmt.Sprintf("SELECT count(*) FROM (VALUES %s) AS v(k) SEMI JOIN (SELECT CAST(%s AS VARCHAR) AS k FROM %s) AS t USING (k)", values, name(c.Name), name(table)), known...)
		if err != nil {
			return "", err
		}
		if hits.N > most {
			best, most = c.Name, hits.N
		}
	}
	if most < int64(len(known)) {
		names := each(columns, ", ", func(_ int, c schema.Column) string { return c.Name })
		if most == 0 {
			return "", fault.New(fault.BadRequest, "No column of %s holds the keys of the pairs, such as %q.", called, known[0]).
				Suggest("The pairs need a header and two columns: a key of a left row and a key of a right row. The columns are %s.", strings.TrimSpace(names))
		}
		return best, fault.New(fault.BadRequest, "%d of the %d keys of the pairs are not in the column %s of %s, which holds most of them.", int64(len(known))-most, len(known), best, called).
			Suggest("Correct the pairs, or name the column of their keys.")
	}
	return best, nil
}

// CountRows gives the number of rows of a side.
func (r *Reconciler) CountRows(ctx context.Context, side Side) (int64, error) {
	return r.count(ctx, "SELECT count(*) FROM "+name(side.Table))
}

// HashRows identifies the rows of a side, in whatever order they come.
func (r *Reconciler) HashRows(ctx context.Context, side Side) (string, error) {
	t, err := r.describeSide(ctx, side, "")
	if err != nil {
		return "", err
	}
	cells := each(t.columns, ", ", func(i int, _ string) string { return fmt.Sprintf("c%d", i) })
	sum, err := selectOne[struct {
		High, Low int64
		Rows      int64
	}](ctx, r.space, fmt.Sprintf("SELECT CAST(coalesce(sum(h // 4294967296), 0) %% 4294967296 AS BIGINT), CAST(coalesce(sum(h %% 4294967296), 0) %% 4294967296 AS BIGINT), count(*) FROM (SELECT hash(%s) AS h FROM (SELECT * FROM %s) AS t(%s))", cells, name(side.Table), cells))
	return fmt.Sprintf("rows:%08x%08x", sum.High, sum.Low), err
}
