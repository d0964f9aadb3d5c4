package main

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"time"

	"interlock/internal/query"
	"interlock/internal/recon"
)

// reconcileRows are the sizes of the two sides that are matched.
var reconcileRows = []int{1_000_000, 10_000_000}

// reconcileMB is the memory of the worker. What does not fit is written to disk.
const reconcileMB = 5120

// makeInvoices and makePayments make two sides: of the payments four in five quote their
// invoice, and one invoice in twenty has none.
const (
	makeInvoices = `CREATE TABLE invoices AS SELECT 'a' || i AS k, printf('INV-2024-%%08d', i) AS doc, CAST((100 + hash(i * 13) %% 2000000) / 100.0 AS DECIMAL(12, 2)) AS net,
		DATE '2024-01-01' + CAST(hash(i * 17) %% 365 AS INTEGER) AS booked FROM range(%d) AS t(i)`
	makePayments = `CREATE TABLE payments AS SELECT 'b' || k AS k, CASE WHEN hash(k) % 100 < 80 THEN lower(doc) ELSE 'transfer' END AS memo, net AS value,
		booked + CAST(hash(k) % 8 AS INTEGER) AS day FROM invoices WHERE hash(k) % 100 < 95`
)

// reconcileRecipe are two rules: the document with an amount within one percent, and the
// amount within ten days.
var reconcileRecipe = &recon.Recipe{
	Version: recon.RecipeVersion, Cardinality: recon.OneToOne,
	Comparisons: []recon.Comparison{
		{ID: "doc", Left: []string{"doc"}, Right: []string{"memo"}, As: recon.Reference},
		{ID: "amount", Left: []string{"net"}, Right: []string{"value"}, As: recon.Number, LeftFormat: "1,234.56", RightFormat: "1,234.56"},
		{ID: "day", Left: []string{"booked"}, Right: []string{"day"}, As: recon.Date, LeftFormat: "iso", RightFormat: "iso"},
	},
	Rules: []recon.Rule{
		{ID: "document", When: []recon.Condition{{Compare: "doc", AtLeast: "equal"}, {Compare: "amount", AtLeast: "1%"}}},
		{ID: "amount", When: []recon.Condition{{Compare: "amount", AtLeast: "equal"}, {Compare: "day", Days: &[2]int{0, 10}}}},
	},
}

// handWritten are the same rules as somebody writes them who knows the data: normal forms,
// the rules with the demand that each row is the other's only partner, matches with the
// compared values and what each comparison says, and the open rows with the nearest amount.
var handWritten = []string{
	`CREATE TEMP TABLE l AS SELECT row_number() OVER (ORDER BY k) AS i, k, doc, net, booked, lower(regexp_replace(doc, '[^A-Za-z0-9]', '', 'g')) AS q FROM invoices`,
	`CREATE TEMP TABLE r AS SELECT row_number() OVER (ORDER BY k) AS i, k, memo, value, day, lower(regexp_replace(memo, '[^A-Za-z0-9]', '', 'g')) AS q FROM payments`,
	`CREATE TEMP TABLE p1 AS SELECT l.i AS li, r.i AS ri FROM l JOIN r USING (q) WHERE abs(net - value) <= 0.01 * greatest(abs(net), abs(value))`,
	`CREATE TEMP TABLE m1 AS SELECT * FROM p1 ANTI JOIN (SELECT li FROM p1 GROUP BY li HAVING count(*) > 1) USING (li) ANTI JOIN (SELECT ri FROM p1 GROUP BY ri HAVING count(*) > 1) USING (ri)`,
	`CREATE TEMP TABLE p2 AS SELECT l.i AS li, r.i AS ri FROM (SELECT * FROM l ANTI JOIN m1 ON li = i) AS l JOIN (SELECT * FROM r ANTI JOIN m1 ON ri = i) AS r ON net = value AND day - booked BETWEEN 0 AND 10`,
	`CREATE TEMP TABLE m2 AS SELECT * FROM p2 ANTI JOIN (SELECT li FROM p2 GROUP BY li HAVING count(*) > 1) USING (li) ANTI JOIN (SELECT ri FROM p2 GROUP BY ri HAVING count(*) > 1) USING (ri)`,
	`CREATE TEMP TABLE matches AS SELECT rule, l.k AS left_key, r.k AS right_key, doc, memo, net, value, booked, day,
		CASE WHEN l.q = r.q THEN 'equal' WHEN contains(l.q, r.q) OR contains(r.q, l.q) THEN 'contained' ELSE 'different' END AS doc_level,
		CASE WHEN net = value THEN 'equal' WHEN abs(net - value) <= 0.01 THEN 'cent' WHEN abs(net - value) <= 0.01 * greatest(abs(net), abs(value)) THEN '1%' ELSE 'different' END AS amount_level, day - booked AS lag
		FROM (SELECT 'document' AS rule, * FROM m1 UNION ALL SELECT 'amount', * FROM m2) JOIN l ON l.i = li JOIN r ON r.i = ri ORDER BY li`,
	`CREATE TEMP TABLE open_left AS SELECT o.k, o.doc, o.net, coalesce(a.k, b.k) AS nearest FROM (SELECT * FROM l ANTI JOIN (FROM m1 UNION ALL FROM m2) ON li = i) AS o
		ASOF LEFT JOIN (SELECT value, min(k) AS k FROM r GROUP BY value) AS a ON o.net >= a.value ASOF LEFT JOIN (SELECT value, min(k) AS k FROM r GROUP BY value) AS b ON o.net <= b.value ORDER BY o.i`,
	`CREATE TEMP TABLE open_right AS SELECT o.k, o.memo, o.value, coalesce(a.k, b.k) AS nearest FROM (SELECT * FROM r ANTI JOIN (FROM m1 UNION ALL FROM m2) ON ri = i) AS o
		ASOF LEFT JOIN (SELECT net, min(k) AS k FROM l GROUP BY net) AS a ON o.value >= a.net ASOF LEFT JOIN (SELECT net, min(k) AS k FROM l GROUP BY net) AS b ON o.value <= b.net ORDER BY o.i`,
}

