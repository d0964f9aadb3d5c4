package source

import (
	"fmt"

	"interlock/internal/dialect"
	"interlock/internal/schema"
)

// snowflake is Snowflake's SQL with positional parameters. An empty collation is
// code points, whatever the column's own is.
type snowflake struct{}

func (snowflake) selectExpr(c schema.Column) string { return dialect.Snowflake.Quote(c.Name) }

func (snowflake) compareExpr(c schema.Column, _ schema.Op) string {
	if c.Type.Kind == schema.Text {
		return "COLLATE(" + dialect.Snowflake.Quote(c.Name) + ", '')"
	}
	return dialect.Snowflake.Quote(c.Name)
}

func (snowflake) bindParam(_ int, c schema.Column, _ schema.Op, value any) (string, any) {
	switch c.Type.Kind {
	case schema.Float:
		return "CAST(? AS DOUBLE)", value
	case schema.Uint:
		return "CAST(? AS NUMBER(20,0))", value
	case schema.Decimal:
		return fmt.Sprintf("CAST(? AS NUMBER(%d,%d))", c.Type.Width, c.Type.Scale), value
	case schema.Date:
		return "CAST(? AS DATE)", value
	case schema.Time:
		return "CAST(? AS TIME(6))", value
	case schema.Timestamp:
		return "CAST(? AS TIMESTAMP_NTZ(6))", value
	case schema.TimestampTZ:
		return "CAST(? AS TIMESTAMP_TZ(6))", fmt.Sprint(value, " +00:00")
	}
	return "?", value
}

func (snowflake) likeExpr(left, param string) string { return left + " LIKE " + param }
