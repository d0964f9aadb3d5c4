package sandbox

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
)

// checkRows makes sure that untrusted rows are what they say: an array of at most
// limit arrays, each of width values. It gives their number.
func checkRows(raw []byte, width, limit int) (n int, err error) {
	d := json.NewDecoder(bytes.NewReader(raw))
	if t, err := d.Token(); err != nil || t != json.Delim('[') {
		return 0, errors.New("rows that are no array")
	}
	var row []json.RawMessage
	for ; d.More(); n++ {
		if n >= limit {
			return n, fmt.Errorf("more than %d rows", limit)
		}
		if err := d.Decode(&row); err != nil {
			return n, fmt.Errorf("row %d: %w", n, err)
		}
		if len(row) != width {
			return n, fmt.Errorf("row %d has %d cells and not %d", n, len(row), width)
		}
	}
	if _, err := d.Token(); err != nil {
		return n, fmt.Errorf("the end of the rows: %w", err)
	}
	if _, err := d.Token(); !errors.Is(err, io.EOF) {
		return n, errors.New("something behind the rows")
	}
	return n, nil
}
