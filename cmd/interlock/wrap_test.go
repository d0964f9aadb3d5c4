package main

import (
	"strings"
	"testing"
	"unicode/utf8"
)

// A table of a narrow terminal keeps every letter of its cells.
func TestWrappedTableKeepsEveryLetter(t *testing.T) {
	t.Parallel()
	head := []string{"compared", "left", "right", "agreement"}
	row := []string{"due_date and payment_date", "2024-06-15", "INV-2024-00446 part 1/2 Überweisung", "are 11 to 30 days apart, the left one first"}
	for _, width := range []int{0, 40, 60, 80, 200} {
		var b strings.Builder
		writeWrapped(&b, head, [][]string{row}, width)
		text := b.String()
		for _, cell := range row {
			for word := range strings.FieldsSeq(cell) {
				if !strings.Contains(text, word) && width >= 60 {
					t.Errorf("at %d columns %q is not in\n%s", width, word, text)
				}
			}
		}
		for line := range strings.Lines(text) {
			if n := utf8.RuneCountInString(strings.TrimRight(line, "\n")); width > 0 && n > width {
				t.Errorf("at %d columns a line has %d:\n%s", width, n, text)
			}
		}
		if letters(text) < letters(strings.Join(row, "")) {
			t.Errorf("at %d columns letters are lost:\n%s", width, text)
		}
	}
}

func letters(text string) int {
	return utf8.RuneCountInString(strings.Join(strings.Fields(text), ""))
}
