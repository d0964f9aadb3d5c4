package nlq

import (
	"slices"
	"strings"
	"time"

	"interlock/internal/queryplan"
)

// A piece is a stretch of a message with all that it may mean. Every word of a message
// belongs to one piece; a piece that became nothing makes the reading fail.
type piece struct {
	from, to int
	role     pieceRole
	text     string
	used     bool

	table  int // of a name: the table, or -1
	tscore float64
	cols   []scored
	vals   []valueRef
	def    *definition

	agg    queryplan.Function
	op     queryplan.Operator
	unit   queryplan.Unit
	part   queryplan.Part
	desc   bool
	number float64
	other  float64 // the other way to read a number; 0 is none
	period period
	year   bool // of a period: the year was said
}

// A pieceRole is what a piece does in a sentence.
type pieceRole int

const (
	pUnknown  pieceRole = iota
	pHarmless           // politeness, articles, light verbs
	pName               // a table, column, value or term
	pNumber
	pPeriod
	pAgg
	pCount    // how many, number of
	pHowMuch  // how much
	pOp       // more than, before
	pOrMore   // or more
	pBetween  // between
	pBy       // by, per
	pUnit     // month
	pTop      // top
	pTimes    // times: how often
	pOrdinal  // second, 3rd: the place in an order
	pMost     // the most, the highest
	pLargest  // an adjective: largest, heaviest
	pCommon   // most common
	pOften    // most often
	pNot      // not, without
	pNever    // never
	pAnd      // and
	pOr       // or
	pVersus   // versus
	pCompare  // compare
	pShare    // share of
	pPercent  // as a percentage
	pWhich    // which, who
	pList     // list, show
	pSort     // sort by
	pFirst    // highest first
	pPronoun  // them, those
	pOnly     // only
	pInstead  // instead
	pAlso     // add, too
	pAbout    // what about
	pExclude  // leave out
	pWith     // with, that have
	pMissing  // unknown, missing
	pBirth    // older than
	pNext     // the month after
	pEvery    // everything, anything
	pReading  // i mean
	pNew      // new
	pSumUp    // together, in total
	pTotal    // the amount of money
	pRelation // of, in, from: prepositions
	pBe
	pMoney // euro
)

// pieceTable holds the words of grammar, by their first word.
var pieceTable = buildPieceTable()

type pieceForm struct {
	words []string
	piece piece
}

