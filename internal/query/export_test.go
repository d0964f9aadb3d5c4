package query

import (
	"cmp"
	"context"
	"errors"
	"strconv"

	duck "github.com/duckdb/duckdb-go-bindings"

	"interlock/internal/sqlpolicy"
)

// RunUnchecked runs a statement past the policy: the walls behind it are tested alone.
func RunUnchecked(ctx context.Context, e *Engine, db Database, sql string) (*Result, error) {
	v, err := versionOf(db)
	if err != nil {
		return nil, err
	}
	r := &Result{}
	err = e.withWorker(ctx, visit{gate: e.runs, version: v, timeout: e.config.Timeout, sql: sql}, func(ctx context.Context, p *process) error {
		return r.fill(ctx, p, runOrder{SQL: sql, MaxRows: -1, MaxBytes: 1 << 20, MaxCell: 1000})
	})
	return r, err
}

// A Parser asks for trees and plans of any text, allowed or not.
type Parser struct {
	Engine   *Engine
	Database Database
}

var _ sqlpolicy.Parser = Parser{}

// Tree implements sqlpolicy.Parser.
func (p Parser) Tree(ctx context.Context, sql string) ([]byte, error) {
	return p.ask(ctx, askTree, sql)
}

// Plan implements sqlpolicy.Parser.
func (p Parser) Plan(ctx context.Context, sql string) ([]byte, error) {
	return p.ask(ctx, askPlan, sql)
}

func (p Parser) ask(ctx context.Context, kind frameKind, sql string) (out []byte, err error) {
	v, err := versionOf(p.Database)
	if err != nil {
		return nil, err
	}
	err = p.Engine.withWorker(ctx, visit{gate: p.Engine.checks, version: v, timeout: p.Engine.config.Timeout, sql: sql}, func(ctx context.Context, w *process) error {
		answer, err := w.ask(ctx, kind, []byte(sql), nil)
		out = append(out, answer...)
		return err
	})
	return out, err
}

// Functions lists what the engine of this build knows: type and name of each function.
func Functions() ([][]string, error) {
	in, err := openInstance("")
	if err != nil {
		return nil, err
	}
	defer in.close()
	s, err := in.connect()
	if err != nil {
		return nil, err
	}
	defer s.close()
	b := &builder{session: s}
	return b.queryTexts(context.Background(), "SELECT DISTINCT function_type, function_name FROM duckdb_functions() ORDER BY ALL")
}

// Workers counts the warm workers.
func (e *Engine) Workers() int {
	e.pool.mu.Lock()
	defer e.pool.mu.Unlock()
	return len(e.pool.idle)
}

// RunUnlocked runs statements in this process with the engine as it comes, nothing
// switched off: only what confines the process stands in their way.
func RunUnlocked(path string, statements []string) ([]error, error) {
	in, err := openInstance(path, option{"access_mode", "READ_ONLY"}, option{"threads", "1"})
	if err != nil {
		return nil, err
	}
	defer in.close()
	s, err := in.connect()
	if err != nil {
		return nil, err
	}
	defer s.close()
	out := make([]error, len(statements))
	for i, sql := range statements {
		out[i] = s.exec(sql)
	}
	return out, nil
}

// A Bare is the engine without anything around it, for comparison: the same
// statement through the bindings, in this process, rows read and dropped.
type Bare struct {
	instance *instance
	session  *session
}

// OpenBare opens a database file read-only.
func OpenBare(path string, threads int) (*Bare, error) {
	in, err := openInstance(path, option{"access_mode", "READ_ONLY"}, option{"threads", strconv.Itoa(threads)})
	if err != nil {
		return nil, err
	}
	s, err := in.connect()
	return &Bare{in, s}, err
}

// Run reads every row of a statement and gives their number.
func (b *Bare) Run(ctx context.Context, sql string) (rows int, err error) {
	c, err := b.session.query(ctx, sql)
	if err != nil {
		return 0, err
	}
	defer c.close()
	for {
		chunk, ok, err := c.next()
		if err != nil || !ok {
			return rows, err
		}
		rows += int(duck.DataChunkGetSize(chunk))
		duck.DestroyDataChunk(&chunk)
	}
}

// Text gives the one text that a statement answers.
func (b *Bare) Text(ctx context.Context, sql string) (string, error) {
	rows, err := (&builder{session: b.session}).queryTexts(ctx, sql)
	if err != nil || len(rows) != 1 {
		return "", cmp.Or(err, errors.New("not one row"))
	}
	return rows[0][0], nil
}

// Close closes it.
func (b *Bare) Close() {
	b.session.close()
	b.instance.close()
}
