package source

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"sync"
	"time"

	sqlite3 "modernc.org/sqlite/lib"

	"interlock/internal/fault"
	"interlock/internal/jail"
)

// A SQLitePool has the worker processes that read SQLite files: nobody else opens
// one. A worker may read the files of one database and write nothing but its own
// folder; it is killed when whoever asked wants no more, and an idle one ends.
type SQLitePool struct {
	dir   string // where the workers' folders are
	slots chan struct{}

	mu     sync.Mutex
	idle   []*sqliteProcess // the one used last is last
	closed bool
}

// Bounds of a pool.
const (
	sqliteAtOnce = 8
	sqliteIdle   = 4
	sqliteRest   = time.Minute
)

// NewSQLitePool makes a pool whose workers have their folders below dir; "" is the
// system's temporary folder.
func NewSQLitePool(dir string) *SQLitePool {
	return &SQLitePool{dir: dir, slots: make(chan struct{}, sqliteAtOnce)}
}

// Close ends the idle workers. Those that work end with their callers' contexts.
func (p *SQLitePool) Close() error {
	p.mu.Lock()
	idle := p.idle
	p.idle, p.closed = nil, true
	p.mu.Unlock()
	for _, w := range idle {
		w.stop()
	}
	return nil
}

// A sqliteProcess is a worker as this program sees it. One caller at a time owns it.
type sqliteProcess struct {
	path  string
	state sqliteState // of the files that it may open
	dir   string
	cmd   *exec.Cmd
	in    *os.File
	out   *os.File
	read  *bufio.Reader
	buf   []byte
	kill  func()
	dead  chan struct{}
	timer *time.Timer
}

// sqliteMemory bounds the address space of a worker: the program itself maps about
// 1.6 GB, the library has a bound of its own.
const sqliteMemory = 1600<<20 + 2*sqliteHeap

// sqliteSpill bounds a file that a worker may write, of which it can have a few.
const (
	sqliteSpill     = 1 << 30
	sqliteOpenFiles = 32
)

func (p *SQLitePool) start(path string, state sqliteState) (*sqliteProcess, error) {
	dir, err := os.MkdirTemp(p.dir, ".sqlite-")
	if err != nil {
		return nil, fmt.Errorf("making a folder for a worker: %w", err)
	}
	w := &sqliteProcess{path: path, state: state, dir: dir, dead: make(chan struct{})}
	if err := w.start(); err != nil {
		return nil, errors.Join(err, os.RemoveAll(dir))
	}
	return w, nil
}

func (w *sqliteProcess) start() error {
	requests, in, err := os.Pipe()
	if err != nil {
		return fmt.Errorf("making a pipe: %w", err)
	}
	defer requests.Close()
	out, answers, err := os.Pipe()
	if err != nil {
		in.Close()
		return fmt.Errorf("making a pipe: %w", err)
	}
	defer answers.Close()
	ctx, cancel := context.WithCancel(context.Background())
	cmd, err := jail.Command(ctx, jail.Spec{
		Args:        []string{jail.Self, sqliteWorkerArg},
		ReadOnly:    w.state.files(w.path),
		ReadWrite:   []string{w.dir},
		MemoryBytes: sqliteMemory,
		FileBytes:   uint64(max(sqliteSpill, w.state[0].Size+w.state[1].Size+64<<20)),
		OpenFiles:   sqliteOpenFiles,
		Dir:         w.dir,
		Env:         []string{"TMPDIR=" + w.dir, "SQLITE_TMPDIR=" + w.dir, "HOME=" + w.dir, "GOMAXPROCS=2", "TZ=UTC"},
		ExtraFiles:  []*os.File{requests, answers},
	})
	if err == nil {
		err = jail.Start(cmd)
	}
	if err != nil {
		cancel()
		return errors.Join(fmt.Errorf("starting a worker for an SQLite file: %w", err), in.Close(), out.Close())
	}
	w.cmd, w.in, w.out, w.read, w.kill = cmd, in, out, bufio.NewReaderSize(out, 256<<10), sync.OnceFunc(cancel)
	go func() {
		_ = w.cmd.Wait() // how it ended is told to the caller of the request it ended in
		_ = os.RemoveAll(w.dir)
		close(w.dead)
	}()
	return nil
}

