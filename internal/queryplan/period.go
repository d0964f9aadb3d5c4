package queryplan

import (
	"fmt"
	"regexp"
	"strconv"
	"time"
)

var periodForm = regexp.MustCompile(`^(\d{4})(?:-(?:Q([1-4])|W(\d{2})|(\d{2})(?:-(\d{2}))?))?$`)

// Period reads a period of the calendar (`2024`, `2024-Q3`, `2024-09`, `2024-W37`,
// `2024-09-15`) as its first day and the first day after it.
func Period(s string) (from, until time.Time, err error) {
	m := periodForm.FindStringSubmatch(s)
	if m == nil {
		return from, until, fmt.Errorf("%q is no period; write 2024, 2024-Q3, 2024-09, 2024-W37 or 2024-09-15", s)
	}
	n := func(i int) int { v, _ := strconv.Atoi(m[i]); return v }
	year := n(1)
	day := func(month time.Month, day int) time.Time { return time.Date(year, month, day, 0, 0, 0, 0, time.UTC) }
	switch {
	case m[2] != "":
		from = day(time.Month(n(2)*3-2), 1)
		return from, from.AddDate(0, 3, 0), nil
	case m[3] != "":
		if n(3) < 1 || n(3) > 53 {
			return from, until, fmt.Errorf("%q: a year has weeks 01 to 53", s)
		}
		fourth := day(time.January, 4) // is always in week 1
		from = fourth.AddDate(0, 0, -(int(fourth.Weekday())+6)%7+7*(n(3)-1))
		return from, from.AddDate(0, 0, 7), nil
	case m[5] != "":
		from, err = time.Parse(time.DateOnly, s)
		if err != nil {
			return from, until, fmt.Errorf("%q: there is no such day", s)
		}
		return from, from.AddDate(0, 0, 1), nil
	case m[4] != "":
		if n(4) < 1 || n(4) > 12 {
			return from, until, fmt.Errorf("%q: a year has months 01 to 12", s)
		}
		from = day(time.Month(n(4)), 1)
		return from, from.AddDate(0, 1, 0), nil
	}
	return day(time.January, 1), time.Date(year+1, time.January, 1, 0, 0, 0, 0, time.UTC), nil
}
