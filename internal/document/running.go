package document

import (
	"regexp"
	"strings"
	"unicode/utf8"
)

// A line at the top or bottom of so many pages is a running head: it would stand in every passage.
const (
	runningPages  = 5
	runningShare  = 0.1 // of all pages
	runningLength = 120 // characters
	edgeLines     = 2   // at the top and at the bottom that may be running heads
)

var (
	digits     = regexp.MustCompile(`\d+`)
	pageNumber = regexp.MustCompile(`^(?i:(page|seite|p\.|s\.)? ?)([\divxlc]{1,5}|- ?\d{1,5} ?-)( ?(/|of|von) ?\d{1,5})?$`)
	dotLeader  = regexp.MustCompile(`( ?\.){4,}`) // of a table of contents
)

// withoutRunningHeads takes running heads and page numbers away from the pages of a document. A head stays where it
// stands first.
func withoutRunningHeads(pages []string) []string {
	seen := map[string]int{}
	for _, page := range pages {
		for _, line := range edgesOf(page) {
			seen[line]++
		}
	}
	needed := max(runningPages, int(runningShare*float64(len(pages))))
	kept := map[string]bool{}
	out := make([]string, len(pages))
	for i, page := range pages {
		lines := strings.Split(dotLeader.ReplaceAllString(page, " …"), "\n")
		at := edgeIndexes(lines)
		for _, n := range at {
			key := edgeKey(lines[n])
			switch {
			case len(pages) > 1 && pageNumber.MatchString(key):
				lines[n] = ""
			case seen[key] >= needed && kept[key]:
				lines[n] = ""
			case seen[key] >= needed:
				kept[key] = true
			}
		}
		out[i] = strings.TrimSpace(strings.Join(lines, "\n"))
	}
	return out
}

// edgeIndexes are those of the lines at the top and the bottom, without empty ones.
func edgeIndexes(lines []string) []int {
	var full []int
	for i, line := range lines {
		if strings.TrimSpace(line) != "" {
			full = append(full, i)
		}
	}
	if len(full) <= 2*edgeLines {
		return full
	}
	return append(full[:edgeLines:edgeLines], full[len(full)-edgeLines:]...)
}

func edgesOf(page string) []string {
	lines := strings.Split(page, "\n")
	var out []string
	for _, n := range edgeIndexes(lines) {
		if key := edgeKey(lines[n]); utf8.RuneCountInString(key) <= runningLength {
			out = append(out, key)
		}
	}
	return out
}

// edgeKey is the same for heads that differ in the page's number.
func edgeKey(line string) string {
	line = strings.TrimSpace(line)
	if pageNumber.MatchString(line) {
		return line
	}
	return digits.ReplaceAllString(line, "#")
}
