package store

import (
	"context"
	"errors"
	"iter"
	"time"
)

// What callers of Leases and of a fenced Append branch on.
var (
	ErrHeld   = errors.New("another process holds the lease")
	ErrFenced = errors.New("the lease went to another process")
)

// A Lease says which process runs a thread. Each grant has a higher fence than the one
// before it, and a batch is stored only with the newest: a process that was stopped
// for longer than its lease cannot write over whoever took the thread.
type Lease struct {
	Thread string
	Holder string // the process
	Fence  int64
	Until  time.Time // from then on others may take it
	Stop   bool      // somebody asked the holder to end the turn
}

// Leases give threads an owner among processes.
type Leases interface {
	// Acquire gives a thread's lease to a holder for some time. While another holder's
	// lease lasts, the error is ErrHeld.
	Acquire(ctx context.Context, thread, holder string, lasts time.Duration) (Lease, error)
	// Renew makes all leases of a holder last from now on, and lists them.
	Renew(ctx context.Context, holder string, lasts time.Duration) ([]Lease, error)
	// Release ends a lease. One that others took meanwhile is theirs.
	Release(ctx context.Context, l Lease) error
	// AskStop asks the holder of a thread's lease to end the turn; false: there is no holder.
	AskStop(ctx context.Context, thread string) (bool, error)
	// Watch yields whenever something may have been stored, by any process: the thread,
	// or "" where the store cannot tell which. It yields once at its start, from when on
	// nothing is missed, and ends with ctx.
	Watch(ctx context.Context) iter.Seq2[string, error]
}
