package catalog

import (
	"bufio"
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"interlock/internal/fault"
	"interlock/internal/query"
	"interlock/internal/schema"
	"interlock/internal/source"
)

// Bounds of a result that is brought here whole.
const (
	exportRows  = 50_000_000
	exportBytes = 8 << 30
)

// Export writes the whole result of a statement on a dataset as a file. Remote rows come in as a stream.
func (c *Catalog) Export(ctx context.Context, id string, r query.Request, format query.Format, path string) (query.Exported, error) {
	d, db, err := c.statementTarget(ctx, id)
	if err != nil {
		return query.Exported{}, err
	}
	if r.Database = db; !d.remote() {
		return c.config.Engine.Export(ctx, r, format, path)
	}
	dir, err := os.MkdirTemp(c.config.Dir, ".import-*")
	if err != nil {
		return query.Exported{}, fmt.Errorf("making a folder for the result: %w", err)
	}
	defer os.RemoveAll(dir)
	fetched, err := c.fetch(ctx, d, r, dir)
	if err != nil {
		return query.Exported{}, err
	}
	return c.config.Engine.Export(ctx, fetched, format, path)
}

// fetch brings the result of a statement here and gives the request for it.
func (c *Catalog) fetch(ctx context.Context, d *dataset, r query.Request, dir string) (query.Request, error) {
	decision, err := c.config.Policy.Check(ctx, r.Database, r.SQL)
	if err != nil {
		return r, err
	}
	to, err := c.openRemote(ctx, d)
	if err != nil {
		return r, err
	}
	lines := filepath.Join(dir, "rows.ndjson")
	f, err := os.Create(lines)
	if err != nil {
		return r, fmt.Errorf("making a file for the result: %w", err)
	}
	defer f.Close()
	out := bufio.NewWriterSize(f, 1<<16)
	answer, err := to.run(ctx, r.User, decision, source.Limits{Rows: exportRows, Bytes: exportBytes, Timeout: importTimeout, To: out})
	if err != nil {
		return r, err
	}
	if answer.Limited {
		return r, fault.New(fault.TooLarge, "the result has more than %d rows or %d GB", exportRows, exportBytes>>30).Suggest("Ask for less: aggregate, or add conditions.")
	}
	some := ""
	if answer.Count == 0 { // a row that nobody asks for gives the file its columns
		some = " WHERE false"
		fmt.Fprint(out, "{}\n")
	}
	if err := out.Flush(); err != nil {
		return r, fmt.Errorf("writing the result: %w", err)
	}
	return c.storeFetched(ctx, engineColumns(answer.Columns), lines, filepath.Join(dir, "result.duckdb"), some)
}

// Rows makes a database of one table of rows that a statement gave, once for each key,
// so that later statements can name it. It is removed some time after its last use.
func (c *Catalog) Rows(ctx context.Context, key, name string, columns []schema.Column, rows json.RawMessage) (string, error) {
	sum := sha256.Sum256([]byte(key + "\x00" + name))
	path := filepath.Join(c.config.Dir, "rows-"+hex.EncodeToString(sum[:8])+".duckdb")
	c.touch(path)
	if _, err := os.Stat(path); err == nil {
		return path, nil
	}
	dir, err := os.MkdirTemp(c.config.Dir, ".import-*")
	if err != nil {
		return "", fmt.Errorf("making a folder for rows: %w", err)
	}
	defer os.RemoveAll(dir)
	var list []json.RawMessage
	if err := json.Unmarshal(rows, &list); err != nil {
		return "", fmt.Errorf("reading rows: %w", err)
	}
	var text bytes.Buffer
	for _, row := range list {
		text.Write(row)
		text.WriteByte('\n')
	}
	lines := filepath.Join(dir, "rows.ndjson")
	if err := os.WriteFile(lines, text.Bytes(), 0o600); err != nil {
		return "", fmt.Errorf("writing rows: %w", err)
	}
	imp := query.Import{Table: name, Format: query.Cells, Files: []string{lines}, Options: query.ImportOptions{Columns: columns}}
	report, err := c.config.Engine.Build(ctx, path, []query.Import{imp}, nil)
	if err == nil && report.Tables[0].Error != "" {
		err = errors.Join(fault.New(fault.SourceUnreadable, "the rows of %s cannot be a table: %s", name, report.Tables[0].Error), os.Remove(path))
	}
	return path, err
}

// storeFetched makes a table of fetched rows.
func (c *Catalog) storeFetched(ctx context.Context, columns []schema.Column, lines, path, some string) (query.Request, error) {
	imp := query.Import{Table: "result", Format: query.NDJSON, Files: []string{lines}, Options: query.ImportOptions{Types: map[string]string{}}}
	list := make([]string, len(columns))
	for i, col := range columns {
		name := fmt.Sprintf("c%d", i)
		imp.Options.Types[name] = col.Type.String()
		list[i] = name + " AS " + quoteName(col.Name)
	}
	report, err := c.config.Engine.Build(ctx, path, []query.Import{imp}, nil)
	if err == nil && report.Tables[0].Error != "" {
		err = fault.New(fault.SourceUnreadable, "the result cannot be stored: %s", report.Tables[0].Error)
	}
	if err != nil {
		return query.Request{}, err
	}
	made := schema.Table{Name: "result", Columns: report.Tables[0].Columns}
	return query.Request{Database: databaseOf(path, schema.Dataset{Tables: []schema.Table{made}}), SQL: "SELECT " + strings.Join(list, ", ") + " FROM result" + some, Timeout: importTimeout}, nil
}
