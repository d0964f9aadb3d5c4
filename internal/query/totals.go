package query

import (
	"fmt"
	"math/big"
	"regexp"
	"strconv"
	"strings"

	"interlock/internal/schema"
)

// totals are the rows of a table that only add up others.
type totals struct {
	rows  []totalRow
	doubt string // why a last row that is called a total is none
}

type totalRow struct {
	at   int64  // its place among the rows, from 0
	text string // its cells
	over string // what it adds up
}

// totalWord is what people call a row of totals, in English and German.
const totalWord = `(?:(?:grand|overall|sub)[ -]?totals?|totals?|sum|gesamt(?:summe|ergebnis)?|summe|zwischensumme|endsumme|insgesamt|ergebnis)`

var (
	// totalLike finds texts that begin or end with such a word.
	totalLike = regexp.MustCompile(`(?i)^[\s*=(\[]*` + totalWord + `(?:[^\pL\pN]|$)|(?:^|[^\pL\pN])` + totalWord + `[\s:.*=)\]]*$`)
	// totalName is a text that says nothing else.
	totalName  = regexp.MustCompile(`(?i)^[\s*=(\[]*` + totalWord + `(?:[\s:-]+` + totalWord + `)?[\s:.*=)\]]*$`)
	totalOf    = regexp.MustCompile(`(?i)^\s*` + totalWord + `[\s:-]+(.+?)[\s:]*$`)
	totalAfter = regexp.MustCompile(`(?i)^\s*(.+?)[\s:-]+` + totalWord + `[\s:.]*$`)
)

// A span is what is known of some rows that follow each other, but for totals among them.
type span struct {
	rows        int64
	sums        []*big.Rat // of each column; nil where it has no number
	least, most []string   // of each column; both "" where a cell is empty
}

func newSpan(columns int) *span {
	return &span{sums: make([]*big.Rat, columns), least: make([]string, columns), most: make([]string, columns)}
}

// add takes further rows in: numbers are compared as such, all else as text.
func (s *span) add(o *span, columns []schema.Column) {
	for i := range s.sums {
		if o.sums[i] != nil {
			if s.sums[i] == nil {
				s.sums[i] = new(big.Rat)
			}
			s.sums[i] = new(big.Rat).Add(s.sums[i], o.sums[i])
		}
		switch {
		case s.rows == 0:
			s.least[i], s.most[i] = o.least[i], o.most[i]
		case s.least[i] == "" || o.least[i] == "":
			s.least[i], s.most[i] = "", ""
		default:
			if isBelow(o.least[i], s.least[i], columns[i]) {
				s.least[i] = o.least[i]
			}
			if isBelow(s.most[i], o.most[i], columns[i]) {
				s.most[i] = o.most[i]
			}
		}
	}
	s.rows += o.rows
}

func isBelow(a, b string, c schema.Column) bool {
	if x, y := exactNumber(a, c), exactNumber(b, c); x != nil && y != nil {
		return x.Cmp(y) < 0
	}
	return a < b
}

// constant is the value that a column has in all of the rows; "" where there is none.
func (s *span) constant(i int) string {
	if s.least[i] == s.most[i] {
		return s.least[i]
	}
	return ""
}

// exactNumber is a cell of a column of numbers; nil for all else.
func exactNumber(cell string, c schema.Column) *big.Rat {
	if cell == "" || !isSummed(c) || len(cell) > 60 {
		return nil
	}
	n, ok := new(big.Rat).SetString(cell)
	if !ok {
		return nil
	}
	return n
}

// A totalJudge goes through the rows that are called totals, from the first to the last.
type totalJudge struct {
	columns []schema.Column
	whole   *span // the whole table, to tell what groups from what is the same throughout
	all     *span // the rows so far that are no totals
	block   *span // those since the last total
}

// judgeTotals decides which rows are totals. The last row must be one; rows above it are where
// each that looks like one adds up what it should, or where the last adds up all that is no
// total. Else all of them stay, and the doubt is said: a row too many is seen by whoever adds
// up, one that is missing is not.
func judgeTotals(columns []schema.Column, rows, sums [][]string) totals {
	j := &totalJudge{columns: columns, whole: newSpan(len(columns)), all: newSpan(len(columns)), block: newSpan(len(columns))}
	blocks := make([]*span, len(rows)+1)
	for _, cells := range sums {
		if k, err := strconv.Atoi(cells[0]); err == nil && k < len(blocks) {
			blocks[k] = j.sumOf(cells[1:])
			j.whole.add(blocks[k], columns)
		}
	}
	var found totals
	doubt, several, whole, looks := "", false, false, false
	for k, cells := range rows {
		if blocks[k] != nil {
			j.take(blocks[k])
		}
		at, _ := strconv.ParseInt(cells[0], 10, 64)
		cells, whole = cells[1:], false
		if looks = j.looksTotal(cells); !looks {
			j.take(j.rowOf(cells))
			continue
		}
		over := j.block
		if whole = j.addsUp(cells, j.all); whole {
			over = j.all
		} else if !j.addsUp(cells, j.block) {
			doubt = j.doubt(cells)
			j.take(j.rowOf(cells))
			continue
		}
		several = several || over.rows > 1
		found.rows = append(found.rows, totalRow{at, rowText(cells), over.words()})
		j.block = newSpan(len(columns))
	}
	n := len(found.rows)
	switch ended := n > 0 && rows[len(rows)-1][0] == strconv.FormatInt(found.rows[n-1].at, 10); {
	case doubt != "" && looks && !(ended && whole):
		return totals{doubt: doubt}
	case !ended || !several:
		return totals{}
	}
	return found
}

