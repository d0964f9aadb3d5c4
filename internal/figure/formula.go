package figure

import (
	"fmt"
	"maps"
	"math"
	"slices"
	"strings"
	"time"
)

// Bounds of the search for formulas.
const (
	maxFormulas = 20_000  // for one figure
	allFormulas = 400_000 // for the figures of an answer together
	smallTable  = 12      // rows of a table in which all pairs of a column are tried
	maxChosen   = 40      // cells that pairs are made of
)

// A formula is a value that follows from cells.
type formula struct {
	value   float64
	text    string
	say     func() string // gives the text, where it is built only for a formula that fits
	cells   []cell
	table   string // that was counted
	column  column
	cue     cue  // of the words that speak of it
	ratio   bool // a share or a ratio, so that 0.12 is 12 %
	pointed bool // the answer speaks of its cells
	spoken  bool // words speak of it, whatever the cue
}

// A search tries formulas until one fits that words speak of.
type search struct {
	m       mention
	tried   int
	limit   int // of formulas
	best    formula
	found   bool
	certain bool // the best is spoken of and made of cells that the answer names
}

// try says whether the search goes on.
func (s *search) try(f formula) bool {
	s.tried++
	if !s.m.equals(f) {
		return s.tried < s.limit
	}
	if f.say != nil {
		f.text = f.say()
	}
	certain := f.pointed && (f.spoken || s.m.cues&f.cue != 0)
	if !s.found || certain && !s.certain {
		s.best, s.found, s.certain = f, true, certain
	}
	return !s.certain && s.tried < s.limit
}

// equals says whether the figure may be the value of the formula.
func (m mention) equals(f formula) bool {
	if math.IsNaN(f.value) || math.IsInf(f.value, 0) {
		return false
	}
	if !f.ratio && m.share && !m.points && !f.column.share && slices.ContainsFunc(f.cells, func(c cell) bool { return math.Abs(c.value) > 100 }) {
		return false // a mean of what are no percentages
	}
	if !f.ratio {
		signed := f.cue == differenceCue && m.readings[0].value < 0 // -175: it is the words that say of what
		return m.holds(f.value, f.column) != noFit || signed && m.holds(-f.value, f.column) != noFit
	}
	for _, r := range m.readings {
		value := math.Abs(f.value)
		if by, ok := convert(f.column.unit, m.unit); ok && f.cue == meanCue && r.fits(value*by, m.near) {
			return true // 30.7 cents a unit
		}
		if f.cue == meanCue && f.column.scale > 1 && r.fits(value*f.column.scale, m.near) {
			return true // of revenue in thousands, 140 euros a night
		}
		if m.share && r.fits(value*100, m.near) || !m.share && f.cue&(ratioCue|meanCue) != 0 && r.fits(value, m.near) {
			return true
		}
		if m.share && r.value < 0 && r.fits(f.value*100, m.near) {
			return true
		}
	}
	return false
}

// searchFormulas tries sums, means, differences, shares, ratios and counts.
func (t *tracer) searchFormulas(m mention) *search {
	s := &search{m: m, limit: t.formulas}
	if m.date != nil {
		return s
	}
	for i := range t.grids {
		if t.grids[i].constant() {
			continue
		}
		if !t.grids[i].groups(s) || !t.grids[i].counts(s) || !t.grids[i].conditions(s) || !t.grids[i].aggregates(s) || !t.grids[i].shares(s, t.linked) || !t.grids[i].extremes(s) {
			break
		}
	}
	if !s.certain {
		t.pairs(s)
	}
	return s
}

// fromFormulas looks for a formula over cells that gives the figure.
func (t *tracer) fromFormulas(m mention) (origin, bool) {
	s := t.searchFormulas(m)
	if !s.found {
		return origin{}, false
	}
	if !s.best.pointed && m.digits() > 1 && float64(s.tried) >= 2*math.Pow10(m.digits()) {
		return origin{}, false // so many formulas of cells that nobody named give every figure of its length
	}
	o := origin{support: FromFormula, formula: s.best.text, source: s.best.table}
	spoken := s.best.spoken || m.cues&s.best.cue != 0
	if !s.certain && (!spoken && m.digits() < 4 || chance(s.tried/2, m.digits())) {
		o.support = Weak
	}
	o.cells = placesOf(s.best.cells)
	if o.support == FromFormula && len(s.best.cells) <= 2 { // the answer speaks of them
		for _, c := range s.best.cells {
			if c.Table != "" && !slices.ContainsFunc(t.linked, func(l cell) bool { return l.Cell == c.Cell }) {
				t.linked = append(t.linked, c)
			}
		}
	}
	return o, true
}

