package source

import (
	"context"
	"database/sql/driver"
	"errors"
	"fmt"
	"maps"
	"strings"
	"time"

	clickhousedriver "github.com/ClickHouse/clickhouse-go/v2"

	"interlock/internal/fault"
)

// clickhouseConnector makes connections that only read. Settings travel with each
// statement, so that nothing a statement did to its session outlives it.
type clickhouseConnector struct {
	driver.Connector
	limits clickhousedriver.Settings
}

// Codes by which ClickHouse refuses settings: a user who only reads may not change
// any, and others only within bounds.
const (
	clickhouseReadOnly  = 164
	clickhouseBeyond    = 452
	clickhouseNoSetting = 115
)

// Connect finds out how old the server is and which settings the user may make. A
// user who may make none must only read already.
func (c clickhouseConnector) Connect(ctx context.Context) (driver.Conn, error) {
	dialing, meter := withMeter(ctx)
	inner, err := c.Connector.Connect(unhurried{dialing})
	if err != nil {
		return nil, err
	}
	conn := &clickhouseConn{inner: inner.(clickhouseInner), meter: meter}
	settings := []clickhousedriver.Settings{maps.Clone(c.limits), {}, nil}
	settings[0]["readonly"], settings[1]["readonly"] = 1, 1
	for _, conn.settings = range settings {
		var version, readonly string
		version, readonly, err = conn.probe(ctx)
		if err == nil && readonly == "0" {
			err = fault.New(fault.SourceUnreadable, "the server lets this user's sessions write whatever they ask for").
				Suggest("Give the user a profile with readonly = 1.")
		}
		if err == nil {
			conn.server = parseClickhouseVersion(version)
			return conn, nil
		}
		if said, ok := errors.AsType[*clickhousedriver.Exception](err); !ok || said.Code != clickhouseReadOnly && said.Code != clickhouseBeyond && said.Code != clickhouseNoSetting {
			break
		}
	}
	inner.Close()
	return nil, err
}

type clickhouseInner interface {
	driver.Conn
	driver.QueryerContext
	driver.SessionResetter
	driver.Pinger
}

type clickhouseConn struct {
	inner    clickhouseInner
	settings clickhousedriver.Settings
	server   clickhouseVersion
	meter    *rowMeter
}

func (c *clickhouseConn) meterOf() *rowMeter { return c.meter }

// IsValid implements driver.Validator: a connection that the meter ended is of no use.
func (c *clickhouseConn) IsValid() bool { return !c.meter.exceeded.Load() }

func (c *clickhouseConn) probe(ctx context.Context) (version, readonly string, err error) {
	rows, err := c.QueryContext(ctx, "SELECT version(), value FROM system.settings WHERE name = 'readonly'", nil)
	if err != nil {
		return "", "", err
	}
	defer rows.Close()
	cells := make([]driver.Value, 2)
	if err := rows.Next(cells); err != nil {
		return "", "", err
	}
	return fmt.Sprint(cells[0]), fmt.Sprint(cells[1]), nil
}

// QueryContext runs a statement of [Select], whose parameters are named p1,
// p2 and so on.
func (c *clickhouseConn) QueryContext(ctx context.Context, text string, args []driver.NamedValue) (driver.Rows, error) {
	settings := maps.Clone(c.settings)
	if total := c.meter.total.Load(); total > 0 && len(settings) > 0 {
		// The driver makes room for a value before it comes: the server must not send it.
		settings["max_result_bytes"] = int(total)
	}
	options := []clickhousedriver.QueryOption{clickhousedriver.WithSettings(settings)}
	switch {
	case len(args) == 0:
	case c.server.before(22, 8):
		rewritten, table, err := c.server.sendAsTable(text, args)
		if err != nil {
			return nil, err
		}
		text, options = rewritten, append(options, clickhousedriver.WithExternalTable(table))
	default:
		options = append(options, clickhousedriver.WithParameters(clickhouseParameters(args)))
	}
	return c.inner.QueryContext(clickhousedriver.Context(unhurried{ctx}, options...), text, nil)
}

// clickhouseParameters names the parameters. The server reads them as a line of
// tab-separated values, in which a backslash escapes.
func clickhouseParameters(args []driver.NamedValue) clickhousedriver.Parameters {
	named := clickhousedriver.Parameters{}
	for i, a := range args {
		named[fmt.Sprintf("p%d", i+1)] = separated.Replace(fmt.Sprint(a.Value))
	}
	return named
}

var separated = strings.NewReplacer(`\`, `\\`, "\t", `\t`, "\n", `\n`, "\r", `\r`)

// unhurried hides the deadline of a context, from which the driver would make a setting
// that replaces ours. It is cancelled with its parent.
type unhurried struct{ context.Context }

func (unhurried) Deadline() (deadline time.Time, ok bool) { return deadline, false }

var errOnlyReads = errors.New("this connection only reads")

func (c *clickhouseConn) Prepare(string) (driver.Stmt, error) { return nil, errOnlyReads }
func (c *clickhouseConn) Begin() (driver.Tx, error)           { return nil, errOnlyReads }
func (c *clickhouseConn) Close() error                        { return c.inner.Close() }
func (c *clickhouseConn) Ping(ctx context.Context) error      { return c.inner.Ping(unhurried{ctx}) }

func (c *clickhouseConn) ResetSession(ctx context.Context) error {
	return c.inner.ResetSession(unhurried{ctx})
}
