package engine

import (
	"context"
	"encoding/json"
	"errors"
	"iter"
	"time"

	"interlock/internal/event"
	"interlock/internal/store"
)

// Follow yields the events of a thread after a sequence number, with their values
// resolved: first the stored ones, then each new one as it happens. Text of models and output
// of tools come in between; a follower that joins while they stream first gets what there is so far.
// If another process runs the turn, only stored events are yielded. Follow ends with ctx, or
// with an error when the thread is deleted.
func (e *Engine) Follow(ctx context.Context, thread string, after int64) iter.Seq2[event.Event, error] {
	return func(yield func(event.Event, error) bool) {
		r, streamed := e.hub.subscribe(thread)
		defer e.hub.unsubscribe(thread, r)
		e.watchStore()
		f := follower{e: e, thread: thread, after: after, ended: map[string]bool{}, yield: yield}
		if !f.showStored(ctx) {
			return
		}
		if err := e.stalledError(thread); err != nil {
			yield(event.Event{}, err)
			return
		}
		for _, body := range streamed {
			if !f.ended[streamingCall(body)] && !yield(event.Event{Thread: thread, Time: e.cfg.Now(), Body: body}, nil) {
				return
			}
		}
		for {
			queue, grown, err := r.waitForEvents(ctx)
			if err != nil {
				if !errors.Is(err, context.Canceled) {
					yield(event.Event{}, err)
				}
				return
			}
			if grown && !f.showStored(ctx) || !f.showQueue(ctx, queue) {
				return
			}
		}
	}
}

// A follower tracks which events of a thread one call of Follow has yielded.
type follower struct {
	e      *Engine
	thread string
	after  int64           // the last stored event that was yielded
	ended  map[string]bool // calls of models and tools whose end has been yielded
	yield  func(event.Event, error) bool
}

// showStored yields the stored events after the last yielded one, and reports whether the
// caller of Follow wants more.
func (f *follower) showStored(ctx context.Context) bool {
	for ev, err := range f.e.cfg.Store.Events(ctx, f.thread, f.after) {
		if err != nil {
			f.yield(event.Event{}, err)
			return false
		}
		if call := endedCall(ev.Body); call != "" {
			f.ended[call] = true
		}
		f.after = ev.Seq
		if !f.e.yieldResolved(ctx, ev, f.yield) {
			return false
		}
	}
	return true
}

// showQueue yields new events, without those that were yielded already. If sequence
// numbers are missing, another process has stored those events, and they are read from
// the store.
func (f *follower) showQueue(ctx context.Context, queue []event.Event) bool {
	for _, ev := range queue {
		if ev.Seq > f.after+1 && !f.showStored(ctx) {
			return false
		}
		if ev.Transient() && f.ended[streamingCall(ev.Body)] || ev.Seq > 0 && ev.Seq <= f.after {
			continue
		}
		if ev.Seq > 0 {
			f.after = ev.Seq
		}
		if !f.e.yieldResolved(ctx, ev, f.yield) {
			return false
		}
	}
	return true
}

// watchStore starts the goroutine that watches the store for events of other processes,
// unless it runs already.
func (e *Engine) watchStore() {
	e.mu.Lock()
	defer e.mu.Unlock()
	if !e.watching && !e.closed {
		e.watching = true
		e.wg.Go(e.watchForGrowth)
	}
}

// A store that cannot be watched is tried again after rewatch, then after twice as long,
// up to rewatchMost.
const (
	rewatch     = 100 * time.Millisecond
	rewatchMost = 10 * time.Second
)

// watchForGrowth notifies followers of stored events until there are no followers. It goes
// on after errors of the store; a new watch begins with all that was missed.
func (e *Engine) watchForGrowth() {
	wait := rewatch
	for {
		for _, err := range e.cfg.Store.Watch(e.ctx) {
			if err == nil {
				var more bool
				if more, err = e.notifyFollowers(); !more {
					return
				}
			}
			if err != nil {
				if e.ctx.Err() == nil {
					e.cfg.Log.Warn("the store cannot be watched for other processes; it is tried again", "in", wait, "err", err)
				}
				break
			}
			wait = rewatch
		}
		select {
		case <-time.After(wait):
		case <-e.ctx.Done():
			return
		}
		wait = min(2*wait, rewatchMost)
		if more, _ := e.notifyFollowers(); !more {
			return
		}
	}
}

// notifyFollowers wakes the followers of threads to which other processes have added
// events, and reports whether there are any followers.
func (e *Engine) notifyFollowers() (more bool, err error) {
	e.mu.Lock()
	followed := e.hub.followedThreads()
	e.watching = len(followed) > 0
	for thread := range e.running {
		delete(followed, thread)
	}
	more = e.watching
	e.mu.Unlock()
	for thread := range followed {
		err = errors.Join(err, e.notifyFollowersOf(thread))
	}
	return more, err
}

// notifyFollowersOf wakes the followers of a thread if the store has events that they do
// not know of.
func (e *Engine) notifyFollowersOf(thread string) error {
	seq, followed := e.hub.knownSeq(thread)
	if !followed {
		return nil
	}
	row, err := e.cfg.Store.Thread(e.ctx, thread)
	switch {
	case errors.Is(err, store.ErrNotFound):
		e.ThreadRemoved(thread)
		return nil
	case err == nil && row.Seq > seq:
		e.hub.notifyGrowth(thread, row.Seq)
	}
	return err
}

// yieldResolved yields an event with its values resolved. Followers that get the same
// value at the same time share its bytes until yield returns.
func (e *Engine) yieldResolved(ctx context.Context, ev event.Event, yield func(event.Event, error) bool) bool {
	var releases []func()
	defer func() {
		for _, release := range releases {
			release()
		}
	}()
	var err error
	ev.Body, err = event.Resolve(ev.Body, func(hash string) (json.RawMessage, error) {
		raw, release, err := e.blobs.Get(ctx, hash, func() (json.RawMessage, error) { return e.cfg.Store.Blob(ctx, hash) })
		if err == nil {
			releases = append(releases, release)
		}
		return raw, err
	})
	if err != nil {
		yield(event.Event{}, err)
		return false
	}
	return yield(ev, nil)
}

// Events yields the stored events of a thread after a sequence number, with their values
// resolved.
func (e *Engine) Events(ctx context.Context, thread string, after int64) iter.Seq2[event.Event, error] {
	return Resolved(ctx, e.cfg.Store, thread, after)
}

// Resolved yields the stored events of a thread with their values resolved.
func Resolved(ctx context.Context, log store.Log, thread string, after int64) iter.Seq2[event.Event, error] {
	return func(yield func(event.Event, error) bool) {
		for ev, err := range log.Events(ctx, thread, after) {
			if err == nil {
				ev.Body, err = event.Resolve(ev.Body, func(hash string) (json.RawMessage, error) { return log.Blob(ctx, hash) })
			}
			if !yield(ev, err) || err != nil {
				return
			}
		}
	}
}
