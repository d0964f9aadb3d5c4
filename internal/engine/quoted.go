package engine

import (
	"encoding/json"
	"slices"
	"strconv"
	"strings"

	"interlock/internal/figure"
)

// Bounds of the search for quoted results.
const (
	quotableRows = 2000 // of a result that are compared with the text
	quotableText = 3    // letters of the shortest cell that counts as quoted
)

// A resultTable is the result of a call that has columns and rows.
type resultTable struct {
	call    string
	numbers []float64
	texts   []string
}

// quotedCall returns the call of this turn whose result the model's answer quotes, as
// `event.quoted` shows it to the machine: of several the last. It is nil if the text
// quotes no result that has columns and rows.
func (r *rules) quotedCall(text string) map[string]any {
	lines := r.f.Turn.Lines
	var tables []resultTable
	for _, l := range lines {
		if t, ok := tableOf(l); ok {
			tables = append(tables, t)
		}
	}
	if len(tables) == 0 {
		return nil
	}
	quoted := tables[0].call
	if len(tables) > 1 {
		quoted = lastQuoted(text, tables)
	}
	i := slices.IndexFunc(lines, func(l line) bool { return quoted != "" && l.Call == quoted })
	if i < 0 {
		return nil
	}
	return map[string]any{
		"call": quoted, "tool": lines[i].Tool, "args": lines[i].args.Decode(), "result": lines[i].Result.Decode(),
	}
}

// tableOf returns the cells of a call's result, if it is a table.
func tableOf(l line) (resultTable, bool) {
	if l.Role != "tool" || l.Failed || !l.Result.Resolved() {
		return resultTable{}, false
	}
	var shape struct {
		Columns []string `json:"columns"`
		Rows    [][]any  `json:"rows"`
	}
	if json.Unmarshal(l.Result.JSON, &shape) != nil || len(shape.Columns) == 0 {
		return resultTable{}, false
	}
	t := resultTable{call: l.Call}
	for _, row := range shape.Rows[:min(len(shape.Rows), quotableRows)] {
		for _, cell := range row {
			switch v := cell.(type) {
			case float64:
				t.numbers = append(t.numbers, v)
			case string:
				if n, err := strconv.ParseFloat(v, 64); err == nil { // a decimal that no double holds
					t.numbers = append(t.numbers, n)
				} else if len(v) >= quotableText {
					t.texts = append(t.texts, v)
				}
			}
		}
	}
	return t, true
}

// lastQuoted returns the table of which a text quotes more figures than of any later one;
// names break a tie. A probe that happens to hold one of the figures does not win over the
// table that holds them all.
func lastQuoted(text string, tables []resultTable) string {
	figures := figure.ShownIn(text)
	best, call := 0, ""
	for _, t := range slices.Backward(tables) {
		n := 0
		for _, f := range figures {
			if slices.ContainsFunc(t.numbers, f.Quotes) {
				n += 2
			}
		}
		if slices.ContainsFunc(t.texts, func(s string) bool { return strings.Contains(text, s) }) {
			n++
		}
		if n > best {
			best, call = n, t.call
		}
	}
	return call
}