// placesOf gives the places of cells, for a total those of its parts. The first part of each
// comes first, so that each column is named where not all cells are.
func placesOf(cells []cell) []Cell {
	var out []Cell
	for i := 0; ; i++ {
		before := len(out)
		for _, c := range cells {
			switch {
			case i < len(c.parts):
				out = append(out, c.parts[i].Cell)
			case i == 0 && c.Table != "":
				out = append(out, c.Cell)
			}
		}
		if len(out) == before || len(out) >= maxCells {
			return out
		}
	}
}

// know adds a figure of the answer itself, of no table, to what formulas are made of.
func (t *tracer) know(m mention) {
	if m.date != nil || len(m.readings) == 0 {
		return
	}
	value := m.readings[0].value
	if m.share {
		value /= 100
	}
	of := newColumn(m.text)
	of.scale = 1 // the value of 4 million has it already
	t.linked = append(t.linked, cell{Cell: Cell{Row: len(t.linked), Column: m.text}, value: value, number: true, column: of})
}

// whole says that all rows of the result are here.
func (g *grid) whole() bool {
	return g.table.Total <= int64(len(g.table.Rows)) && len(g.cells) == len(g.table.Rows)
}

// counts tries the number of rows, of different values, and of rows with a value that
// the sentence names.
func (g *grid) counts(s *search) bool {
	rows := max(int64(len(g.table.Rows)), g.table.Total)
	if !s.try(formula{value: float64(rows), text: "count(*)", table: g.table.ID, cue: countCue | sumCue, pointed: true, spoken: (determiners[s.m.before] || s.m.before == "of" || s.m.before == "von") && len(s.m.after) > 0 || g.table.made.lists(s.m)}) {
		return false
	}
	if !g.whole() {
		return true
	}
	for j, c := range g.columns {
		by := map[string][]cell{}
		for i := range g.cells {
			if x := g.cells[i][j]; x.text != "" && !x.number {
				by[x.text] = append(by[x.text], x)
			}
		}
		if len(by) > 0 && !s.try(formula{value: float64(len(by)), text: fmt.Sprintf("count(distinct %s)", c.name), table: g.table.ID, cue: countCue, pointed: containsAny(s.m.sentence, c.words), spoken: s.m.countsNext(c)}) {
			return false
		}
		for _, value := range slices.Sorted(maps.Keys(by)) {
			cells := by[value]
			if !containsWord(s.m.sentence, value) {
				continue
			}
			if !s.try(formula{value: float64(len(cells)), text: fmt.Sprintf("count(%s = '%s')", c.name, value), cells: cells, cue: countCue, pointed: true, spoken: s.m.digits() > 1}) ||
				!s.try(formula{value: float64(len(cells)) / float64(len(g.cells)), text: fmt.Sprintf("count(%s = '%s') / count(*)", c.name, value), cells: cells, cue: shareCue, ratio: true, pointed: true}) {
				return false
			}
		}
	}
	return true
}

func containsAny(sentence string, words []string) bool {
	for _, w := range words {
		if len(w) > 2 && containsStem(sentence, w) {
			return true
		}
	}
	return false
}

// lists says that a figure is followed by the name of what a statement lists, row by row:
// four runs, of SELECT ... FROM runs.
func (p *program) lists(m mention) bool {
	return p != nil && !p.isCode && len(m.after) > 0 && len(m.after[0]) > 3 && containsStem(p.text, m.after[0]) && !strings.Contains(p.text, "group by")
}

// columnValues are the cells of a column that hold numbers of the data: all, those of rows
// that a sentence names, and the others.
type columnValues struct {
	read               bool
	all, named, others []cell
}

// numbers gives the cells of a column that hold numbers of the data: all, those of rows that
// the sentence names, and the others.
func (g *grid) numbers(col int, m mention) (all, named, others []cell) {
	byRow := g.namedBy(m)
	if g.valuesIn == nil {
		g.valuesIn = make([]columnValues, len(g.columns))
	}
	v := &g.valuesIn[col]
	if v.read {
		return v.all, v.named, v.others
	}
	v.read = true
	for i := range g.cells {
		c := g.cells[i][col]
		if !c.number || c.stated {
			continue
		}
		v.all = append(v.all, c)
		if byRow[i] {
			v.named = append(v.named, c)
		} else {
			v.others = append(v.others, c)
		}
	}
	return v.all, v.named, v.others
}

