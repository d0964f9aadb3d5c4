package report

import (
	"encoding/json"
	"math"
	"strconv"
	"strings"

	"interlock/internal/chart"
	"interlock/internal/schema"
)

// A columnFormat writes the values of one column for people: dates without a time that none
// of them has, numbers with the same few decimals.
type columnFormat struct {
	column   schema.Column
	dateOnly bool // no value has a time of day
	monthly  bool // the values are months
	decimals int  // of numbers; -1 leaves them as they are
	tiny     bool // all numbers are too small for decimals
	rounded  bool // some number loses digits
	plain    bool // numbers are years or keys, which have no thousands
}

// maxDecimals is how many decimals numbers of 1 and more are shown with.
const maxDecimals = 2

func newColumnFormat(c schema.Column, rows [][]any, index int) columnFormat {
	f := columnFormat{column: c, decimals: -1, dateOnly: true, monthly: strings.Contains(strings.ToLower(c.Name), "month")}
	largest, digits, years := 0.0, 0, true
	for _, row := range rows {
		if row[index] == nil {
			continue
		}
		if day, ok := midnight(row[index]); ok {
			f.monthly = f.monthly && strings.HasSuffix(day, "-01")
		} else {
			f.dateOnly, f.monthly = false, false
		}
		if text, number, ok := plainNumber(row[index]); ok && isNumber(c.Type) {
			largest = max(largest, math.Abs(number))
			digits = max(digits, countDecimals(text))
			years = years && number == math.Trunc(number) && number >= 1900 && number < 2100
		}
	}
	if !isNumber(c.Type) {
		return f
	}
	f.plain = years || numbersRows(c.Name) || namesYears(c.Name) && largest < 10_000
	f.decimals = min(digits, maxDecimals)
	switch {
	case largest > 0 && largest < 0.001:
		f.tiny = true
	case largest < 1:
		f.decimals = min(digits, 2*maxDecimals)
	}
	f.rounded = digits > f.decimals || f.tiny
	return f
}

// text is a value as the report shows it.
func (f columnFormat) text(v any) string {
	if day, ok := midnight(v); ok && f.dateOnly {
		if f.monthly {
			return strings.TrimSuffix(day, "-01")
		}
		return day
	}
	exact := chart.CellText(v)
	text, number, ok := plainNumber(v)
	switch {
	case !ok || f.decimals < 0:
		return exact
	case f.tiny:
		return strconv.FormatFloat(number, 'g', 3, 64)
	case countDecimals(text) == 0 && f.decimals == 0:
		return f.groupDigits(exact)
	}
	return f.groupDigits(strconv.FormatFloat(number, 'f', f.decimals, 64))
}

// midnight returns the day of a date, or of a moment at its first second.
func midnight(v any) (day string, ok bool) {
	text, ok := v.(string)
	if !ok {
		return "", false
	}
	for _, suffix := range []string{" 00:00:00", "T00:00:00", "T00:00:00Z", " 00:00:00+00", " 00:00:00.000"} {
		text = strings.TrimSuffix(text, suffix)
	}
	return text, len(text) == len("2006-01-02") && isDate.MatchString(text)
}

// plainNumber returns a number as it is written and its value; false for one that a float
// does not hold exactly, and for what is no number.
func plainNumber(v any) (text string, number float64, ok bool) {
	switch x := v.(type) {
	case json.Number:
		text = x.String()
	case float64:
		text = strconv.FormatFloat(x, 'f', -1, 64)
	case string:
		text = x
	default:
		return "", 0, false
	}
	number, err := strconv.ParseFloat(text, 64)
	if err != nil || math.IsInf(number, 0) || math.IsNaN(number) || math.Abs(number) > 1<<53 {
		return "", 0, false
	}
	if strings.ContainsAny(text, "eE") {
		text = strconv.FormatFloat(number, 'f', -1, 64)
	}
	return text, number, true
}

func countDecimals(text string) int {
	_, decimals, _ := strings.Cut(text, ".")
	return len(decimals)
}

// namesYears says that a column may hold years; it may also hold what a year gave.
func namesYears(column string) bool {
	name := strings.ToLower(column)
	return strings.Contains(name, "year") || strings.Contains(name, "jahr")
}

// numbersRows says by its name that a column holds keys.
func numbersRows(column string) bool {
	name := strings.ToLower(column)
	return name == "id" || name == "key" || strings.HasSuffix(name, "_id") || strings.HasSuffix(name, "_key") || strings.HasSuffix(name, "number")
}

// groupDigits puts commas between the thousands of a column, in all of its numbers or in
// none.
func (f columnFormat) groupDigits(text string) string {
	whole, decimals, hasDecimals := strings.Cut(text, ".")
	digits := strings.TrimPrefix(whole, "-")
	if len(digits) < 4 || f.plain {
		return text
	}
	var b strings.Builder
	if len(digits) < len(whole) {
		b.WriteByte('-')
	}
	for i, d := range []byte(digits) {
		if i > 0 && (len(digits)-i)%3 == 0 {
			b.WriteByte(',')
		}
		b.WriteByte(d)
	}
	if hasDecimals {
		b.WriteString("." + decimals)
	}
	return b.String()
}
