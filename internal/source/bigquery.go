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
	switch {
	case c.Type.Kind == schema.TimestampTZ:
		value = fmt.Sprint(value, "+00")
	case op == schema.Like:
		value = backslash.Replace(value.(string))
	}
	return castParam(dialect.BigQuery, fmt.Sprintf("@p%d", n), c.Type), value
}

// backslash escapes backslashes.
var backslash = strings.NewReplacer(`\`, `\\`)

func (bigquery) likeExpr(left, param string) string { return left + " LIKE " + param }
