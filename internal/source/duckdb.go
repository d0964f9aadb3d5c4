package source

import (
	"fmt"
	"strconv"
	"strings"
)

// duckdb is the embedded engine's SQL, in which all files are read. Its texts are
// compared by bytes as they are.
type duckdb struct{}

func (duckdb) quote(name string) string { return quoteWith(`"`, name) }

func (d duckdb) read(c Column) string { return d.quote(c.Name) }

func (d duckdb) left(c Column, _ Op) string {
	name := d.quote(c.Name)
	switch c.Native {
	case "HUGEINT", "FLOAT", "TIMESTAMP_S", "TIMESTAMP_MS", "TIMESTAMP_NS":
		return "CAST(" + name + " AS " + c.Type.String() + ")"
	}
	return name
}

func (duckdb) param(n int, c Column, _ Op, value any) (string, any) {
	if c.Type.Kind == TimestampTZ {
		value = fmt.Sprint(value, "+00")
	}
	return fmt.Sprintf("CAST($%d AS %s)", n, c.Type), value
}

func (duckdb) like(left, param string) string { return left + " LIKE " + param }

// embedded gives a selection as one text without parameters, because the engine's
// policy decides on a text that has none. Every value is a literal in quotes that
// nothing but its closing quote can end: the engine knows no other escape.
func embedded(s Selection) (string, error) {
	stmt, err := DuckDB.Select(s)
	if err != nil {
		return "", err
	}
	return stmt.literal(), nil
}

// EmbeddedWhere is a filter as a condition in the embedded engine's SQL, values and
// all; "" if there is none.
func EmbeddedWhere(columns []Column, f Filter) (string, error) {
	stmt, err := DuckDB.Where(columns, f)
	if err != nil {
		return "", err
	}
	return stmt.literal(), nil
}

// literal puts the arguments into the text of the duckdb dialect, in which `CAST($`
// begins a parameter and, outside quoted names, nothing else.
func (s Statement) literal() string {
	var out strings.Builder
	inName := false
	for i := 0; i < len(s.Text); i++ {
		if s.Text[i] == '"' {
			inName = !inName
		}
		if s.Text[i] != '$' || inName {
			out.WriteByte(s.Text[i])
			continue
		}
		end := i + 1
		for end < len(s.Text) && s.Text[end] >= '0' && s.Text[end] <= '9' {
			end++
		}
		n, _ := strconv.Atoi(s.Text[i+1 : end])
		out.WriteString(quoteWith("'", fmt.Sprint(s.Args[n-1])))
		i = end - 1
	}
	return out.String()
}
