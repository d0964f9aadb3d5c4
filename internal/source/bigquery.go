package source

import (
	"fmt"
	"strings"

	"interlock/internal/dialect"
	"interlock/internal/schema"
)

// bigquery is BigQuery's SQL with named parameters.
type bigquery struct{}

func (bigquery) selectExpr(c schema.Column) string { return dialect.BigQuery.Quote(c.Name) }

func (bigquery) compareExpr(c schema.Column, _ schema.Op) string {
	switch c.Type.Kind {
	case schema.Uint, schema.Decimal:
		return "CAST(" + dialect.BigQuery.Quote(c.Name) + " AS BIGNUMERIC)"
	}
	return dialect.BigQuery.Quote(c.Name)
}

func (bigquery) bindParam(n int, c schema.Column, op schema.Op, value any) (string, any) {
	name := fmt.Sprintf("@p%d", n)
	switch c.Type.Kind {
	case schema.Uint, schema.Decimal:
		return "CAST(" + name + " AS BIGNUMERIC)", value
	case schema.Date:
		return "CAST(" + name + " AS DATE)", value
	case schema.Time:
		return "CAST(" + name + " AS TIME)", value
	case schema.Timestamp:
		return "CAST(" + name + " AS DATETIME)", value
	case schema.TimestampTZ:
		return "CAST(" + name + " AS TIMESTAMP)", fmt.Sprint(value, "+00")
	}
	if op == schema.Like {
		return name, backslash.Replace(value.(string))
	}
	return name, value
}

// backslash escapes backslashes.
var backslash = strings.NewReplacer(`\`, `\\`)

func (bigquery) likeExpr(left, param string) string { return left + " LIKE " + param }
