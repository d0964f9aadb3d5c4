package report

import (
	"strings"

	"interlock/internal/fault"
)

// Bounds of Markdown. The parser takes time by the square of each of the last three, and
// memory for every cell that a short row of a table leaves out.
const (
	maxMarkdown = 64 << 10 // bytes
	maxMarks    = 2000     // of emphasis and links between two blank lines
	maxNesting  = 50       // quotes and lists that begin in one line
	maxCells    = 50_000   // of all tables that the text writes out
)

// checkMarkdown refuses text that takes too long to parse.
func checkMarkdown(text string) error {
	if len(text) > maxMarkdown {
		return fault.New(fault.TooLarge, "the report has %d bytes of text; at most %d are allowed", len(text), maxMarkdown).
			Suggest("Show tables by their names instead of writing them out.")
	}
	cells, lines, bars, marks, number := 0, 0, 0, 0, 0
	for line := range strings.Lines(text + "\n\n") { // the blank line ends the last part
		number++
		if strings.Trim(line, " \t\r\n") != "" {
			lines++
			bars = max(bars, strings.Count(line, "|"))
			marks += countMarks(line)
			if countNesting(line) > maxNesting {
				return fault.New(fault.TooLarge, "line %d of the report begins more than %d quotes and lists inside each other", number, maxNesting).
					Suggest("Nest them less deeply.")
			}
			continue
		}
		if marks > maxMarks {
			return fault.New(fault.TooLarge, "the part of the report that ends at line %d has %d marks of emphasis and links (* _ ~ [); at most %d may stand between two blank lines", number, marks, maxMarks).
				Suggest("Put blank lines between paragraphs, or show tables by their names.")
		}
		if bars > 0 {
			cells += (bars + 1) * lines
		}
		if cells > maxCells {
			return fault.New(fault.TooLarge, "the tables that the report writes out have more than %d cells", maxCells).
				Suggest("Show tables by their names instead of writing them out.")
		}
		lines, bars, marks = 0, 0, 0
	}
	return nil
}

// countMarks counts what may begin or end emphasis or a link. An underscore inside a word
// does neither.
func countMarks(line string) int {
	n := 0
	for i := range len(line) {
		switch line[i] {
		case '*', '~', '[':
			n++
		case '_':
			if i == 0 || i+1 == len(line) || !isWordByte(line[i-1]) || !isWordByte(line[i+1]) {
				n++
			}
		}
	}
	return n
}

func isWordByte(c byte) bool {
	return '0' <= c && c <= '9' || 'a' <= c && c <= 'z' || 'A' <= c && c <= 'Z' || c >= 0x80
}

// countNesting counts the quotes and lists that a line begins.
func countNesting(line string) int {
	n := 0
	for i := range len(line) {
		switch c := line[i]; {
		case c == '>':
			n++
		case strings.IndexByte("-+*.)", c) >= 0:
			if i+1 < len(line) && (line[i+1] == ' ' || line[i+1] == '\t') {
				n++
			}
		case c != ' ' && c != '\t' && (c < '0' || c > '9'):
			return n
		}
	}
	return n
}
