package retrieve

import (
	"context"
	"database/sql"
	"encoding/binary"
	"math"
	"slices"
	"unsafe"

	"interlock/internal/embed"
)

// A vectorTable holds all vectors of one kind in memory, as of a generation of the file.
type vectorTable struct {
	generation int64
	texts      int     // of the kind, with and without a vector
	ids        []int64 // ascending
	groups     []int64 // what each belongs to: its document or its source
	lengths    []int32 // in characters; 0 where it does not matter
	scales     []float32
	values     []int8 // embed.Dimensions for each
}

func (t *vectorTable) packed(i int) embed.Packed {
	return embed.Packed{Values: t.values[i*embed.Dimensions : (i+1)*embed.Dimensions], Scale: t.scales[i]}
}

// group is what the text with the id belongs to, and whether it has a vector.
func (t *vectorTable) group(id int64) (int64, bool) {
	i, found := slices.BinarySearch(t.ids, id)
	if !found {
		return 0, false
	}
	return t.groups[i], true
}

// compare gives the cosine and the length of the text with the id; both are 0 where it has no vector.
func (t *vectorTable) compare(id int64, question embed.Packed) (cosine float64, length int) {
	i, found := slices.BinarySearch(t.ids, id)
	if !found {
		return 0, 0
	}
	return float64(t.packed(i).Cosine(question)), int(t.lengths[i])
}

// A scored is a text with a score.
type scored struct {
	id    int64
	score float64
}

// nearest returns up to n texts with the greatest cosine, of the groups that may be seen.
func (t *vectorTable) nearest(question embed.Packed, n int, visible func(group int64) bool) []scored {
	best := make([]scored, 0, n+1)
	least := math.Inf(-1)
	for i := range t.ids {
		c := float64(t.packed(i).Cosine(question))
		if c <= least && len(best) == n || !visible(t.groups[i]) {
			continue
		}
		at, _ := slices.BinarySearchFunc(best, c, func(s scored, c float64) int {
			if s.score >= c {
				return -1
			}
			return 1
		})
		best = slices.Insert(best, at, scored{t.ids[i], c})
		if len(best) > n {
			best = best[:n]
		}
		least = best[len(best)-1].score
	}
	return best
}

// Statements that load the vectors of an encoder with their groups and lengths.
const (
	loadChunkVectors = "SELECT v.id, c.document, length(c.content), v.vector FROM chunk_vectors v JOIN chunks c ON c.id = v.id WHERE v.encoder = ? ORDER BY v.id"
	loadTableVectors = "SELECT v.id, t.source, 0, v.vector FROM table_vectors v JOIN schema_tables t ON t.id = v.id WHERE v.encoder = ? ORDER BY v.id"
)

// loadVectors returns the table in memory, read anew where another generation is in the file.
func (x *Index) loadVectors(ctx context.Context, tx *sql.Tx, r ranking) (*vectorTable, error) {
	var generation int64
	if err := tx.QueryRowContext(ctx, "SELECT number FROM generations WHERE of = ?", r.of).Scan(&generation); err != nil {
		return nil, err
	}
	x.mu.Lock()
	defer x.mu.Unlock()
	if t := *r.kept; t != nil && t.generation == generation {
		return t, nil
	}
	t := &vectorTable{generation: generation}
	if err := tx.QueryRowContext(ctx, "SELECT count(*) FROM "+r.texts).Scan(&t.texts); err != nil {
		return nil, err
	}
	if err := eachRow(ctx, tx, func(rows *sql.Rows) error {
		var id, group int64
		var length int32
		var raw sql.RawBytes
		if err := rows.Scan(&id, &group, &length, &raw); err != nil || len(raw) != embed.PackedBytes {
			return err // a text without a vector is found by its words
		}
		scale := math.Float32frombits(binary.LittleEndian.Uint32(raw))
		if !(scale >= 0 && scale <= 1) {
			return nil // a damaged vector: a score that is no number would spoil the order
		}
		t.ids, t.groups, t.scales = append(t.ids, id), append(t.groups, group), append(t.scales, scale)
		t.lengths = append(t.lengths, length)
		t.values = append(t.values, unsafe.Slice((*int8)(unsafe.Pointer(&raw[4])), embed.Dimensions)...)
		return nil
	}, r.load, x.encoder.Name()); err != nil {
		return nil, err
	}
	*r.kept = t
	return t, nil
}

// keptQuestions is how many questions keep their vectors: a turn asks the same for documents and for tables.
const keptQuestions = 64

// embedQuestion returns the vector of a question.
func (x *Index) embedQuestion(ctx context.Context, text string) (embed.Packed, error) {
	x.mu.Lock()
	kept, known := x.questions[text]
	x.mu.Unlock()
	if known {
		return kept, nil
	}
	vectors, err := x.encoder.Embed(ctx, []string{text})
	if err != nil {
		return embed.Packed{}, err
	}
	question := vectors[0].Pack()
	x.mu.Lock()
	defer x.mu.Unlock()
	if len(x.questions) >= keptQuestions || x.questions == nil {
		x.questions = map[string]embed.Packed{}
	}
	x.questions[text] = question
	return question, nil
}

// embedBatch is how many texts are embedded between two writes.
const embedBatch = 64

// A pending text has no vector of the present encoder.
type pending struct {
	id   int64
	text string
}

// embedPending makes the vectors that are missing: next gives the texts after an id, at most as many as
// asked for. each is told after every batch.
func (x *Index) embedPending(ctx context.Context, of, into string, next func(ctx context.Context, after int64, n int) ([]pending, error), each func(n int)) error {
	after := int64(0)
	for {
		list, err := next(ctx, after, embedBatch)
		if err != nil || len(list) == 0 {
			return err
		}
		texts := make([]string, len(list))
		for i, p := range list {
			texts[i] = p.text
		}
		vectors, err := x.encoder.Embed(ctx, texts)
		if err != nil {
			return err
		}
		err = x.change(ctx, func(tx *sql.Tx) error {
			insert, err := tx.PrepareContext(ctx, "INSERT OR REPLACE INTO "+into+" SELECT ?, ?, ? WHERE EXISTS (SELECT 1 FROM "+ownersOf[into]+" WHERE id = ?)")
			if err != nil {
				return err
			}
			defer insert.Close()
			for i, p := range list {
				if _, err := insert.ExecContext(ctx, p.id, x.encoder.Name(), vectors[i].Pack().Bytes(), p.id); err != nil {
					return err
				}
			}
			return raiseGeneration(ctx, tx, of)
		})
		if err != nil {
			return err
		}
		after = list[len(list)-1].id
		each(len(list))
	}
}

// ownersOf names the table whose rows a table of vectors belongs to: they may be gone by the time
// that their vectors are made.
var ownersOf = map[string]string{"chunk_vectors": "chunks", "table_vectors": "schema_tables"}

func raiseGeneration(ctx context.Context, tx *sql.Tx, of string) error {
	_, err := tx.ExecContext(ctx, "UPDATE generations SET number = number + 1 WHERE of = ?", of)
	return err
}
