package source_test

import (
	"context"
	"database/sql"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"interlock/internal/dialect"
	"interlock/internal/fault"
	"interlock/internal/schema"
	"interlock/internal/source"
	"interlock/internal/sqlpolicy"
)

// sqliteFile makes a file in a folder of its own.
func sqliteFile(t testing.TB, statements ...string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "data.db")
	db := openSQL(t, path)
	defer db.Close()
	run(t, db, statements...)
	return path
}

// openSQL opens a file with SQLite as another program would.
func openSQL(t testing.TB, path string) *sql.DB {
	t.Helper()
	db, err := sql.Open("sqlite", path)
	if err != nil {
		t.Fatal(err)
	}
	db.SetMaxOpenConns(1)
	return db
}

// page gives the columns of a table, as name and type, and its rows.
func page(t testing.TB, c source.Config) (columns []string, rows string) {
	t.Helper()
	s := open(t, c)
	defer s.Close()
	p, err := s.Preview(t.Context(), schema.Filter{}, 0, 100)
	if err != nil {
		t.Fatalf("%s: %v", c.Table, err)
	}
	for _, col := range p.Columns {
		columns = append(columns, col.Name+" "+col.Type.String())
	}
	return columns, string(p.Rows)
}

// A column has a type only if every value survives it.
func TestSQLiteFidelity(t *testing.T) {
	path := sqliteFile(t,
		`CREATE TABLE numbers (small INTEGER, big INTEGER, flag BOOLEAN, five TINYINT(1), notflag BOOLEAN, money DECIMAL(18,2), wide DECIMAL(30,4), loose DECIMAL(6,2), r REAL, mixed, exact, digits, inf REAL)`,
		`INSERT INTO numbers VALUES (1, 9223372036854775807, 1, 5, 2, 0.1, 12345.6789, 0.123, 0.1, 1, 9007199254740993, 0.30000000000000004, 9e999)`,
		`INSERT INTO numbers VALUES (NULL, -9223372036854775808, 0, 0, 0, 1234567.89, 1, 1, 1e300, 2.5, 0.5, 'x', -9e999)`,
		`CREATE TABLE texts (d DATE, dt DATETIME, ts TIMESTAMP, z TIMESTAMP, off DATETIME, both DATE, plain, empty DATE, j JSON, notj JSON, epoch DATETIME, only DATETIME)`,
		`INSERT INTO texts VALUES ('2024-02-29', '2024-01-01 10:00:00.5', '2024-01-01T10:00:00', '2024-01-01T10:00:00Z', '2024-01-01T10:00:00+02:00', '2024-01-01', '2024-01-01', NULL, '{"a": 1}', '{', 1700000000, '2024-01-01')`,
		`INSERT INTO texts VALUES ('1999-12-31', '2024-01-01 10:00:00', '2024-01-01 10:00:01', '2024-01-01 10:00:00+00:00', '2024-01-01T10:00:00+00:00', '2024-01-01 00:00:00', 'x', NULL, '[]', '{}', 1700000001, '2024-01-02')`,
		`CREATE TABLE bytes (b BLOB, mixed BLOB, text TEXT, latin TEXT)`,
		`INSERT INTO bytes VALUES (x'00ff', 'abc', 'a', CAST(x'636166e9' AS TEXT)), (x'', x'00ff41', x'4142', 'ok')`,
		`INSERT INTO bytes VALUES (NULL, 7, NULL, NULL)`,
		`CREATE TABLE keyed (b TEXT, a INTEGER, v TEXT, PRIMARY KEY (a, b)) WITHOUT ROWID`,
		`INSERT INTO keyed VALUES ('y', 1, 'second'), ('x', 1, 'first'), ('a', 2, 'third')`,
		`CREATE TABLE generated (a INTEGER, twice INTEGER GENERATED ALWAYS AS (a * 2) VIRTUAL, kept TEXT GENERATED ALWAYS AS ('n' || a) STORED)`,
		`INSERT INTO generated VALUES (21)`,
		`CREATE VIEW seen AS SELECT a + 0.5 AS half, twice FROM generated`,
		`CREATE TABLE "Odd ""name"" 'x' é" ("a ""b""" TEXT, "Größe" INTEGER, "select" TEXT)`,
		`INSERT INTO "Odd ""name"" 'x' é" VALUES ('q', 1, 'w')`,
		`CREATE TABLE void (a INTEGER, b DECIMAL(5,2), c)`)
	shared := pool(t)
	for _, c := range []struct {
		table   string
		columns []string
		rows    string
	}{
		{
			"numbers",
			[]string{"small BIGINT", "big BIGINT", "flag BOOLEAN", "five BIGINT", "notflag BIGINT", "money DECIMAL(18,2)", "wide DECIMAL(30,4)", "loose DOUBLE", "r DOUBLE", "mixed DOUBLE", "exact VARCHAR", "digits VARCHAR", "inf DOUBLE"},
			`[[1,"9223372036854775807",true,5,2,0.10,12345.6789,0.123,0.1,1,"9007199254740993","0.30000000000000004","Infinity"],` +
				`[null,"-9223372036854775808",false,0,0,1234567.89,1.0000,1,1e+300,2.5,"0.5","x","-Infinity"]]`,
		},
		{
			"texts",
			[]string{"d DATE", "dt TIMESTAMP", "ts TIMESTAMP", "z TIMESTAMP WITH TIME ZONE", "off VARCHAR", "both VARCHAR", "plain VARCHAR", "empty DATE", "j JSON", "notj VARCHAR", "epoch BIGINT", "only DATE"},
			`[["2024-02-29","2024-01-01 10:00:00.5","2024-01-01 10:00:00","2024-01-01 10:00:00+00","2024-01-01T10:00:00+02:00","2024-01-01","2024-01-01",null,"{\"a\": 1}","{",1700000000,"2024-01-01"],` +
				`["1999-12-31","2024-01-01 10:00:00","2024-01-01 10:00:01","2024-01-01 10:00:00+00","2024-01-01T10:00:00+00:00","2024-01-01 00:00:00","x",null,"[]","{}",1700000001,"2024-01-02"]]`,
		},
		{"bytes", []string{"b BLOB", "mixed VARCHAR", "text VARCHAR", "latin VARCHAR"}, `[["\\x00\\xFF","abc","a","caf�"],["","\\x00\\xFFA","AB","ok"],[null,"7",null,null]]`},
		{"keyed", []string{"b VARCHAR", "a BIGINT", "v VARCHAR"}, `[["x",1,"first"],["y",1,"second"],["a",2,"third"]]`},
		{"generated", []string{"a BIGINT", "twice BIGINT", "kept VARCHAR"}, `[[21,42,"n21"]]`},
		{"seen", []string{"half DOUBLE", "twice BIGINT"}, `[[21.5,42]]`},
		{`Odd "name" 'x' é`, []string{`a "b" VARCHAR`, "Größe BIGINT", "select VARCHAR"}, `[["q",1,"w"]]`},
		{"NUMBERS", nil, ""}, // names of any case
		{"void", []string{"a BIGINT", "b DECIMAL(5,2)", "c VARCHAR"}, `[]`},
	} {
		columns, rows := page(t, source.Config{URL: "sqlite:" + path, Table: c.table, SQLite: shared})
		if c.columns == nil {
			continue
		}
		if diff := cmp.Diff(c.columns, columns); diff != "" {
			t.Errorf("%s: %s", c.table, diff)
		}
		if diff := cmp.Diff(c.rows, rows); diff != "" {
			t.Errorf("%s: %s", c.table, diff)
		}
	}
	// What could not keep its type is said, and can be asked for as it is shown.
	s := open(t, source.Config{URL: "sqlite:" + path, Table: "bytes", SQLite: shared})
	columns, err := s.Describe(t.Context())
	if err != nil || columns[0].Note != nil || columns[1].Note == nil || columns[1].Note.Count != 1 || columns[3].Note.Rule != "encoding" {
		t.Errorf("%+v, %v", columns, err)
	}
	for value, want := range map[string]int64{`\x00\xFFA`: 1, "7": 1, "abc": 1, "8": 0} {
		if n, err := s.Count(t.Context(), schema.Filter{Conditions: []schema.Condition{{Column: "mixed", Op: schema.Eq, Value: value}}}); err != nil || n != want {
			t.Errorf("mixed = %s: %d, %v", value, n, err)
		}
	}
}

