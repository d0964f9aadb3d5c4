package store

import (
	"context"
	"database/sql/driver"
	"errors"

	"modernc.org/sqlite"
	sqlite3 "modernc.org/sqlite/lib"

	"interlock/internal/audit"
	"interlock/internal/fault"
)

// A writer is the connection that writes. It uses the driver directly, because the
// bookkeeping of database/sql costs as much as the statements. Whoever has taken it from
// the channel owns it.
type writer struct {
	pages                       int // written since the last checkpoint; an estimate
	heads                       heads
	conn                        driver.Conn
	begin, commit, rollback     *statement
	openThread, updateThread    *statement
	openFork                    *statement
	events                      []*statement // by the number of rows, from 1
	blob, saveRun, saveSnapshot *statement
	saveSaying                  *statement
	lastAction, saveAction      *statement // of the audit log
	acquire, renew              *statement // of leases
	release, askStop            *statement
}

const rowsAtOnce = 4 // most events in one INSERT

// A statement is prepared once. It reuses its list of arguments.
type statement struct {
	stmt driver.StmtExecContext
	args []driver.NamedValue
}

func openWriter(dsn string) (*writer, error) {
	c, err := sqlite.NewConnector(dsn)
	if err != nil {
		return nil, err
	}
	conn, err := c.Connect(context.Background())
	if err != nil {
		return nil, err
	}
	w := &writer{conn: conn, heads: heads{}}
	prepare := func(query string) *statement {
		s, e := conn.Prepare(query)
		if e != nil {
			err = errors.Join(err, e)
			return nil
		}
		return &statement{stmt: s.(driver.StmtExecContext)}
	}
	w.begin = prepare(`BEGIN IMMEDIATE`)
	w.commit = prepare(`COMMIT`)
	w.rollback = prepare(`ROLLBACK`)
	w.openThread = prepare(`INSERT INTO threads (version, title, dataset, status, state, run, seq, updated, id, owner, machine, created)
		VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?) ON CONFLICT DO NOTHING`)
	w.openFork = prepare(`INSERT INTO threads (version, title, dataset, status, state, run, seq, updated, id, owner, machine, created)
		SELECT ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ? WHERE EXISTS (SELECT 1 FROM threads WHERE id = ?) ON CONFLICT DO NOTHING`)
	w.updateThread = prepare(`UPDATE threads SET version = ?, title = ?, dataset = ?, status = ?, state = ?, run = ?, seq = ?, updated = ?
		WHERE id = ? AND (SELECT max(e.seq) FROM events e WHERE e.thread = threads.id) = ?`)
	values := `(?, ?, ?, ?, ?)`
	for range rowsAtOnce {
		w.events = append(w.events, prepare(`INSERT INTO events (thread, seq, time, kind, body) SELECT * FROM (VALUES `+values+`)
			WHERE coalesce((SELECT fence FROM leases WHERE thread = ?), 0) = ? AND (SELECT n FROM sweeps) = ?`))
		values += `, (?, ?, ?, ?, ?)`
	}
	w.blob = prepare(`INSERT INTO blobs (hash, packed, bytes) VALUES (?, ?, ?) ON CONFLICT DO NOTHING`)
	w.saveRun = prepare(`INSERT INTO runs (id, thread, owner, machine, dataset, question, status, first, last, started, ended, micro_usd, tokens)
		VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)
		ON CONFLICT (id) DO UPDATE SET status = excluded.status, last = excluded.last, ended = excluded.ended, dataset = excluded.dataset,
		question = excluded.question, micro_usd = excluded.micro_usd, tokens = excluded.tokens WHERE thread = excluded.thread`)
	w.saveSnapshot = prepare(`INSERT INTO snapshots (thread, seq, packed, bytes) VALUES (?, ?, ?, ?)
		ON CONFLICT (thread) DO UPDATE SET seq = excluded.seq, packed = excluded.packed, bytes = excluded.bytes`)
	w.saveSaying = prepare(`INSERT INTO sayings (owner, name, thread, run, seq) VALUES (?, ?, ?, ?, ?) ON CONFLICT DO NOTHING`)
	w.lastAction = prepare(lastActionQuery)
	w.saveAction = prepare(`INSERT INTO audit (seq, body, hash) VALUES (?, ?, ?)`)
	w.acquire = prepare(`INSERT INTO leases (thread, holder, fence, until, stop) VALUES (?1, ?2, 1, ?3, 0)
		ON CONFLICT (thread) DO UPDATE SET holder = excluded.holder, fence = fence + 1, until = excluded.until, stop = 0
		WHERE holder IN ('', excluded.holder) OR until < ?4 OR until > ?5`)
	w.renew = prepare(`UPDATE leases SET until = ? WHERE ` + leasesOf)
	w.release = prepare(`UPDATE leases SET holder = '', until = 0, stop = 0 WHERE thread = ? AND holder = ? AND fence = ?`)
	w.askStop = prepare(`UPDATE leases SET stop = 1 WHERE thread = ? AND holder <> '' AND until >= ?`)
	if err != nil {
		return nil, errors.Join(err, conn.Close())
	}
	return w, nil
}

