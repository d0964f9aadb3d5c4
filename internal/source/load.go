package source

import (
	"context"
	"fmt"

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
			if v := &b.vectors[col]; v.null[row] {
				a.Null(col)
			} else {
				codecs[v.column.Type.Kind].store(a, cell{b, col, row})
			}
		}
		if err := a.EndRow(); err != nil {
			return err
		}
	}
	return nil
}
