package dialect

import "strings"

// bigquery is BigQuery's GoogleSQL, whose texts and quoted names end at their line.
var bigquery = engine{
	name: "bigquery", title: "BigQuery", quote: quoting{"`", bigqueryEscapes},
	text:  func(s string) string { return "'" + bigqueryEscapes.Replace(s) + "'" },
	lexis: Lexis{Backslash: true, Backticks: true, Names: KeepsCase},
	keywords: words(`assert_rows_modified contains cube define enum extract groups hash interval lookup merge new proto respect rollup
		treat unnest`),
}

var bigqueryEscapes = strings.NewReplacer(`\`, `\\`, "'", `\'`, "`", "\\`", "\n", `\n`, "\r", `\r`)
