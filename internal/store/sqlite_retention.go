package store

import (
	"cmp"
	"context"
	"database/sql"
	"slices"
	"time"

	"interlock/internal/fault"
)

// KeepRun marks a run, or takes its mark away.
func (s *SQLite) KeepRun(ctx context.Context, run string, keep bool) error {
	row, err := s.Run(ctx, run)
	if err != nil {
		return err
	}
	return s.writeTx(ctx, func(tx *sql.Tx) error {
		if !keep {
			_, err := tx.ExecContext(ctx, `DELETE FROM kept_runs WHERE run = ?`, run)
			return err
		}
		r, err := tx.ExecContext(ctx, `INSERT INTO kept_runs (run, thread, time) SELECT id, thread, ? FROM runs WHERE id = ? ON CONFLICT DO NOTHING`, nanos(time.Now()), run)
		if err != nil {
			return err
		}
		if n, err := r.RowsAffected(); n > 0 || err != nil {
			return err
		}
		var kept int
		if err := tx.QueryRowContext(ctx, `SELECT count(*) FROM kept_runs WHERE run = ?`, run).Scan(&kept); err != nil || kept > 0 {
			return err
		}
		return fault.Wrap(ErrNotFound, fault.RunNotFound, "the run %q of the thread %s has just been removed", run, row.Thread)
	})
}

// removeAtOnce bounds how many threads one transaction removes, so that nobody has to wait
// long for it.
const removeAtOnce = 20

// RemoveThreads removes threads in small transactions. Each looks first at what was stored
// since the usage was taken.
func (s *SQLite) RemoveThreads(ctx context.Context, u *Usage, threads []string) (Removal, error) {
	seqs := map[string]int64{}
	for id, t := range u.Threads {
		seqs[id] = t.Seq
	}
	var done Removal
	for group := range slices.Chunk(u.forksFirst(threads), removeAtOnce) {
		var removed Removal
		err := s.writeTx(ctx, func(tx *sql.Tx) error {
			if err := u.addThreads(ctx, tx); err != nil {
				return err
			}
			if err := u.addNewBlobs(ctx, tx); err != nil {
				return err
			}
			var err error
			removed, err = u.removeGroup(ctx, tx, group, seqs)
			return err
		})
		if err != nil {
			return done, storeFault(err, s.path, "remove threads from")
		}
		u.forget(removed.Threads)
		done.Threads = append(done.Threads, removed.Threads...)
		done.Bytes += removed.Bytes
	}
	return done, nil
}

// forget drops threads that are removed, and the blobs that only they needed.
func (u *Usage) forget(threads []string) {
	gone := map[string]bool{}
	for _, id := range threads {
		gone[id] = true
	}
	for _, hash := range u.UnusedBlobs(gone) {
		delete(u.Blobs, hash)
		delete(u.chunks, hash)
	}
	for _, id := range threads {
		delete(u.Threads, id)
	}
}

// removeGroup removes those threads of a group that may be removed, and the blobs that only
// they need.
func (u *Usage) removeGroup(ctx context.Context, tx *sql.Tx, group []string, seqs map[string]int64) (Removal, error) {
	var out Removal
	gone := map[string]bool{}
	for _, id := range group {
		t := u.Threads[id]
		if t == nil || t.Seq != seqs[id] || t.Held || t.Status == Running || len(t.Kept) > 0 || u.hasFork(id, gone) {
			continue
		}
		for _, query := range []string{
			`DELETE FROM events WHERE thread = ?`, `DELETE FROM snapshots WHERE thread = ?`, `DELETE FROM runs WHERE thread = ?`,
			`DELETE FROM leases WHERE thread = ?`, `DELETE FROM sayings WHERE thread = ?`, `DELETE FROM threads WHERE id = ?`,
		} {
			if _, err := tx.ExecContext(ctx, query, id); err != nil {
				return out, err
			}
		}
		gone[id] = true
		out.Threads = append(out.Threads, id)
		out.Bytes += t.Bytes
	}
	if len(gone) == 0 {
		return out, nil
	}
	for _, hash := range u.UnusedBlobs(gone) {
		if _, err := tx.ExecContext(ctx, `DELETE FROM blobs WHERE hash = ?`, hash); err != nil {
			return out, err
		}
		out.Bytes += u.Blobs[hash]
	}
	if _, err := tx.ExecContext(ctx, `UPDATE sweeps SET n = n + 1`); err != nil {
		return out, err
	}
	return out, recordRemovals(ctx, tx, out.Threads)
}

// forksFirst sorts threads so that each comes before the thread that it is a fork of.
func (u *Usage) forksFirst(threads []string) []string {
	depth := func(id string) (n int) {
		for t := u.Threads[id]; t != nil && t.Parent != "" && n < len(u.Threads); t = u.Threads[t.Parent] {
			n++
		}
		return n
	}
	depths := make(map[string]int, len(threads))
	for _, id := range threads {
		depths[id] = depth(id)
	}
	sorted := slices.Clone(threads)
	slices.SortStableFunc(sorted, func(a, b string) int { return cmp.Compare(depths[b], depths[a]) })
	return sorted
}

// hasFork reports whether the thread has a fork besides those that are gone.
func (u *Usage) hasFork(thread string, gone map[string]bool) bool {
	for id, t := range u.Threads {
		if t.Parent == thread && !gone[id] {
			return true
		}
	}
	return false
}

// UnusedBlobs returns the hashes of the blobs that nobody needs without these threads.
func (u *Usage) UnusedBlobs(gone map[string]bool) []string {
	candidates := map[string]struct{}{}
	for id := range gone {
		for hash := range u.Threads[id].Blobs {
			candidates[hash] = struct{}{}
		}
	}
	for id, t := range u.Threads {
		if gone[id] {
			continue
		}
		for hash := range t.Blobs {
			delete(candidates, hash)
		}
	}
	out := make([]string, 0, len(candidates))
	for hash := range candidates {
		out = append(out, hash)
	}
	slices.Sort(out)
	return out
}

// Compact rewrites the file without the pages that are free.
func (s *SQLite) Compact(ctx context.Context) error {
	w, err := s.takeWriter(ctx)
	if err != nil {
		return err
	}
	defer func() { s.writer <- w }()
	db, err := openDB(dataSource(s.path))
	if err != nil {
		return storeFault(err, s.path, "compact")
	}
	defer db.Close()
	for _, query := range []string{`VACUUM`, `PRAGMA wal_checkpoint(TRUNCATE)`} {
		if _, err := db.ExecContext(ctx, query); err != nil {
			return storeFault(err, s.path, "compact")
		}
	}
	return nil
}

// writeTx runs a transaction on a connection of its own. The store's writer is taken
// meanwhile, so that batches of this process wait here and not in the file.
func (s *SQLite) writeTx(ctx context.Context, f func(*sql.Tx) error) error {
	w, err := s.takeWriter(ctx)
	if err != nil {
		return err
	}
	defer func() { s.writer <- w }()
	db, err := openDB(dataSource(s.path))
	if err != nil {
		return storeFault(err, s.path, "write")
	}
	defer db.Close()
	tx, err := db.BeginTx(ctx, nil) // immediate: other processes wait
	if err != nil {
		return storeFault(err, s.path, "write")
	}
	defer tx.Rollback()
	if err := f(tx); err != nil {
		return storeFault(err, s.path, "write")
	}
	if err := tx.Commit(); err != nil {
		return storeFault(err, s.path, "write")
	}
	return nil
}
