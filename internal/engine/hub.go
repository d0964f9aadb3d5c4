package engine

import (
	"context"
	"errors"
	"strings"
	"sync"

	"interlock/internal/event"
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
	seq     int64 // of the newest stored event that readers were shown or told of
	call    string
	said    strings.Builder // what the model has said so far in this call
}

// reader is one follower: a queue that the hub fills and the follower empties.
type reader struct {
	mu      sync.Mutex
	queue   []event.Event
	bytes   int // of the queued events, roughly
	tooSlow bool
	grown   bool // another process has stored events: they are to be read from the store
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
		c.seq = max(c.seq, e.Seq)
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

// take waits for events; grown says that there are more in the store.
func (r *reader) take(ctx context.Context) (queue []event.Event, grown bool, err error) {
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

// followed lists the threads that have readers, with the newest event of each that
// they know of.
func (h *hub) followed() map[string]int64 {
	h.mu.Lock()
	defer h.mu.Unlock()
	out := make(map[string]int64, len(h.threads))
	for thread, c := range h.threads {
		if len(c.readers) > 0 {
			out[thread] = c.seq
		}
	}
	return out
}

// grown tells the readers of a thread that the store has events up to a number.
func (h *hub) grown(thread string, seq int64) {
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
