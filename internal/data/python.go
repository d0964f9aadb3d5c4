package data

import (
	"bytes"
	"context"
	"crypto/rand"
	"os"
	"path/filepath"
	"strings"
	"time"
	"unicode/utf8"

	"interlock/internal/artifact"
	"interlock/internal/catalog"
	"interlock/internal/dialect"
	"interlock/internal/event"
	"interlock/internal/fault"
	"interlock/internal/query"
	"interlock/internal/sandbox"
	"interlock/internal/tool"
	"interlock/internal/toolbox"
)

// A PythonConfig has what Python needs. Dir is the folder of bundles.
type PythonConfig struct {
	Catalog   *catalog.Catalog
	Query     *query.Engine
	Executor  sandbox.Executor
	Artifacts *artifact.Store
	Results   toolbox.Results
	Dir       string
}

// Python runs jobs with the tables of a dataset and earlier results as DataFrames. It
// implements toolbox.Python.
type Python struct {
	PythonConfig
	bundles *bundles
}

// NewPython opens the folder of bundles.
func NewPython(c PythonConfig) (*Python, error) {
	b, err := openBundles(c.Dir)
	if err != nil {
		return nil, err
	}
	return &Python{c, b}, nil
}

// Run implements toolbox.Python.
func (p *Python) Run(ctx context.Context, job toolbox.PythonJob) (toolbox.PythonOut, error) {
	call := tool.In(ctx)
	j := sandbox.Job{
		Code: job.Code, Rows: job.MaxRows, Timeout: time.Duration(job.Seconds) * time.Second,
		Stdout: printer(call, "stdout"), Stderr: printer(call, "stderr"),
	}
	version := ""
	if job.Dataset != "" {
		db, d, err := p.Catalog.Database(ctx, job.Dataset)
		if err != nil {
			return toolbox.PythonOut{}, err
		}
		version = d.Version
		for _, t := range d.Tables {
			j.Tables = append(j.Tables, sandbox.Table{Name: t.Name, Make: func(ctx context.Context) (string, error) { return p.tableBundle(ctx, db, version, t.Name) }})
		}
	}
	for _, f := range job.Frames {
		j.Tables = append(j.Tables, sandbox.Table{Name: f.Name, Make: func(ctx context.Context) (string, error) { return p.frameBundle(ctx, f) }})
	}
	var names []string
	for _, t := range j.Tables {
		names = append(names, t.Name)
	}
	reads := toolbox.TablesInCode(job.Code, names)
	out, err := p.Executor.Run(ctx, j)
	if err != nil {
		return toolbox.PythonOut{}, withOutput(err, out, reads)
	}
	res := pythonOut(out)
	res.Reads = reads
	for _, f := range append(out.Figures, out.Files...) {
		put := putOfCall(ctx)
		put.Name, put.Type, put.Producer = f.Name, strings.TrimPrefix(filepath.Ext(f.Name), "."), "python"
		put.LogicalKey = event.Hash([]byte("python\x00" + job.Code + "\x00" + f.Name))[:16]
		made, err := p.Artifacts.Put(ctx, put, bytes.NewReader(f.Data))
		if err != nil {
			return res, err
		}
		res.Artifacts = append(res.Artifacts, made.ID)
		res.Stored = append(res.Stored, made)
	}
	return res, nil
}

// tableBundle writes a table as a column bundle, once per version of the data.
func (p *Python) tableBundle(ctx context.Context, db query.Database, version, table string) (string, error) {
	return p.bundles.file([]string{"table", db.Path, version, table}, func(path string) error {
		arrow := path + "." + rand.Text() + ".arrow" // another process may be making the same bundle
		defer os.Remove(arrow)
		r := query.Request{Database: db, SQL: "SELECT * FROM " + dialect.DuckDB.Ident(table), User: tool.In(ctx).Owner}
		if _, err := p.Query.Export(ctx, r, query.Arrow, arrow); err != nil {
			return err
		}
		return sandbox.FromArrow(arrow, path)
	})
}

// frameBundle writes an earlier result as a column bundle, once.
func (p *Python) frameBundle(ctx context.Context, f toolbox.Frame) (string, error) {
	r, err := p.Results.Load(ctx, f.ResultID) // first, because only the owner may
	if err != nil {
		return "", err
	}
	return p.bundles.file([]string{"frame", tool.In(ctx).Owner, f.ResultID}, func(path string) error {
		return sandbox.FromResult(sandbox.Result{Columns: r.Columns, Rows: r.Rows}, path)
	})
}

// pythonOut is an outcome as tools tell it.
func pythonOut(out *sandbox.Outcome) toolbox.PythonOut {
	res := toolbox.PythonOut{Value: out.Value, Stdout: out.Stdout, Stderr: out.Stderr, Artifacts: []string{}}
	res.Status, res.Rows, res.RowCount, res.Limited, res.ExecTimeMS = "success", out.Rows, out.Sent, out.Limited, out.Elapsed.Milliseconds()
	res.TotalRows, res.Columns, res.ColumnTypes = int64(out.RowCount), []string{}, []string{}
	res.Table = out.Columns
	for _, c := range out.Columns {
		res.Columns, res.ColumnTypes = append(res.Columns, c.Name), append(res.ColumnTypes, c.Type.String())
	}
	if res.Rows == nil {
		res.Rows = []byte("[]")
	}
	for _, f := range out.Skipped {
		res.Skipped = append(res.Skipped, f.Name+": "+f.Reason)
	}
	return res
}

// withOutput puts what was printed before a failure, and where in the code it came from,
// into the details.
func withOutput(err error, out *sandbox.Outcome, reads []string) error {
	f := fault.From(err)
	t := toolbox.PythonTrouble{Reads: reads}
	if out != nil {
		t.Stdout, t.Stderr = out.Stdout, out.Stderr
	}
	switch details := f.Details.(type) {
	case sandbox.UserError:
		t.Type, t.Line = details.Type, details.Line
		for _, x := range details.Frames {
			t.Frames = append(t.Frames, toolbox.PythonFrame(x))
		}
	case nil:
	default: // not of the sandbox, but of the making of a table
		return f
	}
	return f.With(t)
}

// printed is how much of what a program prints is told at once.
const printed = 2048

// printer tells one stream in pieces of whole characters.
func printer(call tool.Call, stream string) func([]byte) {
	var rest []byte // the beginning of a character whose end is still to come
	return func(b []byte) {
		b = append(rest, b...)
		for len(b) > 0 {
			n := completeLength(b[:min(len(b), printed)])
			if n == 0 {
				break
			}
			call.Output(stream, string(b[:n]))
			b = b[n:]
		}
		rest = bytes.Clone(b)
	}
}

// completeLength is the length of b without a character that has only begun at its end.
func completeLength(b []byte) int {
	for n := len(b) - 1; n >= max(0, len(b)-utf8.UTFMax); n-- {
		if utf8.RuneStart(b[n]) {
			if utf8.FullRune(b[n:]) {
				return len(b)
			}
			return n
		}
	}
	return len(b)
}