// stop ends the worker and waits until nothing of it is left.
func (w *sqliteProcess) stop() {
	w.kill()
	<-w.dead
	_, _ = w.in.Close(), w.out.Close()
}

// acquire gives an idle worker for the files, which is warm, or a new one.
func (p *SQLitePool) acquire(path string, state sqliteState) (w *sqliteProcess, warm bool, err error) {
	p.mu.Lock()
	for i := len(p.idle) - 1; i >= 0; i-- {
		w := p.idle[i]
		if w.path == path && w.state.sameFiles(state) {
			p.idle = append(p.idle[:i], p.idle[i+1:]...)
			w.timer.Stop()
			p.mu.Unlock()
			return w, true, nil
		}
	}
	closed := p.closed
	p.mu.Unlock()
	if closed {
		return nil, false, fault.New(fault.Unavailable, "The reader of SQLite files is shutting down.")
	}
	w, err = p.start(path, state)
	return w, false, err
}

// release takes a worker back; the one that has rested longest makes room.
func (p *SQLitePool) release(w *sqliteProcess) {
	p.mu.Lock()
	var old *sqliteProcess
	switch {
	case p.closed:
		old = w
	default:
		w.timer = time.AfterFunc(sqliteRest, func() { p.retire(w) })
		p.idle = append(p.idle, w)
		if len(p.idle) > sqliteIdle {
			old, p.idle = p.idle[0], p.idle[1:]
			old.timer.Stop()
		}
	}
	p.mu.Unlock()
	if old != nil {
		old.stop()
	}
}

func (p *SQLitePool) retire(w *sqliteProcess) {
	p.mu.Lock()
	found := false
	for i, other := range p.idle {
		if found = other == w; found {
			p.idle = append(p.idle[:i], p.idle[i+1:]...)
			break
		}
	}
	p.mu.Unlock()
	if found {
		w.stop()
	}
}

// errSQLiteDied means that a worker ended in the middle of a request.
var errSQLiteDied = errors.New("the worker for the SQLite file ended")

// ask has a worker run an order; each gets the rows, valid until it returns. Orders that
// fail because the file was being replaced are tried again, unless rows were given.
func (p *SQLitePool) ask(ctx context.Context, o sqliteOrder, head func([]sqliteColumn), each func([]sqliteValue) error) (sqliteReport, error) {
	path, err := filepath.Abs(o.File)
	if err != nil {
		return sqliteReport{}, err
	}
	if path, err = filepath.EvalSymlinks(path); err != nil {
		return sqliteReport{}, err
	}
	o.File = path
	select {
	case p.slots <- struct{}{}:
		defer func() { <-p.slots }()
	case <-ctx.Done():
		return sqliteReport{}, context.Cause(ctx)
	}
	for attempt := 1; ; attempt++ {
		state := stateOf(path)
		if state[0].Inode == 0 {
			return sqliteReport{}, os.ErrNotExist
		}
		if attempt < sqliteAttempts { // a journal exists during each change; it is needed only after a crash
			state[3] = fileStamp{}
		}
		begun := false
		report, warm, err := p.askOnce(ctx, state, o, func(c []sqliteColumn) {
			begun = true
			if head != nil {
				head(c)
			}
		}, each)
		moved := stateOf(path).hasMoved(state)
		if err == nil || begun || ctx.Err() != nil || !isTransient(err, warm, moved) {
			return report, err
		}
		if attempt == sqliteAttempts || moved && attempt > 1 {
			return p.askCopy(ctx, o, head, each, err)
		}
	}
}

