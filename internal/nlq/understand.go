package nlq

import (
	"fmt"
	"regexp"
	"slices"
	"strings"
	"time"

	"interlock/internal/queryplan"
)

// An understanding is one message on the way to an inquiry. Each step marks the pieces that it
// has understood; what is left at the end and not harmless is what the message is refused for.
type understanding struct {
	x         *Index
	toks      []token
	ps        []piece
	q         *inquiry
	now       time.Time
	last      *inquiry // what a follow-up edits, or nil
	choices   map[string]int
	open      []choice
	lost      []string
	notes     []Word
	german    bool
	listing   bool
	askedUnit bool // units of the calendar are asked for, kept by the measure
	named     int  // where a list names its rows
}

// understand reads a message that stands by itself, or with last as an edit of the inquiry before.
func (x *Index) understand(text string, now time.Time, choices map[string]int, last *inquiry) *understanding {
	u := &understanding{x: x, now: now, last: last, choices: choices, q: newInquiry()}
	if last != nil {
		u.q = last.clone()
	}
	text, u.german = x.translate(atPresent.ReplaceAllString(text, "currently"))
	toks, notes := x.correctSpelling(tokenise(x.dropPurpose(text)), u.german)
	u.toks, u.notes = readNumbers(toks, u.german), notes
	u.ps = x.findPieces(u.toks, now)
	u.restoreVerbs()
	u.readSharedNames()
	if last != nil {
		u.edit()
	} else {
		u.readQuestion()
	}
	return u
}

// atPresent are other ways to say currently.
var atPresent = regexp.MustCompile(`(?i)\b(at the moment|right now|at present|these days|as of today)\b`)

// restoreVerbs takes a verb for the value that it leads to: what did we cancel is what is cancelled.
func (u *understanding) restoreVerbs() {
	for i := range u.ps {
		p := &u.ps[i]
		if p.role != pUnknown || p.to != p.from+1 || !u.asksDone(p.from) {
			continue
		}
		for _, ref := range u.x.stems[u.toks[p.from].stem] {
			if u.x.distinct[ref.column] <= 30 {
				p.vals = append(p.vals, ref)
			}
		}
		if p.vals = u.x.distinctColumns(p.vals); len(p.vals) > 0 {
			p.role = pName
		}
	}
}

// asksDone reports whether the word at k is the verb of `did we ...`.
func (u *understanding) asksDone(k int) bool {
	for n := k - 1; n >= 0 && n >= k-3; n-- {
		if (u.toks[n].lower == "did" || u.toks[n].lower == "do") && wordSet("we they you i")[u.toks[n+1].lower] {
			return true
		}
	}
	return false
}

func (u *understanding) readQuestion() {
	u.refuseUnanswerable()
	u.readSubject()
	if u.q.base < 0 {
		if slices.ContainsFunc(u.ps, func(p piece) bool { return p.role == pUnknown }) {
			u.checkWords()
		}
		u.refuse("nothing in the question is the name of a table, a column or a term of this data, which has " + u.x.listTables())
		return
	}
	u.readParts()
	u.checkWords()
}

// refuseUnanswerable refuses what no data say: what will be, why something was, and terms whose
// definition cannot be computed.
func (u *understanding) refuseUnanswerable() {
	if len(u.toks) > 0 && orders[u.toks[0].lower] && u.last == nil {
		u.refuse(fmt.Sprintf("%q is not a question: data are only read here, never changed", u.toks[0].text))
	}
	for i := range u.toks {
		switch t := &u.toks[i]; {
		case t.quoted:
		case t.lower == "will" || t.stem == "forecast" || t.stem == "predict":
			u.refuse("the data say what happened, not what will")
		case t.lower == "why":
			u.refuse("the data say what happened, not why")
		}
	}
	said := " " + joinLemmas(u.toks) + " "
	for _, name := range u.x.undefined {
		if strings.Contains(said, " "+joinLemmas(tokenise(strings.ToLower(name)))+" ") {
			u.refuse(u.x.refuseTerm(name))
		}
	}
}

// readParts reads all that a question and a follow-up have in common.
func (u *understanding) readParts() {
	before := len(u.q.conds)
	u.readVersus()
	u.readPeriods()
	u.readComparisons()
	u.readGroupings()
	u.readNegations()
	u.readConditions()
	u.readDirections()
	u.readShownColumns()
	u.q.addedLast = len(u.q.conds) - before
}

