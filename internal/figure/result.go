package figure

import (
	"encoding/json"
	"errors"
	"slices"
	"strconv"
	"strings"
)

// A member is one key of an object with its value.
type member struct {
	key   string
	value any
}

// An object is a JSON object with its keys in order.
type object []member

func (o object) get(key string) any {
	for _, m := range o {
		if m.key == key {
			return m.value
		}
	}
	return nil
}

var errTooMany = errors.New("more values than are read of one result")

// A reader reads the beginning of a JSON text, up to a number of values.
type reader struct {
	dec         *json.Decoder
	left, depth int
}

// value reads the next value. With errTooMany it returns what was read of it.
func (r *reader) value() (any, error) {
	if r.left--; r.left < 0 || r.depth > maxDepth {
		return nil, errTooMany
	}
	r.depth++
	defer func() { r.depth-- }()
	tok, err := r.dec.Token()
	if err != nil {
		return nil, err
	}
	switch tok {
	case json.Delim('['):
		list := []any{}
		for r.dec.More() {
			v, err := r.value()
			if err != nil {
				return list, err
			}
			list = append(list, v)
		}
		_, err = r.dec.Token()
		return list, err
	case json.Delim('{'):
		var o object
		for r.dec.More() {
			key, err := r.dec.Token()
			if err != nil {
				return o, err
			}
			v, err := r.value()
			if name, ok := key.(string); ok && (err == nil || v != nil) {
				o = append(o, member{name, v})
			}
			if err != nil {
				return o, err
			}
		}
		_, err = r.dec.Token()
		return o, err
	}
	return tok, nil
}

// A walker finds the tables and texts in a result.
type walker struct {
	e       *Evidence
	given   map[string]any // the arguments of the call
	made    *program       // that gave the result
	partial bool           // the result was cut
}

// statementKeys name texts that ran and were not found.
var statementKeys = []string{"sql", "compiled_sql", "query", "statement", "code", "python_code"}

func (w *walker) add(id string, v any) {
	switch x := v.(type) {
	case string:
		w.addText(id, x)
	case []any:
		w.addList(id, x)
	case object:
		w.addObject(id, x)
	default:
		if isScalar(v) {
			w.e.AddTable(Table{ID: id, Columns: []string{"value"}, Rows: [][]any{{v}}, made: w.made})
		}
	}
}

// addText adds a text as a document, or as a statement if it is SQL.
func (w *walker) addText(id, text string) {
	if looksLikeSQL.MatchString(text) {
		w.e.AddStatement(text)
		return
	}
	w.e.AddDocument(Document{ID: id, Text: text, made: w.made})
}

func isScalar(v any) bool {
	switch v.(type) {
	case json.Number, float64, string:
		return true
	}
	return false
}

// addObject adds a table with columns and rows, and the plain values of the object as a
// table of one row.
func (w *walker) addObject(id string, o object) {
	if w.addDescribed(id, o) {
		return
	}
	rest := o
	if t, ok := w.table(id, o); ok {
		w.e.AddTable(t)
		rest = slices.DeleteFunc(slices.Clone(o), func(m member) bool { return m.key == "columns" || m.key == "rows" || m.key == "column_types" })
	}
	var t Table
	var row []any
	for _, m := range rest {
		text, isText := m.value.(string)
		switch {
		case isAboutTheWork(m.key):
			w.e.addMeasure(id, 0, m)
		case m.key == codeReads && w.made != nil && w.made.isCode:
		case w.repeatsArgument(m):
		case slices.Contains(sizeKeys, m.key) && isCount(m.value):
			w.e.sizes = append(w.e.sizes, size{of: id, what: rowSize, n: countOf(m.value)})
		case isText && (slices.Contains(statementKeys, m.key) || looksLikeSQL.MatchString(text)):
			w.e.AddStatement(text)
		case isText && isProse(text):
			w.addText(id+"."+m.key, text)
		case isScalar(m.value):
			t.Columns, row = append(t.Columns, m.key), append(row, m.value)
		default:
			w.add(id+"."+m.key, m.value)
		}
	}
	if slices.ContainsFunc(row, holdsFigure) {
		t.ID, t.Rows, t.made = id, [][]any{row}, w.made
		w.e.AddTable(t)
	}
}

