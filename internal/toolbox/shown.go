package toolbox

import (
	"encoding/json"
	"fmt"
	"path"
	"slices"
	"strings"
	"time"

	"interlock/internal/schema"
)

// The shown types are what models read of a dataset: the fields of schema.Dataset and
// schema.Table that they need, under names that stay as they are.
type (
	// DatasetShown is a dataset in a list.
	DatasetShown struct {
		ID          string   `json:"id"`
		Name        string   `json:"name"`
		Description string   `json:"description"`
		Prompts     []string `json:"prompts"`
	}
	// TableShown is a table of a dataset.
	TableShown struct {
		File      string            `json:"file"`
		TableName string            `json:"table_name"`
		Columns   []schema.Column   `json:"columns"`
		RowCount  int64             `json:"row_count"`
		Sample    []json.RawMessage `json:"sample"` // up to three rows
		// Notes say what the import decided: what it read in another way than it was
		// written, kept as text, or left out.
		Notes []string `json:"notes,omitempty"`
	}
)

// maxNotes is how many decisions of an import a model reads.
const maxNotes = 20

// NotesOf gives the decisions of a table's import as models read them.
func NotesOf(t schema.Table) []string {
	var out []string
	for _, n := range t.Notes[:min(maxNotes, len(t.Notes))] {
		out = append(out, n.Line())
	}
	return out
}

// tablesShown gives the tables of a dataset as models read them.
func tablesShown(d schema.Dataset) ([]TableShown, error) {
	var out []TableShown
	for _, t := range d.Tables {
		shown := TableShown{File: t.File, TableName: t.Name, RowCount: t.Rows, Columns: t.Columns, Sample: []json.RawMessage{}}
		if len(t.Sample) > 0 {
			if err := json.Unmarshal(t.Sample, &shown.Sample); err != nil {
				return nil, fmt.Errorf("reading rows of %s: %w", t.Name, err)
			}
		}
		shown.Notes = NotesOf(t)
		out = append(out, shown)
	}
	return out, nil
}

// location names the files of a dataset, each under the dataset's name: where on the disk
// that is concerns nobody who asks.
func location(d schema.Dataset) string {
	files := []string{}
	for _, t := range d.Tables {
		if file := path.Join(d.ID, t.File); !slices.Contains(files, file) {
			files = append(files, file)
		}
	}
	return strings.Join(files, ", ")
}

// timeShown gives a point in time as text, "" for none.
func timeShown(t time.Time) string {
	if t.IsZero() {
		return ""
	}
	return t.UTC().Format(time.RFC3339)
}
