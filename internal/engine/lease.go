package engine

import (
	"context"
	"errors"
	"maps"
	"time"

	"interlock/internal/fault"
	"interlock/internal/store"
)

// renewEvery is how often leases are renewed, and how soon a stop that was asked for
// in another process is seen.
const renewEvery = 500 * time.Millisecond

// own makes the caller the one owner of a thread, among the goroutines of this process
// and among all processes.
func (e *Engine) own(ctx context.Context, thread string) (*turn, error) {
	t, err := e.take(thread)
	if err != nil {
		return nil, err
	}
	if err := e.acquire(ctx, thread, t); err != nil {
		e.release(thread, t)
		return nil, err
	}
	return t, nil
}

// acquire gives the turn the lease of its thread.
func (e *Engine) acquire(ctx context.Context, thread string, t *turn) error {
	lease, err := e.cfg.Store.Acquire(ctx, thread, e.cfg.Holder, e.cfg.Lease)
	if err != nil {
		return err
	}
	e.mu.Lock()
	defer e.mu.Unlock()
	t.lease = lease
	t.until.Store(lease.Until.UnixNano())
	if !e.renewing {
		e.renewing = true
		e.wg.Go(e.renewLeases)
	}
	return nil
}

// endLease gives the lease back, if the turn has one.
func (t *turn) endLease() {
	if t.lease.Fence == 0 {
		return
	}
	ctx, cancel := context.WithTimeout(context.Background(), 5*time.Second)
	defer cancel()
	if err := t.e.cfg.Store.Release(ctx, t.lease); err != nil {
		t.e.cfg.Log.Warn("a lease could not be given back; it ends by itself", "thread", t.lease.Thread, "err", err)
	}
}

// renewLeases renews the leases of the running turns for as long as there are any.
func (e *Engine) renewLeases() {
	tick := time.NewTicker(min(renewEvery, e.cfg.Lease/3))
	defer tick.Stop()
	for {
		select {
		case <-tick.C:
		case <-e.life.Done():
			return // turns end now and give their leases back
		}
		e.mu.Lock()
		e.renewing = len(e.running) > 0
		turns := maps.Clone(e.running) // a turn that begins later has a lease that the list below may lack
		e.mu.Unlock()
		if len(turns) == 0 {
			return
		}
		leases, err := e.cfg.Store.Renew(e.life, e.cfg.Holder, e.cfg.Lease)
		if err != nil {
			if e.life.Err() == nil {
				e.cfg.Log.Warn("leases could not be renewed", "err", err)
			}
			continue
		}
		e.endLostTurns(turns, leases)
	}
}

// endLostTurns ends the turns that somebody asked to stop and those that another process has
// taken over.
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
		case t.lease.Fence == 0 || e.running[thread] != t:
		case !ok || l.Fence > t.lease.Fence:
			t.until.Store(0)
			t.cancel() // its next batch is refused
		case l.Fence == t.lease.Fence:
			t.until.Store(l.Until.UnixNano())
			if l.Stop {
				t.halted.Store(true)
				t.cancel()
			}
		}
	}
}

// holdsLease says whether the thread is still this process's. One that was stopped for
// longer than its lease asks the store.
func (t *turn) holdsLease(ctx context.Context) bool {
	if t.lease.Fence == 0 || time.Now().UnixNano() < t.until.Load() {
		return true
	}
	leases, err := t.e.cfg.Store.Renew(ctx, t.e.cfg.Holder, t.e.cfg.Lease)
	if err != nil {
		return false
	}
	for _, l := range leases {
		if l.Thread == t.lease.Thread && l.Fence == t.lease.Fence {
			t.until.Store(l.Until.UnixNano())
			return true
		}
	}
	return false
}

// TakeOver resumes the turns of processes that died, now and for as long as ctx lasts.
// It is for servers: several may share a store.
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

// ResumeThread takes up the turn of one thread, if a dead process left it in the middle.
// A turn that another process runs is left to it.
func (e *Engine) ResumeThread(ctx context.Context, thread string) (bool, error) {
	ok, err := e.resume(ctx, thread)
	if errors.Is(err, store.ErrHeld) || fault.Is(err, fault.ThreadBusy) {
		return false, nil
	}
	return ok, err
}
