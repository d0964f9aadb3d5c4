package source

import (
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"math/big"
	"regexp"
	"strconv"
	"strings"
	"time"

	"interlock/internal/schema"
)

// A predicate is a condition whose values have the type of its column: bool, int64
// or float64, and the canonical text of everything else.
type predicate struct {
	column schema.Column
	op     schema.Op
	values []any
	form   form
}

// A form other than compare is a condition whose outcome the type decides: nothing
// is greater than what the column can hold.
type form uint8

const (
	compare form = iota
	never        // no row matches
	present      // every row matches in which the column is not NULL
)

// bindValue reads a condition's value as the column's type.
func bindValue(c schema.Column, op schema.Op, value any) (predicate, error) {
	values, err := conditionValues(op, value)
	if err != nil {
		return predicate{}, err
	}
	bind := codecs[c.Type.Kind].bind
	if bind == nil {
		return bindExact(c, op, values)
	}
	p := predicate{column: c, op: op}
	for _, v := range values {
		bound, err := bind(c.Type, v)
		if err != nil {
			return predicate{}, err
		}
		p.values = append(p.values, bound)
	}
	return p, nil
}

// conditionValues gives the single values of a condition: one, a pair or a list.
func conditionValues(op schema.Op, value any) ([]any, error) {
	list, isList := asList(value)
	switch {
	case op == schema.Between && (!isList || len(list) != 2):
		return nil, errors.New("the value must be a pair [from, to]")
	case op == schema.In && (!isList || len(list) == 0):
		return nil, errors.New("the value must be a list with at least one entry")
	case op == schema.In && len(list) > maxListed:
		return nil, fmt.Errorf("the list has %d entries, at most %d are possible", len(list), maxListed)
	case op != schema.Between && op != schema.In && isList:
		return nil, errors.New("the value must be a single value, not a list")
	case !isList:
		list = []any{value}
	}
	return list, nil
}

func asList(value any) ([]any, bool) {
	switch v := value.(type) {
	case []any:
		return v, true
	case []string:
		return toAny(v), true
	case []int:
		return toAny(v), true
	case []int64:
		return toAny(v), true
	case []float64:
		return toAny(v), true
	}
	return nil, false
}

func toAny[T any](list []T) []any {
	wide := make([]any, len(list))
	for i, v := range list {
		wide[i] = v
	}
	return wide
}

var numeralForm = regexp.MustCompile(`^[+-]?(\d{1,80}(\.\d{0,80})?|\.\d{1,80})([eE][+-]?\d{1,2})?$`)

// numberText returns the digits of a number, or of a string that is a number.
func numberText(value any) (string, bool) {
	var text string
	switch v := value.(type) {
	case json.Number:
		text = v.String()
	case string:
		text = strings.TrimSpace(v)
	case int:
		text = strconv.Itoa(v)
	case int64:
		text = strconv.FormatInt(v, 10)
	case uint64:
		text = strconv.FormatUint(v, 10)
	case float64:
		text = strconv.FormatFloat(v, 'g', -1, 64)
	default:
		return "", false
	}
	return text, numeralForm.MatchString(text)
}

// rational reads a number exactly.
func rational(value any) (*big.Rat, bool) {
	text, ok := numberText(value)
	if !ok {
		return nil, false
	}
	return new(big.Rat).SetString(text)
}

// Layouts of a point in time, after the blank between date and time became a T.
var layouts = []string{time.DateOnly, "2006-01-02T15:04", "2006-01-02T15:04:05", "2006-01-02T15:04Z07:00", "2006-01-02T15:04:05Z07:00", "2006-01-02T15:04:05Z07"}

// parseTime reads a date or a point in time; without a zone it is UTC.
func parseTime(text string) (time.Time, bool) {
	if len(text) > 40 {
		return time.Time{}, false
	}
	if len(text) > 10 && text[10] == ' ' {
		text = text[:10] + "T" + text[11:]
	}
	for _, layout := range layouts {
		if t, err := time.Parse(layout, text); err == nil {
			return t.UTC(), true
		}
	}
	return time.Time{}, false
}

var (
	dayForm  = regexp.MustCompile(`^\d{4,6}-\d\d-\d\d$`)
	zoneForm = regexp.MustCompile(`(Z|[+-]\d\d(:?\d\d){0,2})$`)
)

// keepsDay says that a date is one of the embedded engine, which prints it like this.
func keepsDay(text string) bool {
	if text == "infinity" || text == "-infinity" {
		return true
	}
	if !dayForm.MatchString(text) {
		return false
	}
	split := len(text) - 6
	year, _ := strconv.Atoi(text[:split])
	// A cycle of the calendar has 400 years.
	_, real := parseDay(fmt.Appendf(nil, "%04d%s", year%400+400, text[split:]))
	return real && year >= 1 && year <= 294246 && (split == 4 || text[0] != '0')
}

// keepsMoment says the same of a date with a time of day, and an offset or none.
func keepsMoment(text string) bool {
	if text == "infinity" || text == "-infinity" {
		return true
	}
	at := strings.IndexAny(text, " T")
	if at < 0 || !keepsDay(text[:at]) {
		return false
	}
	_, ok := parseClock([]byte(zoneForm.ReplaceAllString(text[at+1:], "")))
	return ok
}

// The canonical texts of times, all in UTC.
const (
	dateText      = time.DateOnly
	timeText      = "15:04:05.000000"
	timestampText = "2006-01-02 15:04:05.000000"
)

func bindTime(column schema.Type, text string) (any, error) {
	if column.Kind == schema.Time {
		for _, layout := range []string{"15:04", "15:04:05"} {
			if t, err := time.Parse(layout, text); err == nil && t.Nanosecond()%1000 == 0 {
				return t.Format(timeText), nil
			}
		}
		return nil, fmt.Errorf("%s is not a time of day like 14:30:00", describeValue(text))
	}
	t, ok := parseTime(strings.TrimSpace(text))
	switch {
	case !ok || t.Year() < 1 || t.Year() > 9999:
		return nil, fmt.Errorf("%s is not a date like 2024-12-31 or a time like 2024-12-31T14:30:00Z", describeValue(text))
	case t.Nanosecond()%1000 != 0:
		return nil, fmt.Errorf("%s is finer than a microsecond", describeValue(text))
	case column.Kind != schema.Date:
		return t.Format(timestampText), nil
	case t != t.Truncate(24*time.Hour):
		return nil, fmt.Errorf("the column holds dates, %s is a time of day on one", describeValue(text))
	}
	return t.Format(dateText), nil
}

func bindUUID(_ schema.Type, text string) (any, error) {
	digits := strings.ReplaceAll(strings.Trim(text, "{}"), "-", "")
	raw, err := hex.DecodeString(digits)
	if err != nil || len(raw) != 16 {
		return nil, fmt.Errorf("%s is not a UUID", describeValue(text))
	}
	return formatUUID([16]byte(raw)), nil
}

func formatUUID(u [16]byte) string {
	h := hex.EncodeToString(u[:])
	return h[:8] + "-" + h[8:12] + "-" + h[12:16] + "-" + h[16:20] + "-" + h[20:]
}

// describeValue quotes a value for a message and shortens it.
func describeValue(value any) string {
	text := fmt.Sprint(value)
	if s, ok := value.(string); ok {
		text = strconv.Quote(s)
	}
	if value == nil {
		text = "null"
	}
	if r := []rune(text); len(r) > 60 {
		text = string(r[:60]) + "…"
	}
	return text
}
