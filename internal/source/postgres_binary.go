package source

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"math"
	"math/big"
	"time"

	"interlock/internal/schema"
)

// A rowReader turns PostgreSQL's binary rows into batches. As a writer it takes the
// stream of COPY in pieces of any size.
type rowReader struct {
	batch    *Batch
	decoders []decoder
	yield    func(*Batch, error) bool
	count    int64
	err      error

	fields  [][]byte
	rest    []byte // an unfinished row
	started bool   // the header was seen
	ended   bool   // the trailer was seen
}

type decoder func(b *Batch, v *vector, p []byte) error

var errShort = errors.New("the value has a wrong length")

// maxRow bounds one row.
const maxRow = 256 << 20

func newRowReader(columns []schema.Column, yield func(*Batch, error) bool) *rowReader {
	r := &rowReader{batch: newBatch(columns), yield: yield, fields: make([][]byte, len(columns))}
	for _, c := range columns {
		r.decoders = append(r.decoders, decoderFor(c))
	}
	return r
}

func (r *rowReader) row(fields [][]byte) error {
	if len(fields) != len(r.decoders) {
		return fmt.Errorf("a row has %d values, not %d", len(fields), len(r.decoders))
	}
	r.count++
	for i, p := range fields {
		v := &r.batch.vectors[i]
		if p == nil {
			v.putNull()
		} else if err := r.decoders[i](r.batch, v, p); err != nil {
			return &cellError{v.column.Name, r.count, err}
		}
	}
	if r.batch.endRow(); r.batch.full() {
		return r.flush()
	}
	return nil
}

func (r *rowReader) flush() error {
	if r.batch.Rows == 0 {
		return nil
	}
	if !r.yield(r.batch, nil) {
		return errStopped
	}
	r.batch.reset()
	return nil
}

var copyHeader = []byte("PGCOPY\n\xff\r\n\x00")

// Write takes the next piece of a COPY in binary.
func (r *rowReader) Write(p []byte) (int, error) {
	data := p
	if len(r.rest) > 0 {
		r.rest = append(r.rest, p...)
		data = r.rest
	}
	if !r.started {
		size, err := headerSize(data)
		if err != nil {
			r.err = err
			return 0, err
		}
		if size == 0 {
			r.rest = append(r.rest[:0], data...)
			return len(p), nil
		}
		data = data[size:]
		r.started = true
	}
	for len(data) > 0 && !r.ended {
		n, err := r.tuple(data)
		if err != nil {
			r.err = err
			return 0, err
		}
		if n == 0 {
			break
		}
		data = data[n:]
	}
	if len(data) > maxRow {
		r.err = fmt.Errorf("a row is longer than %d MB", maxRow>>20)
		return 0, r.err
	}
	r.rest = append(r.rest[:0], data...)
	return len(p), nil
}

// headerSize gives the length of what stands before the rows, 0 if it is not all there.
func headerSize(data []byte) (int, error) {
	if len(data) < 19 {
		return 0, nil
	}
	if !bytes.HasPrefix(data, copyHeader) {
		return 0, errors.New("the data does not begin like a binary COPY")
	}
	extension := binary.BigEndian.Uint32(data[15:])
	if extension > 1<<20 {
		return 0, errors.New("the data has a header that is too long")
	}
	if size := 19 + int(extension); len(data) >= size {
		return size, nil
	}
	return 0, nil
}

// tuple takes one row and says how long it was, 0 if it is not all there.
func (r *rowReader) tuple(data []byte) (int, error) {
	if len(data) < 2 {
		return 0, nil
	}
	n := int(int16(binary.BigEndian.Uint16(data)))
	if n < 0 {
		r.ended = true
		return 2, nil
	}
	if n != len(r.fields) {
		return 0, fmt.Errorf("a row has %d values, not %d", n, len(r.fields))
	}
	at := 2
	for i := range r.fields {
		if len(data) < at+4 {
			return 0, nil
		}
		size := int(int32(binary.BigEndian.Uint32(data[at:])))
		at += 4
		if size < 0 {
			r.fields[i] = nil
			continue
		}
		if len(data)-at < size {
			return 0, nil
		}
		r.fields[i] = data[at : at+size]
		at += size
	}
	return at, r.row(r.fields)
}

// PostgreSQL counts from 2000-01-01.
const (
	epochDays   = 10957
	epochMicros = 946_684_800_000_000
)

func decoderFor(c schema.Column) decoder {
	switch c.Type.Kind {
	case schema.Bool:
		return fixed(1, func(p []byte) int64 { return int64(p[0]) })
	case schema.Int:
		switch c.Native {
		case "int2":
			return fixed(2, func(p []byte) int64 { return int64(int16(binary.BigEndian.Uint16(p))) })
		case "int4":
			return fixed(4, func(p []byte) int64 { return int64(int32(binary.BigEndian.Uint32(p))) })
		case "oid":
			return fixed(4, func(p []byte) int64 { return int64(binary.BigEndian.Uint32(p)) })
		}
		return fixed(8, bigEndian)
	case schema.Float:
		return decodeFloat
	case schema.Decimal:
		return decodeNumeric
	case schema.Date:
		return decodeDate
	case schema.Time:
		return decodeTime
	case schema.Timestamp, schema.TimestampTZ:
		return decodeTimestamp
	case schema.UUID:
		return func(b *Batch, v *vector, p []byte) error {
			if len(p) != 16 {
				return errShort
			}
			b.putBytes(v, p)
			return nil
		}
	}
	return func(b *Batch, v *vector, p []byte) error { b.putBytes(v, p); return nil }
}

