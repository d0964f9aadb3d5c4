package query

import (
	"errors"
	"fmt"
	"io"
	"strconv"
	"time"

	duck "github.com/duckdb/duckdb-go-bindings"
	"github.com/xuri/excelize/v2"
)

// excelRows is what a sheet holds, the heading included.
const excelRows = 1_048_576

// An excelWriter streams rows into one sheet; rows beyond the first stretch are
// kept in a temporary file, not in memory.
type excelWriter struct {
	out     io.Writer
	file    *excelize.File
	sheet   *excelize.StreamWriter
	date    int // styles
	instant int
	row     int
	cells   []any
	buf     []byte
}

func (w *excelWriter) begin(t *table) (err error) {
	w.file = excelize.NewFile()
	if w.sheet, err = w.file.NewStreamWriter("Sheet1"); err != nil {
		return fmt.Errorf("making a sheet: %w", err)
	}
	day, moment := "yyyy-mm-dd", "yyyy-mm-dd hh:mm:ss"
	w.date, _ = w.file.NewStyle(&excelize.Style{CustomNumFmt: &day})
	w.instant, _ = w.file.NewStyle(&excelize.Style{CustomNumFmt: &moment})
	w.cells = make([]any, len(t.columns))
	for i, c := range t.columns {
		w.cells[i] = c.Name
	}
	return w.put()
}

func (w *excelWriter) put() error {
	if w.row++; w.row > excelRows {
		return &engineErr{Kind: tooLargeKind, Message: "a sheet holds 1,048,576 rows: export as CSV or Parquet instead", Position: -1}
	}
	return w.sheet.SetRow("A"+strconv.Itoa(w.row), w.cells)
}

func (w *excelWriter) chunk(t *table, rows int) error {
	for row := range rows {
		for i, v := range t.vectors {
			w.cells[i] = w.cell(v, t.kinds[i], row)
		}
		if err := w.put(); err != nil {
			return err
		}
	}
	return nil
}

// cell gives numbers and dates as such where a sheet can hold them exactly, and
// text otherwise. Text is never a formula.
func (w *excelWriter) cell(v *vector, kind duck.Type, row int) any {
	if v.null(row) {
		return nil
	}
	switch kind {
	case duck.TypeBoolean:
		return at[bool](v, row)
	case duck.TypeDate:
		return excelize.Cell{StyleID: w.date, Value: time.Unix(int64(at[int32](v, row))*86400, 0).UTC()}
	case duck.TypeTimestamp, duck.TypeTimestampTZ:
		return excelize.Cell{StyleID: w.instant, Value: time.UnixMicro(at[int64](v, row)).UTC()}
	}
	v.wide = false
	w.buf = v.plain(w.buf[:0], row)
	if (v.style == number || v.style == wide) && !v.wide {
		if f, err := strconv.ParseFloat(string(w.buf), 64); err == nil {
			return f
		}
	}
	text := string(w.buf)
	if len(text) > excelize.TotalCellChars {
		text = text[:excelize.TotalCellChars]
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
