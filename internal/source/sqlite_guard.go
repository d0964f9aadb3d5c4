package source

import (
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
	"sync"

	"modernc.org/libc"
	sqlite3 "modernc.org/sqlite/lib"

	"interlock/internal/sqlpolicy"
)

// sqliteAllowed is what a user's statement may touch.
type sqliteAllowed struct {
	Dataset        string // may stand before the names of tables
	Tables         []sqlpolicy.Table
	Functions      []string
	TableFunctions []string
}

// A sqliteReading is what SQLite's authorizer was asked about while the statement was
// prepared.
type sqliteReading struct {
	Touches   []sqlpolicy.Touch
	Functions []string
}

// Codes of our own beside SQLite's.
const (
	sqliteCodeRule    = -1 // the message is the rule, a blank and what it is about
	sqliteCodeEmpty   = -2
	sqliteCodeChanged = -3
	sqliteCodeRow     = -4 // a row is too large
)

func sqliteRefused(rule, about string) error {
	return &sqliteErr{Code: sqliteCodeRule, Message: rule + " " + about, Offset: -1}
}

// A sqliteGuard decides about a user's statement: SQLite asks it about every table,
// column and function whenever it prepares the statement. Unknown things are refused.
type sqliteGuard struct {
	dataset   map[string]map[string]bool // tables and views that may be read, with their columns; nil: all
	functions map[string]bool
	tables    map[string]bool // table functions
	file      map[string]bool // the tables and views that the file has
	modules   map[string]bool // what SQLite itself has as a table
	roots     map[int64]bool  // pages at which tables and indexes begin that may be read

	touched map[string]map[string]bool
	called  map[string]bool
	refused error // the first reason
}

// sqliteGuards finds the guard of a connection.
var sqliteGuards sync.Map // of *sqliteGuard by handle

// foldASCII compares names as SQLite does.
func foldASCII(s string) string {
	return strings.Map(func(r rune) rune {
		if r >= 'A' && r <= 'Z' {
			return r + 'a' - 'A'
		}
		return r
	}, s)
}

// guard looks at the schema and then sets the authorizer.
func (c *sqliteConn) guard(allowed sqliteAllowed) (*sqliteGuard, error) {
	g := &sqliteGuard{
		dataset: map[string]map[string]bool{}, functions: map[string]bool{}, tables: map[string]bool{}, file: map[string]bool{}, modules: map[string]bool{}, roots: map[int64]bool{},
		touched: map[string]map[string]bool{}, called: map[string]bool{},
	}
	for _, t := range allowed.Tables {
		var columns map[string]bool
		if len(t.Columns) > 0 {
			columns = map[string]bool{}
			for _, name := range t.Columns {
				columns[foldASCII(name)] = true
			}
		}
		g.dataset[foldASCII(t.Name)] = columns
	}
	for _, name := range allowed.Functions {
		g.functions[name] = true
	}
	for _, name := range allowed.TableFunctions {
		g.tables[name] = true
	}
	if err := g.schema(c); err != nil {
		return nil, err
	}
	sqliteGuards.Store(c.db, g)
	if code := sqlite3.Xsqlite3_set_authorizer(c.tls, c.db, callback(sqliteAuthorize), c.db); code != sqlite3.SQLITE_OK {
		return nil, c.failure(code)
	}
	return g, nil
}

// schema notes what there is.
func (g *sqliteGuard) schema(c *sqliteConn) error {
	for _, text := range []string{"SELECT name, tbl_name, coalesce(rootpage, 0), type FROM sqlite_schema", "SELECT name, '', 0, 'module' FROM pragma_module_list"} {
		s, _, err := c.prepare(text)
		if err != nil {
			return err
		}
		for {
			more, err := s.step()
			if err != nil || !more {
				s.finalize()
				if err != nil {
					return err
				}
				break
			}
			name, table, kind := foldASCII(string(s.value(0).Bytes)), foldASCII(string(s.value(1).Bytes)), string(s.value(3).Bytes)
			switch kind {
			case "table", "view":
				g.file[name] = true
			case "module":
				g.modules[name] = true
			}
			if _, ok := g.dataset[table]; ok && s.value(2).Int > 0 {
				g.roots[s.value(2).Int] = true
			}
		}
	}
	return nil
}

func sqliteAuthorize(_ *libc.TLS, handle uintptr, action int32, first, second, _, _ uintptr) int32 {
	g, ok := sqliteGuards.Load(handle)
	if !ok || !g.(*sqliteGuard).allow(action, libc.GoString(first), libc.GoString(second)) {
		return sqlite3.SQLITE_DENY
	}
	return sqlite3.SQLITE_OK
}

func (g *sqliteGuard) allow(action int32, first, second string) bool {
	var err error
	switch action {
	case sqlite3.SQLITE_SELECT, sqlite3.SQLITE_RECURSIVE:
	case sqlite3.SQLITE_READ:
		err = g.allowRead(first, second)
	case sqlite3.SQLITE_FUNCTION:
		if name := foldASCII(second); g.functions[name] {
			g.called[name] = true
		} else {
			err = sqliteRefused(sqlpolicy.RuleFunction, second)
		}
	default:
		err = sqliteRefused(sqlpolicy.RuleSelectOnly, strconv.Itoa(int(action)))
	}
	if err != nil && g.refused == nil {
		g.refused = err
	}
	return err == nil
}

