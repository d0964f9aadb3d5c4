package llm

import (
	"errors"

	"interlock/internal/event"
)

// A spentError is a failure that cost tokens: what providers count of attempts without a usable
// reply is paid for like any other.
type spentError struct {
	error
	usage event.Usage
}

func (e *spentError) Unwrap() error { return e.error }

// WithUsage returns the error with what it cost in all; earlier usage in it is replaced.
func WithUsage(err error, u event.Usage) error {
	if err == nil || u == (event.Usage{}) {
		return err
	}
	return &spentError{err, u}
}

// UsageOf is what an error of Reply cost in all, retries included.
func UsageOf(err error) event.Usage {
	if e, ok := errors.AsType[*spentError](err); ok {
		return e.usage
	}
	return event.Usage{}
}
