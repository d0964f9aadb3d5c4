package sandbox

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
)

// checkRows makes sure that untrusted rows are what they say: an array of at most
// limit arrays, each of width values.
func checkRows(raw []byte, width, limit int) error {
	d := json.NewDecoder(bytes.NewReader(raw))
	if t, err := d.Token(); err != nil || t != json.Delim('[') {
		return errors.New("rows that are no array")
	}
	var row []json.RawMessage
	for n := 0; d.More(); n++ {
		if n >= limit {
			return fmt.Errorf("more than %d rows", limit)
		}
		if err := d.Decode(&row); err != nil {
			return fmt.Errorf("row %d: %w", n, err)
		}
		if len(row) != width {
			return fmt.Errorf("row %d has %d cells and not %d", n, len(row), width)
		}
	}
	if _, err := d.Token(); err != nil {
		return fmt.Errorf("the end of the rows: %w", err)
	}
	if _, err := d.Token(); !errors.Is(err, io.EOF) {
		return errors.New("something behind the rows")
	}
	return nil
}
