package source_test

import (
	"database/sql"
	"errors"
	"flag"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"interlock/internal/dialect"
	"interlock/internal/fault"
	"interlock/internal/source"
	"interlock/internal/sqlpolicy"
)

// canary is what no statement may ever give.
const canary = "hunter2-canary"

// sqliteShop is the shop of the policy's corpus in a real file: tables of the dataset,
// one of its views that reads what is hidden, and what the dataset does not have.
func sqliteShop(t testing.TB) (remote source.Remote, judge func(sql string) (sqlpolicy.Decision, error)) {
	t.Helper()
	path := filepath.Join(t.TempDir(), "shop.db")
	db, err := sql.Open("sqlite", path)
	if err != nil {
		t.Fatal(err)
	}
	run(t, db,
		"CREATE TABLE customers (id bigint PRIMARY KEY, name text, city text, signup date, meta text)",
		"CREATE TABLE orders (id bigint PRIMARY KEY, customer_id bigint, amount decimal(12,2), status text, placed datetime, day date, note text, never date)",
		"CREATE TABLE items (order_id bigint, sku text, qty integer, price decimal(12,2))",
		"CREATE TABLE hidden (id INTEGER PRIMARY KEY AUTOINCREMENT, password text)",
		"CREATE INDEX hidden_id ON hidden (password)",
		"CREATE VIEW good AS SELECT status, sum(amount) AS total FROM orders GROUP BY status",
		"CREATE VIEW seen_hidden AS SELECT password FROM hidden",
		"CREATE VIEW seen_orders AS SELECT id FROM orders",
		"INSERT INTO hidden VALUES (1, '"+canary+"')",
		"INSERT INTO customers VALUES (1, 'Ada', 'Bern', '2024-01-01', '{}')",
		`INSERT INTO orders VALUES (1, 1, 10.50, 'paid', '2024-03-01 12:00:00', '2024-03-01', '{"a": 1}', NULL), (2, 1, 20, 'open', '2024-03-02 12:00:00', '2024-03-02', NULL, NULL)`)
	db.Close()
	remote = connect(t, source.Config{URL: "sqlite:" + path, Dataset: "shop", SQLite: pool(t)})
	scope := sqlpolicy.Scope{Dialect: dialect.SQLite, Alias: "shop", Tables: []sqlpolicy.Table{
		{Name: "customers", Columns: []string{"id", "name", "city", "signup", "meta"}},
		{Name: "orders", Columns: []string{"id", "customer_id", "amount", "status", "placed", "day", "note", "never"}},
		{Name: "items", Columns: []string{"order_id", "sku", "qty", "price"}},
		{Name: "good", Columns: []string{"status", "total"}},
		{Name: "seen_hidden", Columns: []string{"password"}},
	}}
	policy := sqlpolicy.New(sqlpolicy.Config{})
	ctx := t.Context()
	return remote, func(sql string) (sqlpolicy.Decision, error) {
		return policy.CheckBy(ctx, remote.(sqlpolicy.Judge), scope, sql)
	}
}

func pool(t testing.TB) *source.SQLitePool {
	t.Helper()
	p := source.NewSQLitePool(t.TempDir())
	t.Cleanup(func() { p.Close() })
	return p
}

var updateCorpus = flag.Bool("update-corpus", false, "write the golden lines of SQLite's corpus")

// eachCorpus runs check over the cases of a file of the policy's corpus.
func eachCorpus(t *testing.T, name string, golden bool, check func(t *testing.T, sql string) string) {
	t.Helper()
	path := filepath.Join("..", "sqlpolicy", "testdata", "remote", filepath.FromSlash(name))
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	var out strings.Builder
	for _, block := range strings.Split(string(text), "=== ")[1:] {
		name, body, _ := strings.Cut(block, "\n")
		sql, want, _ := strings.Cut(body, "\n---")
		sql = strings.TrimRight(sql, "\n")
		t.Run(name, func(t *testing.T) {
			got := check(t, sql)
			fmt.Fprintf(&out, "=== %s\n%s\n--- %s\n\n", name, sql, got)
			if diff := cmp.Diff(strings.TrimSpace(want), got); golden && !*updateCorpus && diff != "" {
				t.Errorf("%s\n%s", sql, diff)
			}
		})
	}
	if golden && *updateCorpus {
		if err := os.WriteFile(path, []byte(out.String()), 0o644); err != nil {
			t.Fatal(err)
		}
	}
}

