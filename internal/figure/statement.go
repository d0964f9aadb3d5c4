package figure

import (
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"

	"interlock/internal/schema"
)

// A program is what ran to give a result: a SQL statement or code. Of the numbers in its
// text, some may come out as values of the result without any data: those are stated, and
// no evidence. Others are conditions, such as a limit.
type program struct {
	known      bool // there is one
	isCode     bool // and no statement
	isText     bool // and no statement either: a text of the caller, such as a report
	readsData  bool // it reads a table, as far as can be told
	columns    []outputColumn
	values     []float64 // stated anywhere, so that a cell that equals one may be it
	conditions string    // its text without comments and without what it states, and the last days of its open ends
	text       string    // as it was written, in lower case, with blanks for underscores
	// lineage says what feeds each column, where the engine's own parser told it. It is
	// right where columns and values are read from the text.
	lineage []schema.Lineage
	frames  []string // names of earlier results that it reads
	factors []string // numbers that code computes with, beside those that change a unit
}

// An outputColumn is an item of the outermost SELECT.
type outputColumn struct {
	name     string // its alias in lower case, "" if it has none
	constant bool   // it refers to no column in any branch of a UNION
	values   []float64
	factors  []string // numbers that it computes with, beside those that change a unit
}

// states reports whether a number of a column is a constant of the program.
func (p *program) states(column int, name string, value float64) bool {
	switch {
	case p == nil || !p.known:
		return false
	case !p.readsData:
		return true
	case p.lineage != nil:
		l, ok := p.feeds(column, name)
		return ok && (len(l.Reads) == 0 || holdsNumber(l.Constants, value, 1) || holdsNumber(l.Factors, value, statedDigits))
	case slices.Contains(p.values, value):
		return true
	}
	c, ok := p.item(column, name)
	return ok && (c.constant || slices.Contains(c.values, value))
}

// item finds the item of the SELECT that gave a column.
func (p *program) item(column int, name string) (outputColumn, bool) {
	for i, c := range p.columns {
		if c.name != "" && c.name == strings.ToLower(name) || c.name == "" && i == column {
			return c, true
		}
	}
	return outputColumn{}, false
}

// writes reports whether the program itself says a name with this figure in it.
func (p *program) writes(name string, m mention) bool {
	return p != nil && p.known && (!p.readsData || strings.Contains(p.text, name) ||
		slices.ContainsFunc(m.readings, func(r reading) bool { return slices.Contains(p.values, r.value) }))
}

// statesAny reports whether the program puts constants into its result.
func (p *program) statesAny() bool {
	return p != nil && p.known && (!p.readsData || len(p.values) > 0 || slices.ContainsFunc(p.columns, func(c outputColumn) bool { return len(c.values) > 0 }))
}

var sqlTokens = regexp.MustCompile("--[^\n]*|#[^\n\\d][^\n]*|(?s:/\\*.*?(?:\\*/|$))|'(?:[^']|'')*'|\"(?:[^\"]|\"\")*\"|`[^`]*`" +
	`|(?:\d+(?:\.\d*)?|\.\d+)(?:[eE][+-]?\d+)?|[\p{L}_][\p{L}\p{N}_$]*|<>|[<>!=]=?|::|\S`)

// A sqlToken is a word, name, text, number or sign of a statement.
type sqlToken struct {
	text       string // in lower case, unless it is quoted
	start, end int
}

func (t sqlToken) isNumber() bool {
	return t.text != "" && (t.text[0] >= '0' && t.text[0] <= '9' || t.text[0] == '.' && len(t.text) > 1)
}

func (t sqlToken) isText() bool { return strings.HasPrefix(t.text, "'") }
func (t sqlToken) isQuoted() bool {
	return strings.HasPrefix(t.text, `"`) || strings.HasPrefix(t.text, "`")
}
func (t sqlToken) isWord() bool { return t.isQuoted() || letterAt(t.text, 0) && !t.isNumber() }

// name is the name that a word stands for.
func (t sqlToken) name() string { return strings.ToLower(strings.Trim(t.text, "\"`")) }

func isComment(text string) bool {
	return strings.HasPrefix(text, "--") || strings.HasPrefix(text, "/*") || strings.HasPrefix(text, "#")
}

// number gives the value of a number, or of a text that holds one.
func (t sqlToken) number() (float64, bool) {
	if !t.isNumber() && !t.isText() {
		return 0, false
	}
	v, err := strconv.ParseFloat(strings.Trim(t.text, "' "), 64)
	return v, err == nil
}