// take counts rows that are no totals.
func (j *totalJudge) take(s *span) {
	j.all.add(s, j.columns)
	j.block.add(s, j.columns)
}

// sumOf reads what the engine says of a block.
func (j *totalJudge) sumOf(cells []string) *span {
	s := newSpan(len(j.columns))
	s.rows, _ = strconv.ParseInt(cells[0], 10, 64)
	for i, c := range j.columns {
		s.sums[i], s.least[i], s.most[i] = exactNumber(cells[3*i+1], c), cells[3*i+2], cells[3*i+3]
	}
	return s
}

// rowOf is a single row as a span.
func (j *totalJudge) rowOf(cells []string) *span {
	s := newSpan(len(j.columns))
	s.rows = 1
	for i, c := range j.columns {
		s.sums[i], s.least[i], s.most[i] = exactNumber(cells[i], c), cells[i], cells[i]
	}
	return s
}

// looksTotal says that a row has a name of totals, some number, and beside them only what all
// rows that it stands for have in common.
func (j *totalJudge) looksTotal(cells []string) bool {
	named, counted := false, false
	for i, c := range j.columns {
		switch {
		case cells[i] == "":
		case c.Type.Kind == schema.Text && j.isTotalName(cells[i]):
			named = true
		case isSummed(c):
			counted = counted || !j.groups(i, cells[i])
		case cells[i] != j.block.constant(i):
			return false
		}
	}
	return named && counted
}

// groups says that a number is no sum but tells blocks apart, such as a year: it is the same in
// all rows of this one, and not in all of the table.
func (j *totalJudge) groups(i int, cell string) bool {
	return j.columns[i].Type.Kind == schema.Int && j.block.rows > 1 && cell == j.block.constant(i) && j.whole.constant(i) == ""
}

// isTotalName says that a text calls its row a total: of all, or of the group whose rows are above.
func (j *totalJudge) isTotalName(text string) bool {
	if totalName.MatchString(text) {
		return true
	}
	for _, form := range []*regexp.Regexp{totalOf, totalAfter} {
		m := form.FindStringSubmatch(text)
		for i, c := range j.columns {
			if m != nil && c.Type.Kind == schema.Text && strings.EqualFold(strings.TrimSpace(m[1]), strings.TrimSpace(j.block.constant(i))) {
				return true
			}
		}
	}
	return false
}

// addsUp says that each number of a row is the sum of the rows of a span, and not all are zero.
func (j *totalJudge) addsUp(cells []string, s *span) bool {
	some := false
	for i, c := range j.columns {
		n := exactNumber(cells[i], c)
		if n == nil || j.groups(i, cells[i]) {
			continue
		}
		if s.sums[i] == nil || !isSum(n, s.sums[i], c) || j.continues(n, s, i) {
			return false
		}
		some = some || n.Sign() != 0
	}
	return some
}

// isSum compares a number with a sum; sums of doubles may differ in their last digits.
func isSum(n, sum *big.Rat, c schema.Column) bool {
	if c.Type.Kind != schema.Float {
		return n.Cmp(sum) == 0
	}
	off := new(big.Rat).Sub(n, sum)
	return off.Abs(off).Cmp(new(big.Rat).Mul(new(big.Rat).Abs(sum), big.NewRat(1, 1e9))) <= 0
}

// continues says that a number follows numbers that count rows: 3 after 1 and 2 is their sum as
// well as the next.
func (j *totalJudge) continues(n *big.Rat, s *span, i int) bool {
	least, most := exactNumber(s.least[i], j.columns[i]), exactNumber(s.most[i], j.columns[i])
	if least == nil || most == nil || j.columns[i].Type.Kind != schema.Int {
		return false
	}
	next, width := new(big.Rat).Add(most, big.NewRat(1, 1)), new(big.Rat).Sub(most, least)
	return n.Cmp(next) == 0 && width.Cmp(new(big.Rat).SetInt64(s.rows-1)) == 0
}

// doubt says of a row that is called a total why it is none.
func (j *totalJudge) doubt(cells []string) string {
	for i, c := range j.columns {
		n := exactNumber(cells[i], c)
		if n == nil || j.groups(i, cells[i]) || j.all.sums[i] != nil && isSum(n, j.all.sums[i], c) {
			continue
		}
		sum := "nothing"
		if j.all.sums[i] != nil {
			sum = strings.TrimSuffix(strings.TrimRight(j.all.sums[i].FloatString(max(2, c.Type.Scale)), "0"), ".")
		}
		return fmt.Sprintf("The row %s is called a total, but %s is %s and the rows above it add up to %s: it is a row like any other, and sums count it.", rowText(cells), c.Name, cells[i], sum)
	}
	return fmt.Sprintf("The row %s may be a total or the next row: it is a row like any other, and sums count it.", rowText(cells))
}

// words says which rows a span is.
func (s *span) words() string {
	if s.rows == 1 {
		return "the row above it"
	}
	return fmt.Sprintf("the %d rows above it", s.rows)
}

// rowText writes the cells of a row that have a value.
func rowText(cells []string) string {
	var out []string
	for _, c := range cells {
		if c != "" {
			out = append(out, c)
		}
	}
	return strconv.Quote(strings.Join(out, " | "))
}
