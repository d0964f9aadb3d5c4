package catalog_test

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/jackc/pgx/v5"

	"interlock/internal/catalog"
	"interlock/internal/dialect"
	"interlock/internal/fault"
	"interlock/internal/query"
	"interlock/internal/schema"
	"interlock/internal/source"
	"interlock/internal/source/sourcetest"
	"interlock/internal/sqlpolicy"
)

// shopThere is the shop of the policy's corpus as tables of a database, and one table
// that the dataset does not have.
var shopThere = []string{
	`CREATE TABLE customers (id bigint PRIMARY KEY, name text, city text, signup date, meta json)`,
	`CREATE TABLE orders (id bigint PRIMARY KEY, customer_id bigint REFERENCES customers (id), amount numeric(12,2), status text, placed timestamptz, day date, note text)`,
	`CREATE TABLE items (order_id bigint, sku text, qty integer, price numeric(12,2))`,
	`CREATE TABLE hidden (id bigint, password text)`,
	`INSERT INTO hidden VALUES (1, 'hunter2')`,
	`INSERT INTO customers SELECT i, 'Customer ' || i, 'Bern', '2024-01-01', '{"tier": 1, "tags": ["a", "b"]}' FROM generate_series(1, 100) i`,
	`INSERT INTO orders SELECT i, 1 + i % 100, i / 100.0, 'paid', '2024-03-01 12:00:00+00', '2024-03-01', 'note ' || i FROM generate_series(1, 20000) i`,
}

// postgresShop is a world with the shop in a real PostgreSQL, queried where it is.
func postgresShop(t *testing.T) (*world, *sourcetest.Server, string) {
	t.Helper()
	server := sourcetest.Postgres(t)
	address := fmt.Sprintf("postgres://owner@/postgres?host=%s", server.Socket)
	conn, err := pgx.Connect(t.Context(), address)
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close(t.Context())
	for _, s := range slices.Concat(shopThere, sourcetest.PostgresReader) {
		if _, err := conn.Exec(t.Context(), s); err != nil {
			t.Fatalf("%s: %v", s, err)
		}
	}
	w := newWorld(t, nil)
	reader := strings.Replace(address, "owner@", "reader@", 1)
	if err := w.Add(t.Context(), catalog.Connection{Alias: "shop", URL: reader, Tables: []string{"customers", "orders", "items"}, Remote: true}, source.Secret{}); err != nil {
		t.Fatal(err)
	}
	return w, server, address
}

func (w *world) there(t *testing.T, sql string, want string) {
	t.Helper()
	r, err := w.Query(t.Context(), "shop", query.Request{SQL: sql})
	if err != nil {
		t.Errorf("%s: %v", sql, err)
	} else if string(r.Rows) != want {
		t.Errorf("%s: %s, want %s", sql, r.Rows, want)
	}
}

