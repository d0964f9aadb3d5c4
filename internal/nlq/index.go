package nlq

import (
	"fmt"
	"slices"
	"strings"
	"time"
	"unicode"

	"interlock/internal/queryplan"
	"interlock/internal/schema"
)

// ColumnValues are distinct values of a text column, as many as are known.
type ColumnValues struct {
	Table  string   `json:"table"`
	Column string   `json:"column"`
	Values []string `json:"values"`
	// Complete says that the column has no other values.
	Complete bool `json:"complete,omitempty"`
}

// An Index is a schema and its values prepared for reading questions. It never
// changes and may be used by many at once.
type Index struct {
	schema    schema.Dataset
	columns   []column
	tables    []table
	values    map[string][]valueRef
	stems     map[string][]valueRef // one-word values, by stem
	known     map[int]bool          // columns whose values are all known
	truths    map[int][]any         // columns of yes and no: their two values
	distinct  map[int]int           // how many values a column has, where all are known
	longest   int                   // words of the longest value
	glossary  []term
	meanings  map[string]string // the glossary as it was written
	described bool              // a dictionary says what tables and columns mean

	today       time.Time    // of an extract; zero is the day of the question
	sentinels   map[int]bool // columns in which 0 means unknown
	chosen      []schema.Choice
	chosenDates map[int]int           // of a table: the main date that a person chose
	mainDates   map[int]int           // of a table: the date by which its rows count
	ends        map[int]bool          // dates by which rows have ended, where they have one
	mainRefs    map[int]bool          // references by which rows belong to those of another table
	absences    map[string][]valueRef // rows without a value, by what the dictionary calls them
	folded      map[int]bool          // enumerations whose spellings differ in case
	definitions []*definition
	defined     map[string]*definition // by the base forms of the name
	called      map[string]int         // what descriptions call the rows of a table, plus one
	vocabulary  map[string]bool        // words of names and values
	named       map[string]bool        // words of names alone
	people      map[string][]valueRef  // names of people in the data, by their first and last
	stemmed     map[string]bool
	undefined   []string // terms of the glossary that cannot be computed
	periods     []namedPeriod
	unread      map[string]string // and the part of each that is not read

	unknown   map[int][]any              // values that mean unknown, by the semantic model
	same      map[int][]schema.SameValue // values that stand for one thing, by the semantic model
	ambiguous []ambiguousTerm
	verified  map[string]*queryplan.Plan // by the key of the question
}

// A column is one column, prepared.
type column struct {
	id     int
	table  int
	name   string
	kind   queryplan.Kind
	words  []string
	names  [][]string // labels and synonyms of the semantic model
	nouns  [][]string // nouns of its description
	flat   string
	head   int  // the word that the others qualify: the last, or the one before `of`
	key    bool // the only column of the primary key
	part   bool // one of the columns of the primary key
	ref    int  // the table that it refers to, or -1
	number bool // holds numbers, whatever its type says
	date   bool // holds dates, whatever its type says
	coded  bool // its numbers stand for something, and are no amounts
}

// A table is one table, prepared.
type table struct {
	id      int
	name    string
	words   []string
	core    []string // without the words that people leave out
	flat    string
	columns []int
	aliases [][]string // what references to it are called
	key     int        // its only key column, or -1
	display int        // the column that names a row, or -1
	rows    int64
}

type valueRef struct {
	column int
	value  string
}

// maxValues bounds the values that are indexed of one column.
const maxValues = 20_000

