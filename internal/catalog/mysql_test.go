package catalog_test

import (
	"database/sql"
	"errors"
	"iter"
	"math"
	"math/rand/v2"
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	mysqldriver "github.com/go-sql-driver/mysql"

	"interlock/internal/dialect"
	"interlock/internal/fault"
	"interlock/internal/query"
	"interlock/internal/sqlpolicy"
)

// mariaDirect opens the database of a world without the policy.
func mariaDirect(t *testing.T, w *world, database string) *sql.DB {
	t.Helper()
	_, socket, _ := strings.Cut(w.address, "socket=")
	db, err := sql.Open("mysql", "root@unix("+socket+")/"+database)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { db.Close() })
	return db
}

// A stored function of the database is never called, not even under the name of a
// function that this server lacks, and a table that stands behind a name of the
// statement is never read.
func TestRemoteMySQLNames(t *testing.T) {
	w := mariaShop(t)
	db := mariaDirect(t, w, "store")
	for _, s := range []string{
		"INSERT INTO hidden VALUES (1, 'hunter2')",
		"CREATE FUNCTION any_value(x BIGINT) RETURNS TEXT READS SQL DATA RETURN (SELECT password FROM hidden LIMIT 1)",
		"CREATE FUNCTION lower(x TEXT) RETURNS TEXT READS SQL DATA RETURN (SELECT password FROM hidden LIMIT 1)",
		"CREATE TABLE big AS SELECT * FROM hidden",
	} {
		if _, err := db.ExecContext(t.Context(), s); err != nil && !strings.Contains(s, "lower") {
			t.Fatalf("%s: %v", s, err)
		}
	}
	for _, s := range []string{
		"SELECT any_value(id) FROM orders",
		"SELECT any_value (id) FROM orders",
		"SELECT `any_value`(id) FROM orders",
		"SELECT * FROM big",
		"WITH Big AS (SELECT 1 AS id) SELECT * FROM big",
	} {
		if r, err := w.Query(t.Context(), "shop", query.Request{SQL: s}); !fault.Is(err, fault.SQLPolicy) && !fault.Is(err, fault.SQLError) {
			t.Errorf("%s: %v, %v", s, r, err)
		}
	}
	w.there(t, "SELECT lower('ABC') FROM orders LIMIT 1", `[["abc"]]`)
	w.there(t, "WITH big AS (SELECT 1 AS id) SELECT * FROM big", `[[1]]`)
	r, err := w.Query(t.Context(), "shop", query.Request{SQL: "SELECT count(*), amount + 1, 'text', max(id) AS top FROM orders"})
	if err != nil {
		t.Fatal(err)
	}
	var names []string
	for _, c := range r.Columns {
		names = append(names, c.Name)
	}
	if want := []string{"count(*)", "amount + 1", "text", "top"}; !slices.Equal(names, want) {
		t.Errorf("columns %q, want %q", names, want)
	}
}

