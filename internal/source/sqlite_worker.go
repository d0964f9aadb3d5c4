package source

import (
	"bufio"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/signal"
	"strings"
	"syscall"

	"modernc.org/libc"
	sqlite3 "modernc.org/sqlite/lib"

	"interlock/internal/dialect"
	"interlock/internal/sqlpolicy"
)

// sqliteWorkerArg is the argument that makes this binary a worker for SQLite files.
// Requests come in on descriptor 3, answers go out on descriptor 4.
const sqliteWorkerArg = "interlock-sqlite-worker"

// Main turns this process into the worker for SQLite files that it was started as,
// and never returns then; in any other process it does nothing. Call it in main, and
// in TestMain of tests that read SQLite files, after jail.Main.
func Main() {
	if len(os.Args) != 2 || os.Args[1] != sqliteWorkerArg {
		return
	}
	signal.Ignore(syscall.SIGXFSZ, syscall.SIGINT, syscall.SIGPIPE)
	w := &sqliteWorker{in: bufio.NewReaderSize(os.NewFile(3, "requests"), 64<<10), out: os.NewFile(4, "answers")}
	boundSQLiteHeap()
	for {
		kind, payload, err := readSQLite(w.in, w.buf)
		if err != nil || kind != sqliteAsk {
			os.Exit(0) // nobody wants more
		}
		w.buf = payload
		var order sqliteOrder
		if err = json.Unmarshal(payload, &order); err == nil {
			err = w.answer(order)
		}
		if err == nil {
			continue
		}
		e, ok := errors.AsType[*sqliteErr](err)
		if !ok {
			e = &sqliteErr{Code: sqlite3.SQLITE_IOERR, Message: err.Error(), Offset: -1}
		}
		if writeSQLiteJSON(w.out, sqliteFailed, e) != nil {
			os.Exit(1)
		}
	}
}

// sqliteHeap is what the library may allocate: then a statement fails, not the worker.
const sqliteHeap = 512 << 20

func boundSQLiteHeap() {
	tls := libc.NewTLS()
	defer tls.Close()
	args := libc.NewVaList(int32(1))
	defer libc.Xfree(tls, args)
	sqlite3.Xsqlite3_config(tls, sqlite3.SQLITE_CONFIG_MEMSTATUS, args) // or it counts nothing
	sqlite3.Xsqlite3_initialize(tls)
	sqlite3.Xsqlite3_hard_heap_limit64(tls, sqliteHeap)
}

// A sqliteWorker answers one request at a time. Each opens the file anew, so that what
// a file is read with depends on what it is at that moment, and nothing is locked in between.
type sqliteWorker struct {
	in    *bufio.Reader
	out   *os.File
	buf   []byte
	rows  []byte
	clone sqliteClone // of a file that cannot be read where it is
}

func (w *sqliteWorker) answer(o sqliteOrder) error {
	file, err := w.open(o.File)
	if err != nil {
		return err
	}
	defer file.conn.close()
	report := sqliteReport{}
	switch {
	case o.Table != "":
		report, err = file.conn.describe(o)
	case o.Allow != nil:
		report, err = w.runForeign(file.conn, o)
	default:
		var s *sqliteStmt
		file.conn.limit(sqlite3.SQLITE_LIMIT_LENGTH, sqliteMaxRow)
		if s, _, err = file.conn.prepare(o.SQL); err == nil {
			if err = s.bind(o.Args); err == nil {
				report, err = w.stream(s, o)
			}
			s.finalize()
		}
	}
	if err == nil || file.mode != sqliteInPlace {
		if changed := file.verify(); changed != nil {
			return changed
		}
	}
	if err != nil {
		return err
	}
	return writeSQLiteJSON(w.out, sqliteDone, report)
}

// Bounds of a statement of somebody's own, beside those of the policy.
var sqliteStatementLimits = map[int32]int32{
	sqlite3.SQLITE_LIMIT_LENGTH:              16 << 20,
	sqlite3.SQLITE_LIMIT_SQL_LENGTH:          1 << 20,
	sqlite3.SQLITE_LIMIT_EXPR_DEPTH:          200,
	sqlite3.SQLITE_LIMIT_COMPOUND_SELECT:     100,
	sqlite3.SQLITE_LIMIT_VDBE_OP:             250_000,
	sqlite3.SQLITE_LIMIT_FUNCTION_ARG:        100,
	sqlite3.SQLITE_LIMIT_LIKE_PATTERN_LENGTH: 4096,
	sqlite3.SQLITE_LIMIT_VARIABLE_NUMBER:     0,
	sqlite3.SQLITE_LIMIT_TRIGGER_DEPTH:       1,
}

