package source

import (
	"fmt"
	"unsafe"

	"modernc.org/libc"
	"modernc.org/libc/sys/types"
	sqlite3 "modernc.org/sqlite/lib"
)

// A sqliteConn is a connection of the SQLite library itself: its database/sql driver
// can set no authorizer. It is used in workers only, by one goroutine.
type sqliteConn struct {
	tls  *libc.TLS
	db   uintptr
	keep []uintptr // texts that the library refers to for as long as the connection lives
}

// A sqliteErr is what the library reports, as it travels from a worker.
type sqliteErr struct {
	Code    int    // SQLite's extended code, or one of ours, which are negative
	Message string //
	Offset  int    // byte in the statement, -1 if unknown
}

func (e *sqliteErr) Error() string { return fmt.Sprintf("%s (%d)", e.Message, e.Code) }

// primary is the code without its extension.
func (e *sqliteErr) primary() int {
	if e.Code < 0 {
		return e.Code
	}
	return e.Code & 0xff
}

// dialSQLite opens a file. The connection must be closed also after an error.
func dialSQLite(uri string, flags int32) (*sqliteConn, error) {
	c := &sqliteConn{tls: libc.NewTLS()}
	name, err := libc.CString(uri)
	if err != nil {
		return c, err
	}
	defer libc.Xfree(c.tls, name)
	db, _ := c.resultPointers()
	defer libc.Xfree(c.tls, db)
	code := sqlite3.Xsqlite3_open_v2(c.tls, name, db, flags|sqlite3.SQLITE_OPEN_URI|sqlite3.SQLITE_OPEN_NOMUTEX|sqlite3.SQLITE_OPEN_EXRESCODE, 0)
	if c.db = pointer(db); code != sqlite3.SQLITE_OK {
		return c, c.failure(code)
	}
	return c, nil
}

// resultPointers allocates two pointers that the library writes results to; free them after use.
func (c *sqliteConn) resultPointers() (first, second uintptr) {
	p := libc.Xcalloc(c.tls, 2, types.Size_t(unsafe.Sizeof(uintptr(0))))
	return p, p + unsafe.Sizeof(uintptr(0))
}

// pointer reads what the library wrote.
func pointer(p uintptr) uintptr { return *(*uintptr)(*(*unsafe.Pointer)(unsafe.Pointer(&p))) }

func (c *sqliteConn) close() {
	if c.db != 0 {
		sqliteGuards.Delete(c.db)
		sqlite3.Xsqlite3_close_v2(c.tls, c.db)
	}
	for _, p := range c.keep {
		libc.Xfree(c.tls, p)
	}
	c.tls.Close()
}

func (c *sqliteConn) failure(code int32) error {
	e := &sqliteErr{Code: int(code), Message: "SQLite cannot be opened", Offset: -1}
	if c.db != 0 {
		e.Message = libc.GoString(sqlite3.Xsqlite3_errmsg(c.tls, c.db))
		e.Offset = int(sqlite3.Xsqlite3_error_offset(c.tls, c.db))
	}
	return e
}

// option sets a switch of the connection.
func (c *sqliteConn) option(op int32, on int32) error {
	args := libc.NewVaList(on, uintptr(0))
	defer libc.Xfree(c.tls, args)
	if code := sqlite3.Xsqlite3_db_config(c.tls, c.db, op, args); code != sqlite3.SQLITE_OK {
		return c.failure(code)
	}
	return nil
}

// rename gives the file's schema another name than main, which stays valid beside it.
func (c *sqliteConn) rename(name string) error {
	text, err := libc.CString(name)
	if err != nil {
		return err
	}
	c.keep = append(c.keep, text)
	args := libc.NewVaList(text)
	defer libc.Xfree(c.tls, args)
	if code := sqlite3.Xsqlite3_db_config(c.tls, c.db, sqlite3.SQLITE_DBCONFIG_MAINDBNAME, args); code != sqlite3.SQLITE_OK {
		return c.failure(code)
	}
	return nil
}

func (c *sqliteConn) limit(id, most int32) { sqlite3.Xsqlite3_limit(c.tls, c.db, id, most) }

func (c *sqliteConn) exec(statements ...string) error {
	for _, text := range statements {
		s, _, err := c.prepare(text)
		if err != nil {
			return err
		}
		_, err = s.step()
		s.finalize()
		if err != nil {
			return err
		}
	}
	return nil
}

