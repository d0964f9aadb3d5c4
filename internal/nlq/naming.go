package nlq

import (
	"slices"
	"strings"

	"interlock/internal/queryplan"
)

// Of names that the words of a message may be, the least score that counts.
const minName = 0.5

// nameOf finds all that a stretch of words may name: terms that the dictionary defines, tables,
// columns, values. The weight says how much of the message it explains.
func (x *Index) nameOf(toks []token) (piece, float64) {
	p := piece{role: pName, table: -1}
	n := float64(len(toks))
	content := nameWords(toks)
	if refs := x.absences[joinLemmas(toks)]; len(refs) > 0 && !toks[0].quoted {
		p.vals = slices.Clone(refs)
	}
	if len(content) == 0 {
		return p, 1.1 * n * float64(min(1, len(p.vals)))
	}
	weight := 0.0
	if len(toks) == 1 && strings.Contains(toks[0].lower, "_") { // written as the data write it
		for i := range x.columns {
			if strings.EqualFold(x.columns[i].name, toks[0].lower) {
				p.cols = append(p.cols, scored{i, 1})
			}
		}
		if len(p.cols) > 0 {
			return p, 1.3
		}
	}
	if d := x.defined[joinLemmas(toks)]; d != nil && !toks[0].quoted {
		p.def = d
		weight = 1.15 * n
	}
	if !toks[0].quoted && !(len(toks) == 1 && grammar[toks[0].lower]) && !toks[0].number {
		for i := range x.tables {
			if s := x.scoreTable(content, i); s > p.tscore {
				p.table, p.tscore = i, s
			}
		}
		counts := len(toks) > 2 && toks[0].lemma == "number" && toks[1].lower == "of"
		for i := range x.columns {
			if len(toks) > 1 && toks[0].lower == "no" {
				break // no bookings is no booking_no
			}
			if words := x.columns[i].words; counts && len(words) > 1 && numberTail[words[len(words)-1]] {
				continue // the number of flights is no flight number
			}
			if s := x.scoreColumn(content, i); s >= minName {
				p.cols = append(p.cols, scored{i, s})
			}
		}
		slices.SortStableFunc(p.cols, func(a, b scored) int {
			if a.score > b.score {
				return -1
			} else if a.score < b.score {
				return 1
			}
			return a.id - b.id
		})
		if len(p.cols) > 0 {
			top := p.cols[0].score
			p.cols = slices.DeleteFunc(p.cols, func(c scored) bool { return c.score < top-0.12 })
			weight = max(weight, top*n+0.02*(n-1))
		}
		if p.table >= 0 {
			weight = max(weight, p.tscore*n*1.02)
		}
	}
	if !(len(toks) == 1 && (grammar[toks[0].lower] || harmlessWords[toks[0].lower] && !toks[0].capital) && !toks[0].quoted) {
		p.vals = append(p.vals, x.valuesNamed(toks)...)
	}
	if len(p.vals) > 0 {
		w := 0.97 * n
		if toks[0].quoted || len(toks) > 1 {
			w = 1.1 * n
		}
		weight = max(weight, w)
	} else if toks[0].quoted && len(toks) == 1 {
		return p, 0
	}
	return p, weight
}

// nameWords are the words that must occur in a name; nil where the stretch begins or ends with grammar.
func nameWords(toks []token) []*token {
	var out []*token
	for i := range toks {
		t := &toks[i]
		if slices.Contains([]string{"of", "the", "a", "an", "in", "for"}, t.lower) {
			if i == 0 || i == len(toks)-1 {
				return nil
			}
			continue
		}
		if (t.comma || t.quoted) && i > 0 {
			return nil
		}
		out = append(out, t)
	}
	return out
}

func joinLemmas(toks []token) string {
	var ws []string
	for i := range toks {
		ws = append(ws, toks[i].lemma)
	}
	return strings.Join(ws, " ")
}

