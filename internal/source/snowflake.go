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
	if c.Type.Kind == schema.TimestampTZ {
		value = fmt.Sprint(value, " +00:00")
	}
	return castParam(dialect.Snowflake, "?", c.Type), value
}

func (snowflake) likeExpr(left, param string) string { return left + " LIKE " + param }
