package recon

import (
	"context"
	"encoding/json"
	"fmt"
	"reflect"
	"strconv"
	"strings"

	"interlock/internal/query"
)

// A Workspace is a private corner of the embedded engine that lives as long as one
// reconciliation. It holds the two tables and lets tables be made of SELECTs.
//
// Every text that comes here is one SELECT over tables of the workspace, within the
// bounds and the functions that sqlpolicy allows, and every value that a person or a
// file brought is an argument: an implementation checks each statement by the policy,
// like any other. What an implementation over internal/query needs beyond Engine.Run:
//
//   - one worker for the life of the workspace, with the sources attached read-only and
//     a scratch catalog of its own, whose disk and memory are bounded as for a query;
//   - a request that makes a table of a SELECT that the policy allowed (the worker puts
//     CREATE OR REPLACE TABLE "name" AS before it, with the name quoted), after which
//     the table and its columns belong to the policy's scope;
//   - settings of the session: TimeZone UTC, preserve_insertion_order true;
//   - results of up to MaxRows rows in Query;
//   - cancelling by ctx, as Run does.
type Workspace interface {
	// Create makes a table of the rows of a SELECT, in place of one that Create made before.
	Create(ctx context.Context, table, selectSQL string, args ...string) error
	// Query runs a SELECT and gives all of its rows.
	Query(ctx context.Context, selectSQL string, args ...string) (*query.Result, error)
	// Drop removes tables that Create made; others are left alone.
	Drop(ctx context.Context, tables ...string) error
}

// MaxRows is the largest result that Query is asked for.
const MaxRows = 250_000

// selectRows runs a SELECT and fills one T for each row: cells go to fields by position.
func selectRows[T any](ctx context.Context, w Workspace, sql string, args ...string) ([]T, error) {
	res, err := w.Query(ctx, sql, args...)
	if err != nil {
		return nil, err
	}
	if res.Limited {
		return nil, fmt.Errorf("recon: a result has more than %d rows", res.RowCount)
	}
	var cells [][]json.RawMessage
	if err := json.Unmarshal(res.Rows, &cells); err != nil {
		return nil, fmt.Errorf("reading a result: %w", err)
	}
	out := make([]T, len(cells))
	for i, row := range cells {
		v := reflect.ValueOf(&out[i]).Elem()
		if v.NumField() != len(row) {
			return nil, fmt.Errorf("recon: a row of %d cells for %d fields", len(row), v.NumField())
		}
		for j, cell := range row {
			if err := setCell(v.Field(j), cell); err != nil {
				return nil, fmt.Errorf("reading column %s: %w", strconv.Itoa(j), err)
			}
		}
	}
	return out, nil
}

// setCell decodes a cell; numbers may be written as text, as large ones are.
func setCell(field reflect.Value, cell json.RawMessage) error {
	text := string(cell)
	if text == "null" {
		return nil
	}
	if kind := field.Kind(); strings.HasPrefix(text, `"`) && (kind == reflect.Int64 || kind == reflect.Int || kind == reflect.Float64) {
		text = strings.Trim(text, `"`)
		if kind == reflect.Float64 {
			f, err := strconv.ParseFloat(text, 64)
			field.SetFloat(f)
			return err
		}
		n, err := strconv.ParseInt(text, 10, 64)
		field.SetInt(n)
		return err
	}
	return json.Unmarshal([]byte(text), field.Addr().Interface())
}

// selectOne is selectRows of a statement that has exactly one row.
func selectOne[T any](ctx context.Context, w Workspace, sql string, args ...string) (T, error) {
	rows, err := selectRows[T](ctx, w, sql, args...)
	if err == nil && len(rows) != 1 {
		err = fmt.Errorf("recon: %d rows where one is wanted", len(rows))
	}
	if err != nil {
		var none T
		return none, err
	}
	return rows[0], nil
}

// A count is a row of one number.
type count struct{ N int64 }

func (r *Reconciler) count(ctx context.Context, sql string) (int64, error) {
	c, err := selectOne[count](ctx, r.space, sql)
	return c.N, err
}
