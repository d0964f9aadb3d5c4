package store

import (
	"context"
	"crypto/sha256"
	"database/sql"
	"encoding/hex"
	"encoding/json"
	"errors"
	"maps"
	"strings"
	"time"

	"interlock/internal/event"
)

// A queryer is a database or a transaction.
type queryer interface {
	QueryContext(ctx context.Context, query string, args ...any) (*sql.Rows, error)
}

// Usage reads all events. What is stored meanwhile may be missing in it.
func (s *SQLite) Usage(ctx context.Context) (*Usage, error) {
	u := &Usage{Threads: map[string]*ThreadUsage{}, Blobs: map[string]int64{}, chunks: map[string][]string{}}
	if err := errors.Join(u.addThreads(ctx, s.readers), u.addBlobs(ctx, s.readers)); err != nil {
		return nil, storeFault(err, s.path, "read")
	}
	for _, t := range u.Threads {
		u.resolveBlobs(t)
	}
	return u, nil
}

// UpdateUsage reads the events that the usage does not know.
func (s *SQLite) UpdateUsage(ctx context.Context, u *Usage) error {
	if err := u.addThreads(ctx, s.readers); err != nil {
		return storeFault(err, s.path, "read")
	}
	if err := u.addNewBlobs(ctx, s.readers); err != nil {
		return storeFault(err, s.path, "read")
	}
	return nil
}

// addThreads adds the threads and events that the usage does not know yet, looks up again
// what may have changed of the others, and drops those that are gone.
func (u *Usage) addThreads(ctx context.Context, q queryer) error {
	rows, err := q.QueryContext(ctx, `SELECT `+threadColumns+`,
		(SELECT coalesce(max(length(bytes)), 0) FROM snapshots WHERE thread = heads.id),
		(SELECT coalesce(group_concat(run, ' '), '') FROM kept_runs WHERE thread = heads.id),
		EXISTS (SELECT 1 FROM leases WHERE thread = heads.id AND holder <> '' AND until >= ?)
		FROM heads`, nanos(time.Now()))
	if err != nil {
		return err
	}
	defer rows.Close()
	var all []*ThreadUsage
	for rows.Next() {
		t := &ThreadUsage{Blobs: map[string]struct{}{}, Artifacts: map[string]struct{}{}}
		var kept string
		var created, updated, snapshot int64
		if err := rows.Scan(&t.ID, &t.Owner, &t.Machine, &t.Version, &t.Title, &t.Dataset, &t.Status, &t.State, &t.Run, &t.Outcome, &t.Seq,
			&created, &updated, &snapshot, &kept, &t.Held); err != nil {
			return err
		}
		t.Created, t.Updated = timeFromNanos(created), timeFromNanos(updated)
		t.Bytes, t.Kept = snapshot, strings.Fields(kept)
		all = append(all, t)
	}
	if err := errors.Join(rows.Err(), rows.Close()); err != nil {
		return err
	}
	there := make(map[string]bool, len(all))
	for _, t := range all {
		there[t.ID] = true
	}
	maps.DeleteFunc(u.Threads, func(id string, _ *ThreadUsage) bool { return !there[id] })
	for _, t := range all {
		known := u.Threads[t.ID]
		if known == nil {
			known = &ThreadUsage{Thread: Thread{ID: t.ID}, Blobs: map[string]struct{}{}, Artifacts: map[string]struct{}{}}
			u.Threads[t.ID] = known
		}
		after := known.Seq
		known.Thread, known.Held, known.Kept = t.Thread, t.Held, t.Kept
		known.Bytes += t.Bytes - known.snapshot
		known.snapshot = t.Bytes
		if t.Seq == after {
			continue
		}
		if err := u.addEvents(ctx, q, known, after); err != nil {
			return err
		}
	}
	return nil
}

