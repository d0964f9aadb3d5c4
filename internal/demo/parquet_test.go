package demo_test

import (
	"bytes"
	"encoding/binary"
	"testing"
)

// fromParquet reads what the generator writes: 64-bit numbers in plain pages. It
// goes by the footer only, as any reader does.
func fromParquet(tb testing.TB, raw []byte, names []string) [][]any {
	tb.Helper()
	if len(raw) < 12 || string(raw[:4]) != "PAR1" || string(raw[len(raw)-4:]) != "PAR1" {
		tb.Fatal("not a Parquet file")
	}
	size := binary.LittleEndian.Uint32(raw[len(raw)-8:])
	footer := readThrift(bytes.NewReader(raw[len(raw)-8-int(size):]))
	count := footer[3].(int64)
	schema := footer[2].([]any)
	chunks := footer[4].([]any)[0].(thrift)[1].([]any)
	if len(schema) != len(names)+1 || len(chunks) != len(names) {
		tb.Fatalf("%d columns described and %d stored, want %d", len(schema)-1, len(chunks), len(names))
	}
	rows := make([][]any, count)
	for i := range rows {
		rows[i] = make([]any, len(names))
	}
	for c, chunk := range chunks {
		if name := schema[c+1].(thrift)[4]; name != names[c] {
			tb.Errorf("column %v, want %s", name, names[c])
		}
		meta := chunk.(thrift)[3].(thrift)
		r := bytes.NewReader(raw[meta[9].(int64):])
		page := readThrift(r)
		if page[5].(thrift)[1] != count || page[3] != 8*count {
			tb.Fatalf("page header %v for %d rows", page, count)
		}
		for i := range rows {
			var n int64
			if err := binary.Read(r, binary.LittleEndian, &n); err != nil {
				tb.Fatal(err)
			}
			rows[i][c] = n
			if scale := schema[c+1].(thrift)[7]; scale == int64(2) {
				rows[i][c] = float64(n) / 100
			}
		}
	}
	return rows
}

// A thrift is a struct by field number, in the compact protocol.
type thrift map[int]any

func readThrift(r *bytes.Reader) thrift {
	out := thrift{}
	for id := 0; ; {
		head, err := r.ReadByte()
		if err != nil || head == 0 {
			return out
		}
		id += int(head >> 4)
		out[id] = readThriftValue(r, head&15)
	}
}

func readThriftValue(r *bytes.Reader, kind byte) any {
	switch kind {
	case 5, 6:
		n, _ := binary.ReadVarint(r)
		return n
	case 8:
		n, _ := binary.ReadUvarint(r)
		text := make([]byte, n)
		r.Read(text)
		return string(text)
	case 9:
		head, _ := r.ReadByte()
		n := uint64(head >> 4)
		if n == 15 {
			n, _ = binary.ReadUvarint(r)
		}
		list := make([]any, n)
		for i := range list {
			list[i] = readThriftValue(r, head&15)
		}
		return list
	case 12:
		return readThrift(r)
	}
	panic("a type that the generator does not write")
}
