package main

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"

	"github.com/spf13/cobra"

	"interlock/internal/artifact"
	"interlock/internal/capsule"
	"interlock/internal/fault"
	"interlock/internal/query"
	"interlock/internal/server"
)

// Repeat implements server.Results: the statement of a recorded call runs again on the
// data that the call read, without the turn's row cap.
func (r *results) Repeat(ctx context.Context, owner string, x server.Repeat) (string, error) {
	c, err := capsule.Make(ctx, r.store, x.Run)
	if err != nil {
		return "", err
	}
	call, err := callWithStatement(c, x.Call)
	if err != nil {
		return "", err
	}
	st, _ := statementOf(call)
	l := artifact.Lineage{Dataset: cmp.Or(st.dataset, c.Dataset), SQL: st.sql, Run: c.Run, Call: call.Call}
	l.Version = versionOf(c, call, l.Dataset)
	at, err := r.recorded(ctx, &l, x.Today)
	if err != nil {
		return "", err
	}
	return r.keep(ctx, owner, at, query.Format(x.Format), l)
}

// recorded gives the data that a call read, or those of today where that is wanted and
// the others are gone.
func (r *results) recorded(ctx context.Context, l *artifact.Lineage, today bool) (place, error) {
	if db, ok := r.catalog.Past(l.Dataset, l.Version); ok {
		return place{version: db}, nil
	}
	now, d, err := r.today(ctx, l.Dataset)
	switch {
	case err != nil || d.VersionHash == l.Version:
		return now, err
	case !today && l.Version == "":
		return now, fault.New(fault.Conflict, "the run does not say which version of %q it read", l.Dataset).
			Suggest("Use today's data, version %.12s.", d.VersionHash).With(map[string]string{"today": d.VersionHash})
	case !today:
		return now, fault.New(fault.Conflict, "the data of %q have changed since the run, and its version %.12s is no longer kept", l.Dataset, l.Version).
			Suggest("Use today's data, version %.12s, or ask the question again.", d.VersionHash).
			With(map[string]string{"recorded": l.Version, "today": d.VersionHash})
	}
	l.Recorded, l.Version = l.Version, d.VersionHash
	return now, nil
}

// versionOf is the version of a dataset that a call read. Calls that a machine makes do
// not record it; then it is what an earlier call of the run told about the dataset.
func versionOf(c *capsule.Capsule, call capsule.ToolCall, dataset string) string {
	version := call.Version
	for _, t := range c.Tools {
		if version != "" || t.Call == call.Call {
			break
		}
		var in struct {
			Dataset string `json:"dataset_id"`
		}
		var out struct {
			Version string `json:"version"`
		}
		_, _ = json.Unmarshal(t.Args, &in), json.Unmarshal(t.Result, &out) // other tools have other forms
		if cmp.Or(in.Dataset, c.Dataset) == dataset {
			version = cmp.Or(t.Version, out.Version)
		}
	}
	return version
}

// A statement is what a recorded call ran.
type statement struct{ dataset, sql string }

// capped is the form in which check_sql puts a row cap around a statement.
var capped = regexp.MustCompile(`(?s)^SELECT \* FROM \(\n(.*)\n\) LIMIT \d+$`)

// statementOf finds the SQL of a call that returned rows: its argument, or what its
// plan was compiled to.
func statementOf(t capsule.ToolCall) (statement, bool) {
	var in struct {
		Dataset string `json:"dataset_id"`
		SQL     string `json:"sql"`
	}
	var out struct {
		Columns  json.RawMessage `json:"columns"`
		Compiled string          `json:"compiled_sql"`
		Result   struct {
			Columns json.RawMessage `json:"columns"`
		} `json:"result"`
	}
	_, _ = json.Unmarshal(t.Args, &in), json.Unmarshal(t.Result, &out) // other tools have other forms
	st := statement{in.Dataset, cmp.Or(in.SQL, out.Compiled)}
	if inner := capped.FindStringSubmatch(st.sql); inner != nil {
		st.sql = inner[1]
	}
	return st, t.Outcome == "returned" && st.sql != "" && (out.Columns != nil || out.Result.Columns != nil)
}

