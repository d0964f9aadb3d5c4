package demo

import (
	"fmt"
	"strconv"
	"time"
)

// The cells of a table: nil, string, int, bool, raw JSON and these.
type (
	money int64 // in cents
	date  int   // days since 1970
	stamp int64 // seconds since 1970
)

const secondsOfDay = 24 * 60 * 60

func dateOf(year int, month time.Month, day int) date {
	return date(time.Date(year, month, day, 0, 0, 0, 0, time.UTC).Unix() / secondsOfDay)
}

// The data runs over these two years; lastDay is also the day of all exports.
var (
	firstDay = dateOf(2024, time.January, 1)
	lastDay  = dateOf(2025, time.December, 31)
)

func (d date) time() time.Time { return time.Unix(int64(d)*secondsOfDay, 0).UTC() }
func (d date) String() string  { return d.time().Format(time.DateOnly) }

// atSecond returns a moment of the day, in seconds after midnight.
func (d date) atSecond(second int) stamp { return stamp(int64(d)*secondsOfDay + int64(second)) }

func (s stamp) day() date      { return date(s / secondsOfDay) }
func (s stamp) String() string { return time.Unix(int64(s), 0).UTC().Format(time.DateTime) }

func (m money) String() string {
	sign := ""
	if m < 0 {
		sign, m = "-", -m
	}
	return fmt.Sprintf("%s%d.%02d", sign, m/100, m%100)
}

// share is so many hundredths of a percent of an amount, rounded to the cent.
func (m money) share(basisPoints int) money {
	x := int64(m) * int64(basisPoints)
	if x < 0 {
		return money((x - 5000) / 10000)
	}
	return money((x + 5000) / 10000)
}

// cellText writes a cell as delimited text.
func cellText(cell any) string {
	switch v := cell.(type) {
	case nil:
		return ""
	case string:
		return v
	case int:
		return strconv.Itoa(v)
	case bool:
		return strconv.FormatBool(v)
	}
	return fmt.Sprint(cell)
}

// nullUnless returns the cell, or nil for NULL if present is false.
func nullUnless[T any](there bool, v T) any {
	if !there {
		return nil
	}
	return v
}
