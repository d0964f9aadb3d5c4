package source

import (
	"context"
	"slices"

	"interlock/internal/dialect"
	"interlock/internal/schema"
)

// translators writes filters in every dialect. Elasticsearch, which has no SQL, has the
// function [Elasticsearch].
var translators = [...]translator{
	dialect.DuckDB:     duckdb{},
	dialect.SQLite:     sqlite{},
	dialect.PostgreSQL: postgres{},
	dialect.MySQL:      mysql{},
	dialect.ClickHouse: clickhouse{},
	dialect.Trino:      trino{},
	dialect.BigQuery:   bigquery{},
	dialect.Snowflake:  snowflake{},
}

// A connector reaches the databases of one dialect.
type connector struct {
	open    func(context.Context, Config) (Source, error)
	tables  func(context.Context, Config) ([]TableName, error)
	keys    func(context.Context, Config) ([]schema.Relation, error) // nil: none are declared
	connect func(context.Context, Config) (Remote, error)
}

// connectors has the databases that can be reached. Files are read by DuckDB without
// one, and BigQuery has none (decision 0011).
var connectors = map[dialect.Dialect]connector{
	dialect.PostgreSQL: {openPostgres, postgresTables, postgresKeys, connectPostgres},
	dialect.MySQL:      sqlConnector(mysqlDB, mysqlEngine, mysqlTables, mysqlKeys),
	dialect.SQLite:     {openSQLite, sqliteTables, sqliteKeys, connectSQLite},
	dialect.ClickHouse: sqlConnector(clickhouseDB, clickhouseDB, clickhouseTables, ""),
	dialect.Trino:      sqlConnector(trinoDB, trinoDB, trinoTables, ""),
	dialect.Snowflake:  sqlConnector(snowflakeDB, snowflakeDB, snowflakeTables, ""),
}

// connectorFor finds the connector of an address.
func connectorFor(c Config) (connector, error) {
	scheme := Scheme(c.URL)
	if d, ok := dialect.Find(scheme); ok {
		if found, ok := connectors[d]; ok {
			return found, nil
		}
	}
	return connector{}, unknownScheme(scheme)
}

// reachable lists the schemes of addresses of databases.
func reachable() []string {
	var schemes []string
	for d := range connectors {
		schemes = append(schemes, d.String())
	}
	slices.Sort(schemes)
	return schemes
}
