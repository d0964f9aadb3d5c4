package query

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"time"
	"unicode/utf8"

	"interlock/internal/fault"
	"interlock/internal/sqlpolicy"
)

// maxArgs bounds the values of one statement, in bytes.
const maxArgs = 16 << 20

// scope is what the policy needs to know about a request, and the version of the
// data that it is about.
func (r Request) scope() (version, sqlpolicy.Scope, error) {
	if err := checkArgs(r.Args); err != nil {
		return version{}, sqlpolicy.Scope{}, err
	}
	v, err := versionOf(r.Database)
	scope := sqlpolicy.Scope{Version: v.String(), Alias: r.Database.Alias, Tables: r.Database.Tables, Params: len(r.Args)}
	if remote := r.Database.Remote; remote != nil {
		scope.Dialect, scope.Schema = remote.Dialect, remote.Schema
	}
	return v, scope, err
}

// checkArgs refuses values that are too large or no text.
func checkArgs(args []string) error {
	size := 0
	for i, a := range args {
		if size += len(a); size > maxArgs {
			return fault.New(fault.TooLarge, "The values of the statement have more than %d MiB.", maxArgs>>20)
		}
		if !utf8.ValidString(a) {
			return fault.New(fault.BadRequest, "The value of $%d is not valid UTF-8.", i+1)
		}
	}
	return nil
}

// A parser asks one worker for trees and plans.
type parser struct {
	process *process
	failed  error // not about the statement: the worker is lost
}

// Tree implements sqlpolicy.Parser.
func (p *parser) Tree(ctx context.Context, sql string) ([]byte, error) {
	return p.ask(ctx, askTree, sql)
}

// Plan implements sqlpolicy.Parser.
func (p *parser) Plan(ctx context.Context, sql string) ([]byte, error) {
	return p.ask(ctx, askPlan, sql)
}

func (p *parser) ask(ctx context.Context, kind frameKind, sql string) ([]byte, error) {
	out, err := p.process.ask(ctx, kind, []byte(sql), nil)
	if isUnusable(err) {
		p.failed = err
	}
	return out, err
}

// decide has the policy look at a statement with the help of a worker.
func (e *Engine) decide(ctx context.Context, p *process, scope sqlpolicy.Scope, sql string) (sqlpolicy.Decision, error) {
	parser := &parser{process: p}
	d, err := e.policy.Check(ctx, parser, scope, sql)
	if parser.failed != nil {
		return d, parser.failed
	}
	return d, err
}

// Check decides about a statement without running it.
func (e *Engine) Check(ctx context.Context, db Database, sql string) (sqlpolicy.Decision, error) {
	return e.check(ctx, Request{Database: db, SQL: sql})
}

func (e *Engine) check(ctx context.Context, r Request) (sqlpolicy.Decision, error) {
	v, scope, err := r.scope()
	if err != nil {
		return sqlpolicy.Decision{}, err
	}
	if remote := r.Database.Remote; remote != nil && remote.Judge != nil {
		return e.policy.CheckBy(ctx, remote.Judge, scope, r.SQL)
	}
	if d, ok, err := e.policy.Seen(scope, r.SQL); ok {
		return d, err
	}
	var d sqlpolicy.Decision
	err = e.withWorker(ctx, visit{gate: e.checks, version: v, timeout: e.config.Timeout, sql: r.SQL}, func(ctx context.Context, p *process) (err error) {
		d, err = e.decide(ctx, p, scope, r.SQL)
		return err
	})
	return d, err
}

// A visit is one use of a worker.
type visit struct {
	gate    *Admission
	user    string
	version version
	timeout time.Duration
	sql     string // for messages about it
}

