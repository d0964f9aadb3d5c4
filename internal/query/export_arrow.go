package query

import (
	"fmt"
	"io"
	"math/big"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"
	"github.com/apache/arrow-go/v18/arrow/decimal128"
	"github.com/apache/arrow-go/v18/arrow/ipc"
	"github.com/apache/arrow-go/v18/arrow/memory"
	duck "github.com/duckdb/duckdb-go-bindings"
)

// An arrowWriter writes an Arrow IPC stream, one batch for each chunk. Types that
// have no plain counterpart are text.
type arrowWriter struct {
	out     io.Writer
	builder *array.RecordBuilder
	writer  *ipc.Writer
	fill    []func(v *vector, row int)
	buf     []byte

	wideText bool // integers of 128 bits are text
	tooWide  bool
	notes    *exportNotes
}

func (w *arrowWriter) begin(t *table) error {
	fields := make([]arrow.Field, len(t.columns))
	for i, c := range t.columns {
		fields[i] = arrow.Field{Name: c.Name, Type: arrowType(t.kinds[i], c.Type.String()), Nullable: true}
		if kind := t.kinds[i]; !w.wideText && (kind == duck.TypeHugeInt || kind == duck.TypeUHugeInt) {
			fields[i].Type = &arrow.Decimal128Type{Precision: 38}
			w.notes.add(c.Name, "Arrow has no "+c.Type.String()+"; the values are decimals", 0)
		} else if fields[i].Type == arrow.BinaryTypes.String && kind != duck.TypeVarchar {
			w.notes.add(c.Name, "the values of "+c.Type.String()+" are text", 0)
		}
	}
	schema := arrow.NewSchema(fields, nil)
	w.builder = array.NewRecordBuilder(memory.DefaultAllocator, schema)
	w.writer = ipc.NewWriter(w.out, ipc.WithSchema(schema))
	for i := range t.columns {
		if b, ok := w.builder.Field(i).(*array.Decimal128Builder); ok && t.kinds[i] != duck.TypeDecimal {
			w.fill = append(w.fill, w.wideFiller(b, t.kinds[i]))
			continue
		}
		w.fill = append(w.fill, w.filler(w.builder.Field(i)))
	}
	return nil
}

func arrowType(kind duck.Type, name string) arrow.DataType {
	switch kind {
	case duck.TypeBoolean:
		return arrow.FixedWidthTypes.Boolean
	case duck.TypeTinyInt:
		return arrow.PrimitiveTypes.Int8
	case duck.TypeSmallInt:
		return arrow.PrimitiveTypes.Int16
	case duck.TypeInteger:
		return arrow.PrimitiveTypes.Int32
	case duck.TypeBigInt:
		return arrow.PrimitiveTypes.Int64
	case duck.TypeUTinyInt:
		return arrow.PrimitiveTypes.Uint8
	case duck.TypeUSmallInt:
		return arrow.PrimitiveTypes.Uint16
	case duck.TypeUInteger:
		return arrow.PrimitiveTypes.Uint32
	case duck.TypeUBigInt:
		return arrow.PrimitiveTypes.Uint64
	case duck.TypeFloat:
		return arrow.PrimitiveTypes.Float32
	case duck.TypeDouble:
		return arrow.PrimitiveTypes.Float64
	case duck.TypeDecimal:
		var p, s int32
		_, _ = fmt.Sscanf(name, "DECIMAL(%d,%d)", &p, &s)
		return &arrow.Decimal128Type{Precision: p, Scale: s}
	case duck.TypeDate:
		return arrow.FixedWidthTypes.Date32
	case duck.TypeTime:
		return arrow.FixedWidthTypes.Time64us
	case duck.TypeTimestamp:
		return &arrow.TimestampType{Unit: arrow.Microsecond}
	case duck.TypeTimestampS:
		return &arrow.TimestampType{Unit: arrow.Second}
	case duck.TypeTimestampMS:
		return &arrow.TimestampType{Unit: arrow.Millisecond}
	case duck.TypeTimestampNS:
		return &arrow.TimestampType{Unit: arrow.Nanosecond}
	case duck.TypeTimestampTZ:
		return arrow.FixedWidthTypes.Timestamp_us
	case duck.TypeBlob:
		return arrow.BinaryTypes.Binary
	}
	return arrow.BinaryTypes.String
}

