package queryplan

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"regexp"
	"strings"
	"unicode/utf8"
)

// A Dialect is the engine that the SQL is for.
type Dialect int

// The dialects. DuckDB is the one that plans run on; SQLite is for measuring
// against answers that are written in it.
const (
	DuckDB Dialect = iota
	SQLite
)

var (
	plainName   = regexp.MustCompile(`^[A-Za-z_][A-Za-z0-9_]*$`)
	plainNumber = regexp.MustCompile(`^-?[0-9]{1,38}(\.[0-9]{1,38})?([eE][-+]?[0-9]{1,3})?$`)
)

// reserved are the words that DuckDB or SQLite do not take as a bare name.
var reserved = func() map[string]bool {
	words := strings.Fields(`add all alter analyse analyze and anti any array as asc asof asymmetric at attach autoincrement
		begin between both by cascade case cast check collate collation column commit concurrently conflict constraint create cross
		current_catalog current_date current_role current_schema current_time current_timestamp current_user
		database default deferrable deferred delete desc describe detach distinct do drop each else end escape except exclude exists
		explain false fetch filter for foreign freeze from full generated glob grant group grouping having if ignore ilike in index
		indexed initially inner insert instead intersect into is isnull join key lambda lateral leading left like limit localtime
		localtimestamp map match natural no not nothing notnull null nulls of offset on only or order others outer over overlaps
		partition pivot pivot_longer pivot_wider placing plan positional pragma primary qualify query raise range recursive
		references regexp reindex release rename replace restrict returning right rollback row rows savepoint select semi set show
		similar some struct summarize symmetric table tablesample temp temporary then ties to trailing transaction trigger true
		try_cast unbounded union unique unpivot update user using vacuum values variadic view virtual when where window with within without`)
	set := make(map[string]bool, len(words))
	for _, w := range words {
		set[w] = true
	}
	return set
}()

// Ident writes a name: bare where that is surely safe, quoted otherwise.
func Ident(name string) string {
	if plainName.MatchString(name) && !reserved[strings.ToLower(name)] {
		return name
	}
	return `"` + strings.ReplaceAll(name, `"`, `""`) + `"`
}

// text writes a string literal. Neither engine knows escapes in it but the doubled
// quote; a NUL, which ends the statement for some parsers, is refused before.
func text(s string) string { return "'" + strings.ReplaceAll(s, "'", "''") + "'" }

// pattern escapes the wildcards of LIKE, for use with ESCAPE '!'.
func pattern(s string) string {
	return strings.NewReplacer("!", "!!", "%", "!%", "_", "!_").Replace(s)
}

// A scalar is a literal of a plan.
type scalar struct {
	text   string // the string, or the number's digits
	number bool
	truth  *bool
}

const maxLiteral = 16 << 10

// readScalar reads a JSON string, number or boolean.
func readScalar(raw json.RawMessage) (scalar, error) {
	d := json.NewDecoder(bytes.NewReader(raw))
	d.UseNumber()
	var v any
	if err := d.Decode(&v); err != nil {
		return scalar{}, errors.New("is not JSON")
	}
	switch v := v.(type) {
	case string:
		switch {
		case len(v) > maxLiteral:
			return scalar{}, fmt.Errorf("is longer than %d bytes", maxLiteral)
		case strings.ContainsRune(v, 0) || !utf8.ValidString(v):
			return scalar{}, errors.New("holds bytes that are not text")
		}
		return scalar{text: v}, nil
	case json.Number:
		if !plainNumber.MatchString(v.String()) {
			return scalar{}, errors.New("is a number outside the range of numbers")
		}
		return scalar{text: v.String(), number: true}, nil
	case bool:
		return scalar{truth: &v}, nil
	case nil:
		return scalar{}, errors.New("is null; use the operator is_null or is_not_null")
	}
	return scalar{}, errors.New("must be a string, a number or a boolean")
}

func (s scalar) sql(d Dialect) string {
	switch {
	case s.truth != nil && d == SQLite:
		return map[bool]string{true: "1", false: "0"}[*s.truth]
	case s.truth != nil:
		return map[bool]string{true: "TRUE", false: "FALSE"}[*s.truth]
	case s.number:
		return s.text
	}
	return text(s.text)
}
