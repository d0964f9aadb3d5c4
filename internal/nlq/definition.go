package nlq

import (
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"

	"interlock/internal/queryplan"
)

// A definition is a term of the glossary that can be computed: a condition on rows of a
// table, or a measure.
type definition struct {
	name    string
	text    string // as it was written
	form    definitionForm
	base    int
	agg     queryplan.Function
	col     int
	other   int
	conds   []condition // the rows that it is about
	part    []condition // of a ratio: the rows that count
	formula *formula    // of an aggregate: what is aggregated, where it is more than a column
	sum     *aggregate  // of arithmeticOf
	zeroed  int         // of a difference: the column whose missing values count as 0
	factor  float64
	unit    queryplan.Unit // of daysBetween
	date    int            // the date by which it counts, or -1
	noun    bool           // it names rows by itself, as `open incident`

	metric string         // of metricOf: its name in the model
	body   queryplan.Expr // and its expression
}

// A definitionForm is what kind of thing a term is.
type definitionForm int

const (
	conditionOn definitionForm = iota
	ratioOfRows
	aggregateOf
	quotientOf
	differenceOf
	daysBetween
	arithmeticOf // of aggregates
	metricOf     // of the semantic model
)

func (d *definition) isMeasure() bool { return d.form != conditionOn }

var (
	dayInText    = regexp.MustCompile(`\b(\d{4}-\d{2}-\d{2})\b`)
	extractWords = regexp.MustCompile(`(?i)\b(extract|extracted|snapshot|as of|today)\b`)
	timesForm    = regexp.MustCompile(`(?i)^(.+?) (?:times|multiplied by|x) (\d+(?:\.\d+)?)$`)
	daysForm     = regexp.MustCompile(`(?i)^(?:the )?(?:(average|mean|median) )?(?:number of )?(days|hours) (?:from|between) (.+?) (?:to|and|until) (.+)$`)
	lessForm     = regexp.MustCompile(`(?i)^(\S+) (?:less|minus) (\S+?)$`)
	whenForm     = regexp.MustCompile(`(?i)^(?:an? )?(.+?) (?:is|are|counts? as) (.+?) (?:when|if|once|as long as) (?:its |their |the )?(.+)$`)
	articleForm  = regexp.MustCompile(`(?i)^(?:an?|the|every|all|each) `)
	byForm       = regexp.MustCompile(`(?i)^(.+?),? (?:by|counted by|dated by) (?:the )?(?:(?:day|date|time) of )?([\w.]+)$`)
	rangeForm    = regexp.MustCompile(`(?i)^(?:(\w+) )?(?:from )?(\d+) to (\d+)$`)
	overAllForm  = regexp.MustCompile(`(?i)^(.+ divided by .+), (?:over|across|for) (.+)$`)
	inDataForm   = regexp.MustCompile(`(?i)^\w+\.\w+ (?:is|=) \w+$`)
	ofRowForm    = regexp.MustCompile(`(?i) of (?:an?|each|every|the) [\w ]+$`)
)

// define computes a term. Where its sentences are not read whole it gives nil and the part that was not read.
func (x *Index) define(name, text string) (*definition, string) {
	sentences := splitSentences(text)
	if len(sentences) == 0 {
		return nil, text
	}
	core := sentences[0]
	if before, after, ok := strings.Cut(core, ": "); ok && !strings.Contains(before, " of ") {
		core = after
	}
	d, unread := x.defineCore(name, core)
	if d == nil {
		if m := tailForm.FindStringSubmatch(core); m != nil { // sum of x, without y
			d, _ = x.defineCore(name, m[1])
			sentences = append(sentences, m[2]+m[3]+" "+m[4])
		}
	}
	if d == nil && len(sentences) == 2 && inDataForm.MatchString(sentences[1]) { // in words; then in columns
		d, _ = x.defineCore(name, sentences[1])
		sentences = sentences[1:]
	}
	if d == nil {
		return nil, unread
	}
	d.name, d.text = name, text
	for _, s := range sentences[1:] {
		if !x.readRemark(d, s) {
			return nil, s
		}
	}
	return d, ""
}

