package query

import (
	"math"
	"strconv"
	"unsafe"

	duck "github.com/duckdb/duckdb-go-bindings"
)

// A style says how the text of a value is written into JSON or CSV.
type style uint8

const (
	number style = iota // as it is
	wide                // a number that JSON readers may not hold: quoted if too long
	quoted              // text that needs no escape
	free                // any text
	ready               // JSON already
)

// A vector reads one column of the chunk it is bound to. Nested types have
// children, which are vectors as well.
type vector struct {
	style    style
	write    func(v *vector, dst []byte, row int) []byte // all styles but free
	read     func(v *vector, row int) []byte             // free
	data     unsafe.Pointer
	mask     unsafe.Pointer
	scale    int
	width    int      // bytes of a decimal
	size     int      // of a fixed array
	names    []string // of struct fields, union members, enum values
	children []*vector
	wide     bool // the value written last does not fit a JSON number
	cut      int  // longest text, 0 = any
	cuts     *int // how many were cut
}

// bind points the vector at its column of a new chunk.
func (v *vector) bind(from duck.Vector, kind duck.Type) {
	v.data, v.mask = duck.VectorGetData(from), duck.VectorGetValidity(from)
	for i, c := range v.children {
		var child duck.Vector
		switch kind {
		case duck.TypeStruct, duck.TypeUnion:
			child = duck.StructVectorGetChild(from, duck.IdxT(i))
		case duck.TypeArray:
			child = duck.ArrayVectorGetChild(from)
		default:
			child = duck.ListVectorGetChild(from)
		}
		t := duck.VectorGetColumnType(child)
		c.bind(child, duck.GetTypeId(t))
		duck.DestroyLogicalType(&t)
	}
}

func (v *vector) null(row int) bool { return isNull(v.mask, row) }

// at reads a fixed-size value.
func at[T any](v *vector, row int) T {
	return *(*T)(unsafe.Add(v.data, uintptr(row)*unsafe.Sizeof(*new(T))))
}

// json appends a cell as a JSON value.
func (v *vector) json(dst []byte, row int) []byte {
	if v.null(row) {
		return append(dst, "null"...)
	}
	switch v.style {
	case free:
		return appendJSONText(dst, v.text(row))
	case quoted:
		return append(v.write(v, append(dst, '"'), row), '"')
	case wide:
		v.wide = false
		start := len(dst)
		dst = v.write(v, dst, row)
		if v.wide {
			dst = append(dst, 0, 0)
			copy(dst[start+1:], dst[start:len(dst)-2])
			dst[start], dst[len(dst)-1] = '"', '"'
		}
		return dst
	}
	return v.write(v, dst, row)
}

// plain appends a cell as text without quotes; NULL appends nothing.
func (v *vector) plain(dst []byte, row int) []byte {
	if v.null(row) {
		return dst
	}
	if v.style == free {
		return append(dst, v.text(row)...)
	}
	return v.write(v, dst, row)
}

// text gives a free text, at most as much of it as is wanted.
func (v *vector) text(row int) []byte {
	s := v.read(v, row)
	if v.cut == 0 || len(s) <= v.cut {
		return s
	}
	n := v.cut
	for n > 0 && s[n]&0xC0 == 0x80 {
		n--
	}
	*v.cuts++
	return append(s[:n:n], "…"...)
}