// ls lists a folder with sizes and times.
func ls(t testing.TB, dir string) (list []string) {
	t.Helper()
	entries, err := os.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range entries {
		info, err := e.Info()
		if err != nil {
			t.Fatal(err)
		}
		list = append(list, fmt.Sprint(e.Name(), " ", info.Size(), " ", info.ModTime().UnixNano()))
	}
	return list
}

// Commits in the write-ahead log are seen, whoever has the file open or not, and
// nothing is written beside the file.
func TestSQLiteWriteAheadLog(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "live.db")
	db, err := sql.Open("sqlite", path)
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	db.SetMaxOpenConns(1)
	run(t, db, "PRAGMA journal_mode = wal", "PRAGMA wal_autocheckpoint = 0", "CREATE TABLE t (a INTEGER)", "INSERT INTO t VALUES (1)")
	shared := pool(t)
	count := func(path string) int64 {
		t.Helper()
		before := ls(t, filepath.Dir(path))
		s := open(t, source.Config{URL: "sqlite:" + path, Table: "t", SQLite: shared})
		defer s.Close()
		n, err := s.Count(t.Context(), schema.Filter{})
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(before, ls(t, filepath.Dir(path))); diff != "" {
			t.Errorf("the folder was touched: %s", diff)
		}
		return n
	}
	version := source.Config{URL: "sqlite:" + path}.DatabaseVersion()
	for want := int64(1); want < 4; want++ { // while another program writes
		if n := count(path); n != want {
			t.Errorf("%d rows, want %d", n, want)
		}
		run(t, db, "INSERT INTO t VALUES (2)")
		if now := (source.Config{URL: "sqlite:" + path}).DatabaseVersion(); now == version {
			t.Error("the version does not know the log")
		} else {
			version = now
		}
	}
	// A copy of the file and its log, as a backup of a running program has them.
	backup := filepath.Join(t.TempDir(), "backup.db")
	for _, suffix := range []string{"", "-wal"} {
		text, err := os.ReadFile(path + suffix)
		if err == nil {
			err = os.WriteFile(backup+suffix, text, 0o400)
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	if n := count(backup); n != 4 {
		t.Errorf("%d rows in the file and log of a backup, want 4", n)
	}
	db.Close() // works the log in and removes it
	if n := count(path); n != 4 {
		t.Errorf("%d rows after the log was worked in, want 4", n)
	}
	// A journal that a crash left is played back, in a copy.
	crashed := crashedFile(t)
	if n := count(crashed); n != 1 {
		t.Errorf("%d rows beside the journal of a crash, want 1", n)
	}
}

// crashedFile is a file in the middle of a transaction whose program is gone: its
// pages are changed, its journal has what they were.
func crashedFile(t testing.TB) string {
	t.Helper()
	path := sqliteFile(t, "CREATE TABLE t (a INTEGER, b TEXT)", "INSERT INTO t VALUES (1, 'before')")
	db, err := sql.Open("sqlite", path+"?_pragma=cache_size(1)&_pragma=cache_spill(1)&_pragma=journal_mode(delete)&_pragma=synchronous(full)")
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	db.SetMaxOpenConns(1)
	tx, err := db.Begin()
	if err != nil {
		t.Fatal(err)
	}
	defer tx.Rollback()
	for i := range 2000 {
		if _, err := tx.Exec("INSERT INTO t VALUES (?, ?)", i, strings.Repeat("x", 500)); err != nil {
			t.Fatal(err)
		}
	}
	copied := filepath.Join(t.TempDir(), "crashed.db")
	for _, suffix := range []string{"", "-journal"} {
		text, err := os.ReadFile(path + suffix)
		if err == nil {
			err = os.WriteFile(copied+suffix, text, 0o600)
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	return copied
}

// Files that are none, or no longer, are named with what is wrong.
func TestSQLiteFaults(t *testing.T) {
	dir := t.TempDir()
	good := sqliteFile(t, "CREATE TABLE t (a INTEGER, b TEXT)", `INSERT INTO t WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i+1 FROM n WHERE i < 5000) SELECT i, 'some text of row ' || i FROM n`, "CREATE VIEW v AS SELECT nonsense FROM missing")
	text, err := os.ReadFile(good)
	if err != nil {
		t.Fatal(err)
	}
	write := func(name string, content []byte) string {
		path := filepath.Join(dir, name)
		if err := os.WriteFile(path, content, 0o600); err != nil {
			t.Fatal(err)
		}
		return path
	}
	torn := slices.Clone(text)
	for i := 3 * 4096; i < len(torn); i += 97 {
		torn[i] ^= 0x5a
	}
	shared := pool(t)
	for _, c := range []struct{ path, table, want string }{
		{filepath.Join(dir, "missing.db"), "t", "there is no SQLite file"},
		{write("empty.db", nil), "t", "is empty"},
		{write("note.db", []byte("just a text, and longer than the header of a database has to be, which is one hundred bytes in all.....")), "t", "no SQLite database"},
		{write("short.db", []byte("SQLite format 3\x00")), "t", "no SQLite database"},
		{write("torn.db", torn), "t", "damaged"},
		{write("cut.db", text[:len(text)/2]), "t", "damaged"},
		{good, "nowhere", "there is no table"},
		{good, "v", "missing"},
	} {
		s, err := source.Open(t.Context(), source.Config{URL: "sqlite:" + c.path, Table: c.table, SQLite: shared})
		if err == nil {
			_, err = s.Describe(t.Context())
		}
		if !fault.Is(err, fault.SourceUnreadable) || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: %v, want %s", filepath.Base(c.path), err, c.want)
		}
	}
	// Another program that holds the file for itself is waited for, and then named.
	db, err := sql.Open("sqlite", good)
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	db.SetMaxOpenConns(1)
	run(t, db, "BEGIN EXCLUSIVE")
	s := open(t, source.Config{URL: "sqlite:" + good, Table: "t", SQLite: shared})
	if _, err := s.Count(t.Context(), schema.Filter{}); !fault.Is(err, fault.SourceUnreadable) || !strings.Contains(err.Error(), "another program") {
		t.Errorf("locked: %v", err)
	}
	run(t, db, "ROLLBACK")
	if n, err := s.Count(t.Context(), schema.Filter{}); err != nil || n != 5000 {
		t.Errorf("after the lock: %d, %v", n, err)
	}
}

// runSQLite judges and runs one statement over a file.
func runSQLite(ctx context.Context, t testing.TB, c source.Config, text string, limits source.Limits) (source.Answer, error) {
	t.Helper()
	remote, err := source.Connect(ctx, c)
	if err != nil {
		return source.Answer{}, err
	}
	defer remote.Close()
	d, err := remote.(sqlpolicy.Judge).Judge(ctx, sqlpolicy.Scope{Dialect: dialect.SQLite, Tables: []sqlpolicy.Table{{Name: "t"}}}, text)
	if err != nil {
		return source.Answer{}, err
	}
	return remote.Run(ctx, d, limits)
}

// No function outlives its deadline, no value and no row is larger than allowed, and
// this process has none of it in memory.
func TestSQLiteBounds(t *testing.T) {
	path := sqliteFile(t, "CREATE TABLE t (a INTEGER)", "INSERT INTO t VALUES (1)")
	conf := source.Config{URL: "sqlite:" + path, SQLite: pool(t)}
	wide := "SELECT " + strings.Repeat("hex(zeroblob(7900000)), ", 199) + "1 FROM t"
	slow := "SELECT instr(hex(zeroblob(7000000)), hex(zeroblob(3000000)) || 'x') FROM t"
	endless := "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n) SELECT count(*) FROM n"
	for _, c := range []struct {
		sql    string
		limits source.Limits
		codes  []fault.Code
	}{
		{slow, source.Limits{Timeout: 300 * time.Millisecond}, []fault.Code{fault.QueryTimeout}},
		{endless, source.Limits{Timeout: 300 * time.Millisecond}, []fault.Code{fault.QueryTimeout}},
		{wide, source.Limits{Timeout: 2 * time.Minute}, []fault.Code{fault.SQLError, fault.QueryMemory, fault.TooLarge}},
		{"SELECT zeroblob(900000000) FROM t", source.Limits{}, []fault.Code{fault.SQLError, fault.TooLarge}},
		{"SELECT hex(zeroblob(7000000)) FROM t", source.Limits{Bytes: 1 << 20}, []fault.Code{fault.SQLError, fault.TooLarge}},
		{"WITH RECURSIVE n(i, s) AS (SELECT 1, hex(zeroblob(500000)) UNION ALL SELECT i + 1, s || i FROM n) SELECT count(*) FROM (SELECT * FROM n ORDER BY s)", source.Limits{Timeout: 5 * time.Second}, []fault.Code{fault.QueryMemory, fault.QueryTimeout, fault.SQLError}},
	} {
		began := time.Now()
		_, err := runSQLite(t.Context(), t, conf, c.sql, c.limits)
		if !slices.ContainsFunc(c.codes, func(code fault.Code) bool { return fault.Is(err, code) }) {
			t.Errorf("%.60s: %v, want one of %v", c.sql, err, c.codes)
		}
		if took := time.Since(began); c.limits.Timeout > 0 && took > c.limits.Timeout+10*time.Second {
			t.Errorf("%.60s: took %v", c.sql, took)
		}
		// The next statement is answered, by the same worker or a new one.
		if a, err := runSQLite(t.Context(), t, conf, "SELECT a FROM t", source.Limits{}); err != nil || string(a.Rows) != "[[1]]" {
			t.Errorf("after %.60s: %s, %v", c.sql, a.Rows, err)
		}
	}
	ctx, cancel := context.WithCancel(t.Context())
	timer := time.AfterFunc(200*time.Millisecond, cancel)
	defer timer.Stop()
	if _, err := runSQLite(ctx, t, conf, slow, source.Limits{}); !fault.Is(err, fault.QueryCancelled) {
		t.Errorf("cancelled: %v", err)
	}
	a, err := runSQLite(t.Context(), t, conf, "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n) SELECT i FROM n", source.Limits{Rows: 10})
	if err != nil || !a.Limited || a.Count != 10 {
		t.Errorf("%+v, %v", a, err)
	}
	a, err = runSQLite(t.Context(), t, conf, "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n) SELECT i FROM n", source.Limits{Rows: 1 << 30, Bytes: 10_000})
	if err != nil || !a.Limited || len(a.Rows) > 10_002 {
		t.Errorf("%d bytes, %v", len(a.Rows), err)
	}
}

// A view that never ends is not copied, and the time and bytes that it took are those
// of all views of its file together.
func TestSQLiteEndlessViews(t *testing.T) {
	path := sqliteFile(t, "CREATE TABLE t (a INTEGER)", "INSERT INTO t VALUES (1)",
		"CREATE VIEW also AS SELECT a + 1 AS b FROM t", "CREATE VIEW wide AS WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n) SELECT i, hex(zeroblob(8000000)) AS big FROM n")
	conf := source.Config{URL: "sqlite:" + path, SQLite: pool(t), Table: "wide"}
	conf.Budget = source.NewBudget(conf)
	read := func(table string) (rows int, err error) {
		conf.Table = table
		s := open(t, conf)
		defer s.Close()
		for b, err := range s.Stream(t.Context(), nil, schema.Filter{}) {
			if err != nil {
				return rows, err
			}
			rows += b.Rows
		}
		return rows, nil
	}
	if n, err := read("wide"); !fault.Is(err, fault.TooLarge) || !strings.Contains(err.Error(), "wide") || n > 40 {
		t.Errorf("%d rows, %v", n, err)
	}
	for _, name := range []string{"t", "also"} {
		if n, err := read(name); err != nil || n != 1 {
			t.Errorf("%s beside it: %d rows, %v", name, n, err)
		}
	}
}
