package engine

import (
	"context"
	"errors"
	"log/slog"
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

// stallTurn reports the error of a turn to its followers and starts the goroutine that
// retries it.
func (e *Engine) stallTurn(thread string, err error) {
	e.cfg.Log.LogAttrs(e.ctx, slog.LevelError, "turn could not go on", slog.String("thread", thread), slog.Any("err", err))
	if errors.Is(err, store.ErrFenced) {
		return // another process owns the thread: followers get the events that it stores
	}
	defer e.hub.failFollowers(thread, err) // after e.stalled is set, so that a new follower gets the error either way
	if fault.Is(err, fault.Conflict) {
		return
	}
	e.mu.Lock()
	defer e.mu.Unlock()
	if e.closed {
		return
	}
	e.stalled[thread] = err
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

// resumeStalled tries to resume each stalled turn and reports whether some are left.
func (e *Engine) resumeStalled() bool {
	e.mu.Lock()
	threads := slices.Sorted(maps.Keys(e.stalled))
	e.mu.Unlock()
	for _, thread := range threads {
		_, err := e.resumeTurn(e.ctx, thread)
		e.mu.Lock()
		switch {
		case errors.Is(err, context.Canceled): // shutting down
		case err == nil || fault.Is(err, fault.Conflict) || fault.Is(err, fault.ThreadBusy):
			delete(e.stalled, thread)
		}
		e.mu.Unlock()
	}
	e.mu.Lock()
	defer e.mu.Unlock()
	e.retrying = len(e.stalled) > 0 && !e.closed
	return e.retrying
}

// Stalled returns the error of a turn that could not be stored and has not been resumed
// yet, nil if there is none.
func (e *Engine) Stalled() error {
	e.mu.Lock()
	defer e.mu.Unlock()
	for _, thread := range slices.Sorted(maps.Keys(e.stalled)) {
		return e.stalled[thread]
	}
	return nil
}

func (e *Engine) stalledError(thread string) error {
	e.mu.Lock()
	defer e.mu.Unlock()
	return e.stalled[thread]
}