// A dataset that stays in its database is described, queried and bounded like any
// other, and none of its rows is copied.
func TestRemote(t *testing.T) {
	w, server, _ := postgresShop(t)
	w.there(t, `SELECT count(*), sum(amount) FROM orders`, `[[20000,2000100.00]]`)
	w.there(t, `SELECT status, to_char(placed, 'YYYY-MM') FROM public.orders WHERE id = 7`, `[["paid","2024-03"]]`)
	w.there(t, `SELECT c.name FROM shop.orders o JOIN shop.customers c ON c.id = o.customer_id ORDER BY o.id LIMIT 1`, `[["Customer 2"]]`)

	s, err := w.Schema(t.Context(), "shop")
	if err != nil {
		t.Fatal(err)
	}
	if len(s.Tables) != 3 || s.Dialect != "postgres" || s.Tables[2].Rows != 20000 || !strings.HasPrefix(s.Version, "live-") || !strings.Contains(string(s.Tables[0].Sample), "Customer 1") {
		t.Errorf("%+v", s)
	}
	r, err := w.Relations(t.Context(), "shop")
	if err != nil || len(r.Links) != 1 || r.Links[0] != (schema.Relation{Table: "orders", Column: "customer_id", RefTable: "customers", RefColumn: "id"}) {
		t.Errorf("%+v, %v", r, err)
	}
	if _, _, err := w.Database(t.Context(), "shop"); !fault.Is(err, fault.BadRequest) {
		t.Errorf("as a copy: %v", err)
	}
	scoped, err := w.LoadScoped(t.Context(), "orders", []schema.Condition{{Column: "id", Op: schema.Lte, Value: 3.0}}, 2)
	if err != nil || scoped.TotalRows != 3 || scoped.PreviewRows != 2 {
		t.Errorf("%+v, %v", scoped, err)
	}

	got, err := w.Query(t.Context(), "shop", query.Request{SQL: `SELECT * FROM orders`, MaxRows: 10})
	if err != nil || got.RowCount != 10 || !got.Limited || got.Columns[2] != (schema.Column{Name: "amount", Type: schema.ParseType("DECIMAL(12,2)")}) {
		t.Errorf("%+v, %v", got, err)
	}
	want := []sqlpolicy.Touch{{Table: "customers", Columns: []string{"city", "id"}}, {Table: "orders", Columns: []string{"amount", "customer_id"}}}
	got, err = w.Query(t.Context(), "shop", query.Request{SQL: `SELECT city, sum(amount) FROM orders o JOIN customers c ON c.id = o.customer_id GROUP BY 1`})
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(want, got.Decision.Touches); diff != "" {
		t.Error(diff)
	}
	if _, err := w.Query(t.Context(), "shop", query.Request{SQL: `SELECT nonsense FROM orders`}); !fault.Is(err, fault.SQLError) {
		t.Errorf("an unknown column: %v", err)
	}
	slow := `SELECT count(*) FROM orders a, orders b, orders c WHERE a.note < b.note AND b.note < c.note`
	if _, err := w.Query(t.Context(), "shop", query.Request{SQL: slow, Timeout: 100 * time.Millisecond}); !fault.Is(err, fault.QueryTimeout) {
		t.Errorf("a slow statement: %v", err)
	}
	cancelled, cancel := context.WithCancel(t.Context())
	timer := time.AfterFunc(50*time.Millisecond, cancel)
	defer timer.Stop()
	began := time.Now()
	if _, err := w.Query(cancelled, "shop", query.Request{SQL: slow}); !fault.Is(err, fault.QueryCancelled) {
		t.Errorf("cancelled: %v", err)
	}
	if took := time.Since(began); took > 2*time.Second {
		t.Errorf("the cancel took %v", took)
	}

	// One user cannot take all that runs at once: another is let in beside it.
	crowd, done := context.WithCancel(t.Context())
	var all sync.WaitGroup
	for range 6 {
		all.Go(func() { _, _ = w.Query(crowd, "shop", query.Request{SQL: slow, User: "ann", Timeout: time.Minute}) })
	}
	if r, err := w.Query(t.Context(), "shop", query.Request{SQL: `SELECT count(*) FROM items`, User: "ben"}); err != nil || string(r.Rows) != "[[0]]" {
		t.Errorf("beside a crowd: %v", err)
	}
	done()
	all.Wait()
	// Results come here whole, as a stream, and with their types.
	for sql, want := range map[string]string{
		`SELECT id, amount, placed, day, note FROM orders WHERE id <= 2 ORDER BY id`:                               "id,amount,placed,day,note\n1,0.01,2024-03-01 12:00:00+00,2024-03-01,note 1\n2,0.02,2024-03-01 12:00:00+00,2024-03-01,note 2\n",
		`SELECT sum(amount) AS total, 12345678901234567890.123 AS exact, NULL AS nothing, '' AS empty FROM orders`: "total,exact,nothing,empty\n2000100.00,12345678901234567890.123,,\"\"\n",
		`SELECT id, amount FROM orders WHERE false`:                                                                "id,amount\n",
	} {
		path := filepath.Join(t.TempDir(), "out.csv")
		if _, err := w.Export(t.Context(), "shop", query.Request{SQL: sql}, query.CSV, path); err != nil {
			t.Errorf("%s: %v", sql, err)
			continue
		}
		if got, err := os.ReadFile(path); err != nil || string(got) != want {
			t.Errorf("%s: %q, %v", sql, got, err)
		}
	}

	server.Stop(t)
	if _, err := w.Query(t.Context(), "shop", query.Request{SQL: `SELECT 1 FROM orders`}); !fault.Is(err, fault.SourceUnreadable) {
		t.Errorf("without its server: %v", err)
	}
}

