package source

import (
	"fmt"
	"strings"

	"interlock/internal/dialect"
	"interlock/internal/schema"
)

// clickhouse is ClickHouse's SQL with parameters that the server binds by name and
// type; they travel as text.
type clickhouse struct{}

func (c clickhouse) selectExpr(col schema.Column) string {
	if col.Type.Kind == schema.Other {
		return "toString(" + dialect.ClickHouse.Quote(col.Name) + ")" // lists and the like, in its own notation
	}
	return c.compareExpr(col, schema.Eq)
}

func (clickhouse) compareExpr(col schema.Column, _ schema.Op) string {
	switch name := dialect.ClickHouse.Quote(col.Name); {
	case col.Type.Kind != schema.Text || col.Native == "":
		return name
	case strings.Contains(col.Native, "FixedString"):
		return "toStringCutToZero(" + name + ")" // filled up with zeros
	case !strings.Contains(col.Native, "String"):
		return "toString(" + name + ")" // enums, addresses, very long numbers
	default:
		return name
	}
}

func (clickhouse) bindParam(n int, c schema.Column, op schema.Op, value any) (string, any) {
	if op == schema.Like {
		value = backslash.Replace(value.(string))
	}
	return fmt.Sprintf("{p%d:%s}", n, dialect.ClickHouse.CastType(c.Type)), fmt.Sprint(value)
}

func (clickhouse) likeExpr(left, param string) string { return left + " LIKE " + param }
