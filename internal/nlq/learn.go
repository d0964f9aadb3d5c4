package nlq

import (
	"maps"
	"regexp"
	"slices"
	"strings"
	"time"

	"interlock/internal/schema"
)

// learnMeaning works out what the dictionary says in sentences of the plain kinds: the day of the
// extract, main dates, values that mean unknown, and terms that can be computed.
func (x *Index) learnMeaning(dict schema.Dictionary) {
	x.ends = map[int]bool{}
	x.absences, x.mainRefs = map[string][]valueRef{}, map[int]bool{}
	x.unknown, x.same = map[int][]any{}, map[int][]schema.SameValue{}
	x.sentinels, x.mainDates, x.folded = map[int]bool{}, map[int]int{}, map[int]bool{}
	x.unread = map[string]string{}
	x.defined, x.called, x.vocabulary, x.stemmed = map[string]*definition{}, map[string]int{}, map[string]bool{}, map[string]bool{}
	x.named = map[string]bool{}
	x.learnVocabulary()
	x.learnTexts(dict)
	x.learnNouns(dict)
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
	for _, name := range sortedKeys(pending) {
		if x.learnPeriod(name, pending[name]) {
			delete(pending, name)
		}
	}
	for range 3 {
		for _, name := range sortedKeys(pending) {
			d, unread := x.define(name, pending[name])
			if x.unread[name] = unread; d != nil {
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

// mainForm says of one of several references to a table that it is the one meant where none is named.
var mainForm = regexp.MustCompile(`(?i)\b(?:belongs? to|counts? (?:for|by|towards)) this (?:one|\w+)\b`)

// learnTexts reads what the descriptions of tables and columns say.
func (x *Index) learnTexts(dict schema.Dictionary) {
	x.learnCalled(dict)
	for _, name := range slices.Sorted(maps.Keys(dict.Tables)) {
		columns := dict.Tables[name].Columns
		for _, column := range slices.Sorted(maps.Keys(columns)) {
			if c := x.findColumn(name, column); c >= 0 {
				x.learnColumn(c, columns[column])
			}
		}
	}
}

// learnColumn reads what the description of a column says.
func (x *Index) learnColumn(c int, said string) {
	col := &x.columns[c]
	if countByForm.MatchString(said) && col.date {
		x.mainDates[col.table] = c
	}
	if mainForm.MatchString(said) && col.ref >= 0 {
		x.mainRefs[c] = true
	}
	x.learnUnknown(c, said)
	x.learnSame(c, said)
	x.learnCodes(c, said)
	x.learnAbsent(c, said)
}

// learnCalled lets the rows of a table be called what its description begins with: our customers, orders and returns;
// or what it alone speaks of. A word that two tables are described by names neither.
func (x *Index) learnCalled(dict schema.Dictionary) {
	owners, heads := map[string][]int{}, map[string][]int{}
	for name, text := range dict.Tables {
		t, head := x.findTable(name), true
		for _, tok := range tokenise(text.Text) {
			if t < 0 || tok.sentence > 0 {
				break
			}
			head = head && !endsHead[tok.lower]
			w := tok.lemma
			if w == tok.lower || x.vocabulary[w] || fillers[w] || fillers[tok.lower] || len(w) <= 3 || slices.Contains(owners[w], t) {
				continue
			}
			owners[w] = append(owners[w], t)
			if head {
				heads[w] = append(heads[w], t)
			}
		}
	}
	for w, list := range owners {
		if len(heads[w]) > 0 {
			list = heads[w]
		}
		if len(list) == 1 {
			x.called[w] = list[0] + 1
			x.vocabulary[w], x.named[w] = true, true
		}
	}
}

// endsHead are the words behind which a description says more about the rows than what they are.
var endsHead = wordSet("that which who whom whose where when of for on in at from with by to about into we they")

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
