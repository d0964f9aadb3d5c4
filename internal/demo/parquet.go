package demo

import (
	"encoding/binary"
	"fmt"
)

// encodeParquet writes the plainest Parquet there is: one row group, one page a
// column, nothing compressed, no NULLs. BIGINT and DECIMAL columns only.
func (t *table) encodeParquet() ([]byte, error) {
	out := []byte(parquetMagic)
	var chunks thriftList
	var total int64
	for i, c := range t.columns {
		page := make([]byte, 0, 8*len(t.rows))
		for _, row := range t.rows {
			n, err := int64Of(row[i])
			if err != nil {
				return nil, fmt.Errorf("column %s: %w", c.name, err)
			}
			page = binary.LittleEndian.AppendUint64(page, uint64(n))
		}
		var levels, header, meta, chunk thriftStruct
		levels.i32(1, int32(len(t.rows)))
		levels.i32(2, encodingPlain)
		levels.i32(3, encodingRLE)
		levels.i32(4, encodingRLE)
		header.i32(1, 0) // a data page
		header.i32(2, int32(len(page)))
		header.i32(3, int32(len(page)))
		header.nested(5, levels)
		start := int64(len(out))
		out = append(append(out, header.end()...), page...)
		size := int64(len(out)) - start
		total += size

		meta.i32(1, typeInt64)
		meta.list(2, thriftList{kind: thriftI32, items: [][]byte{zigzag(nil, encodingPlain)}})
		meta.list(3, thriftList{kind: thriftBinary, items: [][]byte{binaryOf(c.name)}})
		meta.i32(4, 0) // not compressed
		meta.i64(5, int64(len(t.rows)))
		meta.i64(6, size)
		meta.i64(7, size)
		meta.i64(9, start)
		chunk.i64(2, start)
		chunk.nested(3, meta)
		chunks.items = append(chunks.items, chunk.end())
	}
	chunks.kind = thriftNested

	var group, footer thriftStruct
	group.list(1, chunks)
	group.i64(2, total)
	group.i64(3, int64(len(t.rows)))
	footer.i32(1, 1)
	footer.list(2, t.parquetSchema())
	footer.i64(3, int64(len(t.rows)))
	footer.list(4, thriftList{kind: thriftNested, items: [][]byte{group.end()}})
	footer.text(6, "interlock demo")
	tail := footer.end()
	out = append(out, tail...)
	out = binary.LittleEndian.AppendUint32(out, uint32(len(tail)))
	return append(out, parquetMagic...), nil
}

// The numbers of the format.
const (
	parquetMagic     = "PAR1"
	encodingPlain    = 0
	encodingRLE      = 3
	typeInt64        = 2
	convertedDecimal = 5
)

func (t *table) parquetSchema() thriftList {
	var top thriftStruct
	top.text(4, "schema")
	top.i32(5, int32(len(t.columns)))
	schema := thriftList{kind: thriftNested, items: [][]byte{top.end()}}
	for _, c := range t.columns {
		var e thriftStruct
		e.i32(1, typeInt64)
		e.i32(3, 0) // required
		e.text(4, c.name)
		if c.kind == moneyKind {
			e.i32(6, convertedDecimal)
			e.i32(7, 2)
			e.i32(8, 12)
		}
		schema.items = append(schema.items, e.end())
	}
	return schema
}

func int64Of(cell any) (int64, error) {
	switch v := cell.(type) {
	case int:
		return int64(v), nil
	case money:
		return int64(v), nil
	}
	return 0, fmt.Errorf("a cell is a %T", cell)
}
