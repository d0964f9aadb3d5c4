package nlq

import (
	"regexp"
	"slices"
	"strconv"
	"strings"

	"interlock/internal/queryplan"
)

// A rowsReader reads the rows that a sentence of the glossary speaks of, word by word: `buyers with at
// least one order that is not cancelled`. It stops at the first word that it does not read.
type rowsReader struct {
	x     *Index
	words []string
	at    int
	base  int
	conds []condition
}

var rowsWord = regexp.MustCompile(`'[^']*'|"[^"]*"|\d{4}-\d{2}-\d{2}|[<>]=?|=|-?\d+(?:\.\d+)?|[\p{L}_][\p{L}\d_]*(?:[.'’-][\p{L}\d_]+)*|[(),]|\S`)

// readRows reads a phrase as rows of a table: of base, or of the one that it names where base is -1.
// What is not read is given as unread.
func (x *Index) readRows(phrase string, base int) (table int, conds []condition, unread string) {
	r := &rowsReader{x: x, base: base}
	for _, w := range rowsWord.FindAllString(phrase, -1) {
		if w[0] != '\'' && w[0] != '"' {
			w = strings.ToLower(w)
		}
		r.words = append(r.words, w)
	}
	if r.head() {
		r.clauses()
	}
	if r.base < 0 || r.at < len(r.words) {
		return -1, r.conds, strings.Join(r.words[min(r.at, len(r.words)):], " ")
	}
	return r.base, r.conds, ""
}

// rest of the reader's words begin with these.
func (r *rowsReader) sees(words ...string) bool {
	return r.at+len(words) <= len(r.words) && slices.Equal(r.words[r.at:r.at+len(words)], words)
}

// accept takes the first of some phrases that comes next, or gives "".
func (r *rowsReader) accept(phrases ...string) string {
	for _, p := range phrases {
		if ws := strings.Fields(p); r.sees(ws...) {
			r.at += len(ws)
			return p
		}
	}
	return ""
}

var (
	clauseWords   = wordSet("with without whose where that which who having from between ( , until since before after when during not")
	rowArticles   = wordSet("a an the all every each any our those these only such")
	pronounOfRows = wordSet("one ones those these row rows they it")
)

// head reads the noun that names the rows, with the adjectives before it: delivered orders.
func (r *rowsReader) head() bool {
	end := r.at
	for end < len(r.words) && !clauseWords[r.words[end]] && r.columnAt(end, r.base) < 0 && (end == r.at || !r.startsDated(end)) {
		end++
	}
	for r.at < end && rowArticles[r.words[r.at]] {
		r.at++
	}
	from := r.at
	for k := from; k < end; k++ {
		t := r.x.tableCalled(r.words[k:end])
		if r.base >= 0 && k == end-1 && pronounOfRows[r.words[k]] {
			t = r.base
		}
		if t >= 0 && (r.base < 0 || t == r.base) {
			r.base, r.at = t, end
			return r.adjectives(from, k, " "+humanName(r.x.tableName(t)))
		}
	}
	for m := end - 1; m > from; m-- { // a tool in use: what is said of the noun stands behind it
		for k := from; k < m; k++ {
			if t := r.x.tableCalled(r.words[k:m]); t >= 0 && (r.base < 0 || t == r.base) {
				r.base, r.at = t, m
				return r.adjectives(from, k, " "+humanName(r.x.tableName(t))) && r.being()
			}
		}
	}
	if d := r.x.termOf(r.words[from:end], r.base); d != nil {
		r.base, r.at = d.base, end
		r.conds = append(r.conds, condition{table: d.base, def: d, other: -1, col: -1})
		return true
	}
	if r.base < 0 && end > from { // final exams, where exam is a column and final a value of it
		r.base = r.x.valueTable(strings.Join(r.words[from:end], " "))
	}
	if r.base < 0 || from == end {
		return r.base >= 0
	}
	r.at = end
	return r.adjectives(from, end, "")
}

