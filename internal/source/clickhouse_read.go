package source

import (
	"context"
	"database/sql"
	"fmt"
	"net/url"
	"regexp"
	"strings"

	driver "github.com/ClickHouse/clickhouse-go/v2"

	"interlock/internal/fault"
)

// clickhouseDB opens ClickHouse in sessions that only read.
func clickhouseDB(c Config) (*sql.DB, system, error) {
	u, err := url.Parse(c.URL)
	if err != nil || u.Host == "" {
		return nil, system{}, fault.New(fault.SourceUnreadable, "the address %s is not understood", c.URL).
			Suggest("Write it like clickhouse://user@host:9000/database.")
	}
	opts, err := driver.ParseDSN(c.URL)
	if err != nil {
		return nil, system{}, c.trouble(context.Background(), err, "connecting to")
	}
	opts.Auth.Password = c.Password.Reveal()
	if opts.Settings == nil {
		opts.Settings = driver.Settings{}
	}
	opts.Settings["readonly"] = 2 // reads, and settings of single statements
	opts.Settings["max_execution_time"] = int(c.Timeout.Seconds())
	return driver.OpenDB(opts), system{dialect: ClickHouse, describe: clickhouseDescribe, session: noSession, bind: clickhouseBind}, nil
}

func noSession(context.Context, *sql.Conn, Config) error { return nil }

// clickhouseBind names the parameters; the server puts them in.
func clickhouseBind(ctx context.Context, args []any) (context.Context, []any) {
	if len(args) == 0 {
		return ctx, nil
	}
	named := driver.Parameters{}
	for i, a := range args {
		named[fmt.Sprintf("p%d", i+1)] = fmt.Sprint(a)
	}
	return driver.Context(ctx, driver.WithParameters(named)), nil
}

func openClickHouse(_ context.Context, c Config) (Source, error) {
	db, system, err := clickhouseDB(c)
	if err != nil {
		return nil, err
	}
	return &sqlTable{config: c, system: system, db: db}, nil
}

func clickhouseTables(Config) (string, []any) {
	return `SELECT database, name FROM system.tables WHERE database = currentDatabase() ORDER BY 2`, nil
}

func clickhouseDescribe(ctx context.Context, conn *sql.Conn, c Config) (described, error) {
	ctx, _ = clickhouseBind(ctx, []any{c.Table, c.Schema})
	return describeFrom(ctx, conn, c, clickhouseKind, `SELECT database, name, type FROM system.columns
		WHERE table = {p1:String} AND database = if({p2:String} = '', currentDatabase(), {p2:String}) ORDER BY position`)
}

// describeFrom reads schema, column and type from a catalogue.
func describeFrom(ctx context.Context, conn *sql.Conn, c Config, kind func(string) Type, text string, args ...any) (described, error) {
	rows, err := conn.QueryContext(ctx, text, args...)
	if err != nil {
		return described{}, err
	}
	defer rows.Close()
	var d described
	for rows.Next() {
		var (
			schema string
			col    Column
		)
		if err := rows.Scan(&schema, &col.Name, &col.Native); err != nil {
			return described{}, err
		}
		col.Type = kind(col.Native)
		d.columns = append(d.columns, col)
		d.table = []string{schema, c.Table}
	}
	if err := rows.Err(); err != nil {
		return described{}, err
	}
	if len(d.columns) == 0 {
		return described{}, fault.New(fault.SourceUnreadable, "there is no table %s", c.place()).Suggest("List the tables of the database.")
	}
	return d, nil
}

var clickhouseWrapped = regexp.MustCompile(`^(?:Nullable|LowCardinality)\((.*)\)$`)

func clickhouseKind(name string) Type {
	for m := clickhouseWrapped.FindStringSubmatch(name); m != nil; m = clickhouseWrapped.FindStringSubmatch(name) {
		name = m[1]
	}
	base, _, _ := strings.Cut(name, "(")
	switch base {
	case "Bool":
		return Type{Kind: Bool}
	case "Int8", "Int16", "Int32", "Int64", "UInt8", "UInt16", "UInt32":
		return Type{Kind: Int}
	case "UInt64":
		return Type{Kind: Uint}
	case "Float32", "Float64":
		return Type{Kind: Float}
	case "Decimal":
		if t := ParseType(name); t.Width > 0 && t.Width <= 38 {
			return t
		}
	case "Date", "Date32":
		return Type{Kind: Date}
	case "DateTime", "DateTime64":
		return Type{Kind: TimestampTZ}
	case "UUID":
		return Type{Kind: UUID}
	case "Array", "Tuple", "Map", "Nested", "JSON":
		return Type{Kind: Other}
	}
	return Type{Kind: Text}
}
