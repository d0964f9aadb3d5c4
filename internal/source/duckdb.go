package source

import (
	"fmt"

	"interlock/internal/dialect"
	"interlock/internal/schema"
)

// duckdb is the embedded engine's SQL, in which all files are read. Its texts are
// compared by bytes as they are.
type duckdb struct{}

func (duckdb) selectExpr(c schema.Column) string { return dialect.DuckDB.Quote(c.Name) }

func (duckdb) compareExpr(c schema.Column, _ schema.Op) string {
	name := dialect.DuckDB.Quote(c.Name)
	switch c.Native {
	case "HUGEINT", "FLOAT", "TIMESTAMP_S", "TIMESTAMP_MS", "TIMESTAMP_NS":
		return "CAST(" + name + " AS " + c.Type.String() + ")"
	}
	return name
}

func (duckdb) bindParam(n int, c schema.Column, _ schema.Op, value any) (string, any) {
	if c.Type.Kind == schema.TimestampTZ {
		value = fmt.Sprint(value, "+00")
	}
	return fmt.Sprintf("CAST($%d AS %s)", n, c.Type), value
}

// likeExpr names an empty escape: without it the engine rewrites the pattern as a range,
// which fails for patterns with a DEL before the first wildcard.
func (duckdb) likeExpr(left, param string) string { return left + " LIKE " + param + " ESCAPE ''" }

// Texts gives the parameters as text, the way the embedded engine takes them: its
// dialect says the type of each in the statement.
func (s Statement) Texts() []string {
	texts := make([]string, len(s.Args))
	for i, a := range s.Args {
		texts[i] = fmt.Sprint(a)
	}
	return texts
}
