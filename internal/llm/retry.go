package llm

import (
	"context"
	"errors"
	"iter"
	"log/slog"
	"math/rand/v2"
	"time"

	"interlock/internal/event"
)

const (
	firstWait   = 500 * time.Millisecond
	longestWait = 30 * time.Second
	// longestAsked is how long a provider may ask to wait. Beyond it the person is
	// better served by an error, or by the next model.
	longestAsked = 60 * time.Second
)

// retrying tries again when its model fails in a way that may pass, as long as
// nothing of the reply has reached the caller.
type retrying struct {
	model   Model
	retries int
	mayGoOn func() bool // asked before another attempt; nil is yes
	log     *slog.Logger
}

func (r *retrying) Name() string { return r.model.Name() }

func (r *retrying) Reply(ctx context.Context, req Request) iter.Seq2[Delta, error] {
	return func(yield func(Delta, error) bool) {
		var spent event.Usage // by attempts that failed
		for attempt := 0; ; attempt++ {
			said, err := forwardStream(r.model.Reply(ctx, req), addUsage(yield, spent))
			if err == nil {
				return
			}
			spent = spent.Add(UsageOf(err))
			err = WithUsage(err, spent)
			wait, again := retryDelay(err, attempt)
			if said || !again || attempt == r.retries || ctx.Err() != nil {
				yield(Delta{}, err)
				return
			}
			r.log.InfoContext(ctx, "A model request is tried again.", "model", r.Name(), "attempt", attempt+2, "wait", wait, "err", err)
			if !sleep(ctx, wait) {
				yield(Delta{}, WithUsage(cancelled(ctx, r.Name()), spent))
				return
			}
			if r.mayGoOn != nil && !r.mayGoOn() {
				yield(Delta{}, err)
				return
			}
		}
	}
}

// addUsage passes deltas on. The reply costs what was spent before it as well.
func addUsage(yield func(Delta, error) bool, spent event.Usage) func(Delta, error) bool {
	if spent == (event.Usage{}) {
		return yield
	}
	return func(d Delta, err error) bool {
		if d.Reply != nil {
			whole := *d.Reply
			whole.Usage = whole.Usage.Add(spent)
			d.Reply = &whole
		}
		return yield(d, err)
	}
}

// forwardStream passes a stream on. It reports whether anything was passed and the
// error that ended the stream; a caller who left is no error.
func forwardStream(stream iter.Seq2[Delta, error], yield func(Delta, error) bool) (said bool, failed error) {
	for d, err := range stream {
		if err != nil {
			return said, err
		}
		said = said || d.Text != "" || d.Reply != nil // thoughts may come again
		if !yield(d, nil) {
			return said, nil
		}
	}
	return said, nil
}

// retryDelay reports whether to try again and how long to wait before: what the
// provider asks for, else twice as long each time, with jitter so that many clients
// do not come back at once.
func retryDelay(err error, attempt int) (time.Duration, bool) {
	t, ok := errors.AsType[*attemptError](err)
	if !ok || !t.retryable || t.after > longestAsked {
		return 0, false
	}
	wait := min(firstWait<<min(attempt, 10), longestWait)
	wait = wait/2 + rand.N(wait/2)
	if t.after > 0 {
		wait = t.after + rand.N(t.after/10+time.Millisecond)
	}
	return wait, true
}

func sleep(ctx context.Context, d time.Duration) bool {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C:
		return true
	case <-ctx.Done():
		return false
	}
}