// aggregates tries sum, mean and span of every column: of all rows, of those that the
// sentence names, and of the others.
func (g *grid) aggregates(s *search) bool {
	for j, c := range g.columns {
		all, named, others := g.numbers(j, s.m)
		if !g.whole() {
			all, others = nil, nil
		}
		for k, set := range [][]cell{all, named, others} {
			if len(set) < 2 || k > 0 && len(named) == 0 {
				continue
			}
			sum, low, high := 0.0, math.Inf(1), math.Inf(-1)
			for _, x := range set {
				sum, low, high = sum+x.value, min(low, x.value), max(high, x.value)
			}
			of := c.name + []string{"", " of the rows named", " of the other rows"}[k]
			if !s.try(formula{value: sum, text: "sum(" + of + ")", cells: set, column: c, cue: sumCue, pointed: true, spoken: s.m.counts(c) || s.m.isWholeOf(c)}) ||
				!s.try(formula{value: sum / float64(len(set)), text: "avg(" + of + ")", cells: set, column: c, cue: meanCue, pointed: true}) ||
				!s.try(formula{value: high - low, text: "max(" + of + ") - min(" + of + ")", cells: set, column: c, cue: differenceCue, pointed: len(set) <= smallTable || k > 0}) {
				return false
			}
		}
	}
	return true
}

// shares tries every cell, and the named rows together, as a part of its column's sum. Where
// the sentence names no row, "together" speaks of the cells that the answer has named.
func (g *grid) shares(s *search, linked []cell) bool {
	if !g.whole() || !s.m.share {
		return true
	}
	for j, c := range g.columns {
		all, named, _ := g.numbers(j, s.m)
		sum, part := 0.0, 0.0
		for _, x := range all {
			sum += x.value
		}
		if len(named) == 0 && s.m.cues&sumCue != 0 {
			named = ofColumn(linked, g.table.ID, c.name)
		}
		for _, x := range named {
			part += x.value
		}
		if sum == 0 || len(all) < 2 {
			continue
		}
		if len(named) > 0 && !s.try(formula{value: part / sum, text: fmt.Sprintf("sum(%s of the rows named) / sum(%s)", c.name, c.name), cells: named, cue: shareCue, ratio: true, pointed: true}) {
			return false
		}
		for _, x := range all {
			if !s.try(formula{value: x.value / sum, text: fmt.Sprintf("%s / sum(%s)", c.name, c.name), cells: []cell{x}, cue: shareCue, ratio: true}) {
				return false
			}
		}
	}
	return true
}

// ofColumn are the different cells of a list that stand in a column.
func ofColumn(list []cell, table, name string) []cell {
	var out []cell
	for _, c := range list {
		if c.Table == table && c.Column == name && !slices.ContainsFunc(out, func(o cell) bool { return o.Cell == c.Cell }) {
			out = append(out, c)
		}
	}
	return out
}

// counts says that the figure is followed by the name of a column: 989 deliveries.
func (m mention) counts(c column) bool {
	for _, w := range m.after {
		if containsAny(w, c.words) {
			return true
		}
	}
	return false
}

// isWholeOf says that the figure is what a part is taken of: 468 of 579 churned accounts.
func (m mention) isWholeOf(c column) bool {
	return (m.before == "of" || m.before == "von") && containsAny(m.sentence, c.words)
}

// countsNext says that the name of a column stands right behind the figure: six teams.
func (m mention) countsNext(c column) bool {
	return len(m.after) > 0 && containsAny(m.after[0], c.words)
}

// pairs tries what two cells give: their difference, sum, ratio and change.
func (t *tracer) pairs(s *search) {
	chosen := append([]cell{}, t.linked...)
	if !t.days(s) {
		return
	}
	pointed := len(chosen)
	for i := range t.grids {
		g := &t.grids[i]
		byRow, meant := g.namedBy(s.m), g.meantBy(s.m)
		for _, first := range []bool{true, false} { // the rows that are meant, then others that are named
			for row := range g.cells {
				if meant[row] != first || !byRow[row] && len(g.cells) > smallTable {
					continue
				}
				for _, c := range g.cells[row] {
					if c.number && !c.stated && len(chosen) < maxChosen {
						chosen = append(chosen, c)
					}
				}
			}
		}
	}
	if !t.rates(s, chosen) {
		return
	}
	for _, ofColumn := range []bool{true, false} { // two values of one column are compared before two columns
		for i, a := range chosen {
			for j, b := range chosen {
				if i == j || a.Cell == b.Cell || ofColumn != (a.Table == b.Table && a.Column == b.Column) || a.Table == b.Table && a.Table != "" && a.Row != b.Row && a.Column != b.Column {
					continue
				}
				named := i < pointed && j < pointed || t.bothNamed(s.m, a, b)
				if !s.product(a, b, named) || !t.meanGrowth(s, a, b) || !s.pair(a, b, named || t.isChangeTo(s.m, a, b), i < j) {
					return
				}
			}
		}
	}
	t.pairTotals(s)
}

