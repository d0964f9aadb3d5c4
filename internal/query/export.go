package query

import (
	"bufio"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"

	duck "github.com/duckdb/duckdb-go-bindings"
)

// errTooLarge ends an export whose file would grow beyond what is allowed.
var errTooLarge = &engineErr{Kind: tooLargeKind, Message: "the file would be larger than allowed", Position: -1}

const tooLargeKind = "Too Large"

// A rowWriter writes the rows of a result as a file of some format.
type rowWriter interface {
	begin(t *table) error
	chunk(t *table, rows int) error
	end() error
}

// export writes the whole result into a file of the worker's folder, row by row.
func (r *reader) export(ctx context.Context, o exportOrder) ([]byte, error) {
	path := filepath.Join(r.order.Scratch, filepath.Base(o.File))
	var notes exportNotes
	rows, err := r.exportTo(ctx, o, path, &notes)
	if errors.Is(err, errTooWide) { // digits that the format's number has no room for
		o.wideText, notes = true, nil
		_ = os.Remove(path)
		rows, err = r.exportTo(ctx, o, path, &notes)
	}
	if err != nil {
		_ = os.Remove(path)
		return nil, err
	}
	return json.Marshal(Exported{rows, notes.sentences()})
}

// errTooWide says that an integer has more than the 38 digits of a decimal.
var errTooWide = errors.New("an integer of more than 38 digits")

func (r *reader) exportTo(ctx context.Context, o exportOrder, path string, notes *exportNotes) (int64, error) {
	if o.Format == Parquet {
		return r.exportParquet(ctx, o, path, notes)
	}
	f, err := os.OpenFile(path, os.O_CREATE|os.O_EXCL|os.O_WRONLY, 0o600)
	if err != nil {
		return 0, fmt.Errorf("making the file: %w", err)
	}
	defer f.Close()
	out := bufio.NewWriterSize(&cappedWriter{f, o.MaxBytes}, 256<<10)
	var w rowWriter
	switch o.Format {
	case CSV:
		w = &csvWriter{out: out}
	case NDJSON:
		w = &jsonWriter{out: out, lines: true}
	case Array:
		w = &jsonWriter{out: out}
	case Excel:
		w = &excelWriter{out: out, notes: notes}
	case Arrow:
		w = &arrowWriter{out: out, wideText: o.wideText, notes: notes}
	default:
		return 0, fmt.Errorf("results cannot be exported as %q", o.Format)
	}
	c, t, err := r.open(ctx, o.SQL, o.Args, -1, 0)
	if err != nil {
		return 0, err
	}
	defer c.close()
	rows, err := copyRows(ctx, c, t, w)
	if err != nil {
		return 0, err
	}
	return rows, errors.Join(out.Flush(), f.Close())
}

func copyRows(ctx context.Context, c *cursor, t *table, w rowWriter) (rows int64, err error) {
	if err := w.begin(t); err != nil {
		return 0, err
	}
	for {
		if err := ctx.Err(); err != nil {
			return 0, err
		}
		chunk, ok, err := c.next()
		if err != nil {
			return 0, err
		}
		if !ok {
			return rows, w.end()
		}
		n := t.bind(chunk)
		err = w.chunk(t, n)
		duck.DestroyDataChunk(&chunk)
		if err != nil {
			return 0, err
		}
		rows += int64(n)
	}
}

// exportParquet lets the engine write: its own folder is open to it.
func (r *reader) exportParquet(ctx context.Context, o exportOrder, path string, notes *exportNotes) (int64, error) {
	sql, err := r.parquetSQL(o, notes)
	if err != nil {
		return 0, err
	}
	c, err := r.session.query(ctx, fmt.Sprintf("COPY (\n%s\n) TO %s (FORMAT parquet)", sql, quoteText(path)), o.Args...)
	if e, ok := errors.AsType[*engineErr](err); ok && sql != o.SQL && !o.wideText && strings.EqualFold(e.Kind, "conversion") {
		return 0, errTooWide
	}
	if err != nil {
		return 0, tooLarge(err)
	}
	defer c.close()
	chunk, ok, err := c.next()
	if err != nil || !ok {
		return 0, cmp.Or(tooLarge(err), errNoAnswer)
	}
	rows := *(*int64)(duck.VectorGetData(duck.DataChunkGetVector(chunk, 0)))
	duck.DestroyDataChunk(&chunk)
	info, err := os.Stat(path)
	if err == nil && info.Size() > o.MaxBytes {
		err = errTooLarge
	}
	return rows, err
}

// tooLarge knows the engine's words for a file that the process may not make larger.
func tooLarge(err error) error {
	if e, ok := errors.AsType[*engineErr](err); ok && e.Kind == "IO" && strings.Contains(e.Message, "File too large") {
		return errTooLarge
	}
	return err
}

// A cappedWriter refuses to write more than it may.
type cappedWriter struct {
	w    io.Writer
	left int64
}

func (c *cappedWriter) Write(p []byte) (int, error) {
	if c.left -= int64(len(p)); c.left < 0 {
		return 0, errTooLarge
	}
	return c.w.Write(p)
}

type csvWriter struct {
	out *bufio.Writer
	buf []byte
}

func (w *csvWriter) begin(t *table) error {
	for i, c := range t.columns {
		if i > 0 {
			w.buf = append(w.buf, ',')
		}
		start := len(w.buf)
		w.buf = quoteCSV(append(w.buf, c.Name...), start)
	}
	_, err := w.out.Write(append(w.buf, '\n'))
	return err
}

func (w *csvWriter) chunk(t *table, rows int) error {
	w.buf = w.buf[:0]
	for row := range rows {
		w.buf = t.appendCSV(w.buf, row)
	}
	_, err := w.out.Write(w.buf)
	return err
}

func (w *csvWriter) end() error { return nil }

// A jsonWriter writes objects: one array of them, or one to a line.
type jsonWriter struct {
	out   *bufio.Writer
	lines bool
	some  bool
	buf   []byte
}

func (w *jsonWriter) begin(t *table) error {
	for i, name := range uniqueNames(t.columns) {
		t.columns[i].Name = name
	}
	if w.lines {
		return nil
	}
	return w.out.WriteByte('[')
}

func (w *jsonWriter) chunk(t *table, rows int) error {
	w.buf = w.buf[:0]
	for row := range rows {
		switch {
		case w.lines:
		case w.some:
			w.buf = append(w.buf, ",\n"...)
		default:
			w.some = true
		}
		w.buf = t.appendObject(w.buf, row)
		if w.lines {
			w.buf = append(w.buf, '\n')
		}
	}
	_, err := w.out.Write(w.buf)
	return err
}

func (w *jsonWriter) end() error {
	if w.lines {
		return nil
	}
	_, err := w.out.WriteString("]\n")
	return err
}
