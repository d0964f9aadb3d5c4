// Package fault holds the table of error codes. Everything that can fail or be refused has
// a code here, with its meaning, its HTTP status, a hint for the model and advice for the
// person. The HTTP API, the logs and the audit documents use the same codes.
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

// New returns a fault. Its suggestion is the advice of the table; Suggest replaces it.
func New(code Code, format string, args ...any) *Fault {
	return &Fault{Code: code, Message: fmt.Sprintf(format, args...), Suggestion: code.Entry().Advice}
}

// Wrap returns a fault with a cause, which is logged and never shown.
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

// With attaches details, which a caller may show or test.
func (f *Fault) With(details any) *Fault {
	f.Details = details
	return f
}

// From returns the fault that err wraps, or an `internal` one that hides its cause.
func From(err error) *Fault {
	if f, ok := errors.AsType[*Fault](err); ok {
		return f
	}
	return Wrap(err, Internal, "something went wrong inside Interlock")
}

// Explain returns the meaning of a code and what to do about it, in a sentence or two.
func (c Code) Explain() string {
	e := c.Entry()
	return strings.TrimSpace(e.Meaning + ". " + e.Advice)
}

// Is reports whether err carries this code.
func Is(err error, code Code) bool {
	f, ok := errors.AsType[*Fault](err)
	return ok && f.Code == code
}
