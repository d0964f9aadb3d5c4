package main

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"time"
	"unicode/utf8"

	"interlock/internal/artifact"
	"interlock/internal/catalog"
	"interlock/internal/event"
	"interlock/internal/fault"
	"interlock/internal/query"
	"interlock/internal/sandbox"
	"interlock/internal/schema"
	"interlock/internal/server"
	"interlock/internal/tool"
	"interlock/internal/toolbox"
)

// sandboxConfig reads the sandbox's settings.
func (s *system) sandboxConfig(c config) (sandbox.Config, error) {
	var level sandbox.Level
	if err := level.UnmarshalText([]byte(c.PythonLevel)); err != nil {
		return sandbox.Config{}, err
	}
	return sandbox.Config{
		Disabled: !c.Python, Executor: c.PythonExecutor, MinLevel: level, AllowDegraded: level <= sandbox.LevelSyscalls, Python: c.PythonPath,
		Timeout: c.PythonTimeout, MemoryMB: c.PythonMemory, CPUs: c.PythonCPUs, Rows: c.PythonRows, OutputBytes: c.PythonOutput, Pool: c.PythonPool,
		AllowImports: c.PythonImports, Image: c.PythonImage, Runtime: c.PythonRuntime, ServerURL: c.PythonURL, Key: os.Getenv("INTERLOCK_PYTHON_KEY"), Namespace: c.PythonSpace,
		Dir: s.dir(c, "sandbox"), Log: s.log,
	}, nil
}

// openPython starts the sandbox; nil where Python is switched off.
func (s *system) openPython(c config, kept toolbox.Results) (toolbox.Python, error) {
	if !c.Python {
		return nil, nil
	}
	cfg, err := s.sandboxConfig(c)
	if err != nil {
		return nil, err
	}
	if s.sandbox, err = sandbox.Open(cfg); err != nil {
		return nil, err
	}
	s.onClose(s.sandbox.Close)
	bundles, err := openBundles(s.dir(c, "frames"))
	if err != nil {
		return nil, err
	}
	return &python{catalog: s.catalog, query: s.query, executor: s.sandbox, artifacts: s.artifacts, results: kept, bundles: bundles}, nil
}

func (s *system) pythonPart() server.Part {
	if s.sandbox == nil {
		return server.Part{Name: "python", Status: "degraded", Detail: "switched off"}
	}
	ctx, cancel := context.WithTimeout(context.Background(), time.Second)
	defer cancel()
	st := s.sandbox.Status(ctx)
	p := server.Part{Name: "python", Status: "ok", Detail: fmt.Sprintf("%s, %s, isolation: %s", st.State, st.Executor, st.Level)}
	if st.State != "ready" {
		p.Status = "degraded"
	}
	if st.Why != "" {
		p.Detail = st.Why
	}
	return p
}

// python runs jobs with the tables of a dataset and earlier results as DataFrames.
type python struct {
	catalog   *catalog.Catalog
	query     *query.Engine
	executor  sandbox.Executor
	artifacts *artifact.Store
	results   toolbox.Results
	bundles   *bundles
}

// Run implements toolbox.Python.
func (p *python) Run(ctx context.Context, job toolbox.PythonJob) (toolbox.PythonOut, error) {
	call := tool.In(ctx)
	j := sandbox.Job{
		Code: job.Code, Rows: job.MaxRows, Timeout: time.Duration(job.Seconds) * time.Second,
		Stdout: printer(call, "stdout"), Stderr: printer(call, "stderr"),
	}
	version := ""
	if job.Dataset != "" {
		db, d, err := p.catalog.Database(ctx, job.Dataset)
		if err != nil {
			return toolbox.PythonOut{}, err
		}
		version = d.VersionHash
		for _, t := range d.Tables {
			j.Tables = append(j.Tables, sandbox.Table{Name: t.Name, Make: func(ctx context.Context) (string, error) { return p.table(ctx, db, version, t.Name) }})
		}
	}
	for _, f := range job.Frames {
		j.Tables = append(j.Tables, sandbox.Table{Name: f.Name, Make: func(ctx context.Context) (string, error) { return p.frame(ctx, f) }})
	}
	out, err := p.executor.Run(ctx, j)
	if err != nil {
		return toolbox.PythonOut{}, withOutput(err, out)
	}
	res := pythonOut(out)
	for _, f := range append(out.Figures, out.Files...) {
		made, err := p.artifacts.Put(ctx, artifact.Put{
			Name: f.Name, Type: strings.TrimPrefix(filepath.Ext(f.Name), "."), Producer: "python", Owner: call.Owner, Thread: call.Thread, Call: call.ID,
			LogicalKey: event.Hash([]byte("python\x00" + job.Code + "\x00" + version + "\x00" + f.Name))[:16],
		}, bytes.NewReader(f.Data))
		if err != nil {
			return res, err
		}
		res.Artifacts = append(res.Artifacts, made.ID)
		res.Stored = append(res.Stored, made)
	}
	return res, nil
}

// pythonOut is an outcome as tools tell it.
func pythonOut(out *sandbox.Outcome) toolbox.PythonOut {
	res := toolbox.PythonOut{Value: out.Value, Stdout: out.Stdout, Stderr: out.Stderr, Artifacts: []string{}}
	res.Status, res.Rows, res.RowCount, res.Limited, res.ExecTimeMS = "success", out.Rows, out.Sent, out.Limited, out.Elapsed.Milliseconds()
	res.TotalRows, res.Columns, res.ColumnTypes = int64(out.RowCount), []string{}, []string{}
	res.Table = out.Columns
	for _, c := range out.Columns {
		res.Columns, res.ColumnTypes = append(res.Columns, c.Name), append(res.ColumnTypes, c.Type.String())
		res.Table = append(res.Table, schema.Column{Name: c.Name, Type: c.Type})
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
func withOutput(err error, out *sandbox.Outcome) error {
	f := fault.From(err)
	var t toolbox.PythonTrouble
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
			n := whole(b[:min(len(b), printed)])
			if n == 0 {
				break
			}
			call.Output(stream, string(b[:n]))
			b = b[n:]
		}
		rest = bytes.Clone(b)
	}
}

// whole is the length of b without a character that has only begun at its end.
func whole(b []byte) int {
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
