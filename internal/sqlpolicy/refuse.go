package sqlpolicy

import (
	"fmt"
	"strings"
	"unicode/utf8"

	"interlock/internal/fault"
)

// The rules that a refusal names.
const (
	RuleEncoding      = "encoding"
	RuleTooLong       = "too_long"
	RuleTooBig        = "too_big"
	RuleTooDeep       = "too_deep"
	RuleOneStatement  = "one_statement"
	RuleSelectOnly    = "select_only"
	RuleTable         = "table"
	RuleColumn        = "column"
	RuleFunction      = "function"
	RuleTableFunction = "table_function"
	RuleType          = "type"
	RuleParameter     = "parameter"
	RuleCatalog       = "catalog"
	RuleTimeTravel    = "time_travel"
	RuleUnknown       = "unknown_syntax"
)

// A denial is a refusal in the making: it knows a byte, not yet the text around it.
type denial struct {
	rule    string
	at      int // byte in the text, -1 = unknown
	message string
	instead string
}

func (d *denial) Error() string { return d.rule + ": " + d.message }

func deny(rule string, at int, instead, format string, args ...any) *denial {
	return &denial{rule: rule, at: at, message: fmt.Sprintf(format, args...), instead: instead}
}

// unknown denies syntax that this package has not been taught.
func unknown(at int, format string, args ...any) *denial {
	return deny(RuleUnknown, at, "Say it with simpler SQL: plain SELECT, JOIN, WHERE, GROUP BY, ORDER BY, WITH.",
		"This kind of SQL is not allowed here (%s).", fmt.Sprintf(format, args...))
}

// fault says the refusal for people: positions count characters from 1.
func (d *denial) fault(sql string) *fault.Fault {
	r := Refusal{Rule: d.rule, Instead: d.instead}
	if d.at >= 0 && d.at < len(sql) && utf8.ValidString(sql) {
		r.Place = placeAt(sql, d.at)
		r.Position = utf8.RuneCountInString(sql[:d.at]) + 1
	}
	return fault.New(fault.SQLPolicy, "%s", d.message).Suggest("%s", d.instead).With(r)
}

// placeAt gives the word or symbol at a byte and a little of what follows.
func placeAt(sql string, at int) string {
	end := at
	for end < len(sql) && end-at < 60 {
		if c := sql[end]; c == '\n' || c == ';' || (end > at && (c == ' ' || c == '(' || c == ',' || c == ')')) {
			break
		}
		end++
	}
	if end == at {
		end++
	}
	return strings.ToValidUTF8(sql[at:end], "")
}

// Refuse is the refusal of a statement by a rule.
func Refuse(rule, instead, format string, args ...any) *fault.Fault {
	return deny(rule, -1, instead, format, args...).fault("")
}

// maxListed bounds the tables that a refusal names.
const maxListed = 12

// TablesNear names the tables that may be used instead of one that does not exist, the
// nearest first.
func TablesNear(tables []Table, name string) string {
	return listTables(fault.Nearest(name[strings.LastIndexByte(name, '.')+1:], tableNames(tables)))
}

// tableList names the tables that may be used, in their order.
func tableList(tables []Table) string { return listTables(tableNames(tables)) }

func tableNames(tables []Table) []string {
	names := make([]string, len(tables))
	for i, t := range tables {
		names[i] = t.Name
	}
	return names
}

func listTables(names []string) string {
	if len(names) == 0 {
		return "This dataset has no tables."
	}
	if more := len(names) - maxListed; more > 0 {
		names = append(names[:maxListed:maxListed], fmt.Sprintf("and %d more", more))
	}
	return "Use the tables of this dataset: " + strings.Join(names, ", ") + "."
}
