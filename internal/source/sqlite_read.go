package source

import (
	"context"
	"database/sql"
	sqldriver "database/sql/driver"
	"fmt"
	"net/url"
	"os"
	"path/filepath"
	"strings"

	driver "modernc.org/sqlite"
	sqlite3 "modernc.org/sqlite/lib"

	"interlock/internal/fault"
)

// sqliteDB opens a file for reading only, with nothing in its schema trusted and
// with the functions that the dialect needs.
func sqliteDB(c Config) (*sql.DB, system, error) {
	path, err := filepath.Abs(c.path())
	if err == nil {
		_, err = os.Stat(path)
	}
	if err != nil {
		return nil, system{}, fault.Wrap(err, fault.SourceUnreadable, "there is no SQLite file at %s", c.path()).Suggest("Write it like sqlite:/path/to/file.db.")
	}
	d := &driver.Driver{}
	d.MustRegisterDeterministicScalarFunction("micros", 1, scalar(func(text []byte) (int64, bool) { return instant(text) }))
	d.MustRegisterDeterministicScalarFunction("days", 1, scalar(func(text []byte) (int64, bool) {
		micros, ok := instant(text)
		if len(text) == 10 {
			days, ok := civil(text)
			return days, ok
		}
		return floorDiv(micros, 86_400_000_000), ok && micros%86_400_000_000 == 0
	}))
	dsn := (&url.URL{Scheme: "file", Path: path, RawQuery: "mode=ro&_pragma=query_only(1)&_pragma=trusted_schema(0)&_pragma=busy_timeout(5000)"}).String()
	db := sql.OpenDB(connector{d, dsn})
	db.SetMaxOpenConns(4)
	return db, system{dialect: SQLite, describe: sqliteDescribe, session: sqliteSession, bind: positional}, nil
}

// sqliteValue bounds one value of a statement of somebody's own, in bytes: SQLite runs
// in this process, and a text of a gigabyte is one call of a function away.
const sqliteValue = 16 << 20

func sqliteSession(_ context.Context, conn *sql.Conn, c Config) error {
	if c.Table != "" {
		return nil
	}
	for id, most := range map[int]int{sqlite3.SQLITE_LIMIT_LENGTH: sqliteValue, sqlite3.SQLITE_LIMIT_ATTACHED: 0} {
		if _, err := driver.Limit(conn, id, most); err != nil {
			return err
		}
	}
	return nil
}

// connector opens connections of one driver value, whose functions are its own.
type connector struct {
	driver sqldriver.Driver
	dsn    string
}

func (c connector) Connect(context.Context) (sqldriver.Conn, error) { return c.driver.Open(c.dsn) }
func (c connector) Driver() sqldriver.Driver                        { return c.driver }

func scalar(read func([]byte) (int64, bool)) func(*driver.FunctionContext, []sqldriver.Value) (sqldriver.Value, error) {
	return func(_ *driver.FunctionContext, args []sqldriver.Value) (sqldriver.Value, error) {
		text, ok := args[0].(string)
		if !ok {
			return nil, nil
		}
		n, ok := read([]byte(text))
		if !ok {
			return nil, nil
		}
		return n, nil
	}
}

func openSQLite(_ context.Context, c Config) (Source, error) {
	db, system, err := sqliteDB(c)
	if err != nil {
		return nil, err
	}
	return &sqlTable{config: c, system: system, db: db}, nil
}

func sqliteTables(Config) (string, []any) {
	return `SELECT '', name FROM sqlite_schema WHERE type IN ('table', 'view') AND name NOT LIKE 'sqlite\_%' ESCAPE '\'
		AND coalesce(sql, '') NOT LIKE 'CREATE VIRTUAL%' ORDER BY 2`, nil
}