// A sqliteStmt is one prepared statement.
type sqliteStmt struct {
	conn   *sqliteConn
	handle uintptr
	bound  []uintptr
}

// prepare compiles the first statement of a text and gives the rest; a nil statement
// means that there was none.
func (c *sqliteConn) prepare(text string) (*sqliteStmt, string, error) {
	begin, err := libc.CString(text)
	if err != nil {
		return nil, "", err
	}
	defer libc.Xfree(c.tls, begin)
	handle, tail := c.resultPointers()
	defer libc.Xfree(c.tls, handle)
	if code := sqlite3.Xsqlite3_prepare_v3(c.tls, c.db, begin, -1, 0, handle, tail); code != sqlite3.SQLITE_OK {
		return nil, "", c.failure(code)
	}
	rest := text[min(len(text), int(pointer(tail)-begin)):]
	if pointer(handle) == 0 {
		return nil, rest, nil
	}
	return &sqliteStmt{conn: c, handle: pointer(handle)}, rest, nil
}

func (s *sqliteStmt) finalize() {
	if s == nil {
		return
	}
	sqlite3.Xsqlite3_finalize(s.conn.tls, s.handle)
	for _, p := range s.bound {
		libc.Xfree(s.conn.tls, p)
	}
}

// step goes to the next row, if there is one.
func (s *sqliteStmt) step() (bool, error) {
	switch code := sqlite3.Xsqlite3_step(s.conn.tls, s.handle); code {
	case sqlite3.SQLITE_ROW:
		return true, nil
	case sqlite3.SQLITE_DONE:
		return false, nil
	default:
		return false, s.conn.failure(code)
	}
}

func (s *sqliteStmt) bind(args []sqliteArg) error {
	for i, a := range args {
		var code int32
		n := int32(i + 1)
		switch {
		case a.Int != nil:
			code = sqlite3.Xsqlite3_bind_int64(s.conn.tls, s.handle, n, *a.Int)
		case a.Float != nil:
			code = sqlite3.Xsqlite3_bind_double(s.conn.tls, s.handle, n, *a.Float)
		default:
			text, err := libc.CString(a.Text)
			if err != nil {
				return err
			}
			s.bound = append(s.bound, text)
			code = sqlite3.Xsqlite3_bind_text(s.conn.tls, s.handle, n, text, int32(len(a.Text)), 0)
		}
		if code != sqlite3.SQLITE_OK {
			return s.conn.failure(code)
		}
	}
	return nil
}

func (s *sqliteStmt) width() int {
	return int(sqlite3.Xsqlite3_column_count(s.conn.tls, s.handle))
}

func (s *sqliteStmt) columnName(i int) string {
	return libc.GoString(sqlite3.Xsqlite3_column_name(s.conn.tls, s.handle, int32(i)))
}

// declared is the type that the table declares for a column of the result, "" for an expression.
func (s *sqliteStmt) declared(i int) string {
	return libc.GoString(sqlite3.Xsqlite3_column_decltype(s.conn.tls, s.handle, int32(i)))
}

// value gives a cell of the present row. Its bytes are the library's: they are valid
// until the next step.
func (s *sqliteStmt) value(i int) sqliteValue {
	tls, n := s.conn.tls, int32(i)
	switch sqlite3.Xsqlite3_column_type(tls, s.handle, n) {
	case sqlite3.SQLITE_INTEGER:
		return sqliteValue{Kind: sqliteInt, Int: sqlite3.Xsqlite3_column_int64(tls, s.handle, n)}
	case sqlite3.SQLITE_FLOAT:
		return sqliteValue{Kind: sqliteReal, Real: sqlite3.Xsqlite3_column_double(tls, s.handle, n)}
	case sqlite3.SQLITE_TEXT:
		p := sqlite3.Xsqlite3_column_text(tls, s.handle, n) // in UTF-8, whatever the file has
		return sqliteValue{Kind: sqliteText, Bytes: memory(p, sqlite3.Xsqlite3_column_bytes(tls, s.handle, n))}
	case sqlite3.SQLITE_BLOB:
		p := sqlite3.Xsqlite3_column_blob(tls, s.handle, n)
		return sqliteValue{Kind: sqliteBlob, Bytes: memory(p, sqlite3.Xsqlite3_column_bytes(tls, s.handle, n))}
	}
	return sqliteValue{}
}

