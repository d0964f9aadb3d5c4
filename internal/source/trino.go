package source

import (
	"fmt"
	"strings"

	"interlock/internal/dialect"
	"interlock/internal/schema"
)

// trino is Trino's SQL with positional parameters.
type trino struct{}

func (trino) selectExpr(c schema.Column) string {
	base, _, _ := strings.Cut(c.Native, "(")
	switch {
	case c.Type.Kind == schema.Other && (base == "array" || base == "map" || base == "row"):
		return "json_format(CAST(" + dialect.Trino.Quote(c.Name) + " AS JSON))"
	case base == "real": // as wide as filters see it
		return "CAST(" + dialect.Trino.Quote(c.Name) + " AS DOUBLE)"
	case c.Type.Kind == schema.Other && base == "json":
		return "json_format(" + dialect.Trino.Quote(c.Name) + ")"
	}
	return dialect.Trino.Quote(c.Name)
}

func (trino) compareExpr(c schema.Column, _ schema.Op) string {
	name := dialect.Trino.Quote(c.Name)
	if c.Type.Kind == schema.Text && c.Native != "" && !strings.HasPrefix(c.Native, "varchar") {
		return "CAST(" + name + " AS VARCHAR)" // char(n) ignores trailing blanks
	}
	return name
}

func (trino) bindParam(_ int, c schema.Column, _ schema.Op, value any) (string, any) {
	switch c.Type.Kind {
	case schema.Float:
		value = fmt.Sprint(value) // its driver binds no floats
	case schema.TimestampTZ:
		value = fmt.Sprint(value, " UTC")
	}
	return castParam(dialect.Trino, "?", c.Type), value
}

func (trino) likeExpr(left, param string) string { return left + " LIKE " + param }
