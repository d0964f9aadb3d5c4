package source

import (
	"fmt"

	"interlock/internal/dialect"
	"interlock/internal/schema"
)

// postgres is PostgreSQL's SQL. Texts are compared under the collation "C", which
// is code points; equality of an ordinary text column needs none, so its index serves.
type postgres struct{}

// selectExpr casts types without a kind of their own to text.
func (postgres) selectExpr(c schema.Column) string {
	switch c.Type.Kind {
	case schema.Text, schema.Other:
		if !plainText(c.Native) {
			return dialect.PostgreSQL.Quote(c.Name) + "::text"
		}
	case schema.JSON:
		if c.Native == "jsonb" {
			return dialect.PostgreSQL.Quote(c.Name) + "::json"
		}
		if c.Native != "json" {
			return "to_json(" + dialect.PostgreSQL.Quote(c.Name) + ")"
		}
	case schema.List:
		return "to_json(" + dialect.PostgreSQL.Quote(c.Name) + ")"
	case schema.Decimal:
		if c.Native == "money" {
			return dialect.PostgreSQL.Quote(c.Name) + "::numeric"
		}
	}
	return dialect.PostgreSQL.Quote(c.Name)
}

func (postgres) compareExpr(c schema.Column, op schema.Op) string {
	name := dialect.PostgreSQL.Quote(c.Name)
	if c.Native == "money" {
		return name + "::numeric"
	}
	if c.Type.Kind != schema.Text {
		return name
	}
	if !plainText(c.Native) {
		name += "::text"
	} else if op == schema.Eq || op == schema.Neq || op == schema.In {
		return name
	}
	return name + ` COLLATE "C"`
}

// plainText says that a type is text whose values are equal only if their bytes are.
func plainText(native string) bool {
	return native == "" || native == "text" || native == "varchar"
}

func (postgres) bindParam(n int, c schema.Column, _ schema.Op, value any) (string, any) {
	if c.Type.Kind == schema.TimestampTZ {
		value = fmt.Sprint(value, "+00")
	}
	return fmt.Sprintf("$%d::%s", n, dialect.PostgreSQL.CastType(c.Type)), value
}

func (postgres) likeExpr(left, param string) string { return left + " LIKE " + param + " ESCAPE ''" }
