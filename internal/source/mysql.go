package source

import (
	"fmt"
	"slices"
	"strings"

	"interlock/internal/dialect"
)

// mysql is the SQL of MySQL and MariaDB. Their collations ignore case and trailing
// blanks, so texts are compared as bytes of UTF-8; a plain comparison beside it
// lets an index narrow the rows first.
type mysql struct{}

func (mysql) read(c Column) string {
	name := dialect.MySQL.Quote(c.Name)
	switch {
	case c.Native == "bit":
		return name + " + 0"
	case c.Native == "year" && c.Type.Kind == Text:
		return "CAST(" + name + " AS CHAR)"
	case c.Native == "float":
		return name + " + 0e0" // all its digits
	}
	return name
}

func (mysql) left(c Column, op Op) string {
	name := dialect.MySQL.Quote(c.Name)
	switch c.Type.Kind {
	case Bool:
		return "(" + name + " <> 0)"
	case UUID:
		return "CAST(" + name + " AS CHAR)"
	case Text:
		text := "CONVERT(" + name + " USING utf8mb4)"
		if op == Like {
			return text + " COLLATE utf8mb4_bin" // by characters, not bytes
		}
		return "CAST(" + text + " AS BINARY)"
	}
	return name
}

func (mysql) narrow(c Column, op Op) bool {
	return c.Type.Kind == Text && !slices.Contains([]string{"time", "date", "datetime", "timestamp", "year", "decimal"}, c.Native) && (op == Eq || op == In)
}

func (mysql) param(_ int, c Column, op Op, value any) (string, any) {
	switch c.Type.Kind {
	case Uint:
		return "CAST(? AS UNSIGNED)", value
	case Decimal:
		return fmt.Sprintf("CAST(? AS DECIMAL(%d,%d))", c.Type.Width, c.Type.Scale), value
	case Text:
		if op == Like {
			return "?", strings.ReplaceAll(value.(string), "|", "||")
		}
		return "CAST(? AS BINARY)", value
	case Date:
		return "CAST(? AS DATE)", value
	case Time:
		return "CAST(? AS TIME(6))", value
	case Timestamp, TimestampTZ:
		return "CAST(? AS DATETIME(6))", value // the session's zone is UTC
	}
	return "?", value
}

// like names an escape of its own, because without one a backslash is it.
func (mysql) like(left, param string) string { return left + " LIKE " + param + " ESCAPE '|'" }
