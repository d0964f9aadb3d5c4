package query

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"interlock/internal/fault"
	"interlock/internal/schema"
	"interlock/internal/sqlpolicy"
)

// A WorkspaceConfig says what a Workspace begins with. Zero fields are the defaults given.
type WorkspaceConfig struct {
	Inputs   []Input
	User     string        // for fair admission
	MemoryMB int           // of its worker; Config.MemoryMB
	DiskMB   int           // for its tables and for spilling, and as much again for written inputs; Config.SpillMB
	Timeout  time.Duration // of one statement; 10 min
	MaxRows  int           // of one result; 250,000
	MaxBytes int           // of one result; 128 MiB
}

func (c WorkspaceConfig) orDefault(e Config) WorkspaceConfig {
	c.MemoryMB = cmp.Or(c.MemoryMB, e.MemoryMB)
	c.DiskMB = cmp.Or(c.DiskMB, e.SpillMB)
	c.Timeout = cmp.Or(c.Timeout, 10*time.Minute)
	c.MaxRows = cmp.Or(c.MaxRows, 250_000)
	c.MaxBytes = cmp.Or(c.MaxBytes, 128<<20)
	return c
}

// An Input is a table that exists when a Workspace opens. Statements read it and
// cannot change it.
type Input struct {
	Name string // in the workspace
	// Path is a .duckdb file that this program wrote, and Table the table of it; "" = Name.
	// The file is attached as it is; a table of another name is copied under its new one.
	Path, Table string
	// Write writes the table, in place of Path: rows that come from elsewhere.
	Write func(ctx context.Context, w *Writer, table string) error
}

// A Workspace is a private corner of the engine: one confined worker, with its inputs
// attached read-only and a catalog in memory that spills to a bounded folder. Tables are
// made in it of SELECTs, and every statement is decided by the policy, over the inputs
// and the tables made so far. It runs one statement at a time, whoever calls, and lives
// until Close; what a killed program leaves is removed by the next Engine.
type Workspace struct {
	engine *Engine // fixed at creation
	config WorkspaceConfig
	id     string
	policy *sqlpolicy.Policy // its own, because its decisions are of no use to anybody else
	close  func()

	mu      sync.Mutex // one statement at a time
	process *process
	tables  []sqlpolicy.Table
	made    map[string]bool // folded names of tables that Create made
	changes int             // of tables, so far
	lost    error           // why the worker is of no use any more
}

// workspaces numbers the workspaces of this process, for the versions of their data.
var workspaces atomic.Int64

// OpenWorkspace waits for a place, writes the inputs that are not files yet, and starts
// the worker. The caller closes the Workspace, and does so before the Engine.
func (e *Engine) OpenWorkspace(ctx context.Context, c WorkspaceConfig) (*Workspace, error) {
	c = c.orDefault(e.config)
	if err := checkInputs(c.Inputs); err != nil {
		return nil, err
	}
	leave, err := e.spaces.Enter(ctx, c.User)
	if err != nil {
		return nil, faultOf(ctx, "", err)
	}
	dir, err := os.MkdirTemp(e.dir, "workspace-")
	if err != nil {
		leave()
		return nil, fmt.Errorf("making a folder for a workspace: %w", err)
	}
	w := &Workspace{
		engine: e, config: c, id: fmt.Sprintf("workspace %d", workspaces.Add(1)), made: map[string]bool{},
		policy: sqlpolicy.New(sqlpolicy.Config{Limits: e.config.Policy.Limits, Cache: 64}),
	}
	w.close = sync.OnceFunc(func() {
		if w.process != nil {
			w.process.stop()
		}
		_ = os.RemoveAll(dir)
		leave()
	})
	if err := w.start(ctx, dir); err != nil {
		w.close()
		return nil, faultOf(ctx, "", err)
	}
	return w, nil
}

// MaxWorkspaces is how many workspaces may be open at once.
func (e *Engine) MaxWorkspaces() int { return e.config.Workspaces }

func checkInputs(inputs []Input) error {
	seen := map[string]bool{}
	for _, in := range inputs {
		switch {
		case in.Name == "":
			return errors.New("query: an input of a workspace has no name")
		case (in.Path == "") == (in.Write == nil):
			return fmt.Errorf("query: the input %s needs either a file or a function that writes it", in.Name)
		case seen[strings.ToLower(in.Name)]:
			return fmt.Errorf("query: two inputs of a workspace are called %s", in.Name)
		}
		seen[strings.ToLower(in.Name)] = true
	}
	return nil
}