// Clauses of a SELECT, by what a number in them is.
type clause int

const (
	beside    clause = iota // no clause yet, or one of tables
	selecting               // a value of the result
	filtering               // a condition
)

// A bracket is what is open at a place of a statement: the statement itself, a subquery, or
// the arguments of a function.
type bracket struct {
	clause, base clause // base is the clause around a CASE
	isSelect     bool
	tables       bool // a name that comes now is that of a table
	exists       bool // of EXISTS: its items are not looked at
}

// A statementReader reads what a statement states. It need not understand the statement:
// what it does not know counts as a column, so that doubt never makes an alarm.
type statementReader struct {
	sql    string
	tokens []sqlToken
	open   []bracket       // the statement itself, and what is open in it
	with   map[string]bool // names of common table expressions
	p      program
	stated []sqlToken // left out of the conditions
	branch int        // of the outermost UNION
	items  [][]sqlToken
}

// readStatement finds what a SQL statement states.
func readStatement(sql string) *program {
	r := statementReader{sql: sql, open: []bracket{{}}, with: map[string]bool{}, p: program{known: true, text: plainName(strings.ToLower(sql))}}
	bare := []byte(sql)
	for _, loc := range sqlTokens.FindAllStringIndex(sql, -1) {
		text := sql[loc[0]:loc[1]]
		if isComment(text) {
			blank(bare, loc[0], loc[1])
			continue
		}
		if text[0] != '\'' && text[0] != '"' && text[0] != '`' {
			text = strings.ToLower(text)
		}
		r.tokens = append(r.tokens, sqlToken{text, loc[0], loc[1]})
	}
	r.nameExpressions()
	for i := range r.tokens {
		r.next(i)
	}
	r.endBranch()
	if len(r.tokens) > 0 && !slices.Contains([]string{"select", "with", "values", "(", "from"}, r.tokens[0].text) {
		r.p.readsData = true // SHOW, DESCRIBE, or no SQL at all
	}
	for _, t := range r.stated {
		blank(bare, t.start, t.end)
	}
	r.p.conditions = string(bare) + r.lastDays()
	return &r.p
}

func blank(text []byte, start, end int) {
	for i := start; i < end; i++ {
		text[i] = ' '
	}
}

// midnight is a day in quotes, without a time of the day.
var midnight = regexp.MustCompile(`^'(\d{4}-\d{2}-\d{2})(?:[T ]00:00(?::00(?:\.0+)?)?)?Z?'$`)

// lastDays are the last days of periods whose end is open: day < '2026-11-17' ends on the
// day before.
func (r *statementReader) lastDays() string {
	var b strings.Builder
	for i, t := range r.tokens {
		m := midnight.FindStringSubmatch(t.text)
		if m == nil {
			continue
		}
		before, after := i-1, i+1
		for slices.Contains([]string{"date", "timestamp", "timestamptz", "cast", "("}, r.text(before)) {
			before--
		}
		if r.text(before) != "<" && r.text(after) != ">" {
			continue
		}
		if end, err := time.Parse(time.DateOnly, m[1]); err == nil {
			b.WriteString("\n" + end.AddDate(0, 0, -1).Format(time.DateOnly))
		}
	}
	return b.String()
}

// maxNames bounds the names of columns that are read behind that of an expression.
const maxNames = 200

// nameExpressions finds the names of common table expressions: name AS (.
func (r *statementReader) nameExpressions() {
	for i, t := range r.tokens {
		if !t.isWord() || r.text(i-1) != "with" && r.text(i-1) != "recursive" && r.text(i-1) != "," {
			continue
		}
		j := i + 1
		if r.text(j) == "(" {
			for j++; j < min(len(r.tokens), i+maxNames) && r.text(j-1) != ")"; j++ {
			}
		}
		if r.text(j) == "as" && (r.text(j+1) == "(" || strings.HasSuffix(r.text(j+1), "materialized") || r.text(j+1) == "not") {
			r.with[t.name()] = true
		}
	}
}

func (r *statementReader) text(i int) string {
	if i < 0 || i >= len(r.tokens) {
		return ""
	}
	return r.tokens[i].text
}

// madeRows are functions in FROM that read nothing.
var madeRows = []string{"generate_series", "range", "unnest", "values"}

