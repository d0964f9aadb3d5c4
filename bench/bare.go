package main

import (
	"errors"
	"strconv"
	"strings"

	duck "github.com/duckdb/duckdb-go-bindings"
)

// A bare is the embedded engine with nothing around it: its own bindings, in this
// process, rows fetched and dropped.
type bare struct {
	db   duck.Database
	conn duck.Connection
}

// openBare opens a database file with as many threads as a worker has; one that
// exists is only read, beside the workers that read it too.
func openBare(path string, threads int) (*bare, error) {
	mode := "AUTOMATIC"
	if size(path) > 0 {
		mode = "READ_ONLY"
	}
	var config duck.Config
	if duck.CreateConfig(&config) == duck.StateError || duck.SetConfig(config, "threads", strconv.Itoa(threads)) == duck.StateError ||
		duck.SetConfig(config, "access_mode", mode) == duck.StateError {
		return nil, errors.New("the engine refuses its configuration")
	}
	defer duck.DestroyConfig(&config)
	var b bare
	var message string
	if duck.OpenExt(path, &b.db, config, &message) == duck.StateError {
		return nil, errors.New(message)
	}
	if duck.Connect(b.db, &b.conn) == duck.StateError {
		duck.Close(&b.db)
		return nil, errors.New("the engine refuses a connection")
	}
	return &b, nil
}

func (b *bare) close() {
	duck.Disconnect(&b.conn)
	duck.Close(&b.db)
}

// run streams the rows of one statement and counts them.
func (b *bare) run(sql string) (rows int64, err error) {
	var stmt duck.PreparedStatement
	defer duck.DestroyPrepare(&stmt)
	if duck.Prepare(b.conn, sql, &stmt) == duck.StateError {
		return 0, errors.New(duck.PrepareError(stmt))
	}
	var pending duck.PendingResult
	defer duck.DestroyPending(&pending)
	if duck.PendingPreparedStreaming(stmt, &pending) == duck.StateError {
		return 0, errors.New(duck.PendingError(pending))
	}
	var result duck.Result
	defer duck.DestroyResult(&result)
	if duck.ExecutePending(pending, &result) == duck.StateError {
		return 0, errors.New(duck.ResultError(&result))
	}
	for {
		chunk := duck.FetchChunk(result)
		if chunk.Ptr == nil {
			break
		}
		rows += int64(duck.DataChunkGetSize(chunk))
		duck.DestroyDataChunk(&chunk)
	}
	if message := duck.ResultError(&result); message != "" {
		return rows, errors.New(message)
	}
	return rows, nil
}

// text is a text as a literal.
func text(s string) string { return "'" + strings.ReplaceAll(s, "'", "''") + "'" }