// NewIndex prepares a schema and its values. Relations that nobody declared are
// discovered by name.
func NewIndex(s schema.Dataset, values []ColumnValues, dict schema.Dictionary) *Index {
	s.Relations = keepKeyRelations(s)
	s.Relations = append(s.Relations, queryplan.Discover(s)...)
	x := &Index{schema: s, values: map[string][]valueRef{}, stems: map[string][]valueRef{}, known: map[int]bool{}, truths: map[int][]any{}, distinct: map[int]int{}}
	vocabulary := map[string]bool{}
	for _, t := range s.Tables {
		for _, w := range splitIdentifier(t.Name) {
			vocabulary[w] = true
		}
		for _, c := range t.Columns {
			for _, w := range splitIdentifier(c.Name) {
				vocabulary[w] = true
			}
		}
	}
	split := func(name string) []string {
		var out []string
		for _, w := range splitIdentifier(name) {
			out = append(out, splitCompound(w, vocabulary)...)
		}
		return out
	}
	for i, t := range s.Tables {
		tab := table{id: i, name: t.Name, words: split(t.Name), flat: flatten(t.Name), key: -1, display: -1, rows: t.Rows}
		for _, w := range tab.words {
			if !weakTables[w] {
				tab.core = append(tab.core, w)
			}
		}
		if len(tab.core) == 0 {
			tab.core = tab.words
		}
		for _, c := range t.Columns {
			col := column{id: len(x.columns), table: i, name: c.Name, kind: queryplan.KindOf(c.Type), words: split(c.Name), flat: flatten(c.Name), ref: -1}
			col.head = len(col.words) - 1
			for col.head > 0 && units[col.words[col.head]] {
				col.head--
			}
			if of := slices.Index(col.words, "of"); of > 0 {
				col.head = of - 1
			}
			if col.kind == queryplan.Bool {
				x.truths[col.id] = []any{true, false}
			}
			col.number = col.kind == queryplan.Number
			col.date = col.kind == queryplan.Date
			col.part = slices.ContainsFunc(t.Key, func(k string) bool { return strings.EqualFold(k, c.Name) })
			col.key = t.IsKey(c.Name)
			if col.key {
				tab.key = col.id
			}
			tab.columns = append(tab.columns, col.id)
			x.columns = append(x.columns, col)
		}
		x.tables = append(x.tables, tab)
	}
	for _, r := range s.Relations {
		if c := x.findColumn(r.Table, r.Column); c >= 0 {
			if t := x.findTable(r.RefTable); t >= 0 {
				x.columns[c].ref = t
				x.addAlias(c, t)
			}
		}
	}
	x.glossary = x.prepareTerms(dict.Glossary)
	x.meanings, x.described = dict.Glossary, len(dict.Tables) > 0
	x.addValues(values)
	x.learnPeople(values)
	for i := range x.tables {
		if x.tables[i].key < 0 {
			x.tables[i].key = x.guessKey(i)
		}
		x.tables[i].display = x.displayColumn(i)
		if key := x.tables[i].key; key >= 0 {
			x.addAlias(key, i) // a table with an order id has orders
		}
	}
	x.learnMeaning(dict)
	x.useMeaning()
	return x
}

// keepKeyRelations keeps each relation once, and only towards a key: where the data are few, the
// values of a key may all be found in the column that refers to it, too.
func keepKeyRelations(s schema.Dataset) []schema.Relation {
	isKey := func(table, column string) bool {
		t, ok := s.Table(table)
		return ok && t.IsKey(column)
	}
	var out []schema.Relation
	for _, r := range s.Relations {
		better := slices.ContainsFunc(s.Relations, func(o schema.Relation) bool {
			linked := strings.EqualFold(o.Table, r.Table) && strings.EqualFold(o.RefTable, r.RefTable) && isKey(o.RefTable, o.RefColumn) && !isKey(o.Table, o.Column)
			return linked && (isKey(r.Table, r.Column) && strings.EqualFold(o.Column, o.RefColumn) || strings.EqualFold(o.Column, r.Column) && !isKey(r.RefTable, r.RefColumn))
		})
		if better || isKey(r.Table, r.Column) && !isKey(r.RefTable, r.RefColumn) {
			continue
		}
		known := slices.ContainsFunc(out, func(o schema.Relation) bool {
			same := strings.EqualFold(o.Table, r.Table) && strings.EqualFold(o.Column, r.Column) && strings.EqualFold(o.RefTable, r.RefTable) && strings.EqualFold(o.RefColumn, r.RefColumn)
			turned := strings.EqualFold(o.Table, r.RefTable) && strings.EqualFold(o.Column, r.RefColumn) && strings.EqualFold(o.RefTable, r.Table) && strings.EqualFold(o.RefColumn, r.Column)
			return same || turned
		})
		if !known {
			out = append(out, r)
		}
	}
	return out
}

// addAlias lets a table be called what references to it are called: student_id makes
// its table one of students, unless another table has that name.
func (x *Index) addAlias(c, t int) {
	ws := x.columns[c].words
	if last := len(ws) - 1; last > 0 && keyWords[ws[last]] {
		ws = ws[:last]
	}
	for _, o := range x.tables {
		if slices.Equal(o.core, ws) {
			return
		}
	}
	if slices.Equal(ws, x.columns[c].words) && c == x.tables[t].key {
		return
	}
	x.tables[t].aliases = append(x.tables[t].aliases, ws)
}

