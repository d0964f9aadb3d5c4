package data

import (
	"cmp"
	"context"
	"io"
	"slices"
	"strconv"
	"strings"

	"interlock/internal/artifact"
	"interlock/internal/capsule"
	"interlock/internal/event"
	"interlock/internal/fault"
	"interlock/internal/query"
	"interlock/internal/server"
	"interlock/internal/sqlpolicy"
	"interlock/internal/tool"
)

// Repeat implements server.Results: the statement of a recorded call runs again on the
// data that the call read, without the turn's row cap.
func (r *Results) Repeat(ctx context.Context, owner string, x server.Repeat) (string, error) {
	at, l, err := r.recordedCall(ctx, owner, x)
	if err != nil {
		return "", err
	}
	return r.storeRows(ctx, owner, at, query.Format(x.Format), l)
}

// RepeatTo does the same and keeps nothing: use is handed the rows.
func (r *Results) RepeatTo(ctx context.Context, owner string, x server.Repeat, use func(io.Reader) error) (artifact.Lineage, error) {
	at, l, err := r.recordedCall(ctx, owner, x)
	if err != nil {
		return l, err
	}
	given := l.SQL
	if err := r.checkLineage(ctx, at, &l); err != nil {
		return l, err
	}
	err = r.exportRows(ctx, owner, at, query.Format(x.Format), given, &l, use)
	return l, err
}

// recordedCall returns what a recorded call read, and where.
func (r *Results) recordedCall(ctx context.Context, owner string, x server.Repeat) (target, artifact.Lineage, error) {
	c, err := capsule.Build(ctx, r.store, x.Run)
	if err != nil {
		return target{}, artifact.Lineage{}, err
	}
	call, err := callWithStatement(c, x.Call)
	if err != nil {
		return target{}, artifact.Lineage{}, err
	}
	l := artifact.Lineage{Dataset: cmp.Or(call.Ran.Dataset, c.Dataset), SQL: call.Ran.SQL, Version: cmp.Or(call.Ran.Version, call.Version), Run: c.Run, Call: call.Call, Frames: call.Ran.Frames}
	at, err := r.recordedData(ctx, &l, x.Today)
	if err != nil {
		return at, l, err
	}
	at, err = r.withFrames(ctx, owner, at, l)
	return at, l, err
}

// recordedData gives the data that a call read, or those of today where that is wanted and
// the others are gone.
func (r *Results) recordedData(ctx context.Context, l *artifact.Lineage, today bool) (target, error) {
	if db, ok := r.catalog.Past(l.Dataset, l.Version); ok {
		return target{version: db}, nil
	}
	now, d, err := r.currentDataset(ctx, l.Dataset)
	switch {
	case err != nil || d.Version == l.Version:
		return now, err
	case !today && l.Version == "":
		return now, fault.New(fault.Conflict, "the run does not say which version of %q it read", l.Dataset).
			Suggest("Use today's data, version %.12s.", d.Version).With(map[string]string{"today": d.Version})
	case !today:
		return now, fault.New(fault.Conflict, "the data of %q have changed since the run, and its version %.12s is no longer kept", l.Dataset, l.Version).
			Suggest("Use today's data, version %.12s, or ask the question again.", d.Version).
			With(map[string]string{"recorded": l.Version, "today": d.Version})
	}
	l.Recorded, l.Version = l.Version, d.Version
	return now, nil
}

// withFrames adds the earlier results that a statement read to where it runs again. A table
// that has come since and has the name of one of them must not be read in its place.
func (r *Results) withFrames(ctx context.Context, owner string, at target, l artifact.Lineage) (target, error) {
	for _, f := range l.Frames {
		taken := slices.ContainsFunc(at.version.Tables, func(t sqlpolicy.Table) bool { return strings.EqualFold(t.Name, f.Name) })
		if taken || at.live != "" {
			return at, fault.New(fault.Conflict, "the statement read the earlier result %q, and today's data of %q cannot be read beside it", f.Name, l.Dataset).
				Suggest("Repeat it on the version that the run read, or ask the question again.").With(f)
		}
	}
	frames, err := frameTables(tool.With(ctx, tool.Call{Owner: owner}), r.catalog, StepResults{r.artifacts}, l.Frames)
	at.version.Attached, at.version.Tables = frames.Attached, slices.Concat(at.version.Tables, frames.Tables)
	return at, err
}

// callWithStatement finds a call by its id or by its number among those with a
// statement, from 1; "" is the last.
func callWithStatement(c *capsule.Capsule, wanted string) (capsule.ToolCall, error) {
	var ids []string
	var last capsule.ToolCall
	for _, t := range c.Tools {
		if t.Outcome != "returned" || t.Ran == nil {
			continue
		}
		ids, last = append(ids, t.Call), t
		if t.Call == wanted || strconv.Itoa(len(ids)) == wanted {
			return t, nil
		}
	}
	switch {
	case len(ids) == 0 && c.Outcome == string(event.Stopped):
		return last, fault.New(fault.NotFound, "run %s has no rows: it was stopped before a statement had ended", c.Run).
			Suggest("Ask again. `interlock run show %s` shows how far it came.", c.Run)
	case len(ids) == 0:
		return last, fault.New(fault.NotFound, "run %s has no rows: none of its calls ran a statement", c.Run).
			Suggest("`interlock run show %s` shows its calls.", c.Run)
	case wanted != "":
		return last, fault.New(fault.NotFound, "run %s has no call %.80q with rows of a statement", c.Run, wanted).With(ids).
			Suggest("Name one of: %s.", strings.Join(ids, ", "))
	}
	return last, nil
}
