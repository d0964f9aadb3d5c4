package machine

import (
	"regexp"
	"slices"
)

// writtenNumber is a number as people write it, a date or a time included.
var writtenNumber = regexp.MustCompile(`\d+(?:[.,:/-]\d+)*`)

// newNumbers lists the numbers that are written in the first text and in none of the
// others, each once; what is no text has none.
func newNumbers(f *frame, args []any) any {
	found := make([][]string, len(args))
	for i, a := range args {
		s, _ := a.(string)
		if !f.useFuel(1 + len(s)) {
			return nil
		}
		found[i] = writtenNumber.FindAllString(s, -1)
	}
	fresh := []any{}
	if len(found) == 0 {
		return fresh
	}
	known := map[string]bool{}
	for _, n := range slices.Concat(found[1:]...) {
		known[n] = true
	}
	for _, n := range found[0] {
		if !known[n] {
			known[n] = true
			fresh = append(fresh, n)
		}
	}
	return fresh
}
