// Package dialect describes the SQL of each engine as far as more than one package
// needs it: its name, how it writes names and texts, which words it reserves, how it
// reads the characters of a statement, and what its types are called. What one package alone needs is in a table
// of that package, keyed by Dialect: filters in source, the texts of compiled plans in
// queryplan, the functions that may be called in sqlpolicy.
package dialect

import (
	"cmp"
	"fmt"
	"regexp"
	"slices"
	"strings"

	"interlock/internal/schema"
)

// A Dialect is the SQL of one engine. The zero value is DuckDB, the embedded engine.
type Dialect uint8

// The dialects.
const (
	DuckDB Dialect = iota
	SQLite
	PostgreSQL
	MySQL // and MariaDB
	ClickHouse
	Trino
	BigQuery
	Snowflake
)

// engines describes every dialect, each in a file of its own.
var engines = [...]*engine{
	DuckDB:     &duckdb,
	SQLite:     &sqlite,
	PostgreSQL: &postgres,
	MySQL:      &mysql,
	ClickHouse: &clickhouse,
	Trino:      &trino,
	BigQuery:   &bigquery,
	Snowflake:  &snowflake,
}

// An engine is the description of one dialect.
type engine struct {
	name     string // that [Find] knows, and that begins the addresses of its databases
	title    string // for people
	quote    quoting
	text     func(string) string
	keywords map[string]bool // reserved in addition to those that are reserved everywhere
	lexis    Lexis
	// types has the kinds of the types that the engine names, without their parameters.
	types map[string]schema.Kind
	// casts are the types that values of a kind are cast to in comparisons; those of
	// decimals have places for width and scale.
	casts     map[schema.Kind]string
	otherCast string // of the kinds that casts does not have
}

// A Lexis is how an engine reads the characters of a statement.
type Lexis struct {
	Backslash     bool // a backslash escapes in texts
	Backticks     bool // names may be quoted with backticks
	SlashComments bool // a comment may begin with //
	Names         NameCase
}

// A NameCase is what the case of letters means in the names of tables and columns.
type NameCase uint8

// The cases.
const (
	IgnoresCase  NameCase = iota // a name is the same in any case, quoted or not
	KeepsCase                    // a name is taken as it is written
	FoldsToLower                 // a name without quotes is taken in lower case
	FoldsToUpper                 // a name without quotes is taken in upper case
)

// Find gives the dialect of this name: duckdb, sqlite, postgres, mysql, clickhouse,
// trino, bigquery or snowflake.
func Find(name string) (Dialect, bool) {
	i := slices.IndexFunc(engines[:], func(e *engine) bool { return e.name == name })
	return Dialect(max(i, 0)), i >= 0
}

// All lists every dialect.
func All() []Dialect {
	all := make([]Dialect, len(engines))
	for i := range all {
		all[i] = Dialect(i)
	}
	return all
}

// String gives the name that [Find] knows.
func (d Dialect) String() string { return engines[d].name }

// Title gives the name of the engine for people.
func (d Dialect) Title() string { return engines[d].title }

// Lexis says how the engine reads characters.
func (d Dialect) Lexis() Lexis { return engines[d].lexis }

// Quote writes a name in quotes.
func (d Dialect) Quote(name string) string { return engines[d].quote.write(name) }

// Text writes a string literal. A NUL, which ends the statement for some parsers, must
// have been refused before.
func (d Dialect) Text(s string) string { return engines[d].text(s) }

// Kind gives the kind of a type by the engine's name, without its parameters.
func (d Dialect) Kind(name string) (schema.Kind, bool) {
	k, ok := engines[d].types[name]
	return k, ok
}

// CastType names the type that a value is cast to where it is compared with a column of
// type t; "" if it needs no cast.
func (d Dialect) CastType(t schema.Type) string {
	name := cmp.Or(engines[d].casts[t.Kind], engines[d].otherCast)
	if strings.Contains(name, "%d") {
		return fmt.Sprintf(name, t.Width, t.Scale)
	}
	return name
}

var plainName = regexp.MustCompile(`^[A-Za-z_][A-Za-z0-9_]*$`)

// Ident writes a name: without quotes where that surely means the same, quoted otherwise.
func (d Dialect) Ident(name string) string {
	if plainName.MatchString(name) && !d.reserves(strings.ToLower(name)) && d.keeps(name) {
		return name
	}
	return d.Quote(name)
}

// reserves says that a word in lower case cannot be a name without quotes.
func (d Dialect) reserves(word string) bool { return reserved[word] || engines[d].keywords[word] }

// keeps says that a name stays what it is without quotes.
func (d Dialect) keeps(name string) bool {
	switch engines[d].lexis.Names {
	case FoldsToLower:
		return name == strings.ToLower(name)
	case FoldsToUpper:
		return name == strings.ToUpper(name)
	}
	return true
}
