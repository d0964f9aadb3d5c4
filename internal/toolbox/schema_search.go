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

// searchTables finds tables. One that the question before is about is as relevant to a question that goes on from it.
func (b box) searchTables(ctx context.Context, in SchemaSearchIn) ([]FoundTable, error) {
	call := tool.In(ctx)
	query := TableQuery{Owner: call.Owner, Dataset: call.Dataset, Text: in.Query, Limit: in.Limit}
	found, err := b.Tables.SearchTables(ctx, query)
	if query.Text = askedWith(in.Query, in.Before); err != nil || query.Text == in.Query {
		return found, err
	}
	before, err := b.Tables.SearchTables(ctx, query)
	for _, t := range before {
		same := func(f FoundTable) bool {
			return f.SourceID == t.SourceID && f.FullyQualifiedName == t.FullyQualifiedName
		}
		if i := slices.IndexFunc(found, same); i >= 0 {
			found[i].Relevancy = max(found[i].Relevancy, t.Relevancy)
			continue
		}
		found = append(found, t)
	}
	slices.SortStableFunc(found, func(a, b FoundTable) int { return cmp.Compare(b.Relevancy, a.Relevancy) })
	if in.Limit > 0 {
		found = found[:min(in.Limit, len(found))]
	}
	return found, err
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
