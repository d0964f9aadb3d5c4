package data

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"interlock/internal/catalog"
	"interlock/internal/event"
	"interlock/internal/fault"
	"interlock/internal/query"
	"interlock/internal/schema"
	"interlock/internal/sqlpolicy"
	"interlock/internal/toolbox"
)

// Datasets are the datasets of a deployment as the tools see them. They implement
// toolbox.Data and toolbox.Checker.
type Datasets struct {
	Catalog *catalog.Catalog
	Results toolbox.Results // nil: statements cannot name earlier results
}

// Datasets implements toolbox.Data.
func (d Datasets) Datasets(ctx context.Context) ([]schema.Dataset, error) { return d.Catalog.List(ctx) }

// Schema implements toolbox.Data.
func (d Datasets) Schema(ctx context.Context, id string) (schema.Dataset, error) {
	s, err := d.tables(ctx, id)
	if err != nil {
		return s, err
	}
	if s, err = (Meanings{d.Catalog}).apply(ctx, s); err == nil && s.Broken != nil {
		d.Catalog.WarnOnce(id, s.Broken.Version, s.Problems[len(s.Problems)-1])
	}
	return s, err
}

// tables gives a dataset with keys and relations as the data have them, without its meaning.
func (d Datasets) tables(ctx context.Context, id string) (schema.Dataset, error) {
	s, err := d.Catalog.Schema(ctx, id)
	if err != nil {
		return s, err
	}
	r, err := d.Catalog.Relations(ctx, id)
	if err != nil {
		return s, err
	}
	s.Relations = r.Links
	for _, k := range r.Keys { // the first of a table's keys is the one that people use
		if t, ok := s.Table(k.Table); ok && t.Key == nil {
			t.Key = []string{k.Column}
		}
	}
	return s, nil
}

// Version of a dataset, or of the list of them.
func (d Datasets) Version(ctx context.Context, id string) string {
	if id != "" {
		x, err := d.Catalog.Get(ctx, id)
		if err != nil {
			return ""
		}
		return x.Version + Meanings{d.Catalog}.versionSuffix(ctx, id)
	}
	list, err := d.Catalog.List(ctx)
	if err != nil {
		return ""
	}
	var all []string
	for _, x := range list {
		all = append(all, x.ID+" "+x.Version+Meanings{d.Catalog}.versionSuffix(ctx, x.ID))
	}
	slices.Sort(all)
	return event.Hash([]byte(strings.Join(all, "\n")))
}

// Bounds of a result whose rows are all kept.
const (
	keptRows  = 10_000_000
	keptBytes = 32 << 20
)

// Query implements toolbox.Data.
func (d Datasets) Query(ctx context.Context, q toolbox.Query) (toolbox.Rows, error) {
	frames, err := frameTables(ctx, d.Catalog, d.Results, q.Frames)
	if err != nil {
		return toolbox.Rows{}, err
	}
	request := query.Request{Database: frames, SQL: q.SQL, MaxRows: q.MaxRows, User: q.User, CountAll: !q.Whole}
	if q.Whole {
		request.MaxRows, request.MaxBytes, request.MaxCell = keptRows, keptBytes, keptBytes
	}
	r, err := d.Catalog.Query(ctx, q.Dataset, request)
	if err != nil {
		return toolbox.Rows{}, err
	}
	if q.Whole && (r.Limited || r.Cut > 0) {
		return toolbox.Rows{}, fault.New(fault.TooLarge, "The result has more than the %d MiB that are kept.", keptBytes>>20).
			Suggest("Aggregate, select fewer columns, or say with a LIMIT of your own which rows are meant.")
	}
	return toolbox.Rows{
		Frames: framesRead(q.Frames, r.EarlierTables), CopiedAt: r.CopiedAt, Columns: r.Columns, Rows: r.Rows, RowCount: r.RowCount, Limited: r.Limited, Total: r.Total, AtLeast: r.AtLeast, Cut: r.Cut, MS: r.Elapsed.Round(time.Millisecond).Milliseconds(), Decision: r.Decision, Live: r.Live, Version: r.Version,
	}, nil
}

// framesRead are the frames whose tables a statement read.
func framesRead(frames []toolbox.Frame, read []string) (out []toolbox.Frame) {
	for _, f := range frames {
		if slices.ContainsFunc(read, func(name string) bool { return strings.EqualFold(name, f.Name) }) {
			out = append(out, f)
		}
	}
	return out
}

// frameTables writes the earlier results that a statement names as tables that it can
// read, each in a file of its own.
func frameTables(ctx context.Context, c *catalog.Catalog, results toolbox.Results, frames []toolbox.Frame) (query.Database, error) {
	var db query.Database
	for _, f := range frames {
		path, table, err := resultTable(ctx, c, results, f)
		if err != nil {
			return db, err
		}
		db.Attached, db.Tables = append(db.Attached, path), append(db.Tables, table)
	}
	return db, nil
}

// resultTable writes a kept result as a database with one table of the frame's name.
func resultTable(ctx context.Context, c *catalog.Catalog, results toolbox.Results, f toolbox.Frame) (path string, table sqlpolicy.Table, err error) {
	r, err := results.Load(ctx, f.ResultID) // only its owner may
	if err != nil {
		return "", table, err
	}
	list := make([]schema.Column, len(r.Columns))
	taken := map[string]bool{}
	for i, c := range r.Columns { // those of one name, such as of a join, are told apart
		name := c.Name
		for n := 1; name == "" || taken[strings.ToLower(name)]; n++ {
			name = fmt.Sprintf("%s_%d", cmp.Or(c.Name, "column"), n)
		}
		taken[strings.ToLower(name)] = true
		list[i] = schema.Column{Name: name, Type: c.Type}
	}
	path, err = c.Rows(ctx, f.ResultID, f.Name, list, r.Rows)
	return path, sqlpolicy.Table{Name: f.Name, Columns: schema.Names(list)}, err
}

// Dictionary implements toolbox.Data.
func (d Datasets) Dictionary(ctx context.Context, id, file string) (schema.Dictionary, error) {
	return d.Catalog.Dictionary(ctx, id, file)
}

// Check implements toolbox.Checker.
func (d Datasets) Check(ctx context.Context, id, sql string, frames ...toolbox.Frame) (sqlpolicy.Decision, error) {
	earlier, err := frameTables(ctx, d.Catalog, d.Results, frames)
	if err != nil {
		return sqlpolicy.Decision{}, err
	}
	return d.Catalog.Check(ctx, id, sql, earlier)
}