func buildPieceTable() map[string][]pieceForm {
	m := map[string][]pieceForm{}
	add := func(p piece, texts ...string) {
		for _, t := range texts {
			ws := strings.Fields(t)
			m[ws[0]] = append(m[ws[0]], pieceForm{ws, p})
		}
	}
	add(piece{role: pCount}, "how many", "number of", "the number of", "count of", "count", "how often", "total number of", "the total number of", "what is the number of", "how many different", "amount of times")
	add(piece{role: pHowMuch}, "how much", "what do we spend on", "how much money", "how high is", "how high")
	add(piece{role: pAgg, agg: queryplan.Avg}, "average", "avg", "mean", "on average", "the average", "average number of", "typical")
	add(piece{role: pAgg, agg: queryplan.Sum}, "total", "sum of", "sum", "the sum of", "the total", "overall", "sum up", "combined")
	add(piece{role: pSumUp}, "in total", "altogether", "together", "all together", "in sum")
	add(piece{role: pAgg, agg: queryplan.Median}, "median", "the median")
	add(piece{role: pAgg, agg: queryplan.Min}, "minimum", "min")
	add(piece{role: pAgg, agg: queryplan.Max}, "maximum", "max")
	add(piece{role: pOp, op: queryplan.Gt}, "more than", "over", "above", "greater than", "higher than", "larger than", "bigger than", "exceeding", "longer than", ">")
	add(piece{role: pOp, op: queryplan.Ge}, "at least", "not less than", "no less than", "minimum of", ">=", "from at least")
	add(piece{role: pOp, op: queryplan.Lt}, "less than", "fewer than", "under", "below", "smaller than", "lower than", "cheaper than", "shorter than", "<")
	add(piece{role: pOp, op: queryplan.Le}, "at most", "not more than", "no more than", "up to", "<=")
	add(piece{role: pOp, op: queryplan.Eq}, "exactly", "equal to", "=", "equals")
	add(piece{role: pOp, op: queryplan.Lt, year: true}, "before", "earlier than", "prior to")
	add(piece{role: pOp, op: queryplan.Gt, year: true}, "after", "later than")
	add(piece{role: pOp, op: queryplan.Ge, year: true}, "since", "from", "starting", "as of")
	add(piece{role: pOp, op: queryplan.Le, year: true}, "until", "till", "up until", "through", "by the end of")
	add(piece{role: pOrMore, op: queryplan.Ge}, "or more", "or above", "or over", "or higher", "and more", "or greater", "and above")
	add(piece{role: pOrMore, op: queryplan.Le}, "or less", "or fewer", "or below", "or lower", "or under")
	add(piece{role: pBetween}, "between")
	add(piece{role: pBirth, op: queryplan.Gt}, "older than")
	add(piece{role: pBirth, op: queryplan.Lt}, "younger than")
	add(piece{role: pBy}, "by", "per", "for each", "for every", "in each", "each", "split by", "split that by", "split it by", "split them by", "split this by", "split up by", "break that down by", "break it down by", "break them down by", "broken down per", "spread over", "spread over the", "spread across", "distributed over", "going by", "judging by", "in terms of", "measured by", "broken down by", "grouped by", "group by", "by each", "of each", "per each", "divided by", "break down by", "broken out by", "for the different", "for different", "for each different", "for every different", "across the different")
	for w, u := range map[string]queryplan.Unit{"year": "year", "quarter": "quarter", "month": "month", "week": "week", "day": "day", "hour": "hour"} {
		add(piece{role: pUnit, unit: u}, w, w+"s", "calendar "+w)
		add(piece{role: pUnit, unit: u, desc: true}, "by "+w, "per "+w, "each "+w, "every "+w, w+" by "+w, "for each "+w, "a "+w, "over the "+w+"s", "in each "+w, "split by "+w)
	}
	add(piece{role: pUnit, unit: "month", desc: true}, "monthly", "over time")
	add(piece{role: pUnit, unit: "week", desc: true}, "weekly")
	add(piece{role: pUnit, unit: "day", desc: true}, "daily")
	add(piece{role: pUnit, unit: "quarter", desc: true}, "quarterly")
	add(piece{role: pUnit, unit: "year", desc: true}, "yearly", "year on year", "year over year")
	add(piece{role: pUnit, part: "weekday"}, "weekday", "weekdays", "day of the week", "days of the week", "day of week")
	add(piece{role: pUnit, part: "weekday", desc: true}, "by weekday", "per weekday", "per day of the week", "by day of the week")
	add(piece{role: pTop, desc: true}, "top", "the top", "best", "the best", "first", "leading")
	add(piece{role: pTop}, "bottom", "worst", "the worst", "the bottom")
	add(piece{role: pTimes}, "times")
	for place, words := range ordinalWords {
		for _, w := range words {
			add(piece{role: pOrdinal, number: float64(place + 2)}, w, "the "+w)
		}
	}
	add(piece{role: pMost, desc: true}, "most", "the most", "highest", "the highest", "the largest number of", "largest number of", "the highest number of", "most of the", "the greatest", "greatest")
	add(piece{role: pMost}, "least", "the least", "fewest", "the fewest", "lowest", "the lowest", "smallest number of", "the smallest number of", "the lowest number of")
	add(piece{role: pCommon, desc: true}, "most common", "the most common", "most frequent", "the most frequent", "most popular", "the most popular", "most used", "the most used", "is used most", "used most", "most often used", "used the most", "gets used the most", "gets used most", "is used the most")
	add(piece{role: pCommon}, "least common", "the least common", "rarest", "the rarest", "least used")
	add(piece{role: pOften, desc: true}, "most often", "the most often", "most frequently", "most times")
	add(piece{role: pOften}, "least often")
	for w, form := range superlatives {
		add(piece{role: pLargest, desc: form.desc, text: w}, w, "the "+w)
	}
	add(piece{role: pLargest, desc: true}, vagueBest...)
	add(piece{role: pLargest}, vagueWorst...)
	add(piece{role: pLargest, desc: true}, "most expensive", "the most expensive", "most valuable", "the most valuable", "most recent", "the most recent")
	add(piece{role: pNot}, "not", "no", "without", "without any", "without a", "are not", "is not", "were not", "was not", "have no", "has no", "had no", "with no", "do not have", "does not have", "did not have", "did not give", "did not give us", "have not", "has not", "lacking", "other than", "not in", "none of", "do not", "does not", "did not", "not yet", "but not", "neither", "is neither", "are neither", "was neither", "were neither", "neither the")
	add(piece{role: pNever}, "never", "have never", "has never", "never had", "never ever", "nobody ever", "no one ever", "has nobody ever", "nobody", "has nobody", "has no one ever", "haven't ever", "have not ever")
	add(piece{role: pExclude}, "exclude", "excluding", "leave out", "except", "except for", "without the", "drop", "remove", "ignore", "ignoring", "minus", "leaving out", "but without", "not counting", "disregarding", "not including")
	add(piece{role: pAnd}, "and", "&", "as well as", "and also", "plus", "but", "but also")
	add(piece{role: pOr}, "or", "nor", "and nor", "or else")
	add(piece{role: pVersus}, "vs", "versus", "compared to", "compared with", "against", "vs.")
	add(piece{role: pCompare}, "compare", "comparison of", "compare the", "comparing")
	add(piece{role: pShare}, "share of", "what share of", "the share of", "percentage of", "what percentage of", "the percentage of", "percent of", "what percent of", "proportion of", "what proportion of", "fraction of", "what fraction of", "how many percent of", "share", "which share of")
	add(piece{role: pPercent}, "as a percentage", "in percent", "as percentage", "as percent", "as a share", "in percentages", "as percentages", "as a percentage of the total", "in %", "as %", "as a share of the total", "percentage of total", "share of total", "percentage of the total", "share of the total")
	add(piece{role: pWhich}, "which", "who", "what", "whom", "whose")
	add(piece{role: pList}, "list", "list the", "list all", "show", "show me", "give me", "display", "name", "show the", "show all", "names of", "the names of", "name of", "tell me", "find", "get", "see", "compute", "calculate", "return", "provide", "retrieve", "fetch", "report", "print", "output")
	add(piece{role: pSort}, "sort by", "sorted by", "order by", "ordered by", "rank by", "ranked by", "sort them by", "sort it by", "sort")
	add(piece{role: pFirst, desc: true}, "highest first", "largest first", "biggest first", "descending", "most first", "in descending order", "from highest to lowest", "best first", "newest first", "latest first", "largest to smallest", "high to low", "most expensive first", "dearest first", "longest first", "heaviest first")
	add(piece{role: pFirst}, "lowest first", "smallest first", "ascending", "cheapest first", "in ascending order", "from lowest to highest", "alphabetically", "oldest first", "earliest first", "smallest to largest", "low to high", "shortest first", "lightest first")
	add(piece{role: pPronoun}, "them", "those", "these", "their", "that", "it", "they", "ones", "one", "of them", "of those", "of these", "their own", "its", "of that", "the same", "same", "this", "those ones", "with that", "by that", "which of those", "which of these", "which of them", "is enough", "are enough")
	add(piece{role: pOnly}, "only", "just", "just the", "only the", "only those", "only for", "just for", "restrict to", "filter by", "limit to", "only those with", "only in", "only from", "only with", "now only", "but only")
	add(piece{role: pInstead}, "instead", "instead of", "rather than", "rather", "now")
	add(piece{role: pAlso}, "add", "also", "too", "as well", "also show", "additionally", "along with", "include")
	add(piece{role: pAbout}, "what about", "how about", "and what about", "same for", "the same for", "and for", "and how about", "and")
	add(piece{role: pWith}, "with", "having", "that have", "which have", "who have", "that has", "with a", "with an", "with the", "where", "that had", "that are", "who are", "that were", "which are", "have", "has", "had", "whose", "who had")
	add(piece{role: pMissing}, "missing", "unknown", "empty", "blank")
	add(piece{role: pNext, number: 1}, "month after", "the month after", "next one", "the next month", "the following month", "month after that", "the year after", "the following year", "the quarter after", "the week after")
	add(piece{role: pNext, number: -1}, "month before", "the month before", "the year before", "the previous month", "the quarter before", "the week before", "the previous year")
	add(piece{role: pEvery}, "anything", "any", "something", "everything", "one", "a single", "at all", "a single one")
	add(piece{role: pReading}, "i mean", "i meant", "no i mean", "actually", "no", "sorry")
	add(piece{role: pNew}, "new")
	add(piece{role: pHarmless}, "so kind", "be so kind", "so kind as to", "be so kind as to", "thank you", "on file", "on record", "quick one", "quick question", "one quick question", "sorry to bother you", "sorry to bother", "sorry for bothering you", "good morning", "good afternoon", "good evening", "good day", "so far", "if so", "and if so")
	add(piece{role: pTotal}, "amount", "amounts", "money", "value", "the amounts", "the amount", "the money", "in money")
	add(piece{role: pMoney}, "euro", "euros", "eur", "usd", "dollar", "dollars", "pound", "pounds", "gbp", "chf", "€", "$", "£")
	return m
}

