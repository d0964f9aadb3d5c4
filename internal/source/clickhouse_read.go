package source

import (
	"context"
	"crypto/tls"
	"database/sql"
	"maps"
	"net"
	"net/url"
	"regexp"
	"strings"
	"time"

	driver "github.com/ClickHouse/clickhouse-go/v2"

	"interlock/internal/dialect"
	"interlock/internal/fault"
	"interlock/internal/schema"
)

// clickhouseMemory bounds a statement there. Rows are bounded where they are read.
const clickhouseMemory = 4 << 30

// clickhouseBlock bounds a block of rows, which the driver buffers whole.
const clickhouseBlock = 128 << 20

// clickhouseTLS names the server whose certificate is checked.
func clickhouseTLS(c *tls.Config, address string) *tls.Config {
	c = c.Clone()
	if host, _, err := net.SplitHostPort(address); err == nil && c.ServerName == "" {
		c.ServerName = host
	}
	return c
}

// clickhouseDB opens ClickHouse by connections that only read.
func clickhouseDB(c Config) (*sql.DB, system, error) {
	u, err := url.Parse(c.URL)
	if err != nil || u.Host == "" {
		return nil, system{}, fault.New(fault.SourceUnreadable, "the address %s is not understood", c.URL).
			Suggest("Write it like clickhouse://user@host:9000/database.")
	}
	opts, err := driver.ParseDSN(c.URL)
	if err != nil {
		return nil, system{}, c.driverFault(context.Background(), err, "connecting to")
	}
	opts.Auth.Password = c.Password.Reveal()
	opts.DialTimeout = 10 * time.Second
	opts.Compression = nil // what arrives is what is counted
	opts.DialContext = func(ctx context.Context, address string) (net.Conn, error) {
		ctx, cancel := context.WithTimeout(ctx, opts.DialTimeout)
		defer cancel()
		if opts.TLS == nil {
			return dialMetered(ctx, "tcp", address)
		}
		conn, err := dialMetered(ctx, "tcp", address)
		if err != nil {
			return nil, err
		}
		return tls.Client(conn, clickhouseTLS(opts.TLS, address)), nil
	}
	limits := driver.Settings{}
	maps.Copy(limits, opts.Settings)
	opts.Settings = nil
	limits["max_execution_time"] = max(1, int(c.Timeout.Seconds()))
	limits["max_memory_usage"] = clickhouseMemory
	db := sql.OpenDB(clickhouseConnector{driver.Connector(opts), limits})
	return db, system{dialect: dialect.ClickHouse, describe: clickhouseDescribe, session: anySession, bind: positionalArgs, block: clickhouseBlock}, nil
}

func anySession(context.Context, *sql.Conn, Config) error { return nil }

func clickhouseTables(Config) (string, []any) {
	return `SELECT database, name FROM system.tables WHERE database = currentDatabase() ORDER BY 2`, nil
}

// clickhouseDescribe reads the columns; those by which the table is sorted fix the
// order of pages.
func clickhouseDescribe(ctx context.Context, conn *sql.Conn, c Config) (described, error) {
	const from = ` FROM system.columns WHERE table = {p1:String} AND database = if({p2:String} = '', currentDatabase(), {p2:String})`
	d, err := describeFrom(ctx, conn, c, clickhouseKind, "SELECT database, name, type"+from, c.Table, c.Schema)
	if err != nil {
		return described{}, err
	}
	rows, err := conn.QueryContext(ctx, "SELECT name"+from+" AND is_in_sorting_key = 1", c.Table, c.Schema)
	if err != nil {
		return described{}, err
	}
	defer rows.Close()
	for rows.Next() {
		var name string
		if err := rows.Scan(&name); err != nil {
			return described{}, err
		}
		d.key = append(d.key, name)
	}
	return d, rows.Err()
}

// describeFrom reads schema, column and type from a catalogue.
func describeFrom(ctx context.Context, conn *sql.Conn, c Config, kind func(string) schema.Type, text string, args ...any) (described, error) {
	rows, err := conn.QueryContext(ctx, text, args...)
	if err != nil {
		return described{}, err
	}
	defer rows.Close()
	var d described
	for rows.Next() {
		var (
			name string
			col  schema.Column
		)
		if err := rows.Scan(&name, &col.Name, &col.Native); err != nil {
			return described{}, err
		}
		if len(d.table) > 0 && d.table[0] != name {
			return described{}, fault.New(fault.SourceUnreadable, "there are tables %s in the schemas %s and %s at %s", c.Table, d.table[0], name, c.URL).
				Suggest("Name the schema.")
		}
		col.Type = kind(col.Native)
		d.columns = append(d.columns, col)
		d.table = []string{name, c.Table}
	}
	if err := rows.Err(); err != nil {
		return described{}, err
	}
	if len(d.columns) == 0 {
		return described{}, fault.New(fault.SourceUnreadable, "there is no table %s", c.displayName()).Suggest("List the tables of the database.")
	}
	return d, nil
}

var clickhouseWrapped = regexp.MustCompile(`^(?:Nullable|LowCardinality)\((.*)\)$`)

func clickhouseKind(name string) schema.Type {
	for m := clickhouseWrapped.FindStringSubmatch(name); m != nil; m = clickhouseWrapped.FindStringSubmatch(name) {
		name = m[1]
	}
	base, _, _ := strings.Cut(name, "(")
	kind, ok := dialect.ClickHouse.Kind(base)
	if kind == schema.Decimal {
		if t := schema.ParseType(name).Plain(); t.Width > 0 && t.Width <= 38 {
			return t
		}
		ok = false // more digits than a decimal has
	}
	if !ok {
		return schema.Type{Kind: schema.Text}
	}
	return schema.Type{Kind: kind}
}
