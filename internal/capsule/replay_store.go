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

// A replayStore keeps the events of a replay in memory. Blobs that it does not have are
// read from the real store, to which it never writes.
type replayStore struct {
	store.Store

	past int           // number of events before the run
	want []event.Event // the recorded events of the run

	mu          sync.Mutex
	events      []event.Event
	blobs       map[string][]byte
	processDied bool // the process that was recorded died here: nothing of it is stored any more
}

func newReplayStore(real store.Store, past, want []event.Event) *replayStore {
	return &replayStore{Store: real, past: len(past), want: want, events: past[:len(past):len(past)], blobs: map[string][]byte{}}
}

// errProcessDied is returned if the replay stores more than the recorded process, which
// died at this event.
var errProcessDied = errors.New("the recorded process had died by then")

// storedCount returns how many events of the run are stored.
func (m *replayStore) storedCount() int {
	m.mu.Lock()
	defer m.mu.Unlock()
	return len(m.events) - m.past
}

// eventsFrom returns the stored events of the thread from index n on.
func (m *replayStore) eventsFrom(n int) []event.Event {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.events[n:]
}

// revive allows a new process to store events after the recorded one has died.
func (m *replayStore) revive() {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.processDied = false
}

func (m *replayStore) Append(_ context.Context, b store.Batch) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.processDied {
		return errProcessDied
	}
	if int64(len(m.events)) != b.After {
		return store.ErrConflict
	}
	for _, blob := range b.Blobs {
		m.blobs[blob.Hash] = blob.Bytes
	}
	for _, e := range b.Events {
		if m.diedHere() && e.Body.Kind() != event.KindTurnInterrupted { // the recorded process stored only a part of this batch
			m.processDied = true
			return errProcessDied
		}
		m.events = append(m.events, e)
	}
	m.processDied = len(m.events)-m.past > len(m.want) || m.diedHere()
	return nil
}

// diedHere reports whether the recorded process died after the events that are stored.
func (m *replayStore) diedHere() bool {
	n := len(m.events) - m.past
	return n < len(m.want) && m.want[n].Body.Kind() == event.KindTurnInterrupted
}

func (m *replayStore) Events(_ context.Context, _ string, after int64) iter.Seq2[event.Event, error] {
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

func (m *replayStore) Snapshot(context.Context, string) ([]byte, int64, error) { return nil, 0, nil }

func (m *replayStore) Blob(ctx context.Context, hash string) ([]byte, error) {
	m.mu.Lock()
	raw, ok := m.blobs[hash]
	m.mu.Unlock()
	if ok {
		return raw, nil
	}
	return m.Store.Blob(ctx, hash)
}

func (m *replayStore) Close() error { return nil }

// Nobody else uses the thread of a replay, so its leases are always free.

func (m *replayStore) Acquire(_ context.Context, thread, holder string, lasts time.Duration) (store.Lease, error) {
	return store.Lease{Thread: thread, Holder: holder, Until: time.Now().Add(lasts)}, nil
}

func (m *replayStore) Renew(context.Context, string, []string, time.Duration) ([]store.Lease, error) {
	return nil, nil
}
func (m *replayStore) Release(context.Context, store.Lease) error    { return nil }
func (m *replayStore) AskStop(context.Context, string) (bool, error) { return false, nil }

func (m *replayStore) Watch(context.Context) iter.Seq2[string, error] {
	return func(func(string, error) bool) {}
}
