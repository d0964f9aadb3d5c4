package main

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
	"interlock/internal/event"
	"interlock/internal/fault"
	"interlock/internal/query"
	"interlock/internal/queryplan"
	"interlock/internal/schema"
	"interlock/internal/server"
	"interlock/internal/sqlpolicy"
	"interlock/internal/store"
)

// results keeps the rows of statements as artifacts, and reads artifacts that are
// tables page by page.
type results struct {
	catalog   *catalog.Catalog
	query     *query.Engine
	artifacts *artifact.Store
	store     store.Store
	dir       string // of files on their way, and of artifacts made readable
}

func newResults(s *system, dir string) *results {
	for _, pattern := range []string{"export-*", "open-*"} { // of a process that died
		left, _ := filepath.Glob(filepath.Join(dir, pattern))
		for _, path := range left {
			_ = os.Remove(path)
		}
	}
	return &results{s.catalog, s.query, s.artifacts, s.store, dir}
}

// Export implements server.Results.
func (r *results) Export(ctx context.Context, owner string, e server.Export) (string, error) {
	p, d, err := r.today(ctx, e.Dataset)
	if err != nil {
		return "", err
	}
	return r.keep(ctx, owner, p, query.Format(e.Format), artifact.Lineage{Dataset: d.ID, Version: d.VersionHash, SQL: e.SQL})
}

// A place is where statements run: in a version that does not change, or in the
// database where the rows of a dataset stay.
type place struct {
	version query.Database
	live    string // the dataset; "" for a version
}

// today gives a dataset as it is now.
func (r *results) today(ctx context.Context, id string) (place, catalog.Dataset, error) {
	d, err := r.catalog.Describe(ctx, id)
	if err != nil || d.Dialect != "" {
		return place{live: id}, d, err
	}
	db, d, err := r.catalog.Database(ctx, id)
	return place{version: db}, d, err
}

func (r *results) check(ctx context.Context, p place, sql string) (sqlpolicy.Decision, error) {
	if p.live != "" {
		return r.catalog.Check(ctx, p.live, sql)
	}
	return r.query.Check(ctx, p.version, sql)
}

func (r *results) write(ctx context.Context, p place, q query.Request, format query.Format, path string) (query.Exported, error) {
	if p.live != "" {
		return r.catalog.Export(ctx, p.live, q, format, path)
	}
	q.Database = p.version
	return r.query.Export(ctx, q, format, path)
}

// keep stores all rows of the lineage's statement. The same statement on the same data
// is the same artifact, and is not run again unless another run of it may differ. The
// logical key is its thread too, so that another statement with equal rows keeps a
// lineage of its own.
func (r *results) keep(ctx context.Context, owner string, at place, format query.Format, l artifact.Lineage) (string, error) {
	decision, err := r.check(ctx, at, l.SQL)
	if err != nil {
		return "", err
	}
	given := l.SQL
	l.SQL, l.Volatile, l.Tables, l.Columns = decision.SQL, decision.Volatile || at.live != "", []string{}, map[string][]string{}
	for _, t := range decision.Touches {
		l.Tables = append(l.Tables, t.Table)
		l.Columns[t.Table] = t.Columns
	}
	key := event.Hash([]byte(strings.Join([]string{"sql", l.SQL, l.Version, string(format), l.Run, l.Call}, "\x00")))[:16]
	p := artifact.Put{
		Name: strings.Join(append([]string{l.Dataset}, l.Tables[:min(2, len(l.Tables))]...), "-"), Type: string(format), Producer: "sql",
		LogicalKey: key, Thread: "export " + key, Owner: owner, Call: l.Call,
	}
	if !l.Volatile {
		if kept, err := r.artifacts.List(ctx, owner, p.Thread); err == nil && len(kept) > 0 {
			return fmt.Sprintf("%s@%d", kept[0].ID, kept[0].Version), nil
		}
	}
	path := filepath.Join(r.dir, "export-"+rand.Text())
	defer os.Remove(path)
	l.At = time.Now().UTC()
	written, err := r.write(ctx, at, query.Request{SQL: given, User: owner}, format, path)
	if err != nil {
		return "", err
	}
	l.Rows, l.Notes = written.Rows, written.Notes
	f, err := os.Open(path)
	if err != nil {
		return "", fmt.Errorf("reading an export: %w", err)
	}
	defer f.Close()
	p.Lineage = &l
	made, err := r.artifacts.Put(ctx, p, f)
	return fmt.Sprintf("%s@%d", made.ID, made.Version), err
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
func (r *results) Rows(ctx context.Context, owner, id string, p server.Page) (any, error) {
	content, meta, err := r.artifacts.Open(ctx, owner, id)
	if err != nil {
		return nil, err
	}
	defer content.Close()
	t, err := r.open(ctx, content, meta)
	if err != nil {
		return nil, err
	}
	order, err := t.order(p)
	if err != nil {
		return nil, err
	}
	q := query.Request{Database: t.database(r.path(meta)), SQL: "SELECT * FROM " + queryplan.Ident(t.Table), MaxRows: p.Limit, User: owner}
	total := t.Rows
	if p.Find != "" {
		q.SQL, q.Args = q.SQL+t.having(), []string{p.Find}
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
			first = queryplan.Ident(c.Name)
		} else {
			rest = append(rest, queryplan.Ident(c.Name))
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

// having is the clause that leaves the rows with a text in some column.
func (t tableFile) having() string {
	cells := make([]string, len(t.Columns))
	for i, c := range t.Columns {
		cells[i] = queryplan.Ident(c.Name) + "::VARCHAR"
	}
	return " WHERE contains(lower(concat_ws(chr(10), " + strings.Join(cells, ", ") + ")), lower($1))"
}

func (t tableFile) database(path string) query.Database {
	allowed := sqlpolicy.Table{Name: t.Table}
	for _, c := range t.Columns {
		allowed.Columns = append(allowed.Columns, c.Name)
	}
	return query.Database{Path: path, Tables: []sqlpolicy.Table{allowed}}
}

func (r *results) path(meta artifact.Meta) string {
	return filepath.Join(r.dir, meta.Hash+"-"+meta.Type+".duckdb")
}

// maxOpened bounds the artifacts that are kept readable.
const maxOpened = 32

// open makes a content readable, once. The document beside the database is written
// last: where it is, the database is whole.
func (r *results) open(ctx context.Context, content io.Reader, meta artifact.Meta) (t tableFile, err error) {
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
	r.forget(maxOpened - 1)
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

// forget removes all but the newest that were opened.
func (r *results) forget(keep int) {
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

// files is the catalog as the server stores files in it.
type files struct{ *catalog.Catalog }

func (f files) Store(ctx context.Context, file server.File, content io.Reader) (any, error) {
	return f.Upload(ctx, catalog.Upload{Dataset: file.Dataset, Name: file.Name, Replace: file.Replace, Create: file.Create, User: file.User}, content)
}

func (f files) Problems(ctx context.Context, dataset string) ([]server.FileProblem, error) {
	problems, err := f.Catalog.Problems(ctx, dataset)
	out := make([]server.FileProblem, len(problems))
	for i, p := range problems {
		out[i] = server.FileProblem{File: p.Path, Message: p.Message}
	}
	return out, err
}

func (f files) Delete(ctx context.Context, file server.File) error {
	return f.Discard(ctx, file.Dataset, file.Name, file.User)
}