// The corpus of the policy on real servers: what is allowed runs there, what is
// refused never arrives.
func TestRemoteCorpus(t *testing.T) {
	for name, open := range map[string]func(*testing.T) *world{
		"postgres": func(t *testing.T) *world { w, _, _ := postgresShop(t); return w },
		"mysql":    mariaShop,
		"sqlite":   sqliteShop,
	} {
		t.Run(name, func(t *testing.T) {
			w := open(t)
			for _, c := range corpus(t, "allow/"+name+".txt") {
				if _, err := w.Query(t.Context(), "shop", query.Request{SQL: c}); err != nil {
					t.Errorf("%s: %v", c, err)
				}
			}
			for _, file := range []string{"refuse/" + name + ".txt", "refuse/every.txt"} {
				for _, c := range corpus(t, file) {
					_, err := w.Query(t.Context(), "shop", query.Request{SQL: c})
					if !fault.Is(err, fault.SQLPolicy) && !fault.Is(err, fault.SQLError) {
						t.Errorf("%s: %v", c, err)
					}
				}
			}
		})
	}
}

// shopOf makes the shop in a database and a world over it.
func shopOf(t *testing.T, driver, dsn, address string, before ...string) *world {
	t.Helper()
	db, err := sql.Open(driver, dsn)
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	db.SetMaxOpenConns(1)
	for _, s := range append(before,
		"CREATE TABLE customers (id bigint PRIMARY KEY, name text, city text, signup date, meta text)",
		"CREATE TABLE orders (id bigint PRIMARY KEY, customer_id bigint, amount decimal(12,2), status text, placed datetime, day date, note text, never date)",
		"CREATE TABLE items (order_id bigint, sku text, qty integer, price decimal(12,2))",
		"CREATE TABLE hidden (id bigint, password text)",
		"INSERT INTO customers VALUES (1, 'Ada', 'Bern', '2024-01-01', '{}')",
		"INSERT INTO orders VALUES (1, 1, 10.50, 'paid', '2024-03-01 12:00:00', '2024-03-01', '{\"a\": 1}', NULL), (2, 1, 20, 'open', '2024-03-02 12:00:00', '2024-03-02', NULL, '0000-00-00')",
	) {
		if _, err := db.ExecContext(t.Context(), s); err != nil {
			t.Fatalf("%s: %v", s, err)
		}
	}
	w := newWorld(t, nil)
	w.address = address
	if err := w.Add(t.Context(), catalog.Connection{Alias: "shop", URL: address, Tables: []string{"customers", "orders", "items"}, Remote: true}, source.Secret{}); err != nil {
		t.Fatal(err)
	}
	return w
}

func mariaShop(t *testing.T) *world {
	server := sourcetest.MariaDB(t)
	return shopOf(t, "mysql", "root@unix("+server.Socket+")/", "mysql://root@localhost/store?socket="+server.Socket, "CREATE DATABASE store", "USE store")
}

func sqliteShop(t *testing.T) *world {
	path := filepath.Join(t.TempDir(), "shop.sqlite")
	return shopOf(t, "sqlite", path, "sqlite:"+path)
}

