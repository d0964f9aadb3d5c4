package store

import (
	"context"
	"database/sql"
	"database/sql/driver"
	"errors"
	"io"
	"iter"
	"maps"
	"slices"
	"strings"
	"time"

	"interlock/internal/audit"
	"interlock/internal/event"
)

// RecordAction adds an entry to the audit log, in a transaction of its own.
func (s *SQLite) RecordAction(ctx context.Context, e audit.Entry) error {
	w, err := s.takeWriter(ctx)
	if err != nil {
		return err
	}
	defer func() { s.writer <- w }()
	if err := w.inTransaction(func() error { return w.seal([]audit.Entry{e.Complete(ctx, time.Now())}) }); err != nil {
		return storeFault(err, s.path, "write")
	}
	return nil
}

// inTransaction runs f in a transaction.
func (w *writer) inTransaction(f func() error) error {
	if _, err := w.begin.exec(); err != nil {
		return err
	}
	err := f()
	if err == nil {
		_, err = w.commit.exec()
	}
	if err != nil {
		_, _ = w.rollback.exec() // fails where SQLite has rolled back itself
	}
	return err
}

// seal appends entries within a transaction. The transaction is immediate, so that processes
// on one store make one chain.
func (w *writer) seal(entries []audit.Entry) error {
	if len(entries) == 0 {
		return nil
	}
	last, hash, err := w.lastSeal()
	if err != nil {
		return err
	}
	for _, e := range entries {
		r, err := audit.Seal(e, last, hash)
		if err != nil {
			return err
		}
		if _, err := w.saveAction.add(r.Seq, r.Body, r.Hash).exec(); err != nil {
			return err
		}
		last, hash = r.Seq, r.Hash
	}
	return nil
}

// lastSeal returns the highest number that was given to an entry and the hash of the last one.
func (w *writer) lastSeal() (last int64, hash string, err error) {
	rows, err := w.lastAction.stmt.(driver.StmtQueryContext).QueryContext(context.Background(), nil)
	if err != nil {
		return 0, "", err
	}
	defer func() { err = errors.Join(err, rows.Close()) }()
	row := make([]driver.Value, 2)
	if err := rows.Next(row); err != nil && !errors.Is(err, io.EOF) {
		return 0, "", err
	}
	last, _ = row[0].(int64)
	hash, _ = row[1].(string)
	return last, hash, nil
}

const lastActionQuery = `SELECT coalesce((SELECT seq FROM sqlite_sequence WHERE name = 'audit'), 0), coalesce((SELECT hash FROM audit ORDER BY seq DESC LIMIT 1), '')`

// actionsOf returns the entries of a batch: what people did, not what came of it. The past of a
// fork was done in its parent.
func actionsOf(ctx context.Context, b Batch) (out []audit.Entry) {
	for _, e := range b.Events {
		var a audit.Entry
		switch body := e.Body.(type) {
		case event.ThreadOpened:
			if b.Parent == "" {
				continue
			}
			return []audit.Entry{audit.Entry{User: body.Owner, Action: "fork a thread", Object: b.Parent, Thread: b.Thread}.Complete(ctx, time.Now())}
		case event.TurnStarted:
			a = audit.Entry{User: body.User, Action: "begin a turn", Object: body.Dataset, Run: body.Run, Detail: settingsText(body.Settings)}
		case event.CardAnswered:
			a = audit.Entry{User: body.User, Action: "answer a card", Object: body.Card, Run: b.Head.Run, Detail: body.Answer}
		case event.CommandGiven:
			a = audit.Entry{User: body.User, Action: "give a command", Object: body.Command, Run: b.Head.Run}
		case event.ThreadRenamed:
			a = audit.Entry{User: body.User, Action: "rename a thread"}
		case event.ThreadMigrated:
			a = audit.Entry{User: body.User, Action: "migrate a thread", Object: body.To}
		default:
			continue
		}
		if a.Thread = b.Thread; a.User == "" {
			a.User = b.Head.Owner
		}
		a.Time = e.Time
		out = append(out, a.Complete(ctx, e.Time))
	}
	return out
}

