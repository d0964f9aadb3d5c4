package recon

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"interlock/internal/fault"
	"interlock/internal/schema"
)

// Names of the tables that a call makes in the workspace. Those of a result stay.
const (
	stagedLeft  = "recon_left"   // i, k, v0 …, x0 …: number, key, cells as text, and typed ones
	stagedRight = "recon_right"  //
	readyLeft   = "recon_lready" // i and the compared values in their normal form
	readyRight  = "recon_rready" //
)

// A table is one side as it was staged.
type table struct {
	side    Side
	staged  string // its name in the workspace
	columns []string
	types   []schema.Type
	rows    int64
	doubles int64 // rows whose key another row has too; counted by stage only
}

// column gives the place of a column, or -1.
func (t table) column(name string) int { return slices.Index(t.columns, name) }

// typedSQL reads a cell whose column has a type as a number or the number of a day; "" if
// it is text, which formats are for.
func (t table) typedSQL(i int) string {
	switch t.types[i].Kind {
	case schema.Int, schema.Uint, schema.Float, schema.Decimal:
		return fmt.Sprintf("CAST(c%d AS DOUBLE)", i)
	case schema.Date, schema.Timestamp, schema.TimestampTZ:
		return fmt.Sprintf("date_diff('day', DATE '1970-01-01', CAST(c%d AS DATE))", i)
	}
	return ""
}

// typedColumn names the typed cell of a column that holds values of the kind; "" if it
// has none.
func (t table) typedColumn(column string, k Kind) string {
	i := t.column(column)
	if i < 0 || t.typedSQL(i) == "" {
		return ""
	}
	isDate := t.types[i].Kind == schema.Date || t.types[i].Kind == schema.Timestamp || t.types[i].Kind == schema.TimestampTZ
	if k == Date && isDate || k == Number && !isDate {
		return fmt.Sprintf("x%d", i)
	}
	return ""
}

// stageBoth makes the two staged tables.
func (r *Reconciler) stageBoth(ctx context.Context, in Input) (left, right table, err error) {
	if left, err = r.stage(ctx, in.Left, stagedLeft); err != nil {
		return left, right, fmt.Errorf("reading the left side: %w", err)
	}
	if right, err = r.stage(ctx, in.Right, stagedRight); err != nil {
		return left, right, fmt.Errorf("reading the right side: %w", err)
	}
	return left, right, nil
}

// stage copies a side as text and numbers its rows by key and content, so that the
// order in which they came says nothing.
func (r *Reconciler) stage(ctx context.Context, side Side, staged string) (table, error) {
	t, err := r.describeSide(ctx, side, staged)
	if err != nil {
		return t, err
	}
	if err := r.space.Create(ctx, staged, t.stageSQL()); err != nil {
		return t, err
	}
	counts, err := selectOne[struct{ Rows, Keys int64 }](ctx, r.space, "SELECT count(*), count(DISTINCT k) FROM "+staged)
	t.rows, t.doubles = counts.Rows, counts.Rows-counts.Keys
	return t, err
}

// describeSide finds the columns of a side and checks its key.
func (r *Reconciler) describeSide(ctx context.Context, side Side, staged string) (table, error) {
	t := table{side: side, staged: staged}
	res, err := r.space.Query(ctx, "SELECT * FROM "+name(side.Table)+" LIMIT 0")
	if err != nil {
		return t, err
	}
	for _, c := range res.Columns {
		t.columns, t.types = append(t.columns, c.Name), append(t.types, c.Type)
	}
	if len(t.columns) == 0 {
		return t, fault.New(fault.SourceUnreadable, "The table %s has no columns.", side.Table)
	}
	if side.Key != "" && t.column(side.Key) < 0 {
		return t, fault.New(fault.BadRequest, "There is no column %q, which was named as the key of the rows.", side.Key).
			Suggest("Name one of the columns: %s.", strings.Join(t.columns, ", "))
	}
	return t, nil
}

// stageSQL selects the rows of a side as text, with their number i and key k.
func (t table) stageSQL() string {
	side := t.side
	// Two columns of one name: the engine tells them apart by position only.
	cells := each(t.columns, ", ", func(i int, _ string) string { return fmt.Sprintf("c%d", i) })
	list := each(t.columns, ", ", func(i int, _ string) string {
		if typed := t.typedSQL(i); typed != "" {
			return fmt.Sprintf("CAST(c%d AS VARCHAR) AS v%d, %s AS x%d", i, i, typed, i)
		}
		return fmt.Sprintf("nullif(trim(CAST(c%d AS VARCHAR)), '') AS v%d", i, i)
	})
	values := each(t.columns, ", ", func(i int, _ string) string { return fmt.Sprintf("v%d", i) })
	key, order := "CAST(row_number() OVER () AS VARCHAR)", values+", k"
	if side.Key != "" {
		key = fmt.Sprintf("coalesce(CAST(c%d AS VARCHAR), '')", t.column(side.Key))
		order = "k, hash(" + values + ")" // which tells rows of one key apart
	}
	return fmt.Sprintf(`SELECT row_number() OVER (ORDER BY %s) AS i, * FROM (SELECT %s AS k, %s FROM (SELECT * FROM %s) AS t(%s))`,
		order, key, list, name(side.Table), cells)
}
