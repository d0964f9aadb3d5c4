package meaning

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
)

// Severity of a finding. What has an error is not used; a warning is used all the same.
type Severity string

// The severities.
const (
	Error   Severity = "error"
	Warning Severity = "warning"
)

// A Finding is one fault of a semantic model: what, where and how to repair it.
type Finding struct {
	Code     string   `json:"code"`
	Severity Severity `json:"severity"`
	File     string   `json:"file"`
	Line     int      `json:"line"`
	Path     string   `json:"path,omitempty"` // semantic_model[0].metrics[1]
	Message  string   `json:"message"`
	Repair   string   `json:"repair,omitempty"`
}

// String is the finding in one to three lines, the first beginning with its place.
func (f Finding) String() string {
	var b strings.Builder
	fmt.Fprintf(&b, "%s:%d: %s: %s [%s]", f.File, f.Line, f.Severity, f.Message, f.Code)
	if f.Path != "" {
		fmt.Fprintf(&b, "\n    path: %s", f.Path)
	}
	if f.Repair != "" {
		fmt.Fprintf(&b, "\n    repair: %s", f.Repair)
	}
	return b.String()
}

// Findings is every fault of a file at once.
type Findings []Finding

func (fs Findings) Error() string {
	lines := make([]string, len(fs))
	for i, f := range fs {
		lines[i] = f.String()
	}
	return strings.Join(lines, "\n")
}

// Errors returns the findings of that severity.
func (fs Findings) Errors() Findings {
	return slices.DeleteFunc(slices.Clone(fs), func(f Finding) bool { return f.Severity != Error })
}

// sorted orders findings by place and leaves out repetitions.
func (fs Findings) sorted() Findings {
	slices.SortStableFunc(fs, func(a, b Finding) int { return cmp.Or(cmp.Compare(a.Line, b.Line), cmp.Compare(a.Path, b.Path)) })
	return slices.Compact(fs)
}

// places are the lines of a file's values, by their paths.
type places struct {
	file  string
	lines map[string]int
}

// lineOf is the line of a path, or else of the nearest value around it.
func (p places) lineOf(path string) int {
	for {
		if line, ok := p.lines[path]; ok {
			return line
		}
		cut := strings.LastIndexAny(path, ".[")
		if cut < 0 {
			return 1
		}
		path = path[:cut]
	}
}
