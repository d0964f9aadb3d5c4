package recon

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
)

// A Problem is something wrong with a recipe, with a JSON pointer to the place.
type Problem struct {
	Pointer string `json:"pointer"`
	Message string `json:"message"`
}

func sortProblems(list []Problem) {
	slices.SortStableFunc(list, func(a, b Problem) int {
		return cmp.Or(cmp.Compare(a.Pointer, b.Pointer), cmp.Compare(a.Message, b.Message))
	})
}

// Check holds a recipe against the columns of both sides and reports every problem.
func (r *Recipe) Check(left, right []string) []Problem {
	out := r.checkReferences()
	column := func(at, side, column string, columns []string) {
		if !slices.Contains(columns, column) {
			out = append(out, Problem{at, fmt.Sprintf("the %s side has no column %q; it has %s", side, column, strings.Join(columns, ", "))})
		}
	}
	for i, c := range r.Comparisons {
		for k, name := range c.Left {
			column(fmt.Sprintf("/comparisons/%d/left/%d", i, k), "left", name, left)
		}
		for k, name := range c.Right {
			column(fmt.Sprintf("/comparisons/%d/right/%d", i, k), "right", name, right)
		}
	}
	if r.Groups != nil {
		for i, b := range r.Groups.Batches {
			side, columns := "left", left
			if b.Many == sideRight {
				side, columns = "right", right
			}
			if b.Column != "" {
				column(fmt.Sprintf("/groups/batches/%d/column", i), side, b.Column, columns)
			}
		}
	}
	sortProblems(out)
	return out
}

// checkBatches reports batches that could not be told apart or found.
func (r *Recipe) checkBatches() (out []Problem) {
	if r.Groups == nil {
		return nil
	}
	taken := map[string]bool{ruleConfirmed: true, ruleScored: true, ruleSum: true}
	for _, rule := range r.Rules {
		taken[rule.ID] = true
	}
	for i, b := range r.Groups.Batches {
		at := fmt.Sprintf("/groups/batches/%d", i)
		if taken[b.ID] {
			out = append(out, Problem{at + "/id", fmt.Sprintf("something else has the id %q", b.ID)})
		}
		taken[b.ID] = true
		switch {
		case b.Column == "" && b.Period == "":
			out = append(out, Problem{at, "a batch needs a column or a period: all rows of a side are none"})
		case b.Column == "" && len(b.Only) > 0:
			out = append(out, Problem{at + "/only", "values need the column that holds them"})
		}
		if firstDate(r.Comparisons) < 0 && (b.Period != "" || b.Days != nil) {
			out = append(out, Problem{at, "a period and days need a comparison of dates"})
		}
		if b.Days != nil && b.Days[0] > b.Days[1] {
			out = append(out, Problem{at + "/days", "the first day must not be after the second"})
		}
	}
	return out
}

