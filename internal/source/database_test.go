package source_test

import (
	"database/sql"
	"fmt"
	"path/filepath"
	"strings"
	"testing"

	_ "github.com/go-sql-driver/mysql"
	"github.com/jackc/pgx/v5"
	_ "modernc.org/sqlite"

	"interlock/internal/schema"
	"interlock/internal/source"
	"interlock/internal/source/sourcetest"
)

func open(t testing.TB, c source.Config) source.Source {
	t.Helper()
	s, err := source.Open(t.Context(), c)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

const secret = "pa/ss:w#rd 1"

func TestSQLite(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "odd name?.db")
	db, err := sql.Open("sqlite", "file:"+strings.ReplaceAll(path, "?", "%3f"))
	if err != nil {
		t.Fatal(err)
	}
	run(t, db, append(sourcetest.SQL("sqlite"),
		`CREATE TABLE long AS WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i+1 FROM n WHERE i < 250000) SELECT i AS id, 'text of row ' || i AS note FROM n`)...)
	db.Close()
	sourcetest.Run(t, sourcetest.Fixture{
		Open: func(t testing.TB) source.Source {
			return open(t, source.Config{URL: "sqlite:" + path, Table: "data"})
		},
		Long:  func(t testing.TB) source.Source { return open(t, source.Config{URL: "sqlite:" + path, Table: "long"}) },
		Types: map[string]schema.Type{"key": {Kind: schema.Text}},
	})
}

func TestPostgreSQL(t *testing.T) {
	t.Parallel()
	server := sourcetest.Postgres(t)
	address := fmt.Sprintf("postgres:///postgres?host=%s&user=owner", server.Socket)
	statements := append(sourcetest.SQL("postgres"), `CREATE TABLE long AS SELECT i AS id, 'text of row ' || i AS note FROM generate_series(1, 400000) i`)
	execPostgres(t, address, append(statements, sourcetest.PostgresReader...)...)
	t.Run("types", func(t *testing.T) { postgresTypes(t, address) })
	t.Run("run", func(t *testing.T) {
		runThere(t, source.Config{URL: strings.Replace(address, "user=owner", "user=reader", 1)}, "postgres")
		runThere(t, source.Config{URL: address, AllowOwner: true}, "postgres")
	})
	sourcetest.Run(t, sourcetest.Fixture{
		Open: func(t testing.TB) source.Source { return open(t, source.Config{URL: address, Table: "data"}) },
		Long: func(t testing.TB) source.Source {
			return open(t, source.Config{URL: address, Schema: "public", Table: "long"})
		},
		Stop: server.Stop,
	})
}

func TestMariaDB(t *testing.T) {
	t.Parallel()
	server := sourcetest.MariaDB(t)
	db, err := sql.Open("mysql", "root@unix("+server.Socket+")/?multiStatements=false&time_zone=%27%2B00:00%27")
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	run(t, db, "CREATE DATABASE shop CHARACTER SET latin1", "CREATE USER reader IDENTIFIED BY '"+secret+"'", "GRANT SELECT ON shop.* TO reader")
	db, err = sql.Open("mysql", "root@unix("+server.Socket+")/shop?time_zone=%27%2B00:00%27")
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	statements := sourcetest.SQL("mysql")
	statements[0] += " CHARACTER SET utf8mb4 COLLATE utf8mb4_general_ci"
	run(t, db, append(statements, "CREATE TABLE `long` AS SELECT seq AS id, concat('text of row ', seq) AS note FROM seq_1_to_400000")...)
	config := source.Config{URL: "mysql://reader@localhost/shop?socket=" + server.Socket, Password: source.NewSecret(secret)}
	t.Run("types", func(t *testing.T) { mysqlTypes(t, db, config) })
	t.Run("run", func(t *testing.T) { runThere(t, config, "mysql") })
	at := func(table string) func(testing.TB) source.Source {
		return func(t testing.TB) source.Source {
			c := config
			c.Table = table
			return open(t, c)
		}
	}
	sourcetest.Run(t, sourcetest.Fixture{Open: at("data"), Long: at("long"), Stop: server.Stop})
}

func run(t testing.TB, db *sql.DB, statements ...string) {
	t.Helper()
	for _, s := range statements {
		if _, err := db.ExecContext(t.Context(), s); err != nil {
			t.Fatalf("%.100s: %v", s, err)
		}
	}
}

func execPostgres(t testing.TB, address string, statements ...string) {
	t.Helper()
	conn, err := pgx.Connect(t.Context(), address)
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close(t.Context())
	for _, s := range statements {
		if _, err := conn.Exec(t.Context(), s); err != nil {
			t.Fatalf("%.100s: %v", s, err)
		}
	}
}
