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

// If a batch cannot be stored, because the disk is full or gone, its turn cannot go on and
// cannot record that in its log. The turn is stalled: its followers and callers get the
// error, and it is resumed from its last stored event once the store writes again.

// The first attempt to resume a stalled turn waits for retryStalled. The wait doubles with
// each attempt, up to retryStalledMost.
const (
	retryStalled     = 2 * time.Second
	retryStalledMost = 30 * time.Second
)

// A stalledTurn is a turn that could not be stored.
type stalledTurn struct {
	err  error
	stop bool // somebody asked for its end meanwhile
}

// stallTurn reports the error of a turn to its followers and starts the goroutine that
// retries it.
func (e *Engine) stallTurn(thread string, t *turn) {
	if errors.Is(t.failed, store.ErrFenced) { // another process owns the thread: followers get the events that it stores
		e.cfg.Log.Info("another process has taken the turn over", "thread", thread)
		return
	}
	e.cfg.Log.Error("turn could not go on", "thread", thread, "err", t.failed)
	defer e.hub.failFollowers(thread, t.failed) // after e.stalled is set, so that a new follower gets the error either way
	if fault.Is(t.failed, fault.Conflict) {
		return
	}
	e.mu.Lock()
	defer e.mu.Unlock()
	if e.closed {
		return
	}
	e.stalled[thread] = &stalledTurn{err: t.failed, stop: t.halted.Load()}
	if !e.retrying {
		e.retrying = true
		e.wg.Go(e.retryStalledTurns)
	}
}

// retryStalledTurns resumes stalled turns until none is left.
func (e *Engine) retryStalledTurns() {
	for wait := retryStalled; ; wait = min(2*wait, retryStalledMost) {
		select {
		case <-time.After(wait):
		case <-e.ctx.Done():
			return
		}
		if !e.resumeStalled() {
			return
		}
	}
}

// resumeStalled tries to resume or to stop each stalled turn and reports whether some are
// left. One that stalls again meanwhile is another entry, which stays.
func (e *Engine) resumeStalled() bool {
	e.mu.Lock()
	threads := slices.Sorted(maps.Keys(e.stalled))
	e.mu.Unlock()
	for _, thread := range threads {
		e.mu.Lock()
		s := e.stalled[thread]
		e.mu.Unlock()
		var err error
		if e.stopAsked(thread) {
			err = e.stopHere(e.ctx, thread)
		} else {
			_, err = e.resumeTurn(e.ctx, thread)
		}
		e.mu.Lock()
		switch {
		case e.stalled[thread] != s, errors.Is(err, context.Canceled): // stalled again, or shutting down
		case err == nil || fault.Is(err, fault.Conflict) || errors.Is(err, store.ErrHeld):
			delete(e.stalled, thread)
		}
		e.mu.Unlock()
	}
	e.mu.Lock()
	defer e.mu.Unlock()
	e.retrying = len(e.stalled) > 0 && !e.closed
	return e.retrying
}

// stopAsked reports whether somebody asked for the end of a stalled turn.
func (e *Engine) stopAsked(thread string) bool {
	e.mu.Lock()
	defer e.mu.Unlock()
	s := e.stalled[thread]
	return s != nil && s.stop
}

// Stalled returns the error of a turn that could not be stored and has not been resumed
// yet, nil if there is none.
func (e *Engine) Stalled() error {
	e.mu.Lock()
	defer e.mu.Unlock()
	for _, thread := range slices.Sorted(maps.Keys(e.stalled)) {
		return e.stalled[thread].err
	}
	return nil
}

// stalledError returns why the turn of a thread could not be stored, nil if it could.
func (e *Engine) stalledError(thread string) error {
	e.mu.Lock()
	defer e.mu.Unlock()
	if s := e.stalled[thread]; s != nil {
		return s.err
	}
	return nil
}
