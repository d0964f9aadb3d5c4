package queryplan_test

import (
	"bytes"
	"errors"
	"fmt"
	"maps"
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"interlock/internal/dialect"
	"interlock/internal/fault"
	"interlock/internal/queryplan"
	"interlock/internal/schema"
)

var dialects = dialect.All()

// TestGolden compiles plans for every word of the vocabulary in every dialect. A
// plan that a dialect refuses stands there with its problems.
func TestGolden(t *testing.T) {
	cases := plans(t)
	for _, d := range dialects {
		t.Run(d.String(), func(t *testing.T) {
			var got bytes.Buffer
			golden := "testdata/plans.sql"
			if d != dialect.DuckDB {
				golden = "testdata/plans." + d.String() + ".sql"
				fmt.Fprintf(&got, "-- functions: %s\n", strings.Join(queryplan.Functions(d), ", "))
			}
			for _, name := range slices.Sorted(maps.Keys(cases)) {
				p, err := queryplan.Parse(cases[name])
				if err != nil {
					t.Fatalf("%s: %v", name, err)
				}
				sql, err := p.SQLFor(d, shop)
				if f, ok := errors.AsType[*fault.Fault](err); ok && d != dialect.DuckDB {
					sql = "refused: " + f.Message
				} else if err != nil {
					t.Errorf("%s: %v", name, err)
				}
				if again, _ := p.SQLFor(d, shop); err == nil && again != sql {
					t.Errorf("%s: two texts for one plan", name)
				}
				fmt.Fprintf(&got, "-- %s --\n%s\n", name, sql)
			}
			if *update {
				if err := os.WriteFile(golden, got.Bytes(), 0o644); err != nil {
					t.Fatal(err)
				}
			}
			want, err := os.ReadFile(golden)
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(string(want), got.String()); diff != "" {
				t.Errorf("compiled SQL (-want +got):\n%s", diff)
			}
		})
	}
}

// TestRefusals lists everything that a dialect cannot say: no other plan of the
// corpus is refused, and every problem names the dialect.
func TestRefusals(t *testing.T) {
	median := []string{"function_median", "function_median_by_group", "function_median_of_dates", "where_of_median"}
	deviation := []string{"function_of_nothing", "function_of_one", "function_stddev"}
	want := map[dialect.Dialect][]string{
		dialect.SQLite:     slices.Concat(median, deviation, []string{"combine_mixed", "group_having_text"}),
		dialect.PostgreSQL: {"function_median_of_dates"},
		dialect.MySQL:      median,
		dialect.ClickHouse: {"function_median_of_dates"},
		dialect.Trino:      {"cast_time_text", "function_median_of_dates"},
		dialect.BigQuery:   slices.Concat(median, []string{"combine_mixed"}),
		dialect.Snowflake:  {"cast_time_text", "function_median_of_dates"},
	}
	for _, d := range dialects {
		var refused []string
		for name, raw := range plans(t) {
			p, err := queryplan.Parse(raw)
			if err != nil {
				t.Fatal(err)
			}
			if _, err = p.SQLFor(d, shop); err == nil {
				continue
			}
			refused = append(refused, name)
			if f, ok := errors.AsType[*fault.Fault](err); !ok || f.Code != fault.PlanInvalid || !strings.Contains(f.Message, d.Title()) {
				t.Errorf("%s in %s: %v", name, d, err)
			}
		}
		slices.Sort(refused)
		slices.Sort(want[d])
		if diff := cmp.Diff(want[d], refused); diff != "" {
			t.Errorf("%s refuses (-want +got):\n%s", d, diff)
		}
	}
}

// TestFunctions holds the list of functions to the goldens: they call nothing else,
// and of what is listed nothing stays uncalled.
func TestFunctions(t *testing.T) {
	call := regexp.MustCompile(`(AS )?([A-Za-z_][A-Za-z0-9_]*)\(`) // behind AS there is a type
	for _, d := range dialects {
		called := map[string]bool{}
		for _, raw := range plans(t) {
			p, err := queryplan.Parse(raw)
			if err != nil {
				t.Fatal(err)
			}
			sql, err := p.SQLFor(d, shop)
			if err != nil {
				continue
			}
			tokens, closed := lex(d, sql)
			if !closed {
				t.Errorf("%s: not closed: %s", d, sql)
			}
			for _, m := range call.FindAllStringSubmatch(outside(tokens), -1) {
				if m[1] == "" {
					called[strings.ToLower(m[2])] = true
				}
			}
		}
		delete(called, "cast")
		delete(called, "try_cast")
		if called["extract"] {
			called["date_part"] = true // as DuckDB's grammar reads it
		}
		if diff := cmp.Diff(queryplan.Functions(d), slices.Sorted(maps.Keys(called))); diff != "" {
			t.Errorf("%s: listed and called (-listed +called):\n%s", d, diff)
		}
	}
}

// A token is a literal, a quoted name, or the text between them.
type token struct {
	quote byte // ', ", ` or 0
	text  string
}

