package queryplan

import (
	"encoding/json"
	"strings"
	"time"
)

// wholeDays compares a moment with days: a day in a plan means all of it, from its
// midnight up to the next. It says false where the comparison is no such one, or
// where midnight decides it alone.
func (q *query) wholeDays(f Filter, left value, path string) (string, bool) {
	if left.kind != Date || left.castKind() == "day" || left.midnight {
		return "", false
	}
	days, some := readDays(f.Value)
	if !some {
		return "", false
	}
	x, at := left.bracketed(), path+".value"
	since := func(i int) string { return x + " >= " + q.literal(days[i].from(), left, at) }
	before := func(i int) string { return x + " < " + q.literal(days[i].from(), left, at) }
	until := func(i int) string { return x + days[i].untilSign() + q.literal(days[i].until(), left, at) }
	after := func(i int) string { return x + days[i].afterSign() + q.literal(days[i].until(), left, at) }
	switch {
	case f.Operator == Between && len(days) == 2 && days[1].whole:
		return since(0) + " AND " + until(1), true
	case f.Operator == NotBetween && len(days) == 2 && days[1].whole:
		return "(" + before(0) + " OR " + after(1) + ")", true
	case f.Operator == In:
		return "(" + eachDay(days, " OR ", func(i int) string {
			if !days[i].whole {
				return x + " = " + q.literal(days[i].from(), left, at)
			}
			return since(i) + " AND " + until(i)
		}) + ")", true
	case f.Operator == NotIn:
		return eachDay(days, " AND ", func(i int) string {
			if !days[i].whole {
				return x + " <> " + q.literal(days[i].from(), left, at)
			}
			return "(" + before(i) + " OR " + after(i) + ")"
		}), true
	case len(days) != 1:
		return "", false
	}
	switch f.Operator {
	case Eq:
		return since(0) + " AND " + until(0), true
	case Ne:
		return "(" + before(0) + " OR " + after(0) + ")", true
	case Le:
		return until(0), true
	case Gt:
		return after(0), true
	}
	return "", false // < and >= mean the midnight at the day's begin
}

func eachDay(days []day, word string, compare func(i int) string) string {
	texts := make([]string, len(days))
	for i := range days {
		texts[i] = compare(i)
	}
	return strings.Join(texts, word)
}

// A day is a value that moments are compared with: a whole day, or a moment.
type day struct {
	text  string
	start time.Time
	whole bool
}

// readDays reads a value or a list of values. It says false where one of them is no
// text, or none is a whole day.
func readDays(raw json.RawMessage) ([]day, bool) {
	var list []json.RawMessage
	if json.Unmarshal(raw, &list) != nil {
		list = []json.RawMessage{raw}
	}
	days, some := make([]day, len(list)), false
	for i, one := range list {
		s, err := readScalar(one)
		if err != nil || s.number || s.truth != nil {
			return nil, false
		}
		t, layout, ok := readDate(s.text)
		if !ok {
			return nil, false
		}
		days[i] = day{s.text, t, layout == time.DateOnly}
		some = some || days[i].whole
	}
	return days, some && len(list) <= maxTexts
}

func (d day) from() scalar { return scalar{text: d.text} }

// until is the first moment after a whole day, or the moment itself.
func (d day) until() scalar {
	if !d.whole {
		return d.from()
	}
	return scalar{text: d.start.AddDate(0, 0, 1).Format(time.DateOnly)}
}

func (d day) untilSign() string {
	if d.whole {
		return " < "
	}
	return " <= "
}

func (d day) afterSign() string {
	if d.whole {
		return " >= "
	}
	return " > "
}
