package figure

import (
	"encoding/json"
	"regexp"
	"slices"
	"strconv"
	"strings"
)

// maxIndexed bounds the cells of all tables that are looked at.
const maxIndexed = 200_000

// A cell is a cell with what it holds.
type cell struct {
	Cell
	value   float64
	number  bool
	text    string // in lower case
	written string // a text in its own case
	date    *day
	column  column // where it stands
	stated  bool   // a constant of the program that gave it: no data
	parts   []cell // of a total, which stands in no table
}

// A grid is a table, prepared.
type grid struct {
	table   Table
	columns []column
	cells   [][]cell
	labels  [][]label // what names each row
	upTo    int       // numbers that a figure may come from by chance: in this table and those before it
	named   int64     // rows that the answer names; -1 until they are counted
	valued  int64     // those of them that its figures were read from

	// The sentence, and the line above its list, for which isNamed was filled.
	namedIn, namedUnder string

	nameIn   names // what it says
	isNamed  []bool
	isMeant  []bool // of the same sentence, once they are needed
	groupsIn []group
	valuesIn []columnValues

	read map[string]names // the sentences that were read, of all tables
}

// constant says that the table holds nothing but constants of the program that gave it.
func (g *grid) constant() bool {
	return g.table.made != nil && g.table.made.known && !g.table.made.readsData
}

// byCode says that code gave the table.
func (g *grid) byCode() bool { return g.table.made != nil && g.table.made.isCode }

// A column knows which words name it and what it measures.
type column struct {
	name  string
	words []string
	unit  string  // that its name has
	share bool    // its name says that it holds percentages or shares
	key   bool    // its name says that it numbers the rows
	time  bool    // its name says that it holds years, months or days
	delta bool    // its name says that it holds changes
	scale float64 // of its numbers, by its name; 1 if that says nothing
}

// A tracer looks up figures in the evidence.
type tracer struct {
	grids    []grid
	numbers  int  // cells that hold numbers
	cut      bool // not all tables were looked at whole
	formulas int  // that are tried for each figure
	e        Evidence
	answer   string
	linked   []cell  // that figures of the answer were read from, or follow from
	parts    []names // lines and sentences of the answer, once they are needed
	work     int     // looks for rows in them that are left
	quoted   int     // places of documents that were compared word for word

	questions, statements, documents []scannedText
	described                        []describedLine
}

// newTracer prepares the evidence, as much of it as may be looked at for so many figures.
func newTracer(answer string, e Evidence, figures int) *tracer {
	t := &tracer{answer: answer, e: e, work: maxWork, formulas: min(maxFormulas, allFormulas/figures)}
	inheritLineage(e.results)
	left := min(maxWork/figures, maxIndexed)
	single := 0 // numbers of results with one row
	read := map[string]names{}
	for _, table := range e.Tables {
		g, before := grid{table: table, named: -1, read: read}, t.numbers
		for _, name := range table.Columns {
			g.columns = append(g.columns, newColumn(name))
		}
		for i, row := range table.Rows {
			if left -= len(row); left < 0 {
				t.cut = true
				break
			}
			cells, labels := make([]cell, len(table.Columns)), []label(nil)
			for j, v := range row {
				if j >= len(table.Columns) {
					break
				}
				c := newCell(Cell{table.ID, i, table.Columns[j]}, v)
				c.column = g.columns[j]
				if c.number {
					t.numbers++
					c.stated = table.made.states(j, table.Columns[j], c.value)
				}
				if l, ok := newLabel(c); ok {
					l.column = j
					labels = append(labels, l)
				}
				cells[j] = c
			}
			g.cells, g.labels = append(g.cells, cells), append(g.labels, labels)
		}
		g.upTo = t.numbers
		if len(g.cells) == 1 && table.made != nil { // what a query was made for competes only with others of the kind
			single += t.numbers - before
			g.upTo = single
		}
		t.grids = append(t.grids, g)
	}
	t.passOnStated()
	return t
}

