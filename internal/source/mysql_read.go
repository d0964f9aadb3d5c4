package source

import (
	"context"
	"database/sql"
	"database/sql/driver"
	"fmt"
	"net"
	"net/url"
	"strings"
	"time"

	mysqldriver "github.com/go-sql-driver/mysql"

	"interlock/internal/dialect"
	"interlock/internal/fault"
	"interlock/internal/schema"
	"interlock/internal/sqlpolicy"
)

// mysqlDB opens MySQL or MariaDB. Rows arrive as text that is parsed in place.
// tinyint(1) is a boolean, as both systems use it, where it holds nothing but 0 and 1; TIME, which there is a duration,
// is text, and so are columns with zero dates.
func mysqlDB(c Config) (*sql.DB, system, error) {
	conf, err := mysqlConfig(c)
	if err != nil {
		return nil, system{}, err
	}
	return mysqlOpen(c, conf)
}

// mysqlEngine opens MySQL or MariaDB for statements that the policy decided about. All
// tables in them have their database in front, so its sessions have none of their own:
// there a bare name can mean no table and no stored function.
func mysqlEngine(c Config) (*sql.DB, system, error) {
	conf, err := mysqlConfig(c)
	if err != nil {
		return nil, system{}, err
	}
	conf.DBName = ""
	return mysqlOpen(c, conf)
}

// mysqlConfig sets connections up. Their SQL mode and character set are those that the
// policy parses statements by, whatever the server's defaults are; one statement is sent
// at a time, and no file of this machine.
func mysqlConfig(c Config) (*mysqldriver.Config, error) {
	u, err := url.Parse(c.URL)
	if err != nil || u.Host == "" && u.Query().Get("socket") == "" || database(u) == "" {
		return nil, fault.New(fault.SourceUnreadable, "the address %s is not understood", c.URL).
			Suggest("Write it like mysql://user@host:3306/database.")
	}
	conf := mysqldriver.NewConfig()
	conf.User, conf.Passwd, conf.DBName = u.User.Username(), c.Password.Reveal(), database(u)
	conf.Net, conf.Addr = "tcp", u.Host
	if u.Port() == "" {
		conf.Addr = net.JoinHostPort(u.Hostname(), "3306")
	}
	if socket := u.Query().Get("socket"); socket != "" {
		conf.Net, conf.Addr = "unix", socket
	}
	conf.TLSConfig = u.Query().Get("tls")
	conf.Timeout = 10 * time.Second
	conf.Params = map[string]string{"time_zone": "'+00:00'", "sql_mode": "'" + sqlpolicy.MySQLMode + "'"}
	conf.MultiStatements, conf.AllowAllFiles, conf.InterpolateParams = false, false, false
	conf.Logger = &mysqldriver.NopLogger{}
	conf.DialFunc = dialMetered
	// The character set is set by SET NAMES, because servers can ignore the handshake.
	return conf, conf.Apply(mysqldriver.Charset("utf8mb4", "utf8mb4_general_ci"))
}

func mysqlOpen(c Config, conf *mysqldriver.Config) (*sql.DB, system, error) {
	connector, err := mysqldriver.NewConnector(conf)
	if err != nil {
		return nil, system{}, c.driverFault(context.Background(), err, "connecting to")
	}
	return sql.OpenDB(mysqlConnector{connector}), system{dialect: dialect.MySQL, describe: mysqlDescribe, session: mysqlSession, raw: true, bind: positionalArgs}, nil
}

// mysqlConnector makes connections with a meter.
type mysqlConnector struct{ driver.Connector }

// Connect implements driver.Connector.
func (c mysqlConnector) Connect(ctx context.Context) (driver.Conn, error) {
	ctx, meter := withMeter(ctx)
	conn, err := c.Connector.Connect(ctx)
	if err != nil {
		return nil, err
	}
	return mysqlConn{conn.(mysqlInner), meter}, nil
}

// mysqlInner is what database/sql uses of the driver's connection.
type mysqlInner interface {
	driver.Conn
	driver.ConnPrepareContext
	driver.ConnBeginTx
	driver.QueryerContext
	driver.ExecerContext
	driver.Pinger
	driver.SessionResetter
	driver.Validator
	driver.NamedValueChecker
}

type mysqlConn struct {
	mysqlInner
	meter *rowMeter
}

func (c mysqlConn) meterOf() *rowMeter { return c.meter }

func mysqlSession(ctx context.Context, conn *sql.Conn, c Config) error {
	if _, err := conn.ExecContext(ctx, "SET SESSION TRANSACTION READ ONLY"); err != nil {
		return err
	}
	return mysqlTime(ctx, conn, c.Timeout)
}

// mysqlTime bounds the statements of a session. MariaDB counts seconds under one name,
// MySQL milliseconds under another.
func mysqlTime(ctx context.Context, conn *sql.Conn, most time.Duration) error {
	_, err := conn.ExecContext(ctx, fmt.Sprintf("SET SESSION max_statement_time = %f", most.Seconds()))
	if err != nil {
		_, err = conn.ExecContext(ctx, fmt.Sprintf("SET SESSION max_execution_time = %d", most.Milliseconds()))
	}
	return err
}

