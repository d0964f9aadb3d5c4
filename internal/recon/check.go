package recon

import (
	"fmt"
	"slices"
)

// A Problem is something wrong with a recipe, with a JSON pointer to the place.
type Problem struct {
	Pointer string `json:"pointer"`
	Message string `json:"message"`
}

// Check holds a recipe against the columns of both sides and reports every problem.
func (r *Recipe) Check(left, right []string) []Problem {
	var out []Problem
	add := func(pointer, format string, args ...any) {
		out = append(out, Problem{pointer, fmt.Sprintf(format, args...)})
	}
	for i, c := range r.Comparisons {
		at := fmt.Sprintf("/comparisons/%d", i)
		for side, list := range map[string][2][]string{"left": {c.Left, left}, "right": {c.Right, right}} {
			for k, column := range list[0] {
				if !slices.Contains(list[1], column) {
					add(fmt.Sprintf("%s/%s/%d", at, side, k), "the %s side has no column %q", side, column)
				}
			}
		}
	}
	slices.SortFunc(out, func(a, b Problem) int { return slices.Compare([]string{a.Pointer}, []string{b.Pointer}) })
	return out
}
