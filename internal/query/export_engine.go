package query

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"syscall"

	"interlock/internal/fault"
)

// exportQueue is how many exports of one user may wait.
const exportQueue = 4

// Export runs a statement and writes all its rows into a file at path, row by row.
// There is no bound on rows, but one on bytes (Config.MaxExport) and on time
// (Config.ExportTime, unless the request names one). One export of a user runs at once.
func (e *Engine) Export(ctx context.Context, r Request, format Format, path string) (out Exported, err error) {
	switch format {
	case CSV, NDJSON, Array, Parquet, Excel, Arrow:
	default:
		return out, fault.New(fault.BadRequest, "Results cannot be exported as %q.", format).
			Suggest("Use csv, json, ndjson, parquet, arrow or xlsx.")
	}
	if folder := filepath.Dir(path); !isFolder(folder) {
		return out, fault.New(fault.BadRequest, "There is no folder %s for the export.", folder).
			Suggest("Create it, or name a file in a folder that exists.")
	}
	v, scope, err := r.scope()
	if err == nil && r.Database.Remote != nil {
		err = errRemoteRows
	}
	if err != nil {
		return out, err
	}
	visit := visit{gate: e.exports, user: r.User, version: v, timeout: cmp.Or(r.Timeout, e.config.ExportTime), sql: r.SQL}
	err = e.withWorker(ctx, visit, func(ctx context.Context, p *process) error {
		d, err := e.decide(ctx, p, scope, r.SQL)
		if err != nil {
			return err
		}
		order := exportOrder{SQL: d.SQL, Args: r.Args, Format: format, File: "export", MaxBytes: e.config.MaxExport}
		done, err := p.askJSON(ctx, askExport, order, nil)
		if err != nil {
			return err
		}
		if err := json.Unmarshal(done, &out); err != nil {
			return fmt.Errorf("reading from a worker: %w", err)
		}
		if err := moveFile(p.file(order.File), path); err != nil {
			return fault.Wrap(err, fault.Unavailable, "The export cannot be written to %s.", path)
		}
		return nil
	})
	return out, err
}

func isFolder(path string) bool {
	info, err := os.Stat(path)
	return err == nil && info.IsDir()
}

// moveFile renames a file, or copies it where it would cross file systems. The target
// is whole or not there.
func moveFile(from, to string) error {
	err := os.Rename(from, to)
	if !errors.Is(err, syscall.EXDEV) {
		return err
	}
	in, err := os.Open(from)
	if err != nil {
		return fmt.Errorf("moving an export: %w", err)
	}
	defer in.Close()
	part := to + ".part"
	out, err := os.OpenFile(part, os.O_CREATE|os.O_TRUNC|os.O_WRONLY, 0o600)
	if err != nil {
		return fmt.Errorf("moving an export: %w", err)
	}
	_, err = io.Copy(out, in)
	if err = errors.Join(err, out.Close()); err == nil {
		err = os.Rename(part, to)
	}
	if err != nil {
		_ = os.Remove(part)
		return fmt.Errorf("moving an export: %w", err)
	}
	return os.Remove(from)
}
