package query_test

import (
	"strings"
	"testing"

	"interlock/internal/query"
)

// TestLineage says for each column of a result what feeds it: what it reads, which numbers
// of the statement it may be, and which ones it is computed with.
func TestLineage(t *testing.T) {
	db := shop(t)
	e := newEngine(t, query.Config{})
	eachCorpus(t, "lineage", func(t *testing.T, sql string) string {
		d, err := e.Check(t.Context(), db, sql)
		if err != nil {
			t.Fatal(err)
		}
		if len(d.Lineage) == 0 {
			t.Error("no lineage")
		}
		var lines []string
		for _, l := range d.Lineage {
			line := l.Column + ":"
			for _, part := range []struct {
				name string
				list []string
			}{{"reads", l.Reads}, {"is", l.Constants}, {"with", l.Factors}} {
				if len(part.list) > 0 {
					line += " " + part.name + " " + strings.Join(part.list, ", ") + ";"
				}
			}
			lines = append(lines, strings.TrimRight(line, ";"))
		}
		return strings.Join(lines, "\n")
	})
}
