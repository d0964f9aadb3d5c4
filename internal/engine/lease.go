package engine

import (
	"context"
	"errors"
	"maps"
	"slices"
	"time"

	"interlock/internal/fault"
	"interlock/internal/store"
)

// renewEvery is how often leases are renewed. It is also how long a process takes to see
// that another one has asked it to stop a turn.
const renewEvery = 500 * time.Millisecond

// takeOwnership makes the caller the only owner of a thread, among the goroutines of this
// process and among all processes.
func (e *Engine) takeOwnership(ctx context.Context, thread string, why purpose) (*turn, error) {
	t, err := e.claimThread(thread, why)
	if err != nil {
		return nil, err
	}
	if err := e.acquireLease(ctx, thread, t); err != nil {
		e.releaseThread(thread, t)
		return nil, err
	}
	return t, nil
}

// acquireLease acquires the lease of the turn's thread.
func (e *Engine) acquireLease(ctx context.Context, thread string, t *turn) error {
	lease, err := e.cfg.Store.Acquire(ctx, thread, e.cfg.Holder, e.cfg.Lease)
	if err != nil {
		return err
	}
	e.mu.Lock()
	defer e.mu.Unlock()
	t.lease = lease
	t.leaseUntil.Store(lease.Until.UnixNano())
	if !e.renewing {
		e.renewing = true
		e.wg.Go(e.renewLeases)
	}
	return nil
}

// releaseLease releases the lease, if the turn has one.
func (t *turn) releaseLease() {
	if t.lease.Fence == 0 {
		return
	}
	ctx, cancel := context.WithTimeout(context.Background(), 5*time.Second)
	defer cancel()
	if err := t.e.cfg.Store.Release(ctx, t.lease); err != nil {
		t.e.cfg.Log.Warn("a lease could not be released; it expires by itself", "thread", t.lease.Thread, "err", err)
	}
}

// renewLeases renews the leases of the running turns for as long as there are any.
func (e *Engine) renewLeases() {
	tick := time.NewTicker(min(renewEvery, e.cfg.Lease/3))
	defer tick.Stop()
	for {
		select {
		case <-tick.C:
		case <-e.ctx.Done():
			return // turns end now and release their leases
		}
		e.mu.Lock()
		if e.renewing = len(e.running) > 0; !e.renewing {
			e.mu.Unlock()
			return
		}
		// Only these can have lost a lease: one that is acquired while the leases are
		// listed may be missing in the list.
		turns := make(map[string]*turn, len(e.running))
		for thread, t := range e.running {
			if t.lease.Fence > 0 {
				turns[thread] = t
			}
		}
		e.mu.Unlock()
		leases, err := e.cfg.Store.Renew(e.ctx, e.cfg.Holder, slices.Collect(maps.Keys(turns)), e.cfg.Lease)
		if err != nil {
			if e.ctx.Err() == nil {
				e.cfg.Log.Warn("leases could not be renewed", "err", err)
			}
			continue
		}
		e.endLostTurns(turns, leases)
	}
}

// endLostTurns cancels the turns that another process has taken over or has asked to stop.
func (e *Engine) endLostTurns(turns map[string]*turn, leases []store.Lease) {
	held := make(map[string]store.Lease, len(leases))
	for _, l := range leases {
		held[l.Thread] = l
	}
	e.mu.Lock()
	defer e.mu.Unlock()
	for thread, t := range turns {
		l, ok := held[thread]
		switch {
		case e.running[thread] != t:
		case !ok || l.Fence > t.lease.Fence:
			t.leaseUntil.Store(0)
			t.cancel() // its next batch is refused
		case l.Fence == t.lease.Fence:
			t.leaseUntil.Store(l.Until.UnixNano())
			if l.Stop {
				t.halted.Store(true)
				t.cancel()
			}
		}
	}
}

// holdsLease reports whether this process still owns the thread. If the lease may have
// expired, because the process was suspended, it asks the store.
func (t *turn) holdsLease(ctx context.Context) bool {
	if t.lease.Fence == 0 || time.Now().UnixNano() < t.leaseUntil.Load() {
		return true
	}
	leases, err := t.e.cfg.Store.Renew(ctx, t.e.cfg.Holder, []string{t.lease.Thread}, t.e.cfg.Lease)
	if err != nil {
		return false
	}
	for _, l := range leases {
		if l.Thread == t.lease.Thread && l.Fence == t.lease.Fence {
			t.leaseUntil.Store(l.Until.UnixNano())
			return true
		}
	}
	return false
}

// checkOwner fails if another process has taken the thread over.
func (t *turn) checkOwner(ctx context.Context) error {
	if t.holdsLease(ctx) {
		return nil
	}
	return fault.New(fault.Conflict, "another process has taken this thread over")
}

// TakeOver resumes the turns of processes that died, again and again until ctx ends. It is
// for servers, several of which may share a store.
func (e *Engine) TakeOver(ctx context.Context) {
	tick := time.NewTicker(e.cfg.Lease)
	defer tick.Stop()
	for {
		select {
		case <-tick.C:
		case <-ctx.Done():
			return
		}
		n, err := e.Resume(ctx)
		switch {
		case err != nil && !errors.Is(err, context.Canceled):
			e.cfg.Log.Warn("cannot look for turns of other processes that died", "err", err)
		case n > 0:
			e.cfg.Log.Info("took over turns of a process that died", "turns", n)
		}
	}
}

// ResumeThread resumes the turn of one thread if its process died. It does nothing if
// another process runs the turn.
func (e *Engine) ResumeThread(ctx context.Context, thread string) (bool, error) {
	ok, err := e.resumeTurn(ctx, thread)
	if errors.Is(err, store.ErrHeld) || fault.Is(err, fault.ThreadBusy) {
		return false, nil
	}
	return ok, err
}
