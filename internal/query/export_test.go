package query

import (
	"context"

	"interlock/internal/sqlpolicy"
)

// RunUnchecked runs a statement past the policy: the walls behind it are tested alone.
func RunUnchecked(ctx context.Context, e *Engine, db Database, sql string) (*Result, error) {
	v, err := versionOf(db.Path)
	if err != nil {
		return nil, err
	}
	r := &Result{}
	err = e.with(ctx, visit{gate: e.runs, version: v, timeout: e.config.Timeout, sql: sql}, func(ctx context.Context, p *process) error {
		return r.fill(ctx, p, runOrder{SQL: sql, MaxRows: 100, MaxBytes: 1 << 20, MaxCell: 1000})
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
	v, err := versionOf(p.Database.Path)
	if err != nil {
		return nil, err
	}
	err = p.Engine.with(ctx, visit{gate: p.Engine.checks, version: v, timeout: p.Engine.config.Timeout, sql: sql}, func(ctx context.Context, w *process) error {
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
	return b.texts(context.Background(), "SELECT DISTINCT function_type, function_name FROM duckdb_functions() ORDER BY ALL")
}

// Workers counts the warm workers.
func (e *Engine) Workers() int {
	e.pool.mu.Lock()
	defer e.pool.mu.Unlock()
	return len(e.pool.idle)
}