func (u *understanding) refuse(reason string) { u.lost = append(u.lost, reason) }

// next is the next piece after i that means something, or -1.
func (u *understanding) next(i int) int {
	for k := i + 1; k < len(u.ps); k++ {
		if u.ps[k].role != pHarmless {
			return k
		}
	}
	return -1
}

func (u *understanding) prev(i int) int {
	for k := i - 1; k >= 0; k-- {
		if u.ps[k].role != pHarmless {
			return k
		}
	}
	return -1
}

func (u *understanding) is(i int, roles ...pieceRole) bool {
	return i >= 0 && i < len(u.ps) && slices.Contains(roles, u.ps[i].role)
}

func (u *understanding) free(i int) bool { return u.is(i, pName) && !u.ps[i].used }

func (u *understanding) use(is ...int) {
	for _, i := range is {
		if i >= 0 {
			u.ps[i].used = true
		}
	}
}

// find is the first piece of a role, from i on, or -1.
func (u *understanding) find(i int, roles ...pieceRole) int {
	for k := max(i, 0); k < len(u.ps); k++ {
		if u.is(k, roles...) && !u.ps[k].used {
			return k
		}
	}
	return -1
}

// choose takes one of several columns: the one chosen before, else the first, and notes that others were possible.
func (u *understanding) choose(key, about string, ids []int) int {
	if id, ok := u.choices[key]; ok && slices.Contains(ids, id) {
		return id
	}
	ids = u.x.dropReferences(ids)
	if len(ids) > 1 {
		c := choice{key: key, about: about, picked: ids[0]}
		for _, id := range ids[:min(len(ids), maxOptions)] {
			c.options = append(c.options, option{id, u.x.columnText(id)})
		}
		if _, done := u.choices[key]; !done && !slices.ContainsFunc(u.open, func(o choice) bool { return o.key == key }) {
			u.open = append(u.open, c)
		}
	}
	return ids[0]
}

// dropReferences leaves out columns that refer to another one of the columns: either says the same.
func (x *Index) dropReferences(ids []int) []int {
	return slices.DeleteFunc(slices.Clone(ids), func(id int) bool {
		return slices.ContainsFunc(ids, func(o int) bool {
			return o != id && x.columns[o].key && x.columns[id].ref == x.columns[o].table && x.columns[id].table != x.columns[o].table
		})
	})
}

// column reads a piece as a column that passes ok, near to the base. -1 is none.
func (u *understanding) column(i int, ok func(c *column) bool) int {
	if !u.is(i, pName) {
		return -1
	}
	near, far := []int{}, []int{}
	var reach []int
	if col := u.columnOfNamed(i, ok); col >= 0 {
		return col
	}
	for _, c := range u.ps[i].cols {
		col := &u.x.columns[c.id]
		if ok != nil && !ok(col) {
			continue
		}
		switch {
		case col.table == u.q.base:
			near = append(near, c.id)
		case u.q.base >= 0 && u.x.singleWay(u.q.base, col.table) != nil:
			reach = append(reach, c.id)
		default:
			far = append(far, c.id)
		}
	}
	if len(near)+len(reach) == 0 {
		near = u.x.columnsIn(nameWords(u.toks[u.ps[i].from:u.ps[i].to]), u.q.base, ok)
		if len(near) == 1 {
			return near[0]
		}
		near = nil
	}
	best := func(ids []int) []int {
		if len(ids) < 2 {
			return ids
		}
		top := 0.0
		score := func(id int) float64 {
			k := slices.IndexFunc(u.ps[i].cols, func(c scored) bool { return c.id == id })
			return u.ps[i].cols[k].score
		}
		for _, id := range ids {
			top = max(top, score(id))
		}
		return slices.DeleteFunc(slices.Clone(ids), func(id int) bool { return score(id) < top-0.02 })
	}
	// A part of a name that several reachable tables have is a question; a whole name of the base is not.
	exact := slices.ContainsFunc(near, func(id int) bool { return u.x.columns[id].flat == flatten(u.ps[i].text) || len(near)+len(reach) == 1 })
	if len(near) > 0 && !exact && len(reach) > 0 && u.ps[i].cols[0].score < 0.95 || len(near) > 0 && len(reach) > 0 && !exact {
		return u.choose("n"+u.ps[i].text, u.ps[i].text, append(slices.Clone(near), reach...))
	}
	for _, ids := range [][]int{near, reach, far} {
		if ids = best(ids); len(ids) > 0 {
			return u.choose("n"+u.ps[i].text, u.ps[i].text, ids)
		}
	}
	return -1
}

