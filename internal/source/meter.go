package source

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"net"
	"sync/atomic"

	"interlock/internal/fault"
)

// A rowMeter bounds what a connection may receive before the next row is asked for.
// Drivers buffer a row, or a block of rows, whole; the meter ends the connection first.
type rowMeter struct {
	limit, left atomic.Int64
	total       atomic.Int64 // of a result, for servers that can be told
	exceeded    atomic.Bool
}

// allow sets the bounds and restarts the count. Before the first call nothing is bounded.
func (m *rowMeter) allow(row, total int64) {
	if m != nil {
		m.limit.Store(row)
		m.left.Store(row)
		m.total.Store(max(row, total))
	}
}

// next restarts the count for the next row.
func (m *rowMeter) next() {
	if m != nil {
		m.left.Store(m.limit.Load())
	}
}

// errRowTooLarge is the error of a connection that received more than allowed.
var errRowTooLarge = errors.New("a row is too large")

// meteredConn is a network connection with a meter.
type meteredConn struct {
	net.Conn
	meter *rowMeter
}

func (c *meteredConn) Read(p []byte) (int, error) {
	n, err := c.Conn.Read(p)
	if c.meter.limit.Load() > 0 && c.meter.left.Add(-int64(n)) < 0 {
		c.meter.exceeded.Store(true)
		return 0, errRowTooLarge
	}
	return n, err
}

type meterKey struct{}

// dialMetered connects with the meter that the context has, if any.
func dialMetered(ctx context.Context, network, address string) (net.Conn, error) {
	conn, err := new(net.Dialer).DialContext(ctx, network, address)
	if m, ok := ctx.Value(meterKey{}).(*rowMeter); ok && err == nil {
		return &meteredConn{conn, m}, nil
	}
	return conn, err
}

// withMeter gives the connection that is made under the context a meter of its own.
func withMeter(ctx context.Context) (context.Context, *rowMeter) {
	m := &rowMeter{}
	return context.WithValue(ctx, meterKey{}, m), m
}

// metered is a driver's connection that has a meter.
type metered interface{ meterOf() *rowMeter }

// meterOf finds the meter of a connection; nil: it has none.
func meterOf(conn *sql.Conn) (m *rowMeter) {
	_ = conn.Raw(func(driverConn any) error { // it fails only if the function does
		if has, ok := driverConn.(metered); ok {
			m = has.meterOf()
		}
		return nil
	})
	return m
}

// tooLarge explains an error by the meter, if it ended the connection.
func (m *rowMeter) tooLarge(c Config, err error) error {
	if err == nil || m == nil || !m.exceeded.Load() && !errors.Is(err, errRowTooLarge) {
		return err
	}
	return fault.Wrap(fmt.Errorf("%w: %w", errRowTooLarge, err), fault.TooLarge,
		"querying %s: a row has more than %d MB, which is all that is read of one (the limit of a result's bytes)", c.displayName(), m.limit.Load()>>20).
		Suggest("Ask for less: leave out or shorten the large column.")
}