// lex reads SQL as the dialect does, and says whether all literals and quoted names
// end.
func lex(d dialect.Dialect, sql string) (tokens []token, closed bool) {
	named := byte('"')
	if d == dialect.MySQL || d == dialect.ClickHouse || d == dialect.BigQuery {
		named = '`'
	}
	var b strings.Builder
	for i := 0; i < len(sql); i++ {
		c := sql[i]
		if c != '\'' && c != '"' && c != '`' {
			b.WriteByte(c)
			continue
		}
		if c != '\'' && c != named {
			return nil, false
		}
		tokens = append(tokens, token{0, b.String()})
		b.Reset()
		escapes := d == dialect.BigQuery || d == dialect.ClickHouse || c == '\'' && (d == dialect.MySQL || d == dialect.Snowflake)
		for i++; ; i++ {
			if i >= len(sql) || d == dialect.BigQuery && sql[i] == '\n' {
				return tokens, false
			}
			if escapes && sql[i] == '\\' && i+1 < len(sql) {
				i++
				b.WriteByte(map[byte]byte{'n': '\n', 'r': '\r', '\\': '\\', '\'': '\'', '`': '`'}[sql[i]])
				continue
			}
			if sql[i] == c {
				if d == dialect.BigQuery || i+1 >= len(sql) || sql[i+1] != c {
					break
				}
				i++
			}
			b.WriteByte(sql[i])
		}
		tokens = append(tokens, token{c, b.String()})
		b.Reset()
	}
	return append(tokens, token{0, b.String()}), true
}

// outside is what stands outside of literals and quoted names.
func outside(tokens []token) string {
	var b strings.Builder
	for _, t := range tokens {
		if t.quote != 0 {
			b.WriteByte(t.quote)
			continue
		}
		b.WriteString(t.text)
	}
	return b.String()
}

// breakout compiles plans that carry a hostile value or name everywhere and compares
// what is outside of literals with the same plan for a harmless one. The value must
// come back out of its literal, and the name out of its quotes.
func breakout(t interface{ Fatalf(string, ...any) }, d dialect.Dialect, value, name string) {
	compile := func(value, name string) (string, error) {
		s := schema.Dataset{Tables: []schema.Table{{Name: name, Columns: []schema.Column{{Name: name, Type: schema.ParseType("VARCHAR")}}}}}
		v := queryplan.Literal(value)
		var fs []queryplan.Filter
		for _, op := range []queryplan.Operator{queryplan.Eq, queryplan.Like, queryplan.Contains, queryplan.StartsWith, queryplan.EndsWith, queryplan.NotContains, queryplan.EqualsAnyCase} {
			fs = append(fs, queryplan.Filter{Expr: queryplan.Col(name), Operator: op, Value: v})
		}
		fs = append(fs, queryplan.Filter{Expr: queryplan.Col(name), Operator: queryplan.In, Value: queryplan.Literal([]string{value, "b"})})
		p := queryplan.Plan{Table: name, Select: []queryplan.Expr{{Literal: v, Alias: "l"}, {Column: name, Alias: name + " "}}, Filters: fs}
		return p.SQLFor(d, s)
	}
	if dialect.DuckDB.Ident(name) == name {
		name += " " // a bare name has only letters, digits and underscores
	}
	got, err := compile(value, name)
	if err != nil {
		return
	}
	want, err := compile("a", "a a")
	if err != nil {
		t.Fatalf("the harmless plan: %v", err)
	}
	g, closed := lex(d, got)
	w, _ := lex(d, want)
	if !closed || outside(g) != outside(w) {
		t.Fatalf("%s, value %q, name %q\n got %s\nwant %s", d, value, name, got, want)
	}
	if g[1].quote != '\'' || g[1].text != value && utf8.ValidString(value) { // JSON mends the others
		t.Fatalf("%s: the literal %q came back as %q", d, value, g[1].text)
	}
	if i := slices.IndexFunc(g, func(t token) bool { return t.quote != 0 && t.quote != '\'' && t.text == name }); i < 0 {
		t.Fatalf("%s: the name %q did not come back: %s", d, name, got)
	}
}

func TestNothingBreaksOut(t *testing.T) {
	for _, d := range dialects {
		rapid.Check(t, func(t *rapid.T) {
			hostile := rapid.StringOfN(rapid.RuneFrom([]rune(`'"`+"`"+`\\;-/*!%_$xy[]?ab `+"\n\r\t\x00é")), 0, 20, -1)
			breakout(t, d, hostile.Draw(t, "value"), hostile.Draw(t, "name"))
		})
	}
}

// TestNames looks at names that a dialect would fold or take for its own words.
func TestNames(t *testing.T) {
	tests := []struct {
		d          dialect.Dialect
		name, want string
	}{
		{dialect.DuckDB, "Total", "Total"},
		{dialect.SQLite, "Total", "Total"},
		{dialect.PostgreSQL, "Total", `"Total"`},
		{dialect.PostgreSQL, "total", "total"},
		{dialect.PostgreSQL, "verbose", `"verbose"`},
		{dialect.MySQL, "Total", "Total"},
		{dialect.MySQL, "Rank", "`Rank`"},
		{dialect.ClickHouse, "prewhere", "`prewhere`"},
		{dialect.Trino, "unnest", `"unnest"`},
		{dialect.BigQuery, "hash", "`hash`"},
		{dialect.BigQuery, "order", "`order`"},
		{dialect.Snowflake, "total", `"total"`},
		{dialect.Snowflake, "TOTAL", "TOTAL"},
		{dialect.Snowflake, "MINUS", `"MINUS"`},
	}
	for _, tt := range tests {
		s := schema.Dataset{Tables: []schema.Table{{Name: "T", Columns: []schema.Column{{Name: "C", Type: schema.ParseType("INTEGER")}}}}}
		p := queryplan.Plan{Table: "T", Select: []queryplan.Expr{{Column: "C", Alias: tt.name}}, Limit: queryplan.AllRows}
		sql, err := p.SQLFor(tt.d, s)
		if err != nil || !strings.Contains(sql, " AS "+tt.want+"\n") {
			t.Errorf("%s, %q: got %q, %v", tt.d, tt.name, sql, err)
		}
	}
}
