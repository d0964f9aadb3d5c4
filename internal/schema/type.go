package schema

import (
	"fmt"
	"regexp"
	"strconv"
	"strings"
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

// kinds has, for each kind, the embedded engine's name, words for a person, and the
// operators of its conditions.
var kinds = [...]struct {
	name, words string
	ops         []Op
}{
	Other:       {"VARCHAR", "a value of a kind that cannot be compared", nil},
	Bool:        {"BOOLEAN", "true or false", equality},
	Int:         {"BIGINT", "a whole number", ordering},
	Uint:        {"UBIGINT", "a whole number", ordering},
	Float:       {"DOUBLE", "a number", ordering},
	Decimal:     {"DECIMAL", "a number", ordering},
	Text:        {"VARCHAR", "text", Ops},
	Date:        {"DATE", "a date", ordering},
	Time:        {"TIME", "a time of day", ordering},
	Timestamp:   {"TIMESTAMP", "a point in time", ordering},
	TimestampTZ: {"TIMESTAMP WITH TIME ZONE", "a point in time", ordering},
	UUID:        {"UUID", "a UUID", equality},
	Bytes:       {"BLOB", "bytes", nil},
	JSON:        {"JSON", "JSON", nil},
	List:        {"VARCHAR", "a list", nil},
}

// otherNames are further names of kinds that ParseType knows.
var otherNames = map[string]Type{
	"TINYINT": {Kind: Int}, "SMALLINT": {Kind: Int}, "INTEGER": {Kind: Int}, "UTINYINT": {Kind: Int}, "USMALLINT": {Kind: Int}, "UINTEGER": {Kind: Int},
	"HUGEINT": {Kind: Decimal, Width: 38}, "FLOAT": {Kind: Float},
	"TIMESTAMP_S": {Kind: Timestamp}, "TIMESTAMP_MS": {Kind: Timestamp}, "TIMESTAMP_NS": {Kind: Timestamp}, "TIMESTAMPTZ": {Kind: TimestampTZ},
}

// A Type is a kind with its parameters. As JSON and as text it is its name.
type Type struct {
	Kind  Kind
	Width int   // Decimal: digits in all, 1 to 38
	Scale int   // Decimal: digits after the point
	Elem  *Type // List: what it holds
	// Fixed says of a Decimal that its width is its system's, not that of the values seen so far.
	Fixed bool

	name string // as it was parsed, if that is not the name of the kind
}

// String gives the name that the type was parsed from, else the embedded engine's.
func (t Type) String() string {
	switch {
	case t.name != "":
		return t.name
	case t.Kind == Decimal:
		return fmt.Sprintf("DECIMAL(%d,%d)", t.Width, t.Scale)
	case t.Kind == List && t.Elem != nil:
		return t.Elem.String() + "[]"
	case int(t.Kind) < len(kinds):
		return kinds[t.Kind].name
	}
	return kinds[Other].name
}

// Describe names the type in words for a person.
func (t Type) Describe() string {
	if int(t.Kind) < len(kinds) {
		return kinds[t.Kind].words
	}
	return kinds[Other].words
}

// Plain gives the type without the name that it was parsed from: INTEGER becomes BIGINT.
func (t Type) Plain() Type {
	t.name = ""
	if t.Elem != nil {
		elem := t.Elem.Plain()
		t.Elem = &elem
	}
	return t
}

// Equal says whether two types have the same kind, parameters and name.
func (t Type) Equal(u Type) bool {
	return t.Kind == u.Kind && t.Fixed == u.Fixed && t.String() == u.String()
}

// MarshalText gives the name.
func (t Type) MarshalText() ([]byte, error) { return []byte(t.String()), nil }

// UnmarshalText parses a name.
func (t *Type) UnmarshalText(name []byte) error {
	*t = ParseType(string(name))
	return nil
}

// maxDepth is how deep the lists in a type may be nested.
const maxDepth = 20

var decimalName = regexp.MustCompile(`^(?:DECIMAL|NUMERIC)\((\d{1,2}),\s*(\d{1,2})\)$`)

// ParseType reads the embedded engine's name of a type, and keeps the name. One that it
// does not know is of the kind Other.
func ParseType(name string) Type {
	t := parseType(strings.ToUpper(strings.TrimSpace(name)), maxDepth)
	if name != t.String() {
		t.name = name
	}
	return t
}

func parseType(name string, depth int) Type {
	if elem, ok := strings.CutSuffix(name, "[]"); ok && depth > 0 {
		t := parseType(strings.TrimSpace(elem), depth-1)
		return Type{Kind: List, Elem: &t}
	}
	if m := decimalName.FindStringSubmatch(name); m != nil {
		width, _ := strconv.Atoi(m[1])
		scale, _ := strconv.Atoi(m[2])
		return Type{Kind: Decimal, Width: width, Scale: scale}
	}
	if t, ok := otherNames[name]; ok {
		return t
	}
	for k, known := range kinds {
		switch kind := Kind(k); kind {
		case Other, Decimal, List: // of another form
		default:
			if known.name == name {
				return Type{Kind: kind}
			}
		}
	}
	return Type{Kind: Other}
}
