package figure

import (
	"bytes"
	"encoding/json"
	"errors"
	"hash/maphash"
	"slices"
	"strconv"
	"strings"
)

// A Table is a result that the answer may rest on. Cells are what encoding/json makes
// of typed JSON: numbers, texts, booleans and nil.
type Table struct {
	ID      string
	Columns []string
	Rows    [][]any
	Total   int64 // rows of the whole result, where Rows is only its beginning
}

// A Document is a passage that the answer may quote.
type Document struct{ ID, Text string }

// Evidence is all that the figures of an answer may come from. The Add methods fill it
// within bounds; Cut says whether a bound left something out.
type Evidence struct {
	Tables     []Table // the likelier origins first: a fit among few numbers is no chance
	Documents  []Document
	Questions  []string // what the person said
	Statements []string // what ran: its constants are conditions, such as a limit
	Cut        bool

	cells, textBytes int
	seen             map[uint64]bool // contents of tables and documents
}

// Bounds of the evidence for one answer. They bound the time of Trace as well, and
// unlike a clock they cut the same when a run is replayed.
const (
	MaxResults    = 40
	MaxBytes      = 16 << 20 // of all results, as JSON
	maxNodes      = 400_000  // JSON values that are read of one result
	maxDepth      = 64       // of its objects and lists
	maxTextBytes  = 1 << 20  // of all documents and statements
	maxTables     = 400
	maxDocuments  = 2000
	shortText     = 60 // bytes up to which a text in a list of records is a label
	sentenceWords = 5  // words from which a shorter one is a sentence
)

// AddTable adds a table, cut at the bounds.
func (e *Evidence) AddTable(t Table) {
	if len(t.Columns) == 0 || len(e.Tables) >= maxTables {
		e.Cut = e.Cut || len(t.Columns) > 0
		return
	}
	t.Total = max(t.Total, int64(len(t.Rows)))
	if rows := max(0, maxIndexed-e.cells) / len(t.Columns); rows < len(t.Rows) {
		t.Rows, e.Cut = t.Rows[:rows], true
	}
	e.cells += len(t.Rows) * len(t.Columns)
	if raw, err := json.Marshal([]any{t.Columns, t.Rows}); err == nil && e.isKnown(raw) {
		return
	}
	e.Tables = append(e.Tables, t)
}

// AddDocument adds a passage, unless the bound for texts is reached.
func (e *Evidence) AddDocument(id, text string) {
	if e.textBytes+len(text) > maxTextBytes || len(e.Documents) >= maxDocuments {
		e.Cut = true
		return
	}
	if !strings.ContainsAny(text, "0123456789") && !Holds(text) {
		return
	}
	e.textBytes += len(text)
	if !e.isKnown([]byte(text)) {
		e.Documents = append(e.Documents, Document{id, text})
	}
}

// AddStatement adds something that ran.
func (e *Evidence) AddStatement(text string) {
	if text == "" || slices.Contains(e.Statements, text) {
		return
	}
	if e.textBytes += len(text); e.textBytes > maxTextBytes {
		e.Cut = true
		return
	}
	e.Statements = append(e.Statements, text)
}

var contentSeed = maphash.MakeSeed()

// isKnown reports whether a content was added before. A step often hands on the rows of
// an earlier one: they must not count as further candidates.
func (e *Evidence) isKnown(content []byte) bool {
	sum := maphash.Bytes(contentSeed, content)
	if e.seen == nil {
		e.seen = map[uint64]bool{}
	}
	known := e.seen[sum]
	e.seen[sum] = true
	return known
}

// AddResult adds what stands in the result of a call, whatever its form: an object with
// columns and rows, a list of objects and a single object are tables, longer texts are
// documents, SQL and code are statements. What the call was given comes from its caller
// and supports nothing: args are left out where the result repeats them.
func (e *Evidence) AddResult(id string, args, result json.RawMessage) {
	dec := json.NewDecoder(bytes.NewReader(result))
	dec.UseNumber()
	r := reader{dec: dec, left: maxNodes}
	root, err := r.value()
	if err != nil && !errors.Is(err, errTooMany) {
		return // whoever stored it made it as JSON: nothing to trace
	}
	e.Cut = e.Cut || err != nil
	w := walker{e: e, given: map[string]any{}, partial: err != nil}
	if json.Unmarshal(args, &w.given) != nil {
		w.given = nil
	}
	w.add(id, root)
}

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
	partial bool           // the result was cut
}

// statementKeys name texts that ran and were not found.
var statementKeys = []string{"sql", "compiled_sql", "query", "statement", "code", "python_code"}

func (w *walker) add(id string, v any) {
	switch x := v.(type) {
	case string:
		w.e.AddDocument(id, x)
	case []any:
		w.addList(id, x)
	case object:
		w.addObject(id, x)
	default:
		if isScalar(v) {
			w.e.AddTable(Table{ID: id, Columns: []string{"value"}, Rows: [][]any{{v}}})
		}
	}
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
		case m.key == "ms" || strings.HasSuffix(m.key, "_ms") || w.repeatsArgument(m):
		case isText && slices.Contains(statementKeys, m.key):
			w.e.AddStatement(text)
		case isText && isProse(text):
			w.e.AddDocument(id+"."+m.key, text)
		case isScalar(m.value):
			t.Columns, row = append(t.Columns, m.key), append(row, m.value)
		default:
			w.add(id+"."+m.key, m.value)
		}
	}
	if slices.ContainsFunc(row, holdsFigure) {
		t.ID, t.Rows = id, [][]any{row}
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
	t := Table{ID: id}
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
		if n, ok := o.get(key).(json.Number); ok {
			total, _ := strconv.ParseInt(n.String(), 10, 64)
			t.Total = max(t.Total, total)
		}
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
		if !ok {
			continue
		}
		row := make([]any, len(t.Columns), max(len(t.Columns), len(o)))
		for _, m := range o {
			text, isText := m.value.(string)
			switch {
			case isText && (len(text) > shortText || isProse(text) && len(strings.Fields(text)) >= sentenceWords):
				w.e.AddDocument(id+"["+strconv.Itoa(i)+"]."+m.key, text)
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
		t.ID = id
		w.e.AddTable(t)
		return
	}
	w.addPlainList(id, list)
}

// addPlainList adds a list of numbers and texts as a table of one column, and lists of
// lists as rows.
func (w *walker) addPlainList(id string, list []any) {
	t := Table{ID: id, Columns: []string{"value"}}
	for i, v := range list {
		switch x := v.(type) {
		case json.Number:
			t.Rows = append(t.Rows, []any{x})
		case string:
			w.e.AddDocument(id+"["+strconv.Itoa(i)+"]", x)
		case []any:
			w.addPlainList(id+"["+strconv.Itoa(i)+"]", x)
		}
	}
	if len(t.Rows) > 0 {
		w.e.AddTable(t)
	}
}
