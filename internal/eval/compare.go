package eval

import (
	"cmp"
	"fmt"
	"math"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"
)

// A Result is what a statement gave.
type Result struct {
	Columns []string
	Rows    [][]any
}

// tolerance is how far two numbers may be apart, absolutely or relatively.
const tolerance = 1e-6

// Same reports whether two results agree: as many columns, in any order, and the same
// rows, as a multiset, or in the same order where that was asked for.
func Same(gold, got Result, ordered bool) bool {
	width := len(gold.Columns)
	if width != len(got.Columns) || len(gold.Rows) != len(got.Rows) {
		return false
	}
	want, have := cells(gold.Rows), cells(got.Rows)
	// Which columns of got could be which of gold: those with the same values.
	fits := make([][]int, width)
	for i := range width {
		for j := range width {
			if sameBag(column(want, i), column(have, j)) {
				fits[i] = append(fits[i], j)
			}
		}
		if len(fits[i]) == 0 {
			return false
		}
	}
	tries := 0
	var place func(order []int) bool
	place = func(order []int) bool {
		if len(order) == width {
			tries++
			return sameRows(want, have, order, ordered)
		}
		for _, j := range fits[len(order)] {
			if !slices.Contains(order, j) && place(append(slices.Clone(order), j)) {
				return true
			}
			if tries > 5000 {
				return false
			}
		}
		return false
	}
	return place(nil)
}

func sameRows(want, have [][]cell, order []int, ordered bool) bool {
	turned := make([][]cell, len(have))
	for i, row := range have {
		turned[i] = make([]cell, len(order))
		for k, j := range order {
			turned[i][k] = row[j]
		}
	}
	if !ordered {
		want = slices.Clone(want)
		slices.SortFunc(want, compareRows)
		slices.SortFunc(turned, compareRows)
	}
	return slices.EqualFunc(want, turned, func(a, b []cell) bool { return slices.EqualFunc(a, b, cell.equal) })
}

func sameBag(a, b []cell) bool {
	slices.SortFunc(a, compareCells)
	slices.SortFunc(b, compareCells)
	return slices.EqualFunc(a, b, cell.equal)
}

func column(rows [][]cell, i int) []cell {
	out := make([]cell, len(rows))
	for r, row := range rows {
		out[r] = row[i]
	}
	return out
}

// A cell is a value in a form in which engines agree: numbers as numbers even when
// they are kept as text, timestamps without their empty parts.
type cell struct {
	null   bool
	number bool
	n      float64
	s      string
}

func cells(rows [][]any) [][]cell {
	out := make([][]cell, len(rows))
	for i, row := range rows {
		out[i] = make([]cell, len(row))
		for j, v := range row {
			out[i][j] = newCell(v)
		}
	}
	return out
}

var timestamp = regexp.MustCompile(`^(\d{4}-\d{2}-\d{2})[T ](\d{2}:\d{2}:\d{2})(?:\.0+)?(?:Z|\+00(?::?00)?)?$`)

func newCell(v any) cell {
	switch v := v.(type) {
	case nil:
		return cell{null: true}
	case bool:
		if v {
			return cell{number: true, n: 1}
		}
		return cell{number: true}
	case int:
		return cell{number: true, n: float64(v)}
	case int64:
		return cell{number: true, n: float64(v)}
	case float64:
		return cell{number: true, n: v}
	case time.Time:
		return newCell(v.UTC().Format(time.DateTime))
	case []byte:
		return newCell(string(v))
	case string:
		if n, err := strconv.ParseFloat(v, 64); err == nil && !math.IsNaN(n) && !math.IsInf(n, 0) {
			return cell{number: true, n: n}
		}
		if m := timestamp.FindStringSubmatch(v); m != nil {
			v = strings.TrimSuffix(m[1]+" "+m[2], " 00:00:00")
		}
		return cell{s: v}
	}
	return newCell(fmt.Sprint(v))
}

func (a cell) equal(b cell) bool {
	if a.null || b.null || a.number != b.number {
		return a.null && b.null
	}
	if !a.number {
		return a.s == b.s
	}
	return math.Abs(a.n-b.n) <= tolerance*max(1, math.Abs(a.n), math.Abs(b.n))
}

func compareCells(a, b cell) int {
	rank := func(c cell) int {
		switch {
		case c.null:
			return 0
		case c.number:
			return 1
		}
		return 2
	}
	return cmp.Or(cmp.Compare(rank(a), rank(b)), cmp.Compare(math.Round(a.n*1e5), math.Round(b.n*1e5)), strings.Compare(a.s, b.s))
}

func compareRows(a, b []cell) int { return slices.CompareFunc(a, b, compareCells) }

var (
	quoted  = regexp.MustCompile(`'(?:[^']|'')*'|"(?:[^"]|"")*"`)
	orderBy = regexp.MustCompile(`(?i)\border\s+by\b`)
)

// Ordered reports whether the order of the rows is part of the answer: the statement
// has an ORDER BY outside of brackets.
func Ordered(sql string) bool {
	flat := quoted.ReplaceAllString(sql, "''")
	var outside strings.Builder
	depth := 0
	for _, r := range flat {
		switch {
		case r == '(':
			depth++
		case r == ')':
			depth--
		case depth == 0:
			outside.WriteRune(r)
		}
	}
	return orderBy.MatchString(outside.String())
}
