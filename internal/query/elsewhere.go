package query

import (
	"context"

	"interlock/internal/sqlpolicy"
)

// An Elsewhere is the engine that a statement is for when it is not this one.
type Elsewhere struct {
	Dialect *sqlpolicy.Dialect
	Schema  string // that the tables are in there; it may stand before their names
}

// CheckElsewhere decides about a statement that another engine will run. The tables
// of the database are those of the other engine; nothing is read from them here.
func (e *Engine) CheckElsewhere(ctx context.Context, db Database, to Elsewhere, sql string) (sqlpolicy.Decision, error) {
	v, err := versionOf(db.Path)
	if err != nil {
		return sqlpolicy.Decision{}, err
	}
	scope := sqlpolicy.Scope{Version: v.String(), Dialect: to.Dialect, Schema: to.Schema, Alias: db.Alias, Tables: db.Tables}
	if d, ok, err := e.policy.Seen(scope, sql); ok {
		return d, err
	}
	var d sqlpolicy.Decision
	err = e.with(ctx, visit{gate: e.checks, version: v, timeout: e.config.Timeout, sql: sql}, func(ctx context.Context, p *process) (err error) {
		d, err = e.decide(ctx, p, scope, sql)
		return err
	})
	return d, err
}
