package store

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"interlock/internal/event"
	"interlock/internal/fault"
)

// Append stores a batch atomically. A thread keeps the owner, machine and time of creation
// of the batch that created it.
func (s *SQLite) Append(ctx context.Context, b Batch) error {
	rows, err := encodeEvents(b)
	if err != nil {
		return err
	}
	done := actionsOf(ctx, b)
	var snapshot packed
	if b.Snapshot != nil {
		snapshot = s.packer.pack(b.Snapshot)
	}
	for {
		sweep := s.lastSweep()
		blobs := s.packNew(b.Blobs)
		w, err := s.takeWriter(ctx)
		if err != nil {
			return err
		}
		err = w.storeBatch(b, rows, blobs, snapshot, sweep, done)
		s.countPages(w, blobs)
		s.writer <- w
		if errors.Is(err, errNotInserted) {
			swept, err := s.forgetSwept(ctx, sweep)
			switch {
			case err != nil:
				return err
			case swept: // blobs that were known to be stored have been removed
				continue
			}
			return fencedFault(b)
		}
		if errors.Is(err, ErrConflict) && s.isFenced(ctx, b) {
			return fencedFault(b)
		}
		if err != nil {
			return storeFault(err, s.path, "write")
		}
		s.rememberBlobs(blobs, sweep)
		return nil
	}
}

// takeWriter waits for the writing connection. The caller must put it back.
func (s *SQLite) takeWriter(ctx context.Context) (*writer, error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	select {
	case w := <-s.writer:
		if w == nil {
			s.writer <- nil
			if s.readOnly {
				return nil, newReadOnly(s.path)
			}
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

// encodeEvents checks the order of the events and encodes their bodies.
func encodeEvents(b Batch) ([]row, error) {
	if b.Thread == "" {
		return nil, errors.New("storing a batch: it names no thread")
	}
	rows := make([]row, len(b.Events))
	ends := make([]int, len(b.Events))
	var bodies strings.Builder // of all events, one per line
	enc := event.NewEncoder(&bodies)
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
		if err := enc.Encode(e.Body); err != nil {
			return nil, fmt.Errorf("encoding event %d (%s) of thread %s: %w", e.Seq, e.Body.Kind(), b.Thread, err)
		}
		rows[i] = row{seq: e.Seq, time: nanos(e.Time), kind: string(e.Body.Kind())}
		ends[i] = bodies.Len()
	}
	for i, start := 0, 0; i < len(rows); i++ {
		rows[i].body = bodies.String()[start : ends[i]-1]
		start = ends[i]
	}
	return rows, nil
}

func nanos(t time.Time) int64 {
	if t.IsZero() {
		return 0
	}
	return t.UnixNano()
}

func timeFromNanos(n int64) time.Time {
	if n == 0 {
		return time.Time{}
	}
	return time.Unix(0, n).UTC()
}
