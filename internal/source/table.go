package source

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"iter"
	"strconv"

	"interlock/internal/dialect"
	"interlock/internal/fault"
	"interlock/internal/query"
	"interlock/internal/schema"
)

// An Engine is what files need of the embedded engine.
type Engine interface {
	Run(ctx context.Context, r query.Request) (*query.Result, error)
	Build(ctx context.Context, path string, imports []query.Import, progress query.Progress) (query.Report, error)
}

// A Table is a table of a database that the embedded engine has made of files.
type Table struct {
	engine   Engine
	database query.Database
	name     string
	columns  []schema.Column
}

// NewTable gives a table of a database; the columns are the ones the engine reported.
func NewTable(engine Engine, database query.Database, name string, columns []schema.Column) *Table {
	t := &Table{engine: engine, database: database, name: name}
	for _, c := range columns {
		t.columns = append(t.columns, schema.Column{Name: c.Name, Type: c.Type.Plain(), Native: c.Type.String()})
	}
	return t
}

// Describe gives the columns.
func (t *Table) Describe(context.Context) ([]schema.Column, error) { return t.columns, nil }

// Count counts rows under the filter.
func (t *Table) Count(ctx context.Context, f schema.Filter) (int64, error) {
	result, err := t.run(ctx, Selection{Table: []string{t.name}, All: t.columns, Filter: f, Count: true}, 1)
	if err != nil {
		return 0, err
	}
	var rows [][]json.Number
	if err := json.Unmarshal(result.Rows, &rows); err != nil || len(rows) != 1 || len(rows[0]) != 1 {
		return 0, fmt.Errorf("counting rows of %s: an answer of another form: %.100s", t.name, result.Rows)
	}
	return strconv.ParseInt(rows[0][0].String(), 10, 64)
}

// Preview gives rows in the order of the file.
func (t *Table) Preview(ctx context.Context, f schema.Filter, offset, limit int) (Page, error) {
	result, err := t.run(ctx, Selection{Table: []string{t.name}, Columns: t.columns, Filter: f, Offset: offset, Limit: limit}, limit)
	if err != nil {
		return Page{}, err
	}
	return Page{Columns: t.columns, Rows: result.Rows, Count: result.RowCount}, nil
}

// streamRows is how many rows of a file are read at once.
const streamRows = 20_000

// Stream reads page by page, in the order of the file.
func (t *Table) Stream(ctx context.Context, names []string, f schema.Filter) iter.Seq2[*Batch, error] {
	return func(yield func(*Batch, error) bool) {
		columns, err := chooseColumns(t.columns, names)
		batch := newBatch(columns)
		for offset := 0; err == nil; {
			var result *query.Result
			sel := Selection{Table: []string{t.name}, Columns: columns, All: t.columns, Filter: f, Offset: offset, Limit: streamRows}
			if result, err = t.run(ctx, sel, streamRows); err != nil {
				break
			}
			if result.Cut > 0 {
				err = fault.New(fault.TooLarge, "%s holds a text that is too long to be read row by row", t.name)
				break
			}
			if err = batch.decodeRows(result.Rows, yield); err != nil {
				break
			}
			if offset += result.RowCount; !result.Limited && result.RowCount < streamRows {
				if batch.Rows > 0 {
					yield(batch, nil)
				}
				return
			}
			if result.RowCount == 0 {
				err = fault.New(fault.TooLarge, "a row of %s is too large to be read", t.name)
			}
		}
		if !errors.Is(err, errStopped) {
			yield(nil, err)
		}
	}
}

// Close has nothing to end: the engine belongs to somebody else.
func (t *Table) Close() error { return nil }

func (t *Table) run(ctx context.Context, sel Selection, rows int) (*query.Result, error) {
	stmt, err := Select(dialect.DuckDB, sel)
	if err != nil {
		return nil, err
	}
	result, err := t.engine.Run(ctx, query.Request{Database: t.database, SQL: stmt.Text, Args: stmt.Texts(), MaxRows: rows})
	if err != nil {
		return nil, fmt.Errorf("reading %s: %w", t.name, err)
	}
	return result, nil
}

// decodeRows reads rows of typed JSON.
func (b *Batch) decodeRows(rows json.RawMessage, yield func(*Batch, error) bool) error {
	var cells [][]json.RawMessage
	if err := json.Unmarshal(rows, &cells); err != nil {
		return fmt.Errorf("reading rows: %w", err)
	}
	for n, row := range cells {
		for i, cell := range row {
			if err := b.putJSON(&b.vectors[i], cell); err != nil {
				return &cellError{b.Columns[i].Name, int64(n + 1), err}
			}
		}
		if b.endRow(); b.full() {
			if !yield(b, nil) {
				return errStopped
			}
			b.reset()
		}
	}
	return nil
}

func (b *Batch) putJSON(v *vector, cell json.RawMessage) error {
	switch {
	case string(cell) == "null":
		v.putNull()
		return nil
	case len(cell) > 0 && cell[0] != '"':
		return b.putText(v, cell)
	}
	var text string
	if err := json.Unmarshal(cell, &text); err != nil {
		return err
	}
	if v.column.Type.Kind == schema.Bytes {
		b.putBytes(v, parseBlob(text))
		return nil
	}
	return b.putText(v, []byte(text))
}

// parseBlob is the inverse of blobText.
func parseBlob(text string) []byte {
	raw := make([]byte, 0, len(text))
	for i := 0; i < len(text); i++ {
		if text[i] == '\\' && i+3 < len(text) {
			if n, err := strconv.ParseUint(text[i+2:i+4], 16, 8); err == nil {
				raw = append(raw, byte(n))
				i += 3
				continue
			}
		}
		raw = append(raw, text[i])
	}
	return raw
}
