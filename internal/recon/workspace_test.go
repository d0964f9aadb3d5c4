package recon

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"testing"
	"unsafe"

	duck "github.com/duckdb/duckdb-go-bindings"

	"interlock/internal/query"
	"interlock/internal/schema"
)

// A memorySpace is a Workspace in the memory of the test's own process.
type memorySpace struct {
	db   duck.Database
	conn duck.Connection
	made map[string]bool
}

func newSpace(tb testing.TB) *memorySpace {
	tb.Helper()
	s := &memorySpace{made: map[string]bool{}}
	var message string
	var config duck.Config
	duck.CreateConfig(&config)
	defer duck.DestroyConfig(&config)
	if duck.OpenExt("", &s.db, config, &message) == duck.StateError {
		tb.Fatal(message)
	}
	if duck.Connect(s.db, &s.conn) == duck.StateError {
		tb.Fatal("no connection")
	}
	tb.Cleanup(func() { duck.Disconnect(&s.conn); duck.Close(&s.db) })
	for _, set := range []string{"SET threads=2", "SET memory_limit='4GB'", "SET TimeZone='UTC'"} {
		if err := s.exec(tb.Context(), set, nil, nil); err != nil {
			tb.Fatal(err)
		}
	}
	return s
}

// must runs statements of the test itself.
func (s *memorySpace) must(tb testing.TB, sql string, args ...string) {
	tb.Helper()
	if err := s.exec(tb.Context(), sql, args, nil); err != nil {
		tb.Fatalf("%v\n%s", err, sql)
	}
}

func (s *memorySpace) Create(ctx context.Context, table, sql string, args ...string) error {
	s.made[table] = true
	return s.exec(ctx, "CREATE OR REPLACE TABLE "+name(table)+" AS "+sql, args, nil)
}

func (s *memorySpace) Drop(ctx context.Context, tables ...string) error {
	for _, t := range tables {
		if s.made[t] {
			if err := s.exec(ctx, "DROP TABLE IF EXISTS "+name(t), nil, nil); err != nil {
				return err
			}
		}
	}
	return nil
}

func (s *memorySpace) Query(ctx context.Context, sql string, args ...string) (*query.Result, error) {
	res := &query.Result{}
	rows := []string{}
	err := s.exec(ctx, "SELECT CAST(json_array(*COLUMNS(*)) AS VARCHAR) FROM (\n"+sql+"\n)", args, func(row string) { rows = append(rows, row) })
	if err != nil {
		return nil, err
	}
	res.RowCount, res.Rows = len(rows), json.RawMessage("["+strings.Join(rows, ",")+"]")
	if !strings.HasSuffix(sql, "LIMIT 0") {
		return res, nil
	}
	err = s.exec(ctx, "SELECT CAST(json_array(column_name, column_type) AS VARCHAR) FROM (DESCRIBE "+sql+"\n)", args, func(row string) {
		var column [2]string
		_ = json.Unmarshal([]byte(row), &column)
		res.Columns = append(res.Columns, schema.Column{Name: column[0], Type: schema.ParseType(column[1])})
	})
	if err != nil {
		return nil, err
	}
	return res, nil
}

// exec runs one statement; each takes the first column of its rows, a text.
func (s *memorySpace) exec(ctx context.Context, sql string, args []string, each func(string)) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	var stmt duck.PreparedStatement
	defer duck.DestroyPrepare(&stmt)
	if duck.Prepare(s.conn, sql, &stmt) == duck.StateError {
		return fmt.Errorf("%s\n%s", duck.PrepareError(stmt), sql)
	}
	for i, a := range args {
		duck.BindVarchar(stmt, duck.IdxT(i+1), a)
	}
	stop := context.AfterFunc(ctx, func() { duck.Interrupt(s.conn) })
	defer stop()
	var r duck.Result
	defer duck.DestroyResult(&r)
	if duck.ExecutePrepared(stmt, &r) == duck.StateError {
		return errors.Join(ctx.Err(), fmt.Errorf("%s\n%s", duck.ResultError(&r), sql))
	}
	if each == nil {
		return nil
	}
	for {
		chunk := duck.FetchChunk(r)
		if chunk.Ptr == nil {
			return nil
		}
		data := duck.VectorGetData(duck.DataChunkGetVector(chunk, 0))
		for row := range int(duck.DataChunkGetSize(chunk)) {
			each(cellText(data, row))
		}
		duck.DestroyDataChunk(&chunk)
	}
}

// cellText reads a string of the engine: 12 bytes are inline, longer ones elsewhere.
func cellText(data unsafe.Pointer, row int) string {
	cell := unsafe.Add(data, row*16)
	n := *(*uint32)(cell)
	if n <= 12 {
		return string(unsafe.Slice((*byte)(unsafe.Add(cell, 4)), n))
	}
	return string(unsafe.Slice(*(**byte)(unsafe.Add(cell, 8)), n))
}
