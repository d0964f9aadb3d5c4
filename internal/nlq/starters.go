package nlq

import (
	"cmp"
	"fmt"
	"slices"

	"interlock/internal/queryplan"
)

// A Starter is a question to begin with that the planner can answer, and its statement.
type Starter struct {
	Question string
	SQL      string
}

// Bounds of the search for starters.
const (
	mostGroups     = 25 // values that a column may have to be grouped by
	triedTables    = 8
	triedQuestions = 6 // of one kind about one table
)

// Starters are questions to begin with: those declared that the planner is sure of, then
// questions made from the schema that it is sure of, one of each kind first. Whoever shows them runs them before.
func (x *Index) Starters(declared []string, most int) []Starter {
	var out []Starter
	try := func(question string) bool {
		if len(out) >= most || slices.ContainsFunc(out, func(s Starter) bool { return s.Question == question }) {
			return false
		}
		a := Plan(Question{Text: question, Index: x, Now: x.today})
		if !a.Sure() || a.Plan == nil || slices.ContainsFunc(out, func(s Starter) bool { return s.SQL == a.SQL }) {
			return false
		}
		out = append(out, Starter{question, a.SQL})
		return true
	}
	for _, q := range declared {
		try(q)
	}
	tables := x.tablesByInterest()
	tables = tables[:min(len(tables), triedTables)]
	for round := range 2 {
		for _, ask := range []func(t int) []string{x.askOverTime, x.askTotals, x.askRanking, x.askCounts, x.askAverages, x.askSize} {
			for k := range tables { // each kind begins with another table
				t := tables[(k+round)%len(tables)]
				questions := ask(t)
				if slices.ContainsFunc(questions[:min(len(questions), triedQuestions)], try) {
					break
				}
			}
		}
	}
	return out
}

// tablesByInterest are the tables that have something to ask about, the richest first: what
// happened when, how much it was, and to whom.
func (x *Index) tablesByInterest() []int {
	score := func(t int) int {
		n := 0
		if x.mainDate(t) >= 0 {
			n += 2
		}
		if x.amountColumn(t) >= 0 {
			n += 2
		}
		if slices.ContainsFunc(x.tables[t].columns, func(id int) bool { return x.columns[id].ref >= 0 }) {
			n++
		}
		if len(x.groupColumns(t)) > 0 {
			n++
		}
		return n
	}
	var out []int
	for t := range x.tables {
		if x.tables[t].rows != 0 {
			out = append(out, t)
		}
	}
	slices.SortStableFunc(out, func(a, b int) int {
		return cmp.Or(-cmp.Compare(score(a), score(b)), -cmp.Compare(x.tables[a].rows, x.tables[b].rows))
	})
	return out
}

// groupColumns are the columns of a table by which its rows fall into a few groups.
func (x *Index) groupColumns(t int) []int {
	var out []int
	for _, id := range x.tables[t].columns {
		if n, ok := x.distinct[id]; ok && n >= 2 && n <= mostGroups && x.columns[id].kind == queryplan.Text && !x.isUnique(id) && !x.columns[id].date {
			out = append(out, id)
		}
	}
	return out
}

// numberColumns are the columns of a table whose numbers measure something; added says that they can be added up.
func (x *Index) numberColumns(t int, added bool) []int {
	var out []int
	if id := x.amountColumn(t); id >= 0 {
		out = append(out, id)
	}
	for _, id := range x.tables[t].columns {
		c := &x.columns[id]
		if !c.isNumeric() || c.key || c.part || c.ref >= 0 || x.onlyNames(c) || added && !x.summable(id) || slices.Contains(out, id) {
			continue
		}
		out = append(out, id)
	}
	return out
}

// onlyNames reports whether the numbers of a column only name things: ids, years, codes.
func (x *Index) onlyNames(c *column) bool {
	return slices.ContainsFunc(c.words, func(w string) bool { return keyWords[w] || w == "year" || w == "zip" || w == "phone" })
}

func (x *Index) rowsNoun(t int) string    { return humanName(x.tables[t].name) }
func (x *Index) columnNoun(id int) string { return humanName(x.columns[id].name) }

func (x *Index) askOverTime(t int) []string {
	var out []string
	if d := x.mainDate(t); d >= 0 {
		for _, id := range x.numberColumns(t, true) {
			out = append(out, fmt.Sprintf("What was the total %s of %s per month?", x.columnNoun(id), x.rowsNoun(t)))
		}
		out = append(out, fmt.Sprintf("How many %s were there per month?", x.rowsNoun(t)), fmt.Sprintf("How many %s by month of %s?", x.rowsNoun(t), x.columnNoun(d)))
	}
	return out
}

func (x *Index) askTotals(t int) []string {
	var out []string
	for _, id := range x.numberColumns(t, true) {
		for _, g := range x.groupColumns(t) {
			out = append(out, fmt.Sprintf("What is the total %s of %s by %s?", x.columnNoun(id), x.rowsNoun(t), x.columnNoun(g)),
				fmt.Sprintf("What is the total %s by %s?", x.columnNoun(id), x.columnNoun(g)))
		}
	}
	return out
}

func (x *Index) askRanking(t int) []string {
	var out []string
	for _, id := range x.tables[t].columns {
		if to := x.columns[id].ref; to >= 0 && to != t && x.rowName(to) >= 0 {
			out = append(out, fmt.Sprintf("Which 5 %s have the most %s?", x.rowsNoun(to), x.rowsNoun(t)))
		}
	}
	if name := x.rowName(t); name >= 0 {
		for _, id := range x.numberColumns(t, false) {
			out = append(out, fmt.Sprintf("Which 5 %s have the highest %s?", x.rowsNoun(t), x.columnNoun(id)))
		}
	}
	return out
}

func (x *Index) askCounts(t int) []string {
	var out []string
	for _, g := range x.groupColumns(t) {
		out = append(out, fmt.Sprintf("How many %s are there per %s?", x.rowsNoun(t), x.columnNoun(g)))
	}
	return out
}

func (x *Index) askAverages(t int) []string {
	var out []string
	for _, id := range x.numberColumns(t, false) {
		for _, g := range x.groupColumns(t) {
			out = append(out, fmt.Sprintf("What is the average %s of %s by %s?", x.columnNoun(id), x.rowsNoun(t), x.columnNoun(g)))
		}
		out = append(out, fmt.Sprintf("What is the average %s of %s?", x.columnNoun(id), x.rowsNoun(t)))
	}
	return out
}

func (x *Index) askSize(t int) []string {
	return []string{fmt.Sprintf("How many %s are there?", x.rowsNoun(t))}
}
