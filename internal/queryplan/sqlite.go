package queryplan

import "strings"

// sqlite is SQLite 3.46 or later, which keeps dates as text. It folds the case of
// ASCII letters only and has neither medians nor deviations.
var sqlite = grammar{
	wildcardEscape: escapeBang, patternEscape: globPattern, sets: standardSets, aggregateFilter: true, equalSetPrecedence: true, foldsASCIIOnly: true,
	forms: standardForms.override(formEach("part", "CAST(strftime('$u', $x) AS INTEGER)", parts)).
		override(formEach("number of", sqliteNumber, kinds)).override(formEach("date of", sqliteMoment, kinds)).
		override(formEach("text of", "CAST($x AS TEXT)", kinds)).
		override(forms{
			"true": "1", "false": "0", "median": "", "stddev": "",
			"asc":  "$x NULLS LAST",
			"like": "$x GLOB $y", "not_like": "NOT ($x GLOB $y)",
			"match": "$x LIKE $y ESCAPE '!'", "not_match": "$x NOT LIKE $y ESCAPE '!'",
			"moment of literal": "$x",
			"key":               "CAST($x AS TEXT)",

			"part year": sqlitePart("%Y", "$x"), "part month": sqlitePart("%m", "$x"), "part week": sqlitePart("%V", "$x"),
			"part day": sqlitePart("%d", "$x"), "part weekday": sqlitePart("%u", "$x"), "part hour": sqlitePart("%H", "$x"),
			"part quarter": sqliteQuarter("$x"),

			"truncate year":    "strftime('%Y-01-01', $x)",
			"truncate quarter": "strftime('%Y-', $x) || substr('00' || (" + sqliteQuarter("$x") + " * 3 - 2), -2) || '-01'",
			"truncate month":   "strftime('%Y-%m-01', $x)",
			"truncate week":    "strftime('%Y-%m-%d', $x, 'weekday 0', '-6 days')",
			"truncate day":     "date($x)",
			"truncate hour":    "strftime('%Y-%m-%d %H:00:00', $x)",

			"date_diff year":    sqlitePart("%Y", "$y") + " - " + sqlitePart("%Y", "$x"),
			"date_diff quarter": "(" + sqlitePart("%Y", "$y") + " - " + sqlitePart("%Y", "$x") + ") * 4 + " + sqliteQuarter("$y") + " - " + sqliteQuarter("$x"),
			"date_diff month":   "(" + sqlitePart("%Y", "$y") + " - " + sqlitePart("%Y", "$x") + ") * 12 + " + sqlitePart("%m", "$y") + " - " + sqlitePart("%m", "$x"),
			"date_diff week":    sqliteDays + " / 7",
			"date_diff day":     sqliteDays,
			"date_diff hour":    sqliteDays + " * 24 + " + sqlitePart("%H", "$y") + " - " + sqlitePart("%H", "$x"),

			"text of bool": "CASE WHEN $x THEN 'true' WHEN NOT $x THEN 'false' END",
		}),
}

const (
	// Text that is not entirely a number does not equal its cast.
	sqliteNumber = "CASE WHEN $x = CAST($x AS REAL) THEN CAST($x AS REAL) END"
	// date() turns a day that the calendar does not have into another one.
	sqliteMoment = "CASE WHEN date($x) = substr($x, 1, 10) THEN datetime($x) END"
	sqliteDays   = "CAST(julianday(date($y)) - julianday(date($x)) AS INTEGER)"
)

func sqlitePart(format, x string) string {
	return "CAST(strftime('" + format + "', " + x + ") AS INTEGER)"
}

func sqliteQuarter(x string) string { return "((" + sqlitePart("%m", x) + " + 2) / 3)" }

// globPattern turns a pattern of LIKE into one of GLOB, which is case-sensitive.
var globPattern = strings.NewReplacer("%", "*", "_", "?", "*", "[*]", "?", "[?]", "[", "[[]")