func (t *tracer) bothNamed(m mention, a, b cell) bool { return t.isNamed(m, a) && t.isNamed(m, b) }

// isNamed says that the sentence names the row of a cell, or that there is no other. A
// figure of the answer itself names itself.
func (t *tracer) isNamed(m mention, c cell) bool {
	for i := range t.grids {
		if g := &t.grids[i]; g.table.ID == c.Table {
			return len(g.cells) == 1 || g.namedBy(m)[c.Row]
		}
	}
	return c.Table == ""
}

// pair tries two cells; once says that what is the same the other way round is due.
func (s *search) pair(a, b cell, pointed, once bool) bool {
	both := []cell{a, b}
	name := func(c cell) string {
		if c.parts != nil {
			return c.Column
		}
		if c.Table == "" {
			return "(" + c.Column + ")"
		}
		return fmt.Sprintf("%s[%d]", c.Column, c.Row+1)
	}
	of := a.column
	small, large := min(math.Abs(a.value), math.Abs(b.value)), max(math.Abs(a.value), math.Abs(b.value))
	seen := small > 0 && small > large*s.m.resolution()/2 // otherwise a sum or a difference is written as the larger cell is
	switch {
	case once && !seen:
		s.tried += 2
		once = false
	case once:
		if !s.try(formula{value: math.Abs(a.value - b.value), say: func() string { return name(a) + " - " + name(b) }, cells: both, column: of, cue: differenceCue, pointed: pointed}) ||
			!s.try(formula{value: a.value + b.value, say: func() string { return name(a) + " + " + name(b) }, cells: both, column: of, cue: sumCue, pointed: pointed}) {
			return false
		}
	}
	if once && s.m.share && !s.try(formula{value: math.Abs(a.value - b.value), say: func() string { return name(a) + " - " + name(b) }, cells: both, cue: differenceCue, ratio: true, pointed: pointed}) {
		return false
	}
	if b.value == 0 || b.value == 1 { // divided by one it is the cell itself
		return true
	}
	return s.try(formula{value: a.value / b.value, say: func() string { return name(a) + " / " + name(b) }, cells: both, cue: shareCue | ratioCue, ratio: true, pointed: pointed}) &&
		s.try(formula{value: (a.value - b.value) / math.Abs(b.value), say: func() string { return "(" + name(a) + " - " + name(b) + ") / " + name(b) }, cells: both, cue: differenceCue, ratio: true, pointed: pointed}) &&
		(a.Row != b.Row || s.try(formula{value: a.value / b.value, say: func() string { return name(a) + " / " + name(b) }, cells: both, column: of, cue: meanCue, ratio: true, pointed: pointed}))
}

// resolution is the last digit of the figure as a part of it.
func (m mention) resolution() float64 {
	if len(m.readings) == 0 || m.readings[0].value == 0 {
		return 0
	}
	return m.readings[0].unit / math.Abs(m.readings[0].value)
}

// days tries the time between two dates of a row, or of rows that the sentence names.
func (t *tracer) days(s *search) bool {
	per, unit := s.m.span()
	if per == 0 {
		return true
	}
	for i := range t.grids {
		g := &t.grids[i]
		byRow := g.namedBy(s.m)
		for row, cells := range g.cells[:min(len(g.cells), 1000)] {
			named := byRow[row] || len(g.cells) == 1
			for j, a := range cells {
				for _, b := range cells[j+1:] {
					if a.date == nil || b.date == nil {
						continue
					}
					between := math.Abs(b.date.time().Sub(a.date.time()).Hours() / 24 / per)
					if !s.try(formula{value: between, text: fmt.Sprintf("%s from %s[%d] to %s[%d]", unit, a.Column, row+1, b.Column, row+1), cells: []cell{a, b}, pointed: named, spoken: true}) {
						return false
					}
				}
			}
		}
	}
	return true
}

// span says in which unit of days the sentence counts time, behind the figure if it says so.
func (m mention) span() (days float64, name string) {
	for _, in := range []string{strings.Join(m.after, " "), m.sentence} {
		for _, u := range []struct {
			days  float64
			name  string
			words []string
		}{{365.25, "years", []string{"year", "jahr"}}, {30.44, "months", []string{"month", "monat"}}, {7, "weeks", []string{"week", "woche"}}, {1, "days", []string{"day", "tag"}}} {
			if containsOneOf(in, u.words) {
				return u.days, u.name
			}
		}
	}
	return 0, ""
}

func (d day) time() time.Time {
	return time.Date(d.year, time.Month(max(d.month, 1)), max(d.day, 1), 0, 0, 0, 0, time.UTC)
}
