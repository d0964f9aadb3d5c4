package dialect

import (
	"strings"

	"interlock/internal/schema"
)

// bigquery is BigQuery's GoogleSQL, whose texts and quoted names end at their line.
var bigquery = engine{
	name: "bigquery", title: "BigQuery", quote: quoting{"`", bigqueryEscapes},
	text:  func(s string) string { return "'" + bigqueryEscapes.Replace(s) + "'" },
	lexis: Lexis{Backslash: true, Backticks: true, Names: KeepsCase},
	casts: map[schema.Kind]string{
		schema.Uint: "BIGNUMERIC", schema.Decimal: "BIGNUMERIC", schema.Date: "DATE", schema.Time: "TIME", schema.Timestamp: "DATETIME", schema.TimestampTZ: "TIMESTAMP",
	},
	keywords: words(`assert_rows_modified contains cube define enum extract groups hash interval lookup merge new proto respect rollup
		treat unnest`),
}

var bigqueryEscapes = strings.NewReplacer(`\`, `\\`, "'", `\'`, "`", "\\`", "\n", `\n`, "\r", `\r`)
