package schema

import (
	"bytes"
	"fmt"
)

// Bounds of YAML that others wrote about a dataset. A parser goes deeper with every bracket
// and every mark on a line.
const (
	maxBrackets  = 100 // open at once
	maxLineMarks = 500 // on one line
	maxIndent    = 200 // columns
)

// maxSigns bounds how often a sign occurs: what the parser does for each of them takes longer
// the more there are.
var maxSigns = []struct {
	sign byte
	most int
}{{':', 20_000}, {'"', 60_000}, {'\'', 60_000}, {',', 50_000}, {'\n', 50_000}, {'[', 20_000}, {'{', 20_000}}

// CostlyYAML says why a text would cost a YAML parser more than its length, and in which line
// (0: in all of it); "" where it would not. It may count too much, never too little.
func CostlyYAML(text []byte) (line int, why string) {
	if line := tooDeep(text); line > 0 {
		return line, "it nests too deep"
	}
	for _, s := range maxSigns {
		if n := bytes.Count(text, []byte{s.sign}); n > s.most {
			return 0, fmt.Sprintf("it has %d times %q, more than the %d that are read", n, s.sign, s.most)
		}
	}
	return 0, ""
}

// tooDeep gives the line that goes beyond the bounds, 0 if none does.
func tooDeep(text []byte) int {
	line, open, marks, indent, leading := 1, 0, 0, 0, true
	for _, b := range text {
		switch b {
		case '[', '{':
			open++
		case ']', '}':
			open = max(open-1, 0)
		case '-', '?', ':', '!', '&', '*':
			if open == 0 {
				marks++
			}
		}
		if leading = leading && (b == ' ' || b == '\t' || b == '-' || b == '?'); leading {
			indent++
		}
		if open > maxBrackets || marks > maxLineMarks || indent > maxIndent {
			return line
		}
		if b == '\n' {
			line, marks, indent, leading = line+1, 0, 0, true
		}
	}
	return 0
}
