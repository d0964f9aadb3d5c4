package sandbox

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"math/big"
	"os"
	"strconv"
	"strings"
	"time"

	"golang.org/x/sys/unix"

	"interlock/internal/schema"
)

// writeUnnamed writes the rows as a bundle to a file without a name, so that
// nothing is left of it whatever happens.
func (r *Result) writeUnnamed(dir string) (*os.File, error) {
	fd, err := unix.Open(dir, unix.O_TMPFILE|unix.O_RDWR|unix.O_CLOEXEC, 0o600)
	if err != nil {
		return nil, fmt.Errorf("spooling a result: %w", err)
	}
	f := os.NewFile(uintptr(fd), "result")
	if err := r.writeBundle(f); err != nil {
		return nil, errors.Join(err, f.Close())
	}
	return f, nil
}

func (r *Result) writeBundle(f *os.File) error {
	fields, fill, err := r.bundleColumns()
	if err != nil {
		return err
	}
	w, err := newWriter(f, fields)
	if err != nil {
		return err
	}
	for i, f := range fill {
		f(w, i)
	}
	return w.finish()
}

// FromResult makes a bundle of rows, for a result that many jobs will use.
func FromResult(r Result, to string) error {
	fields, fill, err := r.bundleColumns()
	if err != nil {
		return err
	}
	w, err := Create(to, fields)
	if err != nil {
		return err
	}
	for i, f := range fill {
		f(w, i)
	}
	return w.Close()
}

// bundleColumns returns the form of each column, and what fills it.
func (r *Result) bundleColumns() ([]Field, []func(*Writer, int), error) {
	cells, err := r.transpose()
	if err != nil {
		return nil, nil, err
	}
	fields, fill := make([]Field, len(cells)), make([]func(*Writer, int), len(cells))
	for i, c := range r.Columns {
		fields[i], fill[i] = convertColumn(c, cells[i])
	}
	uniqueNames(fields)
	return fields, fill, nil
}

// transpose returns the cells by column.
func (r *Result) transpose() ([][]json.RawMessage, error) {
	var rows [][]json.RawMessage
	if len(r.Rows) > 0 {
		if err := json.Unmarshal(r.Rows, &rows); err != nil {
			return nil, fmt.Errorf("reading a result's rows: %w", err)
		}
	}
	out := make([][]json.RawMessage, len(r.Columns))
	for i := range out {
		out[i] = make([]json.RawMessage, len(rows))
	}
	for n, row := range rows {
		if len(row) != len(out) {
			return nil, fmt.Errorf("row %d of a result has %d cells and not %d", n, len(row), len(out))
		}
		for i, cell := range row {
			out[i][n] = cell
		}
	}
	return out, nil
}

// convertColumn finds the bundle's form for a column; where a value does not fit
// its type ("infinity"), the column is text.
func convertColumn(c schema.Column, cells []json.RawMessage) (Field, func(*Writer, int)) {
	kind, _, _ := strings.Cut(strings.ToUpper(c.Type.String()), "(")
	integer := func(k Kind) (Field, func(*Writer, int)) {
		return fixedOrText(Field{Name: c.Name, Kind: k}, cells, func(s string) (int64, error) { return strconv.ParseInt(s, 10, 64) })
	}
	moment := func(f Field, unit int64, layouts ...string) (Field, func(*Writer, int)) {
		return fixedOrText(f, cells, func(s string) (int64, error) { return parseTime(s, unit, layouts) })
	}
	switch {
	case strings.HasSuffix(c.Type.String(), "]") || kind == "JSON" || kind == "STRUCT" || kind == "MAP":
		return Field{Name: c.Name, Kind: JSON}, toStrings(cells, func(raw json.RawMessage) string { return string(raw) })
	case kind == "BOOLEAN":
		return fixedOrText(Field{Name: c.Name, Kind: Bool}, cells, strconv.ParseBool)
	case kind == "TINYINT" || kind == "SMALLINT" || kind == "INTEGER" || kind == "BIGINT" || kind == "UTINYINT" || kind == "USMALLINT" || kind == "UINTEGER":
		return integer(Int64)
	case kind == "UBIGINT":
		return fixedOrText(Field{Name: c.Name, Kind: Uint64}, cells, func(s string) (uint64, error) { return strconv.ParseUint(s, 10, 64) })
	case kind == "HUGEINT" || kind == "UHUGEINT":
		return decimalsOrText(Field{Name: c.Name, Kind: Decimal, Wide: true}, cells)
	case kind == "FLOAT" || kind == "REAL" || kind == "DOUBLE":
		return fixedOrText(Field{Name: c.Name, Kind: Float64}, cells, func(s string) (float64, error) { return strconv.ParseFloat(s, 64) })
	case kind == "DECIMAL":
		precision, scale, ok := decimalScale(c.Type.String())
		if !ok {
			return Field{Name: c.Name, Kind: Text}, toStrings(cells, cellText)
		}
		return decimalsOrText(Field{Name: c.Name, Kind: Decimal, Scale: scale, Wide: precision > 18}, cells)
	case kind == "DATE":
		f := Field{Name: c.Name, Kind: Date}
		return fixedOrText(f, cells, func(s string) (int32, error) {
			n, err := parseTime(s, 86_400_000_000, []string{"2006-01-02"})
			return int32(n), err
		})
	case strings.HasPrefix(kind, "TIMESTAMP") && (strings.HasSuffix(kind, "ZONE") || kind == "TIMESTAMPTZ"):
		return moment(Field{Name: c.Name, Kind: Timestamp, Zone: "UTC"}, 1, "2006-01-02 15:04:05.999999999Z07", "2006-01-02 15:04:05.999999999Z07:00", time.RFC3339Nano)
	case strings.HasPrefix(kind, "TIMESTAMP"):
		return moment(Field{Name: c.Name, Kind: Timestamp}, 1, "2006-01-02 15:04:05.999999999", "2006-01-02T15:04:05.999999999")
	case kind == "TIME":
		return fixedOrText(Field{Name: c.Name, Kind: Time}, cells, func(s string) (int64, error) {
			t, err := time.Parse("15:04:05.999999999", s)
			return t.Sub(t.Truncate(24 * time.Hour)).Microseconds(), err
		})
	}
	return Field{Name: c.Name, Kind: Text}, toStrings(cells, cellText)
}

