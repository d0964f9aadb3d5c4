package source

import (
	"fmt"
	"strings"

	"interlock/internal/dialect"
)

// clickhouse is ClickHouse's SQL with parameters that the server binds by name and
// type; they travel as text.
type clickhouse struct{}

func (c clickhouse) read(col Column) string {
	if col.Type.Kind == Other {
		return "toString(" + dialect.ClickHouse.Quote(col.Name) + ")" // lists and the like, in its own notation
	}
	return c.left(col, Eq)
}

func (clickhouse) left(col Column, _ Op) string {
	switch name := dialect.ClickHouse.Quote(col.Name); {
	case col.Type.Kind != Text || col.Native == "":
		return name
	case strings.Contains(col.Native, "FixedString"):
		return "toStringCutToZero(" + name + ")" // filled up with zeros
	case !strings.Contains(col.Native, "String"):
		return "toString(" + name + ")" // enums, addresses, very long numbers
	default:
		return name
	}
}

func (clickhouse) param(n int, c Column, op Op, value any) (string, any) {
	if op == Like {
		value = backslash.Replace(value.(string))
	}
	return fmt.Sprintf("{p%d:%s}", n, clickhouseType(c.Type)), fmt.Sprint(value)
}

func clickhouseType(t Type) string {
	switch t.Kind {
	case Bool:
		return "Bool"
	case Int:
		return "Int64"
	case Uint:
		return "UInt64"
	case Float:
		return "Float64"
	case Decimal:
		return fmt.Sprintf("Decimal(%d, %d)", t.Width, t.Scale)
	case Date:
		return "Date32"
	case Timestamp, TimestampTZ:
		return "DateTime64(6, 'UTC')"
	case UUID:
		return "UUID"
	}
	return "String"
}

func (clickhouse) like(left, param string) string { return left + " LIKE " + param }
