package source

import (
	"context"
	"fmt"
	"math/big"
	"strconv"
	"strings"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"

	"interlock/internal/schema"
	"interlock/internal/sqlpolicy"
)

type pgRemote struct {
	config Config
	pool   *pgxpool.Pool
}

func (r *pgRemote) Close() error { r.pool.Close(); return nil }

// Run runs one statement in a transaction that only reads. The extended protocol takes
// one statement and no more. A row that alone is over the limit is refused before it is
// read into memory, and the session is closed.
func (r *pgRemote) Run(ctx context.Context, d sqlpolicy.Decision, limits Limits) (Answer, error) {
	limits = limits.orDefault()
	bounded, cancel := context.WithTimeout(ctx, limits.Timeout)
	defer cancel()
	start := time.Now()
	tx, err := r.pool.BeginTx(bounded, pgx.TxOptions{AccessMode: pgx.ReadOnly})
	if err != nil {
		return Answer{}, r.config.driverFault(ctx, err, "connecting to")
	}
	defer tx.Rollback(context.WithoutCancel(ctx)) //nolint:errcheck // nothing was written
	tx.Conn().PgConn().Frontend().SetMaxBodyLen(limits.Bytes + messageRoom)
	_, err = tx.Exec(bounded, prepareStatement, strconv.FormatInt(limits.Timeout.Milliseconds(), 10))
	if err != nil {
		return Answer{}, r.config.statementFault(ctx, bounded, err)
	}
	got := &answer{limits: limits, since: start}
	if err := got.readPostgres(bounded, cancel, tx, d.SQL); err != nil {
		return Answer{}, r.config.statementFault(ctx, bounded, err)
	}
	return got.finish()
}

// messageRoom is added to the limit of a message for what is not the row itself, such as
// the description of all columns.
const messageRoom = 1 << 20

// prepareStatement sets up a transaction: names without a schema mean the server's own
// functions and operators, the server itself enforces the time limit, and a superuser, if
// one was allowed, becomes a role that only reads.
const prepareStatement = `SELECT set_config('search_path', 'pg_catalog, pg_temp', true), set_config('statement_timeout', $1, true), set_config('role',
	CASE WHEN current_setting('is_superuser') = 'on' AND EXISTS (SELECT FROM pg_roles WHERE rolname = 'pg_read_all_data') THEN 'pg_read_all_data' ELSE current_setting('role') END, true)`

func (a *answer) readPostgres(ctx context.Context, cancel func(), tx pgx.Tx, text string) error {
	rows, err := tx.Query(ctx, text, pgx.QueryResultFormats{pgx.TextFormatCode})
	if err != nil {
		return err
	}
	defer rows.Close()
	for _, f := range rows.FieldDescriptions() {
		c := schema.Column{Name: f.Name, Type: schema.Type{Kind: schema.Text}}
		if t, ok := tx.Conn().TypeMap().TypeForOID(f.DataTypeOID); ok {
			c.Native, c.Type = t.Name, postgresKind(t.Name, f.TypeModifier)
		}
		if c.Type.Kind == schema.Bytes || c.Native == "money" {
			c.Type = schema.Type{Kind: schema.Text} // \x and digits; a sum with the sign of the server's currency
		}
		c.Type.Fixed = c.Type.Width > 0
		a.Columns = append(a.Columns, c)
	}
	for rows.Next() {
		values := rows.RawValues()
		more := a.addRow(func(dst []byte, i int) []byte {
			if values[i] == nil {
				return append(dst, "null"...)
			}
			return a.textCell(dst, i, values[i])
		})
		if !more {
			cancel() // the rest is not read only to be dropped
			return nil
		}
	}
	return rows.Err()
}

// sqlRemote is a Remote behind a database/sql driver.
type sqlRemote struct{ sqlTable }

