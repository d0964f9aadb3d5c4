package store

import (
	"context"
	"database/sql"
	"encoding/json"
	"errors"
	"fmt"
	"iter"

	"interlock/internal/event"
	"interlock/internal/fault"
)

// Events are read page by page, so that a slow consumer holds no connection and does not
// keep an old version of the file alive.
const (
	pageEvents = 512
	pageBytes  = 4 << 20
)

// Events yields the events of a thread after a sequence number, in order.
func (s *SQLite) Events(ctx context.Context, thread string, after int64) iter.Seq2[event.Event, error] {
	return func(yield func(event.Event, error) bool) {
		for first := true; ; first = false {
			page, more, err := s.readPage(ctx, thread, after)
			if err == nil && first && len(page) == 0 {
				_, err = s.Thread(ctx, thread)
			}
			for _, e := range page {
				if !yield(e, nil) {
					return
				}
				after = e.Seq
			}
			if err != nil {
				yield(event.Event{}, err)
				return
			}
			if !more {
				return
			}
		}
	}
}

// readPage reads a page of events and reports whether there may be more. On an error it
// returns the events before it.
func (s *SQLite) readPage(ctx context.Context, thread string, after int64) (page []event.Event, more bool, err error) {
	rows, err := s.readers.QueryContext(ctx, `SELECT seq, time, kind, body FROM events WHERE thread = ? AND seq > ? ORDER BY seq LIMIT ?`,
		thread, after, pageEvents)
	if err != nil {
		return nil, false, storeFault(err, s.path, "read")
	}
	defer rows.Close()
	size := 0
	for rows.Next() {
		var nanos int64
		var kind event.Kind
		var body sql.RawBytes
		e := event.Event{Thread: thread}
		if err := rows.Scan(&e.Seq, &nanos, &kind, &body); err != nil {
			return page, false, storeFault(err, s.path, "read")
		}
		e.Time = timeFromNanos(nanos)
		if e.Body, err = event.Decode(kind, json.RawMessage(body)); err != nil {
			return page, false, fault.Wrap(err, fault.StoreFailed, "cannot read event %d of thread %s in the log %s", e.Seq, thread, s.path)
		}
		page = append(page, e)
		if size += len(body); len(page) == pageEvents || size >= pageBytes {
			return page, true, nil
		}
	}
	if err := rows.Err(); err != nil {
		return page, false, storeFault(err, s.path, "read")
	}
	return page, false, nil
}

// Snapshot returns the newest snapshot of a thread.
func (s *SQLite) Snapshot(ctx context.Context, thread string) ([]byte, int64, error) {
	var seq int64
	var p packed
	err := s.readers.QueryRowContext(ctx, `SELECT seq, packed, bytes FROM snapshots WHERE thread = ?`, thread).Scan(&seq, &p.form, &p.bytes)
	if errors.Is(err, sql.ErrNoRows) {
		return nil, 0, nil
	}
	if err != nil {
		return nil, 0, storeFault(err, s.path, "read")
	}
	b, err := s.packer.unpack(p)
	if err != nil {
		return nil, 0, storeFault(err, s.path, "read")
	}
	return b, seq, nil
}

// Blob returns the bytes stored under a content hash.
func (s *SQLite) Blob(ctx context.Context, hash string) ([]byte, error) {
	p, err := s.loadPacked(ctx, hash)
	if err != nil {
		return nil, err
	}
	var b []byte
	if p.form == inChunks {
		b, err = s.joinChunks(ctx, p.bytes)
	} else {
		b, err = s.packer.unpack(p)
	}
	if err != nil {
		return nil, storeFault(err, s.path, "read")
	}
	return b, nil
}

func (s *SQLite) loadPacked(ctx context.Context, hash string) (packed, error) {
	var p packed
	err := s.readers.QueryRowContext(ctx, `SELECT packed, bytes FROM blobs WHERE hash = ?`, hash).Scan(&p.form, &p.bytes)
	if errors.Is(err, sql.ErrNoRows) {
		return p, fmt.Errorf("blob %s: %w", hash, ErrNotFound)
	}
	if err != nil {
		return p, storeFault(err, s.path, "read")
	}
	return p, nil
}
