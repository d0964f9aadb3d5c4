package figure

import (
	"slices"
	"strings"
	"time"
)

// sameDate says whether another mention is a date within the month or the day of this one.
func (m mention) sameDate(other mention) bool {
	return other.date != nil && other.date.month > 0 && m.date.covers(*other.date)
}

// fromMonthDays looks for a day without its year, as in "from 1 January to 30 June 2025",
// among the dates of what ran and of what the person said. The first and the last day of a
// month count where the month is meant as a whole.
func (t *tracer) fromMonthDays(m mention) (origin, bool) {
	if m.date == nil || m.date.year != 0 {
		return origin{}, false
	}
	for _, texts := range []struct {
		list    []scannedText
		support Support
	}{{t.questions, FromQuestion}, {t.statements, FromStatement}} {
		for _, text := range texts.list {
			if slices.ContainsFunc(text.mentions, func(o mention) bool { return o.date != nil && o.date.names(m.date.month, m.date.day) }) {
				return origin{support: texts.support}, true
			}
		}
	}
	return origin{}, false
}

// names says whether the date is that day of that month, of any year.
func (d day) names(month, n int) bool {
	if d.month == 0 {
		return false
	}
	last := time.Date(d.year, time.Month(d.month)+1, 0, 0, 0, 0, 0, time.UTC).Day()
	return d.month == month && (n == d.day || d.day == 0 && (n == 1 || n == last))
}

// Unexplained returns the figures of an answer that are worth sending back to who wrote it:
// numbers in digits without an origin that neither a description of the data nor the
// condition of a statement holds. Those are too weak an origin to show to a person, but the
// writer took them from there and not from nowhere.
func Unexplained(figures []Figure, e Evidence) []Figure {
	var told []mention
	for _, d := range e.Descriptions {
		found, _ := scanBounded(d.Text)
		told = append(told, found...)
	}
	for _, text := range e.Statements {
		found, _ := scanBounded(text)
		told = append(told, found...)
	}
	told = told[:min(len(told), maxMentions)]
	var out []Figure
	for _, f := range figures {
		if !f.Unsupported() || !strings.ContainsAny(f.Text, "0123456789") {
			continue
		}
		found := scan(f.Text)
		if f.Support == None && len(found) == 1 && slices.ContainsFunc(told, found[0].same) {
			continue
		}
		out = append(out, f)
	}
	return out
}