// start brings the inputs into files and opens them in a worker.
func (w *Workspace) start(ctx context.Context, dir string) error {
	order := openOrder{Threads: w.engine.config.Threads, MemoryMB: w.config.MemoryMB, SpillMB: w.config.DiskMB, Workspace: true}
	job := job{
		memoryBytes: addressSpace(w.config.MemoryMB),
		fileBytes:   uint64(max(w.engine.config.MaxExport, int64(w.config.DiskMB)<<20)) + 1<<20,
		unconfined:  w.engine.config.Unconfined,
	}
	for i, in := range w.config.Inputs {
		attached := attachedTable{Name: in.Name, Path: in.Path, Table: cmp.Or(in.Table, in.Name)}
		if in.Write != nil {
			attached.Path, attached.Table = filepath.Join(dir, fmt.Sprintf("input-%d.duckdb", i)), in.Name
			if err := w.writeInput(ctx, dir, attached.Path, in); err != nil {
				return err
			}
		}
		path, err := realPath(attached.Path)
		if err != nil {
			return fault.Wrap(err, fault.SourceUnreadable, "The data of %s is not there.", in.Name).Suggest("Import it again.")
		}
		attached.Path = path
		order.Attached = append(order.Attached, attached)
		if !slices.Contains(job.read, path) {
			job.read = append(job.read, path)
		}
	}
	p, err := startProcess(w.engine.dir, job)
	if err != nil {
		return err
	}
	w.process, order.Scratch = p, p.dir
	ctx, cancel := context.WithTimeoutCause(ctx, w.engine.config.ImportTime, errTimeout) // it may copy tables
	defer cancel()
	done, err := p.askJSON(ctx, askOpen, order, nil)
	if err != nil {
		return faultOf(ctx, "", err)
	}
	return json.Unmarshal(done, &w.tables)
}

// writeInput has an input written into a file, which may grow to the workspace's disk.
func (w *Workspace) writeInput(ctx context.Context, dir, path string, in Input) error {
	out, err := Create(path)
	if err != nil {
		return err
	}
	defer out.Abort()
	full := fault.New(fault.TooLarge, "The rows of %s take more than the %d MB of disk that a workspace may have.", in.Name, w.config.DiskMB).
		Suggest("Choose fewer rows, or raise the limit of disk for statements.")
	bounded, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	watched := make(chan struct{})
	go func() {
		defer close(watched)
		tick := time.NewTicker(watchDisk)
		defer tick.Stop()
		for {
			select {
			case <-bounded.Done():
				return
			case <-tick.C:
				if out.Size()+bytesIn(dir) > int64(w.config.DiskMB)<<20 {
					cancel(full)
				}
			}
		}
	}()
	err = in.Write(bounded, out, in.Name)
	if cause := context.Cause(bounded); errors.Is(cause, full) {
		err = full
	}
	cancel(nil)
	<-watched
	if err != nil {
		return err
	}
	return out.Close()
}

// Create makes a table of the rows of a SELECT, in place of one that Create made before.
func (w *Workspace) Create(ctx context.Context, table, selectSQL string, args ...string) error {
	if table == "" {
		return errors.New("query: a table of a workspace needs a name")
	}
	return w.run(ctx, selectSQL, args, func(ctx context.Context, p *process, d sqlpolicy.Decision) error {
		if w.find(table) >= 0 && !w.made[strings.ToLower(table)] {
			return fault.New(fault.BadRequest, "The table %s is an input of the workspace and cannot be replaced.", table)
		}
		done, err := p.askJSON(ctx, askCreate, createOrder{Table: table, SQL: d.SQL, Args: args}, nil)
		if err != nil {
			return err
		}
		var created sqlpolicy.Table
		if err := json.Unmarshal(done, &created); err != nil {
			return fmt.Errorf("reading from a worker: %w", err)
		}
		w.forget(table)
		w.tables, w.made[strings.ToLower(table)] = append(w.tables, created), true
		return nil
	})
}

// Query runs a SELECT and gives all of its rows, up to the configured number.
func (w *Workspace) Query(ctx context.Context, selectSQL string, args ...string) (*Result, error) {
	result := &Result{}
	err := w.run(ctx, selectSQL, args, func(ctx context.Context, p *process, d sqlpolicy.Decision) error {
		began := time.Now()
		err := result.fill(ctx, p, runOrder{SQL: d.SQL, Args: args, MaxRows: w.config.MaxRows, MaxBytes: w.config.MaxBytes, MaxCell: w.engine.config.MaxCell})
		result.Decision, result.Elapsed = d, time.Since(began)
		result.Total, result.AtLeast = int64(result.RowCount), result.Limited
		return err
	})
	if err != nil {
		return nil, err
	}
	return result, nil
}

