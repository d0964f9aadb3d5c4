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
