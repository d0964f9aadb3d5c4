package nlq

import (
	"fmt"
	"slices"
	"time"

	"interlock/internal/queryplan"
)

// A reader turns one question into a frame: what is asked, of which rows, in which
// order. Each pass takes the chunks that it understands and marks them as used.
type reader struct {
	x      *Index
	toks   []token
	chunks []chunk
	weight []float64 // of each table: how much the question speaks of it
	frame
	doubts  []doubt
	margin  float64        // of the last column that was chosen, to the second best
	choices map[string]int // what was decided by the person
	open    []choice       // what could be read in another way
	ties    map[int][]int  // of each mention: the columns that fit as well as the best
	about   string         // what the person chose, in words
	lost    []string       // things that the question asks for and the data do not have
}

// A frame is a question understood.
type frame struct {
	subject  int // the table whose rows are asked for, or -1
	items    []item
	conds    []cond
	groups   []group
	orders   []order
	distinct bool
	perGroup bool // the limit holds for each group
	sups     []superlative
}

// An item is one value to show.
type item struct {
	agg      queryplan.Function
	col      int // -1: rows
	table    int
	distinct bool
	at       int // chunk
	score    float64
}

// A cond keeps rows or groups.
type cond struct {
	col    int // -1 where rows of table are counted or looked for
	table  int
	agg    queryplan.Function // of a condition on groups
	op     queryplan.Operator
	values []any
	with   queryplan.Function // compare with this aggregate of the column over all rows
	exists bool               // rows of table must exist (or must not, when negated)
	neg    bool
	or     bool // an alternative to the condition before
	both   bool // each of the values must occur
	at     int
	score  float64
}

// A group is a column to group by, perhaps cut to a unit of the calendar.
type group struct {
	col  int
	unit queryplan.Unit
	at   int
	each bool // the question says so
	wide bool // by or per: everything else is to be condensed
}

// An order sorts.
type order struct {
	item
	desc bool
}

// A superlative is a superlative: the largest of something.
type superlative struct {
	item
	desc  bool
	limit int
	cond  bool // it stands in a condition: of the one with the most
	given bool // the number of rows was said
}

// A doubt is something that makes the reading less sure.
type doubt struct {
	name string
	size float64
}

func (r *reader) doubt(name string, size float64) { r.doubts = append(r.doubts, doubt{name, size}) }

func newReader(x *Index, text string, now time.Time) *reader {
	r := &reader{x: x, toks: reorderComparisons(completeLists(tokenise(text))), frame: frame{subject: -1}, ties: map[int][]int{}}
	l := &linker{x: x, toks: r.toks, sims: map[[2]string]float64{}}
	r.chunks = splitIntoChunks(r.toks, l.mentions(), now)
	r.preferFunctions()
	r.weighTables()
	r.markConditionZones()
	return r
}

// preferFunctions takes the name of a function before a number for the function,
// even where a column is called so: the total amount.
func (r *reader) preferFunctions() {
	for i := range r.chunks[:max(0, len(r.chunks)-1)] {
		c, n := &r.chunks[i], &r.chunks[i+1]
		if c.role != rMention || c.to != c.from+1 || n.role != rMention || r.toks[n.from].comma || r.toks[c.from].quoted {
			continue
		}
		k := slices.IndexFunc(phrases[r.toks[c.from].lower], func(p phrase) bool { return p.role == rAgg && len(p.words) == 1 })
		number := slices.ContainsFunc(n.mention.columns, func(m scored) bool { return m.score > 0.6 && r.x.columns[m.id].isNumeric() })
		if k >= 0 && number {
			c.role, c.mention, c.phrase = rAgg, nil, phrases[r.toks[c.from].lower][k]
		}
	}
}

// weighTables sums up how much the question speaks of each table.
func (r *reader) weighTables() {
	r.weight = make([]float64, len(r.x.tables))
	for i := range r.chunks {
		c := &r.chunks[i]
		if c.role != rMention {
			continue
		}
		c.isValue = r.readAsValue(c)
		if c.isValue {
			continue
		}
		for _, t := range c.mention.tables {
			r.weight[t.id] = max(r.weight[t.id], t.score)
		}
		for k, m := range c.mention.columns {
			if k > 0 && m.score < c.mention.columns[0].score-0.05 {
				break
			}
			if t := r.x.columns[m.id].table; r.namesTableToo(c, t) {
				r.weight[t] = max(r.weight[t], 0.9*m.score)
			} else {
				r.weight[t] = max(r.weight[t], 0.35*m.score)
			}
		}
	}
}

// namesTableToo reports whether a column's mention names the table too.
func (r *reader) namesTableToo(c *chunk, t int) bool {
	for _, tok := range r.toks[c.from:c.to] {
		if slices.Contains(r.x.tables[t].core, tok.lemma) {
			return true
		}
	}
	return false
}

