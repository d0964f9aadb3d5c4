package schema

import (
	"fmt"
	"strings"
)

// A Column of a table or of a result.
type Column struct {
	Name   string `json:"name"`
	Type   Type   `json:"type"`
	Native string `json:"-"` // the type as its own system names it
	// Note is what a person should know of how its values come in; nil is nothing.
	Note *Note `json:"-"`
}

// String gives the name and the type.
func (c Column) String() string { return c.Name + " " + c.Type.String() }

// KeepText makes the column text, because its type would change some of its values:
// count of them, like the example. A count of 0 is unknown.
func (c *Column) KeepText(count int64, example, what string) {
	number := "values"
	if count > 0 {
		number = fmt.Sprintf("%d value(s)", count)
	}
	c.Note = &Note{
		Column: c.Name, Rule: RuleKeptText, Count: count, Before: example, After: example,
		Message: fmt.Sprintf("%q holds %s that its type %s would change (%s): it is text.", c.Name, number, c.Native, what),
	}
	c.Type = Type{Kind: Text}
}

// Names gives the columns' names in order.
func Names(columns []Column) []string {
	names := make([]string, len(columns))
	for i, c := range columns {
		names[i] = c.Name
	}
	return names
}

// FindColumn gives the column of this name: as written, or else the only one that
// differs in case.
func FindColumn(columns []Column, name string) (Column, bool) {
	var folded []Column
	for _, c := range columns {
		if c.Name == name {
			return c, true
		}
		if strings.EqualFold(c.Name, name) {
			folded = append(folded, c)
		}
	}
	if len(folded) == 1 {
		return folded[0], true
	}
	return Column{}, false
}
