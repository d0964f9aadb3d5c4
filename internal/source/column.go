package source

import (
	"fmt"
	"regexp"
	"strconv"
	"strings"

	"interlock/internal/query"
)

// Kind is what a column's values are, whatever system holds them.
type Kind uint8

// The kinds. Other is a value that travels as text and cannot be filtered.
const (
	Other Kind = iota
	Bool
	Int     // 64 bits, signed
	Uint    // 64 bits, unsigned
	Float   // a double; narrower ones are widened
	Decimal // exact, up to 38 digits
	Text
	Date
	Time        // of day
	Timestamp   // without a zone
	TimestampTZ // an instant
	UUID
	Bytes
	JSON
	List
)

// A Type is a kind with its parameters.
type Type struct {
	Kind  Kind
	Width int   // Decimal: digits in all, 1 to 38
	Scale int   // Decimal: digits after the point
	Elem  *Type // List: what it holds
	fixed bool  // Decimal: the width is its system's, not what was seen so far
}

// A Column of a source.
type Column struct {
	Name   string
	Type   Type
	Native string // the type as its own system names it
	// Note is what a person should know of how its values come in; nil is nothing.
	Note *query.ImportNote
}

// keepText makes the column text, because its type would change some of its values:
// count of them, like the example. A count of 0 is unknown.
func (c *Column) keepText(count int64, example, what string) {
	number := "values"
	if count > 0 {
		number = fmt.Sprintf("%d value(s)", count)
	}
	c.Note = &query.ImportNote{
		Column: c.Name, Rule: query.RuleKeptText, Count: count, Before: example, After: example,
		Message: fmt.Sprintf("%q holds %s that its type %s would change (%s): it is text.", c.Name, number, c.Native, what),
	}
	c.Type = Type{Kind: Text}
}

// String gives the embedded engine's name of the type.
func (t Type) String() string {
	switch t.Kind {
	case Bool:
		return "BOOLEAN"
	case Int:
		return "BIGINT"
	case Uint:
		return "UBIGINT"
	case Float:
		return "DOUBLE"
	case Decimal:
		return fmt.Sprintf("DECIMAL(%d,%d)", t.Width, t.Scale)
	case Date:
		return "DATE"
	case Time:
		return "TIME"
	case Timestamp:
		return "TIMESTAMP"
	case TimestampTZ:
		return "TIMESTAMP WITH TIME ZONE"
	case UUID:
		return "UUID"
	case Bytes:
		return "BLOB"
	case JSON:
		return "JSON"
	case List:
		if t.Elem != nil {
			return t.Elem.String() + "[]"
		}
	}
	return "VARCHAR"
}

// Words names the type for a person.
func (t Type) words() string {
	switch t.Kind {
	case Bool:
		return "true or false"
	case Int, Uint:
		return "a whole number"
	case Float, Decimal:
		return "a number"
	case Text:
		return "text"
	case Date:
		return "a date"
	case Time:
		return "a time of day"
	case Timestamp, TimestampTZ:
		return "a point in time"
	case UUID:
		return "a UUID"
	case Bytes:
		return "bytes"
	case JSON:
		return "JSON"
	case List:
		return "a list"
	}
	return "a value of a kind that cannot be compared"
}

var decimalName = regexp.MustCompile(`^(?:DECIMAL|NUMERIC)\((\d{1,2}),\s*(\d{1,2})\)$`)

// ParseType reads the embedded engine's name of a type.
func ParseType(name string) Type {
	name = strings.ToUpper(strings.TrimSpace(name))
	if elem, ok := strings.CutSuffix(name, "[]"); ok {
		t := ParseType(elem)
		return Type{Kind: List, Elem: &t}
	}
	if m := decimalName.FindStringSubmatch(name); m != nil {
		width, _ := strconv.Atoi(m[1])
		scale, _ := strconv.Atoi(m[2])
		return Type{Kind: Decimal, Width: width, Scale: scale}
	}
	switch name {
	case "BOOLEAN":
		return Type{Kind: Bool}
	case "TINYINT", "SMALLINT", "INTEGER", "BIGINT", "UTINYINT", "USMALLINT", "UINTEGER":
		return Type{Kind: Int}
	case "UBIGINT":
		return Type{Kind: Uint}
	case "HUGEINT":
		return Type{Kind: Decimal, Width: 38}
	case "FLOAT", "DOUBLE":
		return Type{Kind: Float}
	case "VARCHAR":
		return Type{Kind: Text}
	case "DATE":
		return Type{Kind: Date}
	case "TIME":
		return Type{Kind: Time}
	case "TIMESTAMP", "TIMESTAMP_S", "TIMESTAMP_MS", "TIMESTAMP_NS":
		return Type{Kind: Timestamp}
	case "TIMESTAMP WITH TIME ZONE", "TIMESTAMPTZ":
		return Type{Kind: TimestampTZ}
	case "UUID":
		return Type{Kind: UUID}
	case "BLOB":
		return Type{Kind: Bytes}
	case "JSON":
		return Type{Kind: JSON}
	}
	return Type{Kind: Other}
}

// Names gives the columns' names in order.
func Names(columns []Column) []string {
	names := make([]string, len(columns))
	for i, c := range columns {
		names[i] = c.Name
	}
	return names
}

// find gives the column of this name: as written, or else the only one that differs in case.
func find(columns []Column, name string) (Column, bool) {
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