func parseTime(s string, unit int64, layouts []string) (int64, error) {
	var err error
	for _, layout := range layouts {
		var t time.Time
		if t, err = time.Parse(layout, s); err == nil {
			return t.UnixMicro() / unit, nil
		}
	}
	return 0, err
}

func isNull(raw json.RawMessage) bool { return len(raw) == 0 || bytes.Equal(raw, []byte("null")) }

// cellText returns a cell as people read it: a JSON string without its quotes, else
// the JSON.
func cellText(raw json.RawMessage) string {
	var s string
	if len(raw) > 0 && raw[0] == '"' && json.Unmarshal(raw, &s) == nil {
		return s
	}
	return string(raw)
}

// fixedOrText parses every cell, or returns a text column.
func fixedOrText[T ~int32 | ~int64 | ~uint64 | ~float64 | ~bool](f Field, cells []json.RawMessage, parse func(string) (T, error)) (Field, func(*Writer, int)) {
	values, valid := make([]T, len(cells)), make([]uint64, (len(cells)+63)/64)
	for i, raw := range cells {
		if isNull(raw) {
			continue
		}
		v, err := parse(cellText(raw))
		if err != nil {
			return Field{Name: f.Name, Kind: Text}, toStrings(cells, cellText)
		}
		values[i] = v
		valid[i/64] |= 1 << (i % 64)
	}
	return f, func(w *Writer, i int) { Append(w, i, values, valid) }
}

// decimalsOrText parses exact numbers, or returns a text column.
func decimalsOrText(f Field, cells []json.RawMessage) (Field, func(*Writer, int)) {
	scale := new(big.Int).Exp(big.NewInt(10), big.NewInt(int64(f.Scale)), nil)
	wide, narrow := make([][2]uint64, len(cells)), make([]int64, len(cells))
	valid := make([]uint64, (len(cells)+63)/64)
	for i, raw := range cells {
		if isNull(raw) {
			continue
		}
		n, ok := parseUnscaled(cellText(raw), scale)
		if !ok || n.BitLen() > 127 || !f.Wide && !n.IsInt64() {
			return Field{Name: f.Name, Kind: Text}, toStrings(cells, cellText)
		}
		wide[i], narrow[i] = twosComplement(n), n.Int64()
		valid[i/64] |= 1 << (i % 64)
	}
	if f.Wide {
		return f, func(w *Writer, i int) { Append(w, i, wide, valid) }
	}
	return f, func(w *Writer, i int) { Append(w, i, narrow, valid) }
}

// parseUnscaled reads a number and multiplies it by the scale; false when digits
// would be lost.
func parseUnscaled(s string, scale *big.Int) (*big.Int, bool) {
	if _, exponent, ok := strings.Cut(strings.ToLower(s), "e"); len(s) > 100 || ok && len(exponent) > len("-99") {
		return nil, false
	}
	r, ok := new(big.Rat).SetString(s)
	if !ok {
		return nil, false
	}
	r.Mul(r, new(big.Rat).SetInt(scale))
	return r.Num(), r.IsInt()
}

// twosComplement returns n in two's complement, low word first.
func twosComplement(n *big.Int) [2]uint64 {
	v := n
	if n.Sign() < 0 {
		v = new(big.Int).Add(new(big.Int).Lsh(big.NewInt(1), 128), n)
	}
	low := new(big.Int).And(v, new(big.Int).SetUint64(^uint64(0)))
	return [2]uint64{low.Uint64(), new(big.Int).Rsh(v, 64).Uint64()}
}

func toStrings(cells []json.RawMessage, form func(json.RawMessage) string) func(*Writer, int) {
	values, valid := make([]string, len(cells)), make([]uint64, (len(cells)+63)/64)
	for i, raw := range cells {
		if !isNull(raw) {
			values[i] = form(raw)
			valid[i/64] |= 1 << (i % 64)
		}
	}
	return func(w *Writer, i int) { w.Strings(i, values, valid) }
}
