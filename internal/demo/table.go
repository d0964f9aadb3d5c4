package demo

import (
	"bytes"
	"encoding/csv"
	"encoding/json"
	"fmt"

	"golang.org/x/text/encoding/charmap"
)

// A table is rows and what is to be known about them. Registry and dictionary are
// made of it, so that they cannot say something else than the data.
type table struct {
	name    string
	file    string
	format  string // csv, json, ndjson or parquet
	about   string
	options map[string]any // how to read the file, where that is not plain
	columns []column
	rows    [][]any
}

// A column has the engine's name for its type; a column whose cells do not all fit a
// narrower type is text.
type column struct{ name, kind, about string }

func (t *table) add(cells ...any) {
	if len(cells) != len(t.columns) {
		panic(fmt.Sprintf("demo: %d cells in a row of %s, which has %d columns", len(cells), t.name, len(t.columns)))
	}
	t.rows = append(t.rows, cells)
}

// encode is the table as the bytes of its file.
func (t *table) encode() ([]byte, error) {
	switch t.format {
	case "csv":
		return t.encodeCSV()
	case "json", "ndjson":
		return t.encodeJSON()
	case "parquet":
		return t.encodeParquet()
	}
	return nil, fmt.Errorf("no way to write %s", t.format)
}

func (t *table) encodeCSV() ([]byte, error) {
	var out bytes.Buffer
	w := csv.NewWriter(&out)
	if d, ok := t.options["delimiter"].(string); ok {
		w.Comma = rune(d[0])
	}
	cells := make([]string, len(t.columns))
	for i, c := range t.columns {
		cells[i] = c.name
	}
	_ = w.Write(cells) // Error has what went wrong
	for _, row := range t.rows {
		for i, cell := range row {
			cells[i] = cellText(cell)
		}
		_ = w.Write(cells)
	}
	w.Flush()
	if err := w.Error(); err != nil {
		return nil, err
	}
	if t.options["encoding"] == "windows-1252" {
		return charmap.Windows1252.NewEncoder().Bytes(out.Bytes())
	}
	return out.Bytes(), nil
}

// encodeJSON writes an array of objects, or one object per line. A cell that is nil
// leaves its key out, as exports of objects do.
func (t *table) encodeJSON() ([]byte, error) {
	var out bytes.Buffer
	lines := t.format == "ndjson"
	if !lines {
		out.WriteString("[\n")
	}
	for r, row := range t.rows {
		if r > 0 && !lines {
			out.WriteString(",\n")
		}
		sep := byte('{')
		for i, cell := range row {
			if cell == nil {
				continue
			}
			out.WriteByte(sep)
			sep = ','
			fmt.Fprintf(&out, "%q:", t.columns[i].name)
			if err := appendJSON(&out, cell); err != nil {
				return nil, err
			}
		}
		out.WriteByte('}')
		if lines {
			out.WriteByte('\n')
		}
	}
	if !lines {
		out.WriteString("\n]\n")
	}
	return out.Bytes(), nil
}

func appendJSON(out *bytes.Buffer, cell any) error {
	switch v := cell.(type) {
	case json.RawMessage:
		out.Write(v)
		return nil
	case money:
		out.WriteString(v.String())
		return nil
	case date, stamp:
		cell = fmt.Sprint(v)
	}
	raw, err := json.Marshal(cell)
	out.Write(raw)
	return err
}
