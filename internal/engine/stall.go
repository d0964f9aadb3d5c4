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

// A turn whose batch could not be stored, because the disk is full or gone, cannot go
// on and cannot say so in its log. It is stalled: its followers and callers are told,
// and it is resumed from its last stored event once the store writes again.

// retryStalled is how long the first attempt to resume waits; later ones wait longer.
const (
	retryStalled     = 2 * time.Second
	retryStalledMost = 30 * time.Second
)

// stall ends a turn for those who wait for it, and has it tried again.
func (e *Engine) stall(thread string, err error) {
	e.cfg.Log.LogAttrs(e.life, slog.LevelError, "turn could not go on", slog.String("thread", thread), slog.Any("err", err))
	if errors.Is(err, store.ErrFenced) {
		return // another process has the thread: followers are shown what it stores
	}
	defer e.hub.fail(thread, err) // after it can be looked up: a new follower sees one or the other
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
		e.wg.Go(e.retry)
	}
}

// retry resumes stalled turns until none is left.
func (e *Engine) retry() {
	for wait := retryStalled; ; wait = min(2*wait, retryStalledMost) {
		select {
		case <-time.After(wait):
		case <-e.life.Done():
			return
		}
		if !e.resumeStalled() {
			return
		}
	}
}

// resumeStalled tries each stalled turn and says whether some are left.
func (e *Engine) resumeStalled() bool {
	e.mu.Lock()
	threads := slices.Sorted(maps.Keys(e.stalled))
	e.mu.Unlock()
	for _, thread := range threads {
		_, err := e.resume(e.life, thread)
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

// Stalled gives the error of a turn that could not be stored and has not been
// resumed yet; nil if there is none.
func (e *Engine) Stalled() error {
	e.mu.Lock()
	defer e.mu.Unlock()
	for _, thread := range slices.Sorted(maps.Keys(e.stalled)) {
		return e.stalled[thread]
	}
	return nil
}

func (e *Engine) stallOf(thread string) error {
	e.mu.Lock()
	defer e.mu.Unlock()
	return e.stalled[thread]
}