// Drop removes tables that Create made; others are left alone.
func (w *Workspace) Drop(ctx context.Context, tables ...string) error {
	w.mu.Lock()
	defer w.mu.Unlock()
	tables = slices.DeleteFunc(slices.Clone(tables), func(t string) bool { return !w.made[strings.ToLower(t)] })
	if len(tables) == 0 {
		return nil
	}
	return w.ask(ctx, "", func(ctx context.Context, p *process) error {
		if _, err := p.askJSON(ctx, askDrop, tables, nil); err != nil {
			return err
		}
		for _, t := range tables {
			w.forget(t)
		}
		return nil
	})
}

// Export writes all rows of a SELECT into a file at path, in a format that
// [Engine.Export] takes.
func (w *Workspace) Export(ctx context.Context, format Format, path, selectSQL string, args ...string) (out Exported, err error) {
	err = w.run(ctx, selectSQL, args, func(ctx context.Context, p *process, d sqlpolicy.Decision) error {
		order := exportOrder{SQL: d.SQL, Args: args, Format: format, File: "export", MaxBytes: w.engine.config.MaxExport}
		done, err := p.askJSON(ctx, askExport, order, nil)
		if err != nil {
			return err
		}
		if err := json.Unmarshal(done, &out); err != nil {
			return fmt.Errorf("reading from a worker: %w", err)
		}
		return moveFile(p.file(order.File), path)
	})
	return out, err
}

// Columns gives the columns of a table, or nil if there is no such table.
func (w *Workspace) Columns(ctx context.Context, table string) ([]schema.Column, error) {
	r, err := w.Query(ctx, "SELECT * FROM "+quoteName(table)+" LIMIT 0")
	if err != nil {
		return nil, err
	}
	return r.Columns, nil
}

// Close ends the worker, removes everything of the workspace and gives its place free.
func (w *Workspace) Close() error {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.lost == nil {
		w.lost = fault.New(fault.Unavailable, "The workspace is closed.")
	}
	w.close()
	return nil
}

// run has the policy decide about a SELECT and hands the decision to f.
func (w *Workspace) run(ctx context.Context, sql string, args []string, f func(context.Context, *process, sqlpolicy.Decision) error) error {
	if err := checkArgs(args); err != nil {
		return err
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.ask(ctx, sql, func(ctx context.Context, p *process) error {
		parser := &parser{process: p}
		scope := sqlpolicy.Scope{Version: fmt.Sprintf("%s.%d", w.id, w.changes), Tables: w.tables, Params: len(args)}
		d, err := w.policy.Check(ctx, parser, scope, sql)
		if err = cmp.Or(parser.failed, err); err != nil {
			return err
		}
		return f(ctx, p, d)
	})
}

// ask uses the worker within the time of one statement. A worker that does not answer as
// it should is killed, and the workspace is of no use any more. The caller holds the lock.
func (w *Workspace) ask(ctx context.Context, sql string, f func(context.Context, *process) error) error {
	if w.lost != nil {
		return w.lost
	}
	ctx, cancel := context.WithTimeoutCause(ctx, w.config.Timeout, errTimeout)
	defer cancel()
	err := f(ctx, w.process)
	if !isUnusable(err) {
		return faultOf(ctx, sql, err)
	}
	if ctx.Err() == nil {
		w.engine.config.Log.Warn("The worker of a workspace was lost.", "err", err)
	}
	w.process.kill()
	w.lost = fault.Wrap(err, fault.Unavailable, "The workspace was lost with the statement before.").Suggest("Begin again.")
	return faultOf(ctx, sql, err)
}

// find gives the place of a table, -1 if there is none of this name.
func (w *Workspace) find(table string) int {
	return slices.IndexFunc(w.tables, func(t sqlpolicy.Table) bool { return strings.EqualFold(t.Name, table) })
}

// forget takes a table out of the scope of statements.
func (w *Workspace) forget(table string) {
	w.changes++
	delete(w.made, strings.ToLower(table))
	if i := w.find(table); i >= 0 {
		w.tables = slices.Delete(slices.Clone(w.tables), i, i+1)
	}
}
