package catalog

import (
	"context"
	"crypto/rand"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"

	"interlock/internal/dialect"
	"interlock/internal/fault"
	"interlock/internal/query"
	"interlock/internal/schema"
	"interlock/internal/source"
)

// A Scoped load is some rows of a source under conditions, and how many there are.
type Scoped struct {
	Alias       string          `json:"alias"`
	Columns     []schema.Column `json:"columns"`
	Rows        json.RawMessage `json:"rows"`
	TotalRows   int64           `json:"total_rows"` // under the conditions
	PreviewRows int             `json:"preview_rows"`
}

// maxPreview rows are given at once.
const maxPreview = 10_000

// LoadScoped gives up to limit rows (200 if 0) of a source under conditions. The
// conditions run where the source is.
func (c *Catalog) LoadScoped(ctx context.Context, alias string, conditions []schema.Condition, limit int) (Scoped, error) {
	return c.Preview(ctx, alias, conditions, 0, limit)
}

// Preview is LoadScoped from an offset.
func (c *Catalog) Preview(ctx context.Context, alias string, conditions []schema.Condition, offset, limit int) (Scoped, error) {
	if limit == 0 {
		limit = 200
	}
	if limit < 0 || limit > maxPreview || offset < 0 {
		return Scoped{}, fault.New(fault.BadRequest, "a page has 1 to %d rows and begins at 0 or later", maxPreview)
	}
	found, err := c.Source(ctx, alias)
	if err != nil {
		return Scoped{}, err
	}
	s, err := c.open(ctx, found)
	if err != nil {
		return Scoped{}, err
	}
	defer s.Close()
	filter := schema.Filter{Conditions: conditions}
	total, err := s.Count(ctx, filter)
	if err != nil {
		return Scoped{}, err
	}
	page, err := s.Preview(ctx, filter, offset, limit)
	if err != nil {
		return Scoped{}, err
	}
	return Scoped{Alias: found.Alias, Columns: found.Columns, Rows: page.Rows, TotalRows: total, PreviewRows: page.Count}, nil
}

// A Part is a source under conditions, as a table of an assembled database.
type Part struct {
	Table      string // its name there
	Alias      string
	Conditions []schema.Condition
}

// Assemble makes one database of the scoped rows of several sources, so that they
// can be queried together. It is removed some time after its last use.
func (c *Catalog) Assemble(ctx context.Context, parts []Part) (query.Database, error) {
	dir, err := os.MkdirTemp(c.config.Dir, ".import-*")
	if err != nil {
		return query.Database{}, fmt.Errorf("making a folder for the scope: %w", err)
	}
	defer os.RemoveAll(dir)
	var imports []query.Import
	for i, p := range parts {
		imp, err := c.part(ctx, filepath.Join(dir, fmt.Sprintf("part%d", i)), p)
		if err != nil {
			return query.Database{}, err
		}
		imports = append(imports, imp)
	}
	path := filepath.Join(c.config.Dir, "scope-"+rand.Text()[:12]+".duckdb")
	report, err := c.config.Engine.Build(ctx, path, imports, func(table string, rows int64) { c.progress("scope", table, rows) })
	if err != nil {
		return query.Database{}, err
	}
	c.touch(path)
	tables := make([]Table, len(report.Tables))
	for i, r := range report.Tables {
		if r.Error != "" {
			return query.Database{}, fault.New(fault.SourceUnreadable, "the scope of %s cannot be loaded: %s", parts[i].Alias, r.Error)
		}
		tables[i] = Table{Name: r.Table, Columns: r.Columns, Rows: r.Rows}
	}
	return databaseOf(path, "", tables), nil
}

// part brings one source into a form that the engine imports.
func (c *Catalog) part(ctx context.Context, path string, p Part) (query.Import, error) {
	found, err := c.Source(ctx, p.Alias)
	if err != nil {
		return query.Import{}, err
	}
	filter := schema.Filter{Conditions: p.Conditions}
	if found.live {
		return c.partLive(ctx, path+".duckdb", p.Table, found, filter)
	}
	db, _, err := c.Database(ctx, found.Dataset)
	if err != nil {
		return query.Import{}, err
	}
	if len(p.Conditions) == 0 {
		return query.Import{Table: p.Table, Format: query.DuckDB, Files: []string{db.Path}, Options: query.ImportOptions{From: found.Table}}, nil
	}
	columns, err := source.NewTable(c.config.Engine, db, found.Table, found.Columns).Describe(ctx)
	if err != nil {
		return query.Import{}, err
	}
	stmt, err := source.Select(dialect.DuckDB, source.Selection{Table: []string{found.Table}, Columns: columns, Filter: filter})
	if err != nil {
		return query.Import{}, err
	}
	if _, err := c.config.Engine.Export(ctx, query.Request{Database: db, SQL: stmt.Text, Args: stmt.Texts()}, query.Parquet, path+".parquet"); err != nil {
		return query.Import{}, err
	}
	return query.Import{Table: p.Table, Format: query.Parquet, Files: []string{path + ".parquet"}}, nil
}

func (c *Catalog) partLive(ctx context.Context, path, name string, found Source, filter schema.Filter) (query.Import, error) {
	s, err := c.open(ctx, found)
	if err != nil {
		return query.Import{}, err
	}
	defer s.Close()
	w, err := query.Create(path)
	if err != nil {
		return query.Import{}, err
	}
	defer w.Abort()
	if _, err := source.Load(ctx, s, filter, w, name, func(rows int64) { c.progress(found.Dataset, name, rows) }); err != nil {
		return query.Import{}, err
	}
	return query.Import{Table: name, Format: query.DuckDB, Files: []string{path}, Options: query.ImportOptions{From: name}}, w.Close()
}
