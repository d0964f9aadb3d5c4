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

	"interlock/internal/artifact"
	"interlock/internal/catalog"
	"interlock/internal/event"
	"interlock/internal/fault"
	"interlock/internal/query"
	"interlock/internal/server"
	"interlock/internal/sqlpolicy"
)

// results keeps the rows of statements as artifacts, and reads artifacts that are
// tables page by page.
type results struct {
	catalog   *catalog.Catalog
	query     *query.Engine
	artifacts *artifact.Store
	dir       string // of files on their way, and of artifacts made readable
}

func newResults(s *system, dir string) *results {
	for _, pattern := range []string{"export-*", "open-*"} { // of a process that died
		left, _ := filepath.Glob(filepath.Join(dir, pattern))
		for _, path := range left {
			_ = os.Remove(path)
		}
	}
	return &results{s.catalog, s.query, s.artifacts, dir}
}

// Export implements server.Results. The same statement on the same data is the same
// artifact; the logical key is its thread too, so that another statement with equal
// rows keeps a lineage of its own.
func (r *results) Export(ctx context.Context, owner string, e server.Export) (string, error) {
	db, d, err := r.catalog.Database(ctx, e.Dataset)
	if err != nil {
		return "", err
	}
	decision, err := r.query.Check(ctx, db, e.SQL)
	if err != nil {
		return "", err
	}
	path := filepath.Join(r.dir, "export-"+rand.Text())
	defer os.Remove(path)
	rows, err := r.query.Export(ctx, query.Request{Database: db, SQL: e.SQL, User: owner}, query.Format(e.Format), path)
	if err != nil {
		return "", err
	}
	f, err := os.Open(path)
	if err != nil {
		return "", fmt.Errorf("reading an export: %w", err)
	}
	defer f.Close()
	lineage := &artifact.Lineage{Dataset: d.ID, Version: d.VersionHash, SQL: decision.SQL, Tables: []string{}, Rows: rows}
	for _, t := range decision.Touches {
		lineage.Tables = append(lineage.Tables, t.Table)
	}
	key := event.Hash([]byte("sql\x00" + decision.SQL + "\x00" + d.VersionHash + "\x00" + e.Format))[:16]
	made, err := r.artifacts.Put(ctx, artifact.Put{
		Name: d.ID, Type: e.Format, Producer: "sql", LogicalKey: key, Thread: "export " + key, Owner: owner, Lineage: lineage,
	}, f)
	return fmt.Sprintf("%s@%d", made.ID, made.Version), err
}

// A resultPage is some rows of an artifact.
type resultPage struct {
	Artifact string            `json:"artifact_id"`
	Columns  []query.Column    `json:"columns"`
	Rows     json.RawMessage   `json:"rows"`
	Offset   int               `json:"offset"`
	Total    int64             `json:"total_rows"`
	Lineage  *artifact.Lineage `json:"lineage,omitempty"`
}

// Rows implements server.Results.
func (r *results) Rows(ctx context.Context, owner, id string, offset, limit int) (any, error) {
	content, meta, err := r.artifacts.Open(ctx, owner, id)
	if err != nil {
		return nil, err
	}
	defer content.Close()
	t, err := r.open(ctx, content, meta)
	if err != nil {
		return nil, err
	}
	page, err := r.query.Preview(ctx, t.database(r.path(meta)), t.Table, offset, limit)
	if err != nil {
		return nil, err
	}
	return resultPage{id, t.Columns, page.Rows, offset, t.Rows, meta.Lineage}, nil
}

// A tableFile is an artifact that was made readable.
type tableFile struct{ query.TableReport }

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
	return f.Upload(ctx, catalog.Upload{Dataset: file.Dataset, Name: file.Name, Replace: file.Replace, Create: file.Create}, content)
}

func (f files) Delete(ctx context.Context, dataset, name string) error {
	return f.Discard(ctx, dataset, name)
}
