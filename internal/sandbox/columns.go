package sandbox

import (
	"fmt"
	"regexp"
	"strconv"
	"strings"

	"interlock/internal/fault"
	"interlock/internal/schema"
)

// Bounds of what a job says about its result.
const (
	maxColumns = 4096
	maxLabel   = 1 << 10 // bytes of a name
	maxMessage = 8 << 10 // bytes of a message
	maxFrames  = 100     // of an exception
	maxCount   = 1 << 53 // rows
)

// columnTypes are those that the runner gives to columns; DECIMAL has its digits beside.
var columnTypes = map[string]bool{
	"BOOLEAN": true, "TINYINT": true, "SMALLINT": true, "INTEGER": true, "BIGINT": true, "HUGEINT": true,
	"UTINYINT": true, "USMALLINT": true, "UINTEGER": true, "UBIGINT": true, "FLOAT": true, "DOUBLE": true,
	"DATE": true, "TIME": true, "TIMESTAMP": true, "TIMESTAMP_NS": true, "TIMESTAMP WITH TIME ZONE": true, "TIME WITH TIME ZONE": true, "INTERVAL": true,
	"VARCHAR": true, "JSON": true, "BLOB": true,
}

var decimalType = regexp.MustCompile(`^DECIMAL\((\d{1,2}),(\d{1,2})\)$`)

// maxDigits is the longest number that a DECIMAL holds.
const maxDigits = 38

// decimalScale reads the type of exact numbers; not ok is no such type.
func decimalScale(kind string) (precision, scale int, ok bool) {
	m := decimalType.FindStringSubmatch(strings.ToUpper(strings.ReplaceAll(kind, " ", "")))
	if m == nil {
		return 0, 0, false
	}
	precision, _ = strconv.Atoi(m[1]) // two digits
	scale, _ = strconv.Atoi(m[2])
	return precision, scale, precision >= 1 && precision <= maxDigits && scale <= precision
}

// checkColumns makes sure that the columns of untrusted rows are what the runner could
// have sent. Names that are only too long are cut.
func checkColumns(columns []schema.Column, rows int) error {
	if len(columns) > maxColumns {
		return fault.New(fault.PyResultError, "the result has %d columns, more than %d", len(columns), maxColumns)
	}
	if rows < 0 || rows > maxCount {
		return fmt.Errorf("%w: a result of %d rows", errFrame, rows)
	}
	for i := range columns {
		c := &columns[i]
		_, _, decimal := decimalScale(c.Type.String())
		missing := c.Type == (schema.Type{}) // its name is that of text
		if missing || !decimal && !columnTypes[c.Type.String()] {
			return fmt.Errorf("%w: a column of the type %.40q", errFrame, c.Type)
		}
		c.Name = truncate(c.Name, maxLabel)
	}
	return nil
}

// truncate shortens a text to so many bytes of valid UTF-8.
func truncate(text string, most int) string {
	text = strings.ToValidUTF8(text, "\uFFFD")
	if len(text) <= most {
		return text
	}
	return strings.ToValidUTF8(text[:most], "") + "…"
}

// truncated returns the failure with everything in it cut to size.
func (f *jobFailure) truncated() *jobFailure {
	if f == nil {
		return nil
	}
	b := jobFailure{Code: f.Code, Type: truncate(f.Type, maxLabel), Message: truncate(f.Message, maxMessage), Line: f.Line, Frames: f.Frames[:min(len(f.Frames), maxFrames)]}
	for i := range b.Frames {
		b.Frames[i].Function, b.Frames[i].Text = truncate(b.Frames[i].Function, maxLabel), truncate(b.Frames[i].Text, maxLabel)
	}
	return &b
}
