package catalog

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"interlock/internal/fault"
	"interlock/internal/query"
	"interlock/internal/schema"
	"interlock/internal/source"
	"interlock/internal/sqlpolicy"
)

// A manifest lies beside an imported database and says what is in it.
type manifest struct {
	Dataset  string           `json:"dataset"`
	Version  string           `json:"version"`
	Origin   string           `json:"origin,omitempty"` // of a copy: the connection it came from
	Made     time.Time        `json:"made"`
	Tables   []schema.Table   `json:"tables"`
	Problems []schema.Problem `json:"problems,omitempty"`
	// Declared are the foreign keys that the database itself declares.
	Declared []schema.Relation `json:"relations,omitempty"`
	// Sums are the hashes of what each table was read from, by its name.
	Sums map[string]string `json:"sums,omitempty"`
}

// Database gives a dataset as the engine queries it. A version that is not there yet
// is imported first; callers who come meanwhile wait for the same import.
func (c *Catalog) Database(ctx context.Context, id string) (query.Database, schema.Dataset, error) {
	d, err := c.find(ctx, id)
	if err != nil {
		return query.Database{}, schema.Dataset{}, err
	}
	if d.remote() {
		return query.Database{}, schema.Dataset{}, fault.New(fault.BadRequest, "the tables of %q stay in their database and are not copied", d.id).
			Suggest("Query it with SQL, or load a part of a table under conditions (load_scoped).")
	}
	return c.database(ctx, d)
}

// Describe gives a dataset with its tables, importing it if need be; of one that stays
// in its database, the columns are looked at.
func (c *Catalog) Describe(ctx context.Context, id string) (schema.Dataset, error) {
	d, err := c.find(ctx, id)
	if err != nil {
		return schema.Dataset{}, err
	}
	_, shown, err := c.database(ctx, d)
	return shown, err
}

func (c *Catalog) database(ctx context.Context, d *dataset) (query.Database, schema.Dataset, error) {
	v, err := c.version(ctx, d)
	if err != nil {
		return query.Database{}, schema.Dataset{}, err
	}
	if _, ok := c.manifest(v.path); !ok {
		if _, err := c.once(ctx, v.path, func(ctx context.Context) (manifest, error) { return c.imported(ctx, d, v) }); err != nil {
			return query.Database{}, schema.Dataset{}, c.importFault(ctx, d, err)
		}
	}
	c.touch(v.path)
	shown := c.showVersion(d, v)
	return databaseOf(v.path, shown), shown, nil
}

// databaseOf is a dataset in the file of one of its versions.
func databaseOf(path string, d schema.Dataset) query.Database {
	db := query.Database{Path: path, Alias: d.ID, Version: d.Version}
	for _, t := range d.Tables {
		db.Tables = append(db.Tables, sqlpolicy.Table{Name: t.Name, Columns: schema.Names(t.Columns)})
	}
	return db
}

func (c *Catalog) importFault(ctx context.Context, d *dataset, err error) error {
	if _, ok := errors.AsType[*fault.Fault](err); ok || ctx.Err() != nil {
		return err
	}
	return fmt.Errorf("importing dataset %s: %w", d.id, err)
}

// manifest gives what is known of an imported database; not ok means that there is none.
func (c *Catalog) manifest(path string) (manifest, bool) {
	c.mu.Lock()
	m, ok := c.known[path]
	c.mu.Unlock()
	if _, err := os.Stat(path); err != nil {
		return manifest{}, false
	}
	if ok {
		return m, true
	}
	text, err := os.ReadFile(path + ".json")
	if err != nil || json.Unmarshal(text, &m) != nil {
		return manifest{}, false
	}
	c.remember(path, m)
	return m, true
}

func (c *Catalog) remember(path string, m manifest) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.known[path] = m
}

func (c *Catalog) touch(path string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.used[path] = time.Now()
}

// imported makes the database of a version and its manifest.
func (c *Catalog) imported(ctx context.Context, d *dataset, v version) (manifest, error) {
	unlock, err := c.lockImport(ctx, v.path)
	if err != nil {
		return manifest{}, err
	}
	defer unlock()
	if m, ok := c.manifest(v.path); ok { // somebody was quicker
		return m, nil
	}
	if err := c.checkDisk(); err != nil {
		return manifest{}, err
	}
	began := time.Now()
	m := manifest{Dataset: d.id, Version: v.hash, Origin: d.connection.origin(), Made: began}
	switch {
	case d.remote():
		err = c.importColumns(ctx, d, v.path, &m)
	case d.connection != nil:
		err = c.importConnection(ctx, d, v.path, &m)
	default:
		err = c.importFiles(ctx, d, v, &m)
	}
	if err != nil {
		return m, err
	}
	text, err := json.Marshal(m)
	if err == nil {
		err = writeFile(v.path+".json", text, 0o600)
	}
	if err != nil {
		return m, fmt.Errorf("writing the manifest: %w", err)
	}
	c.remember(v.path, m)
	c.config.Log.Info("A dataset was imported.", "dataset", d.id, "tables", len(m.Tables), "took", time.Since(began))
	c.sweep()
	return m, nil
}