// termOf is the term of the glossary that words are, where it is a condition on rows of the table.
func (x *Index) termOf(words []string, table int) *definition {
	d := x.defined[joinLemmas(tokenise(strings.Join(words, " ")))]
	if d == nil || d.isMeasure() || table >= 0 && d.base != table {
		return nil
	}
	return d
}

// adjectives reads what stands before the noun of the rows. Where that is not read, what brackets
// behind the noun say takes its place: cancelled orders (state 90).
func (r *rowsReader) adjectives(from, to int, noun string) bool {
	if from == to {
		return true
	}
	conds, ok := r.x.phraseConditions(strings.Join(r.words[from:to], " ")+noun, r.base)
	if d := r.x.termOf(r.words[from:to], r.base); d != nil {
		conds, ok = []condition{{table: d.base, def: d, other: -1, col: -1}}, true
	}
	if r.sees("(") && !r.bracket() {
		return false
	}
	if !ok || len(conds) == 0 {
		if len(r.conds) == 0 {
			r.at = from
		}
		return len(r.conds) > 0
	}
	for _, c := range conds {
		if !slices.ContainsFunc(r.conds, func(o condition) bool { return sameCondition(o, c) }) {
			r.conds = append(r.conds, c)
		}
	}
	return true
}

func sameCondition(a, b condition) bool {
	return a.col == b.col && a.op == b.op && a.other == b.other && a.neg == b.neg && a.exists == b.exists && a.def == b.def && a.period == b.period && slices.Equal(a.values, b.values) && len(a.related)+len(b.related)+len(a.any)+len(b.any) == 0
}

// tableCalled is the one table that words name, or -1.
func (x *Index) tableCalled(words []string) int {
	toks := tokenise(strings.Join(words, " "))
	if len(toks) != len(words) {
		return -1
	}
	content := make([]*token, len(toks))
	for i := range toks {
		content[i] = &toks[i]
	}
	found, best := -1, 0.0
	for t := range x.tables {
		switch s := x.scoreTable(content, t); {
		case s > best:
			found, best = t, s
		case s == best && s > 0:
			found = -1
		}
	}
	if best < 0.7 {
		return -1
	}
	return found
}

// columnAt is the column that is named at a word, of a table or of one that it leads to; -1 is none.
func (r *rowsReader) columnAt(at, table int) int {
	col, _ := r.columnWords(at, table)
	return col
}

func (r *rowsReader) columnWords(at, table int) (col, n int) {
	for n := min(4, len(r.words)-at); n > 0; n-- {
		text := strings.Join(r.words[at:at+n], "_")
		if n > 1 && strings.ContainsAny(text, "(),.'\"") {
			continue
		}
		if strings.Contains(text, ".") {
			if c := r.x.columnNamed(text, -1); c >= 0 {
				return c, n
			}
			continue
		}
		if table >= 0 {
			if c := r.x.columnNamed(text, table); c >= 0 {
				return c, n
			}
		}
		if c := r.x.columnNamed(text, -1); c >= 0 && strings.Contains(text, "_") && (table < 0 || r.x.singleWay(table, r.x.columns[c].table) != nil) {
			return c, n
		}
	}
	return -1, 0
}

func (r *rowsReader) column() int {
	col, n := r.columnWords(r.at, r.base)
	if col >= 0 {
		r.at += n
	}
	return col
}

// startsDated reports whether a word is the verb of a date: delivered on or before, for delivered_on.
func (r *rowsReader) startsDated(at int) bool { return r.datedColumn(at) >= 0 }

func (r *rowsReader) datedColumn(at int) int {
	if r.base < 0 {
		return r.headTableDated(at)
	}
	return r.x.dateOfVerb(r.words, at, r.base)
}

// headTableDated looks at the table that the words before name.
func (r *rowsReader) headTableDated(at int) int {
	for k := r.at; k < at; k++ {
		if t := r.x.tableCalled(r.words[k:at]); t >= 0 {
			return r.x.dateOfVerb(r.words, at, t)
		}
	}
	return -1
}

