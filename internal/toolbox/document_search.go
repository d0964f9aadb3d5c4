package toolbox

import (
	"cmp"
	"context"
	"encoding/json"
	"slices"

	"interlock/internal/fault"
	"interlock/internal/nlq"
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
	// Question is the one that the passage is about, where the text asks several.
	Question string `json:"question,omitempty"`
}

// Arguments and result of document_search. Chunks below Min are left out; MaxRelevancy
// is that of the best passage, left out or not.
type (
	DocumentSearchIn struct {
		Query string  `json:"query"`
		Min   float64 `json:"min"`
		Limit int     `json:"limit"`
		// Before is the question that this one may go on from.
		Before string `json:"before,omitempty"`
	}
	DocumentSearchOut struct {
		Chunks       []Chunk `json:"chunks"`
		MaxRelevancy float64 `json:"max_relevancy"`
		Asked        string  `json:"asked"` // the question that stands by itself: the one before, where this one goes on from it
	}
)

// askedWith is the question that stands by itself: the one before, where the text begins like one that goes on
// from it, else the text.
func askedWith(text, before string) string {
	if before != "" && nlq.GoesOn(text) {
		return before
	}
	return text
}

func (b box) documentSearch() tool.Tool {
	search := tool.New(spec("document_search", tool.Reads, taints), func(ctx context.Context, in DocumentSearchIn) (DocumentSearchOut, error) {
		out := DocumentSearchOut{Chunks: []Chunk{}}
		if b.Documents == nil {
			return out, fault.New(fault.Unavailable, "there are no documents to search")
		}
		queries := []string{in.Query}
		if out.Asked = askedWith(in.Query, in.Before); out.Asked != in.Query { // both together, if nothing is found alone
			queries = append(queries, out.Asked+" "+in.Query)
		}
		for _, query := range queries {
			found, err := b.searchDocuments(ctx, query, in.Limit)
			if err != nil {
				return out, err
			}
			for _, c := range found {
				out.MaxRelevancy = max(out.MaxRelevancy, c.Relevancy)
				if c.Relevancy >= in.Min {
					out.Chunks = append(out.Chunks, c)
				}
			}
			if len(out.Chunks) > 0 {
				break
			}
		}
		return out, nil
	})
	return tool.Versioned(search, func(ctx context.Context, _ json.RawMessage) string {
		if b.Documents == nil {
			return ""
		}
		return b.Documents.DocumentsVersion(ctx)
	})
}

// searchDocuments finds passages for a text, and for each of the questions that it asks: a passage is as relevant as it is to
// one of them.
func (b box) searchDocuments(ctx context.Context, text string, limit int) ([]Chunk, error) {
	call := tool.In(ctx)
	var out []Chunk
	for _, query := range textAndQuestions(text) {
		found, err := b.Documents.SearchDocuments(ctx, DocumentQuery{Owner: call.Owner, Thread: call.Thread, Text: query, Limit: limit})
		if err != nil {
			return nil, err
		}
		for _, c := range found {
			if query != text {
				c.Question = query
			}
			i := slices.IndexFunc(out, func(o Chunk) bool { return o.Document == c.Document && o.Place == c.Place && o.Content == c.Content })
			switch {
			case i < 0:
				out = append(out, c)
			case out[i].Relevancy < c.Relevancy, out[i].Question == "":
				c.Relevancy = max(c.Relevancy, out[i].Relevancy)
				out[i] = c
			}
		}
	}
	slices.SortStableFunc(out, func(a, b Chunk) int { return cmp.Compare(b.Relevancy, a.Relevancy) })
	if limit > 0 {
		out = out[:min(limit, len(out))]
	}
	return out, nil
}

// textAndQuestions are a text and the questions that it asks, where they are several.
func textAndQuestions(text string) []string {
	if several := nlq.Questions(text); len(several) > 1 {
		return append([]string{text}, several...)
	}
	return []string{text}
}