// Every function that may be called in MySQL is one of the server's own, or one that
// only the other of MySQL and MariaDB has: such a name means nothing here.
func TestRemoteMySQLFunctions(t *testing.T) {
	w := mariaShop(t)
	db := mariaDirect(t, w, "")
	rules, _ := sqlpolicy.RulesFor(dialect.MySQL)
	lacking := strings.Fields("any_value grouping regexp_like") // MySQL has them
	for _, name := range rules.Functions() {
		_, err := db.ExecContext(t.Context(), "SELECT "+name+"()")
		said, ok := errors.AsType[*mysqldriver.MySQLError](err)
		if unknown := ok && (said.Number == 1046 || said.Number == 1305); unknown != slices.Contains(lacking, name) {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// soupParts are what statements are spoilt with: ways to reach what is forbidden, and
// signs at which readers part.
var soupParts = strings.Split(`hidden|, hidden|other.hidden|store.hidden|shop.hidden|recurring.hidden|(SELECT password FROM hidden)| UNION SELECT id FROM hidden| UNION ALL TABLE hidden|
WITH hidden AS (SELECT 1) | AS hidden|hidden.id|evil(1)|store.evil(1)|evil (1)|@@evil|@evil|INTO @evil|INTO OUTFILE '/tmp/evil'|
'|"|\|''|""|\'|\"|\\|--|-- |--
|#|/*|*/|/*!|/*!50000 |/*M! |/*+ | |	|;|(|)|,|.|*|=|<=>|->|->>|:=|||&&|!|~|^|%|@|?|{|}|{d '|
|SELECT |FROM |WHERE |UNION |ORDER BY |GROUP BY |HAVING |LIMIT 1|JOIN |ON |USING (id)|NATURAL JOIN |LATERAL |EXISTS |IN |NOT |ANY |CASE WHEN |THEN |END|OVER (|WINDOW w AS (|FOR UPDATE|
_utf8mb4|_gbk|N'|x'|b'1'|0x|1e|INTERVAL |DAY|DATE |BINARY |COLLATE |CAST(|AS CHAR)|RECURSIVE |DISTINCT |SEPARATOR '|NULL|TRUE|1|orders|customers|id|note|o.|shop.|store.`, "|")

// Statements of the corpus are cut, mixed and spoilt at random. Whatever the policy
// still allows is read by a real server that has none of the forbidden things: if it
// misses one, the policy was passed. INTERLOCK_SOUP=5m mixes for so long.
func TestRemoteMySQLSoup(t *testing.T) {
	w := mariaShop(t)
	db := mariaDirect(t, w, "")
	if _, err := db.ExecContext(t.Context(), "DROP TABLE store.hidden"); err != nil {
		t.Fatal(err)
	}
	conn, err := db.Conn(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	if _, err := conn.ExecContext(t.Context(), "SET SESSION sql_mode = '"+sqlpolicy.MySQLMode+"', NAMES utf8mb4"); err != nil {
		t.Fatal(err)
	}
	scope := sqlpolicy.Scope{Dialect: dialect.MySQL, Schema: "store", Alias: "shop", Tables: []sqlpolicy.Table{
		{Name: "customers", Columns: []string{"id", "name", "city", "signup", "meta"}},
		{Name: "orders", Columns: []string{"id", "customer_id", "amount", "status", "placed", "day", "note", "never"}},
		{Name: "items", Columns: []string{"order_id", "sku", "qty", "price"}},
	}}
	allowed, asked := 0, 0
	for sql := range soup(t, slices.Concat(corpus(t, "allow/mysql.txt"), corpus(t, "refuse/mysql.txt"), corpus(t, "refuse/every.txt")), soupParts) {
		asked++
		d, err := sqlpolicy.New(sqlpolicy.Config{Cache: 1}).Check(t.Context(), nil, scope, sql)
		if err != nil {
			continue
		}
		allowed++
		_, err = conn.ExecContext(t.Context(), "EXPLAIN "+d.SQL)
		said, ok := errors.AsType[*mysqldriver.MySQLError](err)
		if err != nil && !ok {
			t.Fatalf("%s: %v", d.SQL, err)
		}
		// 1146: no such table; 1305: no such function; 1046: no database; 1193: no such variable; 1049: no such database
		if ok && (slices.Contains([]uint16{1146, 1193, 1049}, said.Number) || slices.Contains([]uint16{1305, 1046}, said.Number) && strings.Contains(said.Message, "evil")) {
			t.Errorf("%q runs as %s: %v", sql, d.SQL, err)
		}
	}
	t.Logf("%d of %d were allowed", allowed, asked)
	if allowed < asked/100 {
		t.Errorf("only %d of %d were allowed", allowed, asked)
	}
}

// soup gives statements made of others: a piece of one, a part, a piece of another.
func soup(t *testing.T, from, parts []string) iter.Seq[string] {
	n, until := 3000, time.Time{}
	if d, err := time.ParseDuration(os.Getenv("INTERLOCK_SOUP")); err == nil {
		n, until = math.MaxInt, time.Now().Add(d)
	}
	seed := uint64(time.Now().UnixNano())
	t.Logf("seed %d", seed)
	r := rand.New(rand.NewPCG(seed, 0))
	word := regexp.MustCompile(`[A-Za-z0-9_]+|\s+|.`)
	return func(yield func(string) bool) {
		for i := 0; i < n && (until.IsZero() || time.Now().Before(until)); i++ {
			words := word.FindAllString(from[r.IntN(len(from))], -1)
			for range 1 + r.IntN(4) {
				at := r.IntN(len(words) + 1)
				switch part := parts[r.IntN(len(parts))]; r.IntN(4) {
				case 0: // a part of another statement
					other := word.FindAllString(from[r.IntN(len(from))], -1)
					begin := r.IntN(len(other) + 1)
					words = slices.Insert(words, at, other[begin:min(len(other), begin+r.IntN(8))]...)
				case 1:
					words = slices.Insert(words, at, part)
				case 2:
					if at < len(words) {
						words[at] = part
					}
				case 3:
					words = slices.Delete(words, at, min(len(words), at+1+r.IntN(2)))
				}
			}
			if !yield(strings.Join(words, "")) {
				return
			}
		}
	}
}
