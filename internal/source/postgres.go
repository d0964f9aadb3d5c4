package source

import (
	"fmt"

	"interlock/internal/dialect"
)

// postgres is PostgreSQL's SQL. Texts are compared under the collation "C", which
// is code points; equality of an ordinary text column needs none, so its index serves.
type postgres struct{}

// read gives types that have no kind here as their text.
func (postgres) read(c Column) string {
	switch c.Type.Kind {
	case Text, Other:
		if !plainText(c.Native) {
			return dialect.PostgreSQL.Quote(c.Name) + "::text"
		}
	case JSON:
		if c.Native == "jsonb" {
			return dialect.PostgreSQL.Quote(c.Name) + "::json"
		}
		if c.Native != "json" {
			return "to_json(" + dialect.PostgreSQL.Quote(c.Name) + ")"
		}
	case List:
		return "to_json(" + dialect.PostgreSQL.Quote(c.Name) + ")"
	case Decimal:
		if c.Native == "money" {
			return dialect.PostgreSQL.Quote(c.Name) + "::numeric"
		}
	}
	return dialect.PostgreSQL.Quote(c.Name)
}

func (postgres) left(c Column, op Op) string {
	name := dialect.PostgreSQL.Quote(c.Name)
	if c.Native == "money" {
		return name + "::numeric"
	}
	if c.Type.Kind != Text {
		return name
	}
	if !plainText(c.Native) {
		name += "::text"
	} else if op == Eq || op == Neq || op == In {
		return name
	}
	return name + ` COLLATE "C"`
}

// plainText says that a type is text and compares equal only when it is.
func plainText(native string) bool {
	return native == "" || native == "text" || native == "varchar"
}

func (postgres) param(n int, c Column, _ Op, value any) (string, any) {
	if c.Type.Kind == TimestampTZ {
		value = fmt.Sprint(value, "+00")
	}
	return fmt.Sprintf("$%d::%s", n, postgresType(c.Type)), value
}

func postgresType(t Type) string {
	switch t.Kind {
	case Bool:
		return "boolean"
	case Int:
		return "bigint"
	case Uint, Decimal:
		return "numeric"
	case Float:
		return "double precision"
	case Date:
		return "date"
	case Time:
		return "time"
	case Timestamp:
		return "timestamp"
	case TimestampTZ:
		return "timestamptz"
	case UUID:
		return "uuid"
	}
	return "text"
}

func (postgres) like(left, param string) string { return left + " LIKE " + param + " ESCAPE ''" }