// dateOfVerb is the date of a table that is named after a verb, where a comparison follows it.
func (x *Index) dateOfVerb(words []string, at, table int) int {
	if at+1 >= len(words) || !slices.Contains([]string{"before", "after", "on", "since"}, words[at+1]) {
		return -1
	}
	if words[at+1] == "on" && (at+2 >= len(words) || words[at+2] != "or" && !dayInText.MatchString(words[at+2])) {
		return -1 // its name, written apart
	}
	for _, id := range x.tables[table].columns {
		c := &x.columns[id]
		if c.date && len(c.words) == 2 && c.words[0] == words[at] && columnTail[c.words[1]] {
			return id
		}
	}
	return -1
}

// clauses reads what is said of the rows behind their noun, to the end.
func (r *rowsReader) clauses() {
	for r.at < len(r.words) {
		start := r.at
		if !r.clause() {
			r.at = max(start, r.at)
			return
		}
	}
}

func (r *rowsReader) clause() bool {
	r.accept(",")
	r.accept("and", "but")
	switch {
	case r.at >= len(r.words):
		return false
	case r.sees("("):
		return r.bracket()
	case r.accept("without", "with no", "that have no", "which have no", "who have no", "that has no", "which has no", "that do not have", "that does not have", "having no") != "":
		return r.having(true)
	case r.accept("with", "having", "that also have", "that also has", "that have", "that has", "which have", "which has", "who have", "who has", "that had", "which had", "who had", "has", "have", "had") != "":
		return r.having(false)
	case r.accept("whose", "where", "that lie", "in which") != "":
		return r.compared()
	case r.accept("that are", "that is", "that were", "that was", "which are", "which is", "which were", "which was", "who are", "who is", "are", "is", "were", "was") != "":
		return r.being()
	case r.accept("that", "which", "who") != "":
		return r.being()
	case r.sees("from") || r.sees("between") || r.sees("in") || r.sees("during"):
		return r.inDays()
	case r.sees("not"):
		return r.being()
	}
	return r.compared()
}

// bracket reads a bracket that says which rows are meant.
func (r *rowsReader) bracket() bool {
	end := slices.Index(r.words[r.at:], ")")
	if end < 0 {
		return false
	}
	inner := &rowsReader{x: r.x, words: r.words[r.at+1 : r.at+end], base: r.base}
	inner.clauses()
	if inner.at < len(inner.words) || len(inner.conds) == 0 {
		return false
	}
	r.conds = append(r.conds, inner.conds...)
	r.at += end + 1
	return true
}

var amountOfRows = regexp.MustCompile(`^(?:at least|more than) (\d+|one|two|three)$|^(\d+|one|two|three) or more$`)

// having reads what rows have or lack: a column, or rows of another table.
func (r *rowsReader) having(neg bool) bool {
	start := r.at
	atLeast := 0
	for n := 3; n > 1; n-- {
		if r.at+n > len(r.words) {
			continue
		}
		m := amountOfRows.FindStringSubmatch(strings.Join(r.words[r.at:r.at+n], " "))
		if m == nil {
			continue
		}
		number := m[1] + m[2]
		atLeast = map[string]int{"one": 1, "two": 2, "three": 3}[number]
		if k, err := strconv.Atoi(number); err == nil {
			atLeast = k
		}
		if r.words[r.at] == "more" {
			atLeast++
		}
		r.at += n
		break
	}
	if atLeast == 0 {
		r.accept("a", "an", "any", "the", "some", "their own")
		if !neg && r.outstanding() {
			return true
		}
		if col := r.column(); col >= 0 {
			return r.comparison(col, neg, true)
		}
	}
	inner := &rowsReader{x: r.x, words: r.words, at: r.at, base: -1}
	if !inner.head() || inner.base == r.base || r.x.singleWay(inner.base, r.base) == nil {
		r.at = start
		return false
	}
	inner.clauses()
	r.at = inner.at
	if r.at < len(r.words) {
		return false
	}
	r.conds = append(r.conds, condition{table: inner.base, exists: true, neg: neg, related: inner.conds, atLeast: atLeast, other: -1, col: -1})
	return !neg || atLeast <= 1
}

