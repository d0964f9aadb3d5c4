package nlq

import (
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"

	"interlock/internal/schema"
)

// learnMeaning works out what the dictionary says in sentences of the plain kinds: the day of the
// extract, main dates, values that mean unknown, and terms that can be computed.
func (x *Index) learnMeaning(dict schema.Dictionary) {
	x.unknown, x.same = map[int][]any{}, map[int][]schema.SameValue{}
	x.sentinels, x.mainDates, x.folded = map[int]bool{}, map[int]int{}, map[int]bool{}
	x.defined, x.called, x.vocabulary, x.stemmed = map[string]*definition{}, map[string]int{}, map[string]bool{}, map[string]bool{}
	x.named = map[string]bool{}
	x.learnVocabulary()
	x.learnTexts(dict)
	for name, text := range dict.Glossary {
		if m := dayInText.FindStringSubmatch(text); m != nil && (extractWords.MatchString(name) || extractWords.MatchString(text) && strings.EqualFold(name, "today")) {
			if day, err := time.Parse(time.DateOnly, m[1]); err == nil {
				x.today = day
			}
		}
	}
	// A definition may use others: what fails is tried again after them.
	pending := map[string]string{}
	for name, text := range dict.Glossary {
		pending[name] = text
	}
	for range 3 {
		for _, name := range sortedKeys(pending) {
			if d := x.define(name, pending[name]); d != nil {
				x.definitions = append(x.definitions, d)
				x.defined[joinLemmas(tokenise(strings.ToLower(name)))] = d
				for _, t := range tokenise(strings.ToLower(name)) {
					x.vocabulary[t.lower], x.vocabulary[t.lemma] = true, true
					x.named[t.lower] = true
				}
				delete(pending, name)
			}
		}
	}
	for _, name := range sortedKeys(pending) {
		if !extractWords.MatchString(name) {
			x.undefined = append(x.undefined, name)
			x.keepTerm(name)
		}
	}
}

var computedForm = regexp.MustCompile(`(?i)\b(divided by|sum of|total of|average of|mean of|median of|share of|percentage of|proportion of|number of|times|minus|less)\b`)

// keepTerm lets no words stand for a term that is computed in a way which is not understood: the
// grammar of single sentences would read a part of them.
func (x *Index) keepTerm(name string) {
	for i := range x.glossary {
		if t := &x.glossary[i]; t.name == name && computedForm.MatchString(t.means) {
			t.words = ""
		}
	}
}

func sortedKeys(m map[string]string) []string {
	var out []string
	for k := range m {
		out = append(out, k)
	}
	slices.Sort(out)
	return out
}

// learnVocabulary gathers the words of names and of values that are enumerations.
func (x *Index) learnVocabulary() {
	add := func(w string) {
		x.vocabulary[w], x.named[w] = true, true
		x.stemmed[stem(w)] = true
	}
	for i := range x.tables {
		for _, w := range x.tables[i].words {
			add(w)
		}
		for _, a := range x.tables[i].aliases {
			for _, w := range a {
				add(w)
			}
		}
	}
	for i := range x.columns {
		for _, w := range x.columns[i].words {
			add(w)
		}
		add(strings.ToLower(x.columns[i].name))
	}
	spellings := map[int]map[string]int{}
	for key, refs := range x.values {
		for _, r := range refs {
			if n, ok := x.distinct[r.column]; ok && n <= 3000 && !x.columns[r.column].number {
				for _, w := range strings.Fields(key) {
					x.vocabulary[w] = true
				}
			}
			if spellings[r.column] == nil {
				spellings[r.column] = map[string]int{}
			}
			spellings[r.column][strings.ToLower(strings.TrimSpace(r.value))]++
		}
	}
	for col, forms := range spellings {
		if !x.known[col] || len(forms) > 200 {
			continue
		}
		for _, n := range forms {
			if n > 1 {
				x.folded[col] = true
			}
		}
	}
}

// learnTexts reads what the descriptions of tables and columns say.
func (x *Index) learnTexts(dict schema.Dictionary) {
	owners := map[string][]int{}
	for name, text := range dict.Tables {
		t := x.findTable(name)
		if t < 0 {
			continue
		}
		first, _, _ := strings.Cut(text.Text, ". ")
		for _, tok := range tokenise(first) {
			if w := tok.lemma; w != tok.lower && !x.vocabulary[w] && !fillers[w] && !fillers[tok.lower] && len(w) > 3 {
				owners[w] = append(owners[w], t)
			}
		}
		for column, said := range text.Columns {
			c := x.findColumn(name, column)
			if c < 0 {
				continue
			}
			if countByForm.MatchString(said) && x.columns[c].date {
				x.mainDates[t] = c
			}
			x.learnUnknown(c, said)
			x.learnSame(c, said)
		}
	}
	for w, list := range owners {
		if slices.Sort(list); len(slices.Compact(list)) == 1 {
			x.called[w] = list[0] + 1
			x.vocabulary[w], x.named[w] = true, true
		}
	}
}

var sameForm = regexp.MustCompile(`(?i)(?:^|[\s(,;:.])([\p{L}\d]+) (?:is|=|means|stands for) ([\p{L}\d]+)`)

// learnSame takes the values of a column that its description says are one: DE is Germany.
func (x *Index) learnSame(c int, said string) {
	value := func(word string) string {
		for _, ref := range x.values[normaliseValue(word)] {
			if ref.column == c {
				return ref.value
			}
		}
		return ""
	}
	for _, m := range sameForm.FindAllStringSubmatch(said, -1) {
		if spelling, shown := value(m[1]), value(m[2]); spelling != "" && shown != "" && spelling != shown {
			x.same[c] = append(x.same[c], schema.SameValue{Value: shown, Spellings: []string{spelling}})
		}
	}
}

// learnUnknown takes the numbers that a description says mean unknown.
func (x *Index) learnUnknown(c int, said string) {
	if !x.columns[c].number {
		return
	}
	if zeroForm.MatchString(said) {
		x.sentinels[c] = true
	}
	for _, m := range unknownForm.FindAllStringSubmatch(said, -1) {
		if n, err := strconv.ParseFloat(m[1], 64); err == nil && n != 0 {
			x.unknown[c] = append(x.unknown[c], n)
		}
	}
}
