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
	cmd := &cobra.Command{
		Use: "export RUN", Short: "Export all rows of a result, from the version of the data that the run read", Args: cobra.ExactArgs(1),
		Example: "  interlock run export r_1a2b --out rows.parquet\n  interlock run export r_1a2b --call 2 --format csv > rows.csv",
		RunE: func(cmd *cobra.Command, args []string) error {
			x.Run = args[0]
			x.Format = cmp.Or(x.Format, strings.TrimPrefix(strings.ToLower(filepath.Ext(out)), "."), "csv")
			if err := a.needState(); err != nil {
				return err
			}
			return a.changeData(func(s *system) error { return a.runExport(cmd.Context(), s, x, out) })
		},
	}
	cmd.Flags().StringVar(&x.Call, "call", "", "the call: its id, or its number among the calls that ran SQL; default the last one")
	cmd.Flags().StringVar(&x.Format, "format", "", "csv, ndjson, json, parquet, arrow or xlsx; default by the file's extension, else csv")
	cmd.Flags().StringVarP(&out, "out", "o", "", "the file to write; default standard output")
	cmd.Flags().BoolVar(&x.Today, "today", false, "use today's data if the version that the run read is gone")
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
	c, err := capsule.Build(ctx, s.store, x.Run)
	if err != nil {
		return err
	}
	id, err := data.NewResults(data.ResultsConfig{Catalog: s.catalog, Query: s.query, Artifacts: s.artifacts, Store: s.store, Dir: s.stateDir(a.cfg, "results")}).Repeat(ctx, c.Owner, x)
	if err != nil {
		return err
	}
	content, meta, err := s.artifacts.Open(ctx, c.Owner, id)
	if err != nil {
		return err
	}
	defer content.Close()
	a.printNotes(meta.Lineage.Notes)
	if out == "" {
		if meta.Lineage.Rows == 0 {
			fmt.Fprintln(a.errw, "The result has no rows.")
		}
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
	a.printDone(map[string]any{"file": out, "format": x.Format, "artifact_id": id, "lineage": meta.Lineage}, "wrote %d rows to %s", meta.Lineage.Rows, out)
	return nil
}