// Run runs one statement in a session that only reads.
func (r *sqlRemote) Run(ctx context.Context, d sqlpolicy.Decision, limits Limits) (Answer, error) {
	limits = limits.orDefault()
	bounded, cancel := context.WithTimeout(ctx, limits.Timeout)
	defer cancel()
	start := time.Now()
	conn, err := r.connect(bounded)
	if err != nil {
		return Answer{}, err
	}
	defer conn.Close()
	meter := meterOf(conn)
	meter.allow(r.system.rowBytes(limits), int64(limits.Bytes))
	failed := func(err error) (Answer, error) {
		return Answer{}, r.config.statementFault(ctx, bounded, meter.tooLarge(r.config, err))
	}
	rows, err := conn.QueryContext(bounded, d.SQL)
	if err != nil {
		return failed(err)
	}
	defer func() { cancel(); rows.Close() }()
	types, err := rows.ColumnTypes()
	if err != nil {
		return failed(err)
	}
	got := &answer{limits: limits, since: start}
	values, into := make([]any, len(types)), make([]any, len(types))
	for i, t := range types {
		got.Columns = append(got.Columns, schema.Column{Name: t.Name(), Native: t.DatabaseTypeName(), Type: resultKind(t.DatabaseTypeName())})
		into[i] = &values[i]
	}
	for rows.Next() {
		meter.next()
		if err := rows.Scan(into...); err != nil {
			return failed(err)
		}
		if !got.addRow(func(dst []byte, i int) []byte { return got.valueCell(dst, i, values[i]) }) {
			return got.finish()
		}
	}
	if err := rows.Err(); err != nil {
		return failed(err)
	}
	return got.finish()
}

// resultKind maps the names that drivers give to types of results.
func resultKind(name string) schema.Type {
	name = strings.ToUpper(name)
	for _, around := range []string{"NULLABLE(", "LOWCARDINALITY(", "NULLABLE("} {
		if inner, ok := strings.CutPrefix(name, around); ok {
			name = strings.TrimSuffix(inner, ")")
		}
	}
	switch {
	case name == "UNSIGNED BIGINT", name == "UINT64", name == "BIT":
		return schema.Type{Kind: schema.Uint}
	case strings.HasPrefix(name, "DECIMAL"), strings.HasPrefix(name, "NUMERIC"):
		return schema.Type{Kind: schema.Decimal}
	case strings.HasSuffix(name, "INT"), strings.HasPrefix(name, "INT"), strings.HasPrefix(name, "UINT"), name == "YEAR":
		return schema.Type{Kind: schema.Int}
	case strings.HasPrefix(name, "FLOAT"), name == "DOUBLE", name == "REAL":
		return schema.Type{Kind: schema.Float}
	case strings.HasPrefix(name, "BOOL"):
		return schema.Type{Kind: schema.Bool}
	case name == "DATE", name == "DATE32":
		return schema.Type{Kind: schema.Date}
	case strings.HasPrefix(name, "TIMESTAMP") && (strings.Contains(name, "TZ") && !strings.Contains(name, "NTZ") || strings.Contains(name, "WITH TIME ZONE")):
		return schema.Type{Kind: schema.TimestampTZ}
	case strings.HasPrefix(name, "TIMESTAMP"), strings.HasPrefix(name, "DATETIME"):
		return schema.Type{Kind: schema.Timestamp}
	case name == "JSON":
		return schema.Type{Kind: schema.JSON}
	case strings.HasSuffix(name, "BLOB"), strings.HasSuffix(name, "BINARY"), name == "GEOMETRY":
		return schema.Type{Kind: schema.Bytes}
	}
	return schema.Type{Kind: schema.Text}
}

// valueCell encodes a value as database/sql gives it.
func (a *answer) valueCell(dst []byte, i int, value any) []byte {
	switch v := value.(type) {
	case nil:
		return append(dst, "null"...)
	case []byte:
		if a.Columns[i].Native == "BIT" && len(v) <= 8 { // MySQL's bits are a number, as bytes
			return appendNumber(dst, new(big.Int).SetBytes(v).String())
		}
		return a.textCell(dst, i, v)
	case string:
		return a.textCell(dst, i, []byte(v))
	case bool:
		return fmt.Append(dst, v)
	case int64:
		if v == 0 && a.Columns[i].Native == "YEAR" {
			return a.textCell(dst, i, []byte("0000"))
		}
		return appendWhole(dst, v)
	case float64:
		return appendFloat(dst, v)
	case time.Time:
		if a.Columns[i].Type.Kind == schema.Date { // a day where the system is, not an instant
			return appendString(dst, []byte(v.Format(time.DateOnly)))
		}
		return appendString(dst, []byte(v.UTC().Format("2006-01-02 15:04:05.999999+00")))
	}
	return a.textCell(dst, i, fmt.Append(nil, value))
}