// corpus gives the statements of a file of the policy's corpus.
func corpus(t *testing.T, name string) (statements []string) {
	t.Helper()
	text, err := os.ReadFile(filepath.Join("..", "sqlpolicy", "testdata", "remote", filepath.FromSlash(name)))
	if err != nil {
		t.Fatal(err)
	}
	for _, block := range strings.Split(string(text), "=== ")[1:] {
		_, body, _ := strings.Cut(block, "\n")
		sql, _, _ := strings.Cut(body, "\n---")
		statements = append(statements, sql)
	}
	return statements
}

// Every function that may be called in PostgreSQL is one of its own, and none changes
// anything or reads more than its arguments: the volatile ones are known by name.
func TestRemoteFunctionsReviewed(t *testing.T) {
	_, _, address := postgresShop(t)
	conn, err := pgx.Connect(t.Context(), address)
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close(t.Context())
	volatile := strings.Fields("random clock_timestamp gen_random_uuid")
	// Names that the parser makes of syntax, or that are syntax to the server.
	syntax := strings.Fields(`count_star coalesce nullif greatest least grouping list_value row extract current_date current_time current_timestamp localtime localtimestamp
		quantile_cont quantile_disc instr trim like_escape not_like_escape ilike_escape not_ilike_escape regexp_full_match regexp_matches array_slice
		to_years to_months to_days to_hours to_minutes to_seconds to_milliseconds to_microseconds to_weeks to_quarters to_decades to_centuries to_millennia`)
	newer := strings.Fields("any_value date_add") // of PostgreSQL 16; an older server says that it has none
	rules, _ := sqlpolicy.RulesFor(dialect.PostgreSQL)
	for _, name := range rules.Functions() {
		if strings.ContainsAny(name, "+-*/%^|&<>~!@=") || slices.Contains(syntax, name) || slices.Contains(newer, name) {
			continue
		}
		var n int
		var kinds string
		err := conn.QueryRow(t.Context(), `SELECT count(*), coalesce(string_agg(DISTINCT provolatile::text, ''), '') FROM pg_proc WHERE proname = $1 AND pronamespace = 'pg_catalog'::regnamespace`, name).Scan(&n, &kinds)
		switch {
		case err != nil:
			t.Fatal(err)
		case n == 0:
			t.Errorf("%s is no function of the server", name)
		case strings.Contains(kinds, "v") != slices.Contains(volatile, name):
			t.Errorf("%s: volatility %s", name, kinds)
		}
	}
}

// Operators and types of the lists are the server's own; no operator is volatile, and no
// type looks a name up.
func TestRemoteOperatorsReviewed(t *testing.T) {
	_, _, address := postgresShop(t)
	conn, err := pgx.Connect(t.Context(), address)
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close(t.Context())
	rules, _ := sqlpolicy.RulesFor(dialect.PostgreSQL)
	if len(rules.Operators()) < 50 || len(rules.Types()) < 40 {
		t.Fatalf("%d operators, %d types", len(rules.Operators()), len(rules.Types()))
	}
	for _, name := range rules.Operators() {
		var n, volatile int
		err := conn.QueryRow(t.Context(), `SELECT count(*), count(*) FILTER (WHERE p.provolatile = 'v' OR p.pronamespace <> 'pg_catalog'::regnamespace) FROM pg_operator o JOIN pg_proc p ON p.oid = o.oprcode
			WHERE oprname = $1 AND oprnamespace = 'pg_catalog'::regnamespace`, name).Scan(&n, &volatile)
		if err != nil || n == 0 || volatile > 0 {
			t.Errorf("operator %s: %d of them, %d volatile or of somebody, %v", name, n, volatile, err)
		}
	}
	for _, name := range rules.Types() {
		var category string
		err := conn.QueryRow(t.Context(), `SELECT typcategory::text FROM pg_type WHERE typname = $1 AND typnamespace = 'pg_catalog'::regnamespace AND typtype IN ('b', 'r', 'm')`, name).Scan(&category)
		if err != nil || strings.HasPrefix(name, "reg") {
			t.Errorf("type %s: %v", name, err)
		}
	}
}

