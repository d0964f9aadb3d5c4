package source_test

import (
	"cmp"
	"context"
	"database/sql"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"math"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	diff "github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"interlock/internal/dialect"
	"interlock/internal/fault"
	"interlock/internal/query"
	"interlock/internal/queryplan"
	"interlock/internal/queryplan/queryplantest"
	"interlock/internal/source"
	"interlock/internal/source/sourcetest"
	"interlock/internal/sqlpolicy"
)

// shop is what the corpus of plans is about.
var shop = queryplantest.Shop

// shopRows has what dialects treat differently: case, accents, backslashes, NULLs,
// weeks of another year, leap days, halves, numbers and dates in text.
var shopRows = map[string][][]any{
	"customers": {
		{1, "Ann", "Oslo", nil},
		{2, "ann", "oslo", 1},
		{3, "ANN", "Bergen", 1},
		{4, "Bob", nil, 2},
		{5, "élan", "Paris", 3},
		{6, "Élan", "Paris", nil},
		{7, `back\slash`, "Oslo", 7},
		{8, nil, "Bergen", nil},
		{9, "carl", "Rome", 4},
		{10, "Bob", "Rome", 4},
	},
	"orders": {
		{1, 1, 10.25, 3.5, "new", "2024-01-01 00:00:00", "2024-01-03", true},
		{2, 1, 120.00, 0.0, "new", "2024-01-31 23:59:59", "2024-02-01", true},
		{3, 2, 33.33, 11.11, "NEW", "2024-02-29 12:30:00", "2024-03-01", false},
		{4, 2, nil, 7.125, "old", "2023-12-31 08:00:00", "2024-01-01", nil},
		{5, 3, 250.50, -2.5, "50%_off!'", "2024-09-15 10:30:00", "2024-09-16", true},
		{6, 3, -5.00, nil, "50%xoff!'", "2024-09-09 00:00:00", nil, false},
		{7, 4, 99.99, 1e6, nil, "2024-07-01 17:45:10", "2025-07-02", true},
		{8, 4, 0.01, 0.005, "7", nil, "2020-12-31", false},
		{9, nil, 47.00, 1.5, "12.5", "2021-01-03 05:00:00", "2021-01-04", true},
		{10, 5, 48.00, 2.675, " 3 ", "2020-12-28 00:00:00", "2021-01-31", nil},
		{11, 5, 49.00, 1.005, "1e2", "1969-07-20 20:17:40", "1969-07-24", false},
		{12, 6, 50.00, 1e-7, "abc1", "2024-10-01 00:00:00", "2024-10-01", true},
		{13, 6, 51.00, 100.0, "2024-02-29", "2024-03-31 01:00:00", "2024-06-30", true},
		{14, 9, 52.00, 3.0, "2023-02-29", "2024-06-30 22:00:00", "2024-01-01", false},
		{15, 9, 53.00, 4.0, "2024-05-01 10:30:00", "2024-12-30 00:00:00", "2025-01-01", true},
		{16, 99, 54.00, 5.0, "new", "2025-01-01 00:00:00", "2024-12-30", true},
		{17, 1, 55.00, 6.0, "Old", "2024-04-30 23:00:00", "2024-05-01", false},
		{18, 1, 56.00, 6.25, "", "2024-05-31 00:00:01", "2024-06-01", true},
	},
	"order lines": {{1, 9.5, "a", "it's"}, {1, 2.0, "b", `q"q`}, {5, 3.0, nil, "x"}, {9, 4.0, "c", "it's"}},
	"reviews":     {{"1", 5}, {"2", 4}, {"x", 1}, {"99", 2}, {nil, 3}, {"10", 7}},
}

// meaning is how a server is filled and asked.
type meaning struct {
	dialect dialect.Dialect
	quote   string
	types   map[string]string // by the schema's
	exec    func(t testing.TB, statements ...string)
	config  source.Config
	skip    map[string]string // plans that this server cannot run, and why
	unknown *regexp.Regexp    // what an old server says of what it does not know yet
	zone    *time.Location    // in which the server keeps times that are shown in UTC
	early   string            // the year of the one row that is before 1970
}