// next reads a token.
func (r *statementReader) next(i int) {
	t := r.tokens[i]
	at := &r.open[len(r.open)-1]
	switch t.text {
	case "(":
		inner := bracket{clause: at.clause, base: at.clause, exists: at.exists || r.text(i-1) == "exists", tables: at.tables}
		if before := r.text(i - 1); before == "in" || before == "any" || before == "over" {
			inner.clause, inner.base = filtering, filtering
		}
		at.tables = false
		r.keep(t)
		r.open = append(r.open, inner)
		return
	case ")":
		if len(r.open) > 1 {
			r.open = r.open[:len(r.open)-1]
		}
		r.keep(t)
		return
	case "select":
		at.isSelect, at.tables = true, false
		at.clause, at.base = selecting, selecting
		if len(r.open) == 1 {
			r.items = [][]sqlToken{nil}
			return
		}
	case "values":
		at.clause, at.base, at.tables = selecting, selecting, false
	case "union", "intersect", "except":
		if len(r.open) == 1 {
			r.endBranch()
		}
		at.isSelect, at.tables = false, false
		at.clause, at.base = beside, beside
	case "from":
		if at.isSelect || i == 0 || r.text(i-1) == "(" {
			at.clause, at.base, at.tables = beside, beside, true
			if len(r.open) == 1 {
				r.endBranch()
			}
			return
		}
	case "join":
		at.clause, at.base, at.tables = beside, beside, true
		return
	case "where", "having", "qualify", "on", "using", "limit", "offset", "fetch", "group", "order", "window", "partition":
		at.clause, at.base, at.tables = filtering, filtering, false
		if len(r.open) == 1 {
			r.endBranch()
		}
	case "when":
		at.clause = filtering
	case "then", "else", "end":
		at.clause = at.base
	case ",":
		if len(r.open) == 1 && at.clause == selecting && at.isSelect && r.items != nil {
			r.items = append(r.items, nil)
			return
		}
		at.tables = at.clause == beside && at.isSelect
		r.keep(t)
		return
	}
	r.readTable(i, at)
	r.readNumber(i, *at)
	r.keep(t)
}

// keep adds a token to the item of the outermost SELECT that is open.
func (r *statementReader) keep(t sqlToken) {
	if r.items != nil {
		r.items[len(r.items)-1] = append(r.items[len(r.items)-1], t)
	}
}

// readTable looks whether a token names a table that is read.
func (r *statementReader) readTable(i int, at *bracket) {
	t := r.tokens[i]
	if !at.tables || t.text == "lateral" || t.text == "only" {
		return
	}
	at.tables = false
	if t.isText() || t.isWord() && !r.with[t.name()] && (r.text(i+1) != "(" || !slices.Contains(madeRows, t.text)) {
		r.p.readsData = true
	}
}

// Digits that a number in a statement must have to be one that nobody means as a factor, a
// flag or a number of places.
const (
	statedDigits = 3 // of a whole item
	hiddenDigits = 4 // of a part of one
)

// readNumber looks whether a token is a number that may reach the result as it is.
func (r *statementReader) readNumber(i int, at bracket) {
	t := r.tokens[i]
	v, ok := t.number()
	if at.clause != selecting || at.exists || r.isCompared(i) {
		return
	}
	if !ok && t.isText() && r.text(i-1) != "date" && r.text(i-1) != "timestamp" {
		r.stated = append(r.stated, t) // a text that comes out as it is, with the numbers in it
	}
	if ok && r.isOperand(i) {
		r.stated = append(r.stated, t) // what the result is computed with is no condition
	}
	if !ok || r.isFactor(i, v) {
		return
	}
	if r.text(i-1) == "-" {
		v = -v
	}
	digits := significantDigits(t.text)
	if digits >= hiddenDigits || digits >= statedDigits && r.isWholeItem(i) {
		r.p.values = append(r.p.values, v)
		r.stated = append(r.stated, t)
	}
}

// significantDigits counts the digits of a number up to the last that is no zero.
func significantDigits(text string) int {
	mantissa, _, _ := strings.Cut(strings.Trim(text, "' +-"), "e")
	digits := strings.Trim(strings.ReplaceAll(mantissa, ".", ""), "0")
	return len(digits)
}

var comparisons = []string{"=", "==", "<", ">", "<=", ">=", "<>", "!=", "between", "like", "interval", "is"}

// isCompared says that a number is an operand of a comparison or a length of time.
func (r *statementReader) isCompared(i int) bool {
	before := i - 1
	if r.text(before) == "-" || r.text(before) == "+" {
		before--
	}
	return slices.Contains(comparisons, r.text(before)) || slices.Contains(comparisons, r.text(i+1)) ||
		r.text(before) == "and" && r.text(before-2) == "between"
}