// defineCore reads the sentence that says what a term is.
func (x *Index) defineCore(name, s string) (*definition, string) {
	d := newDefinition(name)
	if x.defineTimes(d, s) || x.defineDays(d, s) || x.defineLess(d, s) {
		return d, ""
	}
	ok, unread := x.defineMeasure(d, s)
	if ok {
		return d, ""
	}
	d = newDefinition(name)
	ok, other := x.defineCondition(d, name, s)
	if ok {
		return d, ""
	}
	if amountForm.MatchString(s) || divisionForm.MatchString(s) || shareStart.MatchString(s) || other == "" {
		other = unread
	}
	return nil, other
}

// defineMeasure reads a sentence that says how a number is computed.
func (x *Index) defineMeasure(d *definition, s string) (bool, string) {
	r := &measureReader{x: x, base: -1}
	percent := percentTail.MatchString(s)
	s = percentTail.ReplaceAllString(s, "")
	date := ""
	if m := byForm.FindStringSubmatch(s); m != nil && !strings.HasSuffix(strings.ToLower(m[1]), " divided") && !strings.HasSuffix(strings.ToLower(m[1]), " multiplied") {
		s, date = m[1], m[2]
	}
	over := ""
	if m := overAllForm.FindStringSubmatch(s); m != nil {
		s, over = m[1], m[2]
	}
	a := r.share(s)
	if a == nil && !shareStart.MatchString(s) {
		a = r.read(s, divisionForm.MatchString(s) || ratioForm.MatchString(s))
	}
	if a == nil || r.base < 0 {
		return false, r.unread
	}
	d.base = r.base
	if over != "" {
		conds := x.rowsFor(over, d.base)
		if !d.take(a, percent) || len(conds) == 0 && x.tableCalled(strings.Fields(strings.ToLower(articleForm.ReplaceAllString(over, "")))) != d.base {
			return false, over
		}
		d.conds = append(slices.Clone(d.conds), conds...)
		return true, ""
	}
	if date != "" {
		if d.date = x.dateNamed(date, d.base); d.date < 0 {
			return false, "by " + date
		}
	}
	return d.take(a, percent), s
}

// take makes an aggregate the measure of a definition, in the plainest form.
func (d *definition) take(a *aggregate, percent bool) bool {
	switch {
	case a.agg != "" && a.of != nil && !percent:
		d.form, d.agg, d.col, d.conds = aggregateOf, a.agg, a.of.columns()[0], a.conds
		if a.of.op != "" {
			d.formula = a.of
		}
		return true
	case a.op == queryplan.Divide && a.left.countsRows() && a.right.countsRows():
		if len(a.left.conds) == 0 {
			return false
		}
		if impliesAll(a.left.conds, a.right.conds) {
			d.form, d.conds, d.part = ratioOfRows, a.right.conds, a.left.conds
			return true
		}
		percent = true
	case a.op == queryplan.Divide && a.left.agg == queryplan.Sum && a.right.agg == queryplan.Sum && a.left.of.op == "" && a.right.of.op == "":
		if impliesAll(a.left.conds, a.right.conds) && !percent {
			d.form, d.col, d.other, d.conds, d.part = quotientOf, a.left.of.col, a.right.of.col, a.right.conds, a.left.conds
			return true
		}
	case a.agg == "" && a.op == "":
		return false // a bare number
	}
	d.form, d.sum = arithmeticOf, a
	if percent {
		d.factor = 100
	}
	return true
}

// impliesAll reports whether rows that pass the first conditions pass the others too.
func impliesAll(conds, others []condition) bool {
	return !slices.ContainsFunc(others, func(o condition) bool {
		return !slices.ContainsFunc(conds, func(c condition) bool { return sameCondition(c, o) || implies(c, o) })
	})
}

func implies(c, o condition) bool {
	if c.neg || o.neg || c.exists || o.exists || c.def != nil || o.def != nil || len(c.any)+len(o.any) > 0 || c.op == queryplan.IsNull {
		return false
	}
	if o.op == queryplan.IsNotNull {
		return c.col == o.col || c.other >= 0 && c.other == o.col
	}
	listed := c.op == queryplan.Eq || c.op == queryplan.In
	if c.col != o.col || !listed || c.other >= 0 || o.other >= 0 {
		return false
	}
	switch o.op {
	case queryplan.Eq, queryplan.In:
		return !slices.ContainsFunc(c.values, func(v any) bool { return !slices.Contains(o.values, v) })
	case queryplan.Ne, queryplan.NotIn:
		return !slices.ContainsFunc(c.values, func(v any) bool { return slices.Contains(o.values, v) })
	}
	return false
}

