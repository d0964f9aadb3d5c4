package queryplan

import "strings"

// clickhouse is ClickHouse of 2024 or later. There an alias is visible in the whole
// query, so columns are always qualified with their table.
var clickhouse = grammar{
	wildcardEscape: escapeBackslash, patternEscape: escapeBackslashOnly, sets: distinctSets,
	datesAsTimes: true, truncatesToDates: true, qualifiesColumns: true, outerJoinDefaults: true, wrapsSetOperations: true,
	forms: standardForms.override(formEach("text of", "toString($x)", kinds)).
		override(forms{
			"sum": "sumOrNull($x)", "avg": "avgOrNull($x)", "min": "minOrNull($x)", "max": "maxOrNull($x)",
			"min of bool": "minOrNull($x)", "max of bool": "maxOrNull($x)",
			"median": "quantileExactInclusiveOrNull($x)", "stddev": "CASE WHEN count($x) > 1 THEN stddevSamp($x) END",
			"share": "toFloat64($x) / nullif(toFloat64(sum($y) OVER ()), 0)", "percent": "100.0 * toFloat64($x) / nullif(toFloat64(sum($y) OVER ()), 0)",
			"divide": "toFloat64($x) / nullif($y, 0)",
			"lower":  "lowerUTF8($x)", "upper": "upperUTF8($x)", "length": "lengthUTF8($x)",
			"match": "lowerUTF8($x) LIKE lowerUTF8($y)", "not_match": "lowerUTF8($x) NOT LIKE lowerUTF8($y)",
			"equals_any_case": "lowerUTF8($x) = lowerUTF8($y)",

			"number of bool": "toInt64($x)", "whole of bool": "toInt64($x)", "text of bool": "CASE WHEN $x THEN 'true' WHEN NOT $x THEN 'false' END", "key": "toString($x)",
			"number of text":    "toFloat64OrNull(trimBoth($x))",
			"date of text":      castWhere("match($x, $p)", moment, "parseDateTime64BestEffortOrNull($x, 6)"),
			"moment of literal": "parseDateTime64BestEffort($x, 6)",
			"moment of day":     "toDateTime($x)",

			"part year": "toYear($x)", "part quarter": "toQuarter($x)", "part month": "toMonth($x)", "part week": "toISOWeek($x)",
			"part day": "toDayOfMonth($x)", "part weekday": "toDayOfWeek($x)", "part hour": "toHour($x)",
			"truncate year": "toStartOfYear($x)", "truncate quarter": "toStartOfQuarter($x)",
			"truncate month": "toStartOfMonth($x)", "truncate week": "toMonday($x)",
			"truncate day": "toDate($x)", "truncate hour": "toStartOfHour($x)",

			// By the clock of each side, whatever the zones of their types.
			"date_diff year":    "toYear($y) - toYear($x)",
			"date_diff quarter": "(toYear($y) - toYear($x)) * 4 + toQuarter($y) - toQuarter($x)",
			"date_diff month":   "(toYear($y) - toYear($x)) * 12 + toMonth($y) - toMonth($x)",
			"date_diff week":    "intDiv(dateDiff('day', toDate($x), toDate($y)), 7)",
			"date_diff day":     "dateDiff('day', toDate($x), toDate($y))",
			"date_diff hour":    "dateDiff('day', toDate($x), toDate($y)) * 24 + toHour($y) - toHour($x)",
		}),
}

// nullableFunction makes unmatched columns of an outer join NULL.
const nullableFunction = "toNullable"

var (
	// escapeBackslash escapes the wildcards of LIKE and the backslash, escapeBackslashOnly
	// the backslash alone.
	escapeBackslash     = strings.NewReplacer(`\`, `\\`, "%", `\%`, "_", `\_`)
	escapeBackslashOnly = strings.NewReplacer(`\`, `\\`)
)