// filler appends one cell that is not NULL.
func (w *arrowWriter) filler(b array.Builder) func(v *vector, row int) {
	switch b := b.(type) {
	case *array.BooleanBuilder:
		return func(v *vector, row int) { b.Append(at[bool](v, row)) }
	case *array.Int8Builder:
		return func(v *vector, row int) { b.Append(at[int8](v, row)) }
	case *array.Int16Builder:
		return func(v *vector, row int) { b.Append(at[int16](v, row)) }
	case *array.Int32Builder:
		return func(v *vector, row int) { b.Append(at[int32](v, row)) }
	case *array.Int64Builder:
		return func(v *vector, row int) { b.Append(at[int64](v, row)) }
	case *array.Uint8Builder:
		return func(v *vector, row int) { b.Append(at[uint8](v, row)) }
	case *array.Uint16Builder:
		return func(v *vector, row int) { b.Append(at[uint16](v, row)) }
	case *array.Uint32Builder:
		return func(v *vector, row int) { b.Append(at[uint32](v, row)) }
	case *array.Uint64Builder:
		return func(v *vector, row int) { b.Append(at[uint64](v, row)) }
	case *array.Float32Builder:
		return func(v *vector, row int) { b.Append(at[float32](v, row)) }
	case *array.Float64Builder:
		return func(v *vector, row int) { b.Append(at[float64](v, row)) }
	case *array.Decimal128Builder:
		return func(v *vector, row int) { b.Append(v.decimal128(row)) }
	case *array.Date32Builder:
		return func(v *vector, row int) { b.Append(arrow.Date32(at[int32](v, row))) }
	case *array.Time64Builder:
		return func(v *vector, row int) { b.Append(arrow.Time64(at[int64](v, row))) }
	case *array.TimestampBuilder:
		return func(v *vector, row int) { b.Append(arrow.Timestamp(at[int64](v, row))) }
	case *array.BinaryBuilder:
		return func(v *vector, row int) { b.Append(textAt(v.data, row)) }
	case *array.StringBuilder:
		return func(v *vector, row int) {
			w.buf = v.plain(w.buf[:0], row)
			b.BinaryBuilder.Append(w.buf)
		}
	}
	return func(*vector, int) { b.AppendNull() }
}

// wideFiller appends an integer of 128 bits that has at most 38 digits.
func (w *arrowWriter) wideFiller(b *array.Decimal128Builder, kind duck.Type) func(v *vector, row int) {
	return func(v *vector, row int) {
		h := at[int128](v, row)
		n := h.big()
		if kind == duck.TypeUHugeInt && h.hi < 0 || new(big.Int).Abs(n).Cmp(powersOfTen[38]) >= 0 {
			w.tooWide = true
		}
		b.Append(decimal128.New(h.hi, h.lo))
	}
}

// decimal128 reads a decimal of any width.
func (v *vector) decimal128(row int) decimal128.Num {
	switch v.width {
	case 2:
		return decimal128.FromI64(int64(at[int16](v, row)))
	case 4:
		return decimal128.FromI64(int64(at[int32](v, row)))
	case 8:
		return decimal128.FromI64(at[int64](v, row))
	}
	h := at[int128](v, row)
	return decimal128.New(h.hi, h.lo)
}

func (w *arrowWriter) chunk(t *table, rows int) error {
	for i, v := range t.vectors {
		b := w.builder.Field(i)
		for row := range rows {
			if v.null(row) {
				b.AppendNull()
			} else {
				w.fill[i](v, row)
			}
		}
	}
	if w.tooWide {
		return errTooWide
	}
	batch := w.builder.NewRecordBatch()
	defer batch.Release()
	return w.writer.Write(batch)
}

func (w *arrowWriter) end() error { return w.writer.Close() }
