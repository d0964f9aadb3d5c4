package source

import (
	"fmt"
	"strings"

	"interlock/internal/dialect"
)

// bigquery is BigQuery's SQL with named parameters.
type bigquery struct{}

func (bigquery) read(c Column) string { return dialect.BigQuery.Quote(c.Name) }

func (bigquery) left(c Column, _ Op) string {
	switch c.Type.Kind {
	case Uint, Decimal:
		return "CAST(" + dialect.BigQuery.Quote(c.Name) + " AS BIGNUMERIC)"
	}
	return dialect.BigQuery.Quote(c.Name)
}

func (bigquery) param(n int, c Column, op Op, value any) (string, any) {
	name := fmt.Sprintf("@p%d", n)
	switch c.Type.Kind {
	case Uint, Decimal:
		return "CAST(" + name + " AS BIGNUMERIC)", value
	case Date:
		return "CAST(" + name + " AS DATE)", value
	case Time:
		return "CAST(" + name + " AS TIME)", value
	case Timestamp:
		return "CAST(" + name + " AS DATETIME)", value
	case TimestampTZ:
		return "CAST(" + name + " AS TIMESTAMP)", fmt.Sprint(value, "+00")
	}
	if op == Like {
		return name, backslash.Replace(value.(string))
	}
	return name, value
}

// backslash makes a backslash stand for itself in systems where it escapes.
var backslash = strings.NewReplacer(`\`, `\\`)

func (bigquery) like(left, param string) string { return left + " LIKE " + param }
