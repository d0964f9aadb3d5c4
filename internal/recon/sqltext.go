package recon

import (
	"fmt"
	"strings"
)

// name quotes an identifier.
func name(s string) string { return `"` + strings.ReplaceAll(s, `"`, `""`) + `"` }

// text quotes a literal. It is used for formats and other words of this program;
// values of rows and of persons are arguments.
func text(s string) string { return "'" + strings.ReplaceAll(s, "'", "''") + "'" }

// each writes one piece of SQL for every item and joins them.
func each[T any](items []T, sep string, write func(i int, item T) string) string {
	parts := make([]string, len(items))
	for i, item := range items {
		parts[i] = write(i, item)
	}
	return strings.Join(parts, sep)
}

// normalText is text without case, accents, punctuation and surplus space. Text of plain
// letters and digits, with single spaces and hyphens, takes a short way to the same.
func normalText(x string) string {
	return fmt.Sprintf(`nullif(trim(CASE WHEN regexp_matches(%[1]s, '[^a-z0-9 -]|[ -][ -]') THEN regexp_replace(%[1]s, '[^\p{L}\p{N}]+', ' ', 'g') ELSE replace(%[1]s, '-', ' ') END), '')`, "lower(strip_accents("+x+"))")
}

// shortened is the beginning of a cell, of which a comparison looks at no more: a document in
// a cell would take minutes.
func shortened(x string) string {
	return fmt.Sprintf("CASE WHEN strlen(%[1]s) > %[2]d THEN left(%[1]s, %[2]d) ELSE %[1]s END", x, longestText)
}

// longestText is how many characters of a cell are compared, and longestName how many of
// two texts letter by letter, which takes the product of their lengths.
const (
	longestText = 2_000
	longestName = 200
)

// alikeness measures how alike two texts are, letter by letter: 0 to 1.
func alikeness(a, b string) string {
	return fmt.Sprintf("CASE WHEN greatest(strlen(%[1]s), strlen(%[2]s)) > %[3]d THEN jaro_winkler_similarity(left(%[1]s, %[3]d), left(%[2]s, %[3]d)) ELSE jaro_winkler_similarity(%[1]s, %[2]s) END", a, b, longestName)
}

// squashed is normal text without spaces.
func squashed(normal string) string { return fmt.Sprintf("replace(%s, ' ', '')", normal) }

// The formats in which the numbers and the dates of a column may be written; other
// dates are named by their strptime format.
const (
	decimalPoint = "1,234.56"
	decimalComma = "1.234,56"
	isoDate      = "iso"
)

// numberOf reads text as a DOUBLE. Signs may lead, trail or be brackets; currency
// signs and letters around the digits are dropped.
func numberOf(x, format string) string {
	digits := fmt.Sprintf(`regexp_replace(%s, '[^0-9.,]', '', 'g')`, x)
	switch format {
	case decimalComma:
		digits = fmt.Sprintf("replace(replace(%s, '.', ''), ',', '.')", digits)
	default:
		digits = fmt.Sprintf("replace(%s, ',', '')", digits)
	}
	plain := fmt.Sprintf(`CASE WHEN regexp_matches(%[1]s, '[0-9]') AND NOT regexp_matches(%[1]s, '[0-9][^0-9]*\p{L}+[^0-9]*[0-9]') THEN TRY_CAST(%[2]s AS DOUBLE) * CASE WHEN regexp_matches(%[1]s, '^[^0-9]*[-(−]|-\s*$') THEN -1 ELSE 1 END END`, x, digits)
	return fmt.Sprintf("coalesce(%s, %s)", tryDouble(x, format), plain)
}

// inLessOut is the amount of two numbers, what came in and what went out, of which one may
// be missing.
func inLessOut(in, out string) string {
	return fmt.Sprintf("CASE WHEN (%[1]s) IS NOT NULL OR (%[2]s) IS NOT NULL THEN coalesce(%[1]s, 0) - abs(coalesce(%[2]s, 0)) END", in, out)
}

// tryDouble reads numbers that are written as the engine writes them.
func tryDouble(x, format string) string {
	if format == decimalComma {
		return "CAST(NULL AS DOUBLE)"
	}
	return fmt.Sprintf("TRY_CAST(%s AS DOUBLE)", x)
}

// cents is a number in hundredths, so that equal amounts are equal.
func cents(f string) string {
	return fmt.Sprintf("CASE WHEN abs(%[1]s) < 9e13 THEN CAST(round(%[1]s * 100) AS BIGINT) END", f)
}

// dayOf reads text as the number of a day. Timestamps with an offset count in UTC.
func dayOf(x, format string) string {
	moment := fmt.Sprintf("try_strptime(%s, %s)", x, text(format))
	if format == isoDate {
		moment = fmt.Sprintf("TRY_CAST(%s AS TIMESTAMP)", x)
	}
	return fmt.Sprintf("CASE WHEN year(%[1]s) BETWEEN 1800 AND 2200 THEN date_diff('day', DATE '1970-01-01', CAST(%[1]s AS DATE)) END", moment)
}
