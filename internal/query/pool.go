package query

import (
	"context"
	"errors"
	"fmt"
	"os"
	"slices"
	"strings"
	"sync"
	"time"

	"interlock/internal/fault"
)

// A version is a database file as it stands now: a file of the same name that was
// put in its place is another version.
type version struct {
	path     string
	attached string // the paths of further files, one a line
	stamps   string // sizes and times of all
}

func versionOf(db Database) (version, error) {
	v := version{path: db.Path, attached: strings.Join(db.Attached, "\n")}
	for _, path := range append([]string{db.Path}, db.Attached...) {
		info, err := os.Stat(path)
		if err != nil {
			return version{}, fault.Wrap(err, fault.SourceUnreadable, "The dataset's data is not there.").
				Suggest("Import the dataset again.")
		}
		v.stamps += fmt.Sprintf(":%d:%d", info.Size(), info.ModTime().UnixNano())
	}
	return v, nil
}

// files are the paths of further files.
func (v version) files() []string {
	if v.attached == "" {
		return nil
	}
	return strings.Split(v.attached, "\n")
}

func (v version) String() string { return v.path + "\n" + v.attached + v.stamps }

// A pool keeps workers warm: each has one database open and waits for the next
// statement about it.
type pool struct {
	start func(context.Context, version) (*process, error) // fixed at creation
	keep  int
	rest  time.Duration

	mu     sync.Mutex
	idle   []*resting // the one used last is last
	closed bool
}

type resting struct {
	process *process
	version version
	timer   *time.Timer
}

// acquireWorker gives an idle worker of the version, or a new one.
func (p *pool) acquireWorker(ctx context.Context, v version) (*process, error) {
	for {
		w, closed := p.takeIdle(v)
		if closed {
			return nil, fault.New(fault.Unavailable, "The query engine is shutting down.")
		}
		if w == nil {
			return p.start(ctx, v)
		}
		if w.alive() {
			return w, nil
		}
		w.stop()
	}
}

func (p *pool) takeIdle(v version) (*process, bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	for i := len(p.idle) - 1; i >= 0; i-- {
		if r := p.idle[i]; r.version == v {
			p.remove(i)
			return r.process, p.closed
		}
	}
	return nil, p.closed
}

func (p *pool) remove(i int) {
	p.idle[i].timer.Stop()
	p.idle = slices.Delete(p.idle, i, i+1)
}

// returnWorker takes a worker back; the one that has rested longest makes room.
func (p *pool) returnWorker(v version, w *process) {
	p.mu.Lock()
	if p.closed {
		p.mu.Unlock()
		w.stop()
		return
	}
	r := &resting{process: w, version: v}
	r.timer = time.AfterFunc(p.rest, func() { p.retire(r) })
	p.idle = append(p.idle, r)
	var old *process
	if len(p.idle) > p.keep {
		old = p.idle[0].process
		p.remove(0)
	}
	p.mu.Unlock()
	if old != nil {
		old.stop()
	}
}

func (p *pool) retire(r *resting) {
	p.mu.Lock()
	i := slices.Index(p.idle, r)
	if i >= 0 {
		p.remove(i)
	}
	p.mu.Unlock()
	if i >= 0 {
		r.process.stop()
	}
}

// forget ends the idle workers of a file, so that it can be deleted.
func (p *pool) forget(path string) {
	for _, r := range p.drain(func(r *resting) bool { return r.version.path == path || slices.Contains(r.version.files(), path) }) {
		r.process.stop()
	}
}

func (p *pool) close() {
	p.mu.Lock()
	p.closed = true
	p.mu.Unlock()
	for _, r := range p.drain(func(*resting) bool { return true }) {
		r.process.stop()
	}
}

func (p *pool) drain(which func(*resting) bool) (out []*resting) {
	p.mu.Lock()
	defer p.mu.Unlock()
	for i := len(p.idle) - 1; i >= 0; i-- {
		if r := p.idle[i]; which(r) {
			out = append(out, r)
			p.remove(i)
		}
	}
	return out
}

// isUnusable says whether a worker cannot be used again after this error.
func isUnusable(err error) bool {
	if _, refused := errors.AsType[*fault.Fault](err); err == nil || refused {
		return false
	}
	e, ok := errors.AsType[*engineErr](err)
	return !ok || e.Kind == "FATAL" || e.Kind == "INTERNAL" || e.Kind == "Internal"
}

// ranOutOfMemory says whether a worker ran out of memory: it still answers, but what that query left
// behind may make the next one fail.
func ranOutOfMemory(err error) bool {
	e, ok := errors.AsType[*engineErr](err)
	return ok && strings.EqualFold(e.Kind, "out of memory")
}
