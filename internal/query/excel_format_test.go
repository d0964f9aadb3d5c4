package query

import "testing"

func TestParseFormat(t *testing.T) {
	for format, want := range map[string]cellFormat{
		"General": formatNumber, "0": formatNumber, "0.00": formatNumber, "#,##0.00": formatNumber, `#,##0.00 "EUR/kg"`: formatNumber, `"INV-"0`: formatNumber,
		"# ?/?": formatNumber, "# ??/100": formatNumber, "[Red]0.00;[Blue]-0.00": formatNumber, "[>=100]0;[<100]0.0": formatNumber, `\d0`: formatNumber, `0\h`: formatNumber,
		"0.00E+00": formatNumber, "##0.0E+0": formatNumber, `_-* #,##0.00 "€"_-;-* #,##0.00 "€"_-;_-* "-"?? "€"_-;_-@_-`: formatNumber, `[$€-407] #,##0.00`: formatNumber,
		`"days" 0`: formatNumber, `0" Std."`: formatNumber, "[Color 5]0": formatNumber, "": formatNumber, ";;;": formatNumber, `"`: formatNumber, `\`: formatNumber, "[": formatNumber,
		"0%": formatPercent, "0.00%": formatPercent, "[Red]0.0%": formatPercent, "@": formatText,
		"yyyy-mm-dd": formatDate, "dd.mm.yyyy": formatDate, "d mmm yyyy": formatDate, "mmmm yyyy": formatDate, "mmm-yy": formatDate, "[$-407]d. mmmm yyyy": formatDate,
		"[$-F800]dddd, mmmm dd, yyyy": formatDate, "yyyy-mm-dd;@": formatDate, `d"."m"."yy`: formatDate, `yyyy"年"m"月"d"日"`: formatDate, "[$-411]ggge\"年\"m\"月\"d\"日\"": formatDate,
		"DD/MM/YYYY": formatDate, "[Red]dd/mm/yy": formatDate, "m/d/yy": formatDate, "dddd": formatDate, "aaaa": formatDate, "mmmmm": formatDate, "yyyy": formatDate, "m": formatDate, "mm": formatDate,
		"yyyy-mm-dd hh:mm:ss": formatMoment, "m/d/yy h:mm": formatMoment, "dd.mm.yyyy hh:mm": formatMoment, "yyyy-mm-dd hh:mm:ss.000": formatMoment, "d/m/yyyy h:mm AM/PM": formatMoment,
		`yyyy\-mm\-dd\Thh:mm:ss`: formatMoment,
		"h:mm":                   formatTime, "hh:mm:ss": formatTime, "h:mm AM/PM": formatTime, "mm:ss": formatTime, "mm:ss.0": formatTime, "h A/P": formatTime, "ss.00": formatTime, `h"时"mm"分"`: formatTime,
		"[h]:mm:ss": formatDuration, "[hh]:mm": formatDuration, "[mm]:ss": formatDuration, "[s]": formatDuration, "[ss].00": formatDuration, "[H]:MM": formatDuration,
	} {
		got := parseFormat(format)
		if got != want {
			t.Errorf("%q is %d, not %d", format, got, want)
		}
	}
	for id, want := range map[int]cellFormat{0: formatNumber, 4: formatNumber, 9: formatPercent, 12: formatNumber, 14: formatDate, 18: formatTime, 22: formatMoment, 27: formatDate, 36: formatDate, 45: formatTime, 46: formatDuration, 47: formatTime, 48: formatNumber, 49: formatText, 50: formatDate, 58: formatDate, 59: formatNumber} {
		if got := builtinFormat(id); got != want {
			t.Errorf("the built-in format %d is %d, not %d", id, got, want)
		}
	}
}

// Whatever a format is, quoting all of it makes it none for dates, and adding a literal
// changes nothing.
func FuzzParseFormat(f *testing.F) {
	for _, s := range []string{"yyyy-mm-dd", `#,##0.00 "EUR/kg"`, "[h]:mm:ss.000", `\d0;[Red]-0`, "[$-407]d. mmmm yyyy", "上午/下午h", `"`, "[", `\`} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, format string) {
		got := parseFormat(format)
		if got > formatText {
			t.Fatalf("%q is %d", format, got)
		}
		if with := parseFormat(`"ymdhs0%@"` + format); with != got {
			t.Errorf("%q is %d, with a literal before it %d", format, got, with)
		}
	})
}
