package source

import (
	"context"
	"encoding/json"
	"iter"
	"math"
	"strconv"
	"time"
	"unicode/utf8"

	"interlock/internal/schema"
)

// collectPage reads at most limit rows of a stream into a page.
func collectPage(ctx context.Context, columns []schema.Column, limit int, stream iter.Seq2[*Batch, error]) (Page, error) {
	page := Page{Columns: columns}
	rows := []byte{'['}
	for b, err := range stream {
		if err != nil {
			return Page{}, err
		}
		for row := range b.Rows {
			if page.Count == limit {
				break
			}
			if page.Count > 0 {
				rows = append(rows, ',')
			}
			rows = b.appendRow(rows, row)
			page.Count++
		}
		if page.Count >= limit {
			break
		}
	}
	page.Rows = append(rows, ']')
	return page, context.Cause(ctx)
}

func (b *Batch) appendRow(dst []byte, row int) []byte {
	dst = append(dst, '[')
	for col := range b.vectors {
		if col > 0 {
			dst = append(dst, ',')
		}
		dst = b.appendCell(dst, col, row)
	}
	return append(dst, ']')
}

// appendCell encodes a cell so that nothing is lost where numbers are doubles.
func (b *Batch) appendCell(dst []byte, col, row int) []byte {
	v := &b.vectors[col]
	if v.null[row] {
		return append(dst, "null"...)
	}
	return codecs[v.column.Type.Kind].json(dst, cell{b, col, row})
}

func appendFloat(dst []byte, f float64) []byte {
	switch {
	case math.IsNaN(f):
		return append(dst, `"NaN"`...)
	case math.IsInf(f, 1):
		return append(dst, `"Infinity"`...)
	case math.IsInf(f, -1):
		return append(dst, `"-Infinity"`...)
	}
	if a := math.Abs(f); a != 0 && (a < 1e-6 || a >= 1e21) {
		return strconv.AppendFloat(dst, f, 'e', -1, 64)
	}
	return strconv.AppendFloat(dst, f, 'f', -1, 64)
}

// blobText writes bytes the way the embedded engine does: what is not plain ASCII as \xHH.
func blobText(p []byte) []byte {
	const digits = "0123456789ABCDEF"
	text := make([]byte, 0, len(p)+8)
	for _, c := range p {
		if c >= 0x20 && c < 0x7f && c != '\\' && c != '\'' && c != '"' {
			text = append(text, c)
		} else {
			text = append(text, '\\', 'x', digits[c>>4], digits[c&15])
		}
	}
	return text
}

// Infinite times of the embedded engine and PostgreSQL.
const (
	infinity     = math.MaxInt64
	infinityDays = math.MaxInt32
)

func appendTime(dst []byte, micros int64, layout, suffix string, after, before bool) []byte {
	switch {
	case after:
		return append(dst, `"infinity"`...)
	case before:
		return append(dst, `"-infinity"`...)
	}
	dst = time.UnixMicro(micros).UTC().AppendFormat(append(dst, '"'), layout)
	return append(append(dst, suffix...), '"')
}

const exactInFloat = 1 << 53

func appendWhole(dst []byte, n int64) []byte {
	if n > exactInFloat || n < -exactInFloat {
		return append(strconv.AppendInt(append(dst, '"'), n, 10), '"')
	}
	return strconv.AppendInt(dst, n, 10)
}

// appendNumber writes digits as a number if a double holds them, else as text.
func appendNumber(dst []byte, digits string) []byte {
	significant := 0
	for _, c := range digits {
		if c >= '0' && c <= '9' && (significant > 0 || c != '0') {
			significant++
		}
	}
	if significant <= 15 {
		return append(dst, digits...)
	}
	return append(append(append(dst, '"'), digits...), '"')
}

func appendString(dst, p []byte) []byte {
	if !utf8.Valid(p) {
		p = []byte(string([]rune(string(p))))
	}
	text, _ := json.Marshal(string(p))
	return append(dst, text...)
}
