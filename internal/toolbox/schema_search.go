package toolbox

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"slices"

	"interlock/internal/fault"
	"interlock/internal/schema"
	"interlock/internal/tool"
)

// Tables finds tables of datasets.
type Tables interface {
	// SearchTables returns the tables that a text is about, the most relevant first.
	SearchTables(ctx context.Context, q TableQuery) ([]FoundTable, error)
}

// A TableQuery asks for tables.
type TableQuery struct {
	Owner   string
	Dataset string // to look into; "" is all that can be queried
	Text    string
	Limit   int
}

// A FoundTable is a table that was found. SourceID is the dataset that it is queried in.
type FoundTable struct {
	FullyQualifiedName string            `json:"fully_qualified_name"`
	SourceID           string            `json:"source_id"`
	SQLDialect         string            `json:"sql_dialect"`
	Relevancy          float64           `json:"relevancy"`
	Columns            []json.RawMessage `json:"columns"` // each a schema.Column
	// Notes say what the import decided: what it read in another way than it was written.
	Notes []string `json:"notes,omitempty"`
}

// ColumnsOf gives columns as a FoundTable lists them.
func ColumnsOf(columns []schema.Column) ([]json.RawMessage, error) {
	out := make([]json.RawMessage, len(columns))
	for i, c := range columns {
		raw, err := json.Marshal(c)
		if err != nil {
			return nil, fmt.Errorf("column %s: %w", c.Name, err)
		}
		out[i] = raw
	}
	return out, nil
}

// Arguments and result of schema_search. Tables below Min are left out; MaxRelevancy is
// that of the best table, left out or not.
type (
	SchemaSearchIn struct {
		Query string  `json:"query"`
		Min   float64 `json:"min"`
		Limit int     `json:"limit"`
		// MaxChars is the room for a description of the dataset of the best table.
		MaxChars int `json:"max_chars,omitempty"`
		// Before is the question that this one may go on from.
		Before string `json:"before,omitempty"`
	}
	SchemaSearchOut struct {
		Tables       []FoundTable `json:"tables"`
		MaxRelevancy float64      `json:"max_relevancy"`
		Note         string       `json:"note"`
		Asked        string       `json:"asked"`           // as of document_search
		About        string       `json:"about,omitempty"` // the dataset of the best table in words
	}
)

func (b box) schemaSearch() tool.Tool {
	search := tool.New(spec("schema_search", tool.Reads, taints), func(ctx context.Context, in SchemaSearchIn) (SchemaSearchOut, error) {
		out := SchemaSearchOut{Tables: []FoundTable{}}
		if b.Tables == nil {
			return out, fault.New(fault.Unavailable, "there are no tables to search")
		}
		found, err := b.searchTables(ctx, in)
		if err != nil {
			return out, err
		}
		out.Asked = askedWith(in.Query, in.Before)
		for _, t := range found {
			out.MaxRelevancy = max(out.MaxRelevancy, t.Relevancy)
			if t.Relevancy >= in.Min {
				out.Tables = append(out.Tables, t)
			}
		}
		out.Note = describeFound(out.Tables)
		if len(out.Tables) > 0 && in.MaxChars > 0 && b.Knowledge != nil {
			about, err := b.Knowledge.Describe(ctx, out.Tables[0].SourceID, "", in.Query, in.MaxChars)
			out.About = about.About
			return out, err
		}
		return out, nil
	})
	return tool.Versioned(search, func(ctx context.Context, _ json.RawMessage) string {
		if b.Data == nil {
			return ""
		}
		return b.Data.Version(ctx, "")
	})
}

// searchTables finds tables. One that the question before is about is as relevant to a question that goes on from it, and
// one that fits a question of several is as relevant to all of them.
func (b box) searchTables(ctx context.Context, in SchemaSearchIn) ([]FoundTable, error) {
	call := tool.In(ctx)
	texts := textAndQuestions(in.Query)
	if asked := askedWith(in.Query, in.Before); asked != in.Query {
		texts = append(texts, asked)
	}
	var out []FoundTable
	for _, text := range texts {
		found, err := b.Tables.SearchTables(ctx, TableQuery{Owner: call.Owner, Dataset: call.Dataset, Text: text, Limit: in.Limit})
		if err != nil {
			return nil, err
		}
		for _, t := range found {
			i := slices.IndexFunc(out, func(o FoundTable) bool {
				return o.SourceID == t.SourceID && o.FullyQualifiedName == t.FullyQualifiedName
			})
			if i < 0 {
				out = append(out, t)
				continue
			}
			out[i].Relevancy = max(out[i].Relevancy, t.Relevancy)
		}
	}
	slices.SortStableFunc(out, func(a, b FoundTable) int { return cmp.Compare(b.Relevancy, a.Relevancy) })
	if in.Limit > 0 {
		out = out[:min(in.Limit, len(out))]
	}
	return out, nil
}

// describeFound tells a model what a search for tables gave.
func describeFound(found []FoundTable) string {
	switch len(found) {
	case 0:
		return "No table is relevant to this."
	case 1:
		return fmt.Sprintf("One table is relevant: %s of %s. What is known of it stands in your instructions now.", found[0].FullyQualifiedName, found[0].SourceID)
	}
	return fmt.Sprintf("%d tables are relevant; the first is %s of %s. What is known of them stands in your instructions now.", len(found), found[0].FullyQualifiedName, found[0].SourceID)
}