func bigEndian(p []byte) int64 { return int64(binary.BigEndian.Uint64(p)) }

func fixed(size int, read func([]byte) int64) decoder {
	return func(_ *Batch, v *vector, p []byte) error {
		if len(p) != size {
			return errShort
		}
		v.putInt(read(p))
		return nil
	}
}

func decodeFloat(_ *Batch, v *vector, p []byte) error {
	switch len(p) {
	case 4:
		v.putFloat(float64(math.Float32frombits(binary.BigEndian.Uint32(p))))
	case 8:
		v.putFloat(math.Float64frombits(binary.BigEndian.Uint64(p)))
	default:
		return errShort
	}
	return nil
}

// The days from 0001-01-01 until before 294247-01-01, counted from 1970, are those that
// PostgreSQL and the embedded engine both have and print alike.
var (
	firstDay    = time.Date(1, 1, 1, 0, 0, 0, 0, time.UTC).Unix() / 86400
	dayAfterAll = time.Date(294247, 1, 1, 0, 0, 0, 0, time.UTC).Unix() / 86400
)

const microsPerDay = 86_400_000_000

var (
	errFarDay   = errors.New("the moment is before the year 1 or after the year 294246; a view can give it as text")
	errFullTime = errors.New("24:00:00 is no time of a day; a view can give it as text")
)

func decodeDate(_ *Batch, v *vector, p []byte) error {
	if len(p) != 4 {
		return errShort
	}
	days := int64(int32(binary.BigEndian.Uint32(p)))
	switch days {
	case math.MaxInt32:
		v.putInt(infinityDays)
		return nil
	case math.MinInt32:
		v.putInt(-infinityDays)
		return nil
	}
	if days += epochDays; days < firstDay || days >= dayAfterAll {
		return errFarDay
	}
	v.putInt(days)
	return nil
}

func decodeTime(_ *Batch, v *vector, p []byte) error {
	if len(p) != 8 {
		return errShort
	}
	micros := bigEndian(p)
	if micros < 0 || micros >= microsPerDay {
		return errFullTime
	}
	v.putInt(micros)
	return nil
}

func decodeTimestamp(_ *Batch, v *vector, p []byte) error {
	if len(p) != 8 {
		return errShort
	}
	micros := bigEndian(p)
	switch micros {
	case math.MaxInt64:
		v.putInt(infinity)
		return nil
	case math.MinInt64:
		v.putInt(-infinity)
		return nil
	}
	// Compared before the sum, which may not fit 64 bits.
	if micros < firstDay*microsPerDay-epochMicros || micros >= dayAfterAll*microsPerDay-epochMicros {
		return errFarDay
	}
	v.putInt(micros + epochMicros)
	return nil
}

// decodeNumeric reads base-10000 digits: count, weight of the first, sign, scale.
func decodeNumeric(b *Batch, v *vector, p []byte) error {
	if len(p) < 8 || len(p) != 8+2*int(binary.BigEndian.Uint16(p)) {
		return errShort
	}
	digits := p[8:]
	weight := int(int16(binary.BigEndian.Uint16(p[2:])))
	sign := binary.BigEndian.Uint16(p[4:])
	if sign != 0 && sign != 0x4000 {
		return errors.New("NaN or infinity is no decimal; a view can give it as text")
	}
	scale := v.column.Type.Scale
	if fitsInt64(v.column.Type) && weight < 3 {
		if n, ok := narrowNumeric(digits, weight, scale); ok && n < pow10[v.column.Type.Width] {
			if sign != 0 {
				n = -n
			}
			v.putInt(n)
			return nil
		}
	}
	units, base := new(big.Int), big.NewInt(10000)
	for i := 0; i < len(digits); i += 2 {
		units.Mul(units, base).Add(units, big.NewInt(int64(binary.BigEndian.Uint16(digits[i:]))))
	}
	// The last digit counts 10000^(weight-count+1); bring it to 10^-scale.
	shift := 4*(weight-len(digits)/2+1) + scale
	power := new(big.Int).Exp(big.NewInt(10), big.NewInt(int64(max(shift, -shift))), nil)
	if shift >= 0 {
		units.Mul(units, power)
	} else if _, rest := units.QuoRem(units, power, new(big.Int)); rest.Sign() != 0 {
		return fmt.Errorf("it has more digits than %s: the table changed while it was read", v.column.Type)
	}
	if sign != 0 {
		units.Neg(units)
	}
	return b.putUnits(v, units)
}

// narrowNumeric is the everyday case in 64 bits; not ok means "the long way".
func narrowNumeric(digits []byte, weight, scale int) (n int64, ok bool) {
	for i := range weight + 1 {
		var d int64
		if 2*i < len(digits) {
			d = int64(binary.BigEndian.Uint16(digits[2*i:]))
		}
		n = n*10000 + d
	}
	for i, left := weight+1, scale; left > 0; i, left = i+1, left-4 {
		var d int64
		if i >= 0 && 2*i < len(digits) {
			d = int64(binary.BigEndian.Uint16(digits[2*i:]))
		}
		take := min(left, 4)
		if n > math.MaxInt64/20000 || d%pow10[4-take] != 0 {
			return 0, false
		}
		n = n*pow10[take] + d/pow10[4-take]
	}
	// Nothing may be left over.
	for i := weight + 1 + (scale+3)/4; 2*i < len(digits); i++ {
		if i >= 0 && binary.BigEndian.Uint16(digits[2*i:]) != 0 {
			return 0, false
		}
	}
	return n, true
}
