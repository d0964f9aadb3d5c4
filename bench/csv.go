package main

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strconv"

	"interlock/internal/query"
)

// csvCases go from a large CSV file to the first answer: found out what it is,
// imported, asked. The base is the engine alone, doing the same.
func (d *data) csvCases() []Case {
	name := fmt.Sprintf("CSV of %d MB, ", d.csvMB)
	base := name + "to the first answer, bare engine"
	const count, group = "SELECT count(*) FROM lines", "SELECT region, count(*), sum(amount) FROM lines GROUP BY region ORDER BY region"
	return []Case{
		{Name: name + "found out by the bare engine", Run: func(ctx context.Context) (Result, error) { return d.sniff(ctx) }},
		{Name: base, Run: func(ctx context.Context) (Result, error) { return d.importBare(ctx, count) }},
		{Name: name + "to the first answer", Base: base, Run: func(ctx context.Context) (Result, error) { return d.importCSV(ctx, count) }},
		{Name: name + "a count after that", Run: func(ctx context.Context) (Result, error) { return d.askCSV(ctx, count) }},
		{Name: name + "a group-by after that", Run: func(ctx context.Context) (Result, error) { return d.askCSV(ctx, group) }},
	}
}

func (d *data) sniff(context.Context) (Result, error) {
	path, err := d.largeCSV()
	if err != nil {
		return Result{}, err
	}
	var r Result
	err = d.bare("", func(b *bare) error {
		r.Took, err = once(func() error {
			_, err := b.run("FROM sniff_csv(" + text(path) + ")")
			return err
		})
		return err
	})
	r.Bytes = size(path)
	return r, err
}

func (d *data) importBare(_ context.Context, sql string) (Result, error) {
	path, err := d.largeCSV()
	if err != nil {
		return Result{}, err
	}
	to := filepath.Join(d.dir, "bare.duckdb")
	defer os.Remove(to)
	var r Result
	r.Took, err = once(func() error {
		return d.bare(to, func(b *bare) error {
			if _, err := b.run("CREATE TABLE lines AS FROM read_csv(" + text(path) + ")"); err != nil {
				return err
			}
			_, err := b.run(sql)
			return err
		})
	})
	r.Bytes = size(to)
	return r, err
}

func (d *data) importCSV(ctx context.Context, sql string) (r Result, err error) {
	path, err := d.largeCSV()
	if err != nil {
		return Result{}, err
	}
	r.Took, err = once(func() error {
		if err := d.importOnce(ctx, path, &r); err != nil {
			return err
		}
		_, err := d.engine.Run(ctx, query.Request{Database: d.csv, SQL: sql})
		return err
	})
	return r, err
}

func (d *data) importOnce(ctx context.Context, path string, r *Result) error {
	return d.prepare("import", func() error {
		to := filepath.Join(d.dir, "lines-1.duckdb")
		report, err := d.engine.Build(ctx, to, []query.Import{{Table: "lines", Files: []string{path}}}, nil)
		if err != nil {
			return err
		}
		r.Rows, r.Bytes = report.Tables[0].Rows, size(to)
		d.csv = databaseOf(to, report)
		return nil
	})
}

func (d *data) askCSV(ctx context.Context, sql string) (Result, error) {
	path, err := d.largeCSV()
	if err != nil {
		return Result{}, err
	}
	var r Result
	if err := d.importOnce(ctx, path, &r); err != nil {
		return r, err
	}
	r = Result{}
	r.Took, err = best(ctx, func(int) error {
		got, err := d.engine.Run(ctx, query.Request{Database: d.csv, SQL: sql})
		if err == nil {
			r.Rows = int64(got.RowCount)
		}
		return err
	})
	return r, err
}

// largeCSV is a file of the wanted size in the cache, written when it is missing.
func (d *data) largeCSV() (string, error) {
	path := filepath.Join(d.cache, fmt.Sprintf("lines-%d.csv", d.csvMB))
	return path, d.prepare("csv", func() error {
		if _, err := os.Stat(path); err == nil {
			return nil
		}
		if err := os.MkdirAll(d.cache, 0o755); err != nil {
			return err
		}
		f, err := os.CreateTemp(d.cache, "lines-*")
		if err != nil {
			return err
		}
		defer os.Remove(f.Name()) // gone where it was renamed
		if err := errors.Join(writeCSV(f, int64(d.csvMB)<<20), f.Close()); err != nil {
			return err
		}
		return os.Rename(f.Name(), path)
	})
}

// writeCSV writes lines of whole numbers, text, quotes, decimals and dates.
func writeCSV(f *os.File, bytes int64) error {
	out := bufio.NewWriterSize(f, 1<<20)
	if _, err := out.WriteString("id,region,product,amount,quantity,day,remark\n"); err != nil {
		return err
	}
	regions := []string{"north", "south", "east", "west", "overseas"}
	var line []byte
	for i, left := int64(0), bytes; left > 0; i++ {
		line = strconv.AppendInt(line[:0], i, 10)
		line = append(append(line, ','), regions[i*7919%5]...)
		line = strconv.AppendInt(append(line, ",product "...), i*31%1000, 10)
		line = strconv.AppendInt(append(line, ','), i*7919%100000, 10)
		line = strconv.AppendInt(append(line, '.'), 10+i%90, 10)
		line = strconv.AppendInt(append(line, ','), i%40, 10)
		line = strconv.AppendInt(append(line, ",2024-"...), 10+i%3, 10)
		line = strconv.AppendInt(append(line, '-'), 10+i%19, 10)
		line = append(line, ",\"said \"\"yes\"\", then paid\"\n"...)
		if _, err := out.Write(line); err != nil {
			return err
		}
		left -= int64(len(line))
	}
	return out.Flush()
}
