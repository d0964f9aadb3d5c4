package source

import (
	"context"
	"fmt"
	"strconv"

	"interlock/internal/query"
	"interlock/internal/schema"
)

// Load streams the rows of a source under a filter into a table of a new database
// and gives their number. progress, if not nil, hears of each batch.
func Load(ctx context.Context, s Source, f schema.Filter, w *query.Writer, table string, progress func(rows int64)) (int64, error) {
	columns, err := s.Describe(ctx)
	if err != nil {
		return 0, err
	}
	into, err := w.Table(table, columns)
	if err != nil {
		return 0, fmt.Errorf("making table %s: %w", table, err)
	}
	for b, err := range s.Stream(ctx, nil, f) {
		if err != nil {
			return 0, err
		}
		if err := b.appendTo(into); err != nil {
			return 0, fmt.Errorf("filling table %s: %w", table, err)
		}
		if progress != nil {
			progress(into.Rows())
		}
	}
	return into.Rows(), nil
}

func (b *Batch) appendTo(a *query.Appender) error {
	for row := range b.Rows {
		for col := range b.vectors {
			b.appendCellTo(a, col, row)
		}
		if err := a.EndRow(); err != nil {
			return err
		}
	}
	return nil
}

func (b *Batch) appendCellTo(a *query.Appender, col, row int) {
	v := &b.vectors[col]
	if v.null[row] {
		a.Null(col)
		return
	}
	switch t := v.column.Type; t.Kind {
	case schema.Bool:
		a.Bool(col, v.ints[row] != 0)
	case schema.Int:
		a.Int(col, v.ints[row])
	case schema.Uint:
		n, _ := strconv.ParseUint(string(b.Bytes(col, row)), 10, 64)
		a.Uint(col, n)
	case schema.Float:
		a.Float(col, v.floats[row])
	case schema.Decimal:
		if fitsInt64(t) {
			a.DecimalInt(col, v.ints[row], t.Scale)
		} else {
			a.DecimalText(col, b.Bytes(col, row))
		}
	case schema.Date:
		a.Date(col, int32(v.ints[row]))
	case schema.Time:
		a.TimeOfDay(col, v.ints[row])
	case schema.Timestamp, schema.TimestampTZ:
		a.Timestamp(col, v.ints[row])
	case schema.UUID:
		a.UUID(col, [16]byte(b.Bytes(col, row)))
	case schema.Bytes:
		a.Bytes(col, b.Bytes(col, row))
	default:
		a.Text(col, b.Bytes(col, row))
	}
}