// Times and unsigned numbers of MariaDB keep their types on their way here; one that
// is no time here comes as it is written.
func TestRemoteTypes(t *testing.T) {
	w := mariaShop(t)
	for sql, want := range map[string]string{
		"SELECT day, placed, amount, CAST(18446744073709551615 AS UNSIGNED) AS big FROM orders WHERE id = 1": "day,placed,amount,big\n2024-03-01,2024-03-01 12:00:00,10.50,18446744073709551615\n",
		"SELECT never, day FROM orders WHERE id = 2":                                                         "never,day\n0000-00-00,2024-03-02\n",
	} {
		path := filepath.Join(t.TempDir(), "out.csv")
		if _, err := w.Export(t.Context(), "shop", query.Request{SQL: sql}, query.CSV, path); err != nil {
			t.Errorf("%s: %v", sql, err)
			continue
		}
		if got, err := os.ReadFile(path); err != nil || string(got) != want {
			t.Errorf("%s: %q, %v", sql, got, err)
		}
	}
	r, err := w.Query(t.Context(), "shop", query.Request{SQL: "SELECT id, day, placed FROM `store`.orders WHERE id = 1"})
	if err != nil || string(r.Rows) != `[[1,"2024-03-01","2024-03-01 12:00:00"]]` {
		t.Errorf("%+v, %v", r, err)
	}
	want := []schema.Column{{Name: "id", Type: schema.ParseType("BIGINT")}, {Name: "day", Type: schema.ParseType("DATE")}, {Name: "placed", Type: schema.ParseType("TIMESTAMP")}}
	if diff := cmp.Diff(want, r.Columns); diff != "" {
		t.Error(diff)
	}
}

// A file of SQLite can stay where it is, too; a folder cannot.
func TestRemoteSQLite(t *testing.T) {
	w := sqliteShop(t)
	w.there(t, "SELECT count(*), total(amount) FROM ORDERS", `[[2,30.5]]`)
	// A file that is put in its place is what is asked from then on, and one that is gone is missed.
	d, err := w.Get(t.Context(), "shop")
	if err != nil || d.Dialect != "sqlite" {
		t.Fatalf("%+v, %v", d, err)
	}
	path := strings.TrimPrefix(w.address, "sqlite:")
	other, err := sql.Open("sqlite", path+".new")
	if err != nil {
		t.Fatal(err)
	}
	for _, s := range []string{"CREATE TABLE orders (id bigint, amount decimal(12,2))", "INSERT INTO orders VALUES (9, 1)"} {
		if _, err := other.ExecContext(t.Context(), s); err != nil {
			t.Fatal(err)
		}
	}
	if err := errors.Join(other.Close(), os.Rename(path+".new", path)); err != nil {
		t.Fatal(err)
	}
	w.there(t, "SELECT count(*), total(amount) FROM ORDERS", `[[1,1]]`)
	// It runs in this process: no value may be large.
	if _, err := w.Query(t.Context(), "shop", query.Request{SQL: "SELECT length(zeroblob(900000000)) FROM orders"}); !fault.Is(err, fault.SQLError) {
		t.Errorf("a large value: %v", err)
	}
	if err := os.Remove(path); err != nil {
		t.Fatal(err)
	}
	if _, err := w.Query(t.Context(), "shop", query.Request{SQL: "SELECT count(*) FROM orders"}); !fault.Is(err, fault.SourceUnreadable) {
		t.Errorf("without its file: %v", err)
	}
	if err := w.Add(t.Context(), catalog.Connection{Alias: "files", URL: t.TempDir(), Remote: true}, source.Secret{}); !fault.Is(err, fault.BadRequest) {
		t.Errorf("a folder as an engine: %v", err)
	}
}
