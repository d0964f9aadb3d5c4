package query_test

import (
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"interlock/internal/dialect"
	"interlock/internal/fault"
	"interlock/internal/query"
	"interlock/internal/sqlpolicy"
)

// dialectNames are those that are judged here; SQLite judges by itself, see internal/source.
var dialectNames = []string{"clickhouse", "mysql", "postgres", "snowflake", "trino"}

// checkRemote checks statements for a remote engine that has the tables of the shop.
func checkRemote(t *testing.T, e *query.Engine, db query.Database, name string) func(t *testing.T, sql string) (sqlpolicy.Decision, error) {
	d, ok := dialect.Find(name)
	if !ok {
		t.Fatal("no dialect ", name)
	}
	db.Tables, db.Remote = slices.Clone(db.Tables), &query.Remote{Dialect: d, Schema: "public"}
	if d == dialect.Snowflake {
		for i := range db.Tables {
			db.Tables[i].Name = strings.ToUpper(db.Tables[i].Name)
		}
	}
	return func(t *testing.T, sql string) (sqlpolicy.Decision, error) {
		return e.Check(t.Context(), db, sql)
	}
}

// Nothing of the corpus runs in a remote engine: it is refused by a rule, or cannot be read.
func TestRefuseRemote(t *testing.T) {
	db, e := shop(t), newEngine(t, query.Config{})
	for _, name := range dialectNames {
		check := checkRemote(t, e, db, name)
		refused := func(t *testing.T, sql string) string {
			_, err := check(t, sql)
			if fault.Is(err, fault.SQLError) {
				return "cannot be read"
			}
			return refusalOf(t, sql, err)
		}
		t.Run(name, func(t *testing.T) {
			eachCorpus(t, "remote/refuse/"+name, refused)
			for _, c := range readCorpus(t, filepath.Join("..", "sqlpolicy", "testdata", "remote", "refuse", "every.txt")) {
				t.Run("every/"+c.name, func(t *testing.T) { refused(t, c.sql) })
			}
		})
	}
}

// Everyday statements of each engine run there in a form that means the same when it is
// judged again, and what they touch is listed.
func TestAllowRemote(t *testing.T) {
	db, e := shop(t), newEngine(t, query.Config{})
	for _, name := range dialectNames {
		check := checkRemote(t, e, db, name)
		t.Run(name, func(t *testing.T) {
			eachCorpus(t, "remote/allow/"+name, func(t *testing.T, sql string) string {
				d, err := check(t, sql)
				if err != nil {
					t.Fatalf("%s\n%v", sql, err)
				}
				again, err := check(t, d.SQL)
				if err != nil || again.SQL != d.SQL || described(again) != described(d) {
					t.Errorf("runs as %s\nwhich would run as %s, %v", d.SQL, again.SQL, err)
				}
				return described(d)
			})
		})
	}
}

// A decision says how many rows the outermost limit names, in every grammar.
func TestLimitOfDecision(t *testing.T) {
	db, e := shop(t), newEngine(t, query.Config{})
	grammars := map[string]func(*testing.T, string) (sqlpolicy.Decision, error){
		"duckdb": func(t *testing.T, sql string) (sqlpolicy.Decision, error) { return e.Check(t.Context(), db, sql) },
	}
	for _, name := range []string{"clickhouse", "mysql", "postgres", "trino"} {
		grammars[name] = checkRemote(t, e, db, name)
	}
	everywhere := map[string]int64{
		"SELECT id FROM orders":                                     0,
		"SELECT id FROM orders LIMIT 5":                             5,
		"SELECT id FROM orders ORDER BY id LIMIT 0":                 0,
		"SELECT id FROM orders LIMIT 7 OFFSET 3":                    7,
		"SELECT id FROM orders UNION ALL SELECT 1 LIMIT 4":          4,
		"SELECT id FROM (SELECT id FROM orders LIMIT 9) x":          0,
		"WITH a AS (SELECT id FROM orders LIMIT 9) SELECT * FROM a": 0,
	}
	own := map[string]map[string]int64{
		"duckdb": {
			"SELECT id FROM orders LIMIT 10 + 10": sqlpolicy.NoNumber, "SELECT id FROM orders LIMIT 10%": sqlpolicy.NoNumber,
			"SELECT id FROM orders LIMIT 5000000000": 5_000_000_000, "SELECT id FROM orders LIMIT 5.5": sqlpolicy.NoNumber,
		},
		"mysql": {"SELECT id FROM orders LIMIT 5, 3": 3},
		"postgres": {
			"SELECT id FROM orders LIMIT 10 + 10": sqlpolicy.NoNumber, "SELECT id FROM orders LIMIT ALL": 0,
			"SELECT id FROM orders FETCH FIRST 6 ROWS ONLY": 6, "SELECT id FROM orders ORDER BY id FETCH FIRST 6 ROWS WITH TIES": sqlpolicy.NoNumber,
		},
	}
	for name, check := range grammars {
		for _, statements := range []map[string]int64{everywhere, own[name]} {
			for sql, want := range statements {
				if d, err := check(t, sql); err != nil || d.Limit != want {
					t.Errorf("%s: the limit of %q is %d, want %d, %v", name, sql, d.Limit, want, err)
				}
			}
		}
	}
}
