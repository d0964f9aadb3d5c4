package nlq

import (
	"regexp"
	"strings"
)

// Forms in which a text is SQL and no question. Each is the beginning of a statement
// with something that ordinary sentences do not have.
var statementForms = []*regexp.Regexp{
	regexp.MustCompile(`(?is)^select\b.*(\bfrom\b.*(\bwhere\b.*(=|<|>|\bin\s*\(|\blike\b|\bis\b|\bbetween\b)|\bgroup\s+by\b|\border\s+by\b|\blimit\s+\d|\bjoin\b.*(\bon\b|\busing\b)|;)|[*(=;])`),
	regexp.MustCompile(`(?is)^select\s+(distinct\s+)?[\w."]+(\s+as\s+[\w"]+)?(\s*,\s*[\w."]+(\s+as\s+[\w"]+)?)*\s+from\s+[\w."]+\s*$`),
	regexp.MustCompile(`(?is)^select\s+[\d'"]`),
	regexp.MustCompile(`(?s)^SELECT\b.*\bFROM\b`),
	regexp.MustCompile(`(?is)^with\s+(recursive\s+)?[\w"]+\s*(\([^)]*\)\s*)?as\s+(not\s+)?(materialized\s*)?\(`),
	regexp.MustCompile(`(?is)^(insert\s+into\b|update\s+[\w."]+\s+set\b|delete\s+from\b|truncate\s+(table\s+)?[\w."]+\s*;?\s*$|alter\s+(table|view)\b|values\s*\()`),
	regexp.MustCompile(`(?is)^(create\s+(or\s+replace\s+)?(temp(orary)?\s+)?|drop\s+)(table|view|schema|database|index|macro|function)\b`),
	regexp.MustCompile(`(?is)^(explain\s+(analyze\s+)?(select|with)\b|attach\s+'|copy\s+[\w."(]+.*\b(to|from)\s+'|pragma\s+\w+|from\s+[\w."]+\s+select\b)`),
}

var (
	sqlPrefix  = regexp.MustCompile(`(?i)^\s*sql\s*:`)
	codePrefix = regexp.MustCompile(`(?i)^\s*python\s*:`)
)

var sqlComment = regexp.MustCompile(`(?s)^(--[^\n]*(\n|$)|/\*.*?\*/|[\s(])+`)

// IsStatement reports whether a text is SQL. Such a text is never read as a question: its
// words would be understood without its operators.
func IsStatement(text string) bool {
	if sqlPrefix.MatchString(text) {
		return true
	}
	text = strings.TrimSpace(sqlComment.ReplaceAllString(text, ""))
	for _, form := range statementForms {
		if form.MatchString(text) {
			return true
		}
	}
	return false
}

// maxRepeated is how much of a statement its answer repeats, in characters.
const maxRepeated = 300

// StatementHint tells the person how to have a statement run.
func StatementHint(text string) string {
	if sqlPrefix.MatchString(text) {
		return "This machine runs no SQL that is given as text. Ask in words, or use a machine that has SQL: among its shortcuts."
	}
	text = strings.TrimSpace(text)
	if r := []rune(text); len(r) > maxRepeated {
		text = string(r[:maxRepeated]) + "…"
	}
	return "This is SQL, which I do not read as a question. To run it as it is, say:\n\nSQL: " + text + "\n\nOr ask in words."
}

// hearStatement notes that SQL or code was typed: what follows cannot change it.
func (c *conversation) hearStatement() { c.last, c.pending, c.failed, c.typed = nil, nil, true, true }
