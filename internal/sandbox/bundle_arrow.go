package sandbox

import (
	"errors"
	"fmt"
	"io"
	"math"
	"os"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"
	"github.com/apache/arrow-go/v18/arrow/ipc"
)

// FromArrow makes a bundle of an Arrow IPC stream: the form in which the query engine
// hands tables over. Types that a bundle does not know become text.
func FromArrow(from, to string) (err error) {
	f, err := os.Open(from)
	if err != nil {
		return fmt.Errorf("opening a table for Python: %w", err)
	}
	defer f.Close()
	r, err := ipc.NewReader(f)
	if err != nil {
		return fmt.Errorf("reading a table for Python: %w", err)
	}
	defer r.Release()
	fields := make([]Field, r.Schema().NumFields())
	for i, af := range r.Schema().Fields() {
		fields[i] = arrowField(af)
	}
	uniqueNames(fields)
	w, err := Create(to, fields)
	if err != nil {
		return err
	}
	for r.Next() {
		batch := r.RecordBatch()
		for i := range fields {
			appendArrow(w, i, fields[i], batch.Column(i))
		}
	}
	if err := r.Err(); err != nil && !errors.Is(err, io.EOF) {
		w.Abort()
		return fmt.Errorf("reading a table for Python: %w", err)
	}
	return w.Close()
}

// narrowDigits always fit into 8 bytes.
const narrowDigits = 18

func arrowField(f arrow.Field) Field {
	out := Field{Name: f.Name, Kind: Text}
	switch t := f.Type.(type) {
	case *arrow.BooleanType:
		out.Kind = Bool
	case *arrow.Int8Type:
		out.Kind = Int8
	case *arrow.Int16Type:
		out.Kind = Int16
	case *arrow.Int32Type:
		out.Kind = Int32
	case *arrow.Int64Type:
		out.Kind = Int64
	case *arrow.Uint8Type:
		out.Kind = Uint8
	case *arrow.Uint16Type:
		out.Kind = Uint16
	case *arrow.Uint32Type:
		out.Kind = Uint32
	case *arrow.Uint64Type:
		out.Kind = Uint64
	case *arrow.Float32Type:
		out.Kind = Float32
	case *arrow.Float64Type:
		out.Kind = Float64
	case *arrow.Date32Type:
		out.Kind = Date
	case *arrow.Time64Type:
		out.Kind = Time
	case *arrow.TimestampType:
		out.Kind = Timestamp
		if t.TimeZone != "" {
			out.Zone = "UTC"
		}
	case *arrow.Decimal128Type:
		out.Kind, out.Scale, out.Wide = Decimal, int(t.Scale), t.Precision > narrowDigits
	case *arrow.BinaryType:
		out.Kind = Bytes
	}
	return out
}

// appendArrow appends a column of a record batch.
func appendArrow(w *Writer, i int, f Field, col arrow.Array) {
	valid := validityBits(col)
	switch c := col.(type) {
	case *array.Boolean:
		values := make([]bool, c.Len())
		for row := range values {
			values[row] = c.Value(row)
		}
		Append(w, i, values, valid)
	case *array.Int8:
		Append(w, i, c.Int8Values(), valid)
	case *array.Int16:
		Append(w, i, c.Int16Values(), valid)
	case *array.Int32:
		Append(w, i, c.Int32Values(), valid)
	case *array.Int64:
		Append(w, i, c.Int64Values(), valid)
	case *array.Uint8:
		Append(w, i, c.Uint8Values(), valid)
	case *array.Uint16:
		Append(w, i, c.Uint16Values(), valid)
	case *array.Uint32:
		Append(w, i, c.Uint32Values(), valid)
	case *array.Uint64:
		Append(w, i, c.Uint64Values(), valid)
	case *array.Float32:
		Append(w, i, c.Float32Values(), valid)
	case *array.Float64:
		Append(w, i, c.Float64Values(), valid)
	case *array.Date32:
		Append(w, i, c.Date32Values(), valid)
	case *array.Time64:
		Append(w, i, c.Time64Values(), valid)
	case *array.Timestamp:
		Append(w, i, toMicros(c), valid)
	case *array.Decimal128:
		appendDecimals(w, i, f, c, valid)
	case *array.Binary:
		values := make([]string, c.Len())
		for row := range values {
			values[row] = string(c.Value(row))
		}
		w.Strings(i, values, valid)
	default:
		values := make([]string, col.Len())
		for row := range values {
			if !col.IsNull(row) {
				values[row] = col.ValueStr(row)
			}
		}
		w.Strings(i, values, valid)
	}
}

func appendDecimals(w *Writer, i int, f Field, c *array.Decimal128, valid []uint64) {
	if !f.Wide {
		values := make([]int64, c.Len())
		for row := range values {
			values[row] = int64(c.Value(row).LowBits())
		}
		Append(w, i, values, valid)
		return
	}
	values := make([][2]uint64, c.Len())
	for row := range values {
		n := c.Value(row)
		values[row] = [2]uint64{n.LowBits(), uint64(n.HighBits())}
	}
	Append(w, i, values, valid)
}

// toMicros returns moments in the bundle's unit. Those beyond it ("infinity") stay
// beyond.
func toMicros(c *array.Timestamp) []int64 {
	values := make([]int64, c.Len())
	up, down := int64(1), int64(1)
	switch c.DataType().(*arrow.TimestampType).Unit {
	case arrow.Second:
		up = 1_000_000
	case arrow.Millisecond:
		up = 1000
	case arrow.Nanosecond:
		down = 1000
	}
	for row, v := range c.TimestampValues() {
		values[row] = min(max(int64(v)/down, math.MinInt64/up), math.MaxInt64/up) * up
	}
	return values
}

// uniqueNames gives columns of one name, such as those of a join, names of their
// own.
func uniqueNames(fields []Field) {
	seen := map[string]bool{}
	for i := range fields {
		name := fields[i].Name
		for n := 1; seen[name]; n++ {
			name = fmt.Sprintf("%s_%d", fields[i].Name, n)
		}
		fields[i].Name = name
		seen[name] = true
	}
}

// validityBits returns the bit mask of a column's values, 1 where there is one; nil
// if all are there.
func validityBits(col arrow.Array) []uint64 {
	if col.NullN() == 0 {
		return nil
	}
	mask := make([]uint64, (col.Len()+63)/64)
	for row := range col.Len() {
		if col.IsValid(row) {
			mask[row/64] |= 1 << (row % 64)
		}
	}
	return mask
}
