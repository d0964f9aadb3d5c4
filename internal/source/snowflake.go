package source

import (
	"fmt"

	"interlock/internal/dialect"
)

// snowflake is Snowflake's SQL with positional parameters. An empty collation is
// code points, whatever the column's own is.
type snowflake struct{}

func (snowflake) read(c Column) string { return dialect.Snowflake.Quote(c.Name) }

func (snowflake) left(c Column, _ Op) string {
	if c.Type.Kind == Text {
		return "COLLATE(" + dialect.Snowflake.Quote(c.Name) + ", '')"
	}
	return dialect.Snowflake.Quote(c.Name)
}

func (snowflake) param(_ int, c Column, _ Op, value any) (string, any) {
	switch c.Type.Kind {
	case Float:
		return "CAST(? AS DOUBLE)", value
	case Uint:
		return "CAST(? AS NUMBER(20,0))", value
	case Decimal:
		return fmt.Sprintf("CAST(? AS NUMBER(%d,%d))", c.Type.Width, c.Type.Scale), value
	case Date:
		return "CAST(? AS DATE)", value
	case Time:
		return "CAST(? AS TIME(6))", value
	case Timestamp:
		return "CAST(? AS TIMESTAMP_NTZ(6))", value
	case TimestampTZ:
		return "CAST(? AS TIMESTAMP_TZ(6))", fmt.Sprint(value, " +00:00")
	}
	return "?", value
}

func (snowflake) like(left, param string) string { return left + " LIKE " + param }
