package sandbox

import (
	"context"
	"errors"
	"runtime"
	"sync"

	"interlock/internal/fault"
)

// A wall is a way to start runners that cannot get out. probe finds out how to
// do it here, by starting one: it gives that one, the function that starts more,
// and what the wall amounts to.
type wall interface {
	probe(ctx context.Context) (*warmRunner, starter, Status, error)
}

// A starter starts one runner and waits until it is warm.
type starter func(ctx context.Context) (*warmRunner, error)

// executor is the one Executor: a wall, a pool of warm runners behind it, and a
// bound on how many jobs run at once.
type executor struct {
	// fixed at creation
	config  Config
	probe   func() // starts the first runner, once
	begun   chan struct{}
	cancel  context.CancelFunc
	settled chan struct{}   // closed when status is final
	closed  <-chan struct{} // closed by Close
	turns   chan struct{}   // full when no further job may run

	// written before settled is closed, fixed after it
	status Status
	pool   *pool
	err    error
}

func newExecutor(c Config, w wall) *executor {
	ctx, cancel := context.WithCancel(context.Background())
	e := &executor{
		config: c, cancel: cancel, settled: make(chan struct{}), closed: ctx.Done(),
		turns: make(chan struct{}, max(c.Pool, runtime.NumCPU())), begun: make(chan struct{}),
	}
	e.probe = sync.OnceFunc(func() {
		close(e.begun)
		go e.probeWall(ctx, w)
	})
	return e
}

func (e *executor) Warm() { e.probe() }

func (e *executor) probeWall(ctx context.Context, w wall) {
	defer close(e.settled)
	first, start, status, err := w.probe(ctx)
	status.Executor, status.State = e.config.Executor, "ready"
	switch {
	case err != nil:
		e.err = fault.Wrap(err, fault.PyUnavailable, "Python cannot run here: %v", err)
	case status.Level < max(e.config.MinLevel, LevelSyscalls):
		e.err = fault.New(fault.PyUnavailable, "Python can be isolated here only to the level %s, but the settings demand %s", status.Level, e.config.MinLevel)
	}
	if e.err != nil {
		if first != nil {
			first.terminate()
			<-first.gone
		}
		status.State, status.Level, status.Why = "unavailable", LevelNone, fault.From(e.err).Message
		e.status = status
		return
	}
	e.status = status
	e.pool = newPool(ctx, e.config, start, first)
}

func (e *executor) Run(ctx context.Context, job Job) (*Outcome, error) {
	e.probe()
	select {
	case <-e.settled:
	case <-ctx.Done():
		return &Outcome{}, fault.Wrap(ctx.Err(), fault.Stopped, "the Python job was stopped")
	}
	if e.err != nil {
		return &Outcome{}, e.err
	}
	p, err := prepareJob(ctx, e.config, job)
	if err != nil {
		return &Outcome{}, err
	}
	defer p.close()
	select {
	case e.turns <- struct{}{}:
		defer func() { <-e.turns }()
	case <-e.closed:
		return &Outcome{}, fault.Wrap(errClosed, fault.PyUnavailable, "the sandbox is closed")
	case <-ctx.Done():
		return &Outcome{}, fault.Wrap(ctx.Err(), fault.Stopped, "the Python job was stopped")
	}
	runner, err := e.pool.take(ctx)
	switch {
	case err != nil && ctx.Err() != nil:
		return &Outcome{}, fault.Wrap(ctx.Err(), fault.Stopped, "the Python job was stopped")
	case errors.Is(err, errClosed):
		return &Outcome{}, fault.Wrap(err, fault.PyUnavailable, "the sandbox is closed")
	case err != nil:
		return &Outcome{}, fault.Wrap(err, fault.PyUnavailable, "no Python interpreter could be started: %v", err)
	}
	defer e.pool.refill()
	return runner.runJob(ctx, p, e.config.OutputBytes)
}

func (e *executor) Status(ctx context.Context) Status {
	select {
	case <-e.begun:
	default:
		return Status{State: "idle", Executor: e.config.Executor}
	}
	select {
	case <-e.settled:
		return e.status
	case <-ctx.Done():
		return Status{State: "starting", Executor: e.config.Executor}
	}
}

func (e *executor) Close() error {
	select {
	case <-e.closed:
		return nil
	default:
	}
	e.cancel()
	e.probe() // ends at once where it had not begun
	<-e.settled
	if e.pool != nil {
		e.pool.close()
	}
	for range cap(e.turns) { // each running job gives its turn back
		e.turns <- struct{}{}
	}
	return nil
}
