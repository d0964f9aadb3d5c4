package server

import (
	"bytes"
	"encoding/json"
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strings"

	"interlock/internal/engine"
	"interlock/internal/event"
	"interlock/internal/schema"
)

// Bounds of what a text shows of a result.
const (
	shownRows    = 50
	shownColumns = 30
	shownLetters = 200 // of a cell
	shownPrinted = 4000
)

// completionText puts a reply into Markdown, for programs that show a text alone: the answer
// or the question, the rows, the statement that gave them, and the files.
func (s *Server) completionText(r engine.Reply) string {
	if r.Card != nil {
		said := append(slices.Clone(r.Said), cardMarkdown(r.Card))
		return withoutLoads(strings.Join(said, "\n\n"))
	}
	result := shownResult(r.Fields["result"])
	text := r.Text
	if text == "" && cutShort(r) {
		text = errorOf(r.Code).Message
	}
	if text == "" && result.Error.Message != "" {
		text = strings.TrimPrefix(fmt.Sprintf("%s: %s", result.Error.Type, result.Error.Message), ": ")
	}
	parts := []string{withoutLoads(text)}
	if result.addsTo(text) {
		parts = append(parts, result.markdown())
	}
	if result.Stdout != "" {
		parts = append(parts, fenced("", truncateLines(result.Stdout)))
	}
	var details struct {
		SQL string `json:"compiled_sql"`
	}
	if json.Unmarshal(r.Fields["details"], &details) == nil && details.SQL != "" && !strings.Contains(text, details.SQL) {
		parts = append(parts, fenced("sql", truncateLines(details.SQL)))
	}
	if len(r.Artifacts) > 0 {
		names := make([]string, len(r.Artifacts))
		for i, a := range r.Artifacts {
			names[i] = fmt.Sprintf("%s (`%s`)", markdownCell(a.Name), artifactURL(a))
		}
		parts = append(parts, "Files: "+strings.Join(names, ", "))
	}
	return strings.TrimSpace(strings.Join(slices.DeleteFunc(parts, func(p string) bool { return p == "" }), "\n\n"))
}

// A resultView is what a reply says of the rows that a turn found.
type resultView struct {
	Columns []string  `json:"columns"`
	Rows    [][]any   `json:"rows"`
	Count   int       `json:"row_count"`
	Total   int       `json:"total_rows"`
	AtLeast bool      `json:"at_least"`
	Limited bool      `json:"limited"`
	Stdout  string    `json:"stdout"`
	Error   errorData `json:"error"`
}

// shownResult reads the key result of a reply; one of another shape shows nothing. Numbers
// keep their digits.
func shownResult(raw json.RawMessage) (r resultView) {
	dec := json.NewDecoder(bytes.NewReader(raw))
	dec.UseNumber()
	if dec.Decode(&r) != nil {
		return resultView{}
	}
	return r
}

// addsTo says whether the rows tell more than the text: a single value stands in it, and a
// text with a table has shown them.
func (r resultView) addsTo(text string) bool {
	if len(r.Columns) == 0 || len(r.Rows) == 0 || strings.Contains(text, "|---") || strings.Contains(text, "| ---") {
		return false
	}
	return text == "" || len(r.Rows) > 1 || len(r.Columns) > 1
}

// markdown writes the first rows as a table, and how many there are.
func (r resultView) markdown() string {
	columns := r.Columns[:min(len(r.Columns), shownColumns)]
	rows := r.Rows[:min(len(r.Rows), shownRows)]
	var b strings.Builder
	line := func(cell func(i int) string) {
		for i := range columns {
			b.WriteString("| " + cell(i) + " ")
		}
		b.WriteString("|\n")
	}
	line(func(i int) string { return markdownCell(columns[i]) })
	line(func(int) string { return "---" })
	for _, row := range rows {
		line(func(i int) string {
			if i >= len(row) {
				return ""
			}
			return markdownCell(row[i])
		})
	}
	note := schema.RowsShown(len(rows), len(r.Rows), max(r.Count, r.Total, len(r.Rows)), r.Limited && r.Total == 0 || r.AtLeast)
	if n := len(r.Columns); n > len(columns) {
		note += fmt.Sprintf(", the first %d of %d columns", len(columns), n)
	}
	return b.String() + "\n(" + note + ")"
}