// importFiles has the engine read files. Tables inside SQLite files are streamed
// into a database of their own first.
func (c *Catalog) importFiles(ctx context.Context, d *dataset, v version, m *manifest) error {
	dir, err := os.MkdirTemp(c.config.Dir, ".import-*")
	if err != nil {
		return fmt.Errorf("making a folder for the import: %w", err)
	}
	defer os.RemoveAll(dir)
	streamed := filepath.Join(dir, "streamed.duckdb")
	loaded, err := c.streamFiles(ctx, d, v, streamed, m)
	if err != nil {
		return err
	}
	var imports []query.Import
	for _, t := range v.tables {
		switch {
		case t.inner == "":
			imp := query.Import{Table: t.name, Format: query.Format(t.kind), Options: t.options}
			for _, f := range t.files {
				imp.Files = append(imp.Files, f.path)
			}
			imports = append(imports, imp)
		case loaded[t.name] != nil:
			imports = append(imports, query.Import{Table: t.name, Format: query.DuckDB, Files: []string{streamed}, Options: query.ImportOptions{From: t.name}})
		}
	}
	if len(imports) == 0 {
		problems := slices.Concat(d.problems, m.Problems)
		reason := ""
		if len(problems) > 0 { // the others are among the details
			reason = ": " + problems[0].Path + ": " + strings.TrimSuffix(problems[0].Message, ".")
		}
		return fault.New(fault.SourceUnreadable, "dataset %q has no table that can be read%s", d.id, reason).With(problems)
	}
	report, err := c.build(ctx, d.id, v.path, imports)
	if err != nil {
		return err
	}
	m.Sums = map[string]string{}
	for _, r := range report.Tables {
		i := slices.IndexFunc(v.tables, func(t table) bool { return t.name == r.Table || t.name == r.From })
		if i < 0 {
			continue
		}
		t := v.tables[i]
		if r.From != "" {
			t.name, t.description = r.Table, ""
		}
		if r.Error != "" {
			m.Problems = append(m.Problems, schema.Problem{Path: t.file, Message: r.Error})
			continue
		}
		shown := schema.Table{Name: t.name, File: t.file, Kind: t.kind, Description: t.description, Columns: r.Columns, Rows: r.Rows, Notes: append(loaded[t.name], r.Notes...)}
		m.note(shown)
		m.Tables = append(m.Tables, shown)
		m.Sums[shown.Name] = v.tables[i].sum + " " + shown.Name // a file may hold several
	}
	c.declareFiles(ctx, v, m)
	return nil
}

// notesOf are the decisions about columns that came in as a stream; never nil.
func notesOf(columns []schema.Column) []schema.Note {
	notes := []schema.Note{}
	for _, col := range columns {
		if col.Note != nil {
			notes = append(notes, *col.Note)
		}
	}
	return notes
}

// note says the decisions of a table's import aloud.
func (m *manifest) note(t schema.Table) {
	for _, n := range t.Notes {
		m.Problems = append(m.Problems, schema.Problem{Path: t.File, Message: n.Message})
	}
}

// declareFiles reads the keys that SQLite files declare.
func (c *Catalog) declareFiles(ctx context.Context, v version, m *manifest) {
	byFile := map[string]map[string]string{} // file to name there to name here
	for _, t := range v.tables {
		if t.inner == "" {
			continue
		}
		path := t.files[0].path
		if byFile[path] == nil {
			byFile[path] = map[string]string{}
		}
		byFile[path][strings.ToLower(t.inner)] = t.name
	}
	for _, path := range slices.Sorted(maps.Keys(byFile)) {
		m.loadDeclaredKeys(ctx, c, source.Config{URL: "sqlite:" + path, Name: filepath.Base(path), SQLite: c.sqlite}, func(original string) string { return byFile[path][strings.ToLower(original)] })
	}
}

