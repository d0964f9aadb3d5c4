package toolbox

import (
	"context"
	"encoding/json"

	"interlock/internal/fault"
	"interlock/internal/tool"
)

// Documents finds passages of documents.
type Documents interface {
	// SearchDocuments returns passages of the documents that the owner may see, the most
	// relevant first.
	SearchDocuments(ctx context.Context, q DocumentQuery) ([]Chunk, error)
	// DocumentsVersion changes whenever a document does; "" is unknown.
	DocumentsVersion(ctx context.Context) string
}

// A DocumentQuery asks for passages.
type DocumentQuery struct {
	Owner  string
	Thread string // whose attached documents are searched as well
	Text   string
	Limit  int
}

// A Chunk is a passage that was found. Document and Place open it again.
type Chunk struct {
	Content    string  `json:"content"`
	SourceFile string  `json:"source_file"`
	Place      string  `json:"place"`
	Relevancy  float64 `json:"relevancy"`
	Document   string  `json:"document_id"`
	// ReadAs is the question as it was read, where words of it were misspelt.
	ReadAs string `json:"read_as,omitempty"`
}

// Arguments and result of document_search. Chunks below Min are left out; MaxRelevancy
// is that of the best passage, left out or not.
type (
	DocumentSearchIn struct {
		Query string  `json:"query"`
		Min   float64 `json:"min"`
		Limit int     `json:"limit"`
	}
	DocumentSearchOut struct {
		Chunks       []Chunk `json:"chunks"`
		MaxRelevancy float64 `json:"max_relevancy"`
	}
)

func (b box) documentSearch() tool.Tool {
	search := tool.New(spec("document_search", tool.Reads, taints), func(ctx context.Context, in DocumentSearchIn) (DocumentSearchOut, error) {
		out := DocumentSearchOut{Chunks: []Chunk{}}
		if b.Documents == nil {
			return out, fault.New(fault.Unavailable, "there are no documents to search")
		}
		call := tool.In(ctx)
		found, err := b.Documents.SearchDocuments(ctx, DocumentQuery{Owner: call.Owner, Thread: call.Thread, Text: in.Query, Limit: in.Limit})
		for _, c := range found {
			out.MaxRelevancy = max(out.MaxRelevancy, c.Relevancy)
			if c.Relevancy >= in.Min {
				out.Chunks = append(out.Chunks, c)
			}
		}
		return out, err
	})
	return tool.Versioned(search, func(ctx context.Context, _ json.RawMessage) string {
		if b.Documents == nil {
			return ""
		}
		return b.Documents.DocumentsVersion(ctx)
	})
}
