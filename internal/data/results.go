package data

import (
	"cmp"
	"context"
	"crypto/rand"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"interlock/internal/artifact"
	"interlock/internal/catalog"
	"interlock/internal/dialect"
	"interlock/internal/event"
	"interlock/internal/fault"
	"interlock/internal/query"
	"interlock/internal/schema"
	"interlock/internal/server"
	"interlock/internal/sqlpolicy"
	"interlock/internal/store"
)

// A ResultsConfig says what Results stand on. Dir holds files on their way and
// artifacts that were made readable.
type ResultsConfig struct {
	Catalog   *catalog.Catalog
	Query     *query.Engine
	Artifacts *artifact.Store
	Store     store.Store
	Dir       string
}

// Results stores the rows of statements as artifacts, and reads artifacts that are
// tables page by page. They implement server.Results.
type Results struct {
	catalog   *catalog.Catalog
	query     *query.Engine
	artifacts *artifact.Store
	store     store.Store
	dir       string
}

// halfMade is how long a file may go unwritten while it is being made: an export lasts
// minutes. One that is older was left by a process that died.
const halfMade = time.Hour

// NewResults removes what processes that died left half made. Other processes that live
// may share the folder: what they are making stays.
func NewResults(c ResultsConfig) *Results {
	for _, pattern := range []string{"export-*", "open-*"} {
		paths, _ := filepath.Glob(filepath.Join(c.Dir, pattern))
		for _, path := range paths {
			if info, err := os.Lstat(path); err == nil && time.Since(info.ModTime()) > halfMade {
				_ = os.RemoveAll(path)
			}
		}
	}
	return &Results{c.Catalog, c.Query, c.Artifacts, c.Store, c.Dir}
}

// Export implements server.Results.
func (r *Results) Export(ctx context.Context, owner string, e server.Export) (string, error) {
	p, d, err := r.currentDataset(ctx, e.Dataset)
	if err != nil {
		return "", err
	}
	return r.storeRows(ctx, owner, p, query.Format(e.Format), artifact.Lineage{Dataset: d.ID, Version: d.Version, SQL: e.SQL})
}

// A target is where statements run: in a version that does not change, or in the
// database where the rows of a dataset stay.
type target struct {
	version query.Database
	live    string // the dataset; "" for a version
}

// currentDataset returns a dataset as it is now.
func (r *Results) currentDataset(ctx context.Context, id string) (target, schema.Dataset, error) {
	d, err := r.catalog.Describe(ctx, id)
	if err != nil || d.Dialect != "" {
		return target{live: id}, d, err
	}
	db, d, err := r.catalog.Database(ctx, id)
	return target{version: db}, d, err
}

func (r *Results) check(ctx context.Context, p target, sql string) (sqlpolicy.Decision, error) {
	if p.live != "" {
		return r.catalog.Check(ctx, p.live, sql, query.Database{})
	}
	return r.query.Check(ctx, p.version, sql)
}

func (r *Results) write(ctx context.Context, p target, q query.Request, format query.Format, path string) (query.Exported, error) {
	if p.live != "" {
		return r.catalog.Export(ctx, p.live, q, format, path)
	}
	q.Database = p.version
	return r.query.Export(ctx, q, format, path)
}

