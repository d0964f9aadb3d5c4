package figure

import (
	"regexp"
	"slices"
	"strconv"
	"strings"
)

// A label is a cell that names its row: a text, a date, or a number of a period or a key.
type label struct {
	text   string // in lower case, with blanks for underscores
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
		return label{text: plainName(c.text)}, true
	}
	return label{}, false
}

// plainName writes a name as people write it.
func plainName(s string) string { return strings.ReplaceAll(s, "_", " ") }

// names are what a text says that may name rows.
type names struct {
	text    string
	dates   []day
	months  []int // named without a year
	numbers []float64
}

var monthWords = regexp.MustCompile(`\b(?:` + monthNames() + `)\b`)

// newNames reads a text in lower case.
func newNames(text string) names {
	n := names{text: plainName(text)}
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
	return containsWord(n.text, l.text)
}

// isYear says that a date stands for its year: it is the first day of it.
func (d day) isYear() bool { return d.month <= 1 && d.day <= 1 }

// names says whether a text names a row.
func (g *grid) names(n names, row int) bool { return slices.ContainsFunc(g.labels[row], n.name) }

// leadIn is the line above a list that an item of it belongs to, in lower case; "" for a
// place outside lists.
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
			return strings.ToLower(line)
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
