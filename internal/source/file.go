package source

import (
	"context"
	"crypto/sha256"
	"fmt"
	"os"
	"path/filepath"

	"interlock/internal/fault"
	"interlock/internal/query"
	"interlock/internal/schema"
	"interlock/internal/sqlpolicy"
)

// openFile imports a file into a database of the embedded engine, named after the
// file's path, size and time.
func openFile(ctx context.Context, c Config) (Source, error) {
	if c.Engine == nil || c.Dir == "" {
		return nil, fmt.Errorf("opening %s: files need an engine and a folder", c.URL)
	}
	path, err := filepath.Abs(c.URL)
	var info os.FileInfo
	if err == nil {
		info, err = os.Stat(path)
	}
	if err != nil || !info.Mode().IsRegular() {
		return nil, fault.Wrap(err, fault.SourceUnreadable, "there is no file %s", c.URL).Suggest("Check the path.")
	}
	sum := sha256.Sum256(fmt.Appendf(nil, "%s %d %d", path, info.Size(), info.ModTime().UnixNano()))
	target := filepath.Join(c.Dir, fmt.Sprintf("file-%x.duckdb", sum[:6]))
	const name = "data"
	report, err := c.Engine.Build(ctx, target, []query.Import{{Table: name, Files: []string{path}}}, nil)
	if err != nil {
		return nil, err
	}
	if len(report.Tables) != 1 {
		return nil, fmt.Errorf("importing %s: %d reports for one table", c.URL, len(report.Tables))
	}
	if why := report.Tables[0].Error; why != "" {
		return nil, fault.New(fault.SourceUnreadable, "%s cannot be read: %s", c.URL, why)
	}
	columns := report.Tables[0].Columns
	return NewTable(c.Engine, query.Database{Path: target, Tables: []sqlpolicy.Table{{Name: name, Columns: schema.Names(columns)}}}, name, columns), nil
}
