package query

import (
	"context"
	"errors"
	"regexp"
	"strings"

	"interlock/internal/fault"
	"interlock/internal/sqlpolicy"
)

// errTimeout is the cause of a context whose statement ran out of time.
var errTimeout = errors.New("the statement ran out of time")

// faultOf says what went wrong for people: no paths, nothing of the engine's inside.
func faultOf(ctx context.Context, sql string, err error) error {
	if err == nil {
		return nil
	}
	if f, ok := errors.AsType[*fault.Fault](err); ok {
		return f
	}
	if ctx.Err() != nil {
		if errors.Is(context.Cause(ctx), errTimeout) {
			return fault.Wrap(err, fault.QueryTimeout, "The query took longer than it may and was stopped.")
		}
		return fault.Wrap(err, fault.QueryCancelled, "The query was cancelled.")
	}
	if errors.Is(err, errDied) {
		return fault.Wrap(err, fault.QueryMemory, "The engine gave up on this query, most likely for want of memory.")
	}
	e, ok := errors.AsType[*engineErr](err)
	if !ok {
		return fault.Wrap(err, fault.Internal, "the query engine failed")
	}
	switch strings.ToLower(e.Kind) {
	case "out of memory":
		return fault.Wrap(err, fault.QueryMemory, "The query needs more memory than it may use.")
	case "interrupt":
		return fault.Wrap(err, fault.QueryCancelled, "The query was cancelled.")
	case "permission":
		return fault.Wrap(err, fault.SQLPolicy, "The engine refused the statement: it reaches outside the dataset.").
			With(sqlpolicy.Refusal{Rule: "engine", Instead: "Answer the question from the dataset's tables alone."})
	case "io", "internal", "fatal", "worker":
		return fault.Wrap(err, fault.SQLError, "The engine could not run this statement.")
	case strings.ToLower(tooLargeKind):
		return fault.Wrap(err, fault.TooLarge, "%s", capital(e.Message))
	}
	return sqlpolicy.SyntaxError(sql, cleanMessage(e.Message), e.Position)
}

var pathLike = regexp.MustCompile(`(^|[\s"'(])/[\w.\-]+(/[\w.\-]+)+`)

// cleanMessage keeps what the engine says about the statement and drops its advice about
// settings, its drawing of the line and anything that looks like a path.
func cleanMessage(message string) string {
	for _, stop := range []string{"\n\nLINE ", "\nLINE ", "\n\nPossible solutions", "\nPossible solutions", "\n\n"} {
		message, _, _ = strings.Cut(message, stop)
	}
	message = pathLike.ReplaceAllString(strings.TrimSpace(message), "$1(a file)")
	if len(message) > 800 {
		message = strings.ToValidUTF8(message[:800], "") + "…"
	}
	return message
}

func capital(s string) string {
	if s == "" {
		return s
	}
	return strings.ToUpper(s[:1]) + s[1:]
}
