package figure

import (
	"encoding/json"
	"maps"
	"regexp"
	"slices"
	"strconv"
	"strings"
)

// A size says how large something is: a result or a table of the data.
type size struct {
	of   string // the result's id, or the table's name
	what sizeKind
	n    int64
}

type sizeKind int

const (
	rowSize    sizeKind = iota // rows of a result
	tableSize                  // rows of a table of the data
	columnSize                 // columns of a table
	tableCount                 // tables of the data
)

// sizeKeys are members of a result that say how many rows it has, has more, or shows.
var sizeKeys = []string{"row_count", "total_rows", "preview_rows", "shown_rows"}

func isCount(v any) bool {
	n, ok := v.(json.Number)
	if !ok {
		return false
	}
	_, err := strconv.ParseInt(n.String(), 10, 64)
	return err == nil
}

// countOf is the value of a whole number, 0 for anything else.
func countOf(v any) int64 {
	n, _ := v.(json.Number)
	count, _ := strconv.ParseInt(n.String(), 10, 64)
	return count
}

// addDescribed adds an object that describes data instead of giving some: a table with the
// types of its columns, or a dataset in words. Samples and ranges in it are no evidence of
// anything that an answer says about all rows.
func (w *walker) addDescribed(id string, o object) bool {
	if w.made != nil && w.made.isCode { // what code says about tables is its own word
		return false
	}
	columns, isTable := describedColumns(o)
	if isTable {
		name := tableName(o)
		w.e.sizes = append(w.e.sizes, size{name, columnSize, int64(columns)})
		for _, key := range []string{"row_count", "rows", "total_rows"} {
			if isCount(o.get(key)) {
				w.e.sizes = append(w.e.sizes, size{name, tableSize, countOf(o.get(key))})
				break
			}
		}
		notes, _ := o.get("notes").([]any)
		for i, n := range notes {
			if text, ok := n.(string); ok {
				w.e.AddDescription(Document{ID: id + ".notes[" + strconv.Itoa(i) + "]", Text: "- " + name + ": " + text})
			}
		}
		return true
	}
	about, isText := o.get("about").(string)
	tables, _ := o.get("tables").([]any)
	if !isText && !slices.ContainsFunc(tables, isDescribedTable) || isText && o.get("dataset_id") == nil && tables == nil {
		return false
	}
	if len(tables) > 0 {
		w.e.sizes = append(w.e.sizes, size{id, tableCount, int64(len(tables))})
	}
	for i, t := range tables {
		if described, ok := t.(object); ok {
			w.addDescribed(id+".tables["+strconv.Itoa(i)+"]", described)
		}
	}
	if isText {
		w.e.AddDescription(Document{ID: id + ".about", Text: about})
	}
	return true
}

func isDescribedTable(v any) bool {
	o, ok := v.(object)
	if ok {
		_, ok = describedColumns(o)
	}
	return ok
}

// describedColumns counts the columns of an object that lists them with their types and has
// no rows.
func describedColumns(o object) (int, bool) {
	list, ok := o.get("columns").([]any)
	if _, hasRows := o.get("rows").([]any); !ok || hasRows || len(list) == 0 {
		return 0, false
	}
	for _, c := range list {
		column, ok := c.(object)
		if !ok || column.get("name") == nil || column.get("type") == nil {
			return 0, false
		}
	}
	return len(list), true
}

func tableName(o object) string {
	for _, key := range []string{"table_name", "name", "fully_qualified_name", "table", "alias"} {
		if name, ok := o.get(key).(string); ok {
			return name
		}
	}
	return ""
}

// Words beside a figure that speaks of the rows of a result or a table, of those that are
// shown, or of the rest.
var (
	rowWords   = wordSet("row rows record records entry entries result results line lines zeile zeilen datensatz datensätze datensätzen eintrag einträge einträgen ergebnis ergebnisse ergebnissen treffer treffern")
	restWords  = wordSet("more further other others additional remaining weitere weiteren weiterer mehr übrige übrigen andere anderen")
	shownWords = wordSet("shown listed displayed shows show gezeigt angezeigt gelistet zeigt aufgeführt")
	firstWords = wordSet("first last top only limit showing erste ersten letzten nur zeige zeigt shows")
	thanWords  = wordSet("than als")
	columnWord = wordSet("column columns field fields spalte spalten feld felder feldern")
	tableWord  = wordSet("table tables tabelle tabellen")
)

func wordSet(list string) map[string]bool {
	set := map[string]bool{}
	for w := range strings.FieldsSeq(list) {
		set[w] = true
	}
	return set
}