// newVector makes the reader of a type, or nil for one that has to be cast to text.
func newVector(t duck.LogicalType, cut int, cuts *int) *vector {
	v := &vector{cut: cut, cuts: cuts}
	switch kind := duck.GetTypeId(t); kind {
	case duck.TypeBoolean:
		v.write = func(v *vector, dst []byte, row int) []byte { return strconv.AppendBool(dst, at[bool](v, row)) }
	case duck.TypeTinyInt:
		v.write = writeInt[int8]
	case duck.TypeSmallInt:
		v.write = writeInt[int16]
	case duck.TypeInteger:
		v.write = writeInt[int32]
	case duck.TypeUTinyInt:
		v.write = writeInt[uint8]
	case duck.TypeUSmallInt:
		v.write = writeInt[uint16]
	case duck.TypeUInteger:
		v.write = writeInt[uint32]
	case duck.TypeBigInt:
		v.style, v.write = wide, writeBigInt
	case duck.TypeUBigInt:
		v.style, v.write = wide, writeUBigInt
	case duck.TypeHugeInt:
		v.style, v.write = wide, writeHuge
	case duck.TypeUHugeInt:
		v.style, v.write = wide, writeUHuge
	case duck.TypeFloat:
		v.style, v.write = wide, func(v *vector, dst []byte, row int) []byte {
			return v.appendFloat(dst, float64(at[float32](v, row)), 32)
		}
	case duck.TypeDouble:
		v.style, v.write = wide, func(v *vector, dst []byte, row int) []byte { return v.appendFloat(dst, at[float64](v, row), 64) }
	case duck.TypeDecimal:
		v.style, v.scale = wide, int(duck.DecimalScale(t))
		v.width = decimalWidth(int(duck.DecimalWidth(t)))
		v.write = decimalWriter(v.width)
	case duck.TypeVarchar:
		v.style, v.read = free, func(v *vector, row int) []byte { return textAt(v.data, row) }
	case duck.TypeBlob:
		v.style, v.read = free, func(v *vector, row int) []byte { return blobText(textAt(v.data, row)) }
	case duck.TypeEnum:
		v.enum(t)
	case duck.TypeSQLNull:
		v.write = func(_ *vector, dst []byte, _ int) []byte { return append(dst, "null"...) }
	case duck.TypeList, duck.TypeMap, duck.TypeArray, duck.TypeStruct, duck.TypeUnion:
		v.nested(t, kind)
	default:
		v.temporal(kind)
	}
	if v.write == nil && v.read == nil {
		return nil
	}
	return v
}

func writeInt[T int8 | int16 | int32 | uint8 | uint16 | uint32](v *vector, dst []byte, row int) []byte {
	return strconv.AppendInt(dst, int64(at[T](v, row)), 10)
}

// safeInteger is the largest integer that every JSON reader holds.
const safeInteger = 1 << 53

func writeBigInt(v *vector, dst []byte, row int) []byte {
	n := at[int64](v, row)
	v.wide = n > safeInteger || n < -safeInteger
	return strconv.AppendInt(dst, n, 10)
}

func writeUBigInt(v *vector, dst []byte, row int) []byte {
	n := at[uint64](v, row)
	v.wide = n > safeInteger
	return strconv.AppendUint(dst, n, 10)
}

// appendFloat writes what reads back as the same number; what JSON has no number
// for is text.
func (v *vector) appendFloat(dst []byte, f float64, bits int) []byte {
	switch {
	case math.IsNaN(f):
		v.wide = true
		return append(dst, "NaN"...)
	case math.IsInf(f, 1):
		v.wide = true
		return append(dst, "Infinity"...)
	case math.IsInf(f, -1):
		v.wide = true
		return append(dst, "-Infinity"...)
	}
	if a := math.Abs(f); a != 0 && (a < 1e-6 || a >= 1e21) {
		return strconv.AppendFloat(dst, f, 'e', -1, bits)
	}
	return strconv.AppendFloat(dst, f, 'f', -1, bits)
}

// enum reads a value of a list of names.
func (v *vector) enum(t duck.LogicalType) {
	for i := range duck.EnumDictionarySize(t) {
		v.names = append(v.names, duck.EnumDictionaryValue(t, duck.IdxT(i)))
	}
	v.style = free
	switch duck.EnumInternalType(t) {
	case duck.TypeUTinyInt:
		v.read = func(v *vector, row int) []byte { return []byte(v.names[at[uint8](v, row)]) }
	case duck.TypeUSmallInt:
		v.read = func(v *vector, row int) []byte { return []byte(v.names[at[uint16](v, row)]) }
	default:
		v.read = func(v *vector, row int) []byte { return []byte(v.names[at[uint32](v, row)]) }
	}
}

const hexDigits = "0123456789abcdef"

// appendJSONText quotes and escapes valid UTF-8.
func appendJSONText[T string | []byte](dst []byte, s T) []byte {
	dst = append(dst, '"')
	from := 0
	for i := range len(s) {
		c := s[i]
		if c >= 0x20 && c != '"' && c != '\\' {
			continue
		}
		dst = append(dst, s[from:i]...)
		from = i + 1
		switch c {
		case '"', '\\':
			dst = append(dst, '\\', c)
		case '\n':
			dst = append(dst, '\\', 'n')
		case '\t':
			dst = append(dst, '\\', 't')
		case '\r':
			dst = append(dst, '\\', 'r')
		default:
			dst = append(dst, '\\', 'u', '0', '0', hexDigits[c>>4], hexDigits[c&15])
		}
	}
	return append(append(dst, s[from:]...), '"')
}
