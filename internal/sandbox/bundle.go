package sandbox

import (
	"bufio"
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"unsafe"
)

// A column bundle is a table in one file, in the form in which numpy holds it, so
// that loading is reading. All numbers are little-endian.
//
//	"ILBUNDL1" | segments and masks of the columns, in any order | footer (JSON) | footer length (u64) | "ILBUNDL1"
//
// The footer names the rows and for each column its kind and the place of its
// parts: segments [rows, encoding, offset, bytes], a bit mask of nulls (1 is null)
// and a dictionary [offset, bytes, words]. Encodings: 0 fixed width; 1 codes
// (i32) into the dictionary, whose words are separated by NUL; 2 lengths (i32)
// followed by the bytes.
const bundleMagic = "ILBUNDL1"

const (
	encodingFixed = iota
	encodingCodes
	encodingPlain
)

// A Kind is the form of a column's values in a bundle.
type Kind string

// The kinds. Times are microseconds, dates days since 1970; a timestamp with a zone is UTC.
const (
	Bool      Kind = "bool" // one byte
	Int8      Kind = "int8"
	Int16     Kind = "int16"
	Int32     Kind = "int32"
	Int64     Kind = "int64"
	Uint8     Kind = "uint8"
	Uint16    Kind = "uint16"
	Uint32    Kind = "uint32"
	Uint64    Kind = "uint64"
	Float32   Kind = "float32"
	Float64   Kind = "float64"
	Date      Kind = "date"
	Time      Kind = "time"
	Timestamp Kind = "timestamp"
	Duration  Kind = "duration"
	Decimal   Kind = "decimal" // an integer of 8 bytes, or 16 by Field.Wide, times 10^-Scale
	Text      Kind = "text"
	JSON      Kind = "json" // text that is read into Python's own values
	Bytes     Kind = "bytes"
)

var kindWidth = map[Kind]int{
	Bool: 1, Int8: 1, Int16: 2, Int32: 4, Int64: 8, Uint8: 1, Uint16: 2, Uint32: 4, Uint64: 8, Float32: 4, Float64: 8,
	Date: 4, Time: 8, Timestamp: 8, Duration: 8, Decimal: 8, Text: 0, JSON: 0, Bytes: 0,
}

// A Field describes a column of a bundle.
type Field struct {
	Name  string
	Kind  Kind
	Zone  string // timestamps: the zone to show them in; "" is without zone
	Scale int    // decimals
	Wide  bool   // decimals of 16 bytes, two's complement
}

func (f Field) byteWidth() int {
	if f.Wide {
		return 16
	}
	return kindWidth[f.Kind]
}

// A Writer writes a bundle, column by column in chunks of any size. It is used
// by one goroutine. The file appears under its name only with Close.
type Writer struct {
	path    string
	file    *os.File
	out     *bufio.Writer
	offset  int64
	columns []*columnWriter
	err     error
}

// Create begins a bundle at path.
func Create(path string, fields []Field) (*Writer, error) {
	f, err := os.CreateTemp(filepath.Dir(path), ".bundle-*")
	if err != nil {
		return nil, fmt.Errorf("creating a bundle: %w", err)
	}
	w, err := newWriter(f, fields)
	if err != nil {
		return nil, errors.Join(err, f.Close(), os.Remove(f.Name()))
	}
	w.path = path
	return w, nil
}

func newWriter(f *os.File, fields []Field) (*Writer, error) {
	w := &Writer{file: f, out: bufio.NewWriterSize(f, 1<<20)}
	seen := map[string]bool{}
	for _, field := range fields {
		if _, ok := kindWidth[field.Kind]; !ok {
			return nil, fmt.Errorf("column %s has the unknown kind %q", field.Name, field.Kind)
		}
		if seen[field.Name] {
			return nil, fmt.Errorf("two columns are named %s", field.Name)
		}
		seen[field.Name] = true
		w.columns = append(w.columns, &columnWriter{field: field, bundle: w, words: map[string]int32{}})
	}
	w.writeBlock([]byte(bundleMagic))
	return w, nil
}

// Fixed appends rows values of a fixed-width column as they lie in memory. valid
// has a bit for each value that is not null; nil says that all are there.
func (w *Writer) Fixed(column int, data []byte, rows int, valid []uint64) {
	w.columns[column].appendFixed(data, rows, valid)
}

// Strings appends values of a text, JSON or bytes column.
func (w *Writer) Strings(column int, values []string, valid []uint64) {
	w.columns[column].appendStrings(values, valid)
}

// Append appends a slice of numbers to a fixed-width column.
func Append[T ~int8 | ~int16 | ~int32 | ~int64 | ~uint8 | ~uint16 | ~uint32 | ~uint64 | ~float32 | ~float64 | ~bool | ~[2]uint64](w *Writer, column int, values []T, valid []uint64) {
	if len(values) == 0 {
		return
	}
	w.Fixed(column, unsafe.Slice((*byte)(unsafe.Pointer(&values[0])), len(values)*int(unsafe.Sizeof(values[0]))), len(values), valid)
}

// Close finishes the bundle and puts it in its place.
func (w *Writer) Close() error {
	if err := errors.Join(w.finish(), w.file.Close()); err != nil {
		return errors.Join(err, os.Remove(w.file.Name()))
	}
	if err := os.Rename(w.file.Name(), w.path); err != nil {
		return fmt.Errorf("placing a bundle: %w", err)
	}
	return nil
}

// Abort drops the bundle.
func (w *Writer) Abort() { _ = errors.Join(w.file.Close(), os.Remove(w.file.Name())) }

type footer struct {
	Rows    int            `json:"rows"`
	Columns []footerColumn `json:"columns"`
}

type footerColumn struct {
	Name     string     `json:"name"`
	Kind     Kind       `json:"kind"`
	Width    int        `json:"width,omitempty"`
	Scale    int        `json:"scale,omitempty"`
	Zone     string     `json:"zone,omitempty"`
	Nulls    []int64    `json:"nulls,omitempty"`
	Dict     []int64    `json:"dict,omitempty"`
	Segments [][4]int64 `json:"segments"`
}

func (w *Writer) finish() error {
	var f footer
	for i, c := range w.columns {
		part := c.finish()
		if i == 0 {
			f.Rows = c.rows
		}
		if c.rows != f.Rows && w.err == nil {
			w.err = fmt.Errorf("column %s has %d rows and not %d", c.field.Name, c.rows, f.Rows)
		}
		f.Columns = append(f.Columns, part)
	}
	raw, err := json.Marshal(f)
	if err != nil {
		return err
	}
	w.writeBlock(raw)
	w.writeBlock(binary.LittleEndian.AppendUint64(nil, uint64(len(raw))))
	w.writeBlock([]byte(bundleMagic))
	return errors.Join(w.err, w.out.Flush())
}

// writeBlock appends bytes and returns where they are.
func (w *Writer) writeBlock(data []byte) int64 {
	at := w.offset
	n, err := w.out.Write(data)
	w.offset += int64(n)
	if err != nil && w.err == nil {
		w.err = fmt.Errorf("writing a bundle: %w", err)
	}
	return at
}
