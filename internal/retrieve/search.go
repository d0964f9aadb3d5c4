package retrieve

import (
	"cmp"
	"context"
	"database/sql"
	"slices"
	"strings"

	"interlock/internal/embed"
	"interlock/internal/fault"
)

// A Query asks for passages.
type Query struct {
	Scope
	// Text is a question or a few words. Required.
	Text string
	// Limit is how many passages are returned at most. Default 10, at most 100.
	Limit int
}

// A Chunk is a passage that was found.
type Chunk struct {
	Content    string  `json:"content"`
	SourceFile string  `json:"source_file"`
	Place      string  `json:"place"` // a page, a heading, a line or rows
	Relevancy  float64 `json:"relevancy"`
	Collection string  `json:"collection,omitempty"`
	Title      string  `json:"title,omitempty"`
	Document   string  `json:"document_id"`       // with Place, what opens the passage again
	ReadAs     string  `json:"read_as,omitempty"` // the question as it was read, where words of it were misspelt
}

const (
	defaultLimit = 10
	maxLimit     = 100
	candidates   = 100 // that are taken from the nearest vectors

	passageWeights = "1.0, 0.6, 0.8" // of the text, its heading and its gloss in the full-text index
)

// Search returns the passages that answer best, the most relevant first. There may be passages of
// little relevancy among them: a caller compares with its threshold.
func (x *Index) Search(ctx context.Context, q Query) ([]Chunk, error) {
	if strings.TrimSpace(q.Text) == "" {
		return nil, fault.New(fault.BadRequest, "the question is empty")
	}
	if q.Limit = min(q.Limit, maxLimit); q.Limit <= 0 {
		q.Limit = defaultLimit
	}
	found, err := x.searchChunks(ctx, q)
	return found, storeFault(err, "searching")
}

// A candidate is a text with what is known of how well it fits a question.
type candidate struct {
	id        int64
	cosine    float64
	words     float64 // share of the best possible full-text score
	relevancy float64
}

func (x *Index) searchChunks(ctx context.Context, q Query) ([]Chunk, error) {
	tx, err := x.db.BeginTx(ctx, &sql.TxOptions{ReadOnly: true})
	if err != nil {
		return nil, err
	}
	defer func() { _ = tx.Rollback() }() // nothing was written
	documents, err := visibleDocuments(ctx, tx, q.Scope)
	if err != nil || len(documents) == 0 {
		return []Chunk{}, err
	}
	readAs, err := x.repairQuestion(ctx, tx, q.Text, documents)
	if err != nil {
		return nil, err
	}
	question, err := x.embedQuestion(ctx, readAs)
	if err != nil {
		return nil, err
	}
	ranked, err := x.rank(ctx, tx, ranking{
		of: "documents", kept: &x.passages, load: loadChunkVectors, texts: "chunks", words: "chunk_words", weights: passageWeights,
		group: "SELECT document FROM chunks WHERE id = ?", visible: documents, curve: x.curves.passagesFor(readAs),
	}, readAs, question, q.Limit)
	if err != nil {
		return nil, err
	}
	out := make([]Chunk, 0, len(ranked))
	for _, c := range ranked {
		chunk := Chunk{Relevancy: roundRelevancy(c.relevancy)}
		err := tx.QueryRowContext(ctx, "SELECT c.content, c.place, d.key, d.file, d.collection, d.title FROM chunks c JOIN documents d ON d.id = c.document WHERE c.id = ?", c.id).
			Scan(&chunk.Content, &chunk.Place, &chunk.Document, &chunk.SourceFile, &chunk.Collection, &chunk.Title)
		if err != nil {
			return nil, err
		}
		if readAs != q.Text {
			chunk.ReadAs = readAs
		}
		out = append(out, chunk)
	}
	return out, nil
}

// visibleDocuments are the ids of a scope's documents.
func visibleDocuments(ctx context.Context, tx *sql.Tx, s Scope) (map[int64]bool, error) {
	where, args := s.condition()
	out := map[int64]bool{}
	err := eachRow(ctx, tx, func(rows *sql.Rows) error {
		var id int64
		err := rows.Scan(&id)
		out[id] = true
		return err
	}, "SELECT d.id FROM documents d WHERE "+where, args...)
	return out, err
}

// A ranking names what is searched.
type ranking struct {
	of      string         // the generation
	kept    **vectorTable  // where its vectors are kept
	load    string         // loads them
	texts   string         // the table of texts
	words   string         // the full-text index
	weights string         // of its columns
	group   string         // selects what a text belongs to
	visible map[int64]bool // what may be found
	curve   curve
}

// rank takes the nearest vectors and the best full-text matches, and orders them by relevancy.
func (x *Index) rank(ctx context.Context, tx *sql.Tx, r ranking, text string, question embed.Packed, limit int) ([]candidate, error) {
	table, err := x.loadVectors(ctx, tx, r)
	if err != nil {
		return nil, err
	}
	near := table.nearest(question, candidates, func(group int64) bool { return r.visible[group] })
	words, err := r.matchWords(ctx, tx, table, questionTerms(text))
	if err != nil {
		return nil, err
	}
	for _, n := range near {
		if _, ok := words[n.id]; !ok {
			words[n.id] = 0
		}
	}
	out := make([]candidate, 0, len(words))
	for id, share := range words {
		c := candidate{id: id, words: share}
		fits, length := r.curve, 0
		if _, embedded := table.group(id); embedded {
			c.cosine, length = table.compare(id, question)
		} else {
			fits = wordsCalibration.passages // its words are all that is known of it so far
		}
		c.relevancy = fits.relevancy(c.cosine, c.words, length)
		out = append(out, c)
	}
	slices.SortFunc(out, func(a, b candidate) int {
		return cmp.Or(-cmp.Compare(a.relevancy, b.relevancy), cmp.Compare(a.id, b.id))
	})
	return out[:min(limit, len(out))], nil
}

// matchWords returns the full-text scores of the texts that have words of the question.
func (r ranking) matchWords(ctx context.Context, tx *sql.Tx, table *vectorTable, terms []term) (map[int64]float64, error) {
	out := map[int64]float64{}
	q, err := prepareWords(ctx, tx, r.words, table.texts, terms)
	if err != nil || q.match == "" {
		return out, err
	}
	matches, err := scoredMatches(ctx, tx, "SELECT rowid, bm25("+r.words+", "+r.weights+") FROM "+r.words+" WHERE "+r.words+" MATCH ? LIMIT ?", q.match, maxMatches)
	if err != nil {
		return nil, err
	}
	for _, m := range matches {
		group, known := table.group(m.id)
		if !known {
			if err := tx.QueryRowContext(ctx, r.group, m.id).Scan(&group); err != nil {
				return nil, err
			}
		}
		if r.visible[group] {
			out[m.id] = q.share(m.score)
		}
	}
	return out, nil
}

func scoredMatches(ctx context.Context, tx *sql.Tx, statement string, args ...any) (out []scored, err error) {
	err = eachRow(ctx, tx, func(rows *sql.Rows) error {
		var s scored
		err := rows.Scan(&s.id, &s.score)
		out = append(out, s)
		return err
	}, statement, args...)
	return out, err
}