// A superlativeForm says by which kind of column an adjective ranks: the words of such columns,
// none where any single amount will do.
type superlativeForm struct {
	desc  bool
	words []string
	date  bool // by a date
	birth bool // by a date of birth, the other way round
	vague bool // what it means must be asked
}

var superlatives = map[string]superlativeForm{
	"largest": {desc: true}, "biggest": {desc: true}, "smallest": {}, "greatest": {desc: true},
	"heaviest": {desc: true, words: []string{"weight", "mass"}}, "lightest": {words: []string{"weight", "mass"}},
	"longest": {desc: true, words: []string{"duration", "length", "time", "minute", "hour", "day"}}, "shortest": {words: []string{"duration", "length", "time", "minute", "hour", "day"}},
	"cheapest": {words: []string{"price", "cost", "amount", "fee", "rate"}}, "costliest": {desc: true, words: []string{"price", "cost", "amount", "fee"}},
	"priciest": {desc: true, words: []string{"price", "cost", "amount", "fee"}},
	"newest":   {desc: true, date: true}, "latest": {desc: true, date: true}, "oldest": {date: true, birth: true}, "earliest": {date: true},
	"youngest": {desc: true, birth: true}, "last": {desc: true, date: true},
	"strongest": {desc: true, vague: true}, "weakest": {vague: true},
}