// withWorker runs f with a worker of the database, once it is let in; the time counts
// from then. A worker that is not fit for another statement is killed, and its
// place is free when it is gone: the caller does not wait for that.
func (e *Engine) withWorker(ctx context.Context, v visit, f func(context.Context, *process) error) error {
	leave, err := v.gate.Enter(ctx, v.user)
	if err != nil {
		return faultOf(ctx, v.sql, err)
	}
	ctx, cancel := context.WithTimeoutCause(ctx, v.timeout, errTimeout)
	defer cancel()
	p, err := e.pool.acquireWorker(ctx, v.version)
	if err != nil {
		leave()
		return faultOf(ctx, v.sql, err)
	}
	err = f(ctx, p)
	if !isUnusable(err) && !ranOutOfMemory(err) {
		e.pool.returnWorker(v.version, p)
		leave()
		return faultOf(ctx, v.sql, err)
	}
	if ctx.Err() == nil && !ranOutOfMemory(err) {
		e.config.Log.Warn("A query worker was lost.", "err", err)
	}
	p.kill()
	go func() {
		p.stop()
		leave()
	}()
	return faultOf(ctx, v.sql, err)
}

// errRemoteRows is a mistake of the program: a statement on a remote database is checked by
// this engine and run by the remote one.
var errRemoteRows = errors.New("the rows of this database are in another engine")

// Run decides about a statement and runs it.
func (e *Engine) Run(ctx context.Context, r Request) (*Result, error) {
	v, scope, err := r.scope()
	if err == nil && r.Database.Remote != nil {
		err = errRemoteRows
	}
	if err != nil {
		return nil, err
	}
	if _, ok, err := e.policy.Seen(scope, r.SQL); ok && err != nil {
		return nil, err
	}
	result := &Result{Version: r.Database.Version}
	visit := visit{gate: e.runs, user: r.User, version: v, timeout: cmp.Or(r.Timeout, e.config.Timeout), sql: r.SQL}
	err = e.withWorker(ctx, visit, func(ctx context.Context, p *process) (err error) {
		began := time.Now()
		if result.Decision, err = e.decide(ctx, p, scope, r.SQL); err != nil {
			return err
		}
		err = result.fill(ctx, p, runOrder{
			SQL:      result.Decision.SQL,
			Args:     r.Args,
			MaxRows:  cmp.Or(r.MaxRows, e.config.MaxRows),
			MaxBytes: cmp.Or(r.MaxBytes, e.config.MaxBytes),
			MaxCell:  cmp.Or(r.MaxCell, e.config.MaxCell),
		})
		result.Elapsed = time.Since(began)
		return err
	})
	if err != nil {
		return nil, err
	}
	result.Total, result.AtLeast = int64(result.RowCount), result.Limited
	if result.Limited {
		result.Total++
	}
	if result.Limited && r.CountAll {
		counting, cancel := context.WithTimeout(ctx, countTimeout)
		defer cancel()
		if n, err := e.Count(counting, Request{Database: r.Database, SQL: r.SQL, Args: r.Args, User: r.User}); err == nil && n >= result.Total {
			result.Total, result.AtLeast = n, false
		}
	}
	return result, nil
}

// countTimeout is how long the rows of a result that was cut off are counted.
const countTimeout = 5 * time.Second

// fill runs a statement that was allowed and takes its rows.
func (r *Result) fill(ctx context.Context, p *process, order runOrder) error {
	done, err := p.askJSON(ctx, askRun, order, func(f frame) error {
		switch f.kind {
		case tellColumns:
			return json.Unmarshal(f.payload, &r.Columns)
		case tellRows:
			if len(r.Rows)+len(f.payload) > order.MaxBytes+16 {
				return errors.New("a worker sent more than it was told to")
			}
			r.Rows = append(r.Rows, f.payload...)
			return nil
		}
		return fmt.Errorf("a worker sent %q while running", f.kind)
	})
	if err != nil {
		return err
	}
	var report runReport
	if err := json.Unmarshal(done, &report); err != nil {
		return fmt.Errorf("reading from a worker: %w", err)
	}
	r.RowCount, r.Limited, r.Cut = report.Rows, report.Limited, report.Cut
	return nil
}