// sameWord says how surely a word of a message is a word of a name.
func sameWord(t *token, w string) float64 {
	switch {
	case t.lemma == w || t.lower == w:
		return 1
	case stem(w) == t.stem && len(t.stem) > 3:
		return 0.94
	case synonyms[t.lemma][w]:
		return 0.8
	}
	return 0
}

// scoreTable says how well words name a table: by its name, by what references to it are
// called, or by what the dictionary says its rows are.
func (x *Index) scoreTable(content []*token, i int) float64 {
	t := &x.tables[i]
	best := 0.0
	for _, name := range append([][]string{t.core, t.words}, t.aliases...) {
		if len(name) != len(content) {
			continue
		}
		s := 1.0
		for k, w := range name {
			if k == len(name)-1 && content[k].lemma != w && stem(w) == content[k].stem && isPastParticiple(content[k]) {
				s = 0 // enrolled is no enrolment
			}
			s = min(s, sameWord(content[k], w))
		}
		best = max(best, s)
	}
	if len(content) == 1 && best < 0.7 && x.called[content[0].lemma] == i+1 {
		best = 0.7
	}
	if best < minName {
		return 0
	}
	return best
}

// scoreColumn says how well words name a column: all of its words, or those that are left
// without its table's name, its unit and words that people leave out.
func (x *Index) scoreColumn(content []*token, i int) float64 {
	c := &x.columns[i]
	if slices.ContainsFunc(c.names, func(name []string) bool {
		return slices.EqualFunc(name, content, func(w string, t *token) bool { return sameWord(t, w) > 0.9 })
	}) {
		return 1
	}
	if s := x.scoreName(content, i); s > 0 {
		return s
	}
	described := slices.ContainsFunc(c.nouns, func(name []string) bool {
		return slices.EqualFunc(name, content, func(w string, t *token) bool { return t.lemma == w || t.lower == w })
	})
	if described {
		return describedScore
	}
	return 0
}

// scoreName says how well words name a column by its own name.
func (x *Index) scoreName(content []*token, i int) float64 {
	c := &x.columns[i]
	tab := &x.tables[c.table]
	used := make([]float64, len(c.words))
	owned := 0
	for n, t := range content {
		at := -1
		for k, w := range c.words {
			if s := sameWord(t, w); used[k] == 0 && s > 0 && (at < 0 || s > used[at]) {
				if at >= 0 {
					used[at] = 0
				}
				at, used[k] = k, s
			}
		}
		if at >= 0 {
			continue
		}
		if slices.Contains(tab.core, t.lemma) || typeNouns[t.lemma] && len(content) > 1 || textNouns[t.lemma] && n > 0 && c.kind == queryplan.Text && !x.isPartOfName(t, content) {
			owned++
			continue
		}
		return 0
	}
	if owned == len(content) {
		return 0
	}
	if last := content[len(content)-1]; owned > 0 && (x.truths[i] != nil && slices.Contains(tab.core, last.lemma) || pastForm(last) && content[0].lemma != content[0].lower && slices.Contains(tab.core, content[0].lemma)) {
		return 0 // premium users, people born: the rows, and what is said of them
	}
	got, total, own := 0.0, 0.0, 0
	for k, w := range c.words {
		weight := 1.0
		switch {
		case used[k] > 0:
			if !slices.Contains(tab.core, w) && !columnTail[w] {
				own++
			}
		case slices.Contains(tab.core, w) && len(c.words) > 1, units[w], columnTail[w], w == "min", w == "gb":
			weight = 0.05
		}
		total += weight
		got += weight * used[k]
	}
	if own == 0 && len(c.words) > len(content) {
		return 0 // only a word of the table or of the kind: id, name
	}
	if (c.ref >= 0 || c.key) && len(c.words) > 1 && keyWords[c.words[len(c.words)-1]] && used[len(c.words)-1] == 0 {
		return 0
	}
	s := got / total
	if last := len(c.words) - 1; c.date && last > 0 && used[last] == 0 && whenWords[c.words[last]] && !slices.ContainsFunc(content, pastForm) {
		return 0 // an order is no order date
	}
	if c.date && len(content) == 1 && isPastParticiple(content[0]) && s < 0.85 {
		return 0
	}
	return s
}