func (x *Index) addValues(values []ColumnValues) {
	for _, cv := range values {
		c := x.findColumn(cv.Table, cv.Column)
		if c < 0 {
			continue
		}
		x.known[c] = cv.Complete && len(cv.Values) <= maxValues
		if cv.Complete {
			x.distinct[c] = len(cv.Values)
		}
		numbers, dates, filled := 0, 0, 0
		for _, v := range cv.Values[:min(len(cv.Values), maxValues)] {
			if strings.TrimSpace(v) == "" {
				continue
			}
			filled++
			if isNumber(v) {
				numbers++
			}
			if looksLikeDate(v) {
				dates++
			}
			key := normaliseValue(v)
			if key == "" {
				continue
			}
			ref := valueRef{c, v}
			x.values[key] = append(x.values[key], ref)
			n := strings.Count(key, " ") + 1
			x.longest = max(x.longest, min(n, 10))
			if n == 1 && !isNumber(v) {
				x.stems[stem(key)] = append(x.stems[stem(key)], ref)
			}
		}
		if v := truthValues(cv.Values); v != nil && cv.Complete {
			x.truths[c] = v
		}
		if x.columns[c].kind == queryplan.Text && filled > 0 {
			x.columns[c].number = numbers*10 >= filled*9
			x.columns[c].date = dates*10 >= filled*9
		}
	}
}

// addSpellings adds the other ways in which a column writes the values, by case.
func (x *Index) addSpellings(col int, values []any) []any {
	var out []any
	for _, v := range values {
		text, ok := v.(string)
		if !ok {
			out = append(out, v)
			continue
		}
		out = append(out, text)
		for _, ref := range x.values[normaliseValue(text)] {
			if ref.column == col && ref.value != text && strings.EqualFold(ref.value, text) {
				out = append(out, ref.value)
			}
		}
		for _, other := range x.sameValues(col, text) {
			out = append(out, other)
		}
	}
	return out
}

// truthValues finds the values for yes and no where a column has only such.
func truthValues(values []string) []any {
	if len(values) == 0 || len(values) > 2 {
		return nil
	}
	for _, pair := range [][2]string{{"t", "f"}, {"true", "false"}, {"y", "n"}, {"yes", "no"}, {"1", "0"}} {
		var yes, no string
		for _, v := range values {
			switch strings.ToLower(v) {
			case pair[0]:
				yes = v
			case pair[1]:
				no = v
			}
		}
		if yes != "" && (no != "" || len(values) == 1) {
			return []any{yes, no}
		}
	}
	return nil
}

// findColumn returns the id of a column, or -1.
func (x *Index) findColumn(table, name string) int {
	for _, c := range x.columns {
		if strings.EqualFold(c.name, name) && strings.EqualFold(x.tableName(c.table), table) {
			return c.id
		}
	}
	return -1
}

// Schema is the schema with the relations that were discovered.
func (x *Index) Schema() schema.Dataset { return x.schema }

func (x *Index) tableName(i int) string { return x.schema.Tables[i].Name }

func (x *Index) findTable(name string) int {
	return slices.IndexFunc(x.schema.Tables, func(t schema.Table) bool { return strings.EqualFold(t.Name, name) })
}

// listTables names the tables, as many as one reads.
func (x *Index) listTables() string {
	const most = 8
	var names []string
	for _, t := range x.tables[:min(len(x.tables), most)] {
		names = append(names, plural(humanName(t.name)))
	}
	if n := len(x.tables) - most; n > 0 {
		names = append(names, fmt.Sprintf("%d more tables", n))
	}
	return joinWithAnd(names)
}

// guessKey finds a column that looks like the key of a table without one.
func (x *Index) guessKey(t int) int {
	for _, c := range x.tables[t].columns {
		w := x.columns[c].words
		if x.columns[c].ref < 0 && len(w) > 0 && (w[len(w)-1] == "id" || x.columns[c].flat == "code") {
			return c
		}
	}
	return -1
}

