package main

import (
	"fmt"
	"io"
	"strings"
	"unicode/utf8"
)

// minWrapped is the width below which a column is not made narrower.
const minWrapped = 8

// writeWrapped prints aligned columns of which nothing is cut: where the terminal is too
// narrow, the widest columns give way and their cells go on in the next line. Width 0 is
// as wide as it takes.
func writeWrapped(w io.Writer, head []string, rows [][]string, width int) {
	wide := make([]int, len(head))
	for _, row := range append([][]string{head}, rows...) {
		for i := range wide {
			wide[i] = max(wide[i], utf8.RuneCountInString(oneLine(row[i])))
		}
	}
	if width > 0 {
		narrow(wide, width-2*(len(wide)-1))
	}
	writeCells(w, wide, head)
	rule := make([]string, len(wide))
	for i, n := range wide {
		rule[i] = strings.Repeat("─", n)
	}
	writeCells(w, wide, rule)
	for _, row := range rows {
		writeCells(w, wide, row)
	}
}

// narrow makes the widest columns narrower until all have room.
func narrow(wide []int, room int) {
	for {
		sum, widest := 0, 0
		for i, n := range wide {
			if sum += n; n > wide[widest] {
				widest = i
			}
		}
		if sum <= room || wide[widest] <= minWrapped {
			return
		}
		wide[widest]--
	}
}

// writeCells prints a row of a table, in as many lines as its longest cell needs.
func writeCells(w io.Writer, wide []int, row []string) {
	cells := make([][]string, len(wide))
	lines := 1
	for i, n := range wide {
		cells[i] = wrapText(oneLine(row[i]), n)
		lines = max(lines, len(cells[i]))
	}
	for l := range lines {
		var b strings.Builder
		for i, n := range wide {
			cell := ""
			if l < len(cells[i]) {
				cell = cells[i][l]
			}
			b.WriteString(cell + strings.Repeat(" ", max(0, n-utf8.RuneCountInString(cell))+2))
		}
		fmt.Fprintln(w, strings.TrimRight(b.String(), " "))
	}
}

// wrapText breaks a text into lines of at most n letters, between words where it can.
func wrapText(text string, n int) (lines []string) {
	rest := []rune(text)
	for len(rest) > n {
		at := n
		for i := n; i > 0; i-- {
			if rest[i] == ' ' {
				at = i
				break
			}
		}
		lines = append(lines, strings.TrimRight(string(rest[:at]), " "))
		for rest = rest[at:]; len(rest) > 0 && rest[0] == ' '; rest = rest[1:] {
		}
	}
	return append(lines, string(rest))
}