// readAsValue decides whether a mention is a value of the data or a name in it.
func (r *reader) readAsValue(c *chunk) bool {
	m := c.mention
	t := &r.toks[c.from]
	switch {
	case t.quoted:
		return true
	case len(m.values) == 0:
		return false
	case len(m.columns) == 0 && len(m.tables) == 0:
		return true
	}
	named := 0.0
	if len(m.columns) > 0 {
		named = m.columns[0].score
	}
	if len(m.tables) > 0 {
		named = max(named, m.tables[0].score)
	}
	v := m.values[0].score
	if v < 0.7 {
		return false // only a form of the word: the name is meant
	}
	if t.capital && c.from > 0 {
		v += 0.25
	}
	return v > named+0.1
}

var (
	leads       = wordSet("list show find give return get tell display provide select retrieve fetch compute calculate report print count include output only what")
	preposition = wordSet("in from at on using by to into under within inside for through during via")
	wh          = wordSet("which what who whose whom")
	linking     = wordSet("of the its their his her a an all")
)

// markConditionZones marks the chunks that stand in conditions.
func (r *reader) markConditionZones() {
	cond, seen, sentence := false, false, 0
	headed := false // "which X" or "how many X": what follows X is about it
	for i := range r.chunks {
		c := &r.chunks[i]
		t := &r.toks[c.from]
		if t.sentence != sentence {
			sentence = t.sentence
			cond, headed = !leads[t.lower] && !wh[t.lower] && t.lower != "how" && t.lower != "please", false
			seen = false
		}
		begins := c.from == 0 || r.toks[c.from-1].sentence != t.sentence
		switch {
		case begins && (t.lower == "for" || t.lower == "among" || t.lower == "in" || t.lower == "of") && c.role != rEach:
			cond = true
		case c.from > 0 && (t.comma || r.followsRole(i, rAnd)) && (t.lower == "what" || t.lower == "how" || t.lower == "which" || leads[t.lower] || c.role == rCount && !r.followsComparison(i)):
			cond, headed = false, (wh[t.lower] || t.lower == "how" || c.role == rCount) && !r.beFollows(i)
			seen = false
		case c.role == rAnd && r.resumesAsking(i):
			cond, headed, seen = false, false, false
		case seen && (c.role == rRel || preposition[t.lower] && c.role == rWord) && c.role != rEach:
			cond = true
		case headed && seen && c.role != rAnd && c.role != rMention && !(c.filler && linking[t.lower]) && c.role != rDistinct && c.role != rAgg && c.role != rCount:
			cond = true
		}
		if begins && (wh[t.lower] || t.lower == "how") && !r.beFollows(i) {
			headed = true
		}
		if c.role == rCount && begins {
			headed = true
		}
		c.cond = cond
		if c.role == rMention && !c.isValue {
			seen = true
		}
	}
}

// followsComparison reports whether the chunk follows a comparison, as the number in `more than
// the number of`.
func (r *reader) followsComparison(i int) bool { return r.followsRole(i, rCompare) }

func (r *reader) followsRole(i int, role role) bool {
	for k := i - 1; k >= 0 && k >= i-2; k-- {
		if r.chunks[k].role == role {
			return true
		}
		if !r.chunks[k].filler {
			return false
		}
	}
	return false
}

func (r *reader) beFollows(i int) bool {
	return i+1 < len(r.chunks) && (r.chunks[i+1].role == rBe || r.chunks[i+1].filler && wordSet("do does did")[r.toks[r.chunks[i+1].from].lower])
}

// resumesAsking reports whether an `and` goes back to what is asked for.
func (r *reader) resumesAsking(i int) bool {
	switch p := r.chunks[i].phrase.words; {
	case len(p) >= 2 && (p[0] == "as" || p[0] == "along" || p[0] == "together" || p[len(p)-1] == "how" || p[len(p)-1] == "what"):
		return true
	}
	n := r.nextChunk(i)
	if r.isNamed(n) && r.isPropertyOf(&r.chunks[n]) && len(r.chunks[n].mention.columns) > 0 && r.namesTableToo(&r.chunks[n], r.x.columns[r.chunks[n].mention.columns[0].id].table) {
		return true // and the names of dogs
	}
	if r.isNamed(n) && n+2 < len(r.chunks) && r.toks[r.chunks[n+1].from].lower == "of" {
		// and the names of dogs
		if m := r.nextChunk(n + 1); r.isNamed(m) && len(r.chunks[m].mention.tables) > 0 && len(r.chunks[n].mention.columns) > 0 && r.chunks[n].mention.columns[0].score > 0.8 {
			return true
		}
	}
	return n >= 0 && (r.chunks[n].role == rCount || r.toks[r.chunks[n].from].lower == "what" || r.toks[r.chunks[n].from].lower == "how")
}

// nextChunk is the chunk after i that is not a filler, or -1.
func (r *reader) nextChunk(i int) int {
	for k := i + 1; k < len(r.chunks); k++ {
		if !r.chunks[k].filler {
			return k
		}
	}
	return -1
}

// prevChunk is the chunk before i that is not a filler, or -1.
func (r *reader) prevChunk(i int) int {
	for k := i - 1; k >= 0; k-- {
		if !r.chunks[k].filler {
			return k
		}
	}
	return -1
}

