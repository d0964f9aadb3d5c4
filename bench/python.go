package main

import (
	"context"
	"fmt"
	"os/exec"
	"path/filepath"
	"time"

	"interlock/internal/query"
	"interlock/internal/sandbox"
	"interlock/internal/sqlpolicy"
)

const (
	coldImport = "python3 -c 'import pandas', cold, without a wall"
	// makeWide makes a table of ten columns of the usual types.
	makeWide = `CREATE TABLE wide AS SELECT i AS id, i %% 5000 AS customer_id, i %% 40 AS store, i / 7.0::DOUBLE AS price, i / 9.0::DOUBLE AS cost, i / 11.0::DOUBLE AS score,
TIMESTAMP '2024-01-01 00:00:00' + i * INTERVAL '1 second' AS placed, 'region ' || (i %% 8) AS region, 'SKU-' || (i %% 20000) AS sku, i %% 2 = 0 AS paid FROM range(%d) AS r(i)`
	// pause is what a person leaves between two jobs; the pool refills meanwhile.
	pause = 3 * time.Second
	jobs  = 5
)

var wideColumns = []sqlpolicy.Table{{Name: "wide", Columns: []string{"id", "customer_id", "store", "price", "cost", "score", "placed", "region", "sku", "paid"}}}

// pythonCases measures a job in the sandbox against the import that it saves, and a
// million rows on their way into it.
func (d *data) pythonCases() []Case {
	return []Case{
		{Name: coldImport, Run: func(ctx context.Context) (Result, error) {
			return shortest(ctx, 0, func(time.Duration) (time.Duration, error) {
				start := time.Now()
				if out, err := exec.CommandContext(ctx, "/usr/bin/python3", "-c", "import pandas").CombinedOutput(); err != nil {
					return 0, fmt.Errorf("%w: %s", errMissing, tail(out))
				}
				return time.Since(start), nil
			})
		}},
		{Name: "Python job in the sandbox, warm", Base: coldImport, Run: func(ctx context.Context) (Result, error) {
			return d.python(ctx, sandbox.Job{Code: "df = pd.DataFrame({'k': ['a', 'b', 'a'], 'v': [1, 2, 3]})\nresult_df = df.groupby('k', as_index=False).v.sum()"}, 0)
		}},
		{Name: "1 M rows x 10 made ready for Python, once a version", Run: func(ctx context.Context) (Result, error) {
			if _, err := d.wide(); err != nil {
				return Result{}, err
			}
			start := time.Now()
			_, err := d.bundle(ctx)
			return Result{Took: time.Since(start), Rows: rowsInTable}, err
		}},
		{Name: "1 M rows x 10 handed in and summed, warm", Run: func(ctx context.Context) (Result, error) {
			path, err := d.bundle(ctx)
			if err != nil {
				return Result{}, err
			}
			return d.python(ctx, sandbox.Job{Code: "result_df = wide.groupby('region').price.sum()\nassert len(wide) == 1_000_000", Tables: []sandbox.Table{{Name: "wide", Bundle: path}}}, rowsInTable)
		}},
	}
}

// python runs a job as between two questions of a person.
func (d *data) python(ctx context.Context, job sandbox.Job, rows int64) (Result, error) {
	box, err := sandbox.Open(sandbox.Config{Dir: filepath.Join(d.dir, "sandbox"), MemoryMB: 2048, Timeout: time.Minute})
	if err != nil {
		return Result{}, err
	}
	defer box.Close()
	box.Warm()
	if s := box.Status(ctx); s.State != "ready" {
		return Result{}, fmt.Errorf("%w: %s", errMissing, s.Why)
	}
	return shortest(ctx, rows, func(wait time.Duration) (time.Duration, error) {
		select {
		case <-time.After(wait):
		case <-ctx.Done():
			return 0, ctx.Err()
		}
		start := time.Now()
		_, err := box.Run(ctx, job)
		return time.Since(start), err
	})
}

// shortest is the shortest of a few tries.
func shortest(ctx context.Context, rows int64, try func(wait time.Duration) (time.Duration, error)) (Result, error) {
	r := Result{Rows: rows}
	for range jobs {
		took, err := try(pause)
		if err != nil || ctx.Err() != nil {
			return r, err
		}
		if r.Took == 0 || took < r.Took {
			r.Took = took
		}
	}
	return r, nil
}

// wide is the database with the table.
func (d *data) wide() (query.Database, error) {
	db := query.Database{Path: filepath.Join(d.dir, "wide-1.duckdb"), Tables: wideColumns, Alias: "bench"}
	return db, d.prepare("wide", func() error {
		return d.bare(db.Path, func(b *bare) error {
			_, err := b.run(fmt.Sprintf(makeWide, rowsInTable))
			return err
		})
	})
}

// bundle is the table in the form in which Python loads it.
func (d *data) bundle(ctx context.Context) (string, error) {
	path, arrow := filepath.Join(d.dir, "wide.bundle"), filepath.Join(d.dir, "wide.arrow")
	db, err := d.wide()
	if err != nil {
		return path, err
	}
	return path, d.prepare("bundle", func() error {
		if _, err := d.engine.Export(ctx, query.Request{Database: db, SQL: "SELECT * FROM wide"}, query.Arrow, arrow); err != nil {
			return err
		}
		return sandbox.FromArrow(arrow, path)
	})
}