// build imports; if one table brings the whole import down, it is found by trying
// each alone, and the others are imported without it.
func (c *Catalog) build(ctx context.Context, id, path string, imports []query.Import) (query.Report, error) {
	progress := func(table string, rows int64) { c.progress(id, table, rows) }
	report, err := c.config.Engine.Build(ctx, path, imports, progress)
	if err == nil || ctx.Err() != nil || len(imports) == 1 {
		return report, err
	}
	c.config.Log.Warn("An import failed as a whole; its tables are tried one by one.", "dataset", id, "err", err)
	var good []query.Import
	var failed []query.TableReport
	for _, imp := range imports {
		_, err := c.config.Engine.Build(ctx, path, []query.Import{imp}, progress)
		if ctx.Err() != nil {
			return report, err
		}
		if err != nil {
			failed = append(failed, query.TableReport{Table: imp.Table, Error: fault.From(err).Message})
			continue
		}
		good = append(good, imp)
	}
	if len(good) == 0 || len(failed) == 0 {
		return report, err
	}
	report, err = c.config.Engine.Build(ctx, path, good, progress)
	report.Tables = append(report.Tables, failed...)
	return report, err
}

// streamFiles writes the tables inside SQLite files into a database. It gives those that
// it got, each with the decisions about its columns.
func (c *Catalog) streamFiles(ctx context.Context, d *dataset, v version, path string, m *manifest) (map[string][]schema.Note, error) {
	loaded := map[string][]schema.Note{}
	inner := slices.DeleteFunc(slices.Clone(v.tables), func(t table) bool { return t.inner == "" })
	if len(inner) == 0 {
		return loaded, nil
	}
	w, err := query.Create(path)
	if err != nil {
		return nil, err
	}
	defer w.Abort()
	budgets := map[string]*source.Budget{}
	for _, t := range inner {
		conf := source.Config{URL: "sqlite:" + t.files[0].path, Name: t.file, Table: t.inner, SQLite: c.sqlite, Timeout: importTimeout}
		if budgets[conf.URL] == nil {
			budgets[conf.URL] = source.NewBudget(conf)
		}
		conf.Budget = budgets[conf.URL]
		columns, _, err := c.stream(ctx, w, conf, d.id, t.name)
		if ctx.Err() != nil {
			return nil, ctx.Err()
		}
		if err != nil {
			m.Problems = append(m.Problems, schema.Problem{Path: t.file, Message: strings.ReplaceAll(fault.From(err).Message, conf.URL, t.file)})
			continue
		}
		loaded[t.name] = notesOf(columns)
	}
	return loaded, w.Close()
}

// stream writes one table of a database into another.
func (c *Catalog) stream(ctx context.Context, w *query.Writer, conf source.Config, id, name string) ([]schema.Column, int64, error) {
	s, err := source.Open(ctx, conf)
	if err != nil {
		return nil, 0, err
	}
	defer s.Close()
	columns, err := s.Describe(ctx)
	if err != nil {
		return nil, 0, err
	}
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	rows, err := source.Load(ctx, s, schema.Filter{}, w, name, func(rows int64) {
		if w.Size() > c.config.MaxDisk {
			cancel(fault.New(fault.TooLarge, "The table takes more than the %d MB of disk that a dataset may have.", c.config.MaxDisk>>20).
				Suggest("Leave the rows where they are (remote), or raise the setting dataset-disk-mb."))
		}
		c.progress(id, name, rows)
	})
	if full, ok := errors.AsType[*fault.Fault](context.Cause(ctx)); ok && err != nil {
		return columns, rows, full
	}
	return columns, rows, err
}

// checkDisk refuses another import where those that are kept fill what all may have.
func (c *Catalog) checkDisk() error {
	if c.diskUsed() < c.config.MaxTotalDisk {
		return nil
	}
	c.sweep()
	if used := c.diskUsed(); used >= c.config.MaxTotalDisk {
		return fault.New(fault.TooLarge, "the imported datasets take %d MB of disk, as much as they may", used>>20).
			Suggest("Remove data that is not needed, or raise the setting all-datasets-disk-mb.")
	}
	return nil
}

// diskUsed counts the databases, and those that are being made.
func (c *Catalog) diskUsed() (bytes int64) {
	_ = filepath.WalkDir(c.config.Dir, func(_ string, e fs.DirEntry, err error) error {
		if err == nil && e.Type().IsRegular() {
			if info, err := e.Info(); err == nil {
				bytes += info.Size()
			}
		}
		return nil // what is gone meanwhile takes nothing
	})
	return bytes
}
