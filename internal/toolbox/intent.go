package toolbox

import (
	"encoding/json"
	"fmt"
	"strings"

	"interlock/internal/queryplan"
)

// Intent sums up what a query fetched, for every later step.
type Intent struct {
	Name       string   `json:"name"`
	Fetched    string   `json:"fetched"`
	Dimensions []string `json:"dimensions"`
	Measures   []string `json:"measures"`
	RowCount   int      `json:"row_count"`
	Span       string   `json:"span,omitempty"`
}

// maxFetched is how much of a statement its summary repeats, in characters.
const maxFetched = 300

// intentOf sums a result up: numbers are measures unless they are keys, everything
// that groups is a dimension.
func intentOf(name, sql string, r Rows) Intent {
	out := Intent{Name: name, Fetched: clip(strings.Join(strings.Fields(sql), " "), maxFetched), Dimensions: []string{}, Measures: []string{}, RowCount: r.RowCount}
	var dates []int
	for i, c := range r.Columns {
		switch kind := queryplan.KindOf(c.Type); {
		case kind == queryplan.Number && !isKey(c.Name):
			out.Measures = append(out.Measures, c.Name)
		case kind == queryplan.Number, kind == queryplan.Text, kind == queryplan.Bool:
			out.Dimensions = append(out.Dimensions, c.Name)
		case kind == queryplan.Date:
			out.Dimensions = append(out.Dimensions, c.Name)
			dates = append(dates, i)
		}
	}
	out.Span = span(r, dates)
	return out
}

func isKey(name string) bool {
	name = strings.ToLower(name)
	return name == "id" || name == "key" || strings.HasSuffix(name, "_id") || strings.HasSuffix(name, "_key")
}

// span is the first and last moment in each date column. As they are written, the
// order of dates is that of their texts.
func span(r Rows, dates []int) string {
	var rows [][]any
	if len(dates) == 0 || json.Unmarshal(r.Rows, &rows) != nil {
		return ""
	}
	var spans []string
	for _, i := range dates {
		first, last := "", ""
		for _, row := range rows {
			text, ok := row[i].(string)
			if !ok {
				continue
			}
			if first == "" || text < first {
				first = text
			}
			last = max(last, text)
		}
		switch {
		case first == "":
		case first == last:
			spans = append(spans, fmt.Sprintf("%s %s", r.Columns[i].Name, first))
		default:
			spans = append(spans, fmt.Sprintf("%s %s to %s", r.Columns[i].Name, first, last))
		}
	}
	return strings.Join(spans, "; ")
}

func clip(text string, limit int) string {
	if runes := []rune(text); len(runes) > limit {
		return string(runes[:limit-1]) + "…"
	}
	return text
}
