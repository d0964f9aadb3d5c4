package main

import (
	"context"
	"fmt"
	"os"
	"path/filepath"

	"interlock/internal/query"
)

// exportCases write the whole table as a file of each format: the engine alone where
// it knows the format, and by the whole path.
func (d *data) exportCases() []Case {
	var out []Case
	for _, format := range []query.Format{query.CSV, query.NDJSON, query.Array, query.Parquet, query.Arrow, query.Excel} {
		c := Case{Name: "export, " + string(format), Run: func(ctx context.Context) (Result, error) { return d.export(ctx, format) }}
		if copied := map[query.Format]string{query.CSV: "csv", query.NDJSON: "json", query.Array: "json, ARRAY true", query.Parquet: "parquet"}[format]; copied != "" {
			c.Base = c.Name + ", bare engine"
			out = append(out, Case{Name: c.Base, Run: func(context.Context) (Result, error) { return d.exportBare(copied) }})
		}
		out = append(out, c)
	}
	return out
}

func (d *data) exportBare(format string) (Result, error) {
	db, err := d.orders()
	if err != nil {
		return Result{}, err
	}
	path := filepath.Join(d.dir, "bare-export")
	defer os.Remove(path)
	r := Result{Rows: rowsInTable}
	err = d.bare(db.Path, func(b *bare) error {
		r.Took, err = thrice(func() error {
			_, err := b.run(fmt.Sprintf("COPY (SELECT * FROM orders) TO %s (FORMAT %s)", text(path), format))
			return err
		})
		return err
	})
	r.Bytes = size(path)
	return r, err
}

func (d *data) export(ctx context.Context, format query.Format) (Result, error) {
	db, err := d.orders()
	if err != nil {
		return Result{}, err
	}
	path := filepath.Join(d.dir, "export")
	defer os.Remove(path)
	var r Result
	r.Took, err = thrice(func() error {
		written, err := d.engine.Export(ctx, query.Request{Database: db, SQL: "SELECT * FROM orders"}, format, path)
		r.Rows = written.Rows
		return err
	})
	r.Bytes = size(path)
	return r, err
}

func size(path string) int64 {
	info, err := os.Stat(path)
	if err != nil {
		return 0
	}
	return info.Size()
}
