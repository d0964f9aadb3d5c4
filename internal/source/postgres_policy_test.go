package source_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"

	"interlock/internal/dialect"
	"interlock/internal/source/sourcetest"
	"interlock/internal/sqlpolicy"
)

// forbidden are functions and tables that no allowed statement may reach. The tables do
// not exist, so that the server names them when a statement does.
const forbidden = `pg_sleep|pg_read_file|pg_ls_dir|lo_get|lo_import|set_config|current_setting|pg_terminate_backend|query_to_xml|nextval|version|hidden|passwords|pg_authid|pg_class`

var (
	forbiddenCall = regexp.MustCompile(`\b(` + forbidden + `)\(`)
	forbiddenName = regexp.MustCompile(`\b(` + forbidden + `)\b`)
)

// A policyProbe lets a real server say what an allowed statement means.
type policyProbe struct {
	policy *sqlpolicy.Policy
	scope  sqlpolicy.Scope
	conn   *pgx.Conn
	ran    int
}

func newPolicyProbe(t testing.TB) *policyProbe {
	server := sourcetest.Postgres(t)
	address := fmt.Sprintf("postgres:///postgres?host=%s&user=owner", server.Socket)
	execPostgres(t, address, append([]string{
		"CREATE TABLE customers (id bigint PRIMARY KEY, name text, city text, meta json)",
		"CREATE TABLE orders (id bigint PRIMARY KEY, customer_id bigint, amount numeric(12,2), status text, day date)",
	}, sourcetest.PostgresReader...)...)
	conn, err := pgx.Connect(t.Context(), strings.Replace(address, "owner", "reader", 1))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { conn.Close(context.Background()) })
	if _, err := conn.Exec(t.Context(), "SET search_path = pg_catalog, pg_temp; SET default_transaction_read_only = on; SET statement_timeout = '5s'", pgx.QueryExecModeSimpleProtocol); err != nil {
		t.Fatal(err)
	}
	return &policyProbe{policy: sqlpolicy.New(sqlpolicy.Config{Cache: 1}), conn: conn, scope: sqlpolicy.Scope{
		Dialect: dialect.PostgreSQL, Schema: "public", Alias: "shop",
		Tables: []sqlpolicy.Table{{Name: "customers", Columns: []string{"id", "name", "city", "meta"}}, {Name: "orders", Columns: []string{"id", "customer_id", "amount", "status", "day"}}},
	}}
}

// check fails if the policy allows a statement that the server understands otherwise: a
// name means nothing there, or what is forbidden, or a table that the decision does not list.
func (p *policyProbe) check(t testing.TB, sql string) {
	t.Helper()
	d, err := p.policy.Check(t.Context(), nil, p.scope, sql)
	if err != nil {
		return
	}
	var plan json.RawMessage
	err = p.conn.QueryRow(t.Context(), "EXPLAIN (VERBOSE, FORMAT JSON) "+d.SQL).Scan(&plan)
	said, refused := errors.AsType[*pgconn.PgError](err)
	switch {
	case refused && aboutForm(said):
		return
	case refused && slices.Contains([]string{"42P01", "42703", "3F000", "42702", "42712", "42601", "42501"}, said.Code):
		t.Errorf("allowed, and the server knows no such name: %s (%s)\n%q\n%s", said.Message, said.Code, sql, d.SQL)
	case refused && forbiddenName.MatchString(said.Message):
		t.Errorf("allowed, and the server names what is forbidden: %s (%s)\n%q\n%s", said.Message, said.Code, sql, d.SQL)
	case refused:
		return // types do not fit, and the like
	case err != nil:
		t.Fatalf("%v\n%q", err, sql)
	}
	p.ran++
	if call := forbiddenCall.Find(plan); call != nil {
		t.Errorf("allowed, and calls %s\n%q\n%s", call, sql, d.SQL)
	}
	var tree any
	if len(plan) > 0 && json.Unmarshal(plan, &tree) != nil {
		t.Fatalf("no plan: %s", plan)
	}
	eachScan(tree, func(schema, table string) {
		listed := slices.ContainsFunc(d.Touches, func(u sqlpolicy.Touch) bool { return u.Table == table })
		if schema != "public" || !listed {
			t.Errorf("allowed, and reads %s.%s, which is not listed: %v\n%q\n%s", schema, table, d.Touches, sql, d.SQL)
		}
	})
}

