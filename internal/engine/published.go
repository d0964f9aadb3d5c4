package engine

import (
	"context"

	"interlock/internal/machine"
)

// published is a thread as it was after a batch was stored. It never changes, so that
// anybody may read it while the turn goes on.
type published struct {
	m *machine.Machine
	f *fold
}

// freeze makes a copy of the fold for readers. It shares what apply never changes in
// place, and leaves out what only decisions need.
func (f *fold) freeze(m *machine.Machine) *published {
	settings(m, f) // worked out now: the copy must not be written to
	c := *f
	c.Known, c.byIdentity = nil, nil
	if f.Turn != nil {
		t := *f.Turn
		t.Counts, t.told, t.opening = nil, nil, nil
		c.Turn = &t
	}
	return &published{m, &c}
}

// publish shows readers the thread as it is stored now.
func (t *turn) publish() { t.published.Store(t.f.freeze(t.r.m)) }

// inMemory gives what is published of a thread, and whether a turn of this process runs
// in it: then it is the newest there is. nil if the thread is not in memory.
func (e *Engine) inMemory(thread string) (p *published, runs bool) {
	e.mu.Lock()
	defer e.mu.Unlock()
	if t := e.running[thread]; t != nil {
		if p = t.published.Load(); p != nil {
			return p, true
		}
	}
	return e.cache.look(thread), false
}

// current gives the thread as it is stored. While a turn of this process runs it comes
// from memory alone; otherwise its row in the index says whether memory is up to date,
// and the log is read where it is not.
func (e *Engine) current(ctx context.Context, thread string) (*published, error) {
	p, runs := e.inMemory(thread)
	if runs {
		return p, nil
	}
	if p != nil {
		row, err := e.cfg.Store.Thread(ctx, thread)
		if err != nil {
			return nil, notFound(err, thread)
		}
		if row.Seq == p.f.Seq {
			return p, nil
		}
	}
	f, err := e.loadFold(ctx, thread, nil)
	if err != nil {
		return nil, err
	}
	m, err := e.defs.get(ctx, f.Version)
	if err != nil {
		return nil, err
	}
	p = f.freeze(m)
	rests := newRestingFold(thread, f, m)
	e.mu.Lock()
	defer e.mu.Unlock()
	if e.running[thread] == nil {
		e.cache.keep(rests)
	}
	return p, nil
}
