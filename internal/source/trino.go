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
		return "CAST(? AS DOUBLE)", fmt.Sprint(value) // its driver binds no floats
	case schema.Uint:
		return "CAST(? AS DECIMAL(20,0))", value
	case schema.Decimal:
		return fmt.Sprintf("CAST(? AS DECIMAL(%d,%d))", c.Type.Width, c.Type.Scale), value
	case schema.Date:
		return "CAST(? AS DATE)", value
	case schema.Time:
		return "CAST(? AS TIME(6))", value
	case schema.Timestamp:
		return "CAST(? AS TIMESTAMP(6))", value
	case schema.TimestampTZ:
		return "CAST(? AS TIMESTAMP(6) WITH TIME ZONE)", fmt.Sprint(value, " UTC")
	case schema.UUID:
		return "CAST(? AS UUID)", value
	}
	return "?", value
}

func (trino) likeExpr(left, param string) string { return left + " LIKE " + param }
