package chart

import (
	"encoding/json"
	"math"
	"strconv"
	"strings"
	"time"
)

// CellText writes a cell as it stands in the result; a missing one is a dash.
func CellText(v any) string {
	switch x := v.(type) {
	case nil:
		return "–"
	case string:
		return x
	case json.Number:
		return x.String()
	case bool:
		return strconv.FormatBool(x)
	case float64:
		return strconv.FormatFloat(x, 'f', -1, 64)
	}
	raw, err := json.Marshal(v)
	if err != nil {
		return "–"
	}
	return string(raw)
}

// cellKey tells cells apart: a missing one is not the text that it is shown as.
func cellKey(v any) string {
	if v == nil {
		return "\x00"
	}
	return CellText(v)
}

// cellNumber reads a number; numbers that JSON cannot hold exactly come as text.
func cellNumber(v any) (float64, bool) {
	var n float64
	var err error
	switch x := v.(type) {
	case float64:
		n = x
	case json.Number:
		n, err = x.Float64()
	case string:
		n, err = strconv.ParseFloat(strings.TrimSpace(x), 64)
	default:
		return 0, false
	}
	return n, err == nil && !math.IsNaN(n) && !math.IsInf(n, 0)
}

var timeLayouts = []string{
	time.RFC3339Nano, "2006-01-02T15:04:05.999999999", "2006-01-02 15:04:05.999999999Z07:00", "2006-01-02 15:04:05.999999999-07",
	"2006-01-02 15:04:05.999999999", "2006-01-02 15:04", "2006-01-02T15:04", time.DateOnly, "2006-01",
}

// cellTime reads a date or a point in time.
func cellTime(v any) (time.Time, bool) {
	text, ok := v.(string)
	if !ok {
		return time.Time{}, false
	}
	for _, layout := range timeLayouts {
		if at, err := time.Parse(layout, text); err == nil {
			return at.UTC(), true
		}
	}
	return time.Time{}, false
}

// formatNumber writes a number with the digits that a step of the axis needs, groups
// of three set apart by a blank and a point before decimals: any language reads it.
func formatNumber(v float64, decimals int) string {
	text := strconv.FormatFloat(v, 'f', decimals, 64)
	negative := strings.HasPrefix(text, "-")
	whole, rest, hasRest := strings.Cut(strings.TrimPrefix(text, "-"), ".")
	var b strings.Builder
	if negative && strings.Trim(text, "-0.") != "" {
		b.WriteString("−")
	}
	for i, digit := range whole {
		if i > 0 && (len(whole)-i)%3 == 0 && len(whole) > 4 {
			b.WriteString("\u00a0")
		}
		b.WriteRune(digit)
	}
	if hasRest {
		b.WriteString("." + rest)
	}
	return b.String()
}

// formatValue writes a single value as exactly as is useful: up to four significant
// digits behind the point, never fewer digits than stand before it.
func formatValue(v float64) string {
	if v == math.Trunc(v) && math.Abs(v) < 1e15 {
		return formatNumber(v, 0)
	}
	decimals := 2
	if abs := math.Abs(v); abs > 0 && abs < 1 {
		decimals = min(8, int(math.Ceil(-math.Log10(abs)))+2)
	}
	text := formatNumber(v, decimals)
	if strings.Contains(text, ".") {
		text = strings.TrimRight(strings.TrimRight(text, "0"), ".")
	}
	return text
}

// withUnit puts a unit behind a number; a currency sign stands there, too.
func withUnit(text, unit string) string {
	if unit == "" {
		return text
	}
	return text + "\u00a0" + unit
}
