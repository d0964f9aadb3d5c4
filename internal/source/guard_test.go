package source

import (
	"testing"

	"interlock/internal/fault"
)

func TestGuard(t *testing.T) {
	for _, c := range []struct {
		text string
		only []Dialect // nil: every dialect with a Remote
	}{
		{`SELECT 1`, nil},
		{`select a, count(*) from t where b = 'it''s; DROP TABLE t' group by a order by 2 desc limit 5;`, nil},
		{`WITH x AS (SELECT * FROM "Order Items") SELECT sum(x.n) FROM x -- all of it`, []Dialect{PostgreSQL, Trino, SQLite}},
		{"SELECT `delete` FROM t /* a remark */", []Dialect{MySQL, ClickHouse}},
		{`SELECT 'it\'s; DROP TABLE t' FROM t`, []Dialect{MySQL, ClickHouse}},
		{`SELECT $$;DROP TABLE t$$, $x$ ' $x$`, []Dialect{PostgreSQL}},
	} {
		for _, d := range dialects(c.only) {
			if err := guard(d, c.text); err != nil {
				t.Errorf("%s: %s: %v", d, c.text, err)
			}
		}
	}
	for _, c := range []struct {
		text string
		only []Dialect
	}{
		{``, nil},
		{`;`, nil},
		{`DELETE FROM t`, nil},
		{`SELECT 1; SELECT 2`, nil},
		{`EXPLAIN ANALYZE DELETE FROM t`, nil},
		{`WITH x AS (DELETE FROM t RETURNING *) SELECT * FROM x`, nil},
		{`SELECT * INTO copy FROM t`, nil},
		{`SELECT * FROM t INTO OUTFILE '/tmp/x'`, nil},
		{`SELECT * FROM t FOR UPDATE`, nil},
		{`SELECT 'open`, nil},
		{"SELECT 1\x00", nil},
		{`SELECT pg_read_file('/etc/passwd')`, nil},
		{`SELECT "pg_read_file"('/etc/passwd')`, []Dialect{PostgreSQL}},
		{`SELECT PG_SLEEP(10)`, nil},
		{`SELECT * FROM pg_authid`, nil},
		{`SELECT lo_import('/etc/passwd')`, nil},
		{`SELECT * FROM dblink('host=evil', 'select 1') AS t(a int)`, nil},
		{`SELECT set_config('a', 'b', false)`, nil},
		{`SELECT query_to_xml('delete from t', true, true, '')`, nil},
		{`SELECT evil.f(1)`, nil},
		{`SELECT U&"\0070g_read_file"('x')`, []Dialect{PostgreSQL}},
		{`SELECT e '\'; DROP TABLE t; --'`, []Dialect{PostgreSQL, SQLite, Trino}},
		{`SELECT 1 /*! ; DROP TABLE t */`, nil},
		{`SELECT 1 /* /* */ ; DROP TABLE t */`, nil},
		{`SELECT load_file('/etc/passwd')`, nil},
		{`SELECT sleep(100)`, nil},
		{`SELECT * FROM mysql.user`, nil},
		{`SELECT * FROM information_schema.tables`, nil},
		{`SELECT * FROM url('http://evil', CSV)`, nil},
		{`SELECT * FROM file('x.csv')`, nil},
		{`SELECT * FROM system.users`, nil},
		{`SELECT * FROM t SETTINGS max_threads = 1`, nil},
		{`SELECT * FROM TABLE(pg.system.query(query => 'drop'))`, nil},
		{`SELECT load_extension('x')`, nil},
		{`SELECT * FROM sqlite_schema`, nil},
	} {
		for _, d := range dialects(c.only) {
			if err := guard(d, c.text); !fault.Is(err, fault.SQLPolicy) {
				t.Errorf("%s: %q was let through: %v", d, c.text, err)
			}
		}
	}
}

func dialects(only []Dialect) []Dialect {
	if only != nil {
		return only
	}
	return []Dialect{PostgreSQL, MySQL, SQLite, ClickHouse, Trino}
}

// FuzzGuard: the words that the guard reads are the words that are there, whatever
// surrounds them.
func FuzzGuard(f *testing.F) {
	f.Add(`SELECT 1`, `'a'`)
	f.Add(`SELECT $a$ x $a$`, "/* */")
	f.Add("WITH x AS (SELECT 1) SELECT `a`", `"b"`)
	f.Fuzz(func(t *testing.T, before, after string) {
		for _, d := range dialects(nil) {
			if guard(d, before) == nil && guard(d, before+" ; DROP TABLE t") == nil && guard(d, before+"\n; DROP TABLE t") == nil {
				t.Errorf("%s: %q hides what follows it", d, before)
			}
			_ = guard(d, after)
		}
	})
}
