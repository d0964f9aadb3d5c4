package main

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
	"interlock/internal/server"
	"interlock/internal/sqlpolicy"
	"interlock/internal/toolbox"
)

// openData starts the query engine and the catalog over it.
func (s *system) openData(c config) error {
	var err error
	s.query, err = query.New(query.Config{
		Dir: s.dir(c, "tmp"), Workers: c.SQLWorkers, MemoryMB: c.SQLMemory, Timeout: c.SQLTimeout, MaxRows: 100_000, MaxImport: int64(c.DatasetDisk) << 20, Log: s.log,
	})
	if err != nil {
		return err
	}
	s.onClose(s.query.Close)
	s.catalog, err = catalog.New(catalog.Config{
		Roots: c.Data, Dir: s.dir(c, "datasets"), State: c.State, SourceFolders: c.SourceFolders,
		MaxDisk: int64(c.DatasetDisk) << 20, MaxTotalDisk: int64(c.DatasetsDisk) << 20, Engine: s.query, Policy: s.query, Snapshot: c.CopyAge, Log: s.log,
	})
	if err == nil {
		s.onClose(s.catalog.Close)
	}
	return err
}

// data is the catalog and the engine as the tools see them.
type data struct {
	catalog *catalog.Catalog
	results toolbox.Results // nil: statements cannot name earlier results
}

func (d data) Datasets(ctx context.Context) ([]toolbox.Dataset, error) {
	list, err := d.catalog.List(ctx)
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

func (d data) Schema(ctx context.Context, id string) (toolbox.Schema, error) {
	s, err := d.catalog.Schema(ctx, id)
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
			table.Notes = append(table.Notes, noteText(n))
		}
		out.Tables = append(out.Tables, table)
	}
	out.Location = location(s)
	r, err := d.catalog.Relations(ctx, id)
	if err != nil {
		return out, err
	}
	out.Keys = map[string]string{}
	for _, k := range r.Keys {
		if out.Keys[k.Table] == "" {
			out.Keys[k.Table] = k.Column
		}
	}
	for _, x := range r.Links {
		out.Relations = append(out.Relations, schema.Relation{Table: x.From.Table, Column: x.From.Column, RefTable: x.To.Table, RefColumn: x.To.Column})
	}
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
func (d data) Version(ctx context.Context, id string) string {
	if id != "" {
		x, err := d.catalog.Get(ctx, id)
		if err != nil {
			return ""
		}
		return x.VersionHash
	}
	list, err := d.catalog.List(ctx)
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

// Bounds of a result that is kept whole.
const (
	wholeRows  = 10_000_000
	wholeBytes = 32 << 20
)

func (d data) Query(ctx context.Context, q toolbox.Query) (toolbox.Rows, error) {
	beside, err := d.beside(ctx, q)
	if err != nil {
		return toolbox.Rows{}, err
	}
	request := query.Request{Database: beside, SQL: q.SQL, MaxRows: q.MaxRows, User: q.User, CountAll: !q.Whole}
	if q.Whole {
		request.MaxRows, request.MaxBytes, request.MaxCell = wholeRows, wholeBytes, wholeBytes
	}
	r, err := d.catalog.Query(ctx, q.Dataset, request)
	if err != nil {
		return toolbox.Rows{}, err
	}
	if q.Whole && (r.Limited || r.Cut > 0) {
		return toolbox.Rows{}, fault.New(fault.TooLarge, "The result has more than the %d MiB that are kept.", wholeBytes>>20).
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

// beside makes tables of earlier results.
func (d data) beside(ctx context.Context, q toolbox.Query) (query.Database, error) {
	var db query.Database
	for _, f := range q.Frames {
		r, err := d.results.Load(ctx, f.ResultID) // only its owner may
		if err != nil {
			return db, err
		}
		table := sqlpolicy.Table{Name: f.Name}
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
		path, err := d.catalog.Rows(ctx, f.ResultID, f.Name, list, r.Rows)
		if err != nil {
			return db, err
		}
		db.Beside, db.Tables = append(db.Beside, path), append(db.Tables, table)
	}
	return db, nil
}

func (d data) Dictionary(ctx context.Context, id, file string) (toolbox.Dictionary, error) {
	x, err := d.catalog.Dictionary(ctx, id, file)
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

func (d data) Check(ctx context.Context, id, sql string) (sqlpolicy.Decision, error) {
	return d.catalog.Check(ctx, id, sql)
}

// loads is the catalog's sources as the tools see them.
type loads struct{ *catalog.Catalog }

func (l loads) List(ctx context.Context) ([]toolbox.SourceRow, error) {
	list, err := l.Catalog.Sources(ctx)
	if err != nil {
		return nil, err
	}
	out := make([]toolbox.SourceRow, len(list))
	for i, s := range list {
		out[i] = toolbox.SourceRow{Alias: s.Alias, Kind: s.Kind, Columns: []string{}, RowCount: int(s.Rows)}
		for _, c := range s.Columns {
			out[i].Columns = append(out[i].Columns, c.Name)
		}
	}
	return out, nil
}

func (l loads) Load(ctx context.Context, w toolbox.Loading) (toolbox.Loaded, error) {
	got, err := l.Preview(ctx, w.Alias, w.Conditions, w.Offset, w.Limit)
	return toolbox.Loaded{Alias: got.Alias, Columns: got.Columns, Rows: got.Rows, TotalRows: got.TotalRows}, err
}

// datasets is the catalog as the server shows it.
type datasets struct{ *catalog.Catalog }

func (d datasets) Datasets(ctx context.Context) ([]server.Dataset, error) {
	list, err := d.List(ctx)
	if err != nil {
		return nil, err
	}
	out := make([]server.Dataset, len(list))
	for i, x := range list {
		out[i] = server.Dataset{ID: x.ID, Name: x.Name, Description: x.Description, Prompts: append([]string{}, x.Prompts...), VersionHash: x.VersionHash}
	}
	return out, nil
}

func (d datasets) Schema(ctx context.Context, id string) (any, error) {
	return d.Catalog.Schema(ctx, id)
}

// sources is the catalog's sources as the server shows them.
type sources struct{ *catalog.Catalog }

func (s sources) Sources(ctx context.Context) (any, error) {
	list, err := s.Catalog.Sources(ctx)
	if err != nil {
		return nil, err
	}
	return map[string]any{"sources": list}, nil
}

func (s sources) Add(ctx context.Context, spec server.SourceSpec) (any, error) {
	conn, secret, err := connection(spec.URL, spec.Alias)
	if err != nil {
		return nil, err
	}
	if err := s.CheckServed(conn.URL); err != nil {
		return nil, err
	}
	conn.Schema, conn.Tables, conn.Remote, conn.AllowOwner = spec.Schema, spec.Tables, spec.Remote, spec.AllowOwner
	if err := s.Catalog.Add(ctx, conn, secret); err != nil {
		return nil, err
	}
	return conn, nil
}

func (s sources) Preview(ctx context.Context, alias string, offset, limit int) (any, error) {
	return s.Catalog.Preview(ctx, alias, nil, offset, limit)
}

func (s sources) LoadScoped(ctx context.Context, alias string, conditions json.RawMessage, limit int) (any, error) {
	list, err := schema.ParseConditions(conditions)
	if err != nil {
		return nil, err
	}
	return s.Catalog.LoadScoped(ctx, alias, list, limit)
}
