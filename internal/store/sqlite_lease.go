package store

import (
	"context"
	"database/sql"
	"encoding/json"
	"errors"
	"iter"
	"time"

	"interlock/internal/fault"
)

// watchEvery is how often a watched file is checked for batches of other processes.
const watchEvery = 100 * time.Millisecond

// clockJump is by how much a lease may outlast a new one. One that ends later was given
// before the clock was set back; a live holder would have renewed it since.
const clockJump = time.Hour

const leaseColumns = `thread, holder, fence, until, stop`

// Acquire gives the lease to the holder if it is free, has expired, is the holder's
// already, or if its holder is a dead process of this machine.
func (s *SQLite) Acquire(ctx context.Context, thread, holder string, lasts time.Duration) (Lease, error) {
	if holder == "" {
		return Lease{}, errors.New("acquiring a lease: the holder has no name")
	}
	for {
		now := time.Now()
		n, err := s.writeLease(ctx, func(w *writer) *statement {
			return w.acquire.add(thread, holder, nanos(now.Add(lasts)), nanos(now), nanos(now.Add(lasts+clockJump)))
		})
		if err != nil {
			return Lease{}, err
		}
		l, err := s.loadLease(ctx, thread)
		switch {
		case n == 0 && errors.Is(err, ErrNotFound): // removed meanwhile, with its thread
			continue
		case err != nil:
			return Lease{}, err
		case l.Holder == holder:
			return l, nil
		case l.Holder == "": // released meanwhile
			continue
		case !holderDied(l.Holder):
			return l, fault.Wrap(ErrHeld, fault.ThreadBusy, "the thread %s is run by another process (%s)", thread, describeHolder(l.Holder)).
				Suggest("Wait until its turn has ended, or stop it: `interlock thread stop %s`.", thread)
		}
		if err := s.Release(ctx, l); err != nil {
			return Lease{}, err
		}
	}
}

// Renew extends leases of a holder, including expired ones that nobody has taken.
func (s *SQLite) Renew(ctx context.Context, holder string, threads []string, lasts time.Duration) ([]Lease, error) {
	names, err := json.Marshal(threads)
	if err != nil {
		return nil, err
	}
	if _, err := s.writeLease(ctx, func(w *writer) *statement {
		return w.renew.add(nanos(time.Now().Add(lasts)), holder, string(names))
	}); err != nil {
		return nil, err
	}
	return queryRows(ctx, s, `SELECT `+leaseColumns+` FROM leases WHERE `+leasesOf, []any{holder, string(names)}, scanLease)
}

// leasesOf selects the leases of a holder in a list of threads.
const leasesOf = `holder = ? AND holder <> '' AND thread IN (SELECT value FROM json_each(?))`

// Release ends a lease if the holder still has it.
func (s *SQLite) Release(ctx context.Context, l Lease) error {
	_, err := s.writeLease(ctx, func(w *writer) *statement { return w.release.add(l.Thread, l.Holder, l.Fence) })
	return err
}

// AskStop marks the lease. Its holder sees the mark at its next Renew.
func (s *SQLite) AskStop(ctx context.Context, thread string) (bool, error) {
	n, err := s.writeLease(ctx, func(w *writer) *statement { return w.askStop.add(thread, nanos(time.Now())) })
	return n > 0, err
}

// Watch polls the data version of the file, which every commit of another connection
// changes.
func (s *SQLite) Watch(ctx context.Context) iter.Seq2[string, error] {
	return func(yield func(string, error) bool) {
		conn, err := s.readers.Conn(ctx)
		if err != nil {
			yield("", storeFault(err, s.path, "read"))
			return
		}
		defer conn.Close()
		tick := time.NewTicker(watchEvery)
		defer tick.Stop()
		for seen := int64(-1); ; {
			var version int64
			err := conn.QueryRowContext(ctx, `PRAGMA data_version`).Scan(&version)
			if ctx.Err() != nil {
				return
			}
			if err != nil {
				yield("", storeFault(err, s.path, "read"))
				return
			}
			if version != seen && !yield("", nil) {
				return
			}
			seen = version
			select {
			case <-tick.C:
			case <-ctx.Done():
				return
			}
		}
	}
}

// writeLease runs one statement on the writing connection and returns how many rows it
// changed.
func (s *SQLite) writeLease(ctx context.Context, bind func(*writer) *statement) (int64, error) {
	w, err := s.takeWriter(ctx)
	if err != nil {
		return 0, err
	}
	n, err := bind(w).exec()
	s.countPages(w, nil)
	s.writer <- w
	if err != nil {
		return 0, storeFault(err, s.path, "write")
	}
	return n, nil
}

// loadLease returns the stored lease of a thread.
func (s *SQLite) loadLease(ctx context.Context, thread string) (Lease, error) {
	l, err := scanLease(s.readers.QueryRowContext(ctx, `SELECT `+leaseColumns+` FROM leases WHERE thread = ?`, thread))
	if errors.Is(err, sql.ErrNoRows) {
		return Lease{}, fault.Wrap(ErrNotFound, fault.ThreadNotFound, "the thread %q has no lease", thread)
	}
	if err != nil {
		return Lease{}, storeFault(err, s.path, "read")
	}
	return l, nil
}

// isFenced reports whether the lease of a batch went to another process. Fences only grow,
// so a batch that was refused may be looked up afterwards.
func (s *SQLite) isFenced(ctx context.Context, b Batch) bool {
	l, err := s.loadLease(ctx, b.Thread)
	return err == nil && l.Fence != b.Fence
}

func scanLease(row scanner) (Lease, error) {
	var l Lease
	var until int64
	err := row.Scan(&l.Thread, &l.Holder, &l.Fence, &until, &l.Stop)
	l.Until = timeFromNanos(until)
	return l, err
}
