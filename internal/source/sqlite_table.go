package source

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"math"
	"os"
	"slices"
	"time"

	sqlite3 "modernc.org/sqlite/lib"

	"interlock/internal/dialect"
	"interlock/internal/fault"
	"interlock/internal/schema"
)

// A sqliteTable is a table or a view of a file, read by workers.
type sqliteTable struct {
	config Config
	pool   *SQLitePool
	own    bool // the pool ends with the table
	view   bool // known once the table is described
}

// sqliteSource finds the pool of a configuration: its own if it names none.
func sqliteSource(c Config) (*sqliteTable, error) {
	if _, err := os.Stat(c.path()); err != nil {
		return nil, c.sqliteFault(context.Background(), os.ErrNotExist, "opening")
	}
	if c.SQLite != nil {
		return &sqliteTable{config: c, pool: c.SQLite}, nil
	}
	return &sqliteTable{config: c, pool: NewSQLitePool(c.Dir), own: true}, nil
}

func openSQLite(_ context.Context, c Config) (Source, error) {
	t, err := sqliteSource(c)
	if err != nil {
		return nil, err
	}
	return newDatabaseTable(dialect.SQLite, t), nil
}

func connectSQLite(_ context.Context, c Config) (Remote, error) {
	t, err := sqliteSource(c)
	if err != nil {
		return nil, err
	}
	return &sqliteRemote{t}, nil
}

func (t *sqliteTable) Close() error {
	if t.own {
		return t.pool.Close()
	}
	return nil
}

// sqliteViewTime bounds what is read of a view, whose rows may have no end; those of a
// table have that of its file.
const sqliteViewTime = time.Minute

// ask reads under the time of a statement.
func (t *sqliteTable) ask(ctx context.Context, o sqliteOrder, doing string, each func([]sqliteValue) error) (sqliteReport, error) {
	limit := t.config.Timeout
	if t.view {
		limit = min(limit, sqliteViewTime, t.config.Budget.viewTime())
		defer t.config.Budget.spendTime(time.Now())
	}
	bounded, cancel := context.WithTimeout(ctx, limit)
	defer cancel()
	o.File = t.config.path()
	report, err := t.pool.ask(bounded, o, nil, each)
	if err != nil && !errors.Is(err, errStopped) {
		return report, t.config.sqliteFault(ctx, err, doing)
	}
	return report, err
}

// isTable says that the rows are in the file, not made by a view.
func (t *sqliteTable) isTable(ctx context.Context) bool {
	n := int64(0)
	_, err := t.list(ctx, `SELECT count(*) FROM sqlite_schema WHERE type = 'table' AND lower(name) = lower(?)`, []any{t.config.Table}, "describing", func(row []sqliteValue) { n = row[0].Int })
	return err == nil && n > 0
}

// list runs a statement of ours about the schema.
func (t *sqliteTable) list(ctx context.Context, text string, args []any, doing string, each func([]sqliteValue)) (sqliteReport, error) {
	o := sqliteOrder{File: t.config.path(), SQL: text, Args: sqliteArgs(args), MaxRows: 100_000, MaxBytes: 64 << 20, MaxRow: 1 << 20}
	bounded, cancel := context.WithTimeout(ctx, min(t.config.Timeout, sqliteViewTime))
	defer cancel()
	report, err := t.pool.ask(bounded, o, nil, func(row []sqliteValue) error { each(row); return nil })
	if err != nil {
		err = t.config.sqliteFault(ctx, err, doing)
	}
	return report, err
}

