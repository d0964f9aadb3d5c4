package main

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"
)

const (
	maxExamples = 3   // records of a list that a card shows
	maxContent  = 400 // letters of a value
)

// showContent prints what a card shows: texts and values first, then records, then lists of
// records.
func (c *chat) showContent(content map[string]any) {
	rank := func(v any) int {
		switch x := v.(type) {
		case map[string]any:
			if slices.ContainsFunc(slices.Collect(maps.Values(x)), isRecordList) {
				return 2
			}
			return 1
		case []any:
			if isRecordList(v) {
				return 2
			}
		}
		return 0
	}
	names := slices.SortedFunc(maps.Keys(content), func(a, b string) int {
		return cmp.Or(cmp.Compare(rank(content[a]), rank(content[b])), cmp.Compare(a, b))
	})
	for _, name := range names {
		c.showField(name, content[name])
	}
}

func isRecordList(v any) bool {
	list, ok := v.([]any)
	return ok && !slices.ContainsFunc(list, func(x any) bool { _, record := x.(map[string]any); return !record })
}

// showField prints one field of a card.
func (c *chat) showField(name string, value any) {
	switch x := value.(type) {
	case nil:
	case []any:
		if isRecordList(value) {
			c.showRecords(name, x)
			return
		}
		for _, item := range x {
			if text, ok := item.(string); ok {
				fmt.Fprintf(c.out, "  %s\n", strings.ReplaceAll(cutText(printable(text), maxContent), "\n", "\n  "))
			}
		}
	case map[string]any:
		c.showRecord(name, x)
	default:
		c.printField(name, cardText(value))
	}
}

// showRecord prints a record of a card: two rows side by side, else each field on a line.
func (c *chat) showRecord(name string, record map[string]any) {
	left, isLeft := record["left"].(map[string]any)
	right, isRight := record["right"].(map[string]any)
	if isLeft && isRight {
		c.showPair(left, right)
		return
	}
	for _, field := range slices.Sorted(maps.Keys(record)) {
		if isRecordList(record[field]) {
			c.showField(field, record[field])
			continue
		}
		c.printField(name+" "+field, cardText(record[field]))
	}
}

// showPair prints the fields of two rows beside each other.
func (c *chat) showPair(left, right map[string]any) {
	cells := func(row map[string]any) (out []string) {
		for _, column := range slices.Sorted(maps.Keys(row)) {
			if text := cardText(row[column]); text != "" {
				out = append(out, column+" "+cutText(text, maxContent))
			}
		}
		return out
	}
	l, r := cells(left), cells(right)
	rows := make([][]string, max(len(l), len(r)))
	for i := range rows {
		rows[i] = []string{"", ""}
		if i < len(l) {
			rows[i][0] = l[i]
		}
		if i < len(r) {
			rows[i][1] = r[i]
		}
	}
	writeWrapped(c.out, []string{"left", "right"}, rows, terminalWidth(c.out))
}

// showRecords prints the first records of a list, each in a line.
func (c *chat) showRecords(name string, list []any) {
	if len(list) == 0 {
		return
	}
	fmt.Fprintf(c.out, "  %s:\n", oneLine(strings.ReplaceAll(name, "_", " ")))
	for _, item := range list[:min(len(list), maxExamples)] {
		record, _ := item.(map[string]any)
		var parts []string
		for _, field := range slices.Sorted(maps.Keys(record)) {
			if text := cardText(record[field]); text != "" {
				parts = append(parts, strings.ReplaceAll(field, "_", " ")+": "+cutText(text, maxContent/2))
			}
		}
		fmt.Fprintf(c.out, "    %s\n", oneLine(strings.Join(parts, "; ")))
	}
}

func (c *chat) printField(name, text string) {
	if text != "" {
		fmt.Fprintf(c.out, "  %s: %s\n", oneLine(strings.ReplaceAll(name, "_", " ")), cutText(oneLine(text), maxContent))
	}
}

// cardText shows a value of a card: a record as its fields.
func cardText(value any) string {
	switch x := value.(type) {
	case nil:
		return ""
	case map[string]any:
		var cells []string
		for _, column := range slices.Sorted(maps.Keys(x)) {
			if text := cardText(x[column]); text != "" {
				cells = append(cells, column+" "+text)
			}
		}
		return strings.Join(cells, ", ")
	}
	return cellText(value)
}