// fromSizes looks whether the figure is the size of a result, of what is shown of it, or of
// the rest. The words beside the figure must say so.
func (t *tracer) fromSizes(m mention) (origin, bool) {
	if m.date != nil || m.share || m.inWords || len(m.readings) == 0 {
		return origin{}, false
	}
	rest, rows := m.countsRest(), m.countsRows()
	for i := range t.grids {
		g := &t.grids[i]
		if g.constant() {
			continue
		}
		all, here := g.table.Total, int64(len(g.table.Rows))
		counted := all == here || all > here+1 || slices.Contains(t.e.sizes, size{g.table.ID, rowSize, all})
		if rows && (m.isCount(here, false) || counted && m.isCount(all, false)) {
			return origin{support: FromSize, formula: "rows", source: g.table.ID}, true
		}
		if rest && counted && t.countsUnlisted(m, i, all, here) {
			return origin{support: FromSize, formula: "rows that are not shown", source: g.table.ID}, true
		}
	}
	for _, s := range t.e.sizes {
		if s.what == rowSize && rows && m.isCount(s.n, false) {
			return origin{support: FromSize, formula: "rows", source: s.of}, true
		}
	}
	return origin{}, false
}

// fromSchema looks whether the figure is the size of a table of the data, where the words
// beside it say so.
func (t *tracer) fromSchema(m mention) (origin, bool) {
	if m.date != nil || m.share || m.inWords {
		return origin{}, false
	}
	for _, s := range t.e.sizes {
		counted := s.of != "" && m.unit == "" && m.counts(newColumn(s.of)) // 15,000 orders
		switch s.what {
		case tableSize:
			if (m.standsBy(rowWords) || counted) && m.isCount(s.n, false) {
				return origin{support: FromSize, formula: "rows of the table", source: s.of}, true
			}
		case columnSize:
			if m.standsBy(columnWord) && m.isCount(s.n, false) {
				return origin{support: FromSize, formula: "columns of the table", source: s.of}, true
			}
		case tableCount:
			if m.standsBy(tableWord) && m.isCount(s.n, false) {
				return origin{support: FromSize, formula: "tables", source: s.of}, true
			}
		}
	}
	return origin{}, false
}

// standsBy says that one of these words is among the two after the figure.
func (m mention) standsBy(set map[string]bool) bool {
	return slices.ContainsFunc(m.after, func(w string) bool { return set[w] })
}

// countsRows says that the words beside the figure speak of rows or of what is shown.
func (m mention) countsRows() bool {
	return m.standsBy(rowWords) || m.standsBy(shownWords) || firstWords[m.before] || shownWords[m.before]
}

// countsRest says that the figure counts what is left out: 5 more.
func (m mention) countsRest() bool {
	return m.standsBy(restWords) && !m.standsBy(thanWords) && !m.comparesRest()
}

// comparesRest says that "more" compares: 5 more orders than before.
func (m mention) comparesRest() bool {
	_, behind, _ := strings.Cut(m.sentence, m.lower())
	return strings.Contains(behind, " than ") || strings.Contains(behind, " als ")
}

func (m mention) lower() string { return strings.ToLower(m.text) }

// isCount says whether the figure is this count; some says that none does not count.
func (m mention) isCount(n int64, some bool) bool {
	if some && n <= 0 {
		return false
	}
	return slices.ContainsFunc(m.readings, func(r reading) bool { return r.fits(float64(n), m.near) })
}

// countsUnlisted says whether the figure is how many rows of a table, or of those that are
// here, the answer does not show.
func (t *tracer) countsUnlisted(m mention, grid int, all, here int64) bool {
	named, valued := t.listed(grid)
	return slices.ContainsFunc([]int64{all - here, all - named, here - named, all - valued, here - valued}, func(n int64) bool { return m.isCount(n, true) })
}

// listed counts the rows of a table that the answer shows: valued are those that one of its
// figures was read from, named those and the ones that a line or a sentence names.
func (t *tracer) listed(grid int) (named, valued int64) {
	g := &t.grids[grid]
	if g.named >= 0 {
		return g.named, g.valued
	}
	shown := map[int]bool{}
	for _, c := range t.linked {
		if c.Table == g.table.ID {
			shown[c.Row] = true
		}
	}
	g.valued = int64(len(shown))
	unique, daily := g.uniqueLabels()
	for _, part := range t.answerParts() {
		for row := range g.cells[:min(len(g.cells), maxListed)] {
			if !shown[row] && t.work > 0 {
				t.work--
				shown[row] = g.identifies(part, row, unique, daily)
			}
		}
	}
	maps.DeleteFunc(shown, func(_ int, is bool) bool { return !is })
	g.named = int64(len(shown))
	return g.named, g.valued
}

