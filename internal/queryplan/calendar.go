package queryplan

import (
	"cmp"
	"slices"
	"strings"
	"time"
)

// kinds are the kinds of values that casts distinguish.
var kinds = []string{"number", "float", "text", "day", "time", "bool", "unknown"}

// castKind is the kind of a value in the names of the forms of casts.
func (v value) castKind() string {
	declared := strings.ToUpper(v.declared)
	switch {
	case v.kind == Date && strings.Contains(declared, "DATE") && !strings.Contains(declared, "TIME"):
		return "day"
	case v.kind == Date:
		return "time"
	case v.kind == Number && (declared == "" || strings.Contains(declared, "DOUBLE") || strings.Contains(declared, "FLOAT") || strings.Contains(declared, "REAL")):
		return "float"
	}
	return v.kind.String()
}

// cast converts a value to another type. A value of unknown type is converted by way of
// its text.
func (q *query) cast(e Expr, v value, path string) value {
	if e.Cast == "" {
		return v
	}
	if !slices.Contains(casts, e.Cast) {
		q.fail(path+".cast", "unknown cast %q; use one of %s", e.Cast, list(casts))
		return v
	}
	kind := map[Cast]Kind{ToNumber: Number, ToDate: Date, ToText: Text}[e.Cast]
	if v.kind == kind {
		return v
	}
	from, x := v.castKind(), v.sql
	if from == "unknown" && q.grammar.forms[string(e.Cast)+" of unknown"] == "" {
		from, x = "text", q.grammar.fill("text of unknown", x, "")
	}
	sql := q.fillForm(path+".cast", string(e.Cast)+" of "+from, "cast of a "+from+" to a "+string(e.Cast), x)
	return value{sql: sql, kind: kind, aggregate: v.aggregate, constant: v.constant, compound: q.grammar.isCompound(string(e.Cast) + " of " + from)}
}

// asMoment writes a value as a timestamp; text is converted.
func (q *query) asMoment(v value, path string) string {
	switch {
	case v.kind == Text && v.constant:
		if _, _, ok := readDate(v.written); !ok && !q.grammar.keepsDateForm {
			q.fail(path, "is not a date; write it as 2024-09-15 or 2024-09-15 10:30:00")
		}
		return q.grammar.fill("moment of literal", v.sql, "")
	case v.kind == Text:
		form := "moment of text"
		if q.grammar.forms[form] == "" {
			form = "date of text"
		}
		return q.grammar.fill(form, v.sql, "")
	case v.castKind() == "day":
		return q.grammar.fill("moment of day", v.sql, "")
	case v.kind == Date:
		return q.grammar.fill("moment of time", v.sql, "")
	}
	return v.sql
}

// calendar extracts a part of a date or truncates it to a unit.
func (q *query) calendar(e Expr, v value, path string) value {
	if e.Part == "" && e.Truncate == "" {
		return v
	}
	switch {
	case e.Part != "" && e.Truncate != "":
		q.fail(path, "use part or truncate, not both")
	case e.Part != "" && !slices.Contains(parts, e.Part):
		q.fail(path+".part", "unknown part %q; use one of %s", e.Part, list(parts))
		return v
	case e.Truncate != "" && !slices.Contains(units, e.Truncate):
		q.fail(path+".truncate", "unknown unit %q; use one of %s", e.Truncate, list(units))
		return v
	case v.kind == Number || v.kind == Bool:
		q.fail(path, "%s is a %s and has no calendar; it needs a date", cmpColumn(e), v.kind)
	}
	out := value{kind: Number, aggregate: v.aggregate, constant: v.constant}
	form := "part " + string(e.Part)
	if e.Truncate != "" {
		form, out.kind, out.midnight = "truncate "+string(e.Truncate), Date, e.Truncate != "hour"
		if q.grammar.truncatesToDates && e.Truncate != "hour" {
			out.declared = "DATE"
		}
	}
	out.sql = q.fillForm(path, form, "", q.asMoment(v, path))
	out.compound = q.grammar.isCompound(form)
	return out
}

// layouts are the forms of a date in a plan.
var layouts = []string{time.DateOnly, time.DateTime, time.RFC3339Nano, "2006-01-02T15:04:05", "2006-01-02 15:04", "2006-01-02 15:04:05.999999"}

func readDate(s string) (time.Time, string, bool) {
	for _, layout := range layouts {
		if t, err := time.Parse(layout, s); err == nil {
			return t, layout, true
		}
	}
	return time.Time{}, "", false
}

// date writes a date to compare with, as precise as what it is compared with.
func (q *query) date(t time.Time, layout string, with value, path string) string {
	form := time.DateOnly
	switch {
	case with.castKind() == "day":
	case layout != time.DateOnly || q.grammar.datesAsTimes:
		form = cmp.Or(map[bool]string{true: time.DateTime}[t.Nanosecond() == 0], "2006-01-02 15:04:05.000000")
	}
	if declared := strings.ToUpper(with.declared); layout == time.RFC3339Nano && (strings.Contains(declared, "ZONE") || strings.Contains(declared, "TZ")) {
		q.fail(path, "%s compares no time with a zone of its own here; write it without one", q.dialect.Title())
	}
	return q.grammar.fill("date literal", q.dialect.Text(t.UTC().Format(form)), "")
}