// aboutForm says that an error is about grouping, or about ORDER BY, and not about what a
// name means.
func aboutForm(e *pgconn.PgError) bool {
	switch e.Code {
	case "42803", "42P10":
		return true
	case "42702":
		return !strings.HasPrefix(e.Message, "column reference")
	case "42601":
		return !strings.Contains(e.Message, "syntax error")
	}
	return false
}

func eachScan(v any, yield func(schema, table string)) {
	switch v := v.(type) {
	case []any:
		for _, item := range v {
			eachScan(item, yield)
		}
	case map[string]any:
		if table, ok := v["Relation Name"].(string); ok {
			schema, _ := v["Schema"].(string)
			yield(schema, table)
		}
		for _, item := range v {
			eachScan(item, yield)
		}
	}
}

// TestPostgresPolicySoup sends what the policy allows of random statements to a real
// server. INTERLOCK_SOUP sets how many.
func TestPostgresPolicySoup(t *testing.T) {
	t.Parallel()
	p := newPolicyProbe(t)
	n, _ := strconv.Atoi(os.Getenv("INTERLOCK_SOUP"))
	if n == 0 {
		n = 3000
	}
	for seed := range n {
		p.check(t, newPgSoup(uint64(seed), 9).statement())
		if t.Failed() {
			t.Fatalf("seed %d", seed)
		}
	}
	if p.ran < n/50 {
		t.Errorf("only %d of %d statements were allowed and planned: the soup is too thin", p.ran, n)
	}
	t.Logf("%d of %d statements were allowed and planned", p.ran, n)
}

// FuzzPostgresPolicy does the same with statements that the fuzzer finds.
func FuzzPostgresPolicy(f *testing.F) {
	for seed := range 50 {
		f.Add(newPgSoup(uint64(seed), 10).statement())
	}
	p := newPolicyProbe(f)
	f.Fuzz(func(t *testing.T, sql string) { p.check(t, sql) })
}

// A pgSoup makes statements of pieces that have passed policies before: comments that end
// where nobody thinks, strings that go on, calls in disguise, names that hide others.
// Pieces name others in braces, which are filled in when they are chosen.
type pgSoup struct {
	*rand.Rand
	depth int
	names []string // what the FROM around the place offers, with a column
}

func newPgSoup(seed, kind uint64) *pgSoup { return &pgSoup{Rand: rand.New(rand.NewPCG(seed, kind))} }

func (g *pgSoup) of(pieces ...string) string { return g.fill(pieces[g.IntN(len(pieces))]) }

func (g *pgSoup) maybe(percent int, piece string) string {
	if g.IntN(100) < percent {
		return g.fill(piece)
	}
	return ""
}

var brace = regexp.MustCompile(`\{[a-z]+\}`)

func (g *pgSoup) fill(piece string) string {
	return brace.ReplaceAllStringFunc(piece, func(hole string) string {
		switch hole {
		case "{query}":
			return g.query()
		case "{name}":
			return g.name()
		case "{cn}":
			return g.of("id", "id", "id", "status", "x", "x", "name", "value", "column1", "pg_sleep", "lo_get", "version", "o", "tableoid", `"?column?"`)
		case "{col}":
			return g.column()
		case "{ca}":
			return g.of("x", "x", "id", "pg_sleep", "lo_get", "o", "version", "status")
		case "{expr}":
			return g.expr()
		case "{cond}":
			return g.of("true", "{col} IS NOT NULL", "{col}::text = 'a'", "{col} = {col}", "EXISTS ({query})", "{col} IN ({query})", "{col}::text ~* 'x'", "{expr} IS DISTINCT FROM NULL")
		}
		return hole
	})
}

func (g *pgSoup) name() string {
	if len(g.names) > 0 && g.IntN(3) > 0 {
		name, _, _ := strings.Cut(g.names[g.IntN(len(g.names))], ".")
		return name
	}
	return g.of("o", "c", "x", "q", "orders", "customers", "hidden", "pg_sleep", "lo_get", "id", `"O"`, "O", "shop")
}

