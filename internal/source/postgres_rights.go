package source

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/jackc/pgx/v5"

	"interlock/internal/dialect"
	"interlock/internal/fault"
)

// refusePowerful refuses a session whose role can do more than read, or can become a role
// that can, so that a hole in the policy would give nothing. Every new session is
// checked, because rights change.
func (c Config) refusePowerful(ctx context.Context, conn *pgx.Conn) error {
	if c.AllowOwner {
		return nil
	}
	schema := cmp.Or(c.Schema, "public")
	rows, err := conn.Query(ctx, powersOfRole, schema)
	if err != nil {
		return err
	}
	powers, err := pgx.CollectRows(rows, pgx.RowTo[string])
	if err != nil {
		return err
	}
	if len(powers) == 0 {
		return nil
	}
	reader := readerStatements(schema)
	return fault.New(fault.SourceUnreadable, "the role of %s %s; statements of others must not run with such rights", c.displayName(), strings.Join(slices.Compact(powers), ", ")).
		With(map[string]any{"powers": powers, "statements": reader}).
		Suggest("Make a role that only reads and connect as it: %s -- Or say --allow-owner (allow_owner), which leaves the policy as the only wall.", strings.Join(reader, " "))
}

// readerStatements make a role that reads the tables of a schema and can do nothing else.
func readerStatements(schema string) []string {
	name := dialect.PostgreSQL.Quote(schema)
	return []string{
		"CREATE ROLE interlock_reader LOGIN NOINHERIT PASSWORD '…';",
		fmt.Sprintf("GRANT USAGE ON SCHEMA %s TO interlock_reader;", name),
		fmt.Sprintf("GRANT SELECT ON ALL TABLES IN SCHEMA %s TO interlock_reader;", name),
	}
}

// powersOfRole lists what a session could do beyond reading, by its role and every role
// that it could become. For a superuser it is one line.
const powersOfRole = `WITH roles AS (
		SELECT r.*, CASE WHEN r.rolname = session_user THEN '' ELSE 'may become ' || quote_ident(r.rolname) || ', which ' END AS who
		FROM pg_catalog.pg_roles r WHERE pg_catalog.pg_has_role(session_user, r.oid, 'MEMBER')
	), relations AS (
		SELECT c.oid, c.relname, c.relowner FROM pg_catalog.pg_class c JOIN pg_catalog.pg_namespace n ON n.oid = c.relnamespace
		WHERE n.nspname = $1 AND c.relkind IN ('r', 'p', 'v', 'm', 'f')
	), others AS (
		SELECT c.oid, n.nspname || '.' || c.relname AS relname FROM pg_catalog.pg_class c JOIN pg_catalog.pg_namespace n ON n.oid = c.relnamespace
		WHERE n.nspname <> 'information_schema' AND n.nspname NOT LIKE 'pg\_%' AND c.relkind IN ('r', 'p', 'v', 'm', 'f') AND n.nspname <> $1
	), powers AS (
		SELECT 1 AS rank, who || 'is a superuser' AS power FROM roles WHERE rolsuper
		UNION ALL SELECT 2, who || 'can make roles' FROM roles WHERE rolcreaterole
		UNION ALL SELECT 2, who || 'can make databases' FROM roles WHERE rolcreatedb
		UNION ALL SELECT 2, who || 'passes row security' FROM roles WHERE rolbypassrls
		UNION ALL SELECT 2, who || 'can replicate the server' FROM roles WHERE rolreplication
		UNION ALL SELECT 3, 'is a member of ' || rolname FROM roles WHERE rolname IN ('pg_read_server_files', 'pg_write_server_files', 'pg_execute_server_program',
			'pg_signal_backend', 'pg_write_all_data', 'pg_checkpoint', 'pg_maintain', 'pg_create_subscription', 'pg_monitor', 'pg_stat_scan_tables')
		UNION ALL SELECT 4, who || 'owns the database' FROM roles JOIN pg_catalog.pg_database d ON d.datdba = roles.oid WHERE d.datname = current_database()
		UNION ALL SELECT 4, who || 'owns the schema' FROM roles JOIN pg_catalog.pg_namespace n ON n.nspowner = roles.oid WHERE n.nspname = $1
		UNION ALL SELECT 5, who || 'owns the table ' || quote_ident(relname) FROM roles JOIN relations ON relowner = roles.oid
		UNION ALL SELECT 6, who || 'may write the table ' || relname FROM roles, (SELECT oid, quote_ident(relname) AS relname FROM relations UNION ALL SELECT oid, relname FROM others) t
			WHERE pg_catalog.has_table_privilege(roles.oid, t.oid, 'DELETE, TRUNCATE, TRIGGER') OR pg_catalog.has_any_column_privilege(roles.oid, t.oid, 'INSERT, UPDATE')
		UNION ALL SELECT 6, who || 'may read the passwords of roles' FROM roles WHERE pg_catalog.has_table_privilege(roles.oid, 'pg_catalog.pg_authid', 'SELECT')
		UNION ALL SELECT 6, who || 'may call ' || p.proname FROM roles, pg_catalog.pg_proc p WHERE p.pronamespace = 'pg_catalog'::pg_catalog.regnamespace
			AND p.proname IN ('pg_read_file', 'pg_read_binary_file', 'pg_ls_dir', 'pg_stat_file', 'lo_import', 'lo_export') AND pg_catalog.has_function_privilege(roles.oid, p.oid, 'EXECUTE')
	)
	SELECT power FROM powers WHERE rank = 1 OR NOT EXISTS (SELECT FROM roles WHERE rolsuper AND rolname = session_user) ORDER BY power LIKE 'may become %', rank, power LIMIT 3`