// addEvents adds what the events of a thread after a number refer to. Whatever looks like
// the hash of a blob or the id of an artifact counts: too much is kept rather than too little.
func (u *Usage) addEvents(ctx context.Context, q queryer, t *ThreadUsage, after int64) error {
	rows, err := q.QueryContext(ctx, `SELECT seq, kind, body FROM events WHERE thread = ? AND seq > ? ORDER BY seq`, t.ID, after)
	if err != nil {
		return err
	}
	defer rows.Close()
	for rows.Next() {
		var kind event.Kind
		var body sql.RawBytes
		if err := rows.Scan(&t.Seq, &kind, &body); err != nil {
			return err
		}
		t.Bytes += int64(len(body))
		text := string(body)
		switch kind {
		case event.KindThreadOpened:
			var opened event.ThreadOpened
			if err := json.Unmarshal(body, &opened); err != nil {
				return err
			}
			if opened.Parent != nil {
				t.Parent = opened.Parent.Thread
			}
		case event.KindArtifactsRemoved:
			for _, id := range findHexWords(text, artifactPrefix, artifactDigits) {
				delete(t.Artifacts, id)
			}
			continue
		}
		for _, hash := range findHexWords(text, "", 2*sha256.Size) {
			t.Blobs[hash] = struct{}{}
		}
		for _, id := range findHexWords(text, artifactPrefix, artifactDigits) {
			t.Artifacts[id] = struct{}{}
		}
	}
	return rows.Err()
}

// The ids of artifacts, as package artifact makes them.
const (
	artifactPrefix = "art_"
	artifactDigits = 40
)

// findHexWords returns the words of a text that are a prefix and exactly n digits of
// lower-case hexadecimal.
func findHexWords(text, prefix string, n int) []string {
	var out []string
	for i := 0; i < len(text); {
		if !isHexDigit(text[i]) {
			i++
			continue
		}
		start := i
		for i < len(text) && isHexDigit(text[i]) {
			i++
		}
		if i-start == n && strings.HasSuffix(text[:start], prefix) {
			out = append(out, text[start-len(prefix):i])
		}
	}
	return out
}

func isHexDigit(c byte) bool { return '0' <= c && c <= '9' || 'a' <= c && c <= 'f' }

// addBlobs adds the sizes of all blobs, and the chunks of the large ones.
func (u *Usage) addBlobs(ctx context.Context, q queryer) error { return u.scanBlobs(ctx, q, "") }

// addNewBlobs adds the blobs to which threads refer since the usage was taken.
func (u *Usage) addNewBlobs(ctx context.Context, q queryer) error {
	for _, t := range u.Threads {
		for hash := range t.Blobs {
			if _, known := u.Blobs[hash]; known {
				continue
			}
			if err := u.scanBlobs(ctx, q, " WHERE hash = ?", hash); err != nil {
				return err
			}
			for _, chunk := range u.chunks[hash] {
				if err := u.scanBlobs(ctx, q, " WHERE hash = ?", chunk); err != nil {
					return err
				}
			}
		}
		u.resolveBlobs(t)
	}
	return nil
}

func (u *Usage) scanBlobs(ctx context.Context, q queryer, where string, args ...any) error {
	rows, err := q.QueryContext(ctx, `SELECT hash, length(bytes), CASE packed WHEN ? THEN bytes END FROM blobs`+where, append([]any{inChunks}, args...)...)
	if err != nil {
		return err
	}
	defer rows.Close()
	for rows.Next() {
		var hash string
		var size int64
		var list []byte
		if err := rows.Scan(&hash, &size, &list); err != nil {
			return err
		}
		u.Blobs[hash] = size
		for ; len(list) >= sha256.Size; list = list[sha256.Size:] {
			u.chunks[hash] = append(u.chunks[hash], hex.EncodeToString(list[:sha256.Size]))
		}
	}
	return rows.Err()
}

// resolveBlobs leaves the hashes of blobs that are stored, and adds their chunks.
func (u *Usage) resolveBlobs(t *ThreadUsage) {
	var chunks []string // added at the end: a range over a map may or may not visit what is added to it
	for hash := range t.Blobs {
		if _, stored := u.Blobs[hash]; !stored {
			delete(t.Blobs, hash)
			continue
		}
		chunks = append(chunks, u.chunks[hash]...)
	}
	for _, chunk := range chunks {
		t.Blobs[chunk] = struct{}{}
	}
}
