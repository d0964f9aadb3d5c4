package queryplan

import "strings"

// postgres is PostgreSQL. A bare name is folded to lower case; texts are put in the
// order of their code points, whatever the collation of the database.
var postgres = grammar{
	wildcardEscape: escapeBang, patternEscape: escapeBangOnly, sets: standardSets, aggregateFilter: true, wholeAliasInOrder: true,
	forms: standardForms.override(formEach("part", "CAST(date_part('$u', $x) AS BIGINT)", parts)).
		override(formEach("truncate", "date_trunc('$u', $x)", units)).
		override(forms{
			"median":      "percentile_cont(0.5) WITHIN GROUP (ORDER BY $x)",
			"min of bool": "bool_and($x)", "max of bool": "bool_or($x)",
			"desc": "$x DESC NULLS LAST",
			"like": "$x LIKE $y ESCAPE '!'", "not_like": "$x NOT LIKE $y ESCAPE '!'",
			"order of text": `CAST($x AS TEXT) COLLATE "C"`,

			"number of text":    castWhere("$x ~ $p", numeral, "CAST($x AS DOUBLE PRECISION)"),
			"date of text":      castWhere("$x ~ $p", moment, "CAST($x AS TIMESTAMP)"),
			"moment of literal": "CAST($x AS TIMESTAMP)",
			"moment of day":     "CAST($x AS TIMESTAMP)",

			"part weekday":      "CAST(date_part('isodow', $x) AS BIGINT)",
			"date_diff year":    "CAST(date_part('year', $y) - date_part('year', $x) AS BIGINT)",
			"date_diff quarter": "CAST((date_part('year', $y) - date_part('year', $x)) * 4 + date_part('quarter', $y) - date_part('quarter', $x) AS BIGINT)",
			"date_diff month":   "CAST((date_part('year', $y) - date_part('year', $x)) * 12 + date_part('month', $y) - date_part('month', $x) AS BIGINT)",
			"date_diff week":    "(CAST($y AS DATE) - CAST($x AS DATE)) / 7",
			"date_diff day":     "CAST($y AS DATE) - CAST($x AS DATE)",
			"date_diff hour":    "CAST((CAST($y AS DATE) - CAST($x AS DATE)) * 24 + date_part('hour', $y) - date_part('hour', $x) AS BIGINT)",
		}),
}

// escapeBangOnly escapes the escape character of LIKE and keeps its wildcards.
var escapeBangOnly = strings.NewReplacer("!", "!!")
