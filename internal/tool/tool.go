// Package tool is what a tool is: a typed function with a declared effect, from
// which schemas, decoding and validation follow. Which facts feed a tool and take
// its results is the machine's business: tools are stateless.
package tool

import (
	"context"
	"encoding/json"

	"interlock/internal/event"
)

// Effect is what a call does to the world; it decides whether an unfinished call
// may be run again after a crash.
type Effect string

// The effects.
const (
	Reads    Effect = "reads"    // data, nothing changes
	Computes Effect = "computes" // pure of its arguments
	Writes   Effect = "writes"   // makes something: an unfinished call's outcome is unknown
)

// A Spec declares a tool.
type Spec struct {
	Name        string
	Description string
	Input       json.RawMessage // JSON Schema of the arguments, derived by New
	Output      json.RawMessage // JSON Schema of the result, derived by New
	// Shown is the argument schema that models see where it says more than Input: a
	// tool that checks a part itself, with better words, is lenient in Input.
	Shown  json.RawMessage
	Effect Effect
	// Taints says that results carry text from rows, documents or servers: once such
	// text has been in a prompt, calls that need approval when tainted need it.
	Taints bool
	// Reaches says that a call can reach outside this machine.
	Reaches bool
	// Main is the argument that must not be empty and that argument repair looks for
	// under other names: "sql", "code"; "" if there is none.
	Main string
	// IgnoreInIdentity are arguments that are left out when two calls are compared: what
	// matters of them is in the version of the call.
	IgnoreInIdentity []string
	// Volatile says that an equal call may always give another result: of sources that
	// change without a version, of chance, of the clock. Such a call is never answered
	// with an earlier result. Result.Volatile says the same of one call.
	Volatile bool
	// Keeps says of a tool that writes: all that it makes is a copy of what it read. A call
	// with KeepNothing gives the same result without the copy.
	Keeps bool
	// Seconds bounds a call; 0 is the engine's default.
	Seconds int
}

// A Tool can be called. It is safe for concurrent use.
type Tool interface {
	Spec() Spec
	// Call runs the tool on validated arguments. A *fault.Fault is told to the model;
	// any other error is told to the operator, and the model hears `tool_failed`.
	Call(ctx context.Context, args json.RawMessage) (Result, error)
}

// A Versioner is a tool whose result depends on data outside its arguments. The
// version goes into the identity of a call, so that changed data makes an equal
// call a new one. "" means that the version is not known: then nothing says that an
// equal call would give the same, and it runs.
type Versioner interface {
	Version(ctx context.Context, args json.RawMessage) string
}

// A Result is what a call gave.
type Result struct {
	JSON      json.RawMessage
	Artifacts []event.ArtifactMade // stored by the tool; the engine logs them
	Volatile  bool                 // an equal call may give another result
	Ran       *event.Ran           // the statement that gave it; nil where there is none
}

// Varier is implemented by an Out type that knows whether an equal call may give
// another result.
type Varier interface{ Varies() bool }

// Maker is implemented by an Out type whose call stored artifacts.
type Maker interface{ Made() []event.ArtifactMade }

// Runner is implemented by an Out type whose rows come from a statement; nil says that
// there was none. What it returns is stored with the call and is no part of the result.
type Runner interface{ Ran() *event.Ran }

// Call describes the call in progress; a tool finds it with In.
type Call struct {
	Owner, Thread, Run, ID, Dataset string
	// Question is what the person said in this turn.
	Question string
	// KeepNothing asks a tool that keeps what it read to leave that out: only the result
	// matters, as where a recorded call is made again on today's data.
	KeepNothing bool
	// Artifacts are those that the thread has, of its parents too where it is a fork.
	Artifacts []event.ArtifactMade
	// Progress tells the person a sign of life; never nil inside a call.
	Progress func(note string)
	// Output tells the person what a running program prints, as it comes; stream is
	// stdout or stderr. Never nil inside a call.
	Output func(stream, text string)
	// CheckOwner fails if another process has taken the thread over, which happens to a
	// process that was suspended for longer than its lease. Whoever stores something outside
	// the log asks before and after. Never nil inside a call.
	CheckOwner func(context.Context) error
	// TraceFigures says where the numbers of a text come from, as the engine says it of an
	// answer, and names the results by the calls that gave them. It is nil outside a turn.
	TraceFigures func(text string) (traced event.FiguresTraced, names map[string]string)
}

type callKey struct{}

// With puts the call into the context of its tool.
func With(ctx context.Context, c Call) context.Context {
	if c.Progress == nil {
		c.Progress = func(string) {}
	}
	if c.Output == nil {
		c.Output = func(string, string) {}
	}
	if c.CheckOwner == nil {
		c.CheckOwner = func(context.Context) error { return nil }
	}
	return context.WithValue(ctx, callKey{}, c)
}

// In returns the call that ctx belongs to; outside a call it is empty but usable.
func In(ctx context.Context) Call {
	if c, ok := ctx.Value(callKey{}).(Call); ok {
		return c
	}
	return Call{Progress: func(string) {}, Output: func(string, string) {}, CheckOwner: func(context.Context) error { return nil }}
}
