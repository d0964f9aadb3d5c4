package query

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"path/filepath"
	"strings"
	"time"

	duck "github.com/duckdb/duckdb-go-bindings"
)

// buildOrder tells a worker what to build.
type buildOrder struct {
	Out      string
	Scratch  string
	Threads  int
	MemoryMB int
	MaxBytes int64         // on disk
	MaxTime  time.Duration // of all imports
	Imports  []Import
}

// A builder makes tables of files, inside a worker.
type builder struct {
	order   buildOrder
	session *session
	each    Progress
	ends    time.Time // when the time of all imports is over
	copies  []string  // files of the worker's folder, of the table at hand
}

// build runs an order. Only what ends everything is an error; what is wrong with
// one table stands in its report.
func build(ctx context.Context, o buildOrder, each Progress) ([]byte, error) {
	in, err := openInstance(o.Out,
		option{"threads", fmt.Sprint(o.Threads)},
		option{"memory_limit", fmt.Sprintf("%dMB", o.MemoryMB)},
		option{"autoinstall_known_extensions", "false"},
		option{"autoload_known_extensions", "false"})
	if err != nil {
		return nil, err
	}
	defer in.close()
	b := &builder{order: o, each: each, ends: time.Now().Add(o.MaxTime)}
	if b.session, err = in.connect(); err != nil {
		return nil, err
	}
	defer b.session.close()
	if err := b.lock(); err != nil {
		return nil, err
	}
	var report Report
	planned := b.planImports(ctx)
	for i, im := range planned {
		t := b.table(ctx, im.Import, b.timeFor(len(planned)-i))
		t.From, t.Notes = im.from, append(im.notes, t.Notes...)
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		report.Tables = append(report.Tables, t)
	}
	if err := b.session.exec("CHECKPOINT"); err != nil {
		return nil, err
	}
	return json.Marshal(report)
}

// lock opens the files of the order to the engine, and nothing else.
func (b *builder) lock() error {
	var files []string
	for _, im := range b.order.Imports {
		for _, f := range im.Files {
			files = append(files, quoteText(f), quoteText(f+walSuffix))
		}
	}
	return b.session.exec(
		"SET temp_directory="+quoteText(b.order.Scratch),
		fmt.Sprintf("SET max_temp_directory_size='%dMB'", max(1, b.order.MaxBytes>>20)),
		"SET allow_community_extensions=false",
		"SET allow_persistent_secrets=false",
		"SET errors_as_json=true",
		"SET TimeZone='UTC'",
		"SET preserve_insertion_order=true",
		"SET enable_progress_bar=true",
		"SET enable_progress_bar_print=false",
		"SET allowed_directories=["+quoteText(b.order.Scratch)+"]",
		"SET allowed_paths=["+strings.Join(files, ", ")+"]",
		"SET enable_external_access=false",
		"SET lock_configuration=true")
}

// table makes one table, in the time that it may take.
func (b *builder) table(ctx context.Context, im Import, most time.Duration) TableReport {
	r := TableReport{Table: im.Table}
	b.each(im.Table, 0)
	watched, end := b.watch(ctx, most)
	err := b.load(watched, im, &r)
	if err == nil {
		err = b.measure(watched, im.Table, &r)
	}
	if full := end(); full != nil && ctx.Err() == nil {
		err = full
	}
	b.dropCopies()
	if err != nil {
		r = TableReport{Table: im.Table, Error: importError(err)}
		if err := b.session.exec("DROP TABLE IF EXISTS "+quoteName(im.Table), "CHECKPOINT"); err != nil {
			r.Error += " (and what was read of it could not be removed)"
		}
	}
	b.each(im.Table, r.Rows)
	return r
}

func (b *builder) load(ctx context.Context, im Import, r *TableReport) error {
	format := im.Format
	if format == "" {
		format = formatOf(im.Files[0])
	}
	switch format {
	case CSV:
		return b.loadCSV(ctx, im, r)
	case Array, NDJSON:
		return b.loadJSON(ctx, im, format, r)
	case Parquet:
		files, err := b.plainList(ctx, im.Files, ".parquet")
		if err != nil {
			return err
		}
		return b.create(ctx, im.Table, "SELECT * FROM read_parquet(["+files+"], union_by_name=true)")
	case Excel:
		return b.loadExcel(ctx, im, r)
	case DuckDB:
		return b.loadDuckDB(ctx, im)
	case Cells:
		return b.loadCells(ctx, im, r)
	}
	return fmt.Errorf("files of the format %q cannot be read", format)
}