func (t *sqliteTable) describe(ctx context.Context) (described, error) {
	t.view = !t.isTable(ctx)
	report, err := t.ask(ctx, sqliteOrder{Table: t.config.Table, MaxBytes: t.config.Budget.orDefault(t.config).bytesLeft(t.view)}, "describing", nil)
	if err != nil {
		return described{}, err
	}
	if report.Limited {
		return described{}, t.tooLarge(report.Bytes)
	}
	if len(report.Columns) == 0 {
		return described{}, fault.New(fault.SourceUnreadable, "there is no table %s", t.config.displayName()).Suggest("List the tables of the file.")
	}
	d := described{table: []string{t.config.Table}}
	for i, c := range report.Columns {
		kind := c.Seen.columnType(c.Declared)
		d.columns = append(d.columns, schema.Column{Name: c.Name, Type: kind, Native: c.Declared, Note: report.Columns[i].note(kind)})
	}
	keyed := slices.DeleteFunc(report.Columns, func(c sqliteColumn) bool { return c.Key == 0 })
	slices.SortFunc(keyed, func(a, b sqliteColumn) int { return a.Key - b.Key })
	for _, c := range keyed {
		d.key = append(d.key, c.Name)
	}
	return d, nil
}

func (t *sqliteTable) count(ctx context.Context, stmt Statement) (int64, error) {
	var n int64
	o := sqliteOrder{SQL: stmt.Text, Args: sqliteArgs(stmt.Args), MaxRows: 1, MaxBytes: 1024, MaxRow: 1024}
	_, err := t.ask(ctx, o, "counting rows of", func(row []sqliteValue) error { n = row[0].Int; return nil })
	return n, err
}

func (t *sqliteTable) readRows(ctx context.Context, stmt Statement, columns []schema.Column, yield func(*Batch, error) bool) {
	batch, count := newBatch(columns), int64(0)
	budget := t.config.Budget.orDefault(t.config)
	o := sqliteOrder{SQL: stmt.Text, Args: sqliteArgs(stmt.Args), MaxRows: math.MaxInt64, MaxBytes: budget.bytesLeft(t.view), MaxRow: sqliteMaxRow}
	report, err := t.ask(ctx, o, "reading", func(row []sqliteValue) error {
		count++
		for i, v := range row {
			if err := batch.putSQLite(&batch.vectors[i], v); err != nil {
				return &cellError{columns[i].Name, count, err}
			}
		}
		if batch.endRow(); batch.full() {
			if !yield(batch, nil) {
				return errStopped
			}
			batch.reset()
		}
		return nil
	})
	budget.spendBytes(t.view, report.Bytes)
	switch {
	case errors.Is(err, errStopped):
		return
	case err == nil && report.Limited:
		err = t.tooLarge(o.MaxBytes)
	case err == nil && batch.Rows > 0:
		yield(batch, nil)
	}
	if err != nil {
		yield(nil, err)
	}
}

func (t *sqliteTable) tooLarge(bytes int64) error {
	kind := map[bool]string{true: "view", false: "table"}[t.view]
	return fault.New(fault.TooLarge, "the %s %s gives more than %d MB, which is more than a file of its size may", kind, t.config.displayName(), bytes>>20).
		Suggest("See whether the view ever ends, or leave it out.")
}

// putSQLite stores a cell in a column whose type every value of it survives.
func (b *Batch) putSQLite(v *vector, x sqliteValue) error {
	switch kind := v.column.Type.Kind; {
	case x.Kind == sqliteNull:
		v.putNull()
	case x.Kind == sqliteInt && (kind == schema.Int || kind == schema.Bool):
		v.putInt(x.Int)
	case x.Kind == sqliteInt && kind == schema.Float:
		v.putFloat(float64(x.Int))
	case x.Kind == sqliteReal && kind == schema.Float:
		v.putFloat(x.Real)
	case x.Kind == sqliteReal && kind == schema.Decimal:
		return b.putAny(v, x.Real)
	case kind == schema.Text && x.Kind != sqliteText:
		b.putBytes(v, x.text(nil))
	case x.Kind == sqliteBlob && kind == schema.Bytes, x.Kind == sqliteText && kind == schema.Text:
		b.putBytes(v, x.Bytes)
	default:
		return b.putText(v, x.text(nil))
	}
	return nil
}

func sqliteTables(ctx context.Context, c Config) (names []TableName, err error) {
	t, err := sqliteSource(c)
	if err != nil {
		return nil, err
	}
	defer t.Close()
	_, err = t.list(ctx, `SELECT name FROM sqlite_schema WHERE type IN ('table', 'view') AND name NOT LIKE 'sqlite\_%' ESCAPE '\'
		AND coalesce(sql, '') NOT LIKE 'CREATE VIRTUAL%' ORDER BY 1`, nil, "listing the tables of", func(row []sqliteValue) {
		names = append(names, TableName{Name: string(row[0].Bytes)})
	})
	return names, err
}