// sqliteDescribe takes the declared types where the values bear them out: SQLite
// lets a column hold anything.
func sqliteDescribe(ctx context.Context, conn *sql.Conn, c Config) (described, error) {
	rows, err := conn.QueryContext(ctx, `SELECT name, upper(type), pk FROM pragma_table_info(?) ORDER BY cid`, c.Table)
	if err != nil {
		return described{}, err
	}
	defer rows.Close()
	d := described{table: []string{c.Table}}
	var asks []string
	for rows.Next() {
		var (
			col Column
			key int
		)
		if err := rows.Scan(&col.Name, &col.Native, &key); err != nil {
			return described{}, err
		}
		if key > 0 {
			d.key = append(d.key, col.Name)
		}
		asks = append(asks, sqliteAsk(sqlite{}.quote(col.Name), col.Native))
		d.columns = append(d.columns, col)
	}
	if err := rows.Err(); err != nil {
		return described{}, err
	}
	if len(d.columns) == 0 {
		return described{}, fault.New(fault.SourceUnreadable, "there is no table %s", c.place()).Suggest("List the tables of the file.")
	}
	// In groups, because a statement may have only so many columns.
	for i := 0; i < len(asks); i += 100 {
		some := d.columns[i:min(i+100, len(asks))]
		found := make([]held, len(some))
		var into []any
		for k := range found {
			into = append(into, found[k].into()...)
		}
		text := "SELECT " + strings.Join(asks[i:i+len(some)], ", ") + " FROM " + sqlite{}.quote(c.Table)
		if err := conn.QueryRowContext(ctx, text).Scan(into...); err != nil {
			return described{}, err
		}
		for k := range some {
			some[k].Type = found[k].kind(some[k].Native)
		}
	}
	return d, nil
}

// held is how many values of each kind a column holds.
type held struct{ integer, real, text, blob, notBool, notDate, notTime, notDecimal, notJSON int64 }

func (h *held) into() []any {
	return []any{&h.integer, &h.real, &h.text, &h.blob, &h.notBool, &h.notDate, &h.notTime, &h.notDecimal, &h.notJSON}
}

// sqliteAsk counts what held needs; what the declared type makes idle costs nothing.
func sqliteAsk(name, declared string) string {
	decimal := declaredDecimal(declared)
	counts := []string{"typeof(%[1]s) = 'integer'", "typeof(%[1]s) = 'real'", "typeof(%[1]s) = 'text'", "typeof(%[1]s) = 'blob'"}
	for _, ask := range []struct {
		word, condition string
	}{
		{"BOOL", "%[1]s NOT IN (0, 1)"},
		{"DATE", "%[1]s IS NOT NULL AND days(%[1]s) IS NULL"},
		{"TIME", "%[1]s IS NOT NULL AND micros(%[1]s) IS NULL"},
		{"(", "round(%[1]s, %[2]d) <> %[1]s OR abs(%[1]s) >= 1e%[3]d"},
		{"JSON", "%[1]s IS NOT NULL AND NOT json_valid(%[1]s)"},
	} {
		if !strings.Contains(declared, ask.word) {
			ask.condition = "0"
		}
		counts = append(counts, ask.condition)
	}
	return fmt.Sprintf("coalesce(sum("+strings.Join(counts, "), 0), coalesce(sum(")+"), 0)", name, decimal.Scale, decimal.Width-decimal.Scale)
}

// declaredDecimal reads DECIMAL(p,s); the width is 0 if it is none. SQLite keeps
// such values as doubles, so no more than 15 digits can be true.
func declaredDecimal(declared string) Type {
	t := ParseType(strings.ReplaceAll(declared, " ", ""))
	if t.Kind != Decimal || t.Width > 15 || t.Scale > t.Width {
		return Type{}
	}
	return t
}

func (h held) kind(declared string) Type {
	says := func(words ...string) bool {
		for _, w := range words {
			if strings.Contains(declared, w) {
				return true
			}
		}
		return false
	}
	numbers := h.text == 0 && h.blob == 0
	switch {
	case h.text == 0 && h.blob > 0 && h.integer == 0 && h.real == 0:
		return Type{Kind: Bytes}
	case says("JSON") && h.notJSON == 0 && h.blob == 0:
		return Type{Kind: JSON}
	case says("TIMESTAMP", "DATETIME") && h.notTime == 0:
		if says("TZ", "ZONE") {
			return Type{Kind: TimestampTZ}
		}
		return Type{Kind: Timestamp}
	case declared == "DATE" && h.notDate == 0:
		return Type{Kind: Date}
	case says("CHAR", "CLOB", "TEXT") || !numbers:
		return Type{Kind: Text}
	case says("BOOL") && h.real == 0 && h.notBool == 0:
		return Type{Kind: Bool}
	case declaredDecimal(declared).Width > 0 && h.notDecimal == 0:
		return declaredDecimal(declared)
	case says("REAL", "FLOA", "DOUB") || h.real > 0:
		return Type{Kind: Float}
	case h.integer > 0 || says("INT"):
		return Type{Kind: Int}
	case says("DEC", "NUM"):
		return Type{Kind: Float}
	case says("BLOB"):
		return Type{Kind: Bytes}
	}
	return Type{Kind: Text}
}
