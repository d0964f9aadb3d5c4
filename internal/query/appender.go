package query

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"math"
	"math/big"
	"time"
	"unicode/utf8"
	"unsafe"

	duck "github.com/duckdb/duckdb-go-bindings"

	"interlock/internal/schema"
)

// An Appender takes the rows of one table, cell by cell, without a call into the
// engine per cell: cells go into a chunk of column vectors that is handed over when
// it is full. A cell that was not set is NULL. The first wrong cell makes EndRow
// fail; nothing after it is stored.
type Appender struct {
	table    string
	columns  []appendColumn
	appender duck.Appender
	chunk    duck.DataChunk
	arena    arena
	row      int // of the chunk
	capacity int
	pending  int // bytes given to the engine and not yet written out
	rows     int64
	repaired int64
	err      error
}

type appendColumn struct {
	schema.Column
	width  int // bytes of a decimal
	vector duck.Vector
	data   unsafe.Pointer
	mask   unsafe.Pointer
	filled int // rows of the chunk that have a value or an explicit NULL
}

// flushBytes bounds what the engine holds before it writes rows out.
const flushBytes = 32 << 20

func newAppender(s *session, table string, columns []schema.Column) (*Appender, error) {
	handle, err := createAppender(s, table)
	if err != nil {
		return nil, err
	}
	a := &Appender{table: table, appender: handle, capacity: int(duck.VectorSize()), columns: make([]appendColumn, len(columns))}
	types := make([]duck.LogicalType, len(columns))
	for i, c := range columns {
		a.columns[i] = appendColumn{Column: c}
		if c.Type.Kind == schema.Decimal {
			a.columns[i].width = decimalWidth(c.Type.Width)
		}
		types[i] = duck.AppenderColumnType(handle, duck.IdxT(i))
	}
	a.chunk = duck.CreateDataChunk(types)
	for i := range types {
		duck.DestroyLogicalType(&types[i])
	}
	a.bind()
	return a, nil
}

// decimalWidth gives the bytes of a decimal with so many digits.
func decimalWidth(digits int) int {
	switch {
	case digits <= 4:
		return 2
	case digits <= 9:
		return 4
	case digits <= 18:
		return 8
	}
	return 16
}

func (a *Appender) bind() {
	for i := range a.columns {
		c := &a.columns[i]
		c.vector = duck.DataChunkGetVector(a.chunk, duck.IdxT(i))
		c.data, c.mask, c.filled = duck.VectorGetData(c.vector), nil, 0
	}
	a.row = 0
}

// Rows says how many rows were taken so far.
func (a *Appender) Rows() int64 { return a.rows }

// Repaired says how many texts were not valid UTF-8 and were stored with the wrong
// bytes replaced.
func (a *Appender) Repaired() int64 { return a.repaired }

// cell claims a cell for a value of one of the kinds, or notes the mistake.
func (a *Appender) cell(col, size int, kinds ...schema.Kind) unsafe.Pointer {
	if a.err != nil {
		return nil
	}
	if col < 0 || col >= len(a.columns) {
		a.err = fmt.Errorf("table %s has no column number %d", a.table, col)
		return nil
	}
	c := &a.columns[col]
	for _, k := range kinds {
		if c.Type.Kind == k {
			c.filled = a.row + 1
			return unsafe.Add(c.data, a.row*size)
		}
	}
	a.err = fmt.Errorf("column %s of %s is %s: a value of another type was given", c.Name, a.table, StoredType(c.Type))
	return nil
}

func (a *Appender) reportMisfit(col int, value any) {
	if a.err == nil {
		c := a.columns[col]
		a.err = fmt.Errorf("row %d of %s: %v does not fit column %s %s", a.rows+1, a.table, value, c.Name, StoredType(c.Type))
	}
}

// Null sets a cell to NULL.
func (a *Appender) Null(col int) {
	if a.err != nil || col < 0 || col >= len(a.columns) {
		return
	}
	c := &a.columns[col]
	if c.mask == nil {
		duck.VectorEnsureValidityWritable(c.vector)
		c.mask = duck.VectorGetValidity(c.vector)
	}
	*(*uint64)(unsafe.Add(c.mask, a.row/64*8)) &^= 1 << (a.row % 64)
	c.filled = a.row + 1
}

