package source

import (
	"slices"
	"strings"

	"interlock/internal/dialect"
	"interlock/internal/schema"
)

// mysql is the SQL of MySQL and MariaDB. Their collations ignore case and trailing
// blanks, so texts are compared as bytes of UTF-8; a plain comparison beside it
// lets an index narrow the rows first.
type mysql struct{}

func (mysql) selectExpr(c schema.Column) string {
	name := dialect.MySQL.Quote(c.Name)
	switch {
	case c.Native == "bit":
		return name + " + 0"
	case c.Native == "year" && c.Type.Kind == schema.Text:
		return "CAST(" + name + " AS CHAR)"
	case c.Native == "float":
		return name + " + 0e0" // all its digits
	}
	return name
}

func (mysql) compareExpr(c schema.Column, op schema.Op) string {
	name := dialect.MySQL.Quote(c.Name)
	switch c.Type.Kind {
	case schema.Bool:
		return "(" + name + " <> 0)"
	case schema.UUID:
		return "CAST(" + name + " AS CHAR)"
	case schema.Text:
		text := "CONVERT(" + name + " USING utf8mb4)"
		if op == schema.Like {
			return text + " COLLATE utf8mb4_bin" // by characters, not bytes
		}
		return "CAST(" + text + " AS BINARY)"
	}
	return name
}

func (mysql) hasIndexedForm(c schema.Column, op schema.Op) bool {
	return c.Type.Kind == schema.Text && !slices.Contains([]string{"time", "date", "datetime", "timestamp", "year", "decimal"}, c.Native) && (op == schema.Eq || op == schema.In)
}

func (mysql) bindParam(_ int, c schema.Column, op schema.Op, value any) (string, any) {
	if c.Type.Kind == schema.Text && op == schema.Like {
		return "?", strings.ReplaceAll(value.(string), "|", "||")
	}
	return castParam(dialect.MySQL, "?", c.Type), value
}

// likeExpr names an escape, because the default is a backslash.
func (mysql) likeExpr(left, param string) string { return left + " LIKE " + param + " ESCAPE '|'" }
