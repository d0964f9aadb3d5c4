package figure

import (
	"regexp"
	"slices"
	"strconv"
	"strings"
)

// A label is a cell that names its row: a text, a date, or a number of a period or a key.
type label struct {
	text   string // with blanks for underscores; in lower case, unless it is a code
	code   bool   // short and in capitals, such as ES: in other letters it is another word
	file   bool   // the name of a file
	date   *day
	number float64
	kind   labelKind
	column int
}

type labelKind int

const (
	textLabel labelKind = iota
	dateLabel
	numberLabel
)

func newLabel(c cell) (label, bool) {
	switch {
	case c.date != nil:
		return label{text: c.text, date: c.date, kind: dateLabel}, true
	case c.number && (c.column.time || c.column.key):
		return label{number: c.value, kind: numberLabel}, true
	case !c.number && len(c.text) > 1:
		if isCode(c.written) {
			return label{text: c.written, code: true}, true
		}
		return label{text: plainName(c.text), file: fileEnds.MatchString(c.text)}, true
	}
	return label{}, false
}

// isCode says that a name is so short, and in capitals, that the same letters in another
// case may be a word: ES and es, US and us, IT and it.
func isCode(name string) bool {
	return len(name) <= 3 && strings.ToUpper(name) == name && strings.ToLower(name) != name
}

const fileEndings = `\.(?:csv|tsv|xlsx?|ods|parquet|jsonl?|pdf|html?|png|svg|txt|md|zip|gz|docx?|pptx?|duckdb|db|sqlite)\b`

// fileNames are names of files: up to a blank, or in quotes with blanks. Few texts have one,
// so that the cheaper fileEnds is asked first.
var (
	fileNames = regexp.MustCompile("(?i)(?:[\"“„«`\\[][^\"“”„«»`\\[\\]\n]{1,200}|[^\\s\"“„«`\\[(]{1,200})" + fileEndings)
	fileEnds  = regexp.MustCompile("(?i)" + fileEndings)
)

// withoutFiles leaves the names of files out of a text.
func withoutFiles(text string) string {
	if !fileEnds.MatchString(text) {
		return text
	}
	return fileNames.ReplaceAllString(text, " ")
}

// key is the label without its date's place in memory, so that equal ones are the same.
func (l label) key() label {
	l.date = nil
	return l
}

// plainName writes a name as people write it.
func plainName(s string) string { return strings.ReplaceAll(s, "_", " ") }

// names are what a text says that may name rows.
type names struct {
	written string // without names of files
	text    string // the same in lower case, with blanks for underscores
	whole   string // with names of files
	dates   []day
	months  []int // named without a year
	numbers []float64
}

var monthWords = regexp.MustCompile(`\b(?:` + monthNames() + `)\b`)

// newNames reads a text. What stands in the name of a file names no row, unless the row is
// that file.
func newNames(written string) names {
	n := names{written: withoutFiles(written), whole: plainName(strings.ToLower(written))}
	text := strings.ToLower(n.written)
	n.text = plainName(text)
	for _, m := range scan(text) {
		switch {
		case m.date != nil:
			n.dates = append(n.dates, *m.date)
		case len(m.readings) > 0 && !m.share:
			n.numbers = append(n.numbers, m.readings[0].value)
			if y, ok := m.year(); ok {
				n.dates = append(n.dates, day{year: y})
			}
		}
	}
	for _, w := range monthWords.FindAllString(text, -1) {
		if len(w) > 3 { // may and mar are words as well
			n.months = append(n.months, months[w])
		}
	}
	return n
}

// name says whether a label is among what a text says.
func (n names) name(l label) bool {
	switch l.kind {
	case dateLabel:
		return containsWord(n.text, l.text) || slices.ContainsFunc(n.dates, func(d day) bool { return d.covers(*l.date) && (d.month > 0 || l.date.isYear()) }) ||
			len(n.dates) == 0 && slices.Contains(n.months, l.date.month)
	case numberLabel:
		return slices.Contains(n.numbers, l.number)
	}
	switch {
	case l.code:
		return containsWord(n.written, l.text)
	case l.file:
		return containsWord(n.whole, l.text)
	}
	return containsWord(n.text, l.text)
}

// namesDay says whether a text names the day of a date.
func (n names) namesDay(l label) bool {
	return l.kind != dateLabel || containsWord(n.text, l.text) || slices.ContainsFunc(n.dates, func(d day) bool { return d.day > 0 && d.covers(*l.date) })
}

// isYear says that a date stands for its year: it is the first day of it.
func (d day) isYear() bool { return d.month <= 1 && d.day <= 1 }

// names says whether a text names a row.
func (g *grid) names(n names, row int) bool { return slices.ContainsFunc(g.labels[row], n.name) }

// leadIn is the line above a list that an item of it belongs to; "" for a place outside
// lists.
func leadIn(text string, start int) string {
	from := max(0, start-maxLead)
	if from > 0 {
		if i := strings.IndexByte(text[from:start], '\n'); i >= 0 {
			from += i + 1
		}
	}
	lines := strings.Split(text[from:start], "\n")
	if !isItem(lines[len(lines)-1]) {
		return ""
	}
	for _, line := range slices.Backward(lines[:len(lines)-1]) {
		if strings.TrimSpace(line) != "" && !isItem(line) {
			return line
		}
	}
	return ""
}

// maxLead bounds how far above an item the line over its list is looked for.
const maxLead = 2000

// isItem says whether a line is, or begins as, an item of a list or a row of a table.
func isItem(line string) bool {
	line = strings.TrimSpace(line)
	if line == "" {
		return false
	}
	if number, _, ok := strings.Cut(line, "."); ok {
		if _, err := strconv.Atoi(number); err == nil {
			return true
		}
	}
	return strings.HasPrefix(line, "- ") || strings.HasPrefix(line, "* ") || strings.HasPrefix(line, "• ") || strings.HasPrefix(line, "|")
}
