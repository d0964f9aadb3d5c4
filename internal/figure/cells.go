package figure

import (
	"encoding/json"
	"regexp"
	"strconv"
	"strings"
)

// maxIndexed bounds the cells of all tables that are looked at.
const maxIndexed = 200_000

// A cell is a cell with what it holds.
type cell struct {
	Cell
	value  float64
	number bool
	text   string // in lower case
	date   *day
	column column // where it stands
}

// A grid is a table, prepared.
type grid struct {
	table   Table
	columns []column
	cells   [][]cell
	labels  [][]string // the texts of each row, in lower case
	upTo    int        // cells that hold numbers, in this table and those before it
}

// A column knows which words name it and what it measures.
type column struct {
	name  string
	words []string
	unit  string  // that its name ends with
	share bool    // its name says that it holds percentages or shares
	key   bool    // its name says that it numbers the rows
	scale float64 // of its numbers, by its name; 1 if that says nothing
}

// A tracer looks up figures in the evidence.
type tracer struct {
	grids    []grid
	numbers  int  // cells that hold numbers
	cut      bool // not all tables were looked at whole
	formulas int  // that are tried for each figure
	e        Evidence
	linked   []cell // that figures of the answer were read from, or follow from

	questions, statements, documents []scannedText
}

// newTracer prepares the evidence, as much of it as may be looked at for so many figures.
func newTracer(e Evidence, figures int) *tracer {
	t := &tracer{e: e, formulas: min(maxFormulas, allFormulas/figures)}
	left := min(maxWork/figures, maxIndexed)
	for _, table := range e.Tables {
		g := grid{table: table}
		for _, name := range table.Columns {
			g.columns = append(g.columns, newColumn(name))
		}
		for i, row := range table.Rows {
			if left -= len(row); left < 0 {
				t.cut = true
				break
			}
			cells, labels := make([]cell, len(table.Columns)), []string(nil)
			for j, v := range row {
				if j >= len(table.Columns) {
					break
				}
				cells[j] = newCell(Cell{table.ID, i, table.Columns[j]}, v)
				cells[j].column = g.columns[j]
				if cells[j].number {
					t.numbers++
				}
				if len(cells[j].text) > 1 && !cells[j].number {
					labels = append(labels, cells[j].text)
				}
			}
			g.cells, g.labels = append(g.cells, cells), append(g.labels, labels)
		}
		g.upTo = t.numbers
		t.grids = append(t.grids, g)
	}
	return t
}

// An origin is what a figure was found to come from.
type origin struct {
	support Support
	cells   []Cell
	formula string
	source  string
}

// maxCells is how many cells of an origin are named.
const maxCells = 8

func (f *Figure) link(o origin) {
	f.Support, f.Formula, f.Source = o.support, o.formula, o.source
	f.Cells = o.cells[:min(len(o.cells), maxCells)]
}

var nameParts = regexp.MustCompile(`[\p{Lu}]?[\p{Ll}\p{Lo}]+|[\p{Lu}]+|\d+`)

func newColumn(name string) column {
	c := column{name: name, scale: 1}
	for _, part := range nameParts.FindAllString(name, -1) {
		c.words = append(c.words, strings.ToLower(part))
	}
	if n := len(c.words); n > 0 {
		if _, ok := unitsOf[c.words[n-1]]; ok {
			c.unit = c.words[n-1]
		}
	}
	for _, w := range c.words {
		switch w {
		case "id", "key", "nr", "no", "uuid", "code":
			c.key = true
		case "pct", "percent", "percentage", "share", "rate", "ratio", "prozent", "anteil", "quote":
			c.share = true
		}
		if by := columnScales[w]; by != 0 {
			c.scale = by
		}
	}
	return c
}

var isoDay = regexp.MustCompile(`^(\d{4})-(\d{2})(?:-(\d{2}))?(?:[T ]|$)`)

func newCell(at Cell, v any) cell {
	c := cell{Cell: at}
	switch x := v.(type) {
	case json.Number:
		n, err := x.Float64()
		c.value, c.number, c.text = n, err == nil, x.String()
	case float64:
		c.value, c.number, c.text = x, true, strconv.FormatFloat(x, 'g', -1, 64)
	case int:
		c.value, c.number, c.text = float64(x), true, strconv.Itoa(x)
	case string:
		x = strings.TrimSpace(x)
		c.text = strings.ToLower(x)
		if m := isoDay.FindStringSubmatch(x); m != nil {
			year, _ := strconv.Atoi(m[1])
			month, _ := strconv.Atoi(m[2])
			d, _ := strconv.Atoi(m[3])
			c.date = &day{year, month, d}
			return c
		}
		if n, err := strconv.ParseFloat(x, 64); err == nil { // exact decimals and large integers come as text
			c.value, c.number = n, true
		}
	}
	return c
}