// callWithStatement finds a call by its id or by its number among those with a
// statement, from 1; "" is the last.
func callWithStatement(c *capsule.Capsule, wanted string) (capsule.ToolCall, error) {
	var ids []string
	var last capsule.ToolCall
	for _, t := range c.Tools {
		if _, ok := statementOf(t); !ok {
			continue
		}
		ids, last = append(ids, t.Call), t
		if t.Call == wanted || strconv.Itoa(len(ids)) == wanted {
			return t, nil
		}
	}
	switch {
	case len(ids) == 0:
		return last, fault.New(fault.NotFound, "no call of run %s has rows of a statement", c.Run)
	case wanted != "":
		return last, fault.New(fault.NotFound, "run %s has no call %.80q with rows of a statement", c.Run, wanted).With(ids).
			Suggest("Name one of: %s.", strings.Join(ids, ", "))
	}
	return last, nil
}

func (a *app) runExportCommand() *cobra.Command {
	var x server.Repeat
	var out string
	cmd := &cobra.Command{
		Use: "export RUN", Short: "Write all rows of a result of a run, from the data that the run read", Args: cobra.ExactArgs(1),
		Example: "  interlock run export r_1a2b --out rows.parquet\n  interlock run export r_1a2b --call 2 --format csv > rows.csv",
		RunE: func(cmd *cobra.Command, args []string) error {
			x.Run = args[0]
			x.Format = cmp.Or(x.Format, strings.TrimPrefix(strings.ToLower(filepath.Ext(out)), "."), "csv")
			if err := a.needState(); err != nil {
				return err
			}
			return a.withData(cmd, func(s *system) error { return a.runExport(cmd.Context(), s, x, out) })
		},
	}
	cmd.Flags().StringVar(&x.Call, "call", "", "the call: its id, or its number among those with a statement; the last if absent")
	cmd.Flags().StringVar(&x.Format, "format", "", "csv, ndjson, json, parquet, arrow or xlsx; that of the file's ending, else csv")
	cmd.Flags().StringVarP(&out, "out", "o", "", "the file to write; to the output if absent")
	cmd.Flags().BoolVar(&x.Today, "today", false, "use today's data where those of the run are gone")
	return cmd
}

func (a *app) runExport(ctx context.Context, s *system, x server.Repeat, out string) (err error) {
	if s.store, err = a.openStore(); err != nil {
		return err
	}
	s.onClose(s.store.Close)
	if s.artifacts, err = artifact.New(artifact.Config{Dir: a.statePath("artifacts")}); err != nil {
		return err
	}
	c, err := capsule.Make(ctx, s.store, x.Run)
	if err != nil {
		return err
	}
	id, err := (&results{s.catalog, s.query, s.artifacts, s.store, s.dir(a.cfg, "results")}).Repeat(ctx, c.Owner, x)
	if err != nil {
		return err
	}
	content, meta, err := s.artifacts.Open(ctx, c.Owner, id)
	if err != nil {
		return err
	}
	defer content.Close()
	a.sayNotes(meta.Lineage.Notes)
	if out == "" {
		_, err = io.Copy(a.out, content)
		return err
	}
	f, err := os.Create(out)
	if err != nil {
		return fault.Wrap(err, fault.BadRequest, "%s cannot be written: %v", out, err)
	}
	if _, err := io.Copy(f, content); err != nil {
		return errors.Join(fmt.Errorf("writing %s: %w", out, err), f.Close())
	}
	if err := f.Close(); err != nil {
		return fmt.Errorf("writing %s: %w", out, err)
	}
	a.done(map[string]any{"file": out, "format": x.Format, "artifact_id": id, "lineage": meta.Lineage}, "wrote %d rows to %s", meta.Lineage.Rows, out)
	return nil
}