// displayColumn finds the column by which people name a row: `name`, `title`, the table's
// own name, something ending in name, else the first text that is no reference.
func (x *Index) displayColumn(t int) int {
	best, rank := -1, 0
	tab := x.tables[t]
	for _, id := range tab.columns {
		c := x.columns[id]
		r := 0
		last := ""
		if len(c.words) > 0 {
			last = c.words[len(c.words)-1]
		}
		core := withoutWords(c.words, tab.core)
		switch {
		case c.ref >= 0 || c.kind == queryplan.Date:
		case len(c.words) == 1 && (last == "name" || last == "title"):
			r = 10
		case len(core) == 1 && (core[0] == "name" || core[0] == "title"):
			r = 9
		case len(core) == 0 && c.kind != queryplan.Number:
			r = 8
		case len(c.words) == 1 && slices.Contains(tab.core, last) && c.kind != queryplan.Number:
			r = 7
		case last == "name" && c.kind == queryplan.Text && core[0] != "first" && core[0] != "middle" && core[0] != "last":
			r = 6
		case c.kind == queryplan.Text && !c.number && !c.key && id == tab.columns[min(1, len(tab.columns)-1)]:
			r = 2
		case c.kind == queryplan.Text && !c.number && !c.key:
			r = 1
		}
		if r > rank {
			best, rank = id, r
		}
	}
	return best
}

// personName gives first and last name where a table keeps them apart.
func (x *Index) personName(t int) []int {
	first, last := -1, -1
	for _, id := range x.tables[t].columns {
		switch f := x.columns[id].flat; {
		case f == "firstname" || f == "fname" || f == "givenname":
			first = id
		case f == "lastname" || f == "lname" || f == "surname":
			last = id
		}
	}
	if first >= 0 && last >= 0 {
		return []int{first, last}
	}
	return nil
}

// withoutWords is a without the words of b.
func withoutWords(a, b []string) []string {
	var out []string
	for _, w := range a {
		if !slices.Contains(b, w) {
			out = append(out, w)
		}
	}
	return out
}

// splitIdentifier splits an identifier into lower-case base forms: OrderLine_IDs is
// order, line, id.
func splitIdentifier(name string) []string {
	var out []string
	var cur []rune
	flush := func() {
		if len(cur) > 0 {
			w := strings.ToLower(string(cur))
			if w != "is" && w != "has" && w != "was" {
				w = lemma(w)
			}
			out = append(out, w)
			cur = nil
		}
	}
	rs := []rune(name)
	for i, r := range rs {
		switch {
		case !unicode.IsLetter(r) && !unicode.IsDigit(r):
			flush()
			continue
		case unicode.IsUpper(r) && i > 0 && unicode.IsLower(rs[i-1]):
			flush()
		case unicode.IsUpper(r) && i > 0 && unicode.IsUpper(rs[i-1]) && i+1 < len(rs) && unicode.IsLower(rs[i+1]) && rs[i+1] != 's':
			flush()
		case unicode.IsDigit(r) != (i > 0 && unicode.IsDigit(rs[i-1])) && i > 0 && len(cur) > 0:
			flush()
		}
		cur = append(cur, r)
	}
	flush()
	return out
}

// splitCompound splits a word that is two words of the schema written together, or
// ends in a word that names of columns often end in.
func splitCompound(w string, vocabulary map[string]bool) []string {
	if len(w) < 6 {
		return []string{w}
	}
	for i := 3; i <= len(w)-2; i++ {
		head, tail := w[:i], w[i:]
		if vocabulary[head] && (vocabulary[lemma(tail)] && len(tail) >= 4 || tailWords[tail]) || tailWords[tail] && len(head) >= 4 {
			return []string{lemma(head), lemma(tail)}
		}
	}
	return []string{w}
}

var tailWords = wordSet(`id name code date year type number time`)

func flatten(name string) string {
	var b strings.Builder
	for _, r := range strings.ToLower(name) {
		if unicode.IsLetter(r) || unicode.IsDigit(r) {
			b.WriteRune(r)
		}
	}
	return b.String()
}

// normaliseValue returns a value as the words of a question would spell it.
func normaliseValue(s string) string {
	return strings.Join(strings.FieldsFunc(strings.ToLower(s), func(r rune) bool { return !unicode.IsLetter(r) && !unicode.IsDigit(r) }), " ")
}

// SQL compiles a plan of this index's dataset.
func (x *Index) SQL(p *queryplan.Plan) (string, error) { return p.SQL(x.schema) }
