package source

import (
	"bufio"
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math"
	"strconv"
)

// A sqliteKind is SQLite's storage class of a value.
type sqliteKind byte

const (
	sqliteNull sqliteKind = iota
	sqliteInt
	sqliteReal
	sqliteText
	sqliteBlob
)

// A sqliteValue is one cell. Bytes are borrowed: they are valid for the row only.
type sqliteValue struct {
	Kind  sqliteKind
	Int   int64
	Real  float64
	Bytes []byte
}

// text writes a value so that nothing of it is lost: all digits of a number, bytes as
// the embedded engine prints them.
func (v sqliteValue) text(dst []byte) []byte {
	switch v.Kind {
	case sqliteInt:
		return strconv.AppendInt(dst, v.Int, 10)
	case sqliteReal:
		return appendReal(dst, v.Real)
	case sqliteBlob:
		return append(dst, blobText(v.Bytes)...)
	}
	return append(dst, v.Bytes...)
}

// appendReal writes a number that is not whole by kind, like SQLite: 1.0 is not 1.
func appendReal(dst []byte, f float64) []byte {
	if math.IsInf(f, 0) {
		return append(dst, map[bool]string{true: "Infinity", false: "-Infinity"}[f > 0]...)
	}
	begin := len(dst)
	dst = strconv.AppendFloat(dst, f, 'g', -1, 64)
	for _, c := range dst[begin:] {
		if c == '.' || c == 'e' {
			return dst
		}
	}
	return append(dst, ".0"...)
}

// A sqliteArg is a value that is bound to a statement.
type sqliteArg struct {
	Int   *int64   `json:",omitempty"`
	Float *float64 `json:",omitempty"`
	Text  string   `json:",omitempty"`
}

func sqliteArgs(values []any) []sqliteArg {
	args := make([]sqliteArg, len(values))
	for i, v := range values {
		switch x := v.(type) {
		case int64:
			args[i].Int = &x
		case int:
			n := int64(x)
			args[i].Int = &n
		case bool:
			n := map[bool]int64{true: 1}[x]
			args[i].Int = &n
		case float64:
			args[i].Float = &x
		default:
			args[i].Text = fmt.Sprint(x)
		}
	}
	return args
}

// A sqliteOrder is what a worker is asked for. Statements of this program are run as
// they are; those of somebody else come with what they may touch.
type sqliteOrder struct {
	File  string
	Table string         `json:",omitempty"` // to be described
	SQL   string         `json:",omitempty"`
	Args  []sqliteArg    `json:",omitempty"`
	Allow *sqliteAllowed `json:",omitempty"`
	Check bool           `json:",omitempty"` // only judge the statement

	MaxRows  int64 // of the answer
	MaxBytes int64 // of the answer
	MaxRow   int64 // bytes of one row
}

// A sqliteReport ends an answer.
type sqliteReport struct {
	Rows, Bytes int64
	Limited     bool           // there were more rows
	Columns     []sqliteColumn `json:",omitempty"`
	Reading     *sqliteReading `json:",omitempty"`
}

// A sqliteColumn is a column of a table or of a result.
type sqliteColumn struct {
	Name     string
	Declared string     // in capitals
	Key      int        `json:",omitempty"` // its place in the primary key, from 1
	Seen     sqliteSeen // of a table that was described
}

// Messages between this program and a worker: kind 1 byte · length 4 bytes · payload.
const (
	sqliteAsk     = 'a' // sqliteOrder
	sqliteHead    = 'h' // []sqliteColumn
	sqliteRows    = 'r' // rows, cell by cell
	sqliteDone    = 'd' // sqliteReport
	sqliteFailed  = 'x' // sqliteErr
	sqliteHeadLen = 5
)

// Bounds of messages. A row is whole in one.
const (
	sqliteMaxRow   = 64 << 20
	sqliteMaxFrame = sqliteMaxRow + 1<<20
	sqliteFrame    = 128 << 10 // that is sent once it is full
)

func writeSQLite(w io.Writer, kind byte, payload []byte) error {
	head := make([]byte, sqliteHeadLen, sqliteHeadLen+len(payload))
	head[0] = kind
	binary.LittleEndian.PutUint32(head[1:], uint32(len(payload)))
	_, err := w.Write(append(head, payload...))
	return err
}

func writeSQLiteJSON(w io.Writer, kind byte, v any) error {
	payload, err := json.Marshal(v)
	if err != nil {
		return fmt.Errorf("encoding a message: %w", err)
	}
	return writeSQLite(w, kind, payload)
}

// readSQLite reads a message into buf, which grows as needed and is used again.
func readSQLite(r *bufio.Reader, buf []byte) (byte, []byte, error) {
	var head [sqliteHeadLen]byte
	if _, err := io.ReadFull(r, head[:]); err != nil {
		return 0, buf, err
	}
	n := int(binary.LittleEndian.Uint32(head[1:]))
	if n > sqliteMaxFrame {
		return 0, buf, fmt.Errorf("a message of %d bytes", n)
	}
	if cap(buf) < n {
		buf = make([]byte, n)
	}
	buf = buf[:n]
	_, err := io.ReadFull(r, buf)
	return head[0], buf, err
}

// appendTo encodes a cell.
func (v sqliteValue) appendTo(dst []byte) []byte {
	dst = append(dst, byte(v.Kind))
	switch v.Kind {
	case sqliteInt:
		return binary.AppendVarint(dst, v.Int)
	case sqliteReal:
		return binary.LittleEndian.AppendUint64(dst, math.Float64bits(v.Real))
	case sqliteText, sqliteBlob:
		return append(binary.AppendUvarint(dst, uint64(len(v.Bytes))), v.Bytes...)
	}
	return dst
}

var errSQLiteRows = errors.New("rows of another form")

// decodeSQLite reads rows of a message; each gets a row that is valid until it returns.
func decodeSQLite(p []byte, row []sqliteValue, each func([]sqliteValue) error) error {
	for len(p) > 0 {
		for i := range row {
			var ok bool
			if row[i], p, ok = decodeSQLiteValue(p); !ok {
				return errSQLiteRows
			}
		}
		if len(row) == 0 {
			return errSQLiteRows
		}
		if err := each(row); err != nil {
			return err
		}
	}
	return nil
}

func decodeSQLiteValue(p []byte) (v sqliteValue, rest []byte, ok bool) {
	if len(p) == 0 {
		return v, p, false
	}
	v.Kind, p = sqliteKind(p[0]), p[1:]
	switch v.Kind {
	case sqliteNull:
		return v, p, true
	case sqliteInt:
		n, used := binary.Varint(p)
		if used <= 0 {
			return v, p, false
		}
		v.Int = n
		return v, p[used:], true
	case sqliteReal:
		if len(p) < 8 {
			return v, p, false
		}
		v.Real = math.Float64frombits(binary.LittleEndian.Uint64(p))
		return v, p[8:], true
	case sqliteText, sqliteBlob:
		n, used := binary.Uvarint(p)
		if used <= 0 || n > uint64(len(p)-used) {
			return v, p, false
		}
		v.Bytes = p[used : used+int(n)]
		return v, p[used+int(n):], true
	}
	return v, p, false
}
