package demo

import "encoding/binary"

// The types of Thrift's compact protocol that Parquet's metadata needs here.
const (
	thriftI32    = 5
	thriftI64    = 6
	thriftBinary = 8
	thriftArray  = 9
	thriftNested = 12
)

// A thriftStruct is a struct in the making. Fields are added in rising order.
type thriftStruct struct {
	bytes []byte
	last  byte
}

func (s *thriftStruct) field(id, kind byte) {
	s.bytes = append(s.bytes, (id-s.last)<<4|kind)
	s.last = id
}

func (s *thriftStruct) i32(id byte, v int32) {
	s.field(id, thriftI32)
	s.bytes = zigzag(s.bytes, int64(v))
}

func (s *thriftStruct) i64(id byte, v int64) {
	s.field(id, thriftI64)
	s.bytes = zigzag(s.bytes, v)
}

func (s *thriftStruct) text(id byte, v string) {
	s.field(id, thriftBinary)
	s.bytes = append(s.bytes, binaryOf(v)...)
}

func (s *thriftStruct) nested(id byte, v thriftStruct) {
	s.field(id, thriftNested)
	s.bytes = append(s.bytes, v.end()...)
}

func (s *thriftStruct) list(id byte, v thriftList) {
	s.field(id, thriftArray)
	if n := len(v.items); n < 15 {
		s.bytes = append(s.bytes, byte(n)<<4|v.kind)
	} else {
		s.bytes = binary.AppendUvarint(append(s.bytes, 0xf0|v.kind), uint64(n))
	}
	for _, item := range v.items {
		s.bytes = append(s.bytes, item...)
	}
}

func (s thriftStruct) end() []byte { return append(s.bytes, 0) }

type thriftList struct {
	kind  byte
	items [][]byte
}

func zigzag(to []byte, v int64) []byte { return binary.AppendVarint(to, v) }

func binaryOf(v string) []byte {
	return append(binary.AppendUvarint(nil, uint64(len(v))), v...)
}