// columnNamed finds a column by `table.column` or by its name, in a table if that is given.
func (x *Index) columnNamed(text string, table int) int {
	text = strings.ToLower(strings.Trim(text, " ,."))
	if t, c, ok := strings.Cut(text, "."); ok {
		return x.findColumn(t, c)
	}
	found := -1
	for i := range x.columns {
		c := &x.columns[i]
		if strings.EqualFold(c.name, text) && (table < 0 || c.table == table) {
			if found >= 0 {
				return -1
			}
			found = i
		}
	}
	return found
}

func (x *Index) defineTimes(d *definition, s string) bool {
	m := timesForm.FindStringSubmatch(s)
	if m == nil {
		return false
	}
	o := x.defined[joinLemmas(tokenise(strings.ToLower(m[1])))]
	n, err := strconv.ParseFloat(m[2], 64)
	if o == nil || !o.isMeasure() || err != nil {
		return false
	}
	name, text := d.name, d.text
	*d = *o
	d.name, d.text, d.factor = name, text, n
	if o.factor != 0 {
		d.factor *= o.factor
	}
	return true
}

func (x *Index) defineDays(d *definition, s string) bool {
	m := daysForm.FindStringSubmatch(s)
	if m == nil {
		return false
	}
	last := ofRowForm.ReplaceAllString(m[4], "")
	a := x.columnNamed(m[3], -1)
	if a < 0 { // a name that several tables have: that of the other date's table
		if b := x.columnNamed(last, -1); b >= 0 {
			a = x.columnNamed(m[3], x.columns[b].table)
		} else if t := x.rowOf(m[4]); t >= 0 {
			a = x.columnNamed(m[3], t)
		}
	}
	if a < 0 {
		return false
	}
	d.base = x.columns[a].table
	b := x.columnNamed(last, d.base)
	if b < 0 && strings.Contains(strings.ToLower(m[4]), "day of the "+lemma(strings.ToLower(x.tableName(d.base)))) {
		b = x.mainDate(d.base)
	}
	if b < 0 || !x.columns[a].date || !x.columns[b].date {
		return false
	}
	if t := x.rowOf(m[4]); t >= 0 && t != d.base {
		return false
	}
	d.form, d.col, d.other, d.unit, d.agg = daysBetween, a, b, "day", aggregateOfIt[strings.ToLower(m[1])]
	if strings.EqualFold(m[2], "hours") {
		d.unit = "hour"
	}
	return true
}

// rowOf is the table of whose rows something is said to be: to finished_on of a repair.
func (x *Index) rowOf(text string) int {
	m := ofRowForm.FindString(text)
	if m == "" {
		return -1
	}
	words := strings.Fields(strings.ToLower(m))
	return x.tableCalled(words[2:])
}

// phraseConditions reads `invoices with status paid or open` as conditions on rows of a table.
func (x *Index) phraseConditions(phrase string, base int) ([]condition, bool) {
	u := &understanding{x: x, now: x.reference(), q: newInquiry()}
	u.q.base, u.listing = base, true
	u.toks = readNumbers(tokenise(phrase), false)
	u.ps = x.findPieces(u.toks, u.now)
	u.listing = false
	for i := range u.ps { // the rows are named once
		if u.free(i) && u.ps[i].table == base {
			u.use(i)
			break
		}
	}
	u.readRelated()
	u.readParts()
	u.checkWords()
	if len(u.lost) > 0 || len(u.open) > 0 || len(u.q.groups) > 0 {
		return nil, false
	}
	return u.q.conds, true
}

