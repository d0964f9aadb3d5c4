// Package fault is the one table of codes: everything that can go wrong or be
// refused has a code here, with its meaning, its HTTP status, a hint for the
// model and advice for the person. Pages, logs, capsules and problem documents
// all read it.
package fault

import (
	"errors"
	"fmt"
	"strings"
)

// A Code names one kind of failure or refusal. Codes are stable: they are part
// of the HTTP and log contract.
type Code string

// A Fault is an error that a person or a model must be able to act on.
type Fault struct {
	Code       Code   `json:"error"`
	Message    string `json:"message"`
	Suggestion string `json:"suggestion,omitempty"`
	Details    any    `json:"details,omitempty"`

	cause error
}

func (f *Fault) Error() string {
	if f.Suggestion == "" {
		return fmt.Sprintf("%s: %s", f.Code, f.Message)
	}
	return fmt.Sprintf("%s: %s (%s)", f.Code, f.Message, f.Suggestion)
}

// Unwrap returns the cause, which is for the operator and never shown to a person.
func (f *Fault) Unwrap() error { return f.cause }

// New makes a fault. The suggestion is the one of the table unless With gives another.
func New(code Code, format string, args ...any) *Fault {
	return &Fault{Code: code, Message: fmt.Sprintf(format, args...), Suggestion: code.Entry().Advice}
}

// Wrap makes a fault with a cause. The cause is logged, never shown.
func Wrap(cause error, code Code, format string, args ...any) *Fault {
	f := New(code, format, args...)
	f.cause = cause
	return f
}

// Suggest replaces the suggestion.
func (f *Fault) Suggest(format string, args ...any) *Fault {
	f.Suggestion = fmt.Sprintf(format, args...)
	return f
}

// With attaches details: data that a caller may show or branch on.
func (f *Fault) With(details any) *Fault {
	f.Details = details
	return f
}

// From finds the fault in err, or makes an `internal` one that hides its cause.
func From(err error) *Fault {
	if f, ok := errors.AsType[*Fault](err); ok {
		return f
	}
	return Wrap(err, Internal, "something went wrong inside Interlock")
}

// Explain says in a sentence or two what a code means and what to do about it.
func (c Code) Explain() string {
	e := c.Entry()
	return strings.TrimSpace(e.Meaning + ". " + e.Advice)
}

// Is reports whether err carries this code.
func Is(err error, code Code) bool {
	f, ok := errors.AsType[*Fault](err)
	return ok && f.Code == code
}
