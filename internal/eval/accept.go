package eval

import (
	"fmt"
	"math"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"
)

// accepts reports whether the result holds what the gold statement gives: the columns of
// the gold are among those of the result, row for row. Extra columns do no harm, and where
// one row was asked for, a ranking that begins with it will do.
func (t DialogueTurn) accepts(sql string, gold, got Result) bool {
	factors := []float64{1}
	if t.Percent {
		factors = []float64{1, 100, 0.01}
	}
	for _, f := range factors {
		if holds(gold.Rows, got.Rows, len(got.Columns), t.Ordered, f) {
			return true
		}
		if len(gold.Rows) == 1 && len(got.Rows) > 1 && strings.HasSuffix(sql, " LIMIT 1") && holds(gold.Rows, got.Rows[:1], len(got.Columns), t.Ordered, f) {
			return true
		}
	}
	return false
}

// holds reports whether the columns of gold are among the columns of the result.
func holds(gold, got [][]any, width int, ordered bool, factor float64) bool {
	if len(gold) != len(got) || len(gold) == 0 {
		return len(gold) == len(got)
	}
	n := len(gold[0])
	if n > width {
		return false
	}
	fits := make([][]int, n)
	for i := range n {
		for j := range width {
			if matchRows(gold, got, []int{i}, []int{j}, ordered, factor) {
				fits[i] = append(fits[i], j)
			}
		}
		if len(fits[i]) == 0 {
			return false
		}
	}
	mine := make([]int, n)
	for i := range mine {
		mine[i] = i
	}
	tries := 0
	var place func(columns []int) bool
	place = func(columns []int) bool {
		if len(columns) == n {
			tries++
			return matchRows(gold, got, mine, columns, ordered, factor)
		}
		for _, j := range fits[len(columns)] {
			if tries <= 2000 && !slices.Contains(columns, j) && place(append(slices.Clone(columns), j)) {
				return true
			}
		}
		return false
	}
	return place(nil)
}

// matchRows reports whether each gold row is a row of the result, one to one, in the columns
// given.
func matchRows(gold, got [][]any, mine, theirs []int, ordered bool, factor float64) bool {
	same := func(a, b []any) bool {
		for k := range mine {
			if !sameValue(a[mine[k]], b[theirs[k]], factor) {
				return false
			}
		}
		return true
	}
	if ordered {
		return slices.EqualFunc(gold, got, same)
	}
	left := slices.Clone(got)
	for _, row := range gold {
		i := slices.IndexFunc(left, func(b []any) bool { return same(row, b) })
		if i < 0 {
			return false
		}
		left = slices.Delete(left, i, i+1)
	}
	return true
}

var (
	monthForm   = regexp.MustCompile(`^\d{4}-\d{2}$`)
	quarterForm = regexp.MustCompile(`^(\d{4})-Q([1-4])$`)
	yearForm    = regexp.MustCompile(`^\d{4}$`)
	dayForm     = regexp.MustCompile(`^\d{4}-\d{2}-\d{2}`)
	nothings    = []string{"", "none", "null", "n/a", "unknown", "(none)", "(null)", "missing"}
)

// sameValue reports whether a value of the gold and one of the result are the same: case
// does not count, nor how a period is written.
func sameValue(gold, got any, factor float64) bool {
	text := func(v any) string {
		switch v := v.(type) {
		case nil:
			return ""
		case []byte:
			return strings.TrimSpace(string(v))
		case time.Time:
			return strings.TrimSuffix(v.UTC().Format(time.DateTime), " 00:00:00")
		case float64:
			return strconv.FormatFloat(v, 'f', -1, 64)
		}
		return strings.TrimSpace(fmt.Sprint(v))
	}
	g, t := text(gold), text(got)
	if gold == nil || got == nil {
		return slices.Contains(nothings, strings.ToLower(g)) && slices.Contains(nothings, strings.ToLower(t))
	}
	_, isText := gold.(string)
	switch {
	case isText && monthForm.MatchString(g):
		return strings.HasPrefix(t, g) || t == strings.ReplaceAll(g, "-", "")
	case isText && quarterForm.MatchString(g):
		m := quarterForm.FindStringSubmatch(g)
		q, _ := strconv.Atoi(m[2])
		return strings.HasPrefix(t, fmt.Sprintf("%s-%02d", m[1], 3*q-2)) || strings.EqualFold(strings.ReplaceAll(t, " ", "-"), g) || t == m[2]
	case isText && yearForm.MatchString(g):
		return t == g || strings.HasPrefix(t, g+"-01-01")
	case isText && dayForm.MatchString(g):
		return len(t) >= 10 && t[:10] == g[:10]
	}
	a, errA := number(gold, g)
	b, errB := number(got, t)
	if errA == nil && errB == nil {
		return close(a, b*factor)
	}
	if errA == nil && a >= 1900 && a <= 2100 && strings.HasPrefix(t, fmt.Sprintf("%.0f-01-01", a)) {
		return true
	}
	flat := func(s string) string {
		return strings.Join(strings.Fields(strings.ToLower(strings.ReplaceAll(s, "_", " "))), " ")
	}
	return flat(g) == flat(t)
}

func number(v any, text string) (float64, error) {
	if b, ok := v.(bool); ok {
		if b {
			return 1, nil
		}
		return 0, nil
	}
	return strconv.ParseFloat(strings.TrimSpace(strings.TrimSuffix(text, "%")), 64)
}

// close reports whether two numbers are equal but for rounding.
func close(a, b float64) bool {
	if math.Abs(a-b) <= 1e-4*max(math.Abs(a), math.Abs(b))+1e-9 {
		return true
	}
	return a != math.Round(a) && math.Abs(a) >= 1 && math.Abs(a-b) <= 0.005001 && math.Abs(math.Round(b*100)/100-b) < 1e-9
}