// vagueBest and vagueWorst rank without saying by what, so that it must be asked.
var (
	vagueBest  = []string{"doing best", "doing the best", "doing well", "performing best", "performing the best", "performs best", "best performing", "top performing", "most successful", "the most successful", "most important", "the most important", "running best"}
	vagueWorst = []string{"doing worst", "doing the worst", "doing badly", "performing worst", "performs worst", "worst performing", "least successful", "the least successful", "least important"}
)

// superlativeOf is the form of an adjective as the question writes it.
func superlativeOf(text string) superlativeForm {
	w := strings.TrimPrefix(text, "the ")
	if slices.Contains(vagueBest, text) || slices.Contains(vagueWorst, text) {
		return superlativeForm{desc: slices.Contains(vagueBest, text), vague: true}
	}
	switch w {
	case "most expensive", "most valuable":
		return superlativeForm{desc: true, words: []string{"price", "cost", "amount", "fee", "value"}}
	case "most recent":
		return superlativeForm{desc: true, date: true}
	}
	return superlatives[w]
}

// harmlessWords change nothing: politeness, articles, prepositions that a name before or after
// says more than, auxiliary verbs, and verbs that say that something is the case. A word that
// the data know is never harmless.
var harmlessWords = wordSet(`a an the of to is are was were be been being do does did done have has had there here i we you our us me my your please can could would
	shall should may might kindly thanks thank hi hello hey ok okay so well then ever yet already right currently current so far also all in on at for from into onto out
	need want like know tell let lets let's see look give gives show get got gets overview quickly quick just exactly really us was what's that's there's it's
	go goes went gone come comes came make makes made take takes took taken happen happened happens say said run runs ran
	that who which with as if any some both each different various entire whole our own us respective respectively
	wondering wonder question asking interested curious us about during within over time across
	lies lie falls fall data dataset table tables record records row rows entry entries list breakdown figure figures
	exist exists recorded listed registered belong belongs total overall level kind type of sort kinds types
	carry carried carries use used uses using hold held holds keep kept keeps put puts bring brings brought look looks
	it's we're you're i'm i'd we've you've they their them such per
	either mind telling giving showing idea asap cheers hope hoping greetings regards urgently soon folks guys morning afternoon evening appreciate appreciated grateful quickly simply basically obviously noted entered specified stated via`)

