package figure

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
)

// Rows that a sentence chooses by their values: those above or below a limit that it says,
// and the largest or smallest of so many.

// A limit is a number of a sentence that values are held against.
type limit struct {
	of    mention
	above bool
}

// limitPhrases stand before a limit, and say whether values above it are meant.
var limitPhrases = []struct {
	text  string
	above bool
}{
	{"less than", false},
	{"fewer than", false},
	{"lower than", false},
	{"weniger als", false},
	{"at most", false},
	{"höchstens", false},
	{"under", false},
	{"below", false},
	{"unter", false},
	{"more than", true},
	{"greater than", true},
	{"higher than", true},
	{"mehr als", true},
	{"at least", true},
	{"mindestens", true},
	{"over", true},
	{"above", true},
	{"über", true},
	{"exceeding", true},
}

// limitAt reads a number as a limit, by the words before it.
func limitAt(text string, m mention) (limit, bool) {
	if m.date != nil || len(m.readings) == 0 {
		return limit{}, false
	}
	before := strings.TrimRight(strings.ToLower(textBefore(text, m.start)), " €$£*_(")
	for _, p := range limitPhrases {
		if rest, ok := strings.CutSuffix(before, p.text); ok && (rest == "" || !letterAt(rest, len(rest)-1)) {
			return limit{m, p.above}, true
		}
	}
	return limit{}, false
}

// maxLimits bounds the limits and the numbers of rows that are taken from one sentence.
const maxLimits = 4

// readLimits adds to the figures what their sentences choose rows by.
func readLimits(answer string, found []mention) {
	for first := 0; first < len(found); {
		next := first + 1
		for next < len(found) && found[next].written == found[first].written {
			next++
		}
		var limits []limit
		var largest []int
		for _, m := range found[first:next] {
			if l, ok := limitAt(answer, m); ok && len(limits) < maxLimits {
				limits = append(limits, l)
			}
			if n, ok := m.countsLargest(); ok && len(largest) < maxLimits {
				largest = append(largest, n)
			}
		}
		for i := first; i < next; i++ {
			found[i].limits, found[i].largest = limits, largest
		}
		first = next
	}
}

// countsLargest says that a figure counts the first rows of an order: the top two, die drei
// größten.
func (m mention) countsLargest() (int, bool) {
	if m.share || m.date != nil || len(m.readings) == 0 {
		return 0, false
	}
	n := int(m.readings[0].value)
	return n, n >= 2 && n <= maxChosen && (isSuperlative(m.before) || len(m.after) > 0 && isSuperlative(m.after[0]))
}

func isSuperlative(word string) bool {
	return limitWords[word] || len(word) > 4 && (strings.HasSuffix(word, "est") || strings.HasSuffix(word, "sten"))
}

// speaksOf says that the sentence names a column, or that the figure is in its unit.
func (m mention) speaksOf(c column) bool {
	return containsAny(m.sentence, c.words) || unitsOf[m.unit].kind != "" && unitsOf[m.unit].kind == unitsOf[c.unit].kind
}

// measures says that a sentence speaks of a column: by its name, or in its unit.
func (m mention) measures(c column) bool {
	return !c.key && !c.time && (containsAny(m.sentence, c.words) || c.unit != "" && slices.ContainsFunc(m.limits, func(l limit) bool {
		return unitsOf[l.of.unit].kind != "" && unitsOf[l.of.unit].kind == unitsOf[c.unit].kind
	}))
}

// conditions tries the number of rows on one side of a limit, and of those in which one
// column that the sentence names is larger than another.
func (g *grid) conditions(s *search) bool {
	if !g.whole() || len(g.cells) < 2 || len(g.cells) > maxGroupRows || s.m.share || s.m.ratio || s.m.readings[0].value > float64(len(g.cells)) {
		return true
	}
	for j, c := range g.columns {
		if !s.m.measures(c) {
			continue
		}
		for _, l := range s.m.limits {
			if l.of.start == s.m.start {
				continue
			}
			for _, r := range l.of.readings {
				chosen := g.beyond(j, l, r.value)
				if len(chosen) > 0 && len(chosen) < len(g.cells) && !s.try(formula{
					value: float64(len(chosen)), text: fmt.Sprintf("count(%s %s %s)", c.name, map[bool]string{true: ">", false: "<"}[l.above], l.of.text),
					cells: chosen, cue: countCue, pointed: true, spoken: true,
				}) {
					return false
				}
			}
		}
		for k, other := range g.columns {
			if k == j || !s.m.countsPart() || !containsAny(s.m.sentence, c.words) || !s.m.measures(other) || !containsAny(s.m.sentence, other.words) {
				continue
			}
			var chosen []cell
			for _, row := range g.cells {
				if row[j].number && row[k].number && row[j].value > row[k].value {
					chosen = append(chosen, row[j])
				}
			}
			if len(chosen) > 0 && !s.try(formula{value: float64(len(chosen)), text: fmt.Sprintf("count(%s > %s)", c.name, other.name), cells: chosen, cue: countCue, pointed: true, spoken: true}) {
				return false
			}
		}
	}
	return true
}

// countsPart says that the figure counts some of several: four of the eight months.
func (m mention) countsPart() bool {
	return len(m.after) > 0 && (m.after[0] == "of" || m.after[0] == "der" || m.after[0] == "von")
}

// beyond are the cells of a column on one side of a limit, which may be in another unit.
func (g *grid) beyond(col int, l limit, value float64) []cell {
	c := g.columns[col]
	by := max(c.scale, 1)
	if f, ok := convert(c.unit, l.of.unit); ok {
		by = f
	}
	var out []cell
	for _, row := range g.cells {
		x := row[col]
		v := x.value * by
		if l.of.share && c.share && v <= 1 {
			v *= 100
		}
		if x.number && !x.stated && (l.above && v > value || !l.above && v < value) {
			out = append(out, x)
		}
	}
	return out
}

// extremes tries sum, mean and share of the largest and the smallest rows, where the sentence
// says how many. The rows that are here of a longer result are the first of its order.
func (g *grid) extremes(s *search) bool {
	for _, n := range s.m.largest {
		if n > len(g.cells) || len(g.cells) > maxGroupRows || !g.whole() && n != len(g.cells) {
			continue
		}
		for j, c := range g.columns {
			all, _, _ := g.numbers(j, s.m)
			if c.key || c.time || len(all) < n {
				continue
			}
			sorted := slices.SortedFunc(slices.Values(all), func(a, b cell) int { return cmp.Compare(b.value, a.value) })
			whole := 0.0
			for _, x := range all {
				whole += x.value
			}
			for k, chosen := range [][]cell{sorted[:n], sorted[len(sorted)-n:]} {
				of, sum := fmt.Sprintf("%s of the %d %s", c.name, n, []string{"largest", "smallest"}[k]), 0.0
				for _, x := range chosen {
					sum += x.value
				}
				if !s.try(formula{value: sum, text: "sum(" + of + ")", cells: chosen, column: c, cue: sumCue, pointed: true, spoken: s.m.counts(c)}) ||
					!s.try(formula{value: sum / float64(n), text: "avg(" + of + ")", cells: chosen, column: c, cue: meanCue, pointed: true}) ||
					whole != 0 && g.whole() && s.m.share && !s.try(formula{value: sum / whole, text: "sum(" + of + ") / sum(" + c.name + ")", cells: chosen, cue: shareCue, ratio: true, pointed: true}) {
					return false
				}
			}
		}
	}
	return true
}
