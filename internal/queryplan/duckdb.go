package queryplan

import "strings"

// duckdb is the dialect that plans run on here.
var duckdb = grammar{
	escape: bang, sets: standardSets, asWritten: true, filter: true,
	forms: ansi.with(each("part", "$u($x)", parts)).with(each("truncate", "date_trunc('$u', $x)", units)).
		with(each("date_diff", "date_diff('$u', $x, $y)", units)).
		with(each("number of", "TRY_CAST($x AS DOUBLE)", kinds)).
		with(each("date of", "TRY_CAST($x AS TIMESTAMP)", kinds)).
		with(each("text of", "TRY_CAST($x AS VARCHAR)", kinds)).
		with(forms{
			"part weekday":      "isodow($x)",
			"median of date":    "median($x)",
			"round of float":    "round($x, 2)",
			"moment of literal": "CAST($x AS TIMESTAMP)",
		}),
}

// bang escapes the wildcards of LIKE, for use with ESCAPE '!'.
var bang = strings.NewReplacer("!", "!!", "%", "!%", "_", "!_")
