package source

import (
	"context"
	"crypto/rsa"
	"crypto/x509"
	"database/sql"
	"encoding/pem"
	"errors"
	"fmt"
	"net"
	"net/url"
	"os"
	"strconv"
	"strings"
	"time"

	driver "github.com/snowflakedb/gosnowflake/v2"

	"interlock/internal/dialect"
	"interlock/internal/fault"
	"interlock/internal/schema"
)

// snowflakeDB opens Snowflake by snowflake://user@account/database/schema?warehouse=…
// with a password or an access token in its place, or with ?key=path of a private
// key in PEM. Snowflake has no sessions that only read: what a statement may do is
// for the policy and the role's rights there to say.
func snowflakeDB(c Config) (*sql.DB, system, error) {
	conf, err := snowflakeConfig(c)
	if err != nil {
		return nil, system{}, err
	}
	db := sql.OpenDB(driver.NewConnector(driver.SnowflakeDriver{}, *conf))
	return db, system{dialect: dialect.Snowflake, describe: snowflakeDescribe, session: anySession, bind: positionalArgs}, nil
}

func snowflakeConfig(c Config) (*driver.Config, error) {
	u, err := url.Parse(c.URL)
	if err != nil {
		u = &url.URL{}
	}
	name, schema, _ := strings.Cut(database(u), "/")
	if u.Host == "" || u.User.Username() == "" || name == "" {
		return nil, fault.New(fault.SourceUnreadable, "the address %s is not understood", c.URL).
			Suggest("Write it like snowflake://user@account/database/schema?warehouse=name.")
	}
	query := u.Query()
	params := map[string]string{
		"STATEMENT_TIMEOUT_IN_SECONDS": strconv.Itoa(max(1, int(c.Timeout.Seconds()))),
		"TIMEZONE":                     "UTC",
		"GO_QUERY_RESULT_FORMAT":       "json", // its numbers have all their digits
		// Parts of a result are held whole: small ones, and few at once.
		"CLIENT_RESULT_CHUNK_SIZE": "16",
		"CLIENT_PREFETCH_THREADS":  "2",
	}
	conf := &driver.Config{
		Account: u.Hostname(), User: u.User.Username(), Password: c.Password.Reveal(), Database: name, Schema: schema,
		Warehouse: query.Get("warehouse"), Role: query.Get("role"), Application: "interlock", Params: map[string]*string{},
		DisableConsoleLogin: driver.ConfigBoolTrue, MaxRetryCount: 2,
	}
	conf.LoginTimeout, conf.RequestTimeout, conf.ClientTimeout = 10*time.Second, c.Timeout, c.Timeout //nolint:staticcheck // there is no other way yet
	conf.Tracing = "off"                                                                              //nolint:staticcheck // errors are returned, not also logged
	for name, value := range params {
		conf.Params[name] = &value
	}
	if port := u.Port(); port != "" { // a server that is no account of Snowflake's
		conf.Host, conf.Protocol = u.Hostname(), query.Get("protocol")
		if ip := net.ParseIP(conf.Host); conf.Protocol == "http" && (ip == nil || !ip.IsLoopback()) {
			return nil, fault.New(fault.SourceUnreadable, "the password for %s would travel in the open", c.URL).Suggest("Leave protocol=http out.")
		}
		if conf.Port, err = strconv.Atoi(port); err != nil {
			return nil, c.driverFault(context.Background(), err, "connecting to")
		}
	}
	if path := query.Get("key"); path != "" {
		if conf.PrivateKey, err = privateKey(path); err != nil {
			return nil, fault.Wrap(err, fault.SourceUnreadable, "the private key %s cannot be used: %s", path, err).
				Suggest("Give the path of an unencrypted RSA key in PKCS #8, as openssl pkcs8 -topk8 -nocrypt writes it.")
		}
		conf.Authenticator = driver.AuthTypeJwt
	}
	return conf, nil
}

func privateKey(path string) (*rsa.PrivateKey, error) {
	data, err := os.ReadFile(path)
	if err != nil {
		return nil, err
	}
	block, _ := pem.Decode(data)
	if block == nil {
		return nil, errors.New("it is not PEM")
	}
	key, err := x509.ParsePKCS8PrivateKey(block.Bytes)
	if err != nil {
		return nil, errors.New("it is not an unencrypted key in PKCS #8")
	}
	private, ok := key.(*rsa.PrivateKey)
	if !ok {
		return nil, fmt.Errorf("it is a %T, not an RSA key", key)
	}
	return private, nil
}

func snowflakeTables(Config) (string, []any) {
	return `SELECT table_schema, table_name FROM information_schema.tables WHERE table_schema <> 'INFORMATION_SCHEMA' ORDER BY 1, 2`, nil
}

func snowflakeDescribe(ctx context.Context, conn *sql.Conn, c Config) (described, error) {
	schema := c.Schema
	if u, err := url.Parse(c.URL); err == nil && schema == "" {
		_, schema, _ = strings.Cut(database(u), "/")
	}
	return describeFrom(ctx, conn, c, snowflakeKind, `SELECT table_schema, column_name,
		CASE WHEN data_type = 'NUMBER' THEN 'DECIMAL(' || numeric_precision || ',' || numeric_scale || ')' ELSE data_type END
		FROM information_schema.columns WHERE table_name = ? AND (table_schema = ? OR ? = '') ORDER BY table_schema, ordinal_position`, c.Table, schema, schema)
}

func snowflakeKind(name string) schema.Type {
	if kind, ok := dialect.Snowflake.Kind(name); ok {
		return schema.Type{Kind: kind}
	}
	switch t := schema.ParseType(name).Plain(); {
	case t.Kind == schema.Decimal && t.Scale == 0 && t.Width <= 18:
		return schema.Type{Kind: schema.Int}
	case t.Kind == schema.Decimal:
		return t
	}
	return schema.Type{Kind: schema.Other}
}
