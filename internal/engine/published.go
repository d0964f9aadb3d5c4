package engine

import (
	"context"

	"interlock/internal/machine"
)

// A published thread is an immutable copy of its fold, made after a batch was stored.
// Readers use it while the turn goes on.
type published struct {
	m *machine.Machine
	f *fold
}

// freeze returns a copy of the fold for readers. It shares what apply never changes in
// place, and leaves out what only decisions need.
func (f *fold) freeze(m *machine.Machine) *published {
	effectiveSettings(m, f) // computed now, because the copy must not be written to
	c := *f
	c.Known, c.byIdentity, c.Results, c.Given = nil, nil, nil, nil
	if f.Turn != nil {
		t := *f.Turn
		t.Counts, t.sentMessages, t.firstMessage = nil, nil, nil
		c.Turn = &t
	}
	return &published{m, &c}
}

// publish makes the present fold visible to readers.
func (t *turn) publish() { t.latest.Store(t.f.freeze(t.r.m)) }

// publishedInMemory returns the published copy of a thread, nil if it is not in memory.
// If runs is true, a turn of this process runs in it and the copy is the newest state.
func (e *Engine) publishedInMemory(thread string) (p *published, runs bool) {
	e.mu.Lock()
	defer e.mu.Unlock()
	if t := e.running[thread]; t != nil {
		if p = t.latest.Load(); p != nil {
			return p, true
		}
	}
	return e.cache.peek(thread), false
}

// loadPublished returns the newest state of a thread. While a turn of this process runs it
// comes from memory; otherwise the index tells whether the copy in memory is current, and
// the log is read if it is not.
func (e *Engine) loadPublished(ctx context.Context, thread string) (*published, error) {
	p, runs := e.publishedInMemory(thread)
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
		e.cache.add(rests)
	}
	return p, nil
}
