package engine

import (
	"context"
	"strconv"

	"interlock/internal/event"
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

// currentInMemory returns the newest state of a thread, perhaps without its large values, and
// the number of its last event. It is nil if memory does not have it: while no turn of this
// process runs, the index tells whether the copy in memory is current.
func (e *Engine) currentInMemory(ctx context.Context, thread string) (*published, int64, error) {
	p, runs := e.publishedInMemory(thread)
	if runs {
		return p, p.f.Seq, nil
	}
	row, err := e.cfg.Store.Thread(ctx, thread)
	if err != nil {
		return nil, 0, notFound(err, thread)
	}
	if p != nil && p.f.Seq != row.Seq {
		p = nil
	}
	return p, row.Seq, nil
}

// loadPublished returns the newest state of a thread with its values. Concurrent callers
// share what is loaded. The caller must call release once.
func (e *Engine) loadPublished(ctx context.Context, thread string) (_ *published, release func(), err error) {
	p, seq, err := e.currentInMemory(ctx, thread)
	if err != nil {
		return nil, nil, err
	}
	if p != nil && !p.f.Slim {
		return p, func() {}, nil
	}
	return e.resolved.Get(ctx, thread+"@"+strconv.FormatInt(seq, 10), func() (*published, error) {
		if p == nil {
			return e.loadFromLog(ctx, thread)
		}
		f, err := p.f.withLargeValues(func(v event.Value) (event.Value, error) { return e.fetch(ctx, v) })
		if err != nil {
			return nil, err
		}
		return &published{p.m, f}, nil
	})
}

// loadFromLog reads a thread from its log and adds it to the cache.
func (e *Engine) loadFromLog(ctx context.Context, thread string) (*published, error) {
	f, err := e.loadFold(ctx, thread, nil)
	if err != nil {
		return nil, err
	}
	m, err := e.defs.get(ctx, f.Version)
	if err != nil {
		return nil, err
	}
	rests := newRestingFold(thread, f, m)
	e.mu.Lock()
	defer e.mu.Unlock()
	if e.running[thread] == nil {
		e.cache.add(rests)
	}
	return f.freeze(m), nil
}