func sqliteKeys(ctx context.Context, c Config) (keys []schema.Relation, err error) {
	t, err := sqliteSource(c)
	if err != nil {
		return nil, err
	}
	defer t.Close()
	_, err = t.list(ctx, `SELECT m.name, f."from", f."table", coalesce(f."to", '') FROM sqlite_master m, pragma_foreign_key_list(m.name) f
		WHERE m.type = 'table' AND (SELECT count(*) FROM pragma_foreign_key_list(m.name) g WHERE g.id = f.id) = 1 ORDER BY m.name, f.id`, nil, "reading the keys of", func(row []sqliteValue) {
		keys = append(keys, schema.Relation{Table: string(row[0].Bytes), Column: string(row[1].Bytes), RefTable: string(row[2].Bytes), RefColumn: string(row[3].Bytes)})
	})
	return keys, err
}

// sqliteFault turns what a worker reports into a fault that names the place.
func (c Config) sqliteFault(ctx context.Context, err error, doing string) error {
	return c.withoutPlaces(c.sqliteFaultWithPlaces(ctx, err, doing))
}

func (c Config) sqliteFaultWithPlaces(ctx context.Context, err error, doing string) error {
	if errors.Is(err, os.ErrNotExist) {
		return fault.Wrap(err, fault.SourceUnreadable, "there is no SQLite file at %s", cmp.Or(c.Name, c.path())).Suggest("Write it like sqlite:/path/to/file.db.")
	}
	if errors.Is(err, errSQLiteDied) {
		return fault.Wrap(err, fault.QueryMemory, "%s %s: its reader gave up, most likely for want of memory", doing, c.displayName())
	}
	e, ok := errors.AsType[*sqliteErr](err)
	if !ok {
		return c.driverFault(ctx, err, doing)
	}
	unreadable := func(advice, format string, args ...any) error {
		return fault.Wrap(err, fault.SourceUnreadable, "%s %s: %s", doing, c.displayName(), fmt.Sprintf(format, args...)).Suggest("%s", advice)
	}
	switch e.primary() {
	case sqliteCodeEmpty:
		return unreadable("Choose another file.", "the file is empty")
	case sqliteCodeChanged:
		return unreadable("Try again when nobody writes to it.", "%s", e.Message)
	case sqliteCodeRow, sqlite3.SQLITE_TOOBIG:
		if doing == "querying" {
			return fault.Wrap(err, fault.SQLError, "%s", e.Message).Suggest("Ask for smaller values.")
		}
		return fault.Wrap(err, fault.TooLarge, "%s %s: %s", doing, c.displayName(), e.Message)
	case sqlite3.SQLITE_NOTADB:
		return unreadable("Check that it is an SQLite database without encryption.", "the file is no SQLite database, or it is encrypted")
	case sqlite3.SQLITE_CORRUPT:
		return unreadable("Have SQLite check it (PRAGMA integrity_check) and restore it from a copy.", "the file is damaged: %s", e.Message)
	case sqlite3.SQLITE_BUSY, sqlite3.SQLITE_LOCKED:
		return unreadable("Try again when the other program is done.", "another program is writing to the file")
	case sqlite3.SQLITE_NOMEM:
		return fault.Wrap(err, fault.QueryMemory, "%s %s needs more memory than it may use", doing, c.displayName())
	case sqlite3.SQLITE_FULL, sqlite3.SQLITE_IOERR:
		if doing == "querying" {
			return fault.Wrap(err, fault.QueryMemory, "%s %s needs more room than it may use: %s", doing, c.displayName(), e.Message)
		}
	case sqlite3.SQLITE_ERROR, sqlite3.SQLITE_MISMATCH, sqlite3.SQLITE_RANGE:
		if doing == "querying" {
			return fault.Wrap(err, fault.SQLError, "%s", e.Message)
		}
	}
	return unreadable("Check the file with SQLite's own program.", "%s", e.Message)
}
