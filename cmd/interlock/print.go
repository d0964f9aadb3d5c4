package main

import (
	"encoding/json"
	"fmt"
	"io"
	"os"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"golang.org/x/term"
)

// printJSON writes a value for programs.
func (a *app) printJSON(v any) {
	enc := json.NewEncoder(a.out)
	enc.SetIndent("", "  ")
	enc.SetEscapeHTML(false)
	if err := enc.Encode(v); err != nil {
		fmt.Fprintf(a.errw, "interlock: %v\n", err)
	}
}

// printRows prints rows as a table, or the value as JSON with --json.
func (a *app) printRows(v any, head []string, rows [][]string) {
	if a.json {
		a.printJSON(v)
		return
	}
	writeTable(a.out, head, rows, terminalWidth(a.out))
}

// terminalWidth is that of the terminal, 0 where the output is none.
func terminalWidth(w io.Writer) int {
	f, ok := w.(*os.File)
	if !ok {
		return 0
	}
	width, _, err := term.GetSize(int(f.Fd()))
	if err != nil {
		return 0
	}
	return width
}

func isTerminal(v any) bool {
	f, ok := v.(*os.File)
	return ok && term.IsTerminal(int(f.Fd()))
}

// maxCell bounds a cell of a table on the terminal.
const maxCell = 60

// writeTable prints aligned columns; width 0 cuts nothing.
func writeTable(w io.Writer, head []string, rows [][]string, width int) {
	wide := make([]int, len(head))
	head = slices.Clone(head)
	for i, h := range head {
		h = oneLine(h)
		head[i] = h
		wide[i] = utf8.RuneCountInString(h)
	}
	for _, row := range rows {
		for i := range row {
			row[i] = oneLine(row[i])
			if i < len(wide) {
				wide[i] = max(wide[i], min(utf8.RuneCountInString(row[i]), maxCell))
			}
		}
	}
	line := func(cells []string) {
		var b strings.Builder
		for i := range wide {
			cell := ""
			if i < len(cells) {
				cell = cutText(cells[i], wide[i])
			}
			b.WriteString(cell)
			if i < len(wide)-1 {
				b.WriteString(strings.Repeat(" ", wide[i]-utf8.RuneCountInString(cell)+2))
			}
		}
		text := strings.TrimRight(b.String(), " ")
		if width > 0 {
			text = cutText(text, width)
		}
		fmt.Fprintln(w, text)
	}
	line(head)
	rule := make([]string, len(head))
	for i := range rule {
		rule[i] = strings.Repeat("─", wide[i])
	}
	line(rule)
	for _, row := range rows {
		line(row)
	}
}

// oneLine makes text safe for a terminal: one line, no control characters.
func oneLine(text string) string {
	return strings.Map(func(r rune) rune {
		switch {
		case r == '\n' || r == '\t' || r == '\r':
			return ' '
		case r < 0x20 || r == 0x7f || (r >= 0x80 && r < 0xa0):
			return -1
		}
		return r
	}, text)
}

// printable drops control characters but keeps lines.
func printable(text string) string {
	return strings.Map(func(r rune) rune {
		if r != '\n' && r != '\t' && (r < 0x20 || r == 0x7f || (r >= 0x80 && r < 0xa0)) {
			return -1
		}
		return r
	}, text)
}

func cutText(text string, n int) string {
	if utf8.RuneCountInString(text) <= n {
		return text
	}
	r := []rune(text)
	return string(r[:max(0, n-1)]) + "…"
}

// cellText shows a JSON value in a table.
func cellText(v any) string {
	switch x := v.(type) {
	case nil:
		return "–"
	case string:
		return x
	case float64:
		if x == float64(int64(x)) && x < 1e15 && x > -1e15 {
			return fmt.Sprintf("%d", int64(x))
		}
		if x < 1e-3 && x > -1e-3 {
			return strconv.FormatFloat(x, 'g', -1, 64) // six decimals would make less of it, or nothing
		}
		return strings.TrimRight(strings.TrimRight(fmt.Sprintf("%.6f", x), "0"), ".")
	}
	raw, err := json.Marshal(v)
	if err != nil {
		return fmt.Sprint(v)
	}
	return string(raw)
}