// findPieces splits a message into pieces: the cover by the most meaning wins.
func (x *Index) findPieces(toks []token, now time.Time) []piece {
	n := len(toks)
	type step struct {
		weight float64
		p      piece
	}
	best := make([]step, n+1)
	for i := range best {
		best[i].weight = -1e9
	}
	best[0].weight = 0
	try := func(from, to int, weight float64, p piece) {
		p.from, p.to = from, to
		if p.text == "" {
			p.text = joinLower(toks[from:to])
		}
		if w := best[from].weight + weight; w > best[to].weight+1e-9 {
			best[to] = step{w, p}
		}
	}
	for i := range n {
		t := &toks[i]
		try(i, i+1, -2, piece{role: pUnknown, table: -1})
		if harmlessWords[t.lower] && !t.quoted {
			try(i, i+1, 0.3, piece{role: pHarmless, table: -1})
		}
		if t.number {
			try(i, i+1, 0.9, piece{role: pNumber, number: t.value, other: t.otherValue, table: -1})
		}
		for _, f := range pieceTable[t.lower] {
			if matchesForm(toks, i, f.words) {
				p := f.piece
				p.table = -1
				p.text = ""
				try(i, i+len(f.words), 0.8*float64(len(f.words)), p)
			}
		}
		if p, k, said := x.periodHere(toks, i, now); k > 0 {
			try(i, i+k, 1.1*float64(k), piece{role: pPeriod, period: p, year: said, table: -1})
		}
		for k := 1; k <= 6 && i+k <= n; k++ {
			if p, w := x.nameOf(toks[i : i+k]); w > 0 {
				try(i, i+k, w, p)
			}
		}
	}
	var out []piece
	for i := n; i > 0; {
		p := best[i].p
		out = append(out, p)
		i = p.from
	}
	slices.Reverse(out)
	x.restoreValues(out)
	x.restoreAggregates(out)
	return out
}

// restoreAggregates takes the name of a column for the function that it also is where the name of a
// number follows at once: the total quantity, in data with a column total.
func (x *Index) restoreAggregates(ps []piece) {
	for i := range len(ps) - 1 {
		p, next := &ps[i], &ps[i+1]
		if p.role != pName || len(p.vals) > 0 || next.role != pName || !slices.ContainsFunc(next.cols, func(c scored) bool { return isNumericColumn(&x.columns[c.id]) }) {
			continue
		}
		for _, f := range pieceTable[p.text] {
			if f.piece.role == pAgg && len(f.words) == 1 {
				p.role, p.agg, p.cols, p.table = pAgg, f.piece.agg, nil, -1
			}
		}
	}
}

// restoreValues takes words that mostly change nothing for the values that they are where they follow the name of
// the value's column, or behind a form of be: with status done, how many are done, how many were done in May.
func (x *Index) restoreValues(ps []piece) {
	for i := 1; i < len(ps); i++ {
		before := &ps[i-1]
		if ps[i].role != pHarmless {
			continue
		}
		be := slices.Contains([]string{"is", "are", "was", "were"}, before.text)
		last := be && i == len(ps)-1
		verb := be && i+1 < len(ps) && (ps[i+1].text == "in" || ps[i+1].role == pPeriod || ps[i+1].role == pBy || ps[i+1].role == pUnit)
		var vals []valueRef
		for _, ref := range x.values[normaliseValue(ps[i].text)] {
			if last || verb && x.distinct[ref.column] <= 30 || slices.ContainsFunc(before.cols, func(c scored) bool { return c.id == ref.column }) {
				vals = append(vals, ref)
			}
		}
		if len(vals) > 0 {
			ps[i].role, ps[i].vals = pName, x.distinctColumns(vals)
		}
	}
}

func matchesForm(toks []token, i int, words []string) bool {
	if i+len(words) > len(toks) {
		return false
	}
	for k, w := range words {
		if toks[i+k].lower != w || toks[i+k].quoted {
			return false
		}
	}
	return true
}

func joinLower(toks []token) string {
	var b strings.Builder
	for i, t := range toks {
		if i > 0 {
			b.WriteByte(' ')
		}
		b.WriteString(t.lower)
	}
	return b.String()
}