// areNear reports whether two chunks stand within n tokens in one sentence.
func (r *reader) areNear(a, b, n int) bool {
	if a < 0 || b < 0 {
		return false
	}
	if a > b {
		a, b = b, a
	}
	return r.chunks[b].from-r.chunks[a].to <= n && r.toks[r.chunks[a].from].sentence == r.toks[r.chunks[b].from].sentence
}

func (r *reader) hasRole(i int, role role) bool { return i >= 0 && r.chunks[i].role == role }

// isNamed reports whether chunk i names a table or column.
func (r *reader) isNamed(i int) bool { return r.hasRole(i, rMention) && !r.chunks[i].isValue }

// asTable reads a mention as a table.
func (r *reader) asTable(i int) (int, float64) {
	if !r.isNamed(i) || len(r.chunks[i].mention.tables) == 0 {
		return -1, 0
	}
	t := r.chunks[i].mention.tables[0]
	best := t
	for _, o := range r.chunks[i].mention.tables[1:] {
		// Of two that fit equally, the one that is linked to what else is spoken of.
		if o.score > t.score-0.08 && r.linkWeight(o.id) > r.linkWeight(best.id)+0.2 {
			best = o
		}
	}
	return best.id, best.score
}

func (r *reader) linkWeight(t int) float64 {
	sum := 0.0
	for o, w := range r.weight {
		if o != t && w >= 0.8 && len(r.x.schema.Between(r.x.tableName(t), r.x.tableName(o))) > 0 {
			sum += w
		}
	}
	return sum
}

// asColumn reads a mention as a column that passes ok; near is a table to prefer.
func (r *reader) asColumn(i int, near int, ok func(*column) bool) (int, float64) {
	if !r.isNamed(i) {
		return -1, 0
	}
	best, total, score, second := -1, 0.0, 0.0, 0.0
	var ids []scored
	r.margin = 1
	if w := r.toks[r.chunks[i].from].lemma; near >= 0 && r.chunks[i].to == r.chunks[i].from+1 && (w == "name" || w == "title") && ok == nil {
		if d := r.x.tables[near].display; d >= 0 && !slices.ContainsFunc(r.x.tables[near].columns, func(c int) bool { return slices.Contains(r.x.columns[c].words, w) }) {
			return d, 0.85 // what names a row is its name
		}
	}
	if w := r.toks[r.chunks[i].from].lemma; near >= 0 && r.chunks[i].to == r.chunks[i].from+1 && w == "id" && ok == nil {
		if k := r.x.tables[near].key; k >= 0 && slices.ContainsFunc(r.chunks[i].mention.columns, func(m scored) bool { return m.id == k }) {
			return k, 0.95 // the id of a row is its key
		}
	}
	for _, m := range r.chunks[i].mention.columns {
		c := &r.x.columns[m.id]
		if ok != nil && !ok(c) {
			continue
		}
		s := m.score + 0.35*min(1, r.weight[c.table])
		if id, ok := r.chosenOption(fmt.Sprintf("c%d", i)); ok && id == m.id {
			s += 2
		}
		if c.table == near {
			s += 0.3
		}
		if m.score < 0.95 {
			s += 0.1 * r.presentShare(c) // units were sold: units sold, not unit price
		}
		switch {
		case c.ref >= 0 && !c.key && c.ref != c.table && r.weight[c.ref] >= 0.8 && near != c.table:
			s -= 0.25 // what it refers to is named: that key is meant
		case c.ref >= 0 && !c.key:
			s -= 0.06
		}
		if s > total-tie {
			ids = append(ids, scored{m.id, s})
		}
		if s > total+1e-9 {
			second = total
			best, total, score = m.id, s, m.score
		} else {
			second = max(second, s)
		}
	}
	r.margin = total - second
	r.ties[i] = r.ties[i][:0]
	for _, id := range ids {
		if id.score > total-tie && id.id != best {
			r.ties[i] = append(r.ties[i], id.id)
		}
	}
	if best >= 0 {
		r.ties[i] = append([]int{best}, r.ties[i]...)
	}
	return best, score
}

// presentShare is how much of a column's name occurs anywhere in the question.
func (r *reader) presentShare(c *column) float64 {
	n := 0
	for _, w := range c.words {
		if slices.ContainsFunc(r.toks, func(t token) bool { return t.lemma == w || t.lower == w }) {
			n++
		}
	}
	return float64(n) / float64(max(1, len(c.words)))
}

// isNumeric reports whether the column holds numbers that mean an amount.
func (c *column) isNumeric() bool { return c.number && c.ref < 0 && !c.part && !c.coded }

// isCalendar reports whether the column says when something was: a date, or a year.
func (c *column) isCalendar() bool {
	return c.date || slices.ContainsFunc(c.words, func(w string) bool {
		return w == "year" || w == "date" || c.kind == queryplan.Number && yearly[w]
	})
}

// yearly are words of columns that hold years without saying so.
var yearly = wordSet("founded established built opened born since")
