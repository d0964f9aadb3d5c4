package query

import "fmt"

// An ImportNote is a decision of an import that a reader of the table must know to
// defend a number: what was read in another way than it was written, kept as text,
// or left out.
type ImportNote struct {
	Column  string `json:"column,omitempty"` // "" = the table as a whole
	Rule    Rule   `json:"rule"`
	Count   int64  `json:"count,omitempty"`  // values, rows or lines that the decision touched
	Before  string `json:"before,omitempty"` // one of them as the file has it
	After   string `json:"after,omitempty"`  // the same as the table has it; "" = empty
	Message string `json:"message"`          // the decision as a sentence
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
	RuleRejected     Rule = "rejected"      // lines that are no part of the table
	RuleEncoding     Rule = "encoding"      // text that is not UTF-8
	RuleTypes        Rule = "types"         // given types that do not fit
)

// note adds a decision to the report of a table.
func (r *TableReport) note(n ImportNote, format string, args ...any) {
	n.Message = fmt.Sprintf(format, args...)
	r.Notes = append(r.Notes, n)
}
