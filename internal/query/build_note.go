package query

import (
	"fmt"

	"interlock/internal/schema"
)

// addNote adds a decision to the report of a table.
func (r *TableReport) addNote(n schema.Note, format string, args ...any) {
	n.Message = fmt.Sprintf(format, args...)
	r.Notes = append(r.Notes, n)
}
