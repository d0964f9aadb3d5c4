package engine

import (
	"context"
	"encoding/json"
	"errors"
	"iter"

	"interlock/internal/event"
	"interlock/internal/store"
)

// Follow yields the thread's events after a sequence number: first those stored,
// then each as it happens, values resolved. Tokens come in between; of a text in
// progress a follower gets what was said so far, once. Of a turn that another process
// runs it gets the stored events. It ends when ctx does.
func (e *Engine) Follow(ctx context.Context, thread string, after int64) iter.Seq2[event.Event, error] {
	return func(yield func(event.Event, error) bool) {
		r, said := e.hub.subscribe(thread)
		defer e.hub.unsubscribe(thread, r)
		e.watchStore()
		f := follower{e: e, thread: thread, after: after, replied: map[string]bool{}, yield: yield}
		if !f.showStored(ctx) {
			return
		}
		if err := e.stallOf(thread); err != nil {
			yield(event.Event{}, err)
			return
		}
		if said != nil && !f.replied[said.Call] && !yield(event.Event{Thread: thread, Time: e.cfg.Now(), Body: *said}, nil) {
			return
		}
		for {
			queue, grown, err := r.take(ctx)
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

// A follower is how far one reader of a thread has come.
type follower struct {
	e       *Engine
	thread  string
	after   int64           // the last stored event that was yielded
	replied map[string]bool // model calls whose whole reply has been yielded
	yield   func(event.Event, error) bool
}

// showStored yields what is stored after the last event shown, and says whether the
// reader wants more.
func (f *follower) showStored(ctx context.Context) bool {
	for ev, err := range f.e.cfg.Store.Events(ctx, f.thread, f.after) {
		if err != nil {
			f.yield(event.Event{}, err)
			return false
		}
		if rep, ok := ev.Body.(event.ModelReplied); ok {
			f.replied[rep.Call] = true
		}
		f.after = ev.Seq
		if !f.e.show(ctx, ev, f.yield) {
			return false
		}
	}
	return true
}

// showQueue yields events as they happen, without those that were shown already. Where
// numbers are missing another process has stored them, and they are read from the store.
func (f *follower) showQueue(ctx context.Context, queue []event.Event) bool {
	for _, ev := range queue {
		if ev.Seq > f.after+1 && !f.showStored(ctx) {
			return false
		}
		if tok, ok := ev.Body.(event.Token); ok && f.replied[tok.Call] || ev.Seq > 0 && ev.Seq <= f.after {
			continue
		}
		if ev.Seq > 0 {
			f.after = ev.Seq
		}
		if !f.e.show(ctx, ev, f.yield) {
			return false
		}
	}
	return true
}

// watchStore has the store watched for events of other processes, while there are
// followers.
func (e *Engine) watchStore() {
	e.mu.Lock()
	defer e.mu.Unlock()
	if !e.watching && !e.closed {
		e.watching = true
		e.wg.Go(e.watch)
	}
}

func (e *Engine) watch() {
	for _, err := range e.cfg.Store.Watch(e.life) {
		if err != nil {
			if e.life.Err() == nil {
				e.cfg.Log.Warn("the store cannot be watched for other processes", "err", err)
			}
			break
		}
		if !e.lookForGrowth() {
			return
		}
	}
	e.mu.Lock()
	e.watching = false
	e.mu.Unlock()
}

// lookForGrowth tells followers of threads that other processes run what is new, and
// says whether there are followers at all.
func (e *Engine) lookForGrowth() bool {
	e.mu.Lock()
	followed := e.hub.followed()
	e.watching = len(followed) > 0
	for thread := range e.running {
		delete(followed, thread)
	}
	more := e.watching
	e.mu.Unlock()
	for thread, seq := range followed {
		if row, err := e.cfg.Store.Thread(e.life, thread); err == nil && row.Seq > seq {
			e.hub.grown(thread, row.Seq)
		}
	}
	return more
}

// show yields an event with its values resolved. Followers who are shown the same
// value at the same time share its bytes, until yield returns.
func (e *Engine) show(ctx context.Context, ev event.Event, yield func(event.Event, error) bool) bool {
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

// Events yields what is stored of a thread after a sequence number, values resolved.
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