// storeRows stores all rows of the lineage's statement. The same statement on the same data
// is the same artifact, and is not run again unless another run of it may differ. The
// logical key is its thread too, so that another statement with equal rows keeps a
// lineage of its own.
func (r *Results) storeRows(ctx context.Context, owner string, at target, format query.Format, l artifact.Lineage) (string, error) {
	given := l.SQL
	if err := r.checkLineage(ctx, at, &l); err != nil {
		return "", err
	}
	key := event.Hash([]byte(strings.Join([]string{"sql", l.SQL, l.Version, string(format), l.Run, l.Call}, "\x00")))[:16]
	p := artifact.Put{
		Name: strings.Join(append([]string{l.Dataset}, l.Tables[:min(2, len(l.Tables))]...), "-"), Type: string(format), Producer: "sql",
		LogicalKey: key, Thread: artifact.ExportThread(key), Owner: owner, Call: l.Call,
	}
	if !l.Volatile {
		if kept, err := r.artifacts.List(ctx, owner, p.Thread); err == nil && len(kept) > 0 {
			return fmt.Sprintf("%s@%d", kept[0].ID, kept[0].Version), nil
		}
	}
	var made event.ArtifactMade
	err := r.exportRows(ctx, owner, at, format, given, &l, func(rows io.Reader) (err error) {
		p.Lineage = &l
		made, err = r.artifacts.Put(ctx, p, rows)
		return err
	})
	return fmt.Sprintf("%s@%d", made.ID, made.Version), err
}

// checkLineage completes a lineage with what its statement touches.
func (r *Results) checkLineage(ctx context.Context, at target, l *artifact.Lineage) error {
	decision, err := r.check(ctx, at, l.SQL)
	if err != nil {
		return err
	}
	l.SQL, l.Volatile, l.Tables, l.Columns = decision.SQL, decision.Volatile || at.live != "", []string{}, map[string][]string{}
	for _, t := range decision.Touches {
		l.Tables = append(l.Tables, t.Table)
		l.Columns[t.Table] = t.Columns
	}
	return nil
}

// exportRows runs a statement and hands all its rows to use, in a format; its lineage then
// says how many there are.
func (r *Results) exportRows(ctx context.Context, owner string, at target, format query.Format, sql string, l *artifact.Lineage, use func(io.Reader) error) error {
	path := filepath.Join(r.dir, "export-"+rand.Text())
	defer os.Remove(path)
	l.At = time.Now().UTC()
	written, err := r.write(ctx, at, query.Request{SQL: sql, User: owner}, format, path)
	if err != nil {
		return err
	}
	l.Rows, l.Notes = written.Rows, written.Notes
	f, err := os.Open(path)
	if err != nil {
		return fmt.Errorf("reading an export: %w", err)
	}
	defer f.Close()
	return use(f)
}

// A resultPage is some rows of an artifact.
type resultPage struct {
	Artifact string            `json:"artifact_id"`
	Columns  []schema.Column   `json:"columns"`
	Rows     json.RawMessage   `json:"rows"`
	Offset   int               `json:"offset"`
	Total    int64             `json:"total_rows"` // with the text that was looked for
	Lineage  *artifact.Lineage `json:"lineage,omitempty"`
}

// Rows implements server.Results.
func (r *Results) Rows(ctx context.Context, owner, id string, p server.Page) (any, error) {
	content, meta, err := r.artifacts.Open(ctx, owner, id)
	if err != nil {
		return nil, err
	}
	defer content.Close()
	t, err := r.openTable(ctx, content, meta)
	if err != nil {
		return nil, err
	}
	order, err := t.order(p)
	if err != nil {
		return nil, err
	}
	q := query.Request{Database: t.database(r.path(meta)), SQL: "SELECT * FROM " + dialect.DuckDB.Ident(t.Table), MaxRows: p.Limit, User: owner}
	total := t.Rows
	if p.Find != "" {
		q.SQL, q.Args = q.SQL+t.whereContains(), []string{p.Find}
		if total, err = r.query.Count(ctx, q); err != nil {
			return nil, err
		}
	}
	q.SQL += fmt.Sprintf("%s LIMIT %d OFFSET %d", order, p.Limit, p.Offset)
	page, err := r.query.Run(ctx, q)
	if err != nil {
		return nil, err
	}
	return resultPage{id, t.Columns, page.Rows, p.Offset, total, meta.Lineage}, nil
}

// A tableFile is an artifact that was made readable.
type tableFile struct{ query.TableReport }