// column is one of those that are there, mostly, or a name that something else may have.
func (g *pgSoup) column() string {
	if len(g.names) > 0 && g.IntN(5) > 0 {
		return g.names[g.IntN(len(g.names))]
	}
	return g.of("{cn}", "{name}.{cn}", "{name}.{cn}", "public.orders.{cn}", "shop.orders.{cn}", "recurring.hidden.{cn}")
}

// statement is a query, at times with pieces of it cut out, doubled or put elsewhere.
func (g *pgSoup) statement() string {
	g.depth = 3
	sql := g.query()
	if g.IntN(3) > 0 {
		return sql
	}
	words := strings.SplitAfter(sql, " ")
	for range 1 + g.IntN(2) {
		i, j := g.IntN(len(words)), g.IntN(len(words))
		switch g.IntN(5) {
		case 0:
			words[i] = words[j]
		case 1:
			words[i], words[j] = words[j], words[i]
		case 2:
			words[i] = ""
		default:
			words[i] += g.of("--\r", "--\n", "-- x\r\n", "/* */", "/* /* */ */", "/*", "*/", "|| E'a'\n'\\''", "|| 'a'\r'b'", "$$", "|| $a$ ' $a$", "|| U&'\\0041'", "U&\"d\\0061t\" ", "\u00a0", "\u2003", "\ufeff",
				"\t", ";", "::regclass ", "OPERATOR(public.+) 1", "OPERATOR(pg_catalog.+) 1 ", "COLLATE \"C\" ", "(", ")", ", hidden ", " FOR UPDATE", "INTO x ", "\\", "$1 ", "? ", "[1]", ".*", ".pg_sleep ", "AS x ", "LATERAL ",
				"VARIADIC ", "ONLY ", "recurring.", "public.", "shop.", "pg_catalog.")
		}
	}
	return strings.Join(words, "")
}

func (g *pgSoup) query() string {
	if g.depth <= 0 {
		return g.of("SELECT 1", "SELECT 1 AS {ca}", "VALUES (1, 'a')", "SELECT * FROM orders", "SELECT id, status FROM orders o", "SELECT {col}", "SELECT {col}", "SELECT * FROM hidden", "SELECT o FROM orders o", "SELECT pg_sleep(1)")
	}
	g.depth--
	defer func(outer []string) { g.names = outer; g.depth++ }(g.names)
	g.names = slices.Clone(g.names)
	with := ""
	if g.IntN(4) == 0 {
		recursive, name := g.of("", "", "RECURSIVE "), g.of("x", "q", "orders", "hidden", "o", "pg_sleep")
		with = "WITH " + recursive + name + g.maybe(30, "({ca})") + " AS " + g.of("", "MATERIALIZED ") + "({query}" + g.maybe(30, " UNION ALL SELECT * FROM "+name) + ") "
		with = g.fill(with)
		g.names = append(g.names, name+".{cn}")
	}
	if g.IntN(8) == 0 {
		return with + g.fill("{query}") + g.of(" UNION ", " UNION ALL ", " EXCEPT ", " INTERSECT ") + g.fill("{query}") + g.maybe(30, " ORDER BY {cn}")
	}
	from := ""
	if g.IntN(10) > 0 {
		from = " FROM " + g.from()
	}
	list := g.of("*", "{name}.*", "{col}", "{col}", "{expr}", "{expr} AS {ca}")
	for range g.IntN(2) {
		list += ", " + g.of("{col}", "{expr}", "{name}.*")
	}
	return with + "SELECT " + g.maybe(10, "DISTINCT ") + list + from + g.maybe(40, " WHERE {cond}") + g.maybe(5, " GROUP BY {col}") + g.maybe(5, " GROUP BY GROUPING SETS (({col}), ())") +
		g.maybe(10, " ORDER BY {cn}") + g.maybe(5, " ORDER BY {col} DESC NULLS LAST") + g.maybe(15, " LIMIT 1")
}

