package query

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"runtime"
	"sync"
	"syscall"
	"time"

	"interlock/internal/fault"
	"interlock/internal/sqlpolicy"
)

// Config of an Engine. Zero fields are the defaults given.
type Config struct {
	Dir        string        // for spilling and exports; default: the system's temporary folder
	Workers    int           // statements that run at once; default: the number of processors, at least 2
	Threads    int           // of one statement; default: the number of processors
	MemoryMB   int           // of one statement; 1024
	SpillMB    int           // on disk, of one statement; 2048
	Timeout    time.Duration // of one statement; 30 s
	MaxRows    int           // of a result; 10,000
	MaxBytes   int           // of a result; 32 MiB
	MaxCell    int           // bytes of one text in a result; 256 KiB
	MaxExport  int64         // bytes of an exported file; 4 GiB
	MaxImport  int64         // bytes of a database that is built of files; 20 GiB
	ImportTime time.Duration // of the files of one database; 20 min
	Exports    int           // exports that run at once, beside the statements; Workers / 2, at least 1
	ExportTime time.Duration // of one export; 2 min
	PerUser    int           // statements of one user that run at once; Workers - 1, at least 1
	QueueMax   int           // statements of one user that wait; 64
	Idle       time.Duration // after which a worker that nobody needs ends; 5 min
	Workspaces int           // that are open at once, beside the statements; Workers
	Unconfined bool          // start workers without confinement; for systems that have none
	Policy     sqlpolicy.Config
	Log        *slog.Logger // default: none
}

func (c Config) orDefault() Config {
	c.Dir = cmp.Or(c.Dir, os.TempDir())
	c.Workers = cmp.Or(c.Workers, max(2, runtime.NumCPU()))
	c.Threads = cmp.Or(c.Threads, runtime.NumCPU())
	c.MemoryMB = cmp.Or(c.MemoryMB, 1024)
	c.SpillMB = cmp.Or(c.SpillMB, 2048)
	c.Timeout = cmp.Or(c.Timeout, 30*time.Second)
	c.MaxRows = cmp.Or(c.MaxRows, 10_000)
	c.MaxBytes = cmp.Or(c.MaxBytes, 32<<20)
	c.MaxCell = cmp.Or(c.MaxCell, 256<<10)
	c.MaxExport = cmp.Or(c.MaxExport, 4<<30)
	c.MaxImport = cmp.Or(c.MaxImport, 20<<30)
	c.ImportTime = cmp.Or(c.ImportTime, 20*time.Minute)
	c.Exports = cmp.Or(c.Exports, max(1, c.Workers/2))
	c.ExportTime = cmp.Or(c.ExportTime, 2*time.Minute)
	c.Workspaces = cmp.Or(c.Workspaces, c.Workers)
	c.PerUser = cmp.Or(c.PerUser, max(1, c.Workers-1))
	c.QueueMax = cmp.Or(c.QueueMax, 64)
	c.Idle = cmp.Or(c.Idle, 5*time.Minute)
	if c.Log == nil {
		c.Log = slog.New(slog.DiscardHandler)
	}
	return c
}

// An Engine runs statements in worker processes. It may be used by many goroutines
// at once. Its own goroutines: one for each worker, which waits for its end.
type Engine struct {
	config  Config        // fixed at creation
	builds  chan struct{} // a place for each import that runs; as many as statements
	dir     string
	lock    *os.File
	policy  *sqlpolicy.Policy
	runs    *Admission
	exports *Admission // they last long: no statement waits for one
	checks  *Admission
	spaces  *Admission // workspaces: they last longest
	pool    *pool
	close   func() error
}

