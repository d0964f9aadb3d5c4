package nlq

import "slices"

// correctSpelling replaces words that nothing knows by the one word that differs by a slip of
// the finger: a word of the data or of grammar. It notes each.
func (x *Index) correctSpelling(toks []token) ([]token, []Word) {
	out := slices.Clone(toks)
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

// knowsWord reports whether a word occurs in the data, in grammar or in the list of harmless words.
func (x *Index) knowsWord(t *token) bool {
	if x.vocabulary[t.lower] || x.vocabulary[t.lemma] || grammarWords[t.lower] || harmlessWords[t.lower] || months[t.lower] != 0 || x.stemmed[t.stem] {
		return true
	}
	for w := range synonyms[t.lemma] {
		if x.vocabulary[w] {
			return true
		}
	}
	return len(demonyms[t.lower]) > 0 || fillers[t.lower] || harmless[t.lemma] || englishWords[t.lower]
}

// englishWords are correct words that look like slips of others.
var englishWords = wordSet("profit rent fuel driver margin cause caused satisfied parents room rooms attendance diagnosis marketing spend cost costs tickets support price rate rates place placed change changed worth share shared state stated trend there these where while still start stand chart charts forecast growth grow")

// grammarWords are the words that pieces are made of.
var grammarWords = func() map[string]bool {
	m := map[string]bool{}
	for _, forms := range pieceTable {
		for _, f := range forms {
			for _, w := range f.words {
				m[w] = true
			}
		}
	}
	return m
}()

// nearestWord is the one known word within a slip of the finger, or "".
func (x *Index) nearestWord(w string) string {
	found, ties := "", 0
	best := 3
	look := func(known string) {
		if len([]rune(known)) < 4 {
			return
		}
		d := min(EditDistance(w, known, 2), EditDistance(w, plural(known), 2))
		if d == 2 && (len(w) < 8 || len(known) < 8) || d > 2 {
			return
		}
		switch {
		case d < best:
			best, found, ties = d, known, 1
		case d == best && lemma(known) == lemma(found):
			found = min(found, known)
		case d == best:
			ties++
		}
	}
	for known := range x.vocabulary {
		look(known)
	}
	for known := range grammarWords {
		look(known)
	}
	for known := range months {
		look(known)
	}
	if ties != 1 {
		return ""
	}
	return found
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