// passOnStated marks what later results repeat of a stated number that no earlier data
// holds: SELECT revenue FROM an earlier result. Where the engine told what feeds a column,
// its lineage has said so already, and an equal number of the data is data.
func (t *tracer) passOnStated() {
	stated, read := map[float64]bool{}, map[float64]bool{}
	for i := range slices.Backward(t.grids) { // the oldest first
		made := t.grids[i].table.made
		traced := made != nil && made.lineage != nil
		for _, row := range t.grids[i].cells {
			for j := range row {
				c := &row[j]
				switch {
				case !c.number || significantDigits(c.text) < statedDigits:
				case c.stated:
					stated[c.value] = !read[c.value]
				case stated[c.value] && !traced:
					c.stated = true
				default:
					read[c.value] = true
				}
			}
		}
	}
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
	c.unit = unitOfName(c.words)
	for _, w := range c.words {
		switch w {
		case "id", "key", "nr", "no", "uuid", "code":
			c.key = true
		case "year", "jahr", "month", "monat", "quarter", "quartal", "week", "woche", "day", "tag", "hour", "stunde":
			c.time = true
		case "change", "delta", "growth", "diff", "difference", "änderung", "veränderung", "wachstum":
			c.delta = true
		case "pct", "percent", "percentage", "share", "rate", "ratio", "prozent", "anteil", "quote":
			c.share = true
		}
		if by := columnScales[w]; by != 0 {
			c.scale = by
		}
	}
	return c
}

