package source

import (
	"context"

	"github.com/jackc/pgx/v5"

	"interlock/internal/schema"
)

// ForeignKeys lists the keys of one column that a database declares. Without a RefColumn
// a key refers to the primary key. A database without such declarations, or whose
// declarations cannot be read here, has none.
func ForeignKeys(ctx context.Context, c Config) ([]schema.Relation, error) {
	c, err := c.prepare()
	if err != nil {
		return nil, err
	}
	if connector, err := connectorFor(c); err == nil && connector.keys != nil {
		return connector.keys(ctx, c)
	}
	return nil, nil
}

const mysqlKeys = `SELECT k.TABLE_NAME, min(k.COLUMN_NAME), k.REFERENCED_TABLE_NAME, min(k.REFERENCED_COLUMN_NAME)
	FROM information_schema.KEY_COLUMN_USAGE k WHERE k.TABLE_SCHEMA = database() AND k.REFERENCED_TABLE_NAME IS NOT NULL
	GROUP BY k.TABLE_NAME, k.REFERENCED_TABLE_NAME, k.CONSTRAINT_NAME HAVING count(*) = 1 ORDER BY 1, 2`

const pgKeys = `SELECT c.relname, a.attname, r.relname, b.attname FROM pg_constraint k
	JOIN pg_class c ON c.oid = k.conrelid JOIN pg_class r ON r.oid = k.confrelid JOIN pg_namespace n ON n.oid = c.relnamespace
	JOIN pg_attribute a ON a.attrelid = c.oid AND a.attnum = k.conkey[1] JOIN pg_attribute b ON b.attrelid = r.oid AND b.attnum = k.confkey[1]
	WHERE k.contype = 'f' AND array_length(k.conkey, 1) = 1 AND ($1 = '' OR n.nspname = $1) ORDER BY 1, 2`

func postgresKeys(ctx context.Context, c Config) ([]schema.Relation, error) {
	pool, err := postgresPool(ctx, c, nil)
	if err != nil {
		return nil, err
	}
	defer pool.Close()
	rows, err := pool.Query(ctx, pgKeys, c.Schema)
	if err == nil {
		var keys []schema.Relation
		if keys, err = pgx.CollectRows(rows, pgx.RowToStructByPos[schema.Relation]); err == nil {
			return keys, nil
		}
	}
	return nil, c.driverFault(ctx, err, "reading the keys of")
}

// sqlKeys runs a connector's listing of keys.
func sqlKeys(ctx context.Context, c Config, open opener, query string) ([]schema.Relation, error) {
	db, system, err := open(c)
	if err != nil {
		return nil, err
	}
	defer db.Close()
	conn, err := (&sqlTable{config: c, system: system, db: db}).connect(ctx)
	if err != nil {
		return nil, err
	}
	defer conn.Close()
	rows, err := conn.QueryContext(ctx, query)
	if err != nil {
		return nil, c.driverFault(ctx, err, "reading the keys of")
	}
	defer rows.Close()
	var keys []schema.Relation
	for rows.Next() {
		var k schema.Relation
		if err := rows.Scan(&k.Table, &k.Column, &k.RefTable, &k.RefColumn); err != nil {
			return nil, c.driverFault(ctx, err, "reading the keys of")
		}
		keys = append(keys, k)
	}
	if err := rows.Err(); err != nil {
		return nil, c.driverFault(ctx, err, "reading the keys of")
	}
	return keys, nil
}
