package query

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"time"
	"unsafe"

	duck "github.com/duckdb/duckdb-go-bindings"
)

// An option is one setting of an instance; their order matters to the engine.
type option struct{ name, value string }

// An instance is one open database of this process.
type instance struct{ db duck.Database }

func openInstance(path string, options ...option) (*instance, error) {
	var config duck.Config
	if duck.CreateConfig(&config) == duck.StateError {
		return nil, errors.New("the engine refuses to make a configuration")
	}
	defer duck.DestroyConfig(&config)
	for _, o := range options {
		if duck.SetConfig(config, o.name, o.value) == duck.StateError {
			return nil, fmt.Errorf("the engine does not know the setting %s=%s", o.name, o.value)
		}
	}
	var in instance
	var message string
	if duck.OpenExt(path, &in.db, config, &message) == duck.StateError {
		duck.Close(&in.db)
		return nil, fmt.Errorf("opening the database: %w", engineError(message))
	}
	return &in, nil
}

func (in *instance) close() { duck.Close(&in.db) }

// A session is one connection: one statement at a time.
type session struct{ conn duck.Connection }

func (in *instance) connect() (*session, error) {
	var s session
	if duck.Connect(in.db, &s.conn) == duck.StateError {
		return nil, errors.New("the engine refuses a connection")
	}
	return &s, nil
}

func (s *session) close() { duck.Disconnect(&s.conn) }

// exec runs trusted statements and drops what they return.
func (s *session) exec(statements ...string) error {
	for _, sql := range statements {
		var r duck.Result
		state := duck.Query(s.conn, sql, &r)
		var err error
		if state == duck.StateError {
			err = engineError(duck.ResultError(&r))
		}
		duck.DestroyResult(&r)
		if err != nil {
			return err
		}
	}
	return nil
}

// interruptOn stops whatever runs on the session once ctx ends. The flag is raised
// again and again, because the engine clears it when it begins to execute.
// The returned function waits until nothing will be interrupted any more.
func (s *session) interruptOn(ctx context.Context) (release func()) {
	if ctx.Done() == nil {
		return func() {}
	}
	over, gone := make(chan struct{}), make(chan struct{})
	stop := context.AfterFunc(ctx, func() {
		defer close(gone)
		tick := time.NewTicker(10 * time.Millisecond)
		defer tick.Stop()
		for {
			duck.Interrupt(s.conn)
			select {
			case <-over:
				return
			case <-tick.C:
			}
		}
	})
	return func() {
		close(over)
		if !stop() {
			<-gone
		}
	}
}

// prepare makes exactly one statement of the text. More than one is an error: the
// engine's own calls would run all but the last while preparing.
func (s *session) prepare(sql string) (duck.PreparedStatement, error) {
	var st duck.PreparedStatement
	var all duck.ExtractedStatements
	n := duck.ExtractStatements(s.conn, sql, &all)
	defer duck.DestroyExtracted(&all)
	switch {
	case n == 0:
		message := duck.ExtractStatementsError(all)
		if message == "" {
			message = "there is no statement"
		}
		return st, engineError(message)
	case n > 1:
		return st, fmt.Errorf("%d statements where one is wanted", n)
	}
	if duck.PrepareExtractedStatement(s.conn, all, 0, &st) == duck.StateError {
		err := engineError(duck.PrepareError(st))
		duck.DestroyPrepare(&st)
		return duck.PreparedStatement{}, err
	}
	return st, nil
}

// A cursor is a running statement whose rows are fetched as they are made.
type cursor struct {
	stmt    duck.PreparedStatement
	result  duck.Result
	release func()
	own     bool // stmt is destroyed with the cursor
}

// query runs one statement with its arguments and streams its result.
func (s *session) query(ctx context.Context, sql string, args ...string) (*cursor, error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	release := s.interruptOn(ctx)
	stmt, err := s.prepare(sql)
	if err != nil {
		release()
		return nil, err
	}
	var c *cursor
	if err = bind(stmt, args); err == nil {
		c, err = start(stmt)
	}
	if err != nil {
		duck.DestroyPrepare(&stmt)
		release()
		return nil, err
	}
	c.own, c.release = true, release
	return c, nil
}

