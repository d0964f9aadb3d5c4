package toolbox

import (
	"context"
	"strings"

	"interlock/internal/tool"
)

// SchemaOut is what get_dataset_schema gives.
type SchemaOut struct {
	Dialect string `json:"dialect,omitempty"`
	// CopiedAt is when the rows of a database were copied.
	CopiedAt string       `json:"copied_at,omitempty"`
	Tables   []TableShown `json:"tables"`
	// Note says that there are more tables than these.
	Note string `json:"note,omitempty"`
	// About is the same in words, with what values, dictionary and relations say.
	About string `json:"about,omitempty"`
}

// schemaBytes bounds the words about a dataset that a model asks for.
const schemaBytes = 48 << 10

// Varies says that the tables were chosen by the question: the same call may give others for another.
func (o SchemaOut) Varies() bool { return o.Note != "" }

func (b box) getDatasetSchema() tool.Tool {
	type in struct {
		DatasetID string `json:"dataset_id" jsonschema:"id of the dataset"`
		About     string `json:"about,omitempty" jsonschema:"of a dataset with many tables: words for those that are meant, where the question's own do not find them"`
	}
	return b.versioned(tool.New(spec("get_dataset_schema", tool.Reads, taints), func(ctx context.Context, in in) (SchemaOut, error) {
		id := dataset(ctx, in.DatasetID)
		s, err := b.Data.Schema(ctx, id)
		if err != nil {
			return SchemaOut{}, err
		}
		note, err := b.fitTables(ctx, &s, in.About)
		if err != nil {
			return SchemaOut{}, err
		}
		tables, err := tablesShown(s)
		if err != nil {
			return SchemaOut{}, err
		}
		out := SchemaOut{Dialect: s.Dialect, CopiedAt: timeShown(s.CopiedAt), Tables: tables, Note: note}
		if b.Knowledge != nil {
			described, err := b.Knowledge.Describe(ctx, id, "", in.About, schemaBytes)
			if err != nil {
				return SchemaOut{}, err
			}
			out.About = strings.TrimSpace(described.About + "\n" + note)
		}
		return out, nil
	}))
}