// runForeign judges a user's statement and runs the statement that SQLite prepared under
// the guard.
func (w *sqliteWorker) runForeign(c *sqliteConn, o sqliteOrder) (sqliteReport, error) {
	for id, most := range sqliteStatementLimits {
		c.limit(id, most)
	}
	// A quoted name that is no column is a mistake here, never a text.
	if err := c.option(sqlite3.SQLITE_DBCONFIG_DQS_DML, 0); err != nil {
		return sqliteReport{}, err
	}
	if o.Allow.Dataset != "" {
		if err := c.rename(o.Allow.Dataset); err != nil {
			return sqliteReport{}, err
		}
	}
	if err := c.exec("BEGIN"); err != nil { // the schema that is looked at is the one that is read
		return sqliteReport{}, err
	}
	g, err := c.guard(*o.Allow)
	if err != nil {
		return sqliteReport{}, err
	}
	s, err := c.judge(g, o.SQL)
	if err != nil {
		return sqliteReport{}, err
	}
	defer s.finalize()
	if o.Check {
		return sqliteReport{Reading: g.result(*o.Allow)}, nil
	}
	report, err := w.stream(s, o)
	if g.refused != nil {
		err = g.refused
	}
	return report, err
}

// stream sends the rows of a statement, up to the bounds. A cell counts at least one
// byte, so that rows of nothing have an end too.
func (w *sqliteWorker) stream(s *sqliteStmt, o sqliteOrder) (report sqliteReport, err error) {
	columns := make([]sqliteColumn, s.width())
	for i := range columns {
		columns[i] = sqliteColumn{Name: s.columnName(i), Declared: strings.ToUpper(s.declared(i))}
	}
	if err := writeSQLiteJSON(w.out, sqliteHead, columns); err != nil {
		return report, err
	}
	w.rows = w.rows[:0]
	values := make([]sqliteValue, len(columns))
	for {
		more, err := s.step()
		if err != nil {
			return report, err
		}
		if !more {
			break
		}
		size := int64(0)
		for i := range values {
			values[i] = s.value(i)
			size += int64(len(values[i].Bytes)) + 1
		}
		if size > min(o.MaxRow, sqliteMaxRow) {
			return report, &sqliteErr{Code: sqliteCodeRow, Message: fmt.Sprintf("row %d has %d bytes, more than the %d that a row may have", report.Rows+1, size, min(o.MaxRow, sqliteMaxRow)), Offset: -1}
		}
		if report.Rows >= o.MaxRows || report.Bytes+size > o.MaxBytes {
			report.Limited = true
			break
		}
		report.Rows, report.Bytes = report.Rows+1, report.Bytes+size
		if len(w.rows) > 0 && int64(len(w.rows))+size > sqliteFrame {
			if err := w.flush(); err != nil {
				return report, err
			}
		}
		for _, v := range values {
			w.rows = v.appendTo(w.rows)
		}
	}
	return report, w.flush()
}

func (w *sqliteWorker) flush() error {
	if len(w.rows) == 0 {
		return nil
	}
	err := writeSQLite(w.out, sqliteRows, w.rows)
	if w.rows = w.rows[:0]; cap(w.rows) > 1<<20 {
		w.rows = nil
	}
	return err
}

// describe looks at every value of a table: the declared types of SQLite bind nobody.
// It gives up where the table would be too large to be copied.
func (c *sqliteConn) describe(o sqliteOrder) (report sqliteReport, err error) {
	c.limit(sqlite3.SQLITE_LIMIT_LENGTH, sqliteMaxRow)
	info, _, err := c.prepare(`SELECT x.name, upper(x.type), x.pk FROM pragma_table_list l, pragma_table_xinfo(l.name) x
		WHERE l.schema = 'main' AND lower(l.name) = lower(?1) AND x.hidden <> 1 ORDER BY x.cid`)
	if err != nil {
		return report, err
	}
	defer info.finalize()
	if err := info.bind([]sqliteArg{{Text: o.Table}}); err != nil {
		return report, err
	}
	var list []string
	for {
		more, err := info.step()
		if err != nil {
			return report, err
		}
		if !more {
			break
		}
		col := sqliteColumn{Name: string(info.value(0).Bytes), Declared: string(info.value(1).Bytes), Key: int(info.value(2).Int)}
		report.Columns = append(report.Columns, col)
		list = append(list, dialect.SQLite.Quote(col.Name))
	}
	if len(list) == 0 {
		return report, nil
	}
	s, _, err := c.prepare("SELECT " + strings.Join(list, ", ") + " FROM " + dialect.SQLite.Quote(o.Table))
	if err != nil {
		return report, err
	}
	defer s.finalize()
	look := make([]sqliteLook, len(list))
	for i := range look {
		look[i] = lookFor(report.Columns[i].Declared)
	}
	for {
		more, err := s.step()
		if err != nil || !more {
			return report, err
		}
		report.Rows++
		for i := range look {
			v := s.value(i)
			report.Bytes += int64(len(v.Bytes)) + 1
			report.Columns[i].Seen.add(v, look[i])
		}
		if report.Bytes > o.MaxBytes {
			report.Limited = true
			return report, nil
		}
	}
}

// sqliteRuleMessage takes a refusal of a worker apart.
func (e *sqliteErr) rule() (rule, about string) {
	rule, about, _ = strings.Cut(e.Message, " ")
	if rule == "" {
		rule = sqlpolicy.RuleUnknown
	}
	return rule, about
}