// readRelated reads `with at least one completed appointment from A to B`: rows of another table that must exist.
func (u *understanding) readRelated() {
	i := slices.IndexFunc(u.ps, func(p piece) bool { return p.role == pOp && p.op == queryplan.Ge && p.text == "at least" })
	if i < 0 || !u.is(u.next(i), pNumber) || u.ps[u.next(i)].number < 1 {
		return
	}
	n := u.next(i)
	for k := u.next(n); k >= 0; k = u.next(k) {
		if !u.is(k, pName) {
			return
		}
		t := u.ps[k].table
		if t < 0 || t == u.q.base || u.x.singleWay(t, u.q.base) == nil {
			continue
		}
		u.use(i, n, k)
		inner := &understanding{x: u.x, now: u.now, q: newInquiry(), toks: u.toks, ps: slices.Clone(u.ps)}
		inner.q.base = t
		for j := range inner.ps {
			if j < i {
				inner.ps[j].used = true
			}
		}
		inner.readParts()
		for j := i; j < len(u.ps); j++ {
			u.ps[j].used = inner.ps[j].used
		}
		u.q.conds = append(u.q.conds, condition{table: t, exists: true, related: inner.q.conds, atLeast: int(u.ps[n].number), other: -1, col: -1})
		return
	}
}

func (x *Index) reference() time.Time {
	if !x.today.IsZero() {
		return x.today
	}
	return time.Unix(0, 0).UTC()
}

// valueTable is the table of the one column that has the first value of a phrase: final exams.
func (x *Index) valueTable(phrase string) int {
	ps := x.findPieces(readNumbers(tokenise(phrase), false), x.reference())
	for i, p := range ps {
		if p.role == pHarmless {
			continue
		}
		if p.role == pName && len(p.vals) == 1 && i+1 < len(ps) && len(ps[i+1].cols) > 0 {
			return x.columns[p.vals[0].column].table
		}
		break
	}
	return -1
}

func (x *Index) defineLess(d *definition, s string) bool {
	m := lessForm.FindStringSubmatch(ofRowForm.ReplaceAllString(s, ""))
	if m == nil {
		return false
	}
	d.col = x.columnNamed(m[1], -1)
	if d.col < 0 {
		return false
	}
	d.base = x.columns[d.col].table
	if d.other = x.columnNamed(m[2], -1); d.other < 0 {
		d.other = x.columnNamed(m[2], d.base)
	}
	d.form = differenceOf
	return d.other >= 0 && x.columns[d.other].table == d.base
}

// isNounPhrase reports whether a term that is defined as `a row that ...` names such rows: late return, and not overdue
// or on hold.
func isNounPhrase(name string) bool {
	words := strings.Fields(strings.ToLower(name))
	return len(words) > 1 && !grammar[words[0]] && !pastForm(&tokenise(words[len(words)-1])[0])
}

// defineCondition reads a sentence that says which rows a term means: an order whose delivered_on is after
// requested_for, or status open and due_date before today.
func (x *Index) defineCondition(d *definition, name, s string) (bool, string) {
	phrase, base := s, -1
	if m := whenForm.FindStringSubmatch(s); m != nil {
		t := x.tableCalled(strings.Fields(strings.ToLower(articleForm.ReplaceAllString(m[1], ""))))
		if t < 0 {
			return false, s
		}
		phrase, base = "rows where "+m[3], t
	}
	t, conds, unread := x.readRows(phrase, base)
	if unread != "" && base < 0 {
		if only := x.tableOfColumns(phrase); only >= 0 {
			t, conds, unread = x.readRows("rows where "+phrase, only)
		}
	}
	if unread != "" || len(conds) == 0 || t < 0 {
		return false, unread
	}
	d.base, d.conds = t, conds
	words, core := splitIdentifier(name), x.tables[t].core
	d.noun = base < 0 && isNounPhrase(name) || len(words) > 1 && (words[len(words)-1] == core[len(core)-1] || x.called[words[len(words)-1]] == t+1)
	return true, ""
}

// tableOfColumns is the one table that has all columns which a phrase names, or -1.
func (x *Index) tableOfColumns(phrase string) int {
	found := -1
	for _, w := range rowsWord.FindAllString(strings.ToLower(phrase), -1) {
		if col := x.columnNamed(w, -1); col >= 0 {
			if t := x.columns[col].table; found >= 0 && t != found {
				return -1
			} else {
				found = t
			}
		}
	}
	return found
}

func newDefinition(name string) *definition {
	return &definition{name: name, base: -1, col: -1, other: -1, date: -1, zeroed: -1}
}