// bind gives a statement the values of its parameters.
func bind(stmt duck.PreparedStatement, args []string) error {
	if n := int(duck.NParams(stmt)); n != len(args) {
		return fmt.Errorf("a statement with %d parameters and %d values", n, len(args))
	}
	for i, a := range args {
		if duck.BindVarchar(stmt, duck.IdxT(i+1), a) == duck.StateError {
			return fmt.Errorf("the engine refuses the value of $%d", i+1)
		}
	}
	return nil
}

// start executes a prepared statement.
func start(stmt duck.PreparedStatement) (*cursor, error) {
	var pending duck.PendingResult
	if duck.PendingPreparedStreaming(stmt, &pending) == duck.StateError {
		err := engineError(duck.PendingError(pending))
		duck.DestroyPending(&pending)
		return nil, err
	}
	c := &cursor{stmt: stmt}
	state := duck.ExecutePending(pending, &c.result)
	duck.DestroyPending(&pending)
	if state == duck.StateError {
		err := engineError(duck.ResultError(&c.result))
		duck.DestroyResult(&c.result)
		return nil, err
	}
	return c, nil
}

// next gives the next chunk of rows, or false at the end. The caller destroys it.
func (c *cursor) next() (duck.DataChunk, bool, error) {
	chunk := duck.FetchChunk(c.result)
	if chunk.Ptr != nil {
		return chunk, true, nil
	}
	if message := duck.ResultError(&c.result); message != "" {
		return chunk, false, engineError(message)
	}
	return chunk, false, nil
}

func (c *cursor) close() {
	duck.DestroyResult(&c.result)
	if c.own {
		duck.DestroyPrepare(&c.stmt)
	}
	if c.release != nil {
		c.release()
	}
}

// column gives name and type of column i; the type is destroyed by the caller.
func (c *cursor) column(i int) (string, duck.LogicalType) {
	return duck.ColumnName(&c.result, duck.IdxT(i)), duck.ColumnLogicalType(&c.result, duck.IdxT(i))
}

func (c *cursor) width() int { return int(duck.ColumnCount(&c.result)) }

// An asker is a prepared statement with one text argument and one text answer. It
// lives as long as the worker.
type asker struct{ stmt duck.PreparedStatement }

func (s *session) asker(sql string) (*asker, error) {
	stmt, err := s.prepare(sql)
	if err != nil {
		return nil, err
	}
	return &asker{stmt}, nil
}

// ask appends the answer to dst.
func (a *asker) ask(dst []byte, arg string) ([]byte, error) {
	if err := bind(a.stmt, []string{arg}); err != nil {
		return dst, err
	}
	c, err := start(a.stmt)
	if err != nil {
		return dst, err
	}
	defer c.close()
	chunk, ok, err := c.next()
	if err != nil || !ok {
		return dst, cmp.Or(err, errNoAnswer)
	}
	defer duck.DestroyDataChunk(&chunk)
	v := duck.DataChunkGetVector(chunk, 0)
	if isNull(duck.VectorGetValidity(v), 0) {
		return dst, errNoAnswer
	}
	return append(dst, textAt(duck.VectorGetData(v), 0)...), nil
}

var errNoAnswer = errors.New("the engine gave no answer")

// textAt reads a string of the engine: 12 bytes sit inline, longer ones elsewhere.
// The bytes live as long as the chunk.
func textAt(data unsafe.Pointer, row int) []byte {
	cell := unsafe.Add(data, row*16)
	n := *(*uint32)(cell)
	if n <= 12 {
		return unsafe.Slice((*byte)(unsafe.Add(cell, 4)), n)
	}
	return unsafe.Slice(*(**byte)(unsafe.Add(cell, 8)), n)
}

// isNull reads a validity mask; no mask means that no row is NULL.
func isNull(mask unsafe.Pointer, row int) bool {
	return mask != nil && *(*uint64)(unsafe.Add(mask, row/64*8))&(1<<(row%64)) == 0
}
