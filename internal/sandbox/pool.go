package sandbox

import (
	"context"
	"errors"
	"log/slog"
	"sync"
	"time"
)

// idleTime is how long warm runners are kept after the last job; the next job
// then starts cold.
const idleTime = 10 * time.Minute

var errClosed = errors.New("the pool is closed")

// A pool keeps warm runners, each for one job.
type pool struct {
	// fixed at creation
	start starter
	size  int
	log   *slog.Logger
	ctx   context.Context // the pool's own lifetime: runners outlive the call that starts them
	stop  context.CancelFunc
	wake  chan struct{}
	done  chan struct{} // the keeper has ended

	mu     sync.Mutex
	idle   []*warmRunner
	all    map[*warmRunner]bool // every runner that may still live
	used   time.Time
	closed bool
}

// newPool begins with one runner at hand. It starts more when that one is taken: many a
// process never runs Python.
func newPool(ctx context.Context, c Config, start starter, first *warmRunner) *pool {
	ctx, stop := context.WithCancel(ctx)
	p := &pool{
		start: start, size: c.Pool, log: c.Log, ctx: ctx, stop: stop,
		wake: make(chan struct{}, 1), done: make(chan struct{}), all: map[*warmRunner]bool{}, used: time.Now(),
	}
	p.register(first)
	p.idle = []*warmRunner{first}
	go p.refillLoop()
	return p
}

// take returns a warm runner, or starts one where none is left. Unless it was the
// last, the caller asks for a refill only after its job, which then has the
// processor for itself.
func (p *pool) take(ctx context.Context) (*warmRunner, error) {
	p.mu.Lock()
	p.used = time.Now()
	for len(p.idle) > 0 {
		r := p.idle[0]
		p.idle = p.idle[1:]
		select {
		case <-r.gone: // died while it waited
			r.terminate()
			continue
		default:
		}
		last := len(p.idle) == 0
		p.mu.Unlock()
		if last {
			p.refill()
		}
		return r, nil
	}
	p.mu.Unlock()
	p.refill()
	return p.startRunner(ctx)
}

// startRunner starts a runner and adds it to the pool's list.
func (p *pool) startRunner(ctx context.Context) (*warmRunner, error) {
	if p.ctx.Err() != nil {
		return nil, errClosed
	}
	r, err := p.start(ctx)
	if err != nil {
		return nil, err
	}
	if !p.register(r) {
		r.terminate()
		<-r.gone
		return nil, errClosed
	}
	return r, nil
}

// register keeps a runner on the list until it is gone; false when the pool is
// closed.
func (p *pool) register(r *warmRunner) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.closed {
		return false
	}
	p.all[r] = true
	go func() {
		<-r.gone
		p.mu.Lock()
		defer p.mu.Unlock()
		delete(p.all, r)
	}()
	return true
}

func (p *pool) refill() {
	select {
	case p.wake <- struct{}{}:
	default:
	}
}

// refillLoop refills the pool, one runner at a time so that jobs keep a processor,
// and empties it when nobody has asked for long.
func (p *pool) refillLoop() {
	defer close(p.done)
	pause := time.Duration(0)
	timer := time.NewTimer(idleTime)
	defer timer.Stop()
	for {
		select {
		case <-p.ctx.Done():
			return
		case <-p.wake:
		case <-timer.C:
		}
		if p.ctx.Err() != nil {
			return
		}
		if p.releaseIdle() {
			timer.Reset(idleTime)
			continue
		}
		if !p.needsRunner() {
			timer.Reset(idleTime)
			continue
		}
		r, err := p.startRunner(p.ctx)
		if err != nil {
			if p.ctx.Err() != nil {
				return
			}
			pause = min(max(2*pause, 200*time.Millisecond), 10*time.Second)
			p.log.Warn("A Python interpreter could not be warmed up.", "err", err, "retry", pause)
			timer.Reset(pause)
			continue
		}
		pause = 0
		p.mu.Lock()
		p.idle = append(p.idle, r)
		p.mu.Unlock()
		timer.Reset(0)
	}
}

// releaseIdle lets idle runners go when the last job is long past.
func (p *pool) releaseIdle() bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	if time.Since(p.used) < idleTime {
		return false
	}
	for _, r := range p.idle {
		r.terminate()
	}
	p.idle = nil
	return true
}

// needsRunner reports whether a runner is missing; dead ones do not count.
func (p *pool) needsRunner() bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	alive := p.idle[:0]
	for _, r := range p.idle {
		select {
		case <-r.gone:
			r.terminate()
		default:
			alive = append(alive, r)
		}
	}
	p.idle = alive
	return len(p.idle) < p.size
}

// close kills every runner and waits until none is left.
func (p *pool) close() {
	p.stop()
	p.mu.Lock()
	p.closed = true
	for _, r := range p.idle {
		r.terminate()
	}
	p.idle = nil
	var left []*warmRunner
	for r := range p.all {
		left = append(left, r)
	}
	p.mu.Unlock()
	for _, r := range left {
		r.kill()
	}
	for _, r := range left {
		<-r.gone
	}
	<-p.done
}
