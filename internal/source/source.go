// Package source reads files and databases: what columns they have, a page of
// them, and the rows under a filter as a stream whose memory is bounded. A filter
// is one type with one translator per dialect; values are bound, names quoted.
package source

import (
	"cmp"
	"context"
	"encoding/json"
	"iter"
	"net/url"
	"path/filepath"
	"strings"
	"time"

	"interlock/internal/fault"
	"interlock/internal/schema"
)

// A Source is one table-like thing somewhere. It is safe for concurrent use until
// it is closed. Every error for a person is a *fault.Fault.
type Source interface {
	// Describe gives the columns. It asks the system once.
	Describe(ctx context.Context) ([]schema.Column, error)
	// Count gives the true number of rows under the filter.
	Count(ctx context.Context, f schema.Filter) (int64, error)
	// Preview gives some rows under the filter, in the table's own order.
	Preview(ctx context.Context, f schema.Filter, offset, limit int) (Page, error)
	// Stream gives the rows under the filter, with these columns or, if nil, all. A
	// batch is valid until the next. The only error is the last; a stream that ended
	// without one is complete.
	Stream(ctx context.Context, columns []string, f schema.Filter) iter.Seq2[*Batch, error]
	// Close ends connections.
	Close() error
}

// A Page is some rows as typed JSON: an array of arrays, encoded like the embedded
// engine's results.
type Page struct {
	Columns []schema.Column
	Rows    json.RawMessage
	Count   int
}

// A Config says what to open.
type Config struct {
	// URL is postgres://user@host:5432/database, mysql://user@host:3306/database,
	// clickhouse://…, trino://…, snowflake://…, sqlite:/path, or the path of a file. Required.
	URL string
	// Name is what messages call the source, so that they do not tell where it is; its URL
	// if it has none.
	Name string
	// Password is kept apart from the URL; one inside the URL is taken out of it.
	Password Secret
	// Schema and Table name the table. Schema "" is the database's own choice.
	Schema, Table string
	// Timeout bounds one statement at a database; 5 minutes by default.
	Timeout time.Duration
	// Engine and Dir are needed for files: they are read by the embedded engine, which
	// keeps what it imports in Dir.
	Engine Engine
	Dir    string
	// AllowOwner lets statements run in PostgreSQL as a role that could do more than read.
	AllowOwner bool
	// SQLite has the workers that read SQLite files; without it each source has its own.
	SQLite *SQLitePool
	// Budget bounds what is copied of one file; nil bounds each table by itself.
	Budget *Budget
	// Dataset is the name that may stand before those of tables in whole statements.
	Dataset string
}

// Scheme says which connector a URL is for: postgres, mysql, sqlite, clickhouse,
// trino, snowflake, or file.
func Scheme(address string) string {
	scheme, _, ok := strings.Cut(address, ":")
	if !ok || len(scheme) < 2 || strings.ContainsAny(scheme, `/\.`) {
		return "file"
	}
	switch scheme = strings.ToLower(scheme); scheme {
	case "postgresql":
		return "postgres"
	case "mariadb":
		return "mysql"
	case "sqlite3":
		return "sqlite"
	case "https+trino":
		return "trino"
	}
	return scheme
}

// prepare takes the password out of the URL and fills in defaults.
func (c Config) prepare() (Config, error) {
	if c.Timeout == 0 {
		c.Timeout = 5 * time.Minute
	}
	switch Scheme(c.URL) {
	case "file", "sqlite":
		return c, nil
	}
	bare, password, err := SplitURL(c.URL)
	if err != nil {
		return c, err
	}
	c.URL = bare
	if c.Password.IsZero() {
		c.Password = password
	}
	return c, nil
}

// path gives the path of a sqlite: address.
func (c Config) path() string {
	path := c.URL[strings.Index(c.URL, ":")+1:]
	if rest, ok := strings.CutPrefix(path, "//"); ok {
		path = rest
	}
	return filepath.FromSlash(path)
}

// File is the file that a database is, "" of one that is a server.
func (c Config) File() string {
	if Scheme(c.URL) != "sqlite" {
		return ""
	}
	return c.path()
}

// displayName names the source for a person: never with a password.
func (c Config) displayName() string {
	where := cmp.Or(c.Name, c.URL)
	if c.Table == "" {
		return where
	}
	if c.Schema == "" {
		return c.Table + " at " + where
	}
	return c.Schema + "." + c.Table + " at " + where
}

// Open opens a table or a file.
func Open(ctx context.Context, c Config) (Source, error) {
	c, err := c.prepare()
	if err != nil {
		return nil, err
	}
	if Scheme(c.URL) == "file" {
		return openFile(ctx, c)
	}
	connector, err := connectorFor(c)
	if err != nil {
		return nil, err
	}
	return connector.open(ctx, c)
}

func unknownScheme(scheme string) error {
	if scheme == "bigquery" {
		return fault.New(fault.SourceUnreadable, "there is no connector for BigQuery: none of its drivers can bound what a statement costs").
			Suggest("Export the tables with EXPORT DATA to Parquet and add the files, or put a Trino with its BigQuery connector in front and use trino://.")
	}
	return fault.New(fault.SourceUnreadable, "there is no connector for %q", scheme).
		Suggest("Use a file, or an address that begins with one of: %s.", strings.Join(fault.Nearest(scheme, reachable()), ":, ")+":")
}

// A TableName is a table that can be opened at an address.
type TableName struct{ Schema, Name string }

// Tables lists what can be opened at a database's address.
func Tables(ctx context.Context, c Config) ([]TableName, error) {
	c, err := c.prepare()
	if err != nil {
		return nil, err
	}
	connector, err := connectorFor(c)
	if err != nil {
		return nil, err
	}
	return connector.tables(ctx, c)
}

// database gives the name of the database in a URL's path.
func database(u *url.URL) string { return strings.Trim(u.Path, "/") }
