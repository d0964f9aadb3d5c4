package query

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"strconv"
	"strings"
	"time"
	"unicode/utf16"

	duck "github.com/duckdb/duckdb-go-bindings"
	"github.com/xuri/excelize/v2"
)

// excelRows is what a sheet holds, the heading included.
const excelRows = 1_048_576

// An excelWriter streams rows into one sheet; rows beyond the first stretch are
// kept in a temporary file, not in memory.
type excelWriter struct {
	out      io.Writer
	file     *excelize.File
	sheet    *excelize.StreamWriter
	date     int // styles
	instant  int
	fraction int
	row      int
	cells    []any
	buf      []byte
	names    []string
	notes    *exportNotes
}

func (w *excelWriter) begin(t *table) (err error) {
	w.file = excelize.NewFile()
	if w.sheet, err = w.file.NewStreamWriter("Sheet1"); err != nil {
		return fmt.Errorf("making a sheet: %w", err)
	}
	day, moment := "yyyy-mm-dd", "yyyy-mm-dd hh:mm:ss"
	w.date, _ = w.file.NewStyle(&excelize.Style{CustomNumFmt: &day})
	w.instant, _ = w.file.NewStyle(&excelize.Style{CustomNumFmt: &moment})
	fraction := "yyyy-mm-dd hh:mm:ss.000"
	w.fraction, _ = w.file.NewStyle(&excelize.Style{CustomNumFmt: &fraction})
	w.cells = make([]any, len(t.columns))
	for i, c := range t.columns {
		w.cells[i], w.names = c.Name, append(w.names, c.Name)
		if t.kinds[i] == duck.TypeTimestampTZ {
			w.notes.add(c.Name, "a sheet has no zones; the moments are those of UTC", 0)
		}
	}
	return w.writeRow()
}

func (w *excelWriter) writeRow() error {
	if w.row++; w.row > excelRows {
		return &engineErr{Kind: tooLargeKind, Message: "a sheet holds 1,048,576 rows: export as CSV or Parquet instead", Position: -1}
	}
	return w.sheet.SetRow("A"+strconv.Itoa(w.row), w.cells)
}

func (w *excelWriter) chunk(t *table, rows int) error {
	for row := range rows {
		for i, v := range t.vectors {
			w.cells[i] = w.cell(i, v, t.kinds[i], row)
		}
		if err := w.writeRow(); err != nil {
			return err
		}
	}
	return nil
}

// What a sheet can hold.
const (
	excelFirst  = -25508 * 86_400_000_000 // 1900-03-01: earlier days are counted by a leap year that was none
	excelLast   = 2932897*86_400_000_000 - 1
	excelDigits = 15 // of a number
)

// cell gives numbers and dates as such where a sheet can hold them exactly, and
// text otherwise. Text is never a formula.
func (w *excelWriter) cell(i int, v *vector, kind duck.Type, row int) any {
	if v.null(row) {
		return nil
	}
	switch kind {
	case duck.TypeBoolean:
		return at[bool](v, row)
	case duck.TypeDate:
		if micros := int64(at[int32](v, row)) * 86_400_000_000; micros >= excelFirst && micros <= excelLast {
			return excelize.Cell{StyleID: w.date, Value: time.UnixMicro(micros).UTC()}
		}
		w.notes.add(w.names[i], "days outside of 1900-03-01 to 9999-12-31 are text", 1)
	case duck.TypeTimestamp, duck.TypeTimestampTZ:
		switch micros := at[int64](v, row); {
		case micros < excelFirst || micros > excelLast:
			w.notes.add(w.names[i], "moments outside of 1900-03-01 to 9999-12-31 are text", 1)
		case micros%1000 != 0:
			w.notes.add(w.names[i], "moments with parts of a millisecond are text", 1)
		case micros%1_000_000 != 0:
			return excelize.Cell{StyleID: w.fraction, Value: time.UnixMicro(micros).UTC()}
		default:
			return excelize.Cell{StyleID: w.instant, Value: time.UnixMicro(micros).UTC()}
		}
	}
	v.wide = false
	w.buf = v.plain(w.buf[:0], row)
	if v.style == number || v.style == wide {
		if f, err := strconv.ParseFloat(string(w.buf), 64); err == nil && !v.wide && !manyDigits(kind, w.buf) {
			return f
		}
		w.notes.add(w.names[i], "numbers of more than 15 digits, or without end, are text", 1)
	}
	return w.text(i, string(w.buf))
}

// manyDigits says of a whole number that a sheet would round it.
func manyDigits(kind duck.Type, digits []byte) bool {
	return kind != duck.TypeDouble && kind != duck.TypeFloat && len(bytes.TrimPrefix(digits, []byte("-"))) > excelDigits && !bytes.ContainsAny(digits, ".")
}

// text gives a text that fits into a cell, which is measured in units of UTF-16.
func (w *excelWriter) text(i int, text string) string {
	if strings.ContainsFunc(text, func(r rune) bool { return r < ' ' && r != '\t' && r != '\n' && r != '\r' || r == 0xFFFE || r == 0xFFFF }) {
		w.notes.add(w.names[i], "texts have characters that a sheet cannot hold, which were replaced", 1)
	}
	if len(text) <= excelize.TotalCellChars {
		return text
	}
	units := 0
	for at, r := range text {
		if units += utf16.RuneLen(r); units > excelize.TotalCellChars {
			w.notes.add(w.names[i], "texts are longer than the 32,767 characters of a cell and were cut", 1)
			return text[:at]
		}
	}
	return text
}

func (w *excelWriter) end() error {
	err := w.sheet.Flush()
	if err == nil {
		_, err = w.file.WriteTo(w.out)
	}
	return errors.Join(err, w.file.Close())
}
