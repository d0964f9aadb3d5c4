package machine

import (
	"encoding/json"
	"regexp"
	"strings"
)

// fenced is a block of code in a text.
var fenced = regexp.MustCompile("(?s)```[a-zA-Z0-9]*[ \t]*\r?\n(.*?)\n?[ \t]*```")

// textFuel is the fuel of work that reads a text once: so little that the longest text that a
// model may say can be read.
func textFuel(text string) int { return 1 + len(text)/64 }

// documentIn returns the JSON object or list that a text is, or that stands in its only block
// of code, as it is written; nil if there is none. Other values of JSON are texts as well.
func documentIn(f *frame, args []any) any {
	text, _ := args[0].(string)
	if !f.useFuel(textFuel(text)) {
		return nil
	}
	if blocks := fenced.FindAllStringSubmatch(text, 2); len(blocks) == 1 {
		text = blocks[0][1]
	}
	text = strings.TrimSpace(text)
	if text == "" || text[0] != '{' && text[0] != '[' || !json.Valid([]byte(text)) {
		return nil
	}
	return text
}

// markdownTable writes a Markdown table of a list of column names and a list of rows. What
// is no list of rows gives a table without rows.
func markdownTable(f *frame, args []any) any {
	columns, _ := args[0].([]any)
	rows, _ := args[1].([]any)
	if len(columns) == 0 || !f.useFuel(1+len(columns)*(1+len(rows))) {
		return nil
	}
	var b strings.Builder
	line := func(cell func(i int) string) {
		b.WriteByte('|')
		for i := range columns {
			b.WriteString(" " + cell(i) + " |")
		}
		b.WriteByte('\n')
	}
	line(func(i int) string { return cellText(columns[i]) })
	line(func(int) string { return "---" })
	for _, r := range rows {
		cells, _ := r.([]any)
		line(func(i int) string {
			if i >= len(cells) {
				return ""
			}
			text := cellText(cells[i])
			if !f.useFuel(1 + len(text)/8) { // it is kept, so that its bytes count
				return ""
			}
			return text
		})
		if f.fuel < 0 {
			return nil
		}
	}
	return strings.TrimSuffix(b.String(), "\n")
}

// cellText is a value in one line of a Markdown table.
func cellText(v any) string {
	return strings.NewReplacer(`\`, `\\`, "|", `\|`, "\r\n", " ", "\n", " ", "\r", " ").Replace(valueText(v))
}
