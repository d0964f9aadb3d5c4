package queryplan

// trino is Trino. It compares only what has the same type, and makes quotients and
// averages of decimals with few digits, so that they are made of doubles.
var trino = grammar{
	wildcardEscape: escapeBang, sets: standardSets, aggregateFilter: true, datesAsTimes: true, offsetFirst: true,
	forms: standardForms.override(formEach("part", "$u($x)", parts)).
		override(formEach("truncate", "date_trunc('$u', $x)", units)).
		override(formEach("date_diff", "date_diff('$u', date_trunc('$u', $x), date_trunc('$u', $y))", units)).
		override(forms{
			"avg": "avg(CAST($x AS DOUBLE))", "stddev": "stddev_samp($x)",
			"median": "(element_at(array_sort(array_agg(CAST($x AS DOUBLE))), nullif((count($x) + 1) / 2, 0))" +
				" + element_at(array_sort(array_agg(CAST($x AS DOUBLE))), count($x) / 2 + 1)) / 2",
			"share": "CAST($x AS DOUBLE) / nullif(sum($y) OVER (), 0)", "percent": "100.0 * CAST($x AS DOUBLE) / nullif(sum($y) OVER (), 0)",
			"divide": "CAST($x AS DOUBLE) / nullif($y, 0)",
			"match":  "lower($x) LIKE lower($y) ESCAPE '!'", "not_match": "lower($x) NOT LIKE lower($y) ESCAPE '!'",
			"date literal": "TIMESTAMP $x",

			"number of text": "TRY_CAST(trim($x) AS DOUBLE)",
			"date of text":   castWhere("regexp_like($x, $p)", moment, "TRY_CAST(replace($x, 'T', ' ') AS TIMESTAMP(6))"),
			// A double would be 1.5E0, and a timestamp would end in .000.
			"text of float": "", "text of time": "",
			"moment of literal": "CAST($x AS TIMESTAMP(6))",
			"moment of day":     "CAST($x AS TIMESTAMP(6))",
			"part weekday":      "day_of_week($x)",
			"date_diff week":    "date_diff('day', date_trunc('day', $x), date_trunc('day', $y)) / 7",
		}),
}