// Bool sets a BOOLEAN cell.
func (a *Appender) Bool(col int, v bool) {
	if p := a.cell(col, 1, schema.Bool); p != nil {
		*(*bool)(p) = v
	}
}

// Int sets a cell of any integer, decimal or floating kind, if the number fits.
func (a *Appender) Int(col int, v int64) {
	if a.err != nil || col < 0 || col >= len(a.columns) {
		a.cell(col, 0)
		return
	}
	switch a.columns[col].Type.Kind {
	case schema.Int:
		*(*int64)(a.cell(col, 8, schema.Int)) = v
	case schema.Uint:
		a.setHugeInt(col, v>>63, uint64(v))
	case schema.Decimal:
		a.DecimalInt(col, v, 0)
	case schema.Float:
		a.Float(col, float64(v))
	default:
		a.cell(col, 0)
	}
}

// Uint sets a cell like Int; a column that must hold the whole range is a Uint or a Decimal.
func (a *Appender) Uint(col int, v uint64) {
	switch {
	case v <= math.MaxInt64:
		a.Int(col, int64(v))
	case a.err == nil && col >= 0 && col < len(a.columns) && a.columns[col].Type.Kind == schema.Uint:
		a.setHugeInt(col, 0, v)
	default:
		a.BigInt(col, new(big.Int).SetUint64(v))
	}
}

// BigInt sets a Uint or Decimal cell.
func (a *Appender) BigInt(col int, v *big.Int) {
	if p := a.cell(col, 0, schema.Uint, schema.Decimal); p == nil {
		return
	}
	if a.columns[col].Type.Kind == schema.Decimal {
		a.DecimalBig(col, v, 0)
		return
	}
	hi, lo, ok := split128(v)
	if !ok {
		a.reportMisfit(col, v)
		return
	}
	a.setHugeInt(col, hi, lo)
}

func (a *Appender) setHugeInt(col int, hi int64, lo uint64) {
	if p := a.cell(col, 16, schema.Uint); p != nil {
		*(*uint64)(p), *(*int64)(unsafe.Add(p, 8)) = lo, hi
	}
}

// Float sets a DOUBLE cell.
func (a *Appender) Float(col int, v float64) {
	if p := a.cell(col, 8, schema.Float); p != nil {
		*(*float64)(p) = v
	}
}

// Date sets a DATE cell by days since 1970-01-01.
func (a *Appender) Date(col int, days int32) {
	if p := a.cell(col, 4, schema.Date); p != nil {
		*(*int32)(p) = days
	}
}

// TimeOfDay sets a TIME cell by microseconds since midnight.
func (a *Appender) TimeOfDay(col int, micros int64) {
	if micros < 0 || micros > 86_400_000_000 {
		if a.cell(col, 8, schema.Time) != nil {
			a.reportMisfit(col, micros)
		}
		return
	}
	if p := a.cell(col, 8, schema.Time); p != nil {
		*(*int64)(p) = micros
	}
}

// Timestamp sets a TIMESTAMP or TIMESTAMPTZ cell by microseconds since 1970-01-01
// 00:00:00, of the wall clock or of UTC.
func (a *Appender) Timestamp(col int, micros int64) {
	if p := a.cell(col, 8, schema.Timestamp, schema.TimestampTZ); p != nil {
		*(*int64)(p) = micros
	}
}

// Instant sets a DATE, TIMESTAMP or TIMESTAMPTZ cell: the first two from the clock
// face that t shows, the last from the instant it is.
func (a *Appender) Instant(col int, t time.Time) {
	if a.err != nil || col < 0 || col >= len(a.columns) {
		a.cell(col, 0)
		return
	}
	_, offset := t.Zone()
	switch a.columns[col].Type.Kind {
	case schema.Date:
		seconds := t.Unix() + int64(offset)
		days := seconds / 86400
		if seconds%86400 < 0 {
			days--
		}
		a.Date(col, int32(days))
	case schema.TimestampTZ:
		a.Timestamp(col, t.UnixMicro())
	default:
		a.Timestamp(col, t.UnixMicro()+int64(offset)*1_000_000)
	}
}