// outstanding reads that there is a difference, where a term is defined as that of two columns.
func (r *rowsReader) outstanding() bool {
	for n := min(3, len(r.words)-r.at); n > 0; n-- {
		d := r.x.defined[joinLemmas(tokenise(strings.Join(r.words[r.at:r.at+n], " ")))]
		if d == nil || d.form != differenceOf || d.base != r.base || len(d.conds) > 0 {
			continue
		}
		r.at += n
		r.accept("amount", "sum", "balance")
		c := condition{table: d.base, col: d.col, op: queryplan.Gt, other: d.other}
		if d.zeroed == d.other {
			alone := &definition{base: d.base, col: -1, other: -1, date: -1, conds: []condition{
				{table: d.base, col: d.other, op: queryplan.IsNull, other: -1}, {table: d.base, col: d.col, op: queryplan.Gt, values: []any{0.0}, other: -1},
			}}
			c = condition{table: d.base, col: d.col, any: []condition{c, {table: d.base, def: alone, other: -1, col: -1}}, other: -1}
		}
		r.conds = append(r.conds, c)
		return true
	}
	return false
}

// being reads what rows are: cancelled, not cancelled, late.
func (r *rowsReader) being() bool {
	start := r.at
	neg := r.accept("not yet", "not", "never") != ""
	if !neg {
		if col := r.datedColumn(r.at); col >= 0 {
			r.at++
			return r.comparison(col, false, false)
		}
	}
	end := r.at
	for end < len(r.words) && !clauseWords[r.words[end]] && (r.words[end] != "and" || r.columnAt(end+1, r.base) < 0) {
		end++
	}
	phrase := strings.Join(r.words[r.at:end], " ")
	if phrase == "" {
		r.at = start
		return false
	}
	conds, ok := r.x.phraseConditions(phrase, r.base)
	if d := r.x.termOf(r.words[r.at:end], r.base); d != nil {
		conds, ok = []condition{{table: d.base, def: d, other: -1, col: -1}}, true
	}
	if refs := r.x.absences[joinLemmas(tokenise(strings.Join(r.words[start:end], " ")))]; len(refs) == 1 && r.x.columns[refs[0].column].table == r.base {
		conds, ok, neg = []condition{{table: r.base, col: refs[0].column, op: queryplan.IsNull, other: -1}}, true, false
	}
	if !ok || len(conds) == 0 {
		conds, ok = r.doneConditions(phrase)
	}
	if !ok || len(conds) == 0 {
		r.at = start
		return false
	}
	r.at = end
	if neg {
		conds = []condition{excluded(conds, r.base)}
	}
	r.conds = append(r.conds, conds...)
	return true
}

// doneConditions reads a participle as the date that is named after it: finished, for finished_on.
func (r *rowsReader) doneConditions(word string) ([]condition, bool) {
	for _, id := range r.x.tables[r.base].columns {
		c := &r.x.columns[id]
		if c.date && len(c.words) == 2 && c.words[0] == word && columnTail[c.words[1]] {
			return []condition{{table: r.base, col: id, op: queryplan.IsNotNull, other: -1}}, true
		}
	}
	return nil, false
}

// excluded is the condition that rows do not pass all of some conditions.
func excluded(conds []condition, base int) condition {
	if len(conds) == 1 {
		c := conds[0]
		if c.exists || c.def != nil {
			c.neg = !c.neg
			return c
		}
		if c.negate() {
			return c
		}
	}
	return condition{table: base, def: &definition{base: base, conds: conds, col: -1, other: -1, date: -1}, neg: true, other: -1, col: -1}
}

var opposites = map[queryplan.Operator]queryplan.Operator{
	queryplan.Eq: queryplan.Ne, queryplan.Ne: queryplan.Eq, queryplan.In: queryplan.NotIn, queryplan.NotIn: queryplan.In,
	queryplan.IsNull: queryplan.IsNotNull, queryplan.IsNotNull: queryplan.IsNull,
}

// negate turns a condition round, and reports whether it can be.
func (c *condition) negate() bool {
	op, ok := opposites[c.op]
	if !ok || c.exists || c.def != nil || c.other >= 0 || c.neg || len(c.any) > 0 {
		return false
	}
	c.op = op
	return true
}