// isProse tells sentences from labels, numbers and dates.
func isProse(text string) bool {
	text = strings.TrimSpace(text)
	return len(text) > shortText || strings.ContainsAny(text, " \n") && strings.ContainsAny(text, "0123456789") && !isoDay.MatchString(text)
}

func holdsFigure(v any) bool {
	text, ok := v.(string)
	return !ok && v != nil || Holds(text)
}

// repeatsArgument reports whether a field says what the caller said.
func (w *walker) repeatsArgument(m member) bool {
	given, ok := w.given[m.key]
	if text, isText := m.value.(string); isText && len(text) > 0 {
		for _, v := range w.given {
			if said, ok := v.(string); ok && strings.Contains(said, text) {
				return true
			}
		}
	}
	if n, isNumber := m.value.(json.Number); ok && isNumber {
		f, err := n.Float64()
		return err == nil && given == f
	}
	return false
}

// table reads an object that has columns and rows.
func (w *walker) table(id string, o object) (Table, bool) {
	rows, ok := o.get("rows").([]any)
	names, named := o.get("columns").([]any)
	if !ok || !named {
		return Table{}, false
	}
	t := Table{ID: id, made: w.made}
	for _, n := range names {
		switch c := n.(type) {
		case string:
			t.Columns = append(t.Columns, c)
		case object:
			name, _ := c.get("name").(string)
			t.Columns = append(t.Columns, name)
		}
	}
	for _, r := range rows {
		switch cells := r.(type) {
		case []any:
			t.Rows = append(t.Rows, cells)
		case object:
			row := make([]any, len(t.Columns), max(len(t.Columns), len(o)))
			for i, c := range t.Columns {
				row[i] = cells.get(c)
			}
			t.Rows = append(t.Rows, row)
		}
	}
	for _, key := range []string{"row_count", "total_rows"} {
		t.Total = max(t.Total, countOf(o.get(key)))
	}
	if w.partial || o.get("limited") == true {
		t.Total = max(t.Total, int64(len(t.Rows))+1)
	}
	return t, len(t.Columns) > 0
}

// addList adds a list of objects as a table whose columns are their plain fields. Long
// texts of a record are documents, as passages are.
func (w *walker) addList(id string, list []any) {
	var t Table
	columns := map[string]int{}
	for i, v := range list {
		o, ok := v.(object)
		if !ok || w.addDescribed(id+"["+strconv.Itoa(i)+"]", o) {
			continue
		}
		row := make([]any, len(t.Columns), max(len(t.Columns), len(o)))
		for _, m := range o {
			text, isText := m.value.(string)
			switch {
			case isAboutTheWork(m.key):
				w.e.addMeasure(id, i, m)
			case isText && (len(text) > shortText || looksLikeSQL.MatchString(text) || isProse(text) && len(strings.Fields(text)) >= sentenceWords):
				w.addText(id+"["+strconv.Itoa(i)+"]."+m.key, text)
			case isScalar(m.value):
				j, known := columns[m.key]
				if !known {
					j = len(t.Columns)
					columns[m.key] = j
					t.Columns, row = append(t.Columns, m.key), append(row, nil)
				}
				row[j] = m.value
			default:
				w.add(id+"["+strconv.Itoa(i)+"]."+m.key, m.value)
			}
		}
		t.Rows = append(t.Rows, row)
	}
	if len(t.Columns) > 0 {
		for i, row := range t.Rows {
			t.Rows[i] = append(row, make([]any, len(t.Columns)-len(row))...)
		}
		t.ID, t.made = id, w.made
		w.e.AddTable(t)
		return
	}
	w.addPlainList(id, list)
}

// addPlainList adds a list of numbers and texts as a table of one column, and lists of
// lists as rows.
func (w *walker) addPlainList(id string, list []any) {
	t := Table{ID: id, Columns: []string{"value"}, made: w.made}
	for i, v := range list {
		switch x := v.(type) {
		case json.Number:
			t.Rows = append(t.Rows, []any{x})
		case string:
			w.addText(id+"["+strconv.Itoa(i)+"]", x)
		case []any:
			w.addPlainList(id+"["+strconv.Itoa(i)+"]", x)
		}
	}
	if len(t.Rows) > 0 {
		w.e.AddTable(t)
	}
}
