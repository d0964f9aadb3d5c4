package query

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"

	"interlock/internal/schema"
)

// Exported says what became of a result that was written as a file.
type Exported struct {
	Rows int64
	// Notes say what the format could not carry as it is: what was cut, what is text.
	Notes []string
}

// exportNotes counts, by column, the values that a format takes another form of.
type exportNotes map[exportNote]int64

type exportNote struct{ column, what string }

func (n *exportNotes) add(column, what string, values int64) {
	if *n == nil {
		*n = exportNotes{}
	}
	(*n)[exportNote{column, what}] += values
}

// sentences writes the notes, sorted by column.
func (n exportNotes) sentences() []string {
	keys := slices.SortedFunc(maps.Keys(n), func(a, b exportNote) int {
		return cmp.Or(strings.Compare(a.column, b.column), strings.Compare(a.what, b.what))
	})
	out := []string{}
	for _, k := range keys {
		if count := n[k]; count > 0 {
			out = append(out, fmt.Sprintf("%s: %d %s.", k.column, count, k.what))
		} else {
			out = append(out, fmt.Sprintf("%s: %s.", k.column, k.what))
		}
	}
	return out
}

// uniqueNames tells columns of one name apart, for formats that know a value by its name.
func uniqueNames(columns []schema.Column) []string {
	names, taken := make([]string, len(columns)), map[string]bool{}
	for i, c := range columns {
		name := c.Name
		for n := 1; taken[strings.ToLower(name)]; n++ {
			name = fmt.Sprintf("%s_%d", c.Name, n)
		}
		names[i], taken[strings.ToLower(name)] = name, true
	}
	return names
}
