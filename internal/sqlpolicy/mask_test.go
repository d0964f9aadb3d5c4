package sqlpolicy

import (
	"strings"
	"testing"
)

func TestMask(t *testing.T) {
	for _, c := range []struct{ dialect, sql, want string }{
		{"sqlite", "SELECT `a` FROM T", `SELECT "a" FROM T`},
		{"clickhouse", "SELECT `a`, 'x\\\\' FROM t", `SELECT "a", 'xxx' FROM t`},
		{"snowflake", `SELECT a, "b" FROM t // c`, `SELECT A, "b" FROM T     `},
		{"bigquery", "SELECT `a`, \"b\" FROM t", `SELECT "a", 'b' FROM t`},
		{"trino", `SELECT "a" FROM t`, `SELECT "a" FROM t`},
	} {
		d, _ := DialectFor(c.dialect)
		if got, err := d.mask(c.sql); err != nil || got != c.want {
			t.Errorf("%s: %s\n got %q\nwant %q, %v", c.dialect, c.sql, got, c.want, err)
		}
	}
}

// FuzzMask: a mask is as long as its text, reads the same when it is masked again as
// standard SQL, and never hides what follows a text that is whole.
func FuzzMask(f *testing.F) {
	for _, s := range []string{`SELECT 1`, `SELECT $a$ x $a$`, "WITH x AS (SELECT 1) SELECT `a`", `SELECT E'\'' || "b"`, "SELECT 'a' --1", "SELECT 1 # '", "SELECT 1 // '", `SELECT 'a\'`} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, sql string) {
		if checkText(sql, Limits{}.orDefault()) != nil {
			return
		}
		for name, d := range dialects {
			if d.grammar != nil {
				continue
			}
			masked, err := d.mask(sql)
			if err != nil {
				continue
			}
			if len(masked) != len(sql) {
				t.Fatalf("%s: %q became %q", name, sql, masked)
			}
			if again, err := dialects["trino"].mask(masked); err == nil && again != masked {
				t.Errorf("%s: %q is %q, read again %q", name, sql, masked, again)
			}
			const tail = "\n;drop table t"
			if longer, err := d.mask(sql + tail); err != nil || fold(longer) != fold(masked)+tail {
				t.Errorf("%s: %q hides what follows it: %q, %v", name, sql, longer, err)
			}
			for i := 0; i < len(masked); { // the scanner here finds the same ends
				end, _ := skip(masked, i)
				if c := masked[i]; (c == '\'' || c == '"') && strings.IndexByte(masked[i+1:end-1], c) >= 0 {
					t.Errorf("%s: %q is %q: a quote inside of a quoted thing", name, sql, masked)
				}
				i = end
			}
		}
	})
}
