package engine

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"sync"

	"interlock/internal/event"
	"interlock/internal/fault"
	"interlock/internal/machine"
	"interlock/internal/store"
	"interlock/internal/tool"
)

// A purpose is what a thread is claimed for.
type purpose int

const (
	toRun    purpose = iota // a turn
	toChange                // a few events without a turn, which MaxRunning does not count
)

// runningTurns counts the threads that are claimed for a turn. The caller holds e.mu.
func (e *Engine) runningTurns() (n int) {
	for _, t := range e.running {
		if t.purpose == toRun {
			n++
		}
	}
	return n
}

// claimThread makes the caller the only owner of a thread in this process, or returns an
// error that says that the thread is busy.
func (e *Engine) claimThread(thread string, why purpose) (*turn, error) {
	e.mu.Lock()
	defer e.mu.Unlock()
	switch {
	case e.closed:
		return nil, errClosed
	case e.running[thread] != nil:
		return nil, fault.New(fault.ThreadBusy, "a turn is running in the thread %s", thread)
	case why == toRun && e.runningTurns() >= e.cfg.MaxRunning:
		return nil, fault.New(fault.TooMany, "%d turns are running, as many as may", e.cfg.MaxRunning)
	}
	t := &turn{e: e, purpose: why, done: make(chan struct{})}
	t.ctx, t.cancel = context.WithCancel(e.ctx)
	e.running[thread] = t
	e.wg.Add(1) // until releaseThread, so that Close waits for whoever is about to launch the turn
	return t, nil
}

