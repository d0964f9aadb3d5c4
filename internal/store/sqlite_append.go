package store

import (
	"context"
	"errors"
	"fmt"
	"time"

	"interlock/internal/event"
	"interlock/internal/fault"
)

// Append stores a batch atomically. A thread's owner, machine and time of creation
// are those of the batch that opened it.
func (s *SQLite) Append(ctx context.Context, b Batch) error {
	rows, err := encode(b)
	if err != nil {
		return err
	}
	blobs := s.packNew(b.Blobs)
	var snapshot packed
	if b.Snapshot != nil {
		snapshot = s.pack.pack(b.Snapshot)
	}

	w, err := s.take(ctx)
	if err != nil {
		return err
	}
	err = w.store(b, rows, blobs, snapshot)
	s.wrote(w, blobs)
	s.writer <- w
	if err != nil {
		return storeFault(err, s.path, "write")
	}
	s.remember(blobs)
	return nil
}

// take waits for the writing connection; the caller puts it back.
func (s *SQLite) take(ctx context.Context) (*writer, error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	select {
	case w := <-s.writer:
		if w == nil {
			s.writer <- nil
			return nil, fault.New(fault.StoreFailed, "the log %s is closed", s.path)
		}
		return w, nil
	case <-ctx.Done():
		return nil, ctx.Err()
	}
}

// A row is an event as it is stored.
type row struct {
	seq, time  int64
	kind, body string
}

// encode checks the order of the events and encodes their bodies.
func encode(b Batch) ([]row, error) {
	if b.Thread == "" {
		return nil, errors.New("storing a batch: it names no thread")
	}
	rows := make([]row, len(b.Events))
	for i, e := range b.Events {
		if want := b.After + int64(i) + 1; e.Seq != want {
			return nil, fmt.Errorf("storing a batch of thread %s: event %d has number %d, want %d", b.Thread, i, e.Seq, want)
		}
		if e.Thread != "" && e.Thread != b.Thread {
			return nil, fmt.Errorf("storing a batch of thread %s: event %d is one of thread %s", b.Thread, e.Seq, e.Thread)
		}
		if e.Body == nil {
			return nil, fmt.Errorf("storing a batch of thread %s: event %d has no body", b.Thread, e.Seq)
		}
		body, err := event.Marshal(e.Body)
		if err != nil {
			return nil, fmt.Errorf("encoding event %d (%s) of thread %s: %w", e.Seq, e.Body.Kind(), b.Thread, err)
		}
		rows[i] = row{e.Seq, nanos(e.Time), string(e.Body.Kind()), string(body)}
	}
	return rows, nil
}

func nanos(t time.Time) int64 {
	if t.IsZero() {
		return 0
	}
	return t.UnixNano()
}

func fromNanos(n int64) time.Time {
	if n == 0 {
		return time.Time{}
	}
	return time.Unix(0, n).UTC()
}