// settingsText names the settings that a turn changes.
func settingsText(set map[string]any) string {
	if len(set) == 0 {
		return ""
	}
	return "with the settings " + strings.Join(slices.Sorted(maps.Keys(set)), ", ")
}

// Actions yields the records of the audit log after a number, in order.
func (s *SQLite) Actions(ctx context.Context, after int64) iter.Seq2[audit.Record, error] {
	return func(yield func(audit.Record, error) bool) {
		for {
			page, err := queryRows(ctx, s, `SELECT seq, body, hash FROM audit WHERE seq > ? ORDER BY seq LIMIT ?`, []any{after, pageEvents}, scanAction)
			if err != nil {
				yield(audit.Record{}, err)
				return
			}
			for _, r := range page {
				if !yield(r, nil) {
					return
				}
				after = r.Seq
			}
			if len(page) < pageEvents {
				return
			}
		}
	}
}

// LastActions returns the newest records before a number, the newest first; 0 is the end.
func (s *SQLite) LastActions(ctx context.Context, before int64, limit int) ([]audit.Record, error) {
	return queryRows(ctx, s, `SELECT seq, body, hash FROM audit WHERE ?1 = 0 OR seq < ?1 ORDER BY seq DESC LIMIT ?2`, []any{before, limit}, scanAction)
}

func scanAction(row scanner) (r audit.Record, err error) {
	return r, row.Scan(&r.Seq, &r.Body, &r.Hash)
}

// VerifyActions checks the audit log against itself, its highest number, the runs of threads and
// heads that were kept elsewhere.
func (s *SQLite) VerifyActions(ctx context.Context, kept ...audit.Head) (audit.Verification, error) {
	v := audit.NewVerifier(kept...)
	began := int64(0)
	// The runs are read first: a turn that begins meanwhile has its entry, and no run here.
	first, err := queryRows(ctx, s, `SELECT seq, body, hash FROM audit ORDER BY seq LIMIT ?`, []any{1}, scanAction)
	if err != nil {
		return audit.Verification{}, err
	}
	if len(first) > 0 {
		if e, err := first[0].Entry(); err == nil {
			began = nanos(e.Time)
		}
	}
	var last int64
	if err := s.readers.QueryRowContext(ctx, `SELECT coalesce((SELECT seq FROM sqlite_sequence WHERE name = 'audit'), 0)`).Scan(&last); err != nil {
		return audit.Verification{}, storeFault(err, s.path, "read")
	}
	var runs []string
	if last > 0 { // else nothing was recorded yet
		if runs, err = queryRows(ctx, s, `SELECT id FROM runs WHERE started >= ? ORDER BY started`, []any{began}, func(row scanner) (id string, err error) { return id, row.Scan(&id) }); err != nil {
			return audit.Verification{}, err
		}
	}
	for r, err := range s.Actions(ctx, -1<<62) {
		if err != nil {
			return audit.Verification{}, err
		}
		v.Add(r)
	}
	return v.End(last, runs), nil
}

// recordRemovals adds an entry for each thread that a transaction removes.
func recordRemovals(ctx context.Context, tx *sql.Tx, threads []string) error {
	var last int64
	var hash string
	if err := tx.QueryRowContext(ctx, lastActionQuery).Scan(&last, &hash); err != nil {
		return err
	}
	for _, id := range threads {
		r, err := audit.Seal(audit.Entry{Action: "remove a thread", Thread: id}.Complete(ctx, time.Now()), last, hash)
		if err != nil {
			return err
		}
		if _, err := tx.ExecContext(ctx, `INSERT INTO audit (seq, body, hash) VALUES (?, ?, ?)`, r.Seq, r.Body, r.Hash); err != nil {
			return err
		}
		last, hash = r.Seq, r.Hash
	}
	return nil
}
