package queryplan

// snowflake is Snowflake. A bare name is folded to upper case; weeks are those of
// ISO, whatever the account says about their first day.
var snowflake = grammar{
	wildcardEscape: escapeBang, sets: standardSets,
	forms: standardForms.override(formEach("part", "$u($x)", parts)).
		override(formEach("truncate", "date_trunc('$u', $x)", units)).
		override(formEach("date_diff", "datediff('$u', $x, $y)", units)).
		override(forms{
			"avg": "avg(CAST($x AS DOUBLE))", "stddev": "stddev_samp($x)",
			"min of bool": "booland_agg($x)", "max of bool": "boolor_agg($x)",
			"share": "CAST($x AS DOUBLE) / nullif(sum($y) OVER (), 0)", "percent": "100.0 * CAST($x AS DOUBLE) / nullif(sum($y) OVER (), 0)",
			"divide": "CAST($x AS DOUBLE) / nullif($y, 0)",
			"desc":   "$x DESC NULLS LAST",

			"number of text": "TRY_CAST(trim($x) AS DOUBLE)",
			"date of text":   castWhere("regexp_like($x, $p)", moment, "try_to_timestamp_ntz($x)"),
			// The text of a timestamp depends on a setting of the session.
			"text of time":      "",
			"moment of literal": "CAST($x AS TIMESTAMP_NTZ)",
			"moment of day":     "CAST($x AS TIMESTAMP_NTZ)",

			"part week": "weekiso($x)", "part weekday": "dayofweekiso($x)",
			"truncate week":  "dateadd('day', 1 - dayofweekiso($x), date_trunc('day', $x))",
			"date_diff week": "CAST(trunc(datediff('day', $x, $y) / 7) AS INTEGER)",
		}),
}