// fromCells looks for cells that hold the figure.
func (t *tracer) fromCells(m mention) (origin, bool) {
	if m.date != nil {
		return t.fromDays(m)
	}
	var best []cell
	score, among := -1, 0 // among so many numbers
	for gi := range t.grids {
		g := &t.grids[gi]
		for i := range g.cells {
			for j := range g.cells[i] {
				c := g.cells[i][j]
				if !c.number || !m.holds(c.value, g.columns[j]) {
					continue
				}
				switch s := g.mentioned(m, i, j); {
				case s > score:
					best, score, among = []cell{c}, s, g.upTo
				case s == score && len(best) < maxCells:
					best = append(best, c)
				}
			}
		}
	}
	if len(best) == 0 {
		if y, ok := m.year(); ok {
			return t.fromDays(mention{date: &day{year: y}, sentence: m.sentence})
		}
		return origin{}, false
	}
	o := origin{support: FromCell}
	if score == 0 && chance(among, m.digits()) {
		o.support = Weak
	}
	if o.support == FromCell {
		t.linked = append(t.linked, best[0])
		if score > 0 {
			best = best[:1]
		}
	}
	for _, c := range best {
		o.cells = append(o.cells, c.Cell)
	}
	return o, true
}

// year gives the figure as a year, if it can be one.
func (m mention) year() (int, bool) {
	if len(m.text) != 4 || len(m.readings) == 0 {
		return 0, false
	}
	y := int(m.readings[0].value)
	return y, y >= 1900 && y < 2100
}

// fromDays looks for dates that agree in what the figure names of them.
func (t *tracer) fromDays(m mention) (origin, bool) {
	o := origin{support: FromCell}
	for _, g := range t.grids {
		for _, row := range g.cells {
			for _, c := range row {
				if c.date != nil && m.date.covers(*c.date) {
					o.cells = append(o.cells, c.Cell)
				}
			}
		}
	}
	return o, len(o.cells) > 0
}

func (d day) covers(other day) bool {
	return d.year == other.year && (d.month == 0 || d.month == other.month) && (d.day == 0 || d.day == max(other.day, 1))
}

// digits is how many significant digits the figure has.
func (m mention) digits() int {
	if len(m.readings) == 0 {
		return 0
	}
	return m.readings[0].digits
}

// holds says whether a value of a column may be written as the figure is: rounded,
// without its sign, as a percentage, or in another unit of the same kind.
func (m mention) holds(value float64, c column) bool {
	for _, r := range m.readings {
		for _, v := range []float64{value, -value} {
			if v != value && (r.value < 0 || value > 0) {
				continue // a loss of 5 may be -5 in the data; -5 is never 5
			}
			if c.scale > 1 && r.fits(v*c.scale, m.near) {
				return true
			}
			if r.fits(v, m.near) && (!m.share || c.share || !m.inWords && (v > 1 || v == 0)) {
				return true
			}
			if m.share && r.fits(v*100, m.near) && (v <= 1 || c.share) {
				return true
			}
			if f, ok := convert(c.unit, m.unit); ok && r.fits(v*f, m.near) {
				return true
			}
		}
	}
	return false
}

// convert gives the factor from one unit to another of the same kind.
func convert(from, to string) (float64, bool) {
	a, okA := unitsOf[from]
	b, okB := unitsOf[to]
	if !okA || !okB || a.kind != b.kind || a.base == b.base {
		return 0, false
	}
	return a.base / b.base, true
}

// mentioned counts how a sentence speaks of a cell: its row by a text that stands in
// it, its column by its name.
func (g *grid) mentioned(m mention, row, col int) int {
	score := 0
	if g.columns[col].key { // a number of a row is no quantity: order 7 is one, 7 orders are not
		if m.before != "" && containsAny(m.before, g.columns[col].words) {
			return 1
		}
		return 0
	}
	for _, w := range g.columns[col].words {
		if len(w) > 2 && containsStem(m.sentence, w) {
			score++
			break
		}
	}
	for _, label := range g.labels[row] {
		if containsWord(m.sentence, label) {
			score += 2
			break
		}
	}
	return score
}

// containsWord says whether a text stands in a sentence as a whole.
func containsWord(sentence, text string) bool {
	for from := 0; ; {
		i := strings.Index(sentence[from:], text)
		if i < 0 {
			return false
		}
		i += from
		if !letterAt(sentence, i-1) && !letterAt(sentence, i+len(text)) {
			return true
		}
		from = i + 1
	}
}

func letterAt(s string, i int) bool {
	return i >= 0 && i < len(s) && (s[i] >= 'a' && s[i] <= 'z' || s[i] >= '0' && s[i] <= '9' || s[i] >= 0x80)
}

// containsStem says whether a word of the sentence begins like this one: plurals and
// endings do not count.
func containsStem(sentence, word string) bool {
	stem := word
	for _, ending := range []string{"ies", "ed", "es", "s", "y", "e", "n"} {
		if s, ok := strings.CutSuffix(word, ending); ok && len(s) >= 3 {
			stem = s
			break
		}
	}
	for from := 0; ; {
		i := strings.Index(sentence[from:], stem)
		if i < 0 {
			return false
		}
		if i += from; !letterAt(sentence, i-1) {
			return true
		}
		from = i + 1
	}
}