// formatOf goes by the name of a file, compressed or not.
func formatOf(path string) Format {
	name := strings.ToLower(filepath.Base(path))
	for _, c := range []string{".gz", ".zst"} {
		name = strings.TrimSuffix(name, c)
	}
	switch filepath.Ext(name) {
	case ".json":
		return Array
	case ".ndjson", ".jsonl":
		return NDJSON
	case ".parquet", ".pq":
		return Parquet
	case ".xlsx", ".xlsm":
		return Excel
	case ".duckdb", ".db":
		return DuckDB
	}
	return CSV
}

// plainPath gives a name of a file that the engine takes as it is: stars and brackets
// would be a pattern to it, so a file with such a name is copied.
func (b *builder) plainPath(ctx context.Context, file, ext string) (string, error) {
	if !strings.ContainsAny(file, "*?[]{}") {
		return file, nil
	}
	return b.rewrite(ctx, file, nil, ext)
}

// plainList is plain for a list of literals.
func (b *builder) plainList(ctx context.Context, files []string, ext string) (string, error) {
	quoted := make([]string, len(files))
	for i, f := range files {
		name, err := b.plainPath(ctx, f, ext)
		if err != nil {
			return "", fmt.Errorf("reading %s: %w", filepath.Base(f), err)
		}
		quoted[i] = quoteText(name)
	}
	return strings.Join(quoted, ", "), nil
}

// create makes a table of a query, telling how far it is.
func (b *builder) create(ctx context.Context, table, sql string) error {
	ctx, cancel := context.WithCancel(ctx)
	done := make(chan struct{})
	go func() {
		defer close(done)
		tick := time.NewTicker(250 * time.Millisecond)
		defer tick.Stop()
		for {
			select {
			case <-ctx.Done():
				return
			case <-tick.C:
				at := duck.QueryProgress(b.session.conn)
				_, rows, _ := duck.QueryProgressTypeMembers(&at)
				b.each(table, int64(rows))
			}
		}
	}()
	err := b.run(ctx, fmt.Sprintf("CREATE TABLE %s AS %s", quoteName(table), sql))
	cancel()
	<-done
	return err
}

// run executes a statement to its end; ctx interrupts it.
func (b *builder) run(ctx context.Context, sql string) error {
	c, err := b.session.query(ctx, sql)
	if err != nil {
		return err
	}
	defer c.close()
	for {
		chunk, ok, err := c.next()
		if err != nil || !ok {
			return err
		}
		duck.DestroyDataChunk(&chunk)
	}
}

// measure reads back what a table became.
func (b *builder) measure(ctx context.Context, name string, r *TableReport) error {
	c, err := b.session.query(ctx, "SELECT * FROM "+quoteName(name)+" LIMIT 0")
	if err != nil {
		return err
	}
	r.Columns = describe(c, 0).columns
	c.close()
	r.Rows, err = b.queryNumber(ctx, "SELECT count(*) FROM "+quoteName(name))
	return err
}

// queryNumber gives the one BIGINT that a query answers.
func (b *builder) queryNumber(ctx context.Context, sql string, args ...string) (int64, error) {
	c, err := b.session.query(ctx, sql, args...)
	if err != nil {
		return 0, err
	}
	defer c.close()
	chunk, ok, err := c.next()
	if err != nil || !ok {
		return 0, cmp.Or(err, errNoAnswer)
	}
	defer duck.DestroyDataChunk(&chunk)
	return *(*int64)(duck.VectorGetData(duck.DataChunkGetVector(chunk, 0))), nil
}

// walSuffix names the file in which a database keeps what is not yet in its own.
const walSuffix = ".wal"

// loadDuckDB copies the rows of one base table out of somebody's database. Its
// views and macros are never asked.
func (b *builder) loadDuckDB(ctx context.Context, im Import) error {
	from := im.Options.From
	if from == "" {
		from = im.Table
	}
	name, err := b.plainPath(ctx, im.Files[0], ".duckdb")
	if err != nil {
		return fmt.Errorf("opening the database: %w", err)
	}
	if err := b.session.exec("ATTACH " + quoteText(name) + " AS foreign_data (READ_ONLY)"); err != nil {
		return err
	}
	defer func() { _ = b.session.exec("DETACH foreign_data") }()
	n, err := b.queryNumber(ctx, "SELECT count(*) FROM duckdb_tables() WHERE database_name = 'foreign_data' AND schema_name = 'main' AND NOT internal AND table_name = CAST($1 AS VARCHAR)", from)
	if err != nil {
		return err
	}
	if n == 0 {
		return fmt.Errorf("the database has no table %s", from)
	}
	return b.create(ctx, im.Table, "SELECT * FROM foreign_data.main."+quoteName(from))
}

// importError says why a table could not be made, without paths.
func importError(err error) string {
	if e, ok := errors.AsType[*engineErr](err); ok {
		message := e.Message
		if i := strings.Index(message, "\n\n"); i > 0 {
			message = message[:i]
		}
		return cleanMessage(message)
	}
	return cleanMessage(err.Error())
}