// factors convert units: hundredths, thousands, hours, days.
var factors = []float64{1, 7, 10, 12, 24, 30, 52, 60, 90, 100, 360, 365, 365.25, 366, 1000, 1024, 1440, 3600, 10_000, 86_400, 100_000, 1e6, 1e9, 1_048_576}

func (r *statementReader) isFactor(i int, v float64) bool {
	return (isScale(r.text(i-1)) || isScale(r.text(i+1))) && slices.Contains(factors, v)
}

// isWholeItem says that a number is all that stands in an item: SELECT 412 AS n.
func (r *statementReader) isWholeItem(i int) bool {
	before := r.text(i - 1)
	if before == "-" || before == "+" {
		before = r.text(i - 2)
	}
	after := r.text(i + 1)
	return slices.Contains([]string{"select", ",", "(", "then", "else"}, before) &&
		slices.Contains([]string{"", ",", ")", "as", "from", "union", "end", ";", "when", "else"}, after) ||
		before == "select" && i+1 < len(r.tokens) && r.tokens[i+1].isWord()
}

// endBranch compares the items of a branch of the outermost UNION with those before.
func (r *statementReader) endBranch() {
	if r.items == nil {
		return
	}
	for i, item := range r.items {
		c := readItem(item)
		switch {
		case r.branch == 0:
			r.p.columns = append(r.p.columns, c)
		case i < len(r.p.columns):
			r.p.columns[i].constant = r.p.columns[i].constant && c.constant
			r.p.columns[i].values = append(r.p.columns[i].values, c.values...)
		}
		if c.constant {
			for _, t := range item {
				if _, ok := t.number(); ok {
					r.stated = append(r.stated, t)
				}
			}
		}
	}
	if slices.ContainsFunc(r.p.columns, func(c outputColumn) bool { return c.name == "*" }) {
		for i := range r.p.columns { // places mean nothing beside all columns of a table
			if r.p.columns[i].name == "" {
				r.p.columns[i] = outputColumn{name: "*"}
			}
		}
	}
	r.items = nil
	r.branch++
}

// constantWords may stand in an expression that refers to no column.
var constantWords = []string{
	"as", "cast", "try_cast", "case", "when", "then", "else", "end", "and", "or", "not", "null", "true", "false", "interval", "date", "timestamp", "select", "distinct", "all",
	"double", "precision", "decimal", "numeric", "integer", "int", "bigint", "float", "real", "varchar", "text", "char", "unsigned", "signed",
	"round", "abs", "power", "pow", "sqrt", "floor", "ceil", "ceiling", "trunc", "coalesce", "nullif", "greatest", "least", "concat", "min", "max", "avg", "any_value", "mod", "exp", "ln", "log",
}

// rowFunctions say something about rows, whatever stands in their brackets.
var rowFunctions = []string{"count", "sum", "row_number", "rank", "dense_rank", "ntile"}

// readItem looks at an item of a SELECT: its alias, and whether it refers to a column.
func readItem(item []sqlToken) outputColumn {
	c := outputColumn{constant: len(item) > 0}
	for i, t := range item {
		before := ""
		if i > 0 {
			before = item[i-1].text
		}
		last := i == len(item)-1
		switch {
		case t.text == "*" && (before == "" || before == "(" || before == "." || before == ","):
			c.constant = false
			if last && before != "(" {
				c.name = "*"
			}
		case !t.isWord():
		case last && i > 0 && (before == "as" || before == ")" || before == "end" || item[i-1].isNumber() || item[i-1].isText() || item[i-1].isWord() && !slices.Contains(constantWords, before)):
			c.name = t.name()
		case last:
			c.name, c.constant = t.name(), c.constant && slices.Contains(constantWords, t.text)
		case !t.isQuoted() && i+1 < len(item) && item[i+1].text == "(" && !slices.Contains(rowFunctions, t.text):
			// a function: what stands in its brackets decides
		case before == ":" || before == "::" || i+1 < len(item) && item[i+1].text == ":":
			// a type, or the name of a field
		case t.isQuoted() || !slices.Contains(constantWords, t.text):
			c.constant = false
		}
	}
	if !c.constant {
		c.factors = computed(item)
	}
	if c.constant {
		for i, t := range item {
			if v, ok := t.number(); ok {
				if i > 0 && item[i-1].text == "-" {
					v = -v
				}
				c.values = append(c.values, v)
			}
		}
	}
	return c
}
