package figure

import (
	"fmt"
	"maps"
	"slices"
)

// Bounds of the groups of rows that are looked at for a sentence.
const (
	maxGroups    = 12
	maxGroupRows = 5_000 // of a table
)

// A group is the rows of a table that one name of the sentence stands for, such as all rows
// of a region; or all rows, without a name.
type group struct {
	column int // in which the name stands; -1 for all rows
	name   string
	rows   []int
}

// groupsOf finds the groups of a table that the figure's sentence names, in the order of
// the table.
func (g *grid) groupsOf(m mention) []group {
	byRow := g.namedBy(m)
	if g.groupsIn != nil {
		return g.groupsIn
	}
	g.groupsIn = []group{}
	if !g.whole() || len(g.cells) > maxGroupRows {
		return g.groupsIn
	}
	at := map[label]int{}
	for row := range g.cells {
		if !byRow[row] {
			continue
		}
		for _, l := range g.labels[row] {
			if l.kind != textLabel || !g.nameIn.name(l) {
				continue
			}
			i, ok := at[l.key()]
			if !ok {
				if len(g.groupsIn) == maxGroups {
					continue
				}
				i = len(g.groupsIn)
				at[l.key()] = i
				g.groupsIn = append(g.groupsIn, group{column: l.column, name: l.text})
			}
			g.groupsIn[i].rows = append(g.groupsIn[i].rows, row)
		}
	}
	return g.groupsIn
}

// meantBy says which rows the figure's sentence means: of every column in which it names
// something, the row has one of the names. Sales of the North in Q4 are in one row.
func (g *grid) meantBy(m mention) []bool {
	groups := g.groupsOf(m)
	if g.isMeant != nil {
		return g.isMeant
	}
	hits := make([]map[int]bool, len(g.cells)) // columns by which a row is named
	columns := map[int]bool{}
	for _, group := range groups {
		columns[group.column] = true
		for _, row := range group.rows {
			if hits[row] == nil {
				hits[row] = map[int]bool{}
			}
			hits[row][group.column] = true
		}
	}
	g.isMeant = make([]bool, len(g.cells))
	for row := range hits {
		g.isMeant[row] = len(columns) > 0 && len(hits[row]) == len(columns)
	}
	return g.isMeant
}

// total is the sum of a column over the rows of a group, as a cell of no table.
func (g *grid) total(col int, of group) (cell, bool) {
	c := cell{number: true, column: g.columns[col]}
	for _, row := range of.rows {
		x := g.cells[row][col]
		if x.number && !x.stated {
			c.value += x.value
			c.parts = append(c.parts, x)
		}
	}
	c.Column = "sum(" + g.columns[col].name + ")"
	if of.column >= 0 {
		c.Column = fmt.Sprintf("sum(%s of %s)", g.columns[col].name, of.name)
	}
	return c, len(c.parts) > 0
}

// allRows is the group of all rows.
func (g *grid) allRows() group {
	all := group{column: -1, rows: make([]int, len(g.cells))}
	for i := range all.rows {
		all.rows[i] = i
	}
	return all
}

// groups tries sum, mean and share of the rows that one name of the sentence stands for, and
// of those that its names mean together.
func (g *grid) groups(s *search) bool {
	groups := g.groupsOf(s.m)
	if len(groups) == 0 {
		return true
	}
	meant := group{column: 0, name: "the rows named"}
	for row, is := range g.meantBy(s.m) {
		if is {
			meant.rows = append(meant.rows, row)
		}
	}
	whole := g.allRows()
	if len(meant.rows) < len(whole.rows) {
		groups = append(slices.Clip(groups), meant)
	}
	for j, c := range g.columns {
		all, _ := g.total(j, whole)
		for _, of := range groups {
			t, ok := g.total(j, of)
			if !ok || c.key || c.time {
				continue
			}
			n := float64(len(t.parts))
			if n > 1 && (!s.try(formula{value: t.value, text: t.Column, cells: t.parts, column: c, cue: sumCue, pointed: true, spoken: s.m.counts(c)}) ||
				!s.try(formula{value: t.value / n, text: fmt.Sprintf("avg(%s of %s)", c.name, of.name), cells: t.parts, column: c, cue: meanCue, pointed: true})) {
				return false
			}
			if s.m.share && all.value != 0 && len(all.parts) > len(t.parts) &&
				!s.try(formula{value: t.value / all.value, text: t.Column + " / " + all.Column, cells: t.parts, cue: shareCue, ratio: true, pointed: true}) {
				return false
			}
		}
	}
	return true
}

// pairTotals tries what two totals give: of two groups in one column, of two columns in one
// group, and of two columns in all rows.
func (t *tracer) pairTotals(s *search) {
	for i := range t.grids {
		g := &t.grids[i]
		if g.constant() || !g.whole() || len(g.cells) < 2 || len(g.cells) > maxGroupRows {
			continue
		}
		groups := append(slices.Clone(g.groupsOf(s.m)), g.allRows())
		byColumn := map[int][]cell{}
		for n, of := range groups {
			if len(of.rows) < 2 {
				continue
			}
			var across []cell // the totals of all columns in one group
			for j, c := range g.columns {
				if x, ok := g.total(j, of); ok && !c.key && !c.time {
					x.Row = n
					across = append(across, x)
					if of.column >= 0 {
						byColumn[j] = append(byColumn[j], x)
					}
				}
			}
			if s.m.cues&meanCue != 0 { // what every member brings in
				if !s.pairAll(slices.DeleteFunc(slices.Clone(across), func(x cell) bool { return !s.m.speaksOf(x.column) }), true) {
					return
				}
			}
			if !s.pairAll(across, of.column >= 0 || s.m.cues&sumCue != 0) {
				return
			}
		}
		for _, j := range slices.Sorted(maps.Keys(byColumn)) {
			if !s.pairAll(byColumn[j], true) {
				return
			}
		}
	}
}

func (s *search) pairAll(cells []cell, pointed bool) bool {
	for i, a := range cells {
		for j, b := range cells {
			if i != j && !s.pair(a, b, pointed, i < j) {
				return false
			}
		}
	}
	return true
}
