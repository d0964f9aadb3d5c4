package main

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"time"

	"interlock/internal/artifact"
	"interlock/internal/catalog"
	"interlock/internal/event"
	"interlock/internal/fault"
	"interlock/internal/query"
	"interlock/internal/queryplan"
	"interlock/internal/sandbox"
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
		Timeout: c.PythonTimeout, MemoryMB: c.PythonMemory, Image: c.PythonImage, ServerURL: c.PythonURL, Key: os.Getenv("INTERLOCK_PYTHON_KEY"),
		Dir: s.dir(c, "sandbox"), Log: s.log,
	}, nil
}

// openPython starts the sandbox; nil where Python is switched off.
func (s *system) openPython(c config) (toolbox.Python, error) {
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
	return &python{catalog: s.catalog, query: s.query, executor: s.sandbox, artifacts: s.artifacts, dir: s.dir(c, "frames")}, nil
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

// python runs jobs with the tables of a dataset as DataFrames.
type python struct {
	catalog   *catalog.Catalog
	query     *query.Engine
	executor  sandbox.Executor
	artifacts *artifact.Store
	dir       string // of column bundles, one a table and version

	mu     sync.Mutex
	making map[string]*sync.Mutex
}

// Run implements toolbox.Python.
func (p *python) Run(ctx context.Context, job toolbox.PythonJob) (toolbox.PythonOut, error) {
	db, d, err := p.catalog.Database(ctx, job.Dataset)
	if err != nil {
		return toolbox.PythonOut{}, err
	}
	call := tool.In(ctx)
	j := sandbox.Job{Code: job.Code, Rows: job.MaxRows, Timeout: time.Duration(job.Seconds) * time.Second, Stdout: func(b []byte) { call.Progress(string(b)) }}
	for _, t := range d.Tables {
		j.Tables = append(j.Tables, sandbox.Table{Name: t.Name, Make: func(ctx context.Context) (string, error) { return p.bundle(ctx, db, d.VersionHash, t.Name) }})
	}
	out, err := p.executor.Run(ctx, j)
	if err != nil {
		return toolbox.PythonOut{}, p.told(err, out)
	}
	res := toolbox.PythonOut{Value: out.Value, Stdout: out.Stdout, Stderr: out.Stderr, Artifacts: []string{}}
	res.Status, res.Rows, res.RowCount, res.Limited, res.ExecTimeMS = "success", out.Rows, out.RowCount, out.Limited, out.Elapsed.Milliseconds()
	res.Columns = []string{}
	for _, c := range out.Columns {
		res.Columns = append(res.Columns, c.Name)
	}
	if res.Rows == nil {
		res.Rows = []byte("[]")
	}
	for _, f := range append(out.Figures, out.Files...) {
		made, err := p.artifacts.Put(ctx, artifact.Put{
			Name: f.Name, Type: strings.TrimPrefix(filepath.Ext(f.Name), "."), Producer: "python", Owner: call.Owner, Thread: call.Thread, Call: call.ID,
			LogicalKey: event.Hash([]byte("python\x00" + job.Code + "\x00" + d.VersionHash + "\x00" + f.Name))[:16],
		}, bytes.NewReader(f.Data))
		if err != nil {
			return res, err
		}
		res.Artifacts = append(res.Artifacts, made.ID)
		res.Stored = append(res.Stored, made)
	}
	return res, nil
}

// told adds what was printed before a failure to its details.
func (p *python) told(err error, out *sandbox.Outcome) error {
	f := fault.From(err)
	if out != nil && (out.Stdout != "" || out.Stderr != "") && f.Details == nil {
		return f.With(map[string]string{"stdout": out.Stdout, "stderr": out.Stderr})
	}
	return f
}

// bundle makes the column bundle of a table, once a version, and gives its file.
func (p *python) bundle(ctx context.Context, db query.Database, version, table string) (string, error) {
	path := filepath.Join(p.dir, event.Hash([]byte(db.Path + "\x00" + version + "\x00" + table))[:24]+".bundle")
	defer p.lock(path)()
	if _, err := os.Stat(path); err == nil {
		return path, nil
	}
	arrow := path + ".arrow"
	defer os.Remove(arrow)
	if _, err := p.query.Export(ctx, query.Request{Database: db, SQL: "SELECT * FROM " + queryplan.Ident(table), User: tool.In(ctx).Owner}, query.Arrow, arrow); err != nil {
		return "", err
	}
	return path, sandbox.FromArrow(arrow, path)
}

// lock makes callers of one bundle wait for each other.
func (p *python) lock(path string) func() {
	p.mu.Lock()
	if p.making == nil {
		p.making = map[string]*sync.Mutex{}
	}
	m := p.making[path]
	if m == nil {
		m = &sync.Mutex{}
		p.making[path] = m
	}
	p.mu.Unlock()
	m.Lock()
	return m.Unlock
}
