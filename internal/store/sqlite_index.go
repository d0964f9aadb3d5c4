package store

import (
	"cmp"
	"context"
	"database/sql"
	"errors"
	"strings"

	"interlock/internal/fault"
)

const (
	threadColumns = `id, owner, machine, version, title, dataset, status, state, run,
		coalesce((SELECT newest.status FROM runs newest WHERE newest.id = heads.run), ''), seq, created, updated`
	runColumns   = `id, thread, owner, machine, dataset, question, status, first, last, started, ended, micro_usd, tokens`
	defaultLimit = 100
)

// Thread returns the row of one thread.
func (s *SQLite) Thread(ctx context.Context, id string) (Thread, error) {
	t, err := scanThread(s.readers.QueryRowContext(ctx, `SELECT `+threadColumns+` FROM heads WHERE id = ?`, id))
	if errors.Is(err, sql.ErrNoRows) {
		return Thread{}, fault.Wrap(ErrNotFound, fault.ThreadNotFound, "there is no thread %q", id)
	}
	if err != nil {
		return Thread{}, storeFault(err, s.path, "read")
	}
	return t, nil
}

// Threads lists threads, the most recently active one first.
func (s *SQLite) Threads(ctx context.Context, q Query) ([]Thread, error) {
	w := commonConditions(q, "title", "updated")
	if q.Thread != "" {
		w.add("id = ?", q.Thread)
	}
	return queryRows(ctx, s, `SELECT `+threadColumns+` FROM heads`+w.String()+` ORDER BY updated DESC, id DESC LIMIT ?`, w.argsWithLimit(q.Limit), scanThread)
}

// Run returns the row of one run.
func (s *SQLite) Run(ctx context.Context, id string) (Run, error) {
	r, err := scanRun(s.readers.QueryRowContext(ctx, `SELECT `+runColumns+` FROM runs WHERE id = ?`, id))
	if errors.Is(err, sql.ErrNoRows) {
		return Run{}, fault.Wrap(ErrNotFound, fault.RunNotFound, "there is no run %q", id)
	}
	if err != nil {
		return Run{}, storeFault(err, s.path, "read")
	}
	return r, nil
}

// Runs lists runs, the newest first.
func (s *SQLite) Runs(ctx context.Context, q Query) ([]Run, error) {
	w := commonConditions(q, "question", "started")
	if q.Thread != "" {
		w.add("thread = ?", q.Thread)
	}
	if q.Kept {
		w.conds = append(w.conds, `EXISTS (SELECT 1 FROM kept_runs k WHERE k.run = runs.id)`)
	}
	return queryRows(ctx, s, `SELECT `+runColumns+` FROM runs`+w.String()+` ORDER BY started DESC, id DESC LIMIT ?`, w.argsWithLimit(q.Limit), scanRun)
}

// Sayings returns what an owner said under names that begin with this, the last name first.
func (s *SQLite) Sayings(ctx context.Context, owner, prefix string, limit int) ([]Saying, error) {
	return queryRows(ctx, s, `SELECT owner, name, thread, run, seq FROM sayings WHERE owner = ?1 AND name >= ?2 AND name < ?2 || char(1114111)
		ORDER BY name DESC LIMIT ?3`, []any{owner, prefix, limit}, func(row scanner) (said Saying, err error) {
		return said, row.Scan(&said.Owner, &said.Name, &said.Thread, &said.Run, &said.Seq)
	})
}

// A where is the WHERE clause of a query with its arguments.
type where struct {
	conds []string
	args  []any
}

func (w *where) add(cond string, arg any) {
	w.conds = append(w.conds, cond)
	w.args = append(w.args, arg)
}

func (w *where) String() string {
	if len(w.conds) == 0 {
		return ""
	}
	return " WHERE " + strings.Join(w.conds, " AND ")
}

func (w *where) argsWithLimit(n int) []any { return append(w.args, cmp.Or(max(n, 0), defaultLimit)) }

// commonConditions returns the conditions that threads and runs share. text and time are
// names of columns.
func commonConditions(q Query, text, time string) *where {
	w := &where{}
	if q.Owner != "" {
		w.add("owner = ?", q.Owner)
	}
	if q.Machine != "" {
		w.add("machine = ?", q.Machine)
	}
	if q.Status != "" {
		w.add("status = ?", q.Status)
	}
	if q.Text != "" {
		w.add("instr(lower("+text+"), lower(?)) > 0", q.Text)
	}
	if !q.Before.IsZero() {
		w.add(time+" < ?", nanos(q.Before))
	}
	return w
}

func queryRows[T any](ctx context.Context, s *SQLite, query string, args []any, scan func(scanner) (T, error)) ([]T, error) {
	rows, err := s.readers.QueryContext(ctx, query, args...)
	if err != nil {
		return nil, storeFault(err, s.path, "read")
	}
	defer rows.Close()
	var out []T
	for rows.Next() {
		v, err := scan(rows)
		if err != nil {
			return nil, storeFault(err, s.path, "read")
		}
		out = append(out, v)
	}
	if err := rows.Err(); err != nil {
		return nil, storeFault(err, s.path, "read")
	}
	return out, nil
}

// A scanner is a *sql.Row or *sql.Rows.
type scanner interface{ Scan(dest ...any) error }

func scanThread(row scanner) (Thread, error) {
	var t Thread
	var created, updated int64
	err := row.Scan(&t.ID, &t.Owner, &t.Machine, &t.Version, &t.Title, &t.Dataset, &t.Status, &t.State, &t.Run, &t.Outcome, &t.Seq, &created, &updated)
	t.Created, t.Updated = timeFromNanos(created), timeFromNanos(updated)
	return t, err
}

func scanRun(row scanner) (Run, error) {
	var r Run
	var started, ended int64
	err := row.Scan(&r.ID, &r.Thread, &r.Owner, &r.Machine, &r.Dataset, &r.Question, &r.Status, &r.First, &r.Last, &started, &ended, &r.MicroUSD, &r.Tokens)
	r.Started, r.Ended = timeFromNanos(started), timeFromNanos(ended)
	return r, err
}
