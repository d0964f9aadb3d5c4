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

	numberedRows = "recon_numbered" // i, k, c0 …: of one side, while it is read
)

// maxWidth is how many columns a side may have: each is named in one statement.
const maxWidth = 320

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

// holdsText says that a value of these columns, read as one, is text.
func (t table) holdsText(columns []string) bool {
	return len(columns) != 1 || t.typedSQL(t.column(columns[0])) == ""
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
	if err := r.space.Create(ctx, numberedRows, t.numberedSQL(everyColumn)); err != nil {
		return t, err
	}
	if err := r.space.Create(ctx, staged, t.cellsSQL(numberedRows, "i, k", everyColumn)); err != nil {
		return t, err
	}
	if err := r.space.Drop(ctx, numberedRows); err != nil {
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
	if len(t.columns) > maxWidth {
		return t, fault.New(fault.TooLarge, "The table %s has %d columns; at most %d can be reconciled.", side.Table, len(t.columns), maxWidth).
			Suggest("Leave out the columns that say nothing about which rows belong together.")
	}
	if side.Key != "" && t.column(side.Key) < 0 {
		return t, fault.New(fault.BadRequest, "There is no column %q, which was named as the key of the rows.", side.Key).
			Suggest("Name one of the columns: %s.", strings.Join(t.columns, ", "))
	}
	return t, nil
}

// numberedSQL selects the rows of a side with their number i, their key k and some of
// their cells c0, c1 …. Sorting first and numbering what comes is much quicker than a
// window that sorts.
func (t table) numberedSQL(keep func(column int) bool) string {
	// Two columns of one name: the engine tells them apart by position only.
	cells := each(t.columns, ", ", func(i int, _ string) string { return fmt.Sprintf("c%d", i) })
	key, order := "CAST(row_number() OVER () AS VARCHAR)", each(t.columns, ", ", func(i int, _ string) string { return t.textSQL(i) })+", k"
	if t.side.Key != "" {
		key = fmt.Sprintf("coalesce(CAST(c%d AS VARCHAR), '')", t.column(t.side.Key))
		order = "k, hash(" + cells + ")" // which tells rows of one key apart
	}
	kept := "k"
	for i := range t.columns {
		if keep(i) {
			kept += fmt.Sprintf(", c%d", i)
		}
	}
	return fmt.Sprintf("SELECT row_number() OVER () AS i, * FROM (SELECT %s FROM (SELECT %s AS k, * FROM (SELECT * FROM %s) AS t(%s)) ORDER BY %s)", kept, key, name(t.side.Table), cells, order)
}

// textSQL reads a cell as text; of a text that holds only spaces nothing is left.
func (t table) textSQL(i int) string {
	if t.typedSQL(i) != "" {
		return fmt.Sprintf("CAST(c%d AS VARCHAR)", i)
	}
	return fmt.Sprintf("nullif(trim(CAST(c%d AS VARCHAR)), '')", i)
}

// cellsSQL selects columns of numbered rows with some of their cells as text, and with their
// typed ones.
func (t table) cellsSQL(numbered, list string, keep func(column int) bool) string {
	for i := range t.columns {
		if !keep(i) {
			continue
		}
		list += fmt.Sprintf(", %s AS v%d", t.textSQL(i), i)
		if typed := t.typedSQL(i); typed != "" {
			list += fmt.Sprintf(", %s AS x%d", typed, i)
		}
	}
	return fmt.Sprintf("SELECT %s FROM %s", list, numbered)
}

// everyColumn keeps all cells.
func everyColumn(int) bool { return true }
