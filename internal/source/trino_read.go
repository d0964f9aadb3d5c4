package source

import (
	"context"
	"database/sql"
	"fmt"
	"net"
	"net/http"
	"net/url"
	"strings"
	"time"

	driver "github.com/trinodb/trino-go-client/trino"

	"interlock/internal/dialect"
	"interlock/internal/fault"
	"interlock/internal/schema"
)

// trinoDB opens Trino by trino://user@host:8080/catalog/schema; with ?secure=1 over
// TLS, which a password needs. Trino has no sessions that only read: what a
// statement may do is for the policy and the user's rights there to say.
func trinoDB(c Config) (*sql.DB, system, error) {
	u, err := url.Parse(c.URL)
	if err != nil {
		u = &url.URL{}
	}
	catalog, schema, _ := strings.Cut(database(u), "/")
	if u.Host == "" || catalog == "" {
		return nil, system{}, fault.New(fault.SourceUnreadable, "the address %s is not understood", c.URL).
			Suggest("Write it like trino://user@host:8080/catalog/schema.")
	}
	server := url.URL{Scheme: "http", Host: u.Host, User: url.User(u.User.Username())}
	switch secure := u.Query().Get("secure") != ""; {
	case secure && c.Password.IsZero():
		server.Scheme = "https"
	case secure:
		server.Scheme, server.User = "https", url.UserPassword(u.User.Username(), c.Password.Reveal())
	case !c.Password.IsZero():
		return nil, system{}, fault.New(fault.SourceUnreadable, "the password for %s would travel in the open", c.URL).
			Suggest("Add ?secure=1 to the address, so that TLS is used.")
	}
	connector, err := driver.NewConnector(&driver.Config{
		ServerURI: server.String(), Catalog: catalog, Schema: schema, Source: "interlock",
		TimeZone:            "UTC", // of times without a zone
		RequestRetryTimeout: new(3 * time.Second),
		HTTPClient:          &http.Client{Transport: &trinoTransport{inner: http.DefaultTransport, open: map[context.Context]*http.Request{}}},
		SessionProperties: map[string]string{
			"query_max_run_time":       trinoDuration(c.Timeout),
			"query_max_execution_time": trinoDuration(c.Timeout),
		},
	})
	if err != nil {
		return nil, system{}, c.driverFault(context.Background(), err, "connecting to")
	}
	return sql.OpenDB(connector), system{dialect: dialect.Trino, describe: trinoDescribe, session: trinoSession, bind: positionalArgs}, nil
}

// trinoDuration writes a duration with one unit, which is all that Trino reads.
func trinoDuration(d time.Duration) string { return fmt.Sprintf("%dms", max(1, d.Milliseconds())) }

// trinoSession sees whether anybody listens, because the driver would try for minutes.
func trinoSession(ctx context.Context, _ *sql.Conn, c Config) error {
	u, err := url.Parse(c.URL)
	if err != nil {
		return err
	}
	conn, err := (&net.Dialer{Timeout: 10 * time.Second}).DialContext(ctx, "tcp", u.Host)
	if err != nil {
		return err
	}
	return conn.Close()
}

func trinoTables(Config) (string, []any) {
	return `SELECT table_schema, table_name FROM information_schema.tables WHERE table_schema <> 'information_schema' ORDER BY 1, 2`, nil
}

func trinoDescribe(ctx context.Context, conn *sql.Conn, c Config) (described, error) {
	schema := c.Schema
	if u, err := url.Parse(c.URL); err == nil && schema == "" {
		_, schema, _ = strings.Cut(database(u), "/")
	}
	return describeFrom(ctx, conn, c, trinoKind, `SELECT table_schema, column_name, data_type FROM information_schema.columns
		WHERE table_name = ? AND (table_schema = ? OR ? = '') ORDER BY table_schema, ordinal_position`, c.Table, schema, schema)
}

func trinoKind(name string) schema.Type {
	base, _, _ := strings.Cut(name, "(")
	kind, ok := dialect.Trino.Kind(strings.TrimSpace(base))
	zoned := strings.HasSuffix(name, "with time zone")
	switch {
	case !ok:
		kind = schema.Text
	case kind == schema.Decimal:
		return schema.ParseType(name).Plain()
	case kind == schema.Time && zoned:
		kind = schema.Other
	case kind == schema.Timestamp && zoned:
		kind = schema.TimestampTZ
	}
	return schema.Type{Kind: kind}
}