// Text sets a VARCHAR or JSON cell. The bytes are copied.
func (a *Appender) Text(col int, v []byte) {
	p := a.cell(col, 16, schema.Text, schema.Other, schema.JSON, schema.List)
	if p == nil {
		return
	}
	if !utf8.Valid(v) {
		a.repaired++
		v = bytes.ToValidUTF8(v, []byte("\uFFFD"))
	}
	a.text(p, v)
}

// String sets a VARCHAR or JSON cell.
func (a *Appender) String(col int, v string) {
	a.Text(col, unsafe.Slice(unsafe.StringData(v), len(v)))
}

// Bytes sets a BLOB cell. The bytes are copied.
func (a *Appender) Bytes(col int, v []byte) {
	if p := a.cell(col, 16, schema.Bytes); p != nil {
		a.text(p, v)
	}
}

func (a *Appender) text(p unsafe.Pointer, v []byte) {
	if len(v) > math.MaxUint32/2 {
		a.err = fmt.Errorf("row %d of %s: a text of %d bytes is too long", a.rows+1, a.table, len(v))
		v = nil
	}
	*(*uint32)(p) = uint32(len(v))
	inline := unsafe.Slice((*byte)(unsafe.Add(p, 4)), 12)
	if len(v) <= 12 {
		clear(inline[copy(inline, v):])
		return
	}
	a.pending += len(v)
	copy(inline[:4], v)
	*(*unsafe.Pointer)(unsafe.Add(p, 8)) = a.arena.copyBytes(v)
}

// UUID sets a UUID cell.
func (a *Appender) UUID(col int, v [16]byte) {
	if p := a.cell(col, 16, schema.UUID); p != nil {
		// The engine flips the first bit so that signed order is text order.
		*(*uint64)(p) = binary.BigEndian.Uint64(v[8:])
		*(*uint64)(unsafe.Add(p, 8)) = binary.BigEndian.Uint64(v[:8]) ^ 1<<63
	}
}

// EndRow ends the row; cells that were not set are NULL.
func (a *Appender) EndRow() error {
	if a.err != nil {
		return a.err
	}
	for i := range a.columns {
		if a.columns[i].filled <= a.row {
			a.Null(i)
		}
	}
	a.row++
	a.rows++
	if a.row == a.capacity || a.arena.used+len(a.arena.full)*arenaBlock > flushBytes {
		return a.flushChunk()
	}
	return nil
}

// flushChunk gives the chunk to the engine, and has it write rows out when it holds many.
func (a *Appender) flushChunk() error {
	if a.row == 0 {
		return nil
	}
	duck.DataChunkSetSize(a.chunk, duck.IdxT(a.row))
	if duck.AppendDataChunk(a.appender, a.chunk) == duck.StateError {
		return a.fail()
	}
	a.pending += a.row * len(a.columns) * 8
	if a.pending > flushBytes {
		if duck.AppenderFlush(a.appender) == duck.StateError {
			return a.fail()
		}
		a.pending = 0
	}
	duck.DataChunkReset(a.chunk)
	a.arena.reset()
	a.bind()
	return nil
}

func (a *Appender) fail() error {
	a.err = fmt.Errorf("storing rows of %s: %w", a.table, engineError(duck.AppenderError(a.appender)))
	return a.err
}

// Close stores what is left. The rows are in the file when the Writer is closed.
func (a *Appender) Close() error {
	if a.appender.Ptr == nil {
		return a.err
	}
	if a.err == nil {
		if err := a.flushChunk(); err == nil && duck.AppenderClose(a.appender) == duck.StateError {
			_ = a.fail() // kept in a.err
		}
	}
	a.discard()
	return a.err
}

func (a *Appender) discard() {
	duck.AppenderDestroy(&a.appender)
	duck.DestroyDataChunk(&a.chunk)
	a.arena.free()
}
