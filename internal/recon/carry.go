package recon

import (
	"context"
	"fmt"
)

// CarryOver makes a table of a side with the open items of an earlier run before its own
// rows: open has the columns of the side's table, as the unmatched rows of that run had
// them. A key that both have is taken from the side, which is newer.
func (r *Reconciler) CarryOver(ctx context.Context, side Side, open, into string) (Side, error) {
	where := ""
	if side.Key != "" {
		where = fmt.Sprintf(" WHERE CAST(o.%[1]s AS VARCHAR) NOT IN (SELECT CAST(%[1]s AS VARCHAR) FROM %[2]s WHERE %[1]s IS NOT NULL)", name(side.Key), name(side.Table))
	}
	sql := fmt.Sprintf("SELECT * FROM %s UNION ALL BY NAME SELECT * FROM %s AS o%s", name(side.Table), name(open), where)
	if err := r.space.Create(ctx, into, sql); err != nil {
		return side, fmt.Errorf("carrying open items over: %w", err)
	}
	return Side{Table: into, Key: side.Key}, nil
}

// OpenItems makes a table of the rows of a side that the last run left unmatched, for a
// later run. Rows that cancel each other are settled and left out.
func (r *Reconciler) OpenItems(ctx context.Context, side Side, isLeft bool, into string) error {
	which := "right"
	if isLeft {
		which = "left"
	}
	if side.Key == "" {
		return fmt.Errorf("carrying open items over: the %s side has no key", which)
	}
	return r.space.Create(ctx, into, fmt.Sprintf("SELECT t.* FROM %s AS t SEMI JOIN (SELECT key FROM %s WHERE side = '%s' AND reason <> '%s') AS u ON u.key = coalesce(CAST(t.%s AS VARCHAR), '')",
		name(side.Table), UnmatchedTable, which, ReasonNetted, name(side.Key)))
}
