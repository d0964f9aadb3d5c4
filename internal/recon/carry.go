package recon

import (
	"context"
	"fmt"
	"strings"

	"interlock/internal/fault"
)

// CarryOver makes a table of a side with the open items of an earlier run before its own
// rows: open has the columns of the side's table, as the unmatched rows of that run had
// them. A key that both have is taken from the side, which is newer. It gives the number
// of rows that were carried over.
func (r *Reconciler) CarryOver(ctx context.Context, side Side, open, into string) (Side, int64, error) {
	rows := name(open) + " AS o"
	if side.Key != "" {
		earlier, err := r.describeSide(ctx, Side{Table: open}, "")
		if err != nil {
			return side, 0, fmt.Errorf("carrying open items over: %w", err)
		}
		if earlier.column(side.Key) < 0 {
			return side, 0, fault.New(fault.BadRequest, "The rows are named by %q, which the open rows of the earlier run do not have; these have %s.", side.Key, strings.Join(earlier.columns, ", ")).
				Suggest("Give files of the same kind, in the same order, as the earlier run had.")
		}
		rows += fmt.Sprintf(" ANTI JOIN (SELECT CAST(%[1]s AS VARCHAR) AS k FROM %[2]s) AS s ON s.k = CAST(o.%[1]s AS VARCHAR)", name(side.Key), name(side.Table))
	}
	n, err := r.count(ctx, "SELECT count(*) FROM "+rows)
	if err != nil {
		return side, 0, fmt.Errorf("carrying open items over: %w", err)
	}
	if err := r.space.Create(ctx, into, fmt.Sprintf("SELECT * FROM %s UNION ALL BY NAME SELECT o.* FROM %s", name(side.Table), rows)); err != nil {
		return side, 0, fmt.Errorf("carrying open items over: %w", err)
	}
	return Side{Table: into, Key: side.Key}, n, nil
}

// Carried counts the open rows of an earlier run that are among the rows of a run, and
// those of them that are still open.
type Carried struct {
	Left      int64 `json:"left"`
	Right     int64 `json:"right"`
	OpenLeft  int64 `json:"still_open_left"`
	OpenRight int64 `json:"still_open_right"`
}

// KnownPairs gives those of some pairs whose keys name one row on each side.
func (r *Reconciler) KnownPairs(ctx context.Context, left, right Side, pairs []Pair) ([]Pair, error) {
	if len(pairs) == 0 || left.Key == "" || right.Key == "" {
		return nil, nil
	}
	var args []string
	values := each(pairs, ", ", func(_ int, p Pair) string {
		args = append(args, p.Left, p.Right)
		return fmt.Sprintf("(CAST($%d AS VARCHAR), CAST($%d AS VARCHAR))", len(args)-1, len(args))
	})
	once := func(s Side) string {
		return fmt.Sprintf("(SELECT k FROM (SELECT CAST(%s AS VARCHAR) AS k FROM %s) GROUP BY k HAVING count(*) = 1)", name(s.Key), name(s.Table))
	}
	return selectRows[Pair](ctx, r.space, fmt.Sprintf("SELECT DISTINCT lk, rk FROM (VALUES %s) AS v(lk, rk) SEMI JOIN %s AS l ON l.k = lk SEMI JOIN %s AS r ON r.k = rk ORDER BY lk, rk", values, once(left), once(right)), args...)
}

// CountStillOpen counts the rows of a side that were carried over and that the last run
// left open: own is the side without them, and open the table that they came from.
func (r *Reconciler) CountStillOpen(ctx context.Context, own Side, open string, isLeft bool) (int64, error) {
	which := sideRight
	if isLeft {
		which = sideLeft
	}
	if own.Key == "" { // rows are named by position, and those that were carried over come last
		return r.count(ctx, fmt.Sprintf("SELECT count(*) FROM %s WHERE side = '%s' AND TRY_CAST(key AS BIGINT) > (SELECT count(*) FROM %s)", UnmatchedTable, which, name(own.Table)))
	}
	return r.count(ctx, fmt.Sprintf(`SELECT count(*) FROM %[1]s AS u SEMI JOIN (SELECT CAST(%[2]s AS VARCHAR) AS k FROM %[3]s) AS o ON o.k = u.key
		ANTI JOIN (SELECT CAST(%[2]s AS VARCHAR) AS k FROM %[4]s) AS s ON s.k = u.key WHERE u.side = '%[5]s'`, UnmatchedTable, name(own.Key), name(open), name(own.Table), which))
}

// OpenItems makes a table of the rows of a side that the last run left unmatched, for a
// later run. Rows that cancel each other are settled and left out.
func (r *Reconciler) OpenItems(ctx context.Context, side Side, isLeft bool, into string) error {
	which := "right"
	if isLeft {
		which = "left"
	}
	open := fmt.Sprintf("(SELECT key FROM %s WHERE side = '%s' AND reason <> '%s') AS u", UnmatchedTable, which, ReasonNetted)
	if side.Key == "" { // rows are named by position
		return r.space.Create(ctx, into, fmt.Sprintf("SELECT * EXCLUDE (recon_position) FROM (SELECT *, CAST(row_number() OVER () AS VARCHAR) AS recon_position FROM %s) AS t SEMI JOIN %s ON u.key = t.recon_position", name(side.Table), open))
	}
	return r.space.Create(ctx, into, fmt.Sprintf("SELECT t.* FROM %s AS t SEMI JOIN %s ON u.key = coalesce(CAST(t.%s AS VARCHAR), '')", name(side.Table), open, name(side.Key)))
}