// unitOfName finds the unit in the words of a column's name: the last word, or another that
// is clearly one, such as kwh in kwh_sold. Single letters and the names of periods mean
// other things there.
func unitOfName(words []string) string {
	if i := slices.IndexFunc(words, func(w string) bool { return w == "per" || w == "pro" || w == "je" }); i > 0 {
		words = words[:i] // price_eur_per_kg
	}
	for i, w := range slices.Backward(words) {
		_, ok := unitsOf[w]
		if ok && (i == len(words)-1 || len(w) > 1 && !ambiguousUnits[w]) {
			return w
		}
	}
	return ""
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
		c.text, c.written = strings.ToLower(x), x
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

// fromCells looks for cells that hold the figure. Of several the one counts whose row and
// column the sentence names; among those, one that holds it exactly.
func (t *tracer) fromCells(m mention) (match, bool) {
	if m.date != nil {
		o, ok := t.fromDays(m)
		return match{origin: o, exact: true, pointed: true}, ok
	}
	var best []cell
	var stated []Cell
	score, among, rows := -1, 0, 0 // among so many numbers, and so many rows
	byCode := false
	for gi := range t.grids {
		g := &t.grids[gi]
		for i := range g.cells {
			for j := range g.cells[i] {
				c := g.cells[i][j]
				if !c.number {
					continue
				}
				how := m.holds(c.value, g.columns[j])
				if how == noFit {
					continue
				}
				if c.stated && g.table.made != nil && g.table.made.isText {
					continue // what the caller wrote, such as a report, comes back
				}
				if c.stated {
					stated = append(stated[:min(len(stated), maxCells-1)], c.Cell)
					continue
				}
				s := 2 * t.mentioned(m, gi, i, j)
				if how == exactFit {
					s++
				}
				switch {
				case s > score || s == score && byCode && !g.byCode(): // what was read before what code handed on
					best, score, among, rows, byCode = []cell{c}, s, g.upTo, len(g.cells), g.byCode()
				case s == score && len(best) < maxCells:
					best = append(best, c)
				}
			}
		}
	}
	if len(best) == 0 {
		if y, ok := m.year(); ok {
			if o, found := t.fromDays(mention{date: &day{year: y}, sentence: m.sentence}); found {
				return match{origin: o, exact: true, pointed: true}, true
			}
		}
		if len(stated) > 0 {
			return match{origin: origin{support: Stated, cells: stated}}, true
		}
		return match{}, false
	}
	o := origin{support: FromCell}
	named := score > 1
	if !named && (chance(among, m.digits()) || m.isForeignTo(best, t.gridOf(best[0].Table))) || named && score < 4 && !m.counts(best[0].column) && chance(rows, m.digits()) {
		o.support = Weak
	}
	if o.support == FromCell && named {
		best = best[:1]
	}
	for _, c := range best {
		o.cells = append(o.cells, c.Cell)
	}
	return match{origin: o, cell: best[0], exact: score%2 == 1, pointed: score >= 4 || m.counts(best[0].column)}, true
}

// A match is an origin among the cells.
type match struct {
	origin
	cell    cell
	exact   bool // the cell holds the figure as it is written
	pointed bool // the sentence names its row, or the figure stands beside the name of its column
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
	return (d.year == other.year || d.year == 0) && (d.month == 0 || d.month == other.month) && (d.day == 0 || d.day == max(other.day, 1))
}

// digits is how many significant digits the figure has.
func (m mention) digits() int {
	if len(m.readings) == 0 {
		return 0
	}
	return m.readings[0].digits
}

// A fit says how well a value agrees with a figure.
type fit int

const (
	noFit fit = iota
	roundedFit
	exactFit
)

// holds says how a value of a column may be written as the figure is: as it is, rounded, as
// a percentage, or in another unit of the same kind. Without its sign only where the words
// say that it is negative: a loss of 5 is -5 in the data.
func (m mention) holds(value float64, c column) fit {
	best := noFit
	if u := unitsOf[c.unit]; m.whole.value > 0 && u.kind == "time" && m.whole.fits(value*u.base, m.near) {
		return exactFit
	}
	for _, r := range m.readings {
		v := value
		switch {
		case value < 0 && r.value > 0 && (m.falls || m.bracketed):
			v = -value
		case value > 0 && r.value > 0 && c.delta && m.falls && !m.rises:
			continue // it fell by 5, and the data says that it rose
		}
		try := func(v float64, near closeness) {
			switch {
			case best == exactFit || !r.fits(v, near):
			case r.isExactly(v):
				best = exactFit
			default:
				best = roundedFit
			}
		}
		if c.scale > 1 {
			try(v*c.scale, m.near)
		}
		if !m.inOtherUnit(c) && (!m.share || m.points || c.share || !m.inWords && (v > 1 || v < -1 || v == 0)) {
			try(v, m.near)
		}
		if m.share && (v <= 1 || c.share) {
			try(v*100, m.near)
		}
		if f, ok := convert(c.unit, m.unit); ok {
			try(v*f, m.near)
		}
	}
	return best
}

// inOtherUnit says that the figure is written in another unit than the name of a column
// says: 438 hours of turnaround_min, 3,347 euros of revenue_teur.
func (m mention) inOtherUnit(c column) bool {
	u, own := unitsOf[m.unit], unitsOf[c.unit]
	if u.kind == "" {
		return false
	}
	a, b := currencyOf[m.unit], currencyOf[c.unit]
	return u.kind == own.kind && u.base != own.base || a != "" && b != "" && a != b || c.scale > 1 && u.kind == "money"
}

// isForeignTo says that the figure is written in a unit that no name of its column says, in a
// sentence that names neither row nor column: 655 metres beside 655 vehicles. Amounts of
// money often stand in columns that name no currency, unless another column does.
func (m mention) isForeignTo(cells []cell, g *grid) bool {
	kind := unitsOf[m.unit].kind
	measures := func(c column) bool { return unitsOf[c.unit].kind == kind || kind == "money" && c.scale > 1 }
	if kind == "" || g == nil || m.digits() > hiddenDigits || slices.ContainsFunc(cells, func(c cell) bool { return measures(c.column) }) {
		return false
	}
	return kind != "money" || slices.ContainsFunc(g.columns, measures)
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
