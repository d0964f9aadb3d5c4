package llm

import (
	"encoding/json"
	"regexp"
	"strconv"
	"strings"
)

var (
	plainWords = regexp.MustCompile(`^[\p{L} _-]+$`)
	// computedName is how the engine names sum(amount) where the statement does not.
	computedName = regexp.MustCompile(`^(\p{L}+)\("?([\p{L}_]+)"?\)$`)
)

// maxTitled is how many columns a title names.
const maxTitled = 4

// titleOfRows names a result by its columns: "N by status". The statement itself would put
// its numbers into a title that nothing supports. Without columns that are words it is other.
func titleOfRows(rows Message, other string) string {
	var r struct {
		Columns []string `json:"columns"`
		Rows    [][]any  `json:"rows"`
	}
	text, _, _ := strings.Cut(rows.Text, "\n(cut: ")
	if json.Unmarshal([]byte(text), &r) != nil || len(r.Columns) == 0 || len(r.Columns) > maxTitled {
		return other
	}
	var names []string
	for _, c := range r.Columns {
		name := columnWords(c)
		if name == "" {
			return other
		}
		names = append(names, name)
	}
	keys := 0 // the columns before the first number; the first one is a key in any case
	for keys < len(names) && (keys == 0 || !isNumberColumn(r.Rows, keys)) {
		keys++
	}
	for i := keys; i < len(names); i++ {
		if !isNumberColumn(r.Rows, i) {
			keys = len(names)
		}
	}
	if keys == len(names) {
		return titleOf(joinNames(names))
	}
	return titleOf(joinNames(names[keys:]) + " by " + joinNames(names[:keys]))
}

// columnWords says the name of a column in words, "" where it holds signs or digits.
func columnWords(name string) string {
	if m := computedName.FindStringSubmatch(name); m != nil {
		name = m[1] + " of " + m[2]
	}
	if name == "count_star()" {
		name = "count"
	}
	if !plainWords.MatchString(name) {
		return ""
	}
	return strings.Join(strings.Fields(strings.ReplaceAll(name, "_", " ")), " ")
}

// isNumberColumn says whether a column holds numbers, as far as its first row tells.
func isNumberColumn(rows [][]any, i int) bool {
	if len(rows) == 0 || i >= len(rows[0]) {
		return false
	}
	switch v := rows[0][i].(type) {
	case float64:
		return true
	case string: // an exact decimal
		_, err := strconv.ParseFloat(v, 64)
		return err == nil
	}
	return false
}

func joinNames(names []string) string {
	last := len(names) - 1
	if last == 0 {
		return names[0]
	}
	return strings.Join(names[:last], ", ") + " and " + names[last]
}
