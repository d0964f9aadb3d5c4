package query

import (
	"strconv"
	"strings"

	duck "github.com/duckdb/duckdb-go-bindings"

	"interlock/internal/schema"
)

// nested sets up lists, arrays, maps, structs and unions: JSON arrays and objects.
// A map is an array of [key, value], because its keys need not be text.
func (v *vector) nested(t duck.LogicalType, kind duck.Type) {
	v.style = ready
	add := func(child duck.LogicalType) {
		c := newVector(child, v.cut, v.cuts)
		duck.DestroyLogicalType(&child)
		v.children = append(v.children, c)
	}
	switch kind {
	case duck.TypeList:
		add(duck.ListTypeChildType(t))
		v.write = writeList
	case duck.TypeArray:
		add(duck.ArrayTypeChildType(t))
		v.size = int(duck.ArrayTypeArraySize(t))
		v.write = func(v *vector, dst []byte, row int) []byte { return v.appendItems(dst, row*v.size, v.size) }
	case duck.TypeMap:
		add(duck.ListTypeChildType(t))
		if c := v.children[0]; c != nil {
			c.write = writePair
		}
		v.write = writeList
	case duck.TypeStruct:
		for i := range duck.StructTypeChildCount(t) {
			v.names = append(v.names, duck.StructTypeChildName(t, i))
			add(duck.StructTypeChildType(t, i))
		}
		v.write = writeStruct
	case duck.TypeUnion:
		tag := duck.CreateLogicalType(duck.TypeUTinyInt)
		add(tag)
		for i := range duck.UnionTypeMemberCount(t) {
			add(duck.UnionTypeMemberType(t, i))
		}
		v.write = writeUnion
	}
	for _, c := range v.children {
		if c == nil {
			v.write = nil
		}
	}
}

func writeList(v *vector, dst []byte, row int) []byte {
	e := at[[2]uint64](v, row)
	return v.appendItems(dst, int(e[0]), int(e[1]))
}

func (v *vector) appendItems(dst []byte, from, n int) []byte {
	dst = append(dst, '[')
	for i := range n {
		if i > 0 {
			dst = append(dst, ',')
		}
		dst = v.children[0].json(dst, from+i)
	}
	return append(dst, ']')
}

func writeStruct(v *vector, dst []byte, row int) []byte {
	if len(v.names) > 0 && v.names[0] == "" {
		return writePair(v, dst, row)
	}
	dst = append(dst, '{')
	for i, name := range v.names {
		if i > 0 {
			dst = append(dst, ',')
		}
		dst = append(appendJSONText(dst, name), ':')
		dst = v.children[i].json(dst, row)
	}
	return append(dst, '}')
}

// writePair writes a struct without names: a row, or an entry of a map.
func writePair(v *vector, dst []byte, row int) []byte {
	dst = append(dst, '[')
	for i, c := range v.children {
		if i > 0 {
			dst = append(dst, ',')
		}
		dst = c.json(dst, row)
	}
	return append(dst, ']')
}

func writeUnion(v *vector, dst []byte, row int) []byte {
	tag := int(at[uint8](v.children[0], row))
	if tag+1 >= len(v.children) {
		return append(dst, "null"...)
	}
	return v.children[tag+1].json(dst, row)
}

// blobText writes bytes as the engine casts them to text: printable ASCII as it
// is, the rest as \xNN.
func blobText(b []byte) []byte {
	const digits = "0123456789ABCDEF"
	text := make([]byte, 0, len(b)+8)
	for _, c := range b {
		if c >= 0x20 && c < 0x7f && c != '\\' && c != '\'' && c != '"' {
			text = append(text, c)
		} else {
			text = append(text, '\\', 'x', digits[c>>4], digits[c&15])
		}
	}
	return text
}

// typeName gives the engine's name of a type.
func typeName(t duck.LogicalType) string {
	if alias := duck.LogicalTypeGetAlias(t); alias != "" {
		return alias
	}
	child := func(c duck.LogicalType) string {
		defer duck.DestroyLogicalType(&c)
		return typeName(c)
	}
	switch kind := duck.GetTypeId(t); kind {
	case duck.TypeDecimal:
		return schema.Type{Kind: schema.Decimal, Width: int(duck.DecimalWidth(t)), Scale: int(duck.DecimalScale(t))}.String()
	case duck.TypeList:
		return child(duck.ListTypeChildType(t)) + "[]"
	case duck.TypeArray:
		return child(duck.ArrayTypeChildType(t)) + "[" + strconv.Itoa(int(duck.ArrayTypeArraySize(t))) + "]"
	case duck.TypeMap:
		return "MAP(" + child(duck.MapTypeKeyType(t)) + ", " + child(duck.MapTypeValueType(t)) + ")"
	case duck.TypeStruct:
		parts := make([]string, 0, 4)
		for i := range duck.StructTypeChildCount(t) {
			parts = append(parts, quoteName(duck.StructTypeChildName(t, i))+" "+child(duck.StructTypeChildType(t, i)))
		}
		return "STRUCT(" + strings.Join(parts, ", ") + ")"
	case duck.TypeUnion:
		return "UNION"
	case duck.TypeEnum:
		return "ENUM"
	default:
		if name, ok := typeNames[kind]; ok {
			return name
		}
		return "UNKNOWN"
	}
}

var typeNames = map[duck.Type]string{
	duck.TypeBoolean: "BOOLEAN", duck.TypeTinyInt: "TINYINT", duck.TypeSmallInt: "SMALLINT", duck.TypeInteger: "INTEGER",
	duck.TypeBigInt: "BIGINT", duck.TypeUTinyInt: "UTINYINT", duck.TypeUSmallInt: "USMALLINT", duck.TypeUInteger: "UINTEGER",
	duck.TypeUBigInt: "UBIGINT", duck.TypeFloat: "FLOAT", duck.TypeDouble: "DOUBLE", duck.TypeTimestamp: "TIMESTAMP",
	duck.TypeDate: "DATE", duck.TypeTime: "TIME", duck.TypeInterval: "INTERVAL", duck.TypeHugeInt: "HUGEINT",
	duck.TypeUHugeInt: "UHUGEINT", duck.TypeVarchar: "VARCHAR", duck.TypeBlob: "BLOB", duck.TypeTimestampS: "TIMESTAMP_S",
	duck.TypeTimestampMS: "TIMESTAMP_MS", duck.TypeTimestampNS: "TIMESTAMP_NS", duck.TypeUUID: "UUID", duck.TypeBit: "BIT",
	duck.TypeTimeTZ: "TIME WITH TIME ZONE", duck.TypeTimestampTZ: "TIMESTAMP WITH TIME ZONE", duck.TypeBigNum: "BIGNUM",
	duck.TypeSQLNull: "NULL", duck.TypeTimeNS: "TIME_NS", duck.TypeGeometry: "GEOMETRY", duck.TypeVariant: "VARIANT",
}