// memory shows bytes of the library without copying them.
func memory(p uintptr, n int32) []byte {
	if p == 0 || n <= 0 {
		return nil
	}
	return unsafe.Slice(*(**byte)(unsafe.Pointer(&p)), n)
}

// callback gives the library a pointer to a function that is not a closure.
func callback[T any](f T) uintptr { return *(*uintptr)(unsafe.Pointer(&struct{ f T }{f})) }

// function adds a function of one argument that depends on it alone.
func (c *sqliteConn) function(name string, f func(tls *libc.TLS, ctx uintptr, argc int32, argv uintptr)) error {
	text, err := libc.CString(name)
	if err != nil {
		return err
	}
	defer libc.Xfree(c.tls, text)
	const flags = sqlite3.SQLITE_UTF8 | sqlite3.SQLITE_DETERMINISTIC | sqlite3.SQLITE_INNOCUOUS
	if code := sqlite3.Xsqlite3_create_function_v2(c.tls, c.db, text, 1, flags, 0, callback(f), 0, 0, 0); code != sqlite3.SQLITE_OK {
		return c.failure(code)
	}
	return nil
}

// The functions that the dialect adds: its own stop at the millisecond, and print 15
// digits of a number.
func sqliteDays(tls *libc.TLS, ctx uintptr, _ int32, argv uintptr) {
	text, ok := sqliteArgument(tls, argv)
	if len(text) == 10 && ok {
		days, ok := parseDay(text)
		sqliteResult(tls, ctx, days, ok)
		return
	}
	micros, found := parseInstant(text)
	sqliteResult(tls, ctx, floorDiv(micros, 86_400_000_000), ok && found && micros%86_400_000_000 == 0)
}

func sqliteMicros(tls *libc.TLS, ctx uintptr, _ int32, argv uintptr) {
	text, ok := sqliteArgument(tls, argv)
	micros, found := parseInstant(text)
	sqliteResult(tls, ctx, micros, ok && found)
}

func sqliteExact(tls *libc.TLS, ctx uintptr, _ int32, argv uintptr) {
	value := pointer(argv)
	v := sqliteValue{}
	switch sqlite3.Xsqlite3_value_type(tls, value) {
	case sqlite3.SQLITE_INTEGER:
		v = sqliteValue{Kind: sqliteInt, Int: sqlite3.Xsqlite3_value_int64(tls, value)}
	case sqlite3.SQLITE_FLOAT:
		v = sqliteValue{Kind: sqliteReal, Real: sqlite3.Xsqlite3_value_double(tls, value)}
	case sqlite3.SQLITE_TEXT:
		v = sqliteValue{Kind: sqliteText, Bytes: memory(sqlite3.Xsqlite3_value_text(tls, value), sqlite3.Xsqlite3_value_bytes(tls, value))}
	case sqlite3.SQLITE_BLOB:
		v = sqliteValue{Kind: sqliteBlob, Bytes: memory(sqlite3.Xsqlite3_value_blob(tls, value), sqlite3.Xsqlite3_value_bytes(tls, value))}
	default:
		sqlite3.Xsqlite3_result_null(tls, ctx)
		return
	}
	text := string(v.text(nil))
	p, err := libc.CString(text)
	if err != nil {
		sqlite3.Xsqlite3_result_error_nomem(tls, ctx)
		return
	}
	sqlite3.Xsqlite3_result_text(tls, ctx, p, int32(len(text)), sqlite3.SQLITE_TRANSIENT)
	libc.Xfree(tls, p)
}

func sqliteArgument(tls *libc.TLS, argv uintptr) ([]byte, bool) {
	value := pointer(argv)
	if sqlite3.Xsqlite3_value_type(tls, value) != sqlite3.SQLITE_TEXT {
		return nil, false
	}
	return memory(sqlite3.Xsqlite3_value_text(tls, value), sqlite3.Xsqlite3_value_bytes(tls, value)), true
}

func sqliteResult(tls *libc.TLS, ctx uintptr, n int64, ok bool) {
	if !ok {
		sqlite3.Xsqlite3_result_null(tls, ctx)
		return
	}
	sqlite3.Xsqlite3_result_int64(tls, ctx, n)
}
