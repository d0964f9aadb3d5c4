package toolbox

import (
	"context"
	"fmt"
	"strings"

	"interlock/internal/schema"
	"interlock/internal/tool"
)

// DescribeDatasetIn is what describe_dataset takes. A machine calls it before the model is
// asked; MaxChars is the room in the prompt.
type DescribeDatasetIn struct {
	DatasetID  string `json:"dataset_id,omitempty" jsonschema:"id of the dataset"`
	Dictionary string `json:"dictionary,omitempty" jsonschema:"file name of the data dictionary"`
	Question   string `json:"question,omitempty" jsonschema:"what is asked; decides between tables where not all fit"`
	MaxChars   int    `json:"max_chars" jsonschema:"bytes of the text at most"`
}

// Bounds of the list of datasets where none is chosen.
const (
	listedDatasets = 20   // that are described
	listedNames    = 1000 // bytes of the names of tables and columns of one
)

func (b box) describeDataset() tool.Tool {
	return b.versioned(tool.New(spec("describe_dataset", tool.Reads, taints), func(ctx context.Context, in DescribeDatasetIn) (Description, error) {
		id := dataset(ctx, in.DatasetID)
		if id == "" {
			only, list, err := b.listOfDatasets(ctx)
			if err != nil || only == "" {
				return Description{About: list}, err
			}
			id = only
		}
		return b.Knowledge.Describe(ctx, id, in.Dictionary, in.Question, in.MaxChars)
	}))
}

// namesOf lists the tables of a dataset with the names of their columns.
func namesOf(d schema.Dataset) string {
	names := make([]string, len(d.Tables))
	for i, t := range d.Tables {
		names[i] = t.Name + " (" + strings.Join(schema.Names(t.Columns), ", ") + ")"
	}
	return strings.Join(names, ", ")
}

// listOfDatasets gives the id of the only dataset, else a list of all in words.
func (b box) listOfDatasets(ctx context.Context) (only, list string, err error) {
	all, err := b.Data.Datasets(ctx)
	if err != nil {
		return "", "", err
	}
	switch len(all) {
	case 0:
		return "", "There is no dataset yet.", nil
	case 1:
		return all[0].ID, "", nil
	}
	var text strings.Builder
	for i, d := range all {
		if i == listedDatasets {
			fmt.Fprintf(&text, "and %d more: `list_datasets` names them\n", len(all)-i)
			break
		}
		fmt.Fprintf(&text, "- `%s`: %s", d.ID, oneLine(d.Name, valueChars))
		if d.Description != "" {
			text.WriteString(". " + oneLine(d.Description, textChars))
		}
		if whole, err := b.Data.Schema(ctx, d.ID); err == nil { // one that cannot be read is told of elsewhere
			text.WriteString("; tables " + oneLine(namesOf(whole), listedNames))
		}
		text.WriteString("\n")
	}
	return "", strings.TrimSpace(text.String()), nil
}