// isPartOfName reports whether a word belongs to the name of a column that another of the words is in: template code.
func (x *Index) isPartOfName(t *token, content []*token) bool {
	return slices.ContainsFunc(x.columns, func(c column) bool {
		return slices.Contains(c.words, t.lemma) && slices.ContainsFunc(content, func(o *token) bool { return o != t && slices.Contains(c.words, o.lemma) })
	})
}

// typeNouns may stand beside a name without changing it: exam type, type of insurance.
var typeNouns = wordSet("type kind level category group")

// numberTail ends the name of a column of numbers that name things: flight_no.
var numberTail = wordSet("no number nr num")

// textNouns may follow the name of a text without changing it: phone number, mail address, promo code.
var textNouns = wordSet("number address code")

// columnTail are words at the end of a column's name that people leave out.
var columnTail = wordSet("on at date day name amount value total count number no code status type kind of the in per time flag is has")

// valuesNamed finds the values that words spell, whole, by their base form, or by a common other name.
func (x *Index) valuesNamed(toks []token) []valueRef {
	texts := make([]string, len(toks))
	for i := range toks {
		texts[i] = toks[i].lower
	}
	key := normaliseValue(strings.Join(texts, " "))
	if key == "" {
		return nil
	}
	if refs := x.values[key]; len(refs) > 0 {
		return x.distinctColumns(refs)
	}
	last := len(toks) - 1
	texts[last] = toks[last].lemma
	if refs := x.values[normaliseValue(strings.Join(texts, " "))]; len(refs) > 0 && toks[last].lemma != toks[last].lower {
		return x.distinctColumns(refs)
	}
	if len(toks) != 1 || toks[0].quoted {
		return nil
	}
	t := &toks[0]
	for _, other := range append(slices.Clone(demonyms[t.lower]), otherNames[t.lower]...) {
		if refs := x.values[other]; len(refs) > 0 {
			return x.distinctColumns(refs)
		}
	}
	for _, short := range letterNames[t.lower] {
		var out []valueRef
		for _, ref := range x.values[short] {
			if slices.ContainsFunc(x.columns[ref.column].words, func(w string) bool { return w == "sex" || w == "gender" }) {
				out = append(out, ref)
			}
		}
		if len(out) > 0 {
			return x.distinctColumns(out)
		}
	}
	if isPastParticiple(t) || strings.HasSuffix(t.lower, "ly") {
		var out []valueRef
		for _, ref := range x.stems[t.stem] {
			if x.distinct[ref.column] <= 30 {
				out = append(out, ref)
			}
		}
		return x.distinctColumns(out)
	}
	return nil
}

// letterNames are words for values that data often keep as a letter.
var letterNames = map[string][]string{"female": {"f", "w"}, "male": {"m"}, "women": {"f", "w"}, "men": {"m"}, "females": {"f"}, "males": {"m"}}

// distinctColumns keeps one reference for each column.
func (x *Index) distinctColumns(refs []valueRef) []valueRef {
	var out []valueRef
	for _, r := range refs {
		if x.columns[r.column].kind == queryplan.Date || slices.ContainsFunc(out, func(o valueRef) bool { return o.column == r.column }) {
			continue
		}
		out = append(out, r)
	}
	return out
}

// rowName is the column by which people name a row of a table, or -1 where only the key does.
func (x *Index) rowName(t int) int {
	if both := x.personName(t); both != nil {
		return both[0]
	}
	d := x.tables[t].display
	if d < 0 || d == x.tables[t].key {
		return -1
	}
	w := x.columns[d].words
	last := ""
	if len(w) > 0 {
		last = w[len(w)-1]
	}
	if last == "name" || last == "title" || x.isUnique(d) {
		return d
	}
	return -1
}

