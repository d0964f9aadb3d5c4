package queryplan

import "strings"

// duckdb is the dialect that plans run on here.
var duckdb = grammar{
	wildcardEscape: escapeBang, sets: standardSets, keepsDateForm: true, aggregateFilter: true,
	forms: standardForms.override(formEach("part", "$u($x)", parts)).override(formEach("truncate", "date_trunc('$u', $x)", units)).
		override(formEach("date_diff", "date_diff('$u', $x, $y)", units)).
		override(formEach("number of", "TRY_CAST($x AS DOUBLE)", kinds)).
		override(formEach("date of", "TRY_CAST($x AS TIMESTAMP)", kinds)).
		override(formEach("text of", "TRY_CAST($x AS VARCHAR)", kinds)).
		override(forms{
			"part weekday":      "isodow($x)",
			"median of date":    "median($x)",
			"round of float":    "round($x, 2)",
			"moment of literal": "CAST($x AS TIMESTAMP)",
		}),
}

// escapeBang escapes the wildcards of LIKE, for use with ESCAPE '!'.
var escapeBang = strings.NewReplacer("!", "!!", "%", "!%", "_", "!_")
