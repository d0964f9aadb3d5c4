package store

import (
	"context"
	"errors"
	"iter"
	"time"
)

// Errors that callers of Leases and of Append test for.
var (
	ErrHeld   = errors.New("another process holds the lease")
	ErrFenced = errors.New("the lease went to another process")
)

// A Lease says which process runs a thread. Each new lease of a thread has a higher fence,
// and a batch is stored only with the newest fence. So a process that was suspended for
// longer than its lease cannot write after another one has taken the thread over.
type Lease struct {
	Thread string
	Holder string // the process
	Fence  int64
	Until  time.Time // the lease expires then
	Stop   bool      // another process asked the holder to end the turn
}

// Leases gives each running thread one owner among processes.
type Leases interface {
	// Acquire gives the lease of a thread to a holder. While the lease of another holder
	// lasts, the error is ErrHeld. A lease that ends much later than a new one would comes
	// of a clock that was set back, and counts as expired.
	Acquire(ctx context.Context, thread, holder string, lasts time.Duration) (Lease, error)
	// Renew extends the leases of these threads that the holder still has, and returns
	// them. The others of the holder expire: nobody uses them any more.
	Renew(ctx context.Context, holder string, threads []string, lasts time.Duration) ([]Lease, error)
	// Release ends a lease. It does nothing if another process has taken the lease.
	Release(ctx context.Context, l Lease) error
	// AskStop asks the holder of a thread's lease to end the turn. It reports false if
	// there is no holder.
	AskStop(ctx context.Context, thread string) (bool, error)
	// Watch yields a thread whenever a process may have stored something in it, or "" if
	// the store cannot tell which thread. It yields once at its start, misses nothing
	// after that, and ends with ctx.
	Watch(ctx context.Context) iter.Seq2[string, error]
}