// waitForRest waits until a turn that stores its last batch has released its thread, so
// that a caller that saw the turn end can send the next message at once.
func (e *Engine) waitForRest(ctx context.Context, thread string) error {
	e.mu.Lock()
	t := e.running[thread]
	e.mu.Unlock()
	if t == nil || !t.resting.Load() {
		return nil
	}
	select {
	case <-t.done:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

// releaseThread ends the ownership of a thread. A fold that equals the log is cached for
// the next turn; one that is ahead of the log is dropped.
func (e *Engine) releaseThread(thread string, t *turn) {
	defer e.wg.Done()
	defer e.showGrowth(thread)
	t.releaseLease()
	e.hub.endStream(thread)
	stored := t.f != nil && t.latest.Load() != nil && len(t.pending) == 0
	var rests restingFold
	if stored {
		rests = newRestingFold(thread, t.f, t.r.m)
	}
	e.mu.Lock()
	defer e.mu.Unlock()
	t.cancel()
	delete(e.running, thread)
	if stored {
		if !t.f.active() {
			delete(e.stalled, thread)
		}
		e.cache.add(rests)
	} else {
		e.cache.remove(thread)
	}
	close(t.done)
}

// showGrowth wakes the followers of a thread that this process owned until now: meanwhile
// it did not look for events of others.
func (e *Engine) showGrowth(thread string) {
	if err := e.notifyFollowersOf(thread); err != nil && e.ctx.Err() == nil {
		e.cfg.Log.Warn("followers see what other processes stored with the next change only", "thread", thread, "err", err)
	}
}

// loadThread loads the fold and the definition of a thread into the turn.
func (t *turn) loadThread(ctx context.Context, thread string) error {
	t.e.mu.Lock()
	f := t.e.cache.take(thread)
	t.e.mu.Unlock()
	f, err := t.e.loadFold(ctx, thread, f)
	if err != nil {
		return err
	}
	m, err := t.e.defs.get(ctx, f.Version)
	if err != nil {
		return err
	}
	t.setFold(f, m)
	if err := t.preparePastResults(); err != nil {
		return err
	}
	t.publish()
	return nil
}

func (t *turn) setFold(f *fold, m *machine.Machine) {
	t.f, t.r = f, t.e.newRules(m, f)
}

// loadFold returns the state of a thread. It begins with f, or with the newest snapshot if
// f is nil, and adds the events that were stored after it.
func (e *Engine) loadFold(ctx context.Context, thread string, f *fold) (*fold, error) {
	if f != nil && f.Slim {
		whole, err := f.withLargeValues(func(v event.Value) (event.Value, error) { return e.fetch(ctx, v) })
		if err != nil {
			return nil, err
		}
		f = whole
	}
	if f == nil {
		var err error
		if f, err = e.loadSnapshot(ctx, thread); err != nil {
			return nil, err
		}
	}
	for ev, err := range Resolved(ctx, e.cfg.Store, thread, f.Seq) {
		if err != nil {
			return nil, notFound(err, thread)
		}
		f.apply(ev)
	}
	return f, nil
}

// loadSnapshot returns the newest snapshot of a thread. A snapshot is only a shortcut: where
// there is none, or none that can be used, the fold is empty and the log has all events.
func (e *Engine) loadSnapshot(ctx context.Context, thread string) (*fold, error) {
	raw, seq, err := e.cfg.Store.Snapshot(ctx, thread)
	if err == nil && raw == nil {
		return newFold(thread), nil
	}
	var f *fold
	if err == nil {
		f, err = restoreSnapshot(raw, func(v event.Value) (event.Value, error) { return e.fetch(ctx, v) })
	}
	if err == nil && (f.Thread != thread || f.Seq != seq) {
		err = fmt.Errorf("it is of event %d of the thread %q", f.Seq, f.Thread)
	}
	switch {
	case ctx.Err() != nil:
		return nil, ctx.Err()
	case err != nil:
		e.cfg.Log.Warn("the snapshot cannot be used; the thread is read from its first event", "thread", thread, "err", err)
		return newFold(thread), nil
	}
	return f, nil
}

func notFound(err error, thread string) error {
	if errors.Is(err, store.ErrNotFound) {
		return fault.Wrap(err, fault.ThreadNotFound, "there is no thread %q", thread)
	}
	return err
}

// threadRow returns the thread's row of the index.
func (r *rules) threadRow() store.Thread {
	m, f := r.m, r.f
	h := store.Thread{
		ID: f.Thread, Owner: f.Owner, Machine: f.Machine, Version: f.Version, Title: f.Title, Dataset: f.Dataset,
		Status: f.Status, State: f.State, Seq: f.Seq, Created: f.Created, Updated: f.used(),
	}
	if f.Turn != nil {
		h.Run = f.Turn.Run
	}
	if st := m.State(f.State); st != nil && st.Complete != nil && h.Status == store.Idle && m.Holds(st.Complete, r.readScope()) {
		h.Status = store.Complete
	}
	return h
}

// runRow returns the row of the index of the present run.
func runRow(f *fold) *store.Run {
	t := f.Turn
	if t == nil {
		return nil
	}
	r := &store.Run{
		ID: t.Run, Thread: f.Thread, Owner: f.Owner, Machine: f.Machine, Dataset: t.Dataset, Question: t.Text, Status: f.Status,
		First: t.First, Started: t.Started, MicroUSD: t.Used.MicroUSD, Tokens: t.Used.Input + t.Used.Output,
	}
	if t.Ended != "" {
		r.Status, r.Last, r.Ended = string(t.Ended), t.Last, f.Now
	}
	return r
}

// definitions holds machines by hash. A thread uses the version that it began with,
// whatever the folder of machines holds today.
type definitions struct {
	store  store.Log
	mu     sync.Mutex
	byHash map[string]*machine.Machine
}

func newDefinitions(s store.Log) *definitions {
	return &definitions{store: s, byHash: map[string]*machine.Machine{}}
}

// add adds a machine and returns the blob that stores it.
func (d *definitions) add(m *machine.Machine) store.Blob {
	d.mu.Lock()
	d.byHash[m.Hash] = m
	d.mu.Unlock()
	return store.Blob{Hash: m.Hash, Bytes: mustJSON(m.Files)}
}

func (d *definitions) get(ctx context.Context, hash string) (*machine.Machine, error) {
	d.mu.Lock()
	m := d.byHash[hash]
	d.mu.Unlock()
	if m != nil {
		return m, nil
	}
	m, err := LoadDefinition(ctx, d.store, hash)
	if err != nil {
		return nil, err
	}
	d.add(m)
	return m, nil
}

// LoadDefinition loads the definition of a hash that a thread has or had.
func LoadDefinition(ctx context.Context, s store.Log, hash string) (*machine.Machine, error) {
	raw, err := s.Blob(ctx, hash)
	if err != nil {
		return nil, fault.Wrap(err, fault.MachineNotFound, "the definition %.12s of this thread is not stored", hash)
	}
	var files map[string]string
	if err := json.Unmarshal(raw, &files); err != nil {
		return nil, fault.Wrap(err, fault.MachineInvalid, "the stored definition %.12s cannot be read", hash)
	}
	m, err := machine.Parse(files)
	if err != nil {
		return nil, fault.Wrap(err, fault.MachineInvalid, "the stored definition %.12s does not load any more", hash)
	}
	m.Hash = hash
	return m, nil
}

// Tools returns the tools of the engine.
func (e *Engine) Tools() *tool.Set { return e.cfg.Tools }
