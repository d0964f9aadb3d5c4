package schema

import (
	"fmt"
	"strings"
)

// A Note is a decision of an import that a reader of the table must know to
// defend a number: what was read in another way than it was written, kept as text,
// or left out.
type Note struct {
	Column  string `json:"column,omitempty"` // "" = the table as a whole
	Rule    Rule   `json:"rule"`
	Count   int64  `json:"count,omitempty"`  // values, rows or lines that the decision touched
	Before  string `json:"before,omitempty"` // one of them as the file has it
	After   string `json:"after,omitempty"`  // the same as the table has it; "" = empty
	Message string `json:"message"`          // the decision as a sentence
	// Lines are the first lines or rows that were left out.
	Lines []RejectedLine `json:"lines,omitempty"`
}

// A RejectedLine is a line or row of a file that is no row of the table.
type RejectedLine struct {
	Line   int64  `json:"line"` // of a row of totals: its number among the rows
	Text   string `json:"text"`
	Reason string `json:"reason"`
}

// A Rule names a kind of decision. docs/fidelity.md explains each.
type Rule string

// The rules.
const (
	RuleNumberFormat Rule = "number_format" // thousands, decimal comma, currency, brackets
	RuleMissing      Rule = "missing"       // NA and the like are empty
	RuleDateOrder    Rule = "date_order"    // day or month first
	RuleKeptText     Rule = "kept_text"     // a type would not have kept every value
	RuleHeader       Rule = "header"        // lines above the header, names that were made
	RuleShortRows    Rule = "short_rows"    // rows with fewer cells than columns
	RuleEmptyRows    Rule = "empty_rows"    // rows of a sheet without any value
	RuleRejected     Rule = "rejected"      // lines that are no part of the table
	RuleEncoding     Rule = "encoding"      // text that is not UTF-8
	RuleTypes        Rule = "types"         // given types that do not fit
	RuleBoolean      Rule = "boolean"       // True and FALSE are booleans
	RuleTimeFormat   Rule = "time_format"   // times with a T or without seconds
	RuleOffset       Rule = "offset"        // times with an offset from UTC
	RuleSpaces       Rule = "spaces"        // spaces around values of a type
	RuleSheet        Rule = "sheet"         // further sheets of a workbook are tables
	RuleMerged       Rule = "merged"        // merged cells
	RuleHidden       Rule = "hidden"        // hidden sheets, rows and columns
	RuleFormula      Rule = "formula"       // formulas without values
	RuleTotals       Rule = "totals"        // rows that add up others
)

// Line is the decision in one line: the sentence without control characters, how many
// values it touched, and one of them before and after.
func (n Note) Line() string {
	text := strings.Map(func(r rune) rune {
		switch {
		case r == '\n' || r == '\t' || r == '\r':
			return ' '
		case r < 0x20 || r >= 0x7f && r < 0xa0:
			return -1
		}
		return r
	}, n.Message)
	if n.Count > 0 {
		text += fmt.Sprintf(" (%d)", n.Count)
	}
	if n.Before != "" {
		text += fmt.Sprintf(" %q is %q.", n.Before, n.After)
	}
	return text
}