// identifies says whether a text names one row and no other: by a label that no other row
// has, or by all labels of the row together.
func (g *grid) identifies(n names, row int, unique map[label]bool, daily map[int]bool) bool {
	all := len(g.labels[row]) > 0
	for _, l := range g.labels[row] {
		named := n.name(l) && (!daily[l.column] || n.namesDay(l)) // a month names no day of it
		if named && unique[l.key()] {
			return true
		}
		all = all && named
	}
	return all
}

// uniqueLabels are the labels that only one row of the table has, and the columns whose
// dates are days rather than months or years.
func (g *grid) uniqueLabels() (unique map[label]bool, daily map[int]bool) {
	unique, daily = map[label]bool{}, map[int]bool{}
	for _, labels := range g.labels {
		for _, l := range labels {
			_, again := unique[l.key()]
			unique[l.key()] = !again
			if l.kind == dateLabel && l.date.day > 1 {
				daily[l.column] = true
			}
		}
	}
	return unique, daily
}

// answerParts are the lines and sentences of the answer, each with the line above its list.
func (t *tracer) answerParts() []names {
	if t.parts != nil {
		return t.parts
	}
	answer := t.answer[:min(len(t.answer), maxScanned)]
	from := 0
	for i := 1; i <= len(answer) && len(t.parts) < maxParts; i++ {
		if i < len(answer) && !endsSentence(answer, i) {
			continue
		}
		if part := answer[from:i]; strings.TrimSpace(part) != "" {
			t.parts = append(t.parts, newNames(part+"\n"+leadIn(answer, from+len(strings.TrimRight(part, "\n")))))
		}
		from = i
	}
	return t.parts
}

// maxParts bounds the lines and sentences in which rows are looked for.
const maxParts = 1000

// maxListed bounds the rows that an answer is searched for.
const maxListed = 2000

// A described line is a line of a description with its figures and what it names.
type describedLine struct {
	source   string
	names    []string // in lower case
	mentions []mention
}

var (
	headingName = regexp.MustCompile("^#+ *`?([\\p{L}_][\\p{L}\\p{N}_.]*)")
	lineName    = regexp.MustCompile("^[-*] *[`*]*([\\p{L}_][\\p{L}\\p{N}_. ]*?)[`*]*(?: [A-Z][A-Z(]|[:,])")
)

// readDescription splits a description into lines with what they name. A count of rows in a
// heading is the size of the table.
func (t *tracer) readDescription(d Document, text scannedText) {
	at, next := 0, 0
	for line := range strings.SplitSeq(d.Text, "\n") {
		end := at + len(line)
		l := describedLine{source: d.ID}
		if m := headingName.FindStringSubmatch(line); m != nil {
			l.names = append(l.names, strings.ToLower(m[1]))
		} else if m := lineName.FindStringSubmatch(line); m != nil {
			l.names = append(l.names, strings.ToLower(m[1]))
		}
		for ; next < len(text.mentions) && text.mentions[next].end <= end; next++ {
			m := text.mentions[next]
			if len(m.after) > 0 && rowWords[m.after[0]] && len(l.names) > 0 && len(m.readings) > 0 && strings.HasPrefix(line, "#") {
				t.e.sizes = append(t.e.sizes, size{l.names[0], tableSize, int64(m.readings[0].value)})
				continue
			}
			l.mentions = append(l.mentions, m)
		}
		if len(l.names) > 0 && len(l.mentions) > 0 {
			t.described = append(t.described, l)
		}
		at = end + 1
	}
}

// fromDescriptions looks for the figure in a line about something that the sentence names. A
// month or a day of a year needs no name: there are too many of them to agree by chance.
func (t *tracer) fromDescriptions(m mention) (origin, bool) {
	for _, l := range t.described {
		if !slices.ContainsFunc(l.mentions, m.same) {
			continue
		}
		if m.date != nil && m.date.month > 0 && slices.ContainsFunc(l.mentions, m.sameDate) {
			return origin{support: FromDocument, source: l.source}, true
		}
		for _, name := range l.names {
			if containsWord(m.sentence, name) || containsAny(m.sentence, newColumn(name).words) {
				return origin{support: FromDocument, source: l.source}, true
			}
		}
	}
	return origin{}, false
}
