package figure

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"hash/maphash"
	"maps"
	"regexp"
	"slices"
	"strings"

	"interlock/internal/schema"
)

// A Table is a result that the answer may rest on. Cells are what encoding/json makes
// of typed JSON: numbers, texts, booleans and nil.
type Table struct {
	ID      string
	Columns []string
	Rows    [][]any
	Total   int64 // rows of the whole result, where Rows is only its beginning; one more than Rows if nobody counted

	made *program // that gave it
}

// A Document is a passage that the answer may quote.
type Document struct {
	ID, Text string

	made *program // that printed it
}

// Evidence is all that the figures of an answer may come from. The Add methods fill it
// within bounds; Cut says whether a bound left something out.
type Evidence struct {
	Tables       []Table // the likelier origins first: a fit among few numbers is no chance
	Documents    []Document
	Descriptions []Document // of the data, such as a schema in words: a line of one is evidence for what it names
	Questions    []string   // what the person said in this turn
	Statements   []string   // what ran: its constants are conditions, such as a limit
	Cut          bool
	Names        map[string]string // of results that have one, by the id of their call

	results          []madeResult // newest first, as they were added
	sizes            []size
	measures         []measure
	cells, textBytes int
	seen             map[uint64]bool // contents of tables and documents
}

// A Result is what a call gave, with what it was given.
type Result struct {
	ID     string
	Args   json.RawMessage // that the caller chose: where the output repeats them, it supports nothing
	Output json.RawMessage
	SQL    string // the statement that gave the rows, where it is known
	// Lineage says what feeds the columns of the statement's result, Frames which earlier
	// results it read.
	Lineage []schema.Lineage
	Frames  []string
	Answer  string // that the call may have worded: it does not support itself
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
	if raw, err := json.Marshal([]any{t.Columns, t.Rows, t.made.statesAny()}); err == nil && e.isKnown(raw) {
		return
	}
	e.Tables = append(e.Tables, t)
}

// AddDocument adds a passage, unless the bound for texts is reached.
func (e *Evidence) AddDocument(d Document) {
	if e.admitsText(d.Text) {
		e.Documents = append(e.Documents, d)
	}
}

// AddDescription adds a description of data.
func (e *Evidence) AddDescription(d Document) {
	if e.admitsText(d.Text) {
		e.Descriptions = append(e.Descriptions, d)
	}
}

// admitsText says whether a text has figures, is new, and is within the bounds.
func (e *Evidence) admitsText(text string) bool {
	if e.textBytes+len(text) > maxTextBytes || len(e.Documents)+len(e.Descriptions) >= maxDocuments {
		e.Cut = true
		return false
	}
	if !strings.ContainsAny(text, "0123456789") && !Holds(text) {
		return false
	}
	e.textBytes += len(text)
	return !e.isKnown([]byte(text))
}

// AddStatement adds the conditions of a statement that ran.
func (e *Evidence) AddStatement(text string) {
	if len(text) > maxScanned {
		text, e.Cut = text[:maxScanned], true
	}
	e.addConditions(readStatement(text))
}

// AddSetting adds a setting under which the answer was made.
func (e *Evidence) AddSetting(name string, value any) {
	e.addConditions(&program{conditions: fmt.Sprintf("%s %v", name, value)})
}

func (e *Evidence) addConditions(p *program) {
	text := p.conditions
	if strings.TrimSpace(text) == "" || slices.Contains(e.Statements, text) {
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
// documents, SQL and code are statements, and what describes tables is evidence for their
// sizes alone.
func (e *Evidence) AddResult(r Result) {
	dec := json.NewDecoder(bytes.NewReader(r.Output))
	dec.UseNumber()
	in := reader{dec: dec, left: maxNodes}
	root, err := in.value()
	if err != nil && !errors.Is(err, errTooMany) {
		return // whoever stored it made it as JSON: nothing to trace
	}
	e.Cut = e.Cut || err != nil
	w := walker{e: e, given: map[string]any{}, partial: err != nil}
	if json.Unmarshal(r.Args, &w.given) != nil {
		w.given = nil
	}
	w.made = readProgram(r.SQL, w.given)
	w.made.setLineage(r, root)
	e.Cut = e.Cut || len(r.SQL) > maxScanned || len(r.Args) > 2*maxScanned
	if r.Answer != "" {
		w.given = map[string]any{"answer": r.Answer}
	}
	if o, ok := root.(object); ok {
		name, _ := o.get("name").(string)
		e.results = append(e.results, madeResult{name, w.made})
		if name != "" && o.get("rows") != nil {
			if e.Names == nil {
				e.Names = map[string]string{}
			}
			e.Names[r.ID] = name
		}
	}
	w.add(r.ID, root)
	if r.SQL != "" {
		e.AddStatement(r.SQL)
	}
}

// ProgramArgs are the members of a call's arguments that hold what ran or what the caller wrote.
func ProgramArgs(args json.RawMessage) json.RawMessage {
	var all map[string]any
	if json.Unmarshal(args, &all) != nil {
		return nil
	}
	maps.DeleteFunc(all, func(key string, v any) bool {
		_, isText := v.(string)
		return !isText || !slices.Contains(statementKeys, key) && !slices.Contains(authoredKeys, key)
	})
	if len(all) == 0 {
		return nil
	}
	raw, err := json.Marshal(all)
	if err != nil {
		return nil
	}
	return raw
}

// authoredKeys name arguments that are texts of the caller: a result that repeats their
// numbers says nothing about data.
var authoredKeys = []string{"name", "markdown", "text", "content", "body", "html", "title", "summary", "answer", "notes"}

// readProgram reads what gave a result: its statement, or the SQL, the code or the text in
// its arguments.
func readProgram(sql string, args map[string]any) *program {
	for _, key := range statementKeys {
		text, _ := args[key].(string)
		text = text[:min(len(text), maxScanned)]
		switch {
		case text == "":
		case key == "code" || key == "python_code":
			return readCode(text)
		case sql == "" && looksLikeSQL.MatchString(text):
			sql = text
		}
	}
	if sql != "" {
		return readStatement(sql[:min(len(sql), maxScanned)])
	}
	var written *program
	for _, key := range authoredKeys {
		text, _ := args[key].(string)
		found, _ := scanBounded(text)
		for _, m := range found {
			if written == nil {
				written = &program{known: true, isText: true, readsData: true}
			}
			for _, r := range m.readings {
				written.values = append(written.values, r.value)
			}
		}
	}
	return written
}

var looksLikeSQL = regexp.MustCompile(`(?is)^[\s(]*(?:select\s+[-\d('*"]|select\s.*\sfrom\s|with\s+\w+\s+as\s*\(|with\s+recursive\s|from\s+\S+\s+select\s|values\s*\()`)
