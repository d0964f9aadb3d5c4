package nlq

import (
	_ "embed" // the list of ordinary words
	"slices"
	"strings"
	"sync"
)

// correctSpelling replaces words that nothing knows by the one word that differs by a slip of
// the finger: a word of the data or of grammar. It notes each.
func (x *Index) correctSpelling(toks []token, german bool) ([]token, []Word) {
	out := slices.Clone(toks)
	if german { // what is left of German is no slip of an English word
		return out, nil
	}
	var notes []Word
	for i := range out {
		t := &out[i]
		if t.number || t.quoted || len([]rune(t.lower)) < 4 || x.knowsWord(t) {
			continue
		}
		w := x.nearestWord(t.lower)
		if w == "" {
			continue
		}
		notes = append(notes, Word{t.text, "read as " + w})
		t.lower, t.lemma, t.stem = w, lemma(w), stem(w)
	}
	return out, notes
}

// knowsWord reports whether a word occurs in the data, in grammar or in English or German as they are spelt.
func (x *Index) knowsWord(t *token) bool {
	if x.vocabulary[t.lower] || x.vocabulary[t.lemma] || isGrammar(t.lower) || harmlessWords[t.lower] || months[t.lower] != 0 || x.stemmed[t.stem] {
		return true
	}
	for w := range synonyms[t.lemma] {
		if x.vocabulary[w] {
			return true
		}
	}
	_, german := lexicon().find(foldGerman(t.lower))
	return german || germanSigns[t.lower] || len(demonyms[t.lower]) > 0 || fillers[t.lower] || harmless[t.lemma] || isOrdinary(t.lower)
}

//go:embed words.txt
var ordinaryText string

// ordinaryWords are words that are spelt as they are meant.
var ordinaryWords = sync.OnceValue(func() map[string]bool {
	words := map[string]bool{}
	for line := range strings.Lines(ordinaryText) {
		if !strings.HasPrefix(line, "#") {
			for w := range strings.FieldsSeq(line) {
				words[w] = true
			}
		}
	}
	return words
})

// isOrdinary reports whether a word is one of everyday English, in one of its forms.
func isOrdinary(w string) bool { return ordinaryWords()[w] || ordinaryWords()[lemma(w)] }

// grammarWords are the words that pieces are made of: true for those that are harmless to read by mistake, as they
// turn nothing round and bound nothing.
var grammarWords = func() map[string]bool {
	m := map[string]bool{}
	bounds := []pieceRole{pNot, pNever, pExclude, pOp, pOrMore, pBetween, pBirth, pMissing, pOnly, pInstead}
	for _, forms := range pieceTable {
		for _, f := range forms {
			for _, w := range f.words {
				before, known := m[w]
				m[w] = (before || !known) && !slices.Contains(bounds, f.piece.role)
			}
		}
	}
	return m
}()

func isGrammar(w string) bool {
	_, ok := grammarWords[w]
	return ok
}

// nearestWord is the one known word within a slip of the finger, or "". Words of names come first. A word of a value,
// or one of grammar that may turn the question round, is taken only where no other word of English is as near.
func (x *Index) nearestWord(w string) string {
	names := nearest{word: w}
	for known := range x.named {
		names.look(known)
	}
	if names.unique() {
		return names.found
	}
	others, ordinary := nearest{word: w}, nearest{word: w}
	for known := range x.vocabulary {
		others.look(known)
	}
	for known := range grammarWords {
		others.look(known)
	}
	for known := range months {
		others.look(known)
	}
	if !others.unique() || grammarWords[others.found] || months[others.found] != 0 {
		return others.only()
	}
	for known := range ordinaryWords() {
		ordinary.look(known)
	}
	if ordinary.ties > 0 && ordinary.distance <= others.distance && (!ordinary.unique() || lemma(ordinary.found) != lemma(others.found)) {
		return ""
	}
	return others.found
}

// nearest finds the word of a list that differs least from one that nobody knows.
type nearest struct {
	word, found    string
	distance, ties int // ties of 0: nothing was found
}

func (n *nearest) unique() bool { return n.ties == 1 }

// only is the word that was found where it is the only one.
func (n *nearest) only() string {
	if n.unique() {
		return n.found
	}
	return ""
}

func (n *nearest) look(known string) {
	if len([]rune(known)) < 4 || !sameStart(n.word, known) {
		return
	}
	d := min(EditDistance(n.word, known, 2), EditDistance(n.word, plural(known), 2))
	if d == 2 && (len(n.word) < 8 || len(known) < 8) || d > 2 {
		return
	}
	switch {
	case n.ties == 0 || d < n.distance:
		n.distance, n.found, n.ties = d, known, 1
	case d == n.distance && lemma(known) == lemma(n.found):
		n.found = min(n.found, known)
	case d == n.distance:
		n.ties++
	}
}

// sameStart reports whether two words begin with the same letter, or with the same two turned round.
func sameStart(a, b string) bool {
	ra, rb := []rune(a), []rune(b)
	return ra[0] == rb[0] || len(ra) > 1 && len(rb) > 1 && ra[0] == rb[1] && ra[1] == rb[0]
}

// EditDistance counts the letters to leave out, add, change or turn round; more than most is most+1.
func EditDistance(a, b string, most int) int {
	ra, rb := []rune(a), []rune(b)
	if len(ra)-len(rb) > most || len(rb)-len(ra) > most || ra[0] != rb[0] && len(ra) < 6 {
		return most + 1
	}
	rows := make([][]int, len(ra)+1)
	for i := range rows {
		rows[i] = make([]int, len(rb)+1)
		rows[i][0] = i
	}
	for j := range rows[0] {
		rows[0][j] = j
	}
	for i := 1; i <= len(ra); i++ {
		for j := 1; j <= len(rb); j++ {
			cost := 1
			if ra[i-1] == rb[j-1] {
				cost = 0
			}
			d := min(rows[i-1][j]+1, rows[i][j-1]+1, rows[i-1][j-1]+cost)
			if i > 1 && j > 1 && ra[i-1] == rb[j-2] && ra[i-2] == rb[j-1] {
				d = min(d, rows[i-2][j-2]+1)
			}
			rows[i][j] = d
		}
	}
	return min(rows[len(ra)][len(rb)], most+1)
}
