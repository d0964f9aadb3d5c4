package source

import (
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
	"github.com/jackc/pgx/v5/pgproto3"
	"github.com/jackc/pgx/v5/pgxpool"

	"interlock/internal/dialect"
	"interlock/internal/fault"
	"interlock/internal/schema"
)

// pgTable is a table or view of PostgreSQL. Whole tables come by COPY in binary,
// scoped ones by a statement with bound values and binary results: COPY binds none.
type pgTable struct {
	config Config
	pool   *pgxpool.Pool
}

// maxImportRow bounds a row that is copied, in bytes: one message of the server is in
// memory whole.
const maxImportRow = 64 << 20

// postgresPool connects in sessions that only read. Each new session passes check, if
// there is one.
func postgresPool(ctx context.Context, c Config, check func(context.Context, *pgx.Conn) error) (*pgxpool.Pool, error) {
	// Engines of other names speak the protocol, too; the driver knows its own scheme only.
	conf, err := pgxpool.ParseConfig("postgres" + c.URL[strings.Index(c.URL, ":"):])
	if err != nil {
		return nil, fault.Wrap(c.Password.scrub(err), fault.SourceUnreadable, "the address %s is not understood", c.URL).
			Suggest("Write it like postgres://user@host:5432/database.")
	}
	if !c.Password.IsZero() {
		conf.ConnConfig.Password = c.Password.Reveal()
	}
	conf.MaxConns = 4
	conf.ConnConfig.DefaultQueryExecMode = pgx.QueryExecModeDescribeExec // nothing named stays behind: poolers cope
	conf.AfterConnect = func(ctx context.Context, conn *pgx.Conn) error {
		_, err := conn.Exec(ctx, fmt.Sprintf(`SET default_transaction_read_only = on; SET TimeZone = 'UTC'; SET DateStyle = 'ISO'; SET standard_conforming_strings = on;
			SET IntervalStyle = 'postgres'; SET bytea_output = 'hex'; SET extra_float_digits = 3;
			SET statement_timeout = %d; SET lock_timeout = '5s'; SET idle_in_transaction_session_timeout = '60s'`, c.Timeout.Milliseconds()),
			pgx.QueryExecModeSimpleProtocol)
		if err == nil && check != nil {
			err = check(ctx, conn)
		}
		return err
	}
	conf.ConnConfig.BuildFrontend = func(r io.Reader, w io.Writer) *pgproto3.Frontend {
		f := pgproto3.NewFrontend(r, w)
		f.SetMaxBodyLen(maxImportRow)
		return f
	}
	pool, err := pgxpool.NewWithConfig(ctx, conf)
	if err == nil {
		if err = pool.Ping(ctx); err != nil {
			pool.Close()
		}
	}
	if err != nil {
		return nil, c.driverFault(ctx, err, "connecting to")
	}
	return pool, nil
}

func openPostgres(ctx context.Context, c Config) (Source, error) {
	pool, err := postgresPool(ctx, c, nil)
	if err != nil {
		return nil, err
	}
	return newDatabaseTable(dialect.PostgreSQL, &pgTable{c, pool}), nil
}

func connectPostgres(ctx context.Context, c Config) (Remote, error) {
	pool, err := postgresPool(ctx, c, c.refusePowerful)
	if err != nil {
		return nil, err
	}
	return &pgRemote{c, pool}, nil
}

func postgresTables(ctx context.Context, c Config) ([]TableName, error) {
	pool, err := postgresPool(ctx, c, nil)
	if err != nil {
		return nil, err
	}
	defer pool.Close()
	rows, err := pool.Query(ctx, `SELECT n.nspname, c.relname FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace
		WHERE c.relkind IN ('r', 'p', 'v', 'm', 'f') AND NOT c.relispartition AND n.nspname NOT IN ('pg_catalog', 'information_schema')
		AND n.nspname !~ '^pg_' AND has_table_privilege(c.oid, 'SELECT') AND ($1 = '' OR n.nspname = $1) ORDER BY 1, 2`, c.Schema)
	if err == nil {
		var tables []TableName
		if tables, err = pgx.CollectRows(rows, pgx.RowToStructByPos[TableName]); err == nil {
			return tables, nil
		}
	}
	return nil, c.driverFault(ctx, err, "listing the tables of")
}

func (t *pgTable) describe(ctx context.Context) (described, error) {
	d, err := t.lookUp(ctx)
	if err != nil {
		return described{}, t.config.driverFault(ctx, err, "describing")
	}
	return d, nil
}