func (g *pgSoup) from() string {
	out := g.item()
	for range g.IntN(3) {
		switch g.IntN(5) {
		case 0, 1:
			out += ", " + g.item()
		case 2:
			out = "(" + out + g.of(" JOIN ", " LEFT JOIN ", " FULL JOIN ") + g.item() + " USING (" + g.of("id", "id", "x", "{cn}") + ")" + g.maybe(30, " AS {name}") + ")" + g.maybe(20, " AS {name}")
		case 3:
			out += " NATURAL JOIN " + g.item()
		default:
			out += g.of(" JOIN ", " LEFT JOIN ", " JOIN LATERAL ") + g.item() + g.fill(" ON {cond}")
		}
	}
	return out
}

// item is an entry of FROM with an alias of its own, mostly.
func (g *pgSoup) item() string {
	alias := g.of("o", "c", "x", "q", "a", "b", "d", "e", "orders", "pg_sleep", "lo_get")
	columns, name := g.of("", "", "({ca})", "({ca}, {ca})"), alias
	table, column := "", "id"
	switch g.IntN(9) {
	case 0, 1, 2:
		table = g.of("orders", "orders", "orders", "customers", "customers", "shop.orders", "public.orders", "orders", "hidden", "recurring.hidden", "pg_class")
	case 3, 4:
		table, column = g.of("", "", "LATERAL ")+"("+g.query()+")", g.of("x", "id", "{ca}")
	case 5:
		table, column = g.of("", "LATERAL ")+g.of("generate_series(1, 3)", "unnest(ARRAY[1, 2])", "unnest(ARRAY[1], ARRAY['a'])", "json_each('{}')", "unnest(ARRAY[{col}])", "unnest(ARRAY[o])", "json_array_elements('[1]')", "pg_ls_dir('.')")+g.maybe(20, " WITH ORDINALITY"), alias
	case 6:
		table, column = "ROWS FROM (generate_series(1, 2), unnest(ARRAY['a']))", "unnest"
	case 7:
		table = g.of("orders", "customers") + " TABLESAMPLE " + g.of("BERNOULLI (1)", "SYSTEM (1) REPEATABLE (1)")
		columns, alias, name = "", "", "orders"
	default:
		table, column = "(VALUES (1, 'a'), (2, 'b'))", "column1"
	}
	if columns != "" {
		column = strings.TrimRight(strings.Fields(columns[1:])[0], ",)")
	}
	g.names = append(g.names, name+"."+column)
	if alias != "" {
		table += " AS " + alias + columns
	}
	return table
}

func (g *pgSoup) expr() string {
	if g.depth <= 0 {
		return g.of("1", "'a'", "{col}")
	}
	g.depth--
	defer func() { g.depth++ }()
	return g.of(
		"{col}", "{col}", "({query})", "ARRAY({query})", "count(*)", "count({col})", "to_jsonb({name})", "row_to_json({name}.*)", "{name}", "lower({col}::text)",
		"pg_catalog.lower('A')", "public.lower('A')", "lo_get({col})", "set_config('role', 'none', true)", "({col}).pg_sleep", "({name}).id", "({expr})::text",
		"{col}::text::date", "{col}::text::regclass", "{col}::orders", "CASE WHEN {cond} THEN {expr} END", "coalesce({col}::text, 'x')", "E'a'\n'\\''",
		"sum(1) OVER (PARTITION BY {col} ORDER BY {col})", "make_interval(days => 1)", "concat(VARIADIC ARRAY['a'])", "1 OPERATOR(public.+) 2", "1 OPERATOR(pg_catalog.+) 2", "{col}::text COLLATE \"C\"", "{col}::text COLLATE public.\"C\"",
		"xmlelement(name a, 'b')", "current_user", "current_date", "(ARRAY[1, 2])[1]", "(ARRAY[1, 2])[1:2]", "ROW({col}, 1)", "name({name})", "id({name})", "string_agg({col}::text, ',' ORDER BY {col})",
		"count(*) FILTER (WHERE {cond})", "extract(year FROM current_date)", "trim(both 'x' from 'xa')", "nullif({col}, NULL)", "'{\"a\":1}'::jsonb #>> '{a}'")
}