// close finalises the statements and closes the connection.
func (w *writer) close() error {
	all := append([]*statement{
		w.begin, w.commit, w.rollback, w.openThread, w.openFork, w.updateThread, w.blob, w.saveRun, w.saveSnapshot, w.saveSaying, w.lastAction, w.saveAction,
		w.acquire, w.renew, w.release, w.askStop,
	}, w.events...)
	var errs []error
	for _, s := range all {
		errs = append(errs, s.stmt.(driver.Stmt).Close())
	}
	return errors.Join(append(errs, w.conn.Close())...)
}

// add appends values to the arguments of the next exec.
func (s *statement) add(values ...driver.Value) *statement {
	for _, v := range values {
		s.args = append(s.args, driver.NamedValue{Ordinal: len(s.args) + 1, Value: v})
	}
	return s
}

// exec runs the statement and returns the number of rows that it changed. It takes no
// context: a batch takes microseconds and must not be interrupted.
func (s *statement) exec() (int64, error) {
	r, err := s.stmt.ExecContext(context.Background(), s.args)
	clear(s.args)
	s.args = s.args[:0]
	if err != nil {
		return 0, err
	}
	return r.RowsAffected()
}

// storeBatch stores a batch in one transaction, if no blob was removed since the sweep: the
// caller may have left blobs out that were stored then. A batch that is a single INSERT needs no
// BEGIN and COMMIT.
func (w *writer) storeBatch(b Batch, rows []row, blobs []packedBlob, snapshot packed, sweep int64, done []audit.Entry) error {
	if len(done) == 0 && len(rows) > 0 && len(rows) <= rowsAtOnce && len(blobs) == 0 && len(b.Runs) == 0 && b.Snapshot == nil && b.Said.Name == "" && w.heads.isCurrent(b) {
		err := w.insertBatch(b, rows, nil, packed{}, sweep)
		if err == nil {
			w.heads.record(b)
		}
		return err
	}
	err := w.inTransaction(func() error {
		if err := w.insertBatch(b, rows, blobs, snapshot, sweep); err != nil {
			return err
		}
		return w.seal(done)
	})
	if err == nil {
		w.heads.record(b)
	}
	return err
}

// writeHead creates the thread's row or updates it. It is a conflict if the thread does
// not end at b.After.
func (w *writer) writeHead(b Batch, last int64) error {
	h := b.Head
	head := w.updateThread
	switch {
	case b.After == 0 && b.Parent != "":
		head = w.openFork
	case b.After == 0:
		head = w.openThread
	}
	head.add(h.Version, h.Title, h.Dataset, h.Status, h.State, h.Run, last, nanos(h.Updated), b.Thread)
	if b.After == 0 {
		head.add(h.Owner, h.Machine, nanos(h.Created))
	} else {
		head.add(b.After)
	}
	if head == w.openFork {
		head.add(b.Parent)
	}
	switch n, err := head.exec(); {
	case err != nil:
		return err
	case n == 0:
		return conflictFault(b)
	}
	return nil
}

func conflictFault(b Batch) error {
	return fault.Wrap(ErrConflict, fault.Conflict, "thread %s does not end at event %d", b.Thread, b.After)
}

// errNotInserted means that the fence of a batch or the number of the sweep is not the
// newest one.
var errNotInserted = errors.New("the events were not inserted")

func fencedFault(b Batch) error {
	return fault.Wrap(ErrFenced, fault.Conflict, "the thread %s was taken over by another process", b.Thread)
}

func (w *writer) insertBatch(b Batch, rows []row, blobs []packedBlob, snapshot packed, sweep int64) error {
	last := b.After + int64(len(rows))
	if !w.heads.isCurrent(b) {
		if err := w.writeHead(b, last); err != nil {
			return err
		}
	}
	for len(rows) > 0 {
		n := min(len(rows), rowsAtOnce)
		insert := w.events[n-1]
		for _, r := range rows[:n] {
			insert.add(b.Thread, r.seq, r.time, r.kind, r.body)
		}
		switch stored, err := insert.add(b.Thread, b.Fence, sweep).exec(); {
		case resultCode(err) == sqlite3.SQLITE_CONSTRAINT: // an event with this number exists
			return conflictFault(b)
		case err != nil:
			return err
		case stored == 0:
			return errNotInserted
		}
		rows = rows[n:]
	}
	for _, p := range blobs {
		if _, err := w.blob.add(p.hash, p.form, p.bytes).exec(); err != nil {
			return err
		}
	}
	for _, r := range b.Runs {
		n, err := w.saveRun.add(r.ID, r.Thread, r.Owner, r.Machine, r.Dataset, r.Question, r.Status, r.First, r.Last,
			nanos(r.Started), nanos(r.Ended), r.MicroUSD, int64(r.Tokens)).exec()
		if err != nil {
			return err
		}
		if n == 0 {
			return fault.Wrap(ErrConflict, fault.Conflict, "run %s belongs to another thread than %s", r.ID, r.Thread)
		}
	}
	if said := b.Said; said.Name != "" {
		switch n, err := w.saveSaying.add(said.Owner, said.Name, said.Thread, said.Run, said.Seq).exec(); {
		case err != nil:
			return err
		case n == 0:
			return fault.Wrap(ErrConflict, fault.Conflict, "%s has said %q before", said.Owner, said.Name)
		}
	}
	if b.Snapshot != nil {
		if _, err := w.saveSnapshot.add(b.Thread, last, snapshot.form, snapshot.bytes).exec(); err != nil {
			return err
		}
	}
	return nil
}