// order is the clause that sorts by a column, and by all others after it: rows that
// are equal in it must not change places between two pages.
func (t tableFile) order(p server.Page) (string, error) {
	if p.Sort == "" {
		return "", nil
	}
	first, rest := "", []string{}
	for _, c := range t.Columns {
		if c.Name == p.Sort {
			first = dialect.DuckDB.Ident(c.Name)
		} else {
			rest = append(rest, dialect.DuckDB.Ident(c.Name))
		}
	}
	if first == "" {
		return "", fault.New(fault.BadRequest, "the result has no column %.80q", p.Sort)
	}
	if p.Down {
		first += " DESC"
	}
	return " ORDER BY " + strings.Join(append([]string{first + " NULLS LAST"}, rest...), ", "), nil
}

// whereContains is the clause that leaves the rows with a text in some column.
func (t tableFile) whereContains() string {
	cells := make([]string, len(t.Columns))
	for i, c := range t.Columns {
		cells[i] = dialect.DuckDB.Ident(c.Name) + "::VARCHAR"
	}
	return " WHERE contains(lower(concat_ws(chr(10), " + strings.Join(cells, ", ") + ")), lower($1))"
}

func (t tableFile) database(path string) query.Database {
	return query.Database{Path: path, Tables: []sqlpolicy.Table{{Name: t.Table, Columns: schema.Names(t.Columns)}}}
}

func (r *Results) path(meta artifact.Meta) string {
	return filepath.Join(r.dir, meta.Hash+"-"+meta.Type+".duckdb")
}

// maxOpened bounds the artifacts that are kept readable.
const maxOpened = 32

// openTable makes a content readable, once. The document beside the database is written
// last: where it is, the database is whole.
func (r *Results) openTable(ctx context.Context, content io.Reader, meta artifact.Meta) (t tableFile, err error) {
	path := r.path(meta)
	if raw, err := os.ReadFile(path + ".json"); err == nil && json.Unmarshal(raw, &t) == nil {
		return t, nil
	}
	format := query.Format(meta.Type)
	if !slices.Contains([]query.Format{query.CSV, query.NDJSON, query.Array, query.Parquet, query.Excel}, format) {
		return t, fault.New(fault.BadRequest, "the artifact %s is %s, which cannot be read as a table", meta.ID, meta.Type).Suggest("Download it instead.")
	}
	in := filepath.Join(r.dir, "open-"+rand.Text()+"."+meta.Type)
	defer os.Remove(in)
	if err := writeAll(in, content); err != nil {
		return t, fmt.Errorf("opening an artifact: %w", err)
	}
	r.evict(maxOpened - 1)
	report, err := r.query.Build(ctx, path, []query.Import{{Table: "result", Files: []string{in}, Format: format}}, nil)
	if err != nil {
		return t, err
	}
	t.TableReport = report.Tables[0]
	raw, err := json.Marshal(t)
	if err == nil {
		err = os.WriteFile(path+".json", raw, 0o600)
	}
	return t, err
}

// evict removes all databases of opened artifacts but the newest.
func (r *Results) evict(keep int) {
	paths, _ := filepath.Glob(filepath.Join(r.dir, "*.duckdb"))
	made := map[string]int64{}
	for _, p := range paths {
		if info, err := os.Stat(p); err == nil {
			made[p] = info.ModTime().UnixNano()
		}
	}
	slices.SortFunc(paths, func(a, b string) int { return cmp.Compare(made[b], made[a]) })
	for _, p := range paths[min(keep, len(paths)):] {
		r.query.Forget(p)
		_ = os.Remove(p + ".json") // before the database, which it vouches for
		_ = os.Remove(p)
	}
}

func writeAll(path string, content io.Reader) error {
	f, err := os.OpenFile(path, os.O_CREATE|os.O_EXCL|os.O_WRONLY, 0o600)
	if err != nil {
		return err
	}
	_, err = io.Copy(f, content)
	return errors.Join(err, f.Close())
}