func mysqlTables(Config) (string, []any) {
	return `SELECT table_schema, table_name FROM information_schema.tables WHERE table_schema = database() ORDER BY 2`, nil
}

func mysqlDescribe(ctx context.Context, conn *sql.Conn, c Config) (described, error) {
	rows, err := conn.QueryContext(ctx, `SELECT table_schema, column_name, data_type, column_type, coalesce(numeric_precision, 0), coalesce(numeric_scale, 0), column_key
		FROM information_schema.columns WHERE table_name = ? AND table_schema = coalesce(nullif(?, ''), database()) ORDER BY ordinal_position`, c.Table, c.Schema)
	if err != nil {
		return described{}, err
	}
	defer rows.Close()
	var d described
	for rows.Next() {
		var (
			col               schema.Column
			schema, full, key string
			width, scale      int
		)
		if err := rows.Scan(&schema, &col.Name, &col.Native, &full, &width, &scale, &key); err != nil {
			return described{}, err
		}
		col.Native = strings.ToLower(col.Native)
		col.Type = mysqlKind(col.Native, strings.ToLower(full), width, scale)
		d.columns = append(d.columns, col)
		d.table = []string{schema, c.Table}
		if key == "PRI" {
			d.key = append(d.key, col.Name)
		}
	}
	if err := rows.Err(); err != nil {
		return described{}, err
	}
	if len(d.columns) == 0 {
		return described{}, fault.New(fault.SourceUnreadable, "there is no table %s", c.displayName()).Suggest("List the tables of the database.")
	}
	if err := rows.Close(); err != nil {
		return described{}, err
	}
	for i := range d.columns {
		if col := &d.columns[i]; col.Native == "decimal" && col.Type.Kind == schema.Text {
			col.KeepText(0, "", "it is declared with more than 38 digits")
		}
	}
	return d, mysqlLook(ctx, conn, c, d)
}

// mysqlLoss is the condition of values that the column's type would change. Types that
// keep every value have no condition.
func mysqlLoss(c schema.Column) string {
	name := dialect.MySQL.Quote(c.Name)
	switch {
	case c.Type.Kind == schema.Bool && c.Native == "tinyint":
		return name + " NOT IN (0, 1)"
	case c.Type.Kind == schema.Date || c.Type.Kind == schema.Timestamp || c.Type.Kind == schema.TimestampTZ:
		return fmt.Sprintf("YEAR(%[1]s) = 0 OR MONTH(%[1]s) = 0 OR DAYOFMONTH(%[1]s) = 0", name)
	case c.Native == "year":
		return name + " = 0"
	}
	return ""
}

// mysqlLook makes columns of tinyint(1) numbers if they hold more than 0 and 1, which no
// system prevents, and columns with zero dates text. If the check takes too long, flags
// become numbers, and a zero date fails when it is read.
func mysqlLook(ctx context.Context, conn *sql.Conn, c Config, d described) error {
	var list []int
	var asks []string
	var found []any
	for i, col := range d.columns {
		if condition := mysqlLoss(col); condition != "" {
			list, found = append(list, i), append(found, new(int64))
			asks = append(asks, fmt.Sprintf("count(CASE WHEN %s THEN 1 END)", condition))
		}
	}
	if len(list) == 0 {
		return nil
	}
	if err := mysqlTime(ctx, conn, min(c.Timeout, lookPatience)); err != nil {
		return err
	}
	err := conn.QueryRowContext(ctx, "SELECT "+strings.Join(asks, ", ")+" FROM "+dialect.MySQL.Quote(d.table[0])+"."+dialect.MySQL.Quote(d.table[1])).Scan(found...)
	if ctx.Err() != nil {
		return ctx.Err()
	}
	for i, at := range list {
		count := *found[i].(*int64)
		switch col := &d.columns[at]; {
		case col.Type.Kind == schema.Bool:
			if err != nil || count > 0 {
				col.Type = schema.Type{Kind: schema.Int}
			}
		case err == nil && count > 0:
			col.KeepText(count, "", "a year, month or day that is zero")
		}
	}
	return mysqlTime(ctx, conn, c.Timeout)
}

func mysqlKind(name, full string, width, scale int) schema.Type {
	kind, ok := dialect.MySQL.Kind(name)
	switch {
	case !ok, kind == schema.Decimal && width > 38:
		return schema.Type{Kind: schema.Text}
	case kind == schema.Decimal:
		return schema.Type{Kind: schema.Decimal, Width: width, Scale: scale}
	case strings.HasPrefix(full, "tinyint(1)"), full == "bit(1)":
		return schema.Type{Kind: schema.Bool}
	case name == "bigint" && strings.Contains(full, "unsigned"), full == "bit(64)":
		return schema.Type{Kind: schema.Uint}
	}
	return schema.Type{Kind: kind}
}
