package source

import (
	"context"
	"iter"
	"sync"

	"interlock/internal/dialect"
	"interlock/internal/schema"
)

// A tableReader is how a connector reads one table.
type tableReader interface {
	describe(ctx context.Context) (described, error)
	// count runs a statement that gives one number.
	count(ctx context.Context, stmt Statement) (int64, error)
	// readRows gives the rows of a statement, which have these columns, in batches.
	readRows(ctx context.Context, stmt Statement, columns []schema.Column, yield func(*Batch, error) bool)
	Close() error
}

// A described table is what a system says of it.
type described struct {
	table   []string
	columns []schema.Column
	key     []string // fixes the order of pages
}

// A databaseTable makes a Source of a table of a database. The table is described once.
type databaseTable struct {
	tableReader
	dialect dialect.Dialect

	mu    sync.Mutex
	found *described
}

func newDatabaseTable(d dialect.Dialect, r tableReader) *databaseTable {
	return &databaseTable{tableReader: r, dialect: d}
}

func (t *databaseTable) description(ctx context.Context) (described, error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.found != nil {
		return *t.found, nil
	}
	d, err := t.describe(ctx)
	if err != nil {
		return described{}, err
	}
	t.found = &d
	return d, nil
}

func (t *databaseTable) Describe(ctx context.Context) ([]schema.Column, error) {
	d, err := t.description(ctx)
	return d.columns, err
}

func (t *databaseTable) Count(ctx context.Context, f schema.Filter) (int64, error) {
	d, err := t.description(ctx)
	if err != nil {
		return 0, err
	}
	stmt, err := Select(t.dialect, Selection{Table: d.table, All: d.columns, Filter: f, Count: true})
	if err != nil {
		return 0, err
	}
	return t.count(ctx, stmt)
}

func (t *databaseTable) Preview(ctx context.Context, f schema.Filter, offset, limit int) (Page, error) {
	d, err := t.description(ctx)
	if err != nil {
		return Page{}, err
	}
	stmt, err := Select(t.dialect, Selection{Table: d.table, Columns: d.columns, Filter: f, Order: d.key, Offset: offset, Limit: limit})
	if err != nil {
		return Page{}, err
	}
	return collectPage(ctx, d.columns, limit, func(yield func(*Batch, error) bool) { t.readRows(ctx, stmt, d.columns, yield) })
}

func (t *databaseTable) Stream(ctx context.Context, names []string, f schema.Filter) iter.Seq2[*Batch, error] {
	return func(yield func(*Batch, error) bool) {
		d, err := t.description(ctx)
		var columns []schema.Column
		if err == nil {
			columns, err = chooseColumns(d.columns, names)
		}
		var stmt Statement
		if err == nil {
			stmt, err = Select(t.dialect, Selection{Table: d.table, Columns: columns, All: d.columns, Filter: f})
		}
		if err != nil {
			yield(nil, err)
			return
		}
		t.readRows(ctx, stmt, columns, yield)
	}
}
