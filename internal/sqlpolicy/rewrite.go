package sqlpolicy

import (
	"cmp"
	"slices"
	"strings"
)

// An edit replaces the qualifier that begins at a byte of the text.
type edit struct {
	at   int
	with string
}

// applyEdits removes the dataset's name, the point and the blanks around it at every
// edit. It fails if an edit finds something else.
func applyEdits(sql, alias string, edits []edit) (string, bool) {
	slices.SortFunc(edits, func(a, b edit) int { return cmp.Compare(a.at, b.at) })
	edits = slices.CompactFunc(edits, func(a, b edit) bool { return a.at == b.at })
	var out strings.Builder
	from := 0
	for _, e := range edits {
		end, ok := qualifierEnd(sql, e.at, alias)
		if !ok || e.at < from {
			return "", false
		}
		out.WriteString(sql[from:e.at])
		out.WriteString(e.with)
		from = end
	}
	out.WriteString(sql[from:])
	return out.String(), true
}

// qualifierEnd finds the byte after `alias .` at a place.
func qualifierEnd(sql string, at int, alias string) (int, bool) {
	if at < 0 || at >= len(sql) {
		return 0, false
	}
	end, blank := tokenEnd(sql, at)
	if blank || fold(unquote(sql[at:end])) != fold(alias) {
		return 0, false
	}
	point := false
	for end < len(sql) {
		next, blank := tokenEnd(sql, end)
		switch {
		case blank:
		case sql[end] == '.' && !point:
			point = true
		default:
			return end, point
		}
		end = next
	}
	return 0, false
}

func unquote(name string) string {
	if len(name) < 2 || name[0] != '"' {
		return name
	}
	return strings.ReplaceAll(name[1:len(name)-1], `""`, `"`)
}
