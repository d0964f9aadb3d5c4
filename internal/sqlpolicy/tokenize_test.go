package sqlpolicy

import (
	"slices"
	"testing"

	"interlock/internal/dialect"
)

// Tokens are written for the parser here and for the engine: comments are gone, texts
// and names are in one form.
func TestEmit(t *testing.T) {
	for _, c := range []struct {
		dialect           dialect.Dialect
		sql, judged, sent string
	}{
		{dialect.ClickHouse, "SELECT `a`, 'x\\\\', 'it''s' FROM t -- c", `SELECT "a", 'x\', 'it''s' FROM t`, "SELECT `a`, 'x\\\\', 'it\\'s' FROM t"},
		{dialect.ClickHouse, `SELECT 'a\'b\n'`, "SELECT 'a''b\n'", `SELECT 'a\'b\n'`},
		{dialect.ClickHouse, "SELECT count( * )FROM t /* ; */ ;;", `SELECT count(*) FROM t`, `SELECT count(*) FROM t`},
		{dialect.ClickHouse, "SELECT arrayMap(x->x+1,[1,2])", `SELECT arrayMap(x -> x + 1, [ 1, 2 ])`, `SELECT arrayMap(x -> x + 1, [ 1, 2 ])`},
		{dialect.Snowflake, `SELECT a, "b" FROM t // c`, `SELECT A, "b" FROM T`, `SELECT a, "b" FROM t`},
		{dialect.Trino, `SELECT "a" , 1.5e-3 , 'x\' FROM t . u`, `SELECT "a", 1.5e-3, 'x\' FROM t.u`, `SELECT "a", 1.5e-3, 'x\' FROM t.u`},
		{dialect.Trino, "SELECT 1- -1\r\nFROM t--\r\n", `SELECT 1 - - 1 FROM t`, `SELECT 1 - - 1 FROM t`},
	} {
		d, _ := RulesFor(c.dialect)
		tokens, err := d.tokenize(c.sql)
		if err != nil {
			t.Errorf("%s: %s: %v", c.dialect, c.sql, err)
			continue
		}
		if got := emit(tokens, d.parserText).text; got != c.judged {
			t.Errorf("%s: %s\n  judged %s\n  want   %s", c.dialect, c.sql, got, c.judged)
		}
		if got := emit(tokens, d.engineText).text; got != c.sent {
			t.Errorf("%s: %s\n  sent %s\n  want %s", c.dialect, c.sql, got, c.sent)
		}
	}
}

// What engines might cut in other places is refused.
func TestTokenizeRefuses(t *testing.T) {
	trino, _ := RulesFor(dialect.Trino)
	clickhouse, _ := RulesFor(dialect.ClickHouse)
	for _, sql := range []string{
		"SELECT 'a' 'b'", "SELECT 'a'\n'b'", "SELECT E'a'", "SELECT x'00'", "SELECT DATE'2024-01-01'", "SELECT 'a'b", `SELECT "a"b`, `SELECT "a""b"`, `SELECT ""`,
		"SELECT 1a", "SELECT 1_000", "SELECT 0x1F", "SELECT .5", "SELECT 1 . 5", "SELECT a.1", "SELECT a FROM t -- x\r UNION", "SELECT /* /* */ 1", "SELECT /*! 1 */", "SELECT /*+ x */ 1",
		"SELECT /* 1", "SELECT 'a", `SELECT "a`, "SELECT $1", "SELECT @a", "SELECT #1", "SELECT a\u00a0FROM t", "SELECT ä", "SELECT {a}", `SELECT a \ b`, "SELECT ?", "SELECT $$a$$",
	} {
		if tokens, err := trino.tokenize(sql); err == nil {
			t.Errorf("%q was cut into %v", sql, tokens)
		}
	}
	for _, sql := range []string{`SELECT 'a\x41'`, `SELECT '\`, `SELECT 'a\'`, `SELECT r'a'`, "SELECT `a\\`"} {
		if tokens, err := clickhouse.tokenize(sql); err == nil {
			t.Errorf("%q was cut into %v", sql, tokens)
		}
	}
}

// FuzzTokens: what is written for either reader is cut into the same tokens again, and
// nothing that follows a whole statement is hidden by it.
func FuzzTokens(f *testing.F) {
	for _, s := range []string{`SELECT 1`, "WITH x AS (SELECT 1) SELECT `a`", `SELECT 'a''b' || "b"`, "SELECT 'a' --1", "SELECT 1 // '", `SELECT 'a\''`, "SELECT a.b.*, 1.5e3, x->y"} {
		f.Add(s)
	}
	same := func(a, b token) bool { return a.kind == b.kind && a.text == b.text }
	f.Fuzz(func(t *testing.T, sql string) {
		if checkText(sql, Limits{}.orDefault()) != nil {
			return
		}
		for _, d := range remoteRules {
			if d.grammar != nil || d.byEngine {
				continue
			}
			tokens, err := d.tokenize(sql)
			if err != nil {
				continue
			}
			again, err := d.tokenize(emit(tokens, d.engineText).text)
			if err != nil || !slices.EqualFunc(tokens, again, same) {
				t.Errorf("%s: %q is sent as %q: %v", d.dialect, sql, emit(tokens, d.engineText).text, err)
			}
			here := &Rules{dialect: dialect.DuckDB}
			if again, err := here.tokenize(emit(tokens, here.parserText).text); err != nil || !slices.EqualFunc(tokens, again, same) {
				t.Errorf("%s: %q is judged as %q: %v", d.dialect, sql, emit(tokens, here.parserText).text, err)
			}
			if longer, err := d.tokenize(sql + "\n;drop table t"); err == nil && (len(longer) < len(tokens)+4 || !longer[len(longer)-2].is("table")) {
				t.Errorf("%s: %q hides what follows it: %v", d.dialect, sql, longer)
			}
		}
	})
}
