package capsule

import (
	"context"
	"errors"
	"iter"
	"sync"
	"time"

	"interlock/internal/event"
	"interlock/internal/store"
)

// memory is a store for one thread that lives as long as a replay. What it does not
// have it reads from the real one, and it never writes there.
type memory struct {
	store.Store

	past int           // how many events came before the run
	want []event.Event // of the run, as it was recorded

	mu     sync.Mutex
	events []event.Event
	blobs  map[string][]byte
	dead   bool // the process that was recorded died here: nothing of it is stored any more
}

func newMemory(real store.Store, past, want []event.Event) *memory {
	return &memory{Store: real, past: len(past), want: want, events: past[:len(past):len(past)], blobs: map[string][]byte{}}
}

// errDead is what a process gets that would store more than the recorded one.
var errDead = errors.New("the recorded process had died by then")

// stored is how many events of the run are stored.
func (m *memory) stored() int {
	m.mu.Lock()
	defer m.mu.Unlock()
	return len(m.events) - m.past
}

// since gives the events from a place on.
func (m *memory) since(n int) []event.Event {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.events[n:]
}

// revive lets a new process store what comes next.
func (m *memory) revive() {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.dead = false
}

func (m *memory) Append(_ context.Context, b store.Batch) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.dead {
		return errDead
	}
	if int64(len(m.events)) != b.After {
		return store.ErrConflict
	}
	m.events = append(m.events, b.Events...)
	for _, blob := range b.Blobs {
		m.blobs[blob.Hash] = blob.Bytes
	}
	n := len(m.events) - m.past
	m.dead = n > len(m.want) || n < len(m.want) && m.want[n].Body.Kind() == event.KindTurnInterrupted
	return nil
}

func (m *memory) Events(_ context.Context, _ string, after int64) iter.Seq2[event.Event, error] {
	m.mu.Lock()
	events := m.events
	m.mu.Unlock()
	return func(yield func(event.Event, error) bool) {
		for _, e := range events {
			if e.Seq > after && !yield(e, nil) {
				return
			}
		}
	}
}

func (m *memory) Snapshot(context.Context, string) ([]byte, int64, error) { return nil, 0, nil }

func (m *memory) Blob(ctx context.Context, hash string) ([]byte, error) {
	m.mu.Lock()
	raw, ok := m.blobs[hash]
	m.mu.Unlock()
	if ok {
		return raw, nil
	}
	return m.Store.Blob(ctx, hash)
}

func (m *memory) Close() error { return nil }

// A replay is alone with its thread: its leases are its own.

func (m *memory) Acquire(_ context.Context, thread, holder string, lasts time.Duration) (store.Lease, error) {
	return store.Lease{Thread: thread, Holder: holder, Until: time.Now().Add(lasts)}, nil
}

func (m *memory) Renew(context.Context, string, time.Duration) ([]store.Lease, error) {
	return nil, nil
}
func (m *memory) Release(context.Context, store.Lease) error    { return nil }
func (m *memory) AskStop(context.Context, string) (bool, error) { return false, nil }

func (m *memory) Watch(context.Context) iter.Seq2[string, error] {
	return func(func(string, error) bool) {}
}
