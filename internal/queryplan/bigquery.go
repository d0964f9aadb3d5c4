package queryplan

import "strings"

// bigquery is BigQuery's GoogleSQL. A date literal is a text that takes the type of
// what it is compared with; parts and steps of the calendar are those of DATETIME.
var bigquery = grammar{
	wildcardEscape: escapeBackslash, patternEscape: escapeBackslashOnly, sets: distinctSets, equalSetPrecedence: true,
	forms: standardForms.override(formEach("text of", "CAST($x AS STRING)", kinds)).
		override(bigqueryUnits("truncate", "datetime_trunc($x, $u)")).
		override(bigqueryUnits("date_diff", "datetime_diff($y, $x, $u)")).
		override(forms{
			"median": "", "stddev": "stddev_samp($x)", "length": "char_length($x)",
			"share": "CAST($x AS FLOAT64) / nullif(sum($y) OVER (), 0)", "percent": "100.0 * CAST($x AS FLOAT64) / nullif(sum($y) OVER (), 0)",
			"divide":     "CAST($x AS FLOAT64) / nullif($y, 0)",
			"asc":        "$x NULLS LAST",
			"window asc": "$x IS NULL, $x", "window asc last": "$x IS NULL, $x", "window asc first": "$x",
			"window desc last": "$x DESC", "window desc first": "$x IS NULL DESC, $x DESC",
			"match": "lower($x) LIKE lower($y)", "not_match": "lower($x) NOT LIKE lower($y)",

			"number of bool": "CAST($x AS INT64)", "whole of bool": "CAST($x AS INT64)", "key": "CAST($x AS STRING)",
			"number of text":    castWhere("regexp_contains($x, $p)", numeral, "CAST(trim($x) AS FLOAT64)"),
			"date of text":      castWhere("regexp_contains($x, $p)", moment, "CAST($x AS DATETIME)"),
			"moment of literal": "CAST($x AS DATETIME)",
			"moment of day":     "CAST($x AS DATETIME)", "moment of time": "CAST($x AS DATETIME)",

			"part year": "EXTRACT(YEAR FROM $x)", "part quarter": "EXTRACT(QUARTER FROM $x)", "part month": "EXTRACT(MONTH FROM $x)",
			"part week": "EXTRACT(ISOWEEK FROM $x)", "part day": "EXTRACT(DAY FROM $x)", "part hour": "EXTRACT(HOUR FROM $x)",
			"date_diff week": "div(datetime_diff($y, $x, DAY), 7)",
			"part weekday":   "mod(EXTRACT(DAYOFWEEK FROM $x) + 5, 7) + 1",
		}),
}

// bigqueryUnits writes units as BigQuery names them, of which a week begins on Monday.
func bigqueryUnits(kind, template string) forms {
	f := forms{}
	for _, u := range units {
		word := strings.ToUpper(string(u))
		if u == "week" {
			word = "ISOWEEK"
		}
		f[kind+" "+string(u)] = strings.ReplaceAll(template, "$u", word)
	}
	return f
}
