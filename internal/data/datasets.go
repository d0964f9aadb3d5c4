package data

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"path"
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

func (d Datasets) Datasets(ctx context.Context) ([]toolbox.Dataset, error) {
	list, err := d.Catalog.List(ctx)
	if err != nil {
		return nil, err
	}
	out := make([]toolbox.Dataset, len(list))
	for i, x := range list {
		out[i] = toolbox.Dataset{ID: x.ID, Name: x.Name, Description: x.Description, Prompts: x.Prompts}
	}
	return out, nil
}

// maxNotes is how many decisions of an import a model is told of.
const maxNotes = 20

func (d Datasets) Schema(ctx context.Context, id string) (toolbox.Schema, error) {
	s, err := d.Catalog.Schema(ctx, id)
	if err != nil {
		return toolbox.Schema{}, err
	}
	out := toolbox.Schema{Dataset: s.DatasetID, Version: s.VersionHash, Dialect: s.Dialect}
	if !s.CopiedAt.IsZero() {
		out.CopiedAt = s.CopiedAt.UTC().Format(time.RFC3339)
	}
	for _, t := range s.Tables {
		table := toolbox.Table{File: t.File, TableName: t.Name, RowCount: t.Rows, Columns: t.Columns, Sample: []json.RawMessage{}}
		if err := json.Unmarshal(t.Sample, &table.Sample); err != nil {
			return out, err
		}
		for _, n := range t.Notes[:min(maxNotes, len(t.Notes))] {
			table.Notes = append(table.Notes, n.Line())
		}
		out.Tables = append(out.Tables, table)
	}
	out.Location = location(s)
	r, err := d.Catalog.Relations(ctx, id)
	if err != nil {
		return out, err
	}
	out.Keys = map[string]string{}
	for _, k := range r.Keys {
		if out.Keys[k.Table] == "" {
			out.Keys[k.Table] = k.Column
		}
	}
	out.Relations = r.Links
	return out, nil
}

// location names the files of a dataset, each under the dataset's name: where on the disk
// that is concerns nobody who asks.
func location(s catalog.Schema) string {
	files := []string{}
	for _, t := range s.Tables {
		if file := path.Join(s.DatasetID, t.File); !slices.Contains(files, file) {
			files = append(files, file)
		}
	}
	return strings.Join(files, ", ")
}

// Version of a dataset, or of the list of them.
func (d Datasets) Version(ctx context.Context, id string) string {
	if id != "" {
		x, err := d.Catalog.Get(ctx, id)
		if err != nil {
			return ""
		}
		return x.VersionHash
	}
	list, err := d.Catalog.List(ctx)
	if err != nil {
		return ""
	}
	var all []string
	for _, x := range list {
		all = append(all, x.ID+" "+x.VersionHash)
	}
	slices.Sort(all)
	return event.Hash([]byte(strings.Join(all, "\n")))
}

// Bounds of a result whose rows are all kept.
const (
	keptRows  = 10_000_000
	keptBytes = 32 << 20
)

func (d Datasets) Query(ctx context.Context, q toolbox.Query) (toolbox.Rows, error) {
	frames, err := d.frameTables(ctx, q)
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
	copied := ""
	if !r.CopiedAt.IsZero() {
		copied = r.CopiedAt.UTC().Format(time.RFC3339)
	}
	return toolbox.Rows{
		CopiedAt: copied, Columns: r.Columns, Rows: r.Rows, RowCount: r.RowCount, Limited: r.Limited, Total: r.Total, AtLeast: r.AtLeast, Cut: r.Cut, MS: r.Elapsed.Round(time.Millisecond).Milliseconds(), Decision: r.Decision, Live: r.Live,
	}, nil
}

// frameTables writes the earlier results that a statement names as tables that it can read.
func (d Datasets) frameTables(ctx context.Context, q toolbox.Query) (query.Database, error) {
	var db query.Database
	for _, f := range q.Frames {
		path, table, err := resultTable(ctx, d.Catalog, d.Results, f)
		if err != nil {
			return db, err
		}
		db.Beside, db.Tables = append(db.Beside, path), append(db.Tables, table)
	}
	return db, nil
}

// resultTable writes a kept result as a database with one table of the frame's name.
func resultTable(ctx context.Context, c *catalog.Catalog, results toolbox.Results, f toolbox.Frame) (path string, table sqlpolicy.Table, err error) {
	r, err := results.Load(ctx, f.ResultID) // only its owner may
	if err != nil {
		return "", table, err
	}
	table = sqlpolicy.Table{Name: f.Name}
	list := make([]schema.Column, len(r.Columns))
	taken := map[string]bool{}
	for i, c := range r.Columns { // those of one name, such as of a join, are told apart
		name := c.Name
		for n := 1; name == "" || taken[strings.ToLower(name)]; n++ {
			name = fmt.Sprintf("%s_%d", cmp.Or(c.Name, "column"), n)
		}
		taken[strings.ToLower(name)] = true
		list[i] = schema.Column{Name: name, Type: c.Type}
		table.Columns = append(table.Columns, name)
	}
	path, err = c.Rows(ctx, f.ResultID, f.Name, list, r.Rows)
	return path, table, err
}

func (d Datasets) Dictionary(ctx context.Context, id, file string) (toolbox.Dictionary, error) {
	x, err := d.Catalog.Dictionary(ctx, id, file)
	if err != nil {
		return toolbox.Dictionary{}, err
	}
	out := toolbox.Dictionary{Tables: map[string]toolbox.TableText{}, Glossary: map[string]string{}, Warnings: x.Warnings}
	for name, t := range x.Tables {
		out.Tables[name] = toolbox.TableText{Text: t.Text, Columns: t.Columns}
	}
	for _, t := range x.Glossary {
		out.Glossary[t.Term] = t.Definition
	}
	return out, nil
}

func (d Datasets) Check(ctx context.Context, id, sql string) (sqlpolicy.Decision, error) {
	return d.Catalog.Check(ctx, id, sql)
}