// SQLite itself refuses the whole corpus while it prepares it.
func TestSQLiteRefuses(t *testing.T) {
	remote, judge := sqliteShop(t)
	refused := func(t *testing.T, sql string) string {
		d, err := judge(sql)
		f, ok := errors.AsType[*fault.Fault](err)
		switch {
		case !ok:
			answer, err := remote.Run(t.Context(), d, source.Limits{})
			t.Fatalf("%s\nwas allowed: %+v: %s, %v", sql, d, answer.Rows, err)
		case f.Code == fault.SQLError:
			return "cannot be read"
		}
		r, ok := f.Details.(sqlpolicy.Refusal)
		if !ok || f.Code != fault.SQLPolicy || r.Rule == "" || r.Instead == "" {
			t.Fatalf("%s\na refusal without a reason: %+v", sql, f)
		}
		return r.Rule
	}
	eachCorpus(t, "refuse/sqlite.txt", true, refused)
	eachCorpus(t, "refuse/every.txt", false, refused)
}

// Everyday statements run as they were written, and what they read is listed.
func TestSQLiteAllows(t *testing.T) {
	remote, judge := sqliteShop(t)
	allowed := func(t *testing.T, sql string) string {
		d, err := judge(sql)
		if err == nil {
			_, err = remote.Run(t.Context(), d, source.Limits{})
		}
		if err != nil || d.SQL != sql {
			t.Fatalf("%s\nruns as %s: %v", sql, d.SQL, err)
		}
		var parts []string
		for _, touch := range d.Touches {
			parts = append(parts, touch.Table+"("+strings.Join(touch.Columns, ", ")+")")
		}
		for name, on := range map[string]bool{"limit": d.HasLimit} {
			if on {
				parts = append(parts, name)
			}
		}
		if d.HasOrder {
			parts = append(parts, "order")
		}
		if d.Volatile {
			parts = append(parts, "volatile")
		}
		return strings.Join(parts, " ")
	}
	eachCorpus(t, "allow/sqlite.txt", true, allowed)
	// A view is what it reads: the lineage names both.
	if got := allowed(t, "SELECT total FROM good"); got != "good(status, total) orders(amount, status)" && got != "good(total) orders(amount, status)" {
		t.Errorf("through a view: %s", got)
	}
}

// A decision is about its tables and functions: what is run under it can touch no others.
func TestSQLiteRunsWhatWasJudged(t *testing.T) {
	remote, judge := sqliteShop(t)
	d, err := judge("SELECT id FROM orders")
	if err != nil {
		t.Fatal(err)
	}
	for _, other := range []string{"SELECT password FROM hidden", "SELECT name FROM customers", "SELECT upper(status) FROM orders", "DELETE FROM orders", "SELECT 1; SELECT 2"} {
		d.SQL = other
		if _, err := remote.Run(t.Context(), d, source.Limits{}); !fault.Is(err, fault.SQLPolicy) {
			t.Errorf("%s: %v", other, err)
		}
	}
}

// soup are pieces of SQL from which statements are made at random.
var soup = strings.Fields(`SELECT SELECT SELECT FROM FROM FROM WHERE AND OR NOT IN EXISTS ( ( ( ) ) ) , , * * orders orders hidden hidden customers seen_hidden good main. shop. temp.
	id password status count(*) max(password) group_concat(password) UNION ALL UNION JOIN LEFT NATURAL ON USING(id) AS x y x.id h.password WITH hidden AS RECURSIVE ORDER BY LIMIT 1 2 '' 'a'
	"hidden" [hidden] 'hidden' json_each(x) json_each pragma_table_info('hidden') sqlite_schema sqlite_dbpage dbstat VALUES ; -- /* */ = || CASE WHEN THEN END OVER (PARTITION HAVING GROUP typeof(
	EXPLAIN PRAGMA hidden.password hidden.* main.hidden h. quote( hex( INDEXED hidden_id RETURNING`)

// FuzzSQLiteGuard: whatever pieces of SQL make, what is allowed never gives what the
// hidden table holds.
func FuzzSQLiteGuard(f *testing.F) {
	f.Add(uint64(1))
	remote, judge := sqliteShop(f)
	f.Fuzz(func(t *testing.T, seed uint64) {
		soupOf(t, seed, remote, judge)
	})
}

// TestSQLiteSoup is the same over some thousand statements, the shapes of real ones among them.
func TestSQLiteSoup(t *testing.T) {
	remote, judge := sqliteShop(t)
	ran := 0
	n := uint64(4000)
	if testing.Short() {
		n = 400
	}
	for seed := range n {
		ran += soupOf(t, seed, remote, judge)
	}
	if ran < int(n)/100 {
		t.Errorf("only %d of %d statements ran: the soup is too thin", ran, n)
	}
	t.Logf("%d of %d ran", ran, n)
}

