package query

import (
	duck "github.com/duckdb/duckdb-go-bindings"

	"interlock/internal/schema"
)

// A table reads the chunks of a cursor column by column.
type table struct {
	columns []schema.Column
	kinds   []duck.Type
	vectors []*vector
	cuts    int
	exotic  bool // some column has a type that must be cast to text first
}

// describe prepares for the result of a cursor. Texts longer than cut are cut; 0 = none.
func describe(c *cursor, cut int) *table {
	t := &table{}
	for i := range c.width() {
		name, kind := c.column(i)
		v := newVector(kind, cut, &t.cuts)
		t.exotic = t.exotic || v == nil
		t.columns = append(t.columns, schema.Column{Name: name, Type: schema.ParseType(typeName(kind))})
		t.kinds = append(t.kinds, duck.GetTypeId(kind))
		t.vectors = append(t.vectors, v)
		duck.DestroyLogicalType(&kind)
	}
	return t
}

// bind points every vector at the chunk and says how many rows it has.
func (t *table) bind(chunk duck.DataChunk) int {
	for i, v := range t.vectors {
		v.bind(duck.DataChunkGetVector(chunk, duck.IdxT(i)), t.kinds[i])
	}
	return int(duck.DataChunkGetSize(chunk))
}

// appendArray appends a row as a JSON array.
func (t *table) appendArray(dst []byte, row int) []byte {
	dst = append(dst, '[')
	for i, v := range t.vectors {
		if i > 0 {
			dst = append(dst, ',')
		}
		dst = v.json(dst, row)
	}
	return append(dst, ']')
}

// appendObject appends a row as a JSON object. Names that occur twice stay twice.
func (t *table) appendObject(dst []byte, row int) []byte {
	dst = append(dst, '{')
	for i, v := range t.vectors {
		if i > 0 {
			dst = append(dst, ',')
		}
		dst = append(appendJSONText(dst, t.columns[i].Name), ':')
		dst = v.json(dst, row)
	}
	return append(dst, '}')
}

// appendCSV appends a row as a line. NULL is nothing, empty text is "".
func (t *table) appendCSV(dst []byte, row int) []byte {
	for i, v := range t.vectors {
		if i > 0 {
			dst = append(dst, ',')
		}
		if v.null(row) {
			continue
		}
		start := len(dst)
		dst = v.plain(dst, row)
		if v.style == free || v.style == ready {
			dst = quoteCSV(dst, start)
		}
	}
	return append(dst, '\n')
}

// quoteCSV quotes what was appended from start on, if it needs that.
func quoteCSV(dst []byte, start int) []byte {
	need, quotes := len(dst) == start, 0
	for _, c := range dst[start:] {
		switch c {
		case '"':
			quotes++
			need = true
		case ',', '\n', '\r':
			need = true
		}
	}
	if !need {
		return dst
	}
	text := append([]byte(nil), dst[start:]...)
	dst = append(dst[:start], '"')
	for _, c := range text {
		if c == '"' {
			dst = append(dst, '"')
		}
		dst = append(dst, c)
	}
	return append(dst, '"')
}