// columnsIn are the columns of a table that words name by a part of their names, where a better
// match elsewhere cannot be meant: the price of a ticket is its list price.
func (x *Index) columnsIn(content []*token, base int, ok func(c *column) bool) []int {
	if base < 0 || len(content) == 0 {
		return nil
	}
	var out []int
	for _, id := range x.tables[base].columns {
		if c := &x.columns[id]; c.ref < 0 && (ok == nil || ok(c)) && x.scoreColumn(content, id) >= minName {
			out = append(out, id)
		}
	}
	return out
}

// columnOfNamed is the column of the table whose name stands right before piece i where no better
// match belongs to it: paragraph details are details of paragraphs. -1 is none.
func (u *understanding) columnOfNamed(i int, ok func(c *column) bool) int {
	if i == 0 || !u.is(i-1, pName) || u.ps[i-1].table < 0 || u.toks[u.ps[i].from].comma || len(u.ps[i-1].vals) > 0 {
		return -1
	}
	t := u.ps[i-1].table
	if slices.ContainsFunc(u.ps[i].cols, func(c scored) bool { return u.x.columns[c.id].table == t }) {
		return -1
	}
	if found := u.x.columnsIn(nameWords(u.toks[u.ps[i].from:u.ps[i].to]), t, ok); len(found) == 1 {
		return found[0]
	}
	return -1
}

// moneyVerbs say that money went from one to another.
var moneyVerbs = wordSet("cost costs pay pays paid spend spent earn earned bring brought charge charged owe owed")

// isMoney reports whether a measure is an amount of money.
func (u *understanding) isMoney(m measure) bool {
	return m.col >= 0 && u.x.isMoney(m.col) || m.def != nil && m.def.col >= 0 && u.x.isMoney(m.def.col)
}

// checkWords refuses the message for the words that became nothing.
func (u *understanding) checkWords() {
	var words []string
	for i := range u.ps {
		p := &u.ps[i]
		if p.used {
			continue
		}
		if p.role == pUnknown && p.to == p.from+1 && lightVerbs[p.text] && len(u.q.measures) > 0 {
			continue // who placed the most orders
		}
		if p.role == pUnknown && moneyVerbs[p.text] && slices.ContainsFunc(u.q.measures, u.isMoney) {
			continue // what did they cost: the amount says it
		}
		if p.role == pUnknown && p.text == "still" && i+1 < len(u.ps) && u.next(i) >= 0 && u.ps[u.next(i)].used {
			continue // still open: open says it
		}
		switch p.role {
		case pHarmless, pAnd, pMoney, pWith, pReading, pAbout, pAlso:
			continue
		case pWhich:
			continue
		case pList:
			if p.text != "name" || !u.is(u.prev(i), pAnd, pName) {
				continue // the id and name: a column that is asked for, and no request
			}
		case pOnly, pInstead, pSumUp:
			if u.last != nil || p.role == pSumUp && len(u.q.measures) > 0 {
				continue
			}
			if p.text == "now" {
				continue
			}
		case pPronoun:
			if u.last != nil || p.text == "that" || p.text == "their" || p.text == "its" || p.text == "it" || p.text == "this" {
				continue
			}
		case pEvery:
			continue
		case pOp:
			if p.text == "from" || p.text == "through" {
				continue
			}
		case pNew:
			if slices.ContainsFunc(u.q.conds, func(c condition) bool { return c.op == queryplan.InPeriod }) || slices.ContainsFunc(u.q.groups, func(g grouping) bool { return g.unit != "" }) {
				continue
			}
		case pAgg:
			if p.agg == queryplan.Sum && len(u.q.measures) > 0 {
				continue
			}
		case pTotal:
			if slices.ContainsFunc(u.q.measures, func(m measure) bool { return m.col >= 0 || m.def != nil }) {
				continue
			}
		}
		words = append(words, fmt.Sprintf("%q", p.text))
	}
	if len(words) > 0 {
		u.refuse("it is not clear what " + strings.Join(words, ", ") + " refers to in this data")
	}
}