// New makes an Engine. Close ends it.
func New(c Config) (*Engine, error) {
	c = c.orDefault()
	e := &Engine{config: c, builds: make(chan struct{}, c.Workers), policy: sqlpolicy.New(c.Policy), runs: NewAdmission(c.Workers, c.PerUser, c.QueueMax), checks: NewAdmission(c.Workers, c.Workers, 1024), exports: NewAdmission(c.Exports, 1, exportQueue), spaces: NewAdmission(c.Workspaces, max(1, c.Workspaces-1), exportQueue)}
	var err error
	if e.dir, e.lock, err = ownFolder(c.Dir); err != nil {
		return nil, err
	}
	e.pool = &pool{start: e.open, keep: 2 * c.Workers, rest: c.Idle}
	e.close = sync.OnceValue(func() error {
		e.pool.close()
		return errors.Join(os.RemoveAll(e.dir), e.lock.Close())
	})
	return e, nil
}

// Close ends the idle workers and removes the engine's folder. Statements that run
// are ended by their own contexts, which the caller cancels first.
func (e *Engine) Close() error { return e.close() }

// Forget ends the idle workers of a database file, before it is deleted.
func (e *Engine) Forget(path string) { e.pool.forget(path) }

// ownFolder makes a folder that no other engine uses, and removes those of engines
// that were killed: their locks are free.
func ownFolder(parent string) (string, *os.File, error) {
	if err := os.MkdirAll(parent, 0o700); err != nil {
		return "", nil, fmt.Errorf("making the query engine's folder: %w", err)
	}
	// One at a time: a folder whose lock is about to be taken looks like one that was left.
	gate, err := os.Open(parent)
	if err != nil {
		return "", nil, fmt.Errorf("making the query engine's folder: %w", err)
	}
	defer gate.Close()
	if err := syscall.Flock(int(gate.Fd()), syscall.LOCK_EX); err != nil {
		return "", nil, fmt.Errorf("making the query engine's folder: %w", err)
	}
	left, _ := filepath.Glob(filepath.Join(parent, "query-*", "lock"))
	for _, path := range left {
		if f, err := os.Open(path); err == nil {
			if syscall.Flock(int(f.Fd()), syscall.LOCK_EX|syscall.LOCK_NB) == nil {
				_ = os.RemoveAll(filepath.Dir(path))
			}
			_ = f.Close()
		}
	}
	dir, err := os.MkdirTemp(parent, "query-")
	if err != nil {
		return "", nil, fmt.Errorf("making the query engine's folder: %w", err)
	}
	lock, err := os.Create(filepath.Join(dir, "lock"))
	if err == nil {
		err = syscall.Flock(int(lock.Fd()), syscall.LOCK_EX|syscall.LOCK_NB)
	}
	if err != nil {
		return "", nil, errors.Join(fmt.Errorf("locking the query engine's folder: %w", err), os.RemoveAll(dir))
	}
	return dir, lock, nil
}

// addressSpace is what a worker's limit allows: the program itself maps about
// 1.6 GB, the engine's own limit counts only a part of what it takes.
func addressSpace(memoryMB int) uint64 { return uint64(1600+2*memoryMB) << 20 }

// open starts a worker with a database.
func (e *Engine) open(ctx context.Context, v version) (*process, error) {
	p, err := startProcess(e.dir, job{
		read:        append([]string{v.path}, v.files()...),
		memoryBytes: addressSpace(e.config.MemoryMB),
		fileBytes:   uint64(max(e.config.MaxExport, int64(e.config.SpillMB)<<20)) + 1<<20,
		unconfined:  e.config.Unconfined,
	})
	if err != nil {
		return nil, err
	}
	path, err := filepath.Abs(v.path)
	beside := v.files()
	for i := range beside {
		if err == nil {
			beside[i], err = filepath.Abs(beside[i])
		}
	}
	if err == nil {
		_, err = p.askJSON(ctx, askOpen, openOrder{
			Path: path, Files: beside, Scratch: p.dir, Threads: e.config.Threads, MemoryMB: e.config.MemoryMB, SpillMB: e.config.SpillMB,
		}, nil)
	}
	if err != nil {
		p.stop()
		if ctx.Err() != nil {
			return nil, err
		}
		e.config.Log.Warn("A dataset could not be opened.", "path", v.path, "err", err)
		return nil, fault.Wrap(err, fault.SourceUnreadable, "The dataset's data cannot be opened.").Suggest("Import the dataset again.")
	}
	return p, nil
}