// shopSQL fills the shop in a dialect.
func (m meaning) shopSQL() (statements []string) {
	name := func(s string) string { return m.quote + strings.ReplaceAll(s, m.quote, m.quote+m.quote) + m.quote }
	for _, table := range shop.Tables {
		var columns, rows []string
		for _, c := range table.Columns {
			typ := c.Type.String()
			if own, ok := m.types[typ]; ok {
				typ = own
			}
			columns = append(columns, name(c.Name)+" "+typ)
		}
		for _, row := range shopRows[table.Name] {
			cells := make([]string, len(row))
			for i, v := range row {
				switch v := v.(type) {
				case nil:
					cells[i] = "NULL"
				case string:
					v = strings.Replace(v, "1969-", m.early+"-", 1)
					cells[i] = "'" + strings.ReplaceAll(v, "'", "''") + "'"
					if m.dialect == dialect.MySQL || m.dialect == dialect.ClickHouse {
						cells[i] = strings.ReplaceAll(cells[i], `\`, `\\`)
					}
				default:
					cells[i] = fmt.Sprint(v)
				}
				if m.dialect == dialect.ClickHouse && v != nil {
					text := strings.NewReplacer("true", "1", "false", "0").Replace(strings.TrimSuffix(strings.TrimPrefix(cells[i], "'"), "'"))
					cells[i] = "CAST('" + text + "' AS " + m.types[table.Columns[i].Type.String()] + ")"
				}
			}
			rows = append(rows, "("+strings.Join(cells, ", ")+")")
		}
		create, insert := "CREATE TABLE "+name(table.Name)+" ("+strings.Join(columns, ", ")+")", "INSERT INTO "+name(table.Name)
		if m.dialect != dialect.ClickHouse {
			statements = append(statements, create, insert+" VALUES "+strings.Join(rows, ", "))
			continue
		}
		statements = append(statements, create+" ENGINE = Memory")
		for _, row := range rows {
			statements = append(statements, insert+" SELECT "+row[1:len(row)-1]) // VALUES would come from the client
		}
	}
	return statements
}

// corpus is every plan of the golden files.
func corpus(t testing.TB) map[string]*queryplan.Plan {
	t.Helper()
	raw, err := os.ReadFile(filepath.Join("..", "queryplan", "testdata", "plans.json"))
	if err != nil {
		t.Fatal(err)
	}
	var cases map[string]json.RawMessage
	if err := json.Unmarshal(raw, &cases); err != nil {
		t.Fatal(err)
	}
	out := map[string]*queryplan.Plan{}
	for name, raw := range cases {
		if out[name], err = queryplan.Parse(raw); err != nil {
			t.Fatal(err)
		}
	}
	return out
}

// here builds the shop for the embedded engine.
func here(t testing.TB, engine *query.Engine, early string) query.Database {
	t.Helper()
	dir := t.TempDir()
	db := query.Database{Path: filepath.Join(dir, "shop.duckdb")}
	var imports []query.Import
	for i, table := range shop.Tables {
		var lines []string
		types := map[string]string{}
		known := sqlpolicy.Table{Name: table.Name}
		for _, c := range table.Columns {
			types[c.Name] = c.Type.String()
			known.Columns = append(known.Columns, c.Name)
		}
		for _, row := range shopRows[table.Name] {
			object := map[string]any{}
			for i, v := range row {
				object[table.Columns[i].Name] = v
			}
			line, err := json.Marshal(object)
			if err != nil {
				t.Fatal(err)
			}
			lines = append(lines, strings.ReplaceAll(string(line), `"1969-`, `"`+early+"-"))
		}
		file := filepath.Join(dir, fmt.Sprintf("%d.ndjson", i))
		if err := os.WriteFile(file, []byte(strings.Join(lines, "\n")), 0o600); err != nil {
			t.Fatal(err)
		}
		imports = append(imports, query.Import{Table: table.Name, Files: []string{file}, Options: query.ImportOptions{Types: types}})
		db.Tables = append(db.Tables, known)
	}
	if _, err := engine.Build(t.Context(), db.Path, imports, nil); err != nil {
		t.Fatal(err)
	}
	return db
}

// decide is the policy's decision, which prints what runs, or that of an engine that
// decides by itself; in some systems plans run as they are.
func (m meaning) decide(t interface{ Fatalf(string, ...any) }, engine *query.Engine, remote source.Remote, db query.Database, sql string) sqlpolicy.Decision {
	if judge, ok := remote.(sqlpolicy.Judge); ok {
		d, err := judge.Judge(context.Background(), sqlpolicy.Scope{Dialect: m.dialect, Tables: db.Tables}, sql)
		if err != nil {
			t.Fatalf("%s: %v", sql, err)
		}
		return d
	}
	schema, ok := map[dialect.Dialect]string{dialect.PostgreSQL: "public", dialect.MySQL: "shop", dialect.ClickHouse: "default"}[m.dialect]
	if !ok {
		return sqlpolicy.Decision{SQL: sql}
	}
	db.Remote = &query.Remote{Dialect: m.dialect, Schema: schema}
	d, err := engine.Check(context.Background(), db, sql)
	if err != nil {
		t.Fatalf("%s: %v", sql, err)
	}
	return d
}

func connect(t testing.TB, c source.Config) source.Remote {
	t.Helper()
	remote, err := source.Connect(t.Context(), c)
	if err != nil {
		t.Fatal(err)
	}
	return remote
}

// mean runs the whole corpus there and compares the rows with those of the embedded
// engine: in order where the plan has one, as a set otherwise.
func mean(t *testing.T, m meaning) {
	t.Helper()
	engine := newEngine(t)
	m.early = cmp.Or(m.early, "1969")
	db := here(t, engine, m.early)
	m.exec(t, m.shopSQL()...)
	remote := connect(t, m.config)
	defer func() { remote.Close() }()
	plans := corpus(t)
	ran, unknown := 0, []string{}
	for _, name := range slices.Sorted(maps.Keys(plans)) {
		p := plans[name]
		there, err := p.SQLFor(m.dialect, shop)
		if f, ok := errors.AsType[*fault.Fault](err); ok && strings.Contains(f.Message, " has no ") {
			continue // the goldens list these
		} else if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		if m.skip[name] != "" {
			continue
		}
		sql, err := p.SQL(shop)
		if err != nil {
			t.Fatal(err)
		}
		want, err := engine.Run(t.Context(), query.Request{Database: db, SQL: sql})
		if err != nil {
			t.Errorf("%s here: %v", name, err)
			continue
		}
		got, err := remote.Run(t.Context(), m.decide(t, engine, remote, db, there), source.Limits{})
		if err != nil && m.unknown != nil && m.unknown.MatchString(err.Error()) {
			unknown = append(unknown, name)
			remote.Close() // an old server may have more to say on the line
			remote = connect(t, m.config)
			continue
		} else if err != nil {
			t.Errorf("%s: %v\n%s", name, err, there)
			continue
		}
		ran++
		if d := diff.Diff(table(t, want.Rows, len(p.OrderBy) > 0, nil), table(t, got.Rows, len(p.OrderBy) > 0, m.zone), diff.Comparer(sameCell)); d != "" {
			t.Errorf("%s (-here +there):\n%s\n%s", name, d, there)
		}
		for i, c := range got.Columns {
			if c.Name != want.Columns[i].Name {
				t.Errorf("%s: column %d is called %q, want %q", name, i, c.Name, want.Columns[i].Name)
			}
		}
	}
	if ran < len(plans)/2 {
		t.Errorf("only %d of %d plans ran there", ran, len(plans))
	}
	literals(t, m, engine, db, remote)
	t.Logf("%d of %d plans ran there; not known to this server: %d %v", ran, len(plans), len(unknown), unknown)
}

// literals sends texts as literals, which must come back as they were.
func literals(t *testing.T, m meaning, engine *query.Engine, db query.Database, remote source.Remote) {
	rapid.Check(t, func(rt *rapid.T) {
		text := rapid.StringOfN(rapid.RuneFrom([]rune(`'"\;-/*!%_$xnr0 ?[]{}:@`+"`\n\r\té😀")), 0, 12, -1).Draw(rt, "text")
		p := queryplan.Plan{Table: "reviews", Select: []queryplan.Expr{{Literal: queryplan.Literal(text), Alias: "l"}}, Limit: 1}
		sql, err := p.SQLFor(m.dialect, shop)
		if err != nil {
			rt.Fatal(err)
		}
		got, err := remote.Run(t.Context(), m.decide(rt, engine, remote, db, sql), source.Limits{})
		var rows [][]string
		if err == nil {
			err = json.Unmarshal(got.Rows, &rows)
		}
		if err != nil || len(rows) != 1 || rows[0][0] != text {
			rt.Fatalf("%q came back as %q, %v", text, rows, err)
		}
	})
}

// TestPlansPassPolicy reads every compiled plan as the policy does before it runs
// in a remote engine: none is refused, and what they call are the functions that the dialect
// lists, but for the names that the parser makes of syntax.
func TestPlansPassPolicy(t *testing.T) {
	t.Parallel()
	syntax := strings.Fields(`count_star like_escape not_like_escape ilike_escape not_ilike_escape regexp_full_match quantile_cont`)
	engine := newEngine(t)
	db := here(t, engine, "1969")
	for _, d := range []dialect.Dialect{dialect.PostgreSQL, dialect.MySQL, dialect.ClickHouse, dialect.Trino, dialect.Snowflake} { // SQLite decides by itself, see TestPlansInSQLite
		db.Remote = &query.Remote{Dialect: d, Schema: "shop"}
		for plan, p := range corpus(t) {
			sql, err := p.SQLFor(d, shop)
			if err != nil || plan == "filter_quoted_name" {
				continue // the goldens list these; the policy admits no name with a quote in it
			}
			decision, err := engine.Check(t.Context(), db, sql)
			if err != nil {
				t.Errorf("%s, %s: %v\n%s", d, plan, err, sql)
				continue
			}
			for _, f := range decision.Functions {
				if !slices.Contains(queryplan.Functions(d), f) && !slices.Contains(syntax, f) && !strings.ContainsAny(f, "+-*/|~!") {
					t.Errorf("%s, %s: calls %s", d, plan, f)
				}
			}
		}
	}
}

// A cell is a value as text, whatever type its system gave it.
type cell string

var moment = regexp.MustCompile(`^(\d{4}-\d\d-\d\d)[ T](\d\d:\d\d:\d\d)(\.0+)?Z?$`)

func table(t testing.TB, rows json.RawMessage, ordered bool, zone *time.Location) [][]cell {
	t.Helper()
	var raw [][]json.RawMessage
	if err := json.Unmarshal(rows, &raw); err != nil {
		t.Fatal(err)
	}
	out := make([][]cell, len(raw))
	for i, row := range raw {
		for _, v := range row {
			text := string(v)
			switch {
			case text == "true":
				text = "1"
			case text == "false":
				text = "0"
			case text[0] == '"':
				if err := json.Unmarshal(v, &text); err != nil {
					t.Fatal(err)
				}
				if at, err := time.Parse(time.DateTime+"-07", text); err == nil && zone != nil {
					text = at.In(zone).Format(time.DateTime)
				}
				if m := moment.FindStringSubmatch(text); m != nil {
					text = strings.TrimSuffix(m[1]+" "+m[2], " 00:00:00")
				}
				text = "'" + text
			}
			out[i] = append(out[i], cell(text))
		}
	}
	if !ordered {
		slices.SortFunc(out, func(a, b []cell) int { return strings.Compare(rough(a), rough(b)) })
	}
	return out
}

// rough is a row with numbers of few digits, to sort by.
func rough(row []cell) string {
	var b strings.Builder
	for _, c := range row {
		if f, err := strconv.ParseFloat(strings.Trim(string(c), "' "), 64); err == nil {
			fmt.Fprintf(&b, "%020.4f|", f)
			continue
		}
		b.WriteString(string(c) + "|")
	}
	return b.String()
}

// sameCell compares numbers with the tolerance of doubles.
func sameCell(a, b cell) bool {
	if a == b {
		return true
	}
	x, errX := strconv.ParseFloat(strings.TrimPrefix(string(a), "'"), 64)
	y, errY := strconv.ParseFloat(strings.TrimPrefix(string(b), "'"), 64)
	return errX == nil && errY == nil && math.Abs(x-y) <= 1e-9*max(1, math.Abs(x), math.Abs(y))
}

func TestPlansInSQLite(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "shop.db")
	db, err := sql.Open("sqlite", path)
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	mean(t, meaning{
		dialect: dialect.SQLite, quote: `"`, config: source.Config{URL: "sqlite:" + path, SQLite: pool(t)},
		skip: map[string]string{"order_text_function": "SQLite folds ASCII letters only"},
		exec: func(t testing.TB, statements ...string) { run(t, db, statements...) },
	})
}

func TestPlansInPostgreSQL(t *testing.T) {
	t.Parallel()
	server := sourcetest.Postgres(t)
	admin := fmt.Sprintf("postgres:///postgres?host=%s&user=owner", server.Socket)
	execPostgres(t, admin, `CREATE DATABASE shop TEMPLATE template0 LOCALE_PROVIDER icu ICU_LOCALE 'en-US'`)
	address := fmt.Sprintf("postgres:///shop?host=%s&user=owner", server.Socket)
	mean(t, meaning{
		dialect: dialect.PostgreSQL, quote: `"`, types: map[string]string{"DOUBLE": "DOUBLE PRECISION"}, config: source.Config{URL: address, AllowOwner: true},
		exec: func(t testing.TB, statements ...string) { execPostgres(t, address, statements...) },
	})
}

func TestPlansInMariaDB(t *testing.T) {
	t.Parallel()
	server := sourcetest.MariaDB(t)
	db, err := sql.Open("mysql", "root@unix("+server.Socket+")/?time_zone=%27%2B00:00%27")
	if err != nil {
		t.Fatal(err)
	}
	run(t, db, "CREATE DATABASE shop CHARACTER SET utf8mb4 COLLATE utf8mb4_general_ci", "CREATE USER reader IDENTIFIED BY '"+secret+"'", "GRANT SELECT ON shop.* TO reader")
	db.Close()
	if db, err = sql.Open("mysql", "root@unix("+server.Socket+")/shop?time_zone=%27%2B00:00%27"); err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	mean(t, meaning{
		dialect: dialect.MySQL, quote: "`", types: map[string]string{"VARCHAR": "VARCHAR(100)", "TIMESTAMP": "DATETIME"},
		config: source.Config{URL: "mysql://reader@localhost/shop?socket=" + server.Socket, Password: source.NewSecret(secret)},
		exec:   func(t testing.TB, statements ...string) { run(t, db, statements...) },
	})
}

func TestPlansInClickHouse(t *testing.T) {
	t.Parallel()
	server := sourcetest.ClickHouse(t, secret)
	db, err := sql.Open("clickhouse", "clickhouse://writer@"+server.Socket+"/default")
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	mean(t, meaning{
		dialect: dialect.ClickHouse, quote: "`", early: "1979",
		skip:    map[string]string{"filter_quoted_name": "the policy admits no name with a quote in it"},
		zone:    time.FixedZone("Asia/Tokyo", 9*60*60),
		unknown: regexp.MustCompile(`Unknown function|Syntax error|more than one JOIN|Illegal types Decimal|No operation .* Decimal|Unknown identifier: TRUE`),
		types: map[string]string{
			"INTEGER": "Nullable(Int32)", "VARCHAR": "Nullable(String)", "DECIMAL(10,2)": "Nullable(Decimal(10, 2))", "DOUBLE": "Nullable(Float64)",
			"TIMESTAMP": "Nullable(DateTime)", "DATE": "Nullable(Date)", "BOOLEAN": "Nullable(UInt8)",
		},
		config: source.Config{URL: "clickhouse://reader@" + server.Socket + "/default", Password: source.NewSecret(secret)},
		exec:   func(t testing.TB, statements ...string) { run(t, db, statements...) },
	})
}