// askCopy runs an order on a copy of a small file whose log comes and goes faster than
// workers start, because a program opens and closes it for each change. If no consistent
// copy can be made, it returns the failure.
func (p *SQLitePool) askCopy(ctx context.Context, o sqliteOrder, head func([]sqliteColumn), each func([]sqliteValue) error, failure error) (sqliteReport, error) {
	dir, err := os.MkdirTemp(p.dir, ".sqlite-")
	if err != nil {
		return sqliteReport{}, fmt.Errorf("making a folder for a copy: %w", err)
	}
	defer os.RemoveAll(dir)
	target := filepath.Join(dir, "copy.db")
	if !copyMoment(ctx, target, o.File) {
		return sqliteReport{}, failure
	}
	o.File = target
	if head == nil {
		head = func([]sqliteColumn) {}
	}
	report, _, err := p.askOnce(ctx, stateOf(target), o, head, each)
	p.dropIdle(target)
	return report, err
}

// dropIdle ends the idle workers of a file.
func (p *SQLitePool) dropIdle(path string) {
	p.mu.Lock()
	var gone []*sqliteProcess
	p.idle = slices.DeleteFunc(p.idle, func(w *sqliteProcess) bool {
		if w.path == path {
			gone = append(gone, w)
		}
		return w.path == path
	})
	p.mu.Unlock()
	for _, w := range gone {
		w.timer.Stop()
		w.stop()
	}
}

// sqliteAttempts is how often an order is tried while the file is being replaced.
const sqliteAttempts = 3

// isTransient says that an order may succeed when tried again: the files were being
// replaced, another program was changing them, or an idle worker had been killed.
func isTransient(err error, warm, moved bool) bool {
	if errors.Is(err, errSQLiteDied) {
		return warm || moved
	}
	e, ok := errors.AsType[*sqliteErr](err)
	return ok && (moved || e.Code == sqliteCodeChanged || e.primary() == sqlite3.SQLITE_READONLY || e.primary() == sqlite3.SQLITE_CANTOPEN)
}

// askOnce asks one worker; warm says that it was an idle one.
func (p *SQLitePool) askOnce(ctx context.Context, state sqliteState, o sqliteOrder, head func([]sqliteColumn), each func([]sqliteValue) error) (report sqliteReport, warm bool, err error) {
	if err := context.Cause(ctx); err != nil {
		return report, false, err
	}
	w, warm, err := p.acquire(o.File, state)
	if err != nil {
		return report, false, err
	}
	unhook := context.AfterFunc(ctx, w.kill)
	report, err = w.converse(o, head, each)
	_, said := errors.AsType[*sqliteErr](err)
	if unhook() && (err == nil || said) {
		p.release(w)
		return report, warm, err
	}
	w.stop()
	if stopped := context.Cause(ctx); stopped != nil && !said && err != nil && !errors.Is(err, errStopped) {
		err = stopped
	}
	return report, warm, err
}

func (w *sqliteProcess) converse(o sqliteOrder, head func([]sqliteColumn), each func([]sqliteValue) error) (report sqliteReport, err error) {
	if err := writeSQLiteJSON(w.in, sqliteAsk, o); err != nil {
		return report, fmt.Errorf("%w: %w", errSQLiteDied, err)
	}
	var row []sqliteValue
	received := int64(0)
	for {
		var kind byte
		kind, w.buf, err = readSQLite(w.read, w.buf)
		if errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) {
			w.kill()
			<-w.dead
			return report, fmt.Errorf("%w: %s", errSQLiteDied, w.cmd.ProcessState)
		}
		if err != nil {
			return report, fmt.Errorf("reading from a worker: %w", err)
		}
		switch kind {
		case sqliteHead:
			var columns []sqliteColumn
			if err = json.Unmarshal(w.buf, &columns); err == nil {
				row = make([]sqliteValue, len(columns))
				head(columns)
			}
		case sqliteRows:
			if received += int64(len(w.buf)); received > 12*o.MaxBytes+sqliteMaxFrame {
				err = errors.New("a worker sent more than it was told to")
			} else if each != nil {
				err = decodeSQLite(w.buf, row, each)
			}
		case sqliteDone:
			err = json.Unmarshal(w.buf, &report)
			return report, err
		case sqliteFailed:
			e := &sqliteErr{}
			if err := json.Unmarshal(w.buf, e); err != nil {
				return report, fmt.Errorf("reading from a worker: %w", err)
			}
			return report, e
		default:
			err = fmt.Errorf("a worker sent %q", kind)
		}
		if err != nil {
			return report, err
		}
	}
}
