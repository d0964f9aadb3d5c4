package engine

import (
	"context"
	"encoding/json"
	"errors"
	"time"

	"interlock/internal/event"
	"interlock/internal/fault"
	"interlock/internal/store"
)

// Stop ends the turn that runs or waits in a thread; if there is none it does nothing. A
// turn of another process is ended by that process, or by this one once the lease expires.
// If the end cannot be stored, the error says why, and a turn that ran is ended once the
// store writes again.
func (e *Engine) Stop(ctx context.Context, thread string) error {
	tick := time.NewTicker(renewEvery / 5)
	defer tick.Stop()
	for run := ""; ; {
		err := e.stopHere(ctx, thread)
		if !fault.Is(err, fault.ThreadBusy) {
			return err
		}
		row, err := e.cfg.Store.Thread(ctx, thread)
		if err != nil || row.Status != store.Running && row.Status != store.Waiting || run != "" && row.Run != run {
			return err
		}
		run = row.Run
		if _, err := e.cfg.Store.AskStop(ctx, thread); err != nil {
			return err
		}
		select {
		case <-tick.C:
		case <-ctx.Done():
			return fault.Wrap(ctx.Err(), fault.Unavailable, "the process that runs the thread %s did not stop it in time", thread)
		}
	}
}

// stopHere ends the turn if this process runs it or can take the thread over. If another
// process owns the thread, the code of the error is ThreadBusy.
func (e *Engine) stopHere(ctx context.Context, thread string) error {
	e.mu.Lock()
	t := e.running[thread]
	if s := e.stalled[thread]; s != nil {
		s.stop = true // also while it is being tried again: that attempt may fail
	}
	e.mu.Unlock()
	if t != nil {
		t.halted.Store(true)
		t.cancel()
		select {
		case <-t.done:
		case <-ctx.Done():
			return ctx.Err()
		}
		if errors.Is(t.failed, store.ErrFenced) {
			return fault.Wrap(t.failed, fault.ThreadBusy, "the thread %s was taken over by another process", thread)
		}
		if p := t.latest.Load(); t.failed != nil || p == nil || !p.f.active() {
			return t.failed
		}
		// It raised a card just before it was asked to end.
	}
	t, err := e.takeOwnership(ctx, thread, toChange)
	if err != nil {
		return err
	}
	defer e.releaseThread(thread, t)
	if err := t.loadThread(ctx, thread); err != nil {
		return err
	}
	if !t.f.active() {
		return nil
	}
	t.emit(t.withFigures(t.r.endTurn(event.Stopped, fault.Stopped).bodies)...)
	return t.commit(ctx)
}

// Wait returns when no turn runs in the thread. The error says why the last turn could not
// be stored.
func (e *Engine) Wait(ctx context.Context, thread string) error {
	e.mu.Lock()
	t := e.running[thread]
	e.mu.Unlock()
	if t == nil {
		return e.stalledError(thread)
	}
	select {
	case <-t.done:
		if errors.Is(t.failed, store.ErrFenced) {
			return e.waitForOtherProcess(ctx, thread)
		}
		return t.failed
	case <-ctx.Done():
		return ctx.Err()
	}
}

// waitForOtherProcess waits until a turn that another process has taken over ends or waits.
func (e *Engine) waitForOtherProcess(ctx context.Context, thread string) error {
	row, err := e.cfg.Store.Thread(ctx, thread)
	if err != nil || row.Status != store.Running {
		return err
	}
	for _, err := range e.Follow(ctx, thread, row.Seq) {
		if err != nil {
			return err
		}
		if row, err = e.cfg.Store.Thread(ctx, thread); err != nil || row.Status != store.Running {
			return err
		}
	}
	return ctx.Err()
}

// Resume resumes every turn whose process died, and returns how many. Turns of processes
// that live, or that may live on another machine, are left alone.
func (e *Engine) Resume(ctx context.Context) (int, error) {
	rows, err := e.cfg.Store.Threads(ctx, store.Query{Status: store.Running, Limit: 1 << 30})
	if err != nil {
		return 0, err
	}
	n := 0
	for _, row := range rows {
		ok, err := e.resumeTurn(ctx, row.ID)
		if errors.Is(err, store.ErrHeld) || fault.Is(err, fault.ThreadBusy) {
			continue
		}
		if err != nil {
			e.cfg.Log.Error("turn could not be resumed", "thread", row.ID, "err", err)
			continue
		}
		if ok {
			n++
		}
	}
	return n, nil
}

// resumeTurn takes a thread over and continues its turn from the last stored event. It
// reports false if the thread has no turn to continue.
func (e *Engine) resumeTurn(ctx context.Context, thread string) (bool, error) {
	t, err := e.takeOwnership(ctx, thread, toRun)
	if err != nil {
		return false, err
	}
	started := false
	defer func() {
		if !started {
			e.releaseThread(thread, t)
		}
	}()
	if err := t.loadThread(ctx, thread); err != nil {
		return false, err
	}
	if !t.f.active() || openCard(t.f.Turn.Phase) != nil {
		return false, nil
	}
	t.emit(event.TurnInterrupted{Run: t.f.Turn.Run, Last: t.f.Turn.Interrupted+1 >= e.cfg.MaxInterruptions})
	if err := t.commit(ctx); err != nil {
		return false, err
	}
	if e.stopAsked(thread) {
		t.halted.Store(true)
	}
	t.resumed, started = true, true
	e.launch(thread, t)
	return true, nil
}

// Fork makes a thread that begins with a copy of another one's events up to seq. If a turn
// was not finished there, it is ended in the fork.
func (e *Engine) Fork(ctx context.Context, thread string, seq int64, owner string) (string, error) {
	f := newFold(thread)
	var past []event.Event
	id := e.cfg.NewID("t")
	for ev, err := range e.cfg.Store.Events(ctx, thread, 0) {
		if err != nil {
			return "", notFound(err, thread)
		}
		if seq > 0 && ev.Seq > seq {
			break
		}
		if o, ok := ev.Body.(event.ThreadOpened); ok {
			o.Owner, o.Parent = owner, &event.Origin{Thread: thread, Seq: seq, Time: e.cfg.Now().UTC().Truncate(time.Microsecond)}
			ev.Body = o
		}
		ev.Thread = id
		past = append(past, ev) // its large values are stored: the fork refers to them
		if ev.Body, err = event.Resolve(ev.Body, func(hash string) (json.RawMessage, error) { return e.cfg.Store.Blob(ctx, hash) }); err != nil {
			return "", err
		}
		f.apply(ev)
	}
	if len(past) == 0 || seq > f.Seq {
		return "", fault.New(fault.BadRequest, "the thread %s has no event %d", thread, seq)
	}
	f.Thread = id
	m, err := e.defs.get(ctx, f.Version)
	if err != nil {
		return "", err
	}
	t, err := e.claimThread(id, toChange)
	if err != nil {
		return "", err
	}
	defer e.releaseThread(id, t)
	t.setFold(f, m)
	t.pending, t.parent = past, thread
	if f.active() {
		t.emit(t.withFigures(withReason(t.r.endTurn(event.Stopped, fault.Stopped), "The thread was forked here, before this turn had ended.").bodies)...)
	}
	return id, t.commit(ctx)
}
