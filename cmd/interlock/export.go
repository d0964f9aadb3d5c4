package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"

	"github.com/spf13/cobra"

	"interlock/internal/artifact"
	"interlock/internal/capsule"
	"interlock/internal/data"
	"interlock/internal/fault"
	"interlock/internal/server"
)

func (a *app) runExportCommand() *cobra.Command {
	var x server.Repeat
	var out string
	var keep bool
	cmd := &cobra.Command{
		Use: "export RUN", Short: "Export all rows of a result, from the version of the data that the run read", Args: cobra.ExactArgs(1),
		Example: "  interlock run export r_1a2b --out rows.parquet\n  interlock run export r_1a2b --call 2 --format csv > rows.csv",
		RunE: func(cmd *cobra.Command, args []string) error {
			x.Run = args[0]
			x.Format = cmp.Or(x.Format, strings.TrimPrefix(strings.ToLower(filepath.Ext(out)), "."), "csv")
			if err := a.needState(); err != nil {
				return err
			}
			return a.changeData(func(s *system) error { return a.runExport(cmd.Context(), s, x, out, keep) })
		},
	}
	cmd.Flags().StringVar(&x.Call, "call", "", "the call: its id, or its number among the calls that ran SQL; default the last one")
	cmd.Flags().StringVar(&x.Format, "format", "", "csv, ndjson, json, parquet, arrow or xlsx; default by the file's extension, else csv")
	cmd.Flags().StringVarP(&out, "out", "o", "", "the file to write; default standard output")
	cmd.Flags().BoolVar(&x.Today, "today", false, "use today's data if the version that the run read is gone")
	cmd.Flags().BoolVar(&keep, "keep", false, "keep the rows as an artifact, too")
	return cmd
}

func (a *app) runExport(ctx context.Context, s *system, x server.Repeat, out string, keep bool) (err error) {
	if s.store, err = a.openStore(); err != nil {
		return err
	}
	s.onClose(s.store.Close)
	if s.artifacts, err = artifact.New(artifact.Config{Dir: a.statePath("artifacts")}); err != nil {
		return err
	}
	c, err := capsule.Build(ctx, s.store, x.Run)
	if err != nil {
		return err
	}
	results := data.NewResults(data.ResultsConfig{Catalog: s.catalog, Query: s.query, Artifacts: s.artifacts, Store: s.store, Dir: s.stateDir(a.cfg, "results")})
	if !keep {
		var lineage artifact.Lineage
		lineage, err = results.RepeatTo(ctx, c.Owner, x, func(rows io.Reader) error { return a.writeRows(rows, out) })
		if err != nil {
			return err
		}
		a.reportExport(map[string]any{"file": out, "format": x.Format, "lineage": lineage}, lineage, out)
		return nil
	}
	id, err := results.Repeat(ctx, c.Owner, x)
	if err != nil {
		return err
	}
	content, meta, err := s.artifacts.Open(ctx, c.Owner, id)
	if err != nil {
		return err
	}
	defer content.Close()
	if err := a.writeRows(content, out); err != nil {
		return err
	}
	a.reportExport(map[string]any{"file": out, "format": x.Format, "artifact_id": id, "lineage": meta.Lineage}, *meta.Lineage, out)
	return nil
}

// writeRows writes exported rows to a file, or to standard output for "".
func (a *app) writeRows(rows io.Reader, out string) error {
	if out == "" {
		_, err := io.Copy(a.out, rows)
		return err
	}
	f, err := os.Create(out)
	if err != nil {
		return fault.Wrap(err, fault.BadRequest, "%s cannot be written: %v", out, err)
	}
	_, err = io.Copy(f, rows)
	if err := errors.Join(err, f.Close()); err != nil {
		return fmt.Errorf("writing %s: %w", out, err)
	}
	return nil
}

// reportExport says what was written: on standard output, unless the rows are there.
func (a *app) reportExport(done map[string]any, l artifact.Lineage, out string) {
	a.printNotes(l.Notes)
	if out != "" {
		a.printDone(done, "wrote %s to %s", rowsText(l.Rows), out)
	} else if l.Rows == 0 {
		fmt.Fprintln(a.errw, "The result has no rows.")
	}
}

// rowsText counts rows: 1 row, 2 rows.
func rowsText(n int64) string {
	if n == 1 {
		return "1 row"
	}
	return fmt.Sprintf("%d rows", n)
}
