package source

import (
	"fmt"
	"strings"
)

// clickhouse is ClickHouse's SQL with parameters that the server binds by name and
// type; they travel as text.
type clickhouse struct{}

var clickhouseName = strings.NewReplacer(`\`, `\\`, "`", "\\`")

func (clickhouse) quote(name string) string { return "`" + clickhouseName.Replace(name) + "`" }

func (c clickhouse) read(col Column) string { return c.quote(col.Name) }

func (c clickhouse) left(col Column, _ Op) string {
	if col.Type.Kind == Text && col.Native != "" && !strings.Contains(col.Native, "String") {
		return "toString(" + c.quote(col.Name) + ")" // enums
	}
	return c.quote(col.Name)
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