// rowNames are the columns that name a row of a table together, such as first and last name.
func (x *Index) rowNames(t int) []int {
	if both := x.personName(t); both != nil {
		return both
	}
	if name := x.rowName(t); name >= 0 {
		return []int{name}
	}
	return nil
}

// isUnique reports whether nearly every row has another value.
func (x *Index) isUnique(col int) bool {
	n, ok := x.distinct[col]
	rows := x.tables[x.columns[col].table].rows
	return ok && rows > 0 && int64(n)*10 >= rows*9
}

// foldsCase reports whether a column is an enumeration whose spellings differ in case only.
func (x *Index) foldsCase(col int) bool { return x.folded[col] }

// summable reports whether adding a column up means anything.
func (x *Index) summable(col int) bool {
	c := &x.columns[col]
	if !c.isNumeric() || c.key || c.isCalendar() || x.sentinels[col] {
		return false
	}
	return !slices.ContainsFunc(c.words, func(w string) bool { return notSummed[w] })
}

// notSummed are words of columns whose numbers are no amounts.
var notSummed = wordSet("rate score rating grade price age percent percentage pct ratio year level rank latitude longitude temperature per hourly max min avg average index list feedback star month day week zip code number no id lat lon version phone")

// amountColumn is the one column of a table that money or size is kept in, or -1.
func (x *Index) amountColumn(t int) int {
	found := -1
	for _, id := range x.tables[t].columns {
		if x.summable(id) && slices.ContainsFunc(x.columns[id].words, func(w string) bool { return moneyWords[w] }) {
			if slices.Equal(withoutWords(x.columns[id].words, x.tables[t].core), []string{"amount"}) {
				return id
			}
			if found >= 0 {
				return -1
			}
			found = id
		}
	}
	return found
}

// quantityColumn is the column of a table that says how many of its thing each row is about, or -1.
func (x *Index) quantityColumn(t int) int {
	found := -1
	for _, id := range x.tables[t].columns {
		own := withoutWords(x.columns[id].words, x.tables[t].core)
		if len(own) == 1 && quantityWords[own[0]] && x.summable(id) {
			if found >= 0 {
				return -1
			}
			found = id
		}
	}
	return found
}

var quantityWords = wordSet("quantity qty unit piece")

var moneyWords = wordSet("amount value revenue sale cost price fee total turnover spend expense payment budget")

// mainDate is the date by which rows of a table count, or -1 where that is not clear.
func (x *Index) mainDate(t int) int {
	if d, ok := x.mainDates[t]; ok {
		return d
	}
	all, plain := []int{}, []int{}
	for _, id := range x.tables[t].columns {
		c := &x.columns[id]
		if !c.date || slices.ContainsFunc(c.words, func(w string) bool { return w == "birth" || w == "born" || w == "dob" || w == "birthday" }) {
			continue
		}
		all = append(all, id)
		if !slices.ContainsFunc(c.words, func(w string) bool { return laterDates[w] }) {
			plain = append(plain, id)
		}
	}
	switch {
	case len(all) == 1:
		return all[0]
	case len(plain) == 1:
		return plain[0]
	}
	return -1
}

// laterDates are words of dates that end what a row is about.
var laterDates = wordSet("end ended until left expiry expire expires leave exit termination terminated finish finished dropped")

// synonymColumns are the columns that a word may mean by a common other name.
func (x *Index) synonymColumns(text string) []int {
	var out []int
	w := lemma(text)
	for i := range x.columns {
		if slices.ContainsFunc(x.columns[i].words, func(o string) bool { return synonyms[w][o] || o == w }) || w == "rating" && x.sentinels[i] {
			out = append(out, i)
		}
	}
	return out
}

// otherNames are other names of places, as data spell them.
var otherNames = map[string][]string{}
