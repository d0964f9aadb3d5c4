package retrieve

import (
	"context"
	"database/sql"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"interlock/internal/embed"
	"interlock/internal/nlq"
)

// A misspelt word of a question is read as the nearest word of the documents. It must be a word that neither they nor
// the encoder know, so that a question about something else is not read as one about them.

const (
	shortestRepaired = 5  // letters; one may be wrong
	longRepaired     = 8  // letters; from it on two may be
	longestKept      = 30 // letters of a word that is kept for repairs
	maxRepairs       = 3  // words of one question
	maxDocumentWords = 50_000
	maxKeptWords     = 300_000 // that are looked through
)

// spellingSQL makes the table of the words that documents have. Words of removed documents stay in it: only what a
// visible document has is ever proposed.
const spellingSQL = "CREATE TABLE IF NOT EXISTS words (word TEXT PRIMARY KEY) WITHOUT ROWID"

// repairable reports whether a word can be misspelt or be what a misspelt one was meant to be.
func repairable(word string) bool {
	n := utf8.RuneCountInString(word)
	return n >= shortestRepaired && n <= longestKept && !strings.ContainsFunc(word, func(r rune) bool { return !unicode.IsLetter(r) })
}

// keepWords stores the words of passages for repairs.
func keepWords(ctx context.Context, tx *sql.Tx, chunks []chunk) error {
	words := map[string]bool{}
	for _, c := range chunks {
		for w := range strings.FieldsFuncSeq(strings.ToLower(c.content), func(r rune) bool { return !unicode.IsLetter(r) }) {
			if len(words) < maxDocumentWords && repairable(w) {
				words[w] = true
			}
		}
	}
	insert, err := tx.PrepareContext(ctx, "INSERT OR IGNORE INTO words VALUES (?)")
	if err != nil {
		return err
	}
	defer insert.Close()
	for w := range words {
		if _, err := insert.ExecContext(ctx, w); err != nil {
			return err
		}
	}
	return nil
}

// repairQuestion returns the question with its misspelt words as the visible documents spell them.
func (x *Index) repairQuestion(ctx context.Context, tx *sql.Tx, text string, visible map[int64]bool) (string, error) {
	repaired, tried := text, 0
	for _, word := range questionWords(text) {
		if tried == maxRepairs || !repairable(word) || x.knowsWord(word) {
			continue
		}
		known, err := visiblyFound(ctx, tx, word, visible)
		if err != nil {
			return text, err
		}
		if known {
			continue
		}
		tried++
		better, err := nearestWord(ctx, tx, word, visible)
		if err != nil {
			return text, err
		}
		if better != "" {
			repaired = replaceWord(repaired, word, better)
		}
	}
	return repaired, nil
}

// knowsWord reports whether a word is one of English or German that needs no repair.
func (x *Index) knowsWord(word string) bool {
	return slices.Contains(stopWords, word) || slices.Contains(germanStopWords, word) || loadGlossary().find(word) != "" || embed.KnowsWord(x.cfg.Encoder, word)
}

// visiblyFound reports whether a visible document has the word, in any of its forms.
func visiblyFound(ctx context.Context, tx *sql.Tx, word string, visible map[int64]bool) (found bool, err error) {
	err = eachRow(ctx, tx, func(rows *sql.Rows) error {
		var id int64
		err := rows.Scan(&id)
		found = found || visible[id]
		return err
	}, "SELECT DISTINCT c.document FROM chunk_words w JOIN chunks c ON c.id = w.rowid WHERE chunk_words MATCH ? LIMIT 1000", `"`+word+`"`)
	return found, err
}

// nearestWord is the word of a visible document that is nearest in spelling, or "" if none is near or two are.
func nearestWord(ctx context.Context, tx *sql.Tx, word string, visible map[int64]bool) (string, error) {
	n := utf8.RuneCountInString(word)
	most := 1
	if n >= longRepaired {
		most = 2
	}
	near := make([][]string, most+1)
	err := eachRow(ctx, tx, func(rows *sql.Rows) error {
		var known string
		if err := rows.Scan(&known); err != nil {
			return err
		}
		if d := nlq.EditDistance(word, known, most); d >= 1 && d <= most {
			near[d] = append(near[d], known)
		}
		return nil
	}, "SELECT word FROM words WHERE length(word) BETWEEN ? AND ? LIMIT ?", n-most, n+most, maxKeptWords)
	if err != nil {
		return "", err
	}
	for _, list := range near {
		var seen []string
		for _, candidate := range list[:min(len(list), 20)] {
			found, err := visiblyFound(ctx, tx, candidate, visible)
			if err != nil {
				return "", err
			}
			if found {
				seen = append(seen, candidate)
			}
		}
		switch {
		case len(seen) == 1, len(seen) > 1 && strings.HasPrefix(seen[len(seen)-1], seen[0]): // forms of one word
			return seen[0], nil
		case len(seen) > 1:
			return "", nil
		}
	}
	return "", nil
}

// replaceWord puts a word in the place of another, however that is written.
func replaceWord(text, word, better string) string {
	at := strings.Index(strings.ToLower(text), word)
	if at < 0 || at+len(word) > len(text) {
		return text
	}
	return text[:at] + better + text[at+len(word):]
}