// checkReferences reports names inside the document that lead nowhere and values that
// the schema cannot judge.
func (r *Recipe) checkReferences() []Problem {
	var out []Problem
	add := func(at, format string, args ...any) {
		out = append(out, Problem{at, fmt.Sprintf(format, args...)})
	}
	kinds := map[string]Kind{}
	for i, c := range r.Comparisons {
		if _, twice := kinds[c.ID]; twice {
			add(fmt.Sprintf("/comparisons/%d/id", i), "two comparisons have the id %q", c.ID)
		}
		kinds[c.ID] = c.As
		if most := max(len(c.Left), len(c.Right)); c.As == Date && most > 1 {
			add(fmt.Sprintf("/comparisons/%d", i), "a comparison of a date takes one column on each side")
		} else if c.As == Number && most > 2 {
			add(fmt.Sprintf("/comparisons/%d", i), "a comparison of a number takes one column on each side, or two: what came in and what went out")
		}
		for side, format := range map[string]string{"left": c.LeftFormat, "right": c.RightFormat} {
			if format == "" && (c.As == Number || c.As == Date) || c.As == Number && format != decimalPoint && format != decimalComma || c.As == Date && format != isoDate && !slices.Contains(dateFormats, format) {
				add(fmt.Sprintf("/comparisons/%d/%s_format", i, side), "%q is no format of a %s", format, c.As)
			}
		}
	}
	known := func(at, id string) bool {
		_, ok := kinds[id]
		if !ok {
			add(at, "there is no comparison %q", id)
		}
		return ok
	}
	for i, k := range r.Candidates {
		for j, p := range k.All {
			at := fmt.Sprintf("/candidates/%d/all/%d", i, j)
			if known(at+"/compare", p.Compare) && !p.fits(kinds[p.Compare]) {
				add(at+"/by", "a key by %s with width %g does not fit a %s", p.By, p.Width, kinds[p.Compare])
			}
		}
	}
	for i, rule := range r.Rules {
		at := fmt.Sprintf("/rules/%d", i)
		for j, c := range rule.When {
			if known(fmt.Sprintf("%s/when/%d/compare", at, j), c.Compare) {
				if problem := c.problem(kinds[c.Compare]); problem != "" {
					add(fmt.Sprintf("%s/when/%d", at, j), "%s", problem)
				}
			}
		}
		if len(rule.key(r.Comparisons).All) == 0 {
			add(at+"/when", "a rule needs at least one comparison whose values must be equal, by which rows are found")
		}
	}
	out = append(out, r.checkScoring(kinds)...)
	if g := r.Groups; g != nil && known("/groups/amount", g.Amount) && kinds[g.Amount] != Number {
		add("/groups/amount", "sums need a number; %q is a %s", g.Amount, kinds[g.Amount])
	}
	out = append(out, r.checkBatches()...)
	if r.Scoring == nil && len(r.Rules) == 0 && (r.Groups == nil || len(r.Groups.Batches) == 0) {
		add("", "the recipe has neither rules nor batches nor scoring: it would match nothing")
	}
	sortProblems(out)
	return out
}

func (r *Recipe) checkScoring(kinds map[string]Kind) (out []Problem) {
	s := r.Scoring
	if s == nil {
		return nil
	}
	level := func(at, id, level string) {
		if k, ok := kinds[id]; !ok {
			out = append(out, Problem{at, fmt.Sprintf("there is no comparison %q", id)})
		} else if !slices.Contains(k.Levels(), level) {
			out = append(out, Problem{at, fmt.Sprintf("a %s has no level %q; it has %s", k, level, strings.Join(k.Levels(), ", "))})
		}
	}
	for id, weights := range s.Weights {
		for name := range weights {
			level(pointer("scoring", "weights", id, name), id, name)
		}
	}
	for i, p := range s.Patterns {
		for id, name := range p.Levels {
			level(pointer("scoring", "patterns", fmt.Sprint(i), "levels", id), id, name)
		}
	}
	for i := 1; i < len(s.Chances); i++ {
		if s.Chances[i].From <= s.Chances[i-1].From || s.Chances[i].Chance < s.Chances[i-1].Chance {
			out = append(out, Problem{fmt.Sprintf("/scoring/chances/%d", i), "scores and chances must rise"})
		}
	}
	if s.Suggested > s.Auto {
		out = append(out, Problem{"/scoring/suggested", "a suggested match cannot need more than one that needs no eye"})
	}
	return out
}

// fits says whether the key can be made of values of the kind.
func (p KeyPart) fits(k Kind) bool {
	switch p.By {
	case ByPrefix:
		return (k == Text || k == Words || k == Reference) && p.Width >= 1
	case ByBand:
		return k == Number && p.Width > 0 && p.Width < 1
	case ByDays:
		return k == Date && p.Width >= 1
	}
	return p.By == ByValue
}

// problem says what is wrong with a condition on a comparison of the kind.
func (c Condition) problem(k Kind) string {
	switch {
	case (c.Days != nil) == (c.AtLeast != ""):
		return "a condition has either at_least or days"
	case c.Days != nil && k != Date:
		return fmt.Sprintf("days are for dates; %q is a %s", c.Compare, k)
	case c.Days != nil && c.Days[0] > c.Days[1]:
		return "the first day must not be after the second"
	case c.AtLeast != "" && k == Date:
		return "a date needs days"
	case c.AtLeast != "" && !slices.Contains(k.Levels(), c.AtLeast):
		return fmt.Sprintf("a %s has no level %q; it has %s", k, c.AtLeast, strings.Join(k.Levels(), ", "))
	}
	return ""
}