// allowRead decides about a column of a table. A table of which no column is read has an
// empty one, and so has a WITH: a name that nothing else has can only be that.
func (g *sqliteGuard) allowRead(table, column string) error {
	name := foldASCII(table)
	columns, ok := g.dataset[name]
	switch {
	case ok && g.file[name]:
		return g.touch(name, table, column, columns)
	case g.tables[name] && !g.file[name]:
		g.called[name] = true
		return nil
	case column == "" && !g.file[name] && !g.modules[name] && !strings.HasPrefix(name, "sqlite_") && !strings.HasPrefix(name, "pragma_"):
		return nil
	case strings.HasPrefix(name, "pragma_"):
		return sqliteRefused(sqlpolicy.RuleTableFunction, table)
	}
	return sqliteRefused(sqlpolicy.RuleTable, table)
}

func (g *sqliteGuard) touch(name, table, column string, columns map[string]bool) error {
	if g.touched[name] == nil {
		g.touched[name] = map[string]bool{}
	}
	folded := foldASCII(column)
	switch {
	case columns == nil && column != "" && folded != "rowid", columns[folded]:
		g.touched[name][folded] = true
	case column == "", folded == "rowid":
	default:
		return sqliteRefused(sqlpolicy.RuleColumn, table+"."+column)
	}
	return nil
}

// judge prepares exactly one statement that reads and gives it. The bytecode that
// SQLite made of it is looked at too: it may open no page but those of the dataset.
func (c *sqliteConn) judge(g *sqliteGuard, text string) (*sqliteStmt, error) {
	s, rest, err := c.prepare(text)
	if err == nil && s == nil {
		err = sqliteRefused(sqlpolicy.RuleOneStatement, "")
	}
	for err == nil && rest != "" {
		var more *sqliteStmt
		before := len(rest)
		if more, rest, err = c.prepare(rest); more != nil || err == nil && len(rest) == before {
			more.finalize()
			err = sqliteRefused(sqlpolicy.RuleOneStatement, "")
		} else if err != nil && g.refused == nil {
			err = sqliteRefused(sqlpolicy.RuleOneStatement, "")
		}
	}
	if g.refused != nil {
		err = g.refused
	}
	if err == nil {
		err = s.readsOnly(g)
	}
	if err != nil {
		s.finalize()
		return nil, err
	}
	return s, nil
}

func (s *sqliteStmt) readsOnly(g *sqliteGuard) error {
	tls := s.conn.tls
	switch {
	case sqlite3.Xsqlite3_stmt_readonly(tls, s.handle) == 0, s.width() == 0, sqlite3.Xsqlite3_stmt_isexplain(tls, s.handle) != 0:
		return sqliteRefused(sqlpolicy.RuleSelectOnly, "")
	case sqlite3.Xsqlite3_bind_parameter_count(tls, s.handle) > 0:
		return sqliteRefused(sqlpolicy.RuleParameter, "")
	}
	if code := sqlite3.Xsqlite3_stmt_explain(tls, s.handle, 1); code != sqlite3.SQLITE_OK {
		return s.conn.failure(code)
	}
	for {
		more, err := s.step()
		if err != nil {
			return err
		}
		if !more {
			break
		}
		op, page, db := string(s.value(1).Bytes), s.value(3).Int, s.value(4).Int
		switch op {
		case "OpenRead", "ReopenIdx":
			if db != 0 || !g.roots[page] {
				return sqliteRefused(sqlpolicy.RuleTable, fmt.Sprintf("at page %d", page))
			}
		case "OpenWrite", "ParseSchema", "Vacuum", "JournalMode", "Checkpoint", "SetCookie", "CreateBtree", "Destroy", "Clear", "VUpdate", "VCreate", "VDestroy", "VRename":
			return sqliteRefused(sqlpolicy.RuleSelectOnly, op)
		}
	}
	sqlite3.Xsqlite3_reset(tls, s.handle)
	if code := sqlite3.Xsqlite3_stmt_explain(tls, s.handle, 0); code != sqlite3.SQLITE_OK {
		return s.conn.failure(code)
	}
	return nil
}

// result lists what the statement reads, with names as the dataset spells them.
func (g *sqliteGuard) result(allowed sqliteAllowed) *sqliteReading {
	r := &sqliteReading{Touches: []sqlpolicy.Touch{}, Functions: slices.Sorted(maps.Keys(g.called))}
	for _, t := range allowed.Tables {
		touched, ok := g.touched[foldASCII(t.Name)]
		if !ok {
			continue
		}
		touch := sqlpolicy.Touch{Table: t.Name, Columns: []string{}}
		for _, name := range t.Columns {
			if touched[foldASCII(name)] {
				touch.Columns = append(touch.Columns, name)
			}
		}
		slices.Sort(touch.Columns)
		r.Touches = append(r.Touches, touch)
	}
	slices.SortFunc(r.Touches, func(a, b sqlpolicy.Touch) int { return strings.Compare(a.Table, b.Table) })
	return r
}