// lookUp asks the server's catalog about the table.
func (t *pgTable) lookUp(ctx context.Context) (d described, err error) {
	var (
		oid    uint32
		schema string
	)
	err = t.pool.QueryRow(ctx, `SELECT c.oid, n.nspname FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace
		WHERE c.relname = $1 AND c.relkind IN ('r', 'p', 'v', 'm', 'f') AND (n.nspname = $2 OR $2 = '' AND pg_table_is_visible(c.oid))`,
		t.config.Table, t.config.Schema).Scan(&oid, &schema)
	if errors.Is(err, pgx.ErrNoRows) {
		return d, fault.New(fault.SourceUnreadable, "there is no table %s", t.config.displayName()).Suggest("List the tables of the database.")
	} else if err != nil {
		return d, err
	}
	d.table = []string{schema, t.config.Table}
	if d.columns, err = postgresColumns(ctx, t.pool, oid); err != nil {
		return d, err
	}
	if err := keepPostgresText(ctx, t.pool, d.table, d.columns); err != nil {
		return d, err
	}
	if err := fitDecimals(ctx, t.pool, d.table, d.columns); err != nil {
		return d, err
	}
	rows, err := t.pool.Query(ctx, `SELECT a.attname FROM pg_index i JOIN unnest(i.indkey) WITH ORDINALITY AS k(attnum, place) ON true
		JOIN pg_attribute a ON a.attrelid = i.indrelid AND a.attnum = k.attnum WHERE i.indrelid = $1 AND i.indisprimary ORDER BY k.place`, oid)
	if err != nil {
		return d, err
	}
	d.key, err = pgx.CollectRows(rows, pgx.RowTo[string])
	return d, err
}

func (t *pgTable) count(ctx context.Context, stmt Statement) (int64, error) {
	var n int64
	if err := t.pool.QueryRow(ctx, stmt.Text, stmt.Args...).Scan(&n); err != nil {
		return 0, t.config.driverFault(ctx, err, "counting rows of")
	}
	return n, nil
}

func (t *pgTable) Close() error { t.pool.Close(); return nil }

// errStopped means that the consumer of a stream stopped reading.
var errStopped = errors.New("the reader stopped")

func (t *pgTable) readRows(ctx context.Context, stmt Statement, columns []schema.Column, yield func(*Batch, error) bool) {
	asked := ctx
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	conn, err := t.pool.Acquire(ctx)
	if err == nil {
		defer conn.Release()
		rows := newRowReader(columns, yield)
		if len(stmt.Args) == 0 {
			err = copyOut(ctx, conn.Conn(), stmt, rows)
		}
		if len(stmt.Args) > 0 || rows.count == 0 && copyRefused(err) {
			err = queryOut(ctx, cancel, conn.Conn(), stmt, rows)
		}
		if err == nil {
			err = rows.flush()
		}
	}
	if err != nil && !errors.Is(err, errStopped) {
		yield(nil, t.config.driverFault(asked, err, "reading"))
	}
}

func copyOut(ctx context.Context, conn *pgx.Conn, stmt Statement, rows *rowReader) error {
	_, err := conn.PgConn().CopyTo(ctx, rows, "COPY ("+stmt.Text+") TO STDOUT (FORMAT binary)")
	if rows.err != nil {
		return rows.err // the driver wraps it out of sight
	}
	if err == nil && !rows.ended {
		err = errors.New("the data ended in the middle")
	}
	return err
}

// copyRefused says that the server, or a proxy before it, refuses COPY.
func copyRefused(err error) bool {
	said, ok := errors.AsType[*pgconn.PgError](err)
	return ok && slices.Contains([]string{"42501", "0A000", "42601", "08P01"}, said.Code)
}

func queryOut(ctx context.Context, cancel func(), conn *pgx.Conn, stmt Statement, reader *rowReader) error {
	rows, err := conn.Query(ctx, stmt.Text, append([]any{pgx.QueryResultFormats{pgx.BinaryFormatCode}}, stmt.Args...)...)
	if err != nil {
		return err
	}
	defer rows.Close()
	for rows.Next() {
		if err := reader.row(rows.RawValues()); err != nil {
			cancel() // do not read the rest only to drop it
			return err
		}
	}
	return rows.Err()
}

// chooseColumns returns the named columns in order; all if names is nil.
func chooseColumns(all []schema.Column, names []string) ([]schema.Column, error) {
	if names == nil {
		return all, nil
	}
	chosen := make([]schema.Column, 0, len(names))
	for _, name := range names {
		c, ok := schema.FindColumn(all, name)
		if !ok {
			near := fault.Nearest(name, schema.Names(all))
			return nil, fault.New(fault.BadFilter, "there is no column %q; the columns are %s", name, enumerate(near)).
				With([]Problem{{Column: name, Columns: near, Reason: "no such column"}})
		}
		chosen = append(chosen, c)
	}
	if len(chosen) == 0 {
		return nil, fault.New(fault.BadFilter, "no column was chosen of %s", strings.Join(schema.Names(all), ", "))
	}
	return chosen, nil
}
