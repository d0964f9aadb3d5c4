package engine

import (
	"context"
	"encoding/json"
	"errors"
	"iter"
	"strings"
	"sync"

	"interlock/internal/event"
	"interlock/internal/store"
)

// Bounds of a follower's queue: transient events beyond the first bound are
// dropped, stored ones beyond the others end the follower, who comes back with the
// last sequence number. Slow readers never slow a turn. Large values are queued as
// references: their bytes are fetched when the follower gets there.
const (
	queueTransient = 1024
	queueStored    = 16384
	queueBytes     = 8 << 20
)

// ErrTooSlow ends a follower that fell too far behind.
var ErrTooSlow = errors.New("the reader fell too far behind; resume from the last event")

// hub hands stored events to those who follow a thread.
type hub struct {
	mu      sync.Mutex
	threads map[string]*channel
}

// channel is the followers of one thread and the text in progress.
type channel struct {
	readers map[*reader]bool
	call    string
	said    strings.Builder // what the model has said so far in this call
}

// reader is one follower: a queue that the hub fills and the follower empties.
type reader struct {
	mu      sync.Mutex
	queue   []event.Event
	bytes   int // of the queued events, roughly
	tooSlow bool
	err     error
	wake    chan struct{}
}

func newHub() *hub { return &hub{threads: map[string]*channel{}} }

func (h *hub) subscribe(thread string) (*reader, *event.Token) {
	h.mu.Lock()
	defer h.mu.Unlock()
	c := h.threads[thread]
	if c == nil {
		c = &channel{readers: map[*reader]bool{}}
		h.threads[thread] = c
	}
	r := &reader{wake: make(chan struct{}, 1)}
	c.readers[r] = true
	if c.said.Len() > 0 {
		return r, &event.Token{Call: c.call, Text: c.said.String()}
	}
	return r, nil
}

func (h *hub) unsubscribe(thread string, r *reader) {
	h.mu.Lock()
	defer h.mu.Unlock()
	c := h.threads[thread]
	delete(c.readers, r)
	if len(c.readers) == 0 && c.said.Len() == 0 {
		delete(h.threads, thread)
	}
}

// publish shows stored events. A reply ends the text in progress.
func (h *hub) publish(events []event.Event) {
	h.mu.Lock()
	defer h.mu.Unlock()
	c := h.threads[events[0].Thread]
	if c == nil {
		return
	}
	for _, e := range events {
		switch e.Body.(type) {
		case event.ModelReplied, event.ModelFailed, event.TurnEnded:
			c.call = ""
			c.said.Reset()
		}
	}
	if len(c.readers) > 0 {
		referred := make([]event.Event, len(events))
		for i, e := range events {
			e.Body = event.Refer(e.Body)
			referred[i] = e
		}
		for r := range c.readers {
			r.push(referred...)
		}
	}
	if len(c.readers) == 0 && c.said.Len() == 0 {
		delete(h.threads, events[0].Thread)
	}
}

// transient shows an event that is never stored. Tokens are kept until their reply
// is stored, for those who join in the middle.
func (h *hub) transient(e event.Event) {
	h.mu.Lock()
	defer h.mu.Unlock()
	c := h.threads[e.Thread]
	if tok, ok := e.Body.(event.Token); ok {
		if c == nil {
			c = &channel{readers: map[*reader]bool{}}
			h.threads[e.Thread] = c
		}
		if c.call != tok.Call {
			c.call = tok.Call
			c.said.Reset()
		}
		c.said.WriteString(tok.Text)
	}
	if c == nil {
		return
	}
	for r := range c.readers {
		r.push(e)
	}
}

// fail ends the followers of a thread whose turn could not go on: they see what is
// stored when they come back.
func (h *hub) fail(thread string, err error) {
	h.mu.Lock()
	defer h.mu.Unlock()
	c := h.threads[thread]
	if c == nil {
		return
	}
	c.said.Reset()
	for r := range c.readers {
		r.mu.Lock()
		r.err = err
		r.mu.Unlock()
		select {
		case r.wake <- struct{}{}:
		default:
		}
	}
}

func (r *reader) push(events ...event.Event) {
	r.mu.Lock()
	defer r.mu.Unlock()
	for _, e := range events {
		switch {
		case r.tooSlow, e.Transient() && len(r.queue) >= queueTransient:
			continue
		case len(r.queue) >= queueStored, r.bytes+queuedBytes(e) > queueBytes && len(r.queue) > 0:
			r.tooSlow, r.queue, r.bytes = true, nil, 0
			continue
		}
		r.queue = append(r.queue, e)
		r.bytes += queuedBytes(e)
	}
	select {
	case r.wake <- struct{}{}:
	default:
	}
}

// queuedBytes is what an event without its large values holds, roughly: only texts
// have no bound of their own.
func queuedBytes(e event.Event) int {
	const fields = 512
	switch b := e.Body.(type) {
	case event.Token:
		return fields + len(b.Text)
	case event.ModelReplied:
		return fields + len(b.Text)
	case event.TurnStarted:
		return fields + len(b.Text)
	case event.TurnEnded:
		return fields + len(b.Text)
	}
	return fields
}

func (r *reader) take(ctx context.Context) ([]event.Event, error) {
	for {
		r.mu.Lock()
		queue, slow, err := r.queue, r.tooSlow, r.err
		r.queue, r.bytes = nil, 0
		r.mu.Unlock()
		switch {
		case slow:
			return nil, ErrTooSlow
		case len(queue) > 0:
			return queue, nil
		case err != nil:
			return nil, err
		}
		select {
		case <-r.wake:
		case <-ctx.Done():
			return nil, ctx.Err()
		}
	}
}

// Follow yields the thread's events after a sequence number: first those stored,
// then each as it happens, values resolved. Tokens come in between; of a text in
// progress a follower gets what was said so far, once. It ends when ctx does.
func (e *Engine) Follow(ctx context.Context, thread string, after int64) iter.Seq2[event.Event, error] {
	return func(yield func(event.Event, error) bool) {
		r, said := e.hub.subscribe(thread)
		defer e.hub.unsubscribe(thread, r)
		replied := map[string]bool{} // model calls whose whole reply has been yielded
		for ev, err := range e.cfg.Store.Events(ctx, thread, after) {
			if err != nil {
				yield(event.Event{}, err)
				return
			}
			if rep, ok := ev.Body.(event.ModelReplied); ok {
				replied[rep.Call] = true
			}
			after = ev.Seq
			if !e.show(ctx, ev, yield) {
				return
			}
		}
		if err := e.stallOf(thread); err != nil {
			yield(event.Event{}, err)
			return
		}
		if said != nil && !replied[said.Call] && !yield(event.Event{Thread: thread, Time: e.cfg.Now(), Body: *said}, nil) {
			return
		}
		for {
			queue, err := r.take(ctx)
			if err != nil {
				if !errors.Is(err, context.Canceled) {
					yield(event.Event{}, err)
				}
				return
			}
			for _, ev := range queue {
				if tok, ok := ev.Body.(event.Token); ok && replied[tok.Call] || ev.Seq > 0 && ev.Seq <= after {
					continue
				}
				if ev.Seq > 0 {
					after = ev.Seq
				}
				if !e.show(ctx, ev, yield) {
					return
				}
			}
		}
	}
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