// reconcileCases match two sides by a recipe, in a confined workspace under the policy,
// beside hand-written SQL for the same rules in this process.
func (d *data) reconcileCases() []Case {
	var out []Case
	for _, rows := range reconcileRows {
		base := fmt.Sprintf("reconcile, %d M x %d M, hand-written SQL", rows/1_000_000, rows/1_000_000)
		if rows <= 1_000_000 {
			out = append(out, Case{Name: base, Run: func(context.Context) (Result, error) { return d.reconcileByHand(rows) }})
		}
		out = append(out, Case{
			Name: fmt.Sprintf("reconcile, %d M x %d M, recipe", rows/1_000_000, rows/1_000_000), Base: base,
			Run: func(ctx context.Context) (Result, error) { return d.reconcile(ctx, rows) },
		})
	}
	return append(out, Case{Name: "reconcile, 1 M x 1 M, stopped", Run: d.stopReconcile})
}

func (d *data) bills(rows int) (string, error) {
	path := filepath.Join(d.dir, fmt.Sprintf("bills-%d.duckdb", rows))
	return path, d.prepare(path, func() error {
		return d.bare(path, func(b *bare) error {
			_, err := b.run(fmt.Sprintf(makeInvoices, rows))
			if err == nil {
				_, err = b.run(makePayments)
			}
			return err
		})
	})
}

func (d *data) reconcileByHand(rows int) (Result, error) {
	path, err := d.bills(rows)
	if err != nil {
		return Result{}, err
	}
	r := Result{Rows: int64(rows)}
	r.Took, err = thrice(func() error {
		return d.bare(path, func(b *bare) error {
			for _, sql := range handWritten {
				if _, err := b.run(sql); err != nil {
					return fmt.Errorf("%w in %s", err, sql)
				}
			}
			return nil
		})
	})
	return r, err
}

// openBills opens a workspace with both sides.
func (d *data) openBills(ctx context.Context, rows int) (*query.Workspace, *recon.Reconciler, error) {
	path, err := d.bills(rows)
	if err != nil {
		return nil, nil, err
	}
	space, err := d.engine.OpenWorkspace(ctx, query.WorkspaceConfig{Inputs: []query.Input{{Name: "invoices", Path: path}, {Name: "payments", Path: path}}, MemoryMB: reconcileMB, DiskMB: 40_960})
	if err != nil {
		return nil, nil, err
	}
	r, err := recon.New(recon.Config{Workspace: space})
	return space, r, err
}

var bills = recon.Input{Left: recon.Side{Table: "invoices", Key: "k"}, Right: recon.Side{Table: "payments", Key: "k"}}

func (d *data) reconcile(ctx context.Context, rows int) (Result, error) {
	space, r, err := d.openBills(ctx, rows)
	if err != nil {
		return Result{}, err
	}
	defer space.Close()
	repeat := thrice
	if rows > 1_000_000 {
		repeat = once
	}
	out := Result{Rows: int64(rows)}
	out.Took, err = repeat(func() error {
		o, err := r.Run(ctx, bills, reconcileRecipe)
		if err == nil && o.Matched < int64(rows)*9/10 {
			err = fmt.Errorf("only %d rows were matched", o.Matched)
		}
		return err
	})
	return out, err
}

// stopReconcile measures how long a run takes to end once it is stopped.
func (d *data) stopReconcile(ctx context.Context) (Result, error) {
	space, r, err := d.openBills(ctx, 1_000_000)
	if err != nil {
		return Result{}, err
	}
	defer space.Close()
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	var stopped time.Time
	time.AfterFunc(2*time.Second, func() {
		stopped = time.Now()
		cancel()
	})
	if _, err := r.Run(ctx, bills, reconcileRecipe); err == nil {
		return Result{}, errors.New("the run ended before it was stopped")
	}
	return Result{Took: time.Since(stopped)}, nil
}
