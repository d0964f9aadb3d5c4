package fault

import (
	"cmp"
	"slices"
	"strings"
	"unicode/utf8"
)

// Nearest sorts names by how near they are to the one that was asked for: spelling
// first, then the alphabet.
func Nearest(name string, names []string) []string {
	type ranked struct {
		name string
		far  int
	}
	want := strings.ToLower(name)
	all := make([]ranked, len(names))
	for i, n := range names {
		all[i] = ranked{n, distance(want, strings.ToLower(n))}
	}
	slices.SortStableFunc(all, func(a, b ranked) int {
		return cmp.Or(cmp.Compare(a.far, b.far), cmp.Compare(a.name, b.name))
	})
	sorted := make([]string, len(all))
	for i, r := range all {
		sorted[i] = r.name
	}
	return sorted
}

// Similar returns the name that somebody who wrote another may have meant: the nearest,
// where at most a third of its letters differ or one begins with the other; else "".
func Similar(name string, names []string) string {
	if len(names) == 0 {
		return ""
	}
	near := Nearest(name, names)[0]
	if distance(strings.ToLower(name), strings.ToLower(near)) > max(1, (utf8.RuneCountInString(name)+1)/3) {
		return ""
	}
	return near
}

// distance counts the edits (insert, delete, replace, swap of neighbours) between
// two words; a word inside the other counts as near.
func distance(a, b string) int {
	if a == b {
		return 0
	}
	if utf8.RuneCountInString(a) >= 3 && strings.Contains(b, a) || utf8.RuneCountInString(b) >= 3 && strings.Contains(a, b) {
		return 1
	}
	x, y := firstRunes(a), firstRunes(b)
	before, last, row := make([]int, len(y)+1), make([]int, len(y)+1), make([]int, len(y)+1)
	for j := range last {
		last[j] = j
	}
	for i, r := range x {
		row[0] = i + 1
		for j, s := range y {
			cost := 1
			if r == s {
				cost = 0
			}
			row[j+1] = min(row[j]+1, last[j+1]+1, last[j]+cost)
			if i > 0 && j > 0 && r == y[j-1] && x[i-1] == s {
				row[j+1] = min(row[j+1], before[j-1]+1)
			}
		}
		before, last, row = last, row, before
	}
	return last[len(y)]
}

// firstRunes cuts a name, so that a very long one costs little.
func firstRunes(s string) []rune {
	r := []rune(s)
	return r[:min(len(r), 64)]
}
