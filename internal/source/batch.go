package source

import (
	"fmt"
	"math/big"

	"interlock/internal/schema"
)

// A Batch is some rows, column by column. It is valid until the stream goes on.
type Batch struct {
	Columns []schema.Column
	Rows    int
	vectors []vector
	bytes   int // of texts held
}

// A batch is full at so many rows or so many bytes of text.
const (
	batchRows  = 2048
	batchBytes = 4 << 20
)

// A vector is one column of a batch. Which slice holds the values depends on the type.
type vector struct {
	column schema.Column
	null   []bool
	ints   []int64   // Bool 0 or 1, Int, Date in days, Time, Timestamp and TimestampTZ in µs since 1970, narrow Decimal in units
	floats []float64 // Float
	data   []byte    // the rest: UUID 16 bytes, wide Decimal and Uint as digits, List as JSON
	ends   []int     // where each value ends in data
}

func newBatch(columns []schema.Column) *Batch {
	b := &Batch{Columns: columns, vectors: make([]vector, len(columns))}
	for i, c := range columns {
		b.vectors[i].column = c
	}
	return b
}

func (b *Batch) full() bool { return b.Rows >= batchRows || b.bytes >= batchBytes }

func (b *Batch) reset() {
	b.Rows, b.bytes = 0, 0
	for i := range b.vectors {
		v := &b.vectors[i]
		v.null, v.ints, v.floats, v.ends = v.null[:0], v.ints[:0], v.floats[:0], v.ends[:0]
		if v.data = v.data[:0]; cap(v.data) > batchBytes {
			v.data = nil
		}
	}
}

// endRow counts the row.
func (b *Batch) endRow() { b.Rows++ }

type storage uint8

const (
	asInt storage = iota
	asFloat
	asBytes
)

func storageOf(t schema.Type) storage {
	if t.Kind == schema.Decimal && !fitsInt64(t) {
		return asBytes
	}
	return codecs[t.Kind].storage
}

// fitsInt64 says that a decimal fits 64 bits.
func fitsInt64(t schema.Type) bool { return t.Width > 0 && t.Width <= 18 }

func (v *vector) putNull() {
	switch storageOf(v.column.Type) {
	case asInt:
		v.ints = append(v.ints, 0)
	case asFloat:
		v.floats = append(v.floats, 0)
	default:
		v.ends = append(v.ends, len(v.data))
	}
	v.null = append(v.null, true)
}

func (v *vector) putInt(n int64) {
	v.ints = append(v.ints, n)
	v.null = append(v.null, false)
}

func (v *vector) putFloat(f float64) {
	v.floats = append(v.floats, f)
	v.null = append(v.null, false)
}

func (b *Batch) putBytes(v *vector, p []byte) {
	v.data = append(v.data, p...)
	v.ends = append(v.ends, len(v.data))
	v.null = append(v.null, false)
	b.bytes += len(p)
}

// putUnits stores a decimal given in units of the column's last digit.
func (b *Batch) putUnits(v *vector, units *big.Int) error {
	t := v.column.Type
	if lowest, highest := bounds(t); t.Width > 0 && (units.Cmp(lowest) < 0 || units.Cmp(highest) > 0) {
		return fmt.Errorf("%s does not fit %s", formatUnits(units.String(), t.Scale), t)
	}
	if fitsInt64(t) {
		v.putInt(units.Int64())
		return nil
	}
	b.putBytes(v, []byte(formatUnits(units.String(), t.Scale)))
	return nil
}

// Null says whether a cell is NULL.
func (b *Batch) Null(col, row int) bool { return b.vectors[col].null[row] }

// Int gives a cell of a kind that is held as a whole number.
func (b *Batch) Int(col, row int) int64 { return b.vectors[col].ints[row] }

// Float gives a cell of the kind Float.
func (b *Batch) Float(col, row int) float64 { return b.vectors[col].floats[row] }

// Bytes gives a cell of any other kind.
func (b *Batch) Bytes(col, row int) []byte {
	v := &b.vectors[col]
	from := 0
	if row > 0 {
		from = v.ends[row-1]
	}
	return v.data[from:v.ends[row]]
}