// markdownMarks are the characters that mean something in Markdown or HTML. What stands in
// data means nothing there.
var markdownMarks = strings.NewReplacer(`\`, `\\`, "|", `\|`, "`", "\\`", "*", `\*`, "_", `\_`, "[", `\[`, "]", `\]`, "<", "&lt;", "&", "&amp;", "~", `\~`, "!", `\!`, "#", `\#`, "$", `\$`,
	"://", `:\//`, "www.", `www\.`)

// markdownCell is a value in one line of a table.
func markdownCell(v any) string {
	text := ""
	switch v := v.(type) {
	case nil:
		return ""
	case string:
		text = v
	case json.Number:
		return v.String()
	default:
		text = string(encode(v))
	}
	return markdownMarks.Replace(truncate(text, shownLetters))
}

// loading finds what makes a program load something when it shows a text.
var loading = regexp.MustCompile(`(?i)!\[|<(/?(?:img|image|svg|iframe|frame|object|embed|video|audio|source|picture|link|style|script|base|meta|form|input|body|table)\b)`)

// withoutLoads keeps a program that shows Markdown from loading what a model wrote into it: an
// address can carry data away.
func withoutLoads(text string) string {
	return loading.ReplaceAllStringFunc(text, func(found string) string {
		if found == "![" {
			return `!\[`
		}
		return "&lt;" + found[1:]
	})
}

// fenced is a block of code that its content cannot end.
func fenced(language, text string) string {
	fence := "```"
	for strings.Contains(text, fence) {
		fence += "`"
	}
	return fence + language + "\n" + strings.TrimRight(text, "\n") + "\n" + fence
}

// truncateLines cuts a long text and keeps its lines.
func truncateLines(text string) string {
	if r := []rune(text); len(r) > shownPrinted {
		return string(r[:shownPrinted]) + "…"
	}
	return text
}

// cardMarkdown asks what a card asks: title, content and numbered answers. The next message
// is the answer.
func cardMarkdown(card *event.CardRaised) string {
	lines := []string{"**" + markdownCell(card.Title) + "**"}
	content, _ := card.Content.Decode().(map[string]any)
	for _, name := range slices.Sorted(maps.Keys(content)) {
		if text := contentMarkdown(strings.ReplaceAll(name, "_", " "), content[name]); text != "" {
			lines = append(lines, text)
		}
	}
	if len(card.Answers) == 1 && card.Message == card.Answers[0].Name {
		return strings.Join(append(lines, "Reply with your answer."), "\n\n")
	}
	var answers []string
	for i, a := range card.Answers {
		text := fmt.Sprintf("%d. %s", i+1, markdownCell(a.Label))
		if len(a.Fields) > 0 && a.Name != card.Message {
			text += " (only on the page: it has fields)"
		}
		answers = append(answers, text)
	}
	lines = append(lines, strings.Join(answers, "\n"), "Reply with a number; a note may follow it.")
	return strings.Join(lines, "\n\n")
}

// contentMarkdown shows one field of a card.
func contentMarkdown(name string, value any) string {
	switch v := value.(type) {
	case nil:
		return ""
	case string: // quoted, so that it cannot pass for the answers below it
		return "> " + strings.ReplaceAll(withoutLoads(strings.TrimSpace(v)), "\n", "\n> ")
	case []any:
		var items []string
		for _, item := range v[:min(len(v), shownRows)] {
			items = append(items, "- "+cellOf(item))
		}
		return strings.Join(items, "\n")
	case map[string]any:
		var items []string
		for _, key := range slices.Sorted(maps.Keys(v)) {
			if v[key] != nil {
				items = append(items, "- "+markdownCell(strings.ReplaceAll(key, "_", " "))+": "+cellOf(v[key]))
			}
		}
		return markdownCell(name) + ":\n\n" + strings.Join(items, "\n")
	}
	return markdownCell(name) + ": " + markdownCell(value)
}

// cellOf shows a record as its fields, and anything else as a cell.
func cellOf(value any) string {
	record, ok := value.(map[string]any)
	if !ok {
		return markdownCell(value)
	}
	var cells []string
	for _, key := range slices.Sorted(maps.Keys(record)) {
		if record[key] != nil {
			cells = append(cells, markdownCell(key)+" "+markdownCell(record[key]))
		}
	}
	return strings.Join(cells, ", ")
}
