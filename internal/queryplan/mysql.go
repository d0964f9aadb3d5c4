package queryplan

// mysql is MySQL 8 and MariaDB. Their collations ignore case, so that texts are
// compared, grouped and sorted by code points of the character set of the
// connection, utf8mb4; blanks at their ends do not count all the same. Sums of whole
// numbers are decimals of few digits there, so that quotients are made of doubles.
var mysql = grammar{
	wildcardEscape: escapeBang, patternEscape: escapeBangOnly, sets: standardSets, wrapsLimitedSubqueries: true, wholeAliasInOrder: true,
	forms: standardForms.override(formEach("part", "$u($x)", parts)).
		override(formEach("text of", mysqlText, kinds)).
		override(forms{
			"avg": "avg(CAST($x AS DOUBLE))", "median": "", "stddev": "stddev_samp(CAST($x AS DOUBLE))",
			"share": "CAST($x AS DOUBLE) / nullif(sum($y) OVER (), 0)", "percent": "100.0 * CAST($x AS DOUBLE) / nullif(sum($y) OVER (), 0)",
			"divide": "CAST($x AS DOUBLE) / nullif($y, 0)",
			"length": "char_length($x)",
			"asc":    "$x IS NULL, $x", "asc last": "$x IS NULL, $x", "asc first": "$x", "desc last": "$x DESC", "desc first": "$x IS NULL DESC, $x DESC",
			"like": "$x LIKE $y ESCAPE '!'", "not_like": "$x NOT LIKE $y ESCAPE '!'",
			"match": "lower($x) LIKE lower($y) ESCAPE '!'", "not_match": "lower($x) NOT LIKE lower($y) ESCAPE '!'",
			"column of text": mysqlText, "key": mysqlText,

			"number of bool": "$x + 0", "whole of bool": "$x + 0",
			"text of bool":      "CASE WHEN $x THEN 'true' WHEN NOT $x THEN 'false' END",
			"number of text":    castWhere("regexp_instr($x, $p) > 0", numeral, "CAST($x AS DOUBLE)"),
			"date of text":      castWhere("regexp_instr($x, $p) > 0", moment, "CAST($x AS DATETIME(6))"),
			"moment of literal": "CAST($x AS DATETIME(6))",

			"part week": "week($x, 3)", "part day": "dayofmonth($x)", "part weekday": "weekday($x) + 1",
			"truncate year":    "CAST(makedate(year($x), 1) AS DATETIME)",
			"truncate quarter": "CAST(concat(year($x), '-', quarter($x) * 3 - 2, '-01') AS DATETIME)",
			"truncate month":   "CAST(subdate(date($x), dayofmonth($x) - 1) AS DATETIME)",
			"truncate week":    "CAST(subdate(date($x), weekday($x)) AS DATETIME)",
			"truncate day":     "CAST(date($x) AS DATETIME)",
			"truncate hour":    "CAST(date_format($x, '%Y-%m-%d %H:00:00') AS DATETIME)",

			"date_diff year":    "year($y) - year($x)",
			"date_diff quarter": "(year($y) - year($x)) * 4 + quarter($y) - quarter($x)",
			"date_diff month":   "(year($y) - year($x)) * 12 + month($y) - month($x)",
			"date_diff week":    "CAST(truncate(datediff($y, $x) / 7, 0) AS SIGNED)",
			"date_diff day":     "datediff($y, $x)",
			"date_diff hour":    "datediff($y, $x) * 24 + hour($y) - hour($x)",
		}),
}

const mysqlText = "CAST($x AS CHAR) COLLATE utf8mb4_bin"
