package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"time"

	"interlock/internal/query"
	"interlock/internal/sqlpolicy"
)

// rowsInTable is the size of the table that is asked, exported and copied.
const rowsInTable = 1_000_000

// makeOrders makes that table: in the embedded engine and, word for word, in
// PostgreSQL, but for what makes a series.
const makeOrders = `CREATE TABLE orders AS SELECT i AS id, i %% 5000 AS customer_id, ((i %% 99991) / 100.0)::DECIMAL(12,2) AS amount,
CASE WHEN i %% 3 = 0 THEN 'paid' WHEN i %% 3 = 1 THEN 'open' ELSE 'returned' END AS status,
DATE '2024-01-01' + (i %% 365)::INTEGER AS day, TIMESTAMP '2024-01-01 00:00:00' + i * INTERVAL '1 second' AS placed, 'note number ' || i AS note FROM %s`

// orderColumns are what the policy may know of it.
var orderColumns = []sqlpolicy.Table{{Name: "orders", Columns: []string{"id", "customer_id", "amount", "status", "day", "placed", "note"}}}

// A data measures the path of the data. What it makes is made when the first case
// asks for it.
type data struct {
	dir, cache string
	csvMB      int
	engine     *query.Engine
	once       map[string]error
	csv        query.Database
}

func newData(cache string, csvMB int) (*data, error) {
	dir, err := os.MkdirTemp("", "interlock-bench-")
	if err != nil {
		return nil, err
	}
	e, err := query.New(query.Config{Dir: dir, MaxRows: 2000, Timeout: 10 * time.Minute})
	if err != nil {
		return nil, err
	}
	return &data{dir: dir, cache: cache, csvMB: csvMB, engine: e, once: map[string]error{}}, nil
}

func (d *data) close() error { return errors.Join(d.engine.Close(), os.RemoveAll(d.dir)) }

func (d *data) cases() []Case {
	all := d.pathCases()
	all = append(all, d.exportCases()...)
	all = append(all, d.pythonCases()...)
	all = append(all, d.postgresCases()...)
	all = append(all, d.reconcileCases()...)
	return append(all, d.csvCases()...)
}

// prepare does something once for all cases that need it.
func (d *data) prepare(what string, do func() error) error {
	err, done := d.once[what]
	if !done {
		err = do()
		d.once[what] = err
	}
	return err
}

// orders is the database with the table.
func (d *data) orders() (query.Database, error) {
	db := query.Database{Path: filepath.Join(d.dir, "orders-1.duckdb"), Tables: orderColumns, Alias: "bench"}
	return db, d.prepare("orders", func() error {
		return d.bare(db.Path, func(b *bare) error {
			_, err := b.run(fmt.Sprintf(makeOrders, fmt.Sprintf("range(%d) AS r(i)", rowsInTable)))
			return err
		})
	})
}

// bare opens a database in this process for as long as a function runs.
func (d *data) bare(path string, do func(*bare) error) error {
	b, err := openBare(path, runtime.NumCPU())
	if err != nil {
		return err
	}
	defer b.close()
	return do(b)
}

// statements from one that does nothing to one that works for a while.
var statements = []struct{ name, sql string }{
	{"tiny", "SELECT 1"},
	{"a thousand rows", "SELECT * FROM orders LIMIT 1000"},
	{"long", "SELECT status, day, count(DISTINCT customer_id), median(amount) FROM orders GROUP BY ALL ORDER BY 1, 2 LIMIT 100"},
}

// pathCases run the same statement bare and by the whole path: policy, confined
// worker, typed JSON. A new text is decided about, one that was seen is known.
func (d *data) pathCases() []Case {
	var out []Case
	for _, s := range statements {
		base := "SQL, " + s.name + ", bare engine"
		out = append(out,
			Case{Name: base, Run: func(ctx context.Context) (Result, error) { return d.runBare(ctx, s.sql) }},
			Case{Name: "SQL, " + s.name + ", whole path", Base: base, Run: func(ctx context.Context) (Result, error) {
				return d.runWhole(ctx, func(int) string { return s.sql })
			}},
			Case{Name: "SQL, " + s.name + ", whole path, new text", Base: base, Run: func(ctx context.Context) (Result, error) {
				return d.runWhole(ctx, func(i int) string { return fmt.Sprintf("%s -- %d", s.sql, i) })
			}})
	}
	const decided = `SELECT status, count(*) AS n, sum(amount) AS total FROM orders WHERE day >= DATE '2024-02-01' AND note IS NOT NULL GROUP BY 1 HAVING count(*) > %d ORDER BY total DESC LIMIT 20`
	return append(out,
		Case{Name: "policy, a decision, new text", Run: func(ctx context.Context) (Result, error) {
			return d.decide(ctx, func(i int) string { return fmt.Sprintf(decided, i) })
		}},
		Case{Name: "policy, a decision, seen", Run: func(ctx context.Context) (Result, error) {
			return d.decide(ctx, func(int) string { return fmt.Sprintf(decided, 0) })
		}})
}

func (d *data) runBare(ctx context.Context, sql string) (Result, error) {
	db, err := d.orders()
	if err != nil {
		return Result{}, err
	}
	var r Result
	err = d.bare(db.Path, func(b *bare) error {
		r.Took, err = best(ctx, func(int) error {
			r.Rows, err = b.run(sql)
			return err
		})
		return err
	})
	return r, err
}

func (d *data) runWhole(ctx context.Context, sql func(i int) string) (Result, error) {
	db, err := d.orders()
	if err != nil {
		return Result{}, err
	}
	var r Result
	r.Took, err = best(ctx, func(i int) error {
		got, err := d.engine.Run(ctx, query.Request{Database: db, SQL: sql(i)})
		if err == nil {
			r.Rows = int64(got.RowCount)
		}
		return err
	})
	return r, err
}

func (d *data) decide(ctx context.Context, sql func(i int) string) (Result, error) {
	db, err := d.orders()
	if err != nil {
		return Result{}, err
	}
	took, err := best(ctx, func(i int) error {
		_, err := d.engine.Check(ctx, db, sql(i))
		return err
	})
	return Result{Took: took}, err
}

// best does something for two seconds, at least five times, after once to warm up,
// and gives the shortest.
func best(ctx context.Context, do func(i int) error) (shortest time.Duration, err error) {
	began := time.Now()
	for i := 0; i < 6 || time.Since(began) < 2*time.Second; i++ {
		start := time.Now()
		if err := errors.Join(ctx.Err(), do(i)); err != nil {
			return 0, err
		}
		if took := time.Since(start); i == 1 || i > 1 && took < shortest {
			shortest = took
		}
	}
	return shortest, nil
}

// thrice gives the shortest of three, for what takes seconds.
func thrice(do func() error) (shortest time.Duration, err error) {
	for i := range 3 {
		took, err := once(do)
		if err != nil {
			return 0, err
		}
		if i == 0 || took < shortest {
			shortest = took
		}
	}
	return shortest, nil
}

// once measures what is too long to repeat.
func once(do func() error) (time.Duration, error) {
	start := time.Now()
	err := do()
	return time.Since(start), err
}
