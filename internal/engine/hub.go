package engine

import (
	"context"
	"errors"
	"sync"

	"interlock/internal/event"
)

// Bounds of a follower's queue, so that slow readers never slow a turn. Transient events
// beyond queueTransient are dropped. If stored events exceed one of the other bounds, the
// follower ends with ErrTooSlow and comes back with its last sequence number. Large values
// are queued as references; the follower loads their bytes.
const (
	queueTransient = 1024
	queueStored    = 16384
	queueBytes     = 8 << 20
)

// ErrTooSlow ends a follower that fell too far behind.
var ErrTooSlow = errors.New("the reader fell too far behind; resume from the last event")

// A hub passes the events of threads on to their followers.
type hub struct {
	mu      sync.Mutex
	threads map[string]*channel
}

// A channel holds the followers of one thread, and what its running calls have streamed.
type channel struct {
	readers map[*reader]bool
	seq     int64 // of the newest stored event that readers were sent or notified of
	live    live
}

// A reader is the queue of one follower. The hub fills it and the follower empties it.
type reader struct {
	mu      sync.Mutex
	queue   []event.Event
	bytes   int // estimated size of the queue
	tooSlow bool
	grown   bool // another process has stored events, which must be read from the store
	err     error
	wake    chan struct{}
}

func newHub() *hub { return &hub{threads: map[string]*channel{}} }

// subscribe adds a reader to a thread, and returns what its running calls have streamed so far.
func (h *hub) subscribe(thread string) (*reader, []event.Body) {
	h.mu.Lock()
	defer h.mu.Unlock()
	c := h.threads[thread]
	if c == nil {
		c = &channel{readers: map[*reader]bool{}}
		h.threads[thread] = c
	}
	r := &reader{wake: make(chan struct{}, 1)}
	c.readers[r] = true
	return r, c.live.bodies()
}

func (h *hub) unsubscribe(thread string, r *reader) {
	h.mu.Lock()
	defer h.mu.Unlock()
	c := h.threads[thread]
	delete(c.readers, r)
	h.forgetIfIdle(thread, c)
}

// forgetIfIdle drops a channel that nobody reads and in which nothing streams.
func (h *hub) forgetIfIdle(thread string, c *channel) {
	if len(c.readers) == 0 && len(c.live.pieces) == 0 {
		delete(h.threads, thread)
	}
}

// publish sends stored events of one thread to its readers. One that ends a call replaces
// what the call has streamed.
func (h *hub) publish(events []event.Event) {
	h.mu.Lock()
	defer h.mu.Unlock()
	c := h.threads[events[0].Thread]
	if c == nil {
		return
	}
	for _, e := range events {
		c.seq = max(c.seq, e.Seq)
		c.live.end(e.Body)
	}
	if len(c.readers) > 0 {
		referred := make([]event.Event, len(events))
		for i, e := range events {
			e.Body = event.WithoutBytes(e.Body)
			referred[i] = e
		}
		for r := range c.readers {
			r.push(referred...)
		}
	}
	h.forgetIfIdle(events[0].Thread, c)
}

// publishTransient sends an event that is never stored. It is kept until its call has ended,
// for followers that join meanwhile.
func (h *hub) publishTransient(e event.Event) {
	h.mu.Lock()
	defer h.mu.Unlock()
	c := h.threads[e.Thread]
	if c == nil {
		c = &channel{readers: map[*reader]bool{}}
		h.threads[e.Thread] = c
	}
	c.live.add(e.Body)
	for r := range c.readers {
		r.push(e)
	}
}

// endStream forgets what the calls of a turn were streaming when it ended or was interrupted.
func (h *hub) endStream(thread string) {
	h.mu.Lock()
	defer h.mu.Unlock()
	c := h.threads[thread]
	if c == nil {
		return
	}
	c.live = live{}
	h.forgetIfIdle(thread, c)
}

// failFollowers ends the followers of a thread whose turn could not be stored. When they
// come back they get the stored events.
func (h *hub) failFollowers(thread string, err error) {
	h.mu.Lock()
	defer h.mu.Unlock()
	c := h.threads[thread]
	if c == nil {
		return
	}
	c.live = live{}
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

// queuedBytes estimates the size of an event without its large values. Only texts have no
// small bound of their own.
func queuedBytes(e event.Event) int {
	const fields = 512
	switch b := e.Body.(type) {
	case event.Token:
		return fields + len(b.Text)
	case event.Thought:
		return fields + len(b.Text)
	case event.ModelReplied:
		return fields + len(b.Text) + len(b.Thoughts)
	case event.TurnStarted:
		return fields + len(b.Text)
	case event.TurnEnded:
		return fields + len(b.Text)
	}
	return fields
}

// waitForEvents waits until there are events. grown reports that the store has more.
func (r *reader) waitForEvents(ctx context.Context) (queue []event.Event, grown bool, err error) {
	for {
		r.mu.Lock()
		queue, grown, slow, err := r.queue, r.grown, r.tooSlow, r.err
		r.queue, r.bytes, r.grown = nil, 0, false
		r.mu.Unlock()
		switch {
		case slow:
			return nil, false, ErrTooSlow
		case len(queue) > 0 || grown:
			return queue, grown, nil
		case err != nil:
			return nil, false, err
		}
		select {
		case <-r.wake:
		case <-ctx.Done():
			return nil, false, ctx.Err()
		}
	}
}

// followedThreads returns the threads that have readers.
func (h *hub) followedThreads() map[string]bool {
	h.mu.Lock()
	defer h.mu.Unlock()
	out := make(map[string]bool, len(h.threads))
	for thread, c := range h.threads {
		if len(c.readers) > 0 {
			out[thread] = true
		}
	}
	return out
}

// knownSeq returns the sequence number of the newest event that the readers of a thread
// know of, and whether it has readers.
func (h *hub) knownSeq(thread string) (seq int64, followed bool) {
	h.mu.Lock()
	defer h.mu.Unlock()
	c := h.threads[thread]
	if c == nil || len(c.readers) == 0 {
		return 0, false
	}
	return c.seq, true
}

// notifyGrowth wakes the readers of a thread because the store has events up to seq.
func (h *hub) notifyGrowth(thread string, seq int64) {
	h.mu.Lock()
	defer h.mu.Unlock()
	c := h.threads[thread]
	if c == nil || c.seq >= seq {
		return
	}
	c.seq = seq
	for r := range c.readers {
		r.mu.Lock()
		r.grown = true
		r.mu.Unlock()
		select {
		case r.wake <- struct{}{}:
		default:
		}
	}
}
