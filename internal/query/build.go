package query

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"interlock/internal/fault"
	"interlock/internal/schema"
	"interlock/internal/sqlpolicy"
)

// A Format names how rows are laid out in a file.
type Format string

// The formats. Files are read in all of them but Arrow, results are exported in all
// of them but DuckDB.
const (
	CSV     Format = "csv" // and TSV: any delimiter
	NDJSON  Format = "ndjson"
	Array   Format = "json" // one array of objects, or objects in a row
	Parquet Format = "parquet"
	Excel   Format = "xlsx"
	Arrow   Format = "arrow"
	DuckDB  Format = "duckdb"
	Cells   Format = "cells" // rows that this program wrote: a JSON array of cells to a line; read only
)

// An Import is one table to be made of files of one shape.
type Import struct {
	Table   string
	Files   []string
	Format  Format // "" = by the name of the first file
	Options ImportOptions
}

// ImportOptions say what cannot be seen, or is seen wrongly, in the files. Zero
// fields are found out.
type ImportOptions struct {
	Delimiter string            `json:"delimiter,omitempty"`
	Quote     string            `json:"quote,omitempty"`
	Header    *bool             `json:"header,omitempty"`
	Encoding  string            `json:"encoding,omitempty"` // an IANA name, such as windows-1252
	Types     map[string]string `json:"types,omitempty"`    // column name to the engine's type
	Sheet     string            `json:"sheet,omitempty"`    // of a workbook; "" = the first with rows
	From      string            `json:"from,omitempty"`     // table inside a DuckDB file; "" = the same name
	Columns   []schema.Column   `json:"columns,omitempty"`  // of Cells: their names and types
	// KeepTotals keeps rows that only add up others, which are left out otherwise.
	KeepTotals bool `json:"keep_totals,omitempty" yaml:"keep_totals"`
}

// A Report says what became of each import.
type Report struct {
	Tables []TableReport `json:"tables"`
}

// Database is what was built at path, as statements see it.
func (r Report) Database(path string) Database {
	db := Database{Path: path}
	for _, t := range r.Tables {
		if t.Error != "" {
			continue
		}
		db.Tables = append(db.Tables, sqlpolicy.Table{Name: t.Table, Columns: schema.Names(t.Columns)})
	}
	return db
}

// A TableReport is one table of a built database.
type TableReport struct {
	Table    string          `json:"table"`
	From     string          `json:"from,omitempty"` // the import it came of, if it has another name: a further sheet
	Columns  []schema.Column `json:"columns,omitempty"`
	Rows     int64           `json:"rows"`
	Rejected int64           `json:"rejected,omitempty"` // rows that could not be read
	Notes    []schema.Note   `json:"notes,omitempty"`
	Error    string          `json:"error,omitempty"` // why there is no such table
}

// Progress is called while a database is built, from one goroutine.
type Progress func(table string, rows int64)

// Build makes a new database file of other files. They are read in a confined
// worker: the only process that can open them. The file appears at path when it is
// complete; a table that cannot be read is reported and the others are kept. If
// none can be read, Build fails with the report in the fault's details.
func (e *Engine) Build(ctx context.Context, path string, imports []Import, each Progress) (Report, error) {
	if len(imports) == 0 {
		return Report{}, fault.New(fault.BadRequest, "There is nothing to import.")
	}
	dir, err := os.MkdirTemp(filepath.Dir(path), ".build-*")
	if err != nil {
		return Report{}, fmt.Errorf("making a folder for the new database: %w", err)
	}
	defer os.RemoveAll(dir)
	order, err := e.buildOrder(filepath.Join(dir, "new.duckdb"), imports)
	if err != nil {
		return Report{}, err
	}
	report, err := e.buildIn(ctx, dir, order, each)
	if err != nil {
		return Report{}, faultOf(ctx, "", err)
	}
	if !slices.ContainsFunc(report.Tables, func(t TableReport) bool { return t.Error == "" }) {
		return report, fault.New(fault.SourceUnreadable, "%s", report.Tables[0].Error).With(report)
	}
	if err := os.Rename(order.Out, path); err != nil {
		return report, fmt.Errorf("putting the new database in its place: %w", err)
	}
	return report, nil
}

func (e *Engine) buildOrder(out string, imports []Import) (buildOrder, error) {
	out, err := filepath.Abs(out)
	if err != nil {
		return buildOrder{}, fmt.Errorf("finding the new database: %w", err)
	}
	o := buildOrder{Out: out, Threads: e.config.Threads, MemoryMB: e.config.MemoryMB, MaxBytes: e.config.MaxImport, MaxTime: e.config.ImportTime}
	seen := map[string]bool{}
	for _, im := range imports {
		if im.Table == "" || len(im.Files) == 0 {
			return o, fault.New(fault.BadRequest, "An import needs a table name and files.")
		}
		if name := strings.ToLower(im.Table); seen[name] {
			return o, fault.New(fault.BadRequest, "Two imports make the table %s.", im.Table)
		} else {
			seen[name] = true
		}
		files := make([]string, len(im.Files))
		for i, f := range im.Files {
			if files[i], err = realPath(f); err != nil {
				return o, fault.Wrap(err, fault.SourceUnreadable, "The file %s cannot be read.", filepath.Base(f))
			}
		}
		im.Files = files
		o.Imports = append(o.Imports, im)
	}
	return o, nil
}

// realPath is the path without links, because rights are given to what links lead to.
func realPath(path string) (string, error) {
	abs, err := filepath.Abs(path)
	if err != nil {
		return "", err
	}
	return filepath.EvalSymlinks(abs)
}

// importGrace is what a worker may take beyond its time: to end a table, and to write.
const importGrace = time.Minute

// buildIn runs the order in a worker that may read the files and write into dir.
func (e *Engine) buildIn(ctx context.Context, dir string, order buildOrder, each Progress) (Report, error) {
	var report Report
	select {
	case e.builds <- struct{}{}:
		defer func() { <-e.builds }()
	case <-ctx.Done():
		return report, ctx.Err()
	}
	ctx, cancel := context.WithTimeout(ctx, e.config.ImportTime+importGrace) // behind the clock in the worker
	defer cancel()
	p, err := startProcess(e.dir, job{
		read:        readable(order.Imports),
		write:       []string{dir},
		memoryBytes: addressSpace(2 * e.config.MemoryMB),
		fileBytes:   uint64(2*order.MaxBytes) + 64<<20, // behind the watch in the worker, which ends one table and not all
		unconfined:  e.config.Unconfined,
	})
	if err != nil {
		return report, err
	}
	defer p.stop()
	order.Scratch = p.dir
	done, err := p.askJSON(ctx, askBuild, order, func(f frame) error {
		var at progress
		if err := json.Unmarshal(f.payload, &at); err != nil {
			return fmt.Errorf("reading from a worker: %w", err)
		}
		if each != nil {
			each(at.Table, at.Rows)
		}
		return nil
	})
	if err != nil {
		return report, err
	}
	return report, json.Unmarshal(done, &report)
}

// manyFiles is when rights are given to folders instead of files.
const manyFiles = 400

func readable(imports []Import) []string {
	var files []string
	for _, im := range imports {
		for _, f := range im.Files {
			files = append(files, f)
			if _, err := os.Stat(f + walSuffix); err == nil {
				files = append(files, f+walSuffix)
			}
		}
	}
	if len(files) > manyFiles {
		for i, f := range files {
			files[i] = filepath.Dir(f)
		}
	}
	slices.Sort(files)
	return slices.Compact(files)
}