func soupOf(t *testing.T, seed uint64, remote source.Remote, judge func(string) (sqlpolicy.Decision, error)) (ran int) {
	text := (&cook{rand.New(rand.NewPCG(seed, 7))}).statement()
	d, err := judge(text)
	if err != nil {
		return 0
	}
	answer, err := remote.Run(t.Context(), d, source.Limits{})
	if err == nil {
		ran = 1
	}
	if strings.Contains(string(answer.Rows), canary) || strings.Contains(fmt.Sprint(err), canary) || strings.Contains(string(answer.Rows), "68756E746572") {
		t.Errorf("%s\ngave %s", text, answer.Rows)
	}
	for _, touch := range d.Touches {
		if touch.Table == "hidden" || touch.Table == "seen_hidden" {
			t.Errorf("%s\ntouches %s", text, touch.Table)
		}
	}
	return ran
}

// A cook makes statements: most can be read, some name what is hidden, and some are
// spoilt by a piece too many or too few.
type cook struct{ *rand.Rand }

func (c *cook) pick(list ...string) string { return list[c.IntN(len(list))] }

func (c *cook) statement() string {
	text := c.query(2)
	if c.IntN(4) == 0 {
		text = "WITH " + c.pick("hidden", "x", "orders", "RECURSIVE x") + " AS (" + c.query(1) + ") " + text
	}
	if c.IntN(3) > 0 {
		return text
	}
	words := strings.Fields(text)
	for range 1 + c.IntN(3) {
		i := c.IntN(len(words))
		if c.IntN(3) == 0 {
			words[i] = ""
		} else {
			words[i] += " " + c.pick(soup...)
		}
	}
	return strings.Join(words, " ")
}

func (c *cook) query(depth int) string {
	text := "SELECT " + c.expression(depth) + " FROM " + c.table(depth)
	if c.IntN(3) == 0 {
		text += c.pick(", ", " JOIN ", " LEFT JOIN ", " NATURAL JOIN ") + c.table(depth)
	}
	if c.IntN(3) == 0 {
		text += " WHERE " + c.expression(depth) + c.pick(" = ", " <> ", " IN orders OR 1 = ", " LIKE ") + c.expression(depth)
	}
	if c.IntN(5) == 0 {
		text += " ORDER BY " + c.expression(depth)
	}
	if c.IntN(8) == 0 && depth > 0 {
		text += c.pick(" UNION ALL ", " UNION ", " EXCEPT ") + c.query(depth-1)
	}
	return text
}

func (c *cook) table(depth int) string {
	switch n := c.IntN(12); {
	case n == 0:
		return c.pick("hidden", "main.hidden", "[hidden]", "seen_hidden", "shop.hidden", "sqlite_schema", "pragma_table_list", "dbstat")
	case n == 1 && depth > 0:
		return "(" + c.query(depth-1) + ")"
	case n == 2:
		return "json_each('[1, 2]')"
	}
	return c.pick("orders", "customers", "good", "x", "shop.orders", "main.customers", "(SELECT 1 AS id)")
}

func (c *cook) expression(depth int) string {
	switch n := c.IntN(10); {
	case n == 0 && depth > 0:
		return "(" + c.query(depth-1) + ")"
	case n == 1 && depth > 0:
		return c.pick("count(", "max(", "typeof(", "hex(", "quote(", "json_array(", "coalesce(1, ", "load_extension(") + c.expression(depth-1) + ")"
	case n == 2:
		return c.pick("password", "hidden.password", "sql", "name")
	}
	return c.pick("*", "1", "'a'", "count(*)", "status", "id", "total", "NULL", "orders.id", "1 AS password")
}

// A decision says how many rows the outermost limit names, where it is a plain number.
func TestSQLiteLimit(t *testing.T) {
	_, judge := sqliteShop(t)
	for sql, want := range map[string]int64{
		"SELECT 1":                                       0,
		"SELECT 1 LIMIT 5":                               5,
		"SELECT 1 LIMIT 5 -- few":                        5,
		"SELECT 1 /* all */ LIMIT 0;":                    0,
		"SELECT 1 LIMIT 7 OFFSET 3":                      7,
		"SELECT 1 LIMIT 3, 7":                            sqlpolicy.NoNumber, // the second is the number of rows
		"SELECT 1 LIMIT 10 + 10":                         sqlpolicy.NoNumber,
		"SELECT 1 LIMIT (5)":                             sqlpolicy.NoNumber,
		"SELECT 1 LIMIT -1":                              0, // means all
		"SELECT * FROM (SELECT 1 LIMIT 9)":               0,
		"SELECT ' LIMIT 4' AS \"LIMIT 5\" LIMIT 6":       6,
		"SELECT 1 UNION ALL SELECT 2 ORDER BY 1 LIMIT 2": 2,
	} {
		if d, err := judge(sql); err != nil || d.Limit != want {
			t.Errorf("the limit of %q is %d, want %d, %v", sql, d.Limit, want, err)
		}
	}
}
