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
	factor  float64
	date    int  // the date by which it counts, or -1
	noun    bool // it names rows by itself, as `open incident`

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
	metricOf // of the semantic model
)

func (d *definition) isMeasure() bool { return d.form != conditionOn }

var (
	dayInText     = regexp.MustCompile(`\b(\d{4}-\d{2}-\d{2})\b`)
	extractWords  = regexp.MustCompile(`(?i)\b(extract|extracted|snapshot|as of|today)\b`)
	timesForm     = regexp.MustCompile(`(?i)^(.+?) (?:times|multiplied by|x) (\d+(?:\.\d+)?)$`)
	daysForm      = regexp.MustCompile(`(?i)^(?:the )?(?:number of )?days (?:from|between) (.+?) (?:to|and|until) (.+)$`)
	aggregateForm = regexp.MustCompile(`(?i)^(?:the )?(sum|total|average|mean|median|number|count) of (.+)$`)
	shareForm     = regexp.MustCompile(`(?i)^(?:the )?(?:share|percentage|proportion) of (.+?) (?:that|which|who) (?:also )?(.+)$`)
	shareWithForm = regexp.MustCompile(`(?i)^(?:the )?(?:share|percentage|proportion) of (.+?) (?:with|whose) (.+)$`)
	quotientForm  = regexp.MustCompile(`(?i)^(.+?),? divided by (?:the )?(?:all )?(.+)$`)
	lessForm      = regexp.MustCompile(`(?i)^(\S+) (?:less|minus) (\S+?)$`)
	whenForm      = regexp.MustCompile(`(?i)^an? (.+?) (?:is|counts as) (.+?) (?:when|if|once) (.+)$`)
	articleForm   = regexp.MustCompile(`(?i)^(?:an?|the|every|all|each) `)
	overForm      = regexp.MustCompile(`(?i)^(.+?),? (?:over|across) (.+)$`)
	byForm        = regexp.MustCompile(`(?i)^(.+?), (?:by|counted by|dated by) (?:the )?(?:(?:day|date|time) of )?([\w.]+)$`)
	rangeForm     = regexp.MustCompile(`(?i)^(?:(\w+) )?(?:from )?(\d+) to (\d+)$`)
	onItsForm     = regexp.MustCompile(`(?i)\bon its (\w+)`)
	countByForm   = regexp.MustCompile(`(?i)\bcount(?:s|ed)? by this (?:day|date)`)
	zeroForm      = regexp.MustCompile(`(?i)\b0 (?:=|means|is) (?:[\w ]+, )?(not|no|none|unknown|missing|that none)\b`)
	unknownForm   = regexp.MustCompile(`(?i)(?:^|[\s(,;:])(-?\d+(?:\.\d+)?) (?:=|means|is|stands for) (?:an? |that )?(?:not|no|none|unknown|missing|unset|absent|undefined)\b`)
	extractForm   = regexp.MustCompile(`(?i)\b(before|after|until|since|than) the (?:day|date) of (?:the|this) extract`)
	sumsForm      = regexp.MustCompile(`(?i)^(?:the )?(?:sum|total) of ([\w.]+)(?: (?:of|over|across|with|in) (.+?))?,? divided by (?:the )?(?:sum|total) of (?:all )?(?:the )?([\w.]+)$`)
	sentenceEnd   = regexp.MustCompile(`[.;] `)
	uncountedForm = regexp.MustCompile(`(?i)^(.+?) (?:do not count|does not count|are not counted|is not counted|are left out|do not belong to it)\.?$`)
	ofRowForm     = regexp.MustCompile(`(?i) of (?:an?|each|every|the) [\w ]+$`)
	bracketForm   = regexp.MustCompile(`\([^)]*\)`)
	clauseForm    = regexp.MustCompile(`(?i),? (?:the )?day of the extract`)
)

// define computes a term, or returns nil.
func (x *Index) define(name, text string) *definition {
	d := &definition{name: name, text: text, base: -1, col: -1, other: -1, date: -1}
	sentences := strings.SplitN(strings.TrimSpace(text), ". ", 2)
	s := strings.TrimSuffix(strings.TrimSpace(sentences[0]), ".")
	s, _, _ = strings.Cut(s, ";")
	if _, after, ok := strings.Cut(s, ": "); ok {
		s = after
	}
	if !x.today.IsZero() {
		s = extractForm.ReplaceAllString(s, "${1} "+x.today.Format(time.DateOnly))
	}
	s = clauseForm.ReplaceAllString(s, "")
	if m := onItsForm.FindStringSubmatch(text); m != nil {
		d.date = x.columnNamed(m[1], -1)
	}
	switch {
	case x.defineTimes(d, s), x.defineDays(d, s), x.defineSums(d, s), x.defineAggregate(d, s), x.defineShare(d, s), x.defineQuotient(d, s), x.defineLess(d, s), x.defineCondition(d, name, s):
		if d.date >= 0 && x.singleWay(d.base, x.columns[d.date].table) == nil {
			d.date = -1
		}
		return d
	}
	return nil
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
	a := x.columnNamed(m[1], -1)
	if a < 0 {
		return false
	}
	d.base = x.columns[a].table
	m[2] = ofRowForm.ReplaceAllString(m[2], "")
	b := x.columnNamed(m[2], d.base)
	if b < 0 && strings.Contains(strings.ToLower(m[2]), "day of the "+lemma(strings.ToLower(x.tableName(d.base)))) {
		b = x.mainDate(d.base)
	}
	if b < 0 || !x.columns[a].date || !x.columns[b].date {
		return false
	}
	d.form, d.col, d.other = daysBetween, a, b
	return true
}

func (x *Index) defineAggregate(d *definition, s string) bool {
	m := aggregateForm.FindStringSubmatch(s)
	if m == nil {
		return false
	}
	agg := map[string]queryplan.Function{"sum": queryplan.Sum, "total": queryplan.Sum, "average": queryplan.Avg, "mean": queryplan.Avg, "median": queryplan.Median}[strings.ToLower(m[1])]
	rest := m[2]
	if b := byForm.FindStringSubmatch(rest); b != nil {
		if col := x.columnNamed(b[2], -1); col >= 0 && x.columns[col].date {
			rest, d.date = b[1], col
		} else {
			col = -1
			for i := range x.columns { // a date that several tables have: that of the measure
				if strings.EqualFold(x.columns[i].name, b[2]) && strings.HasPrefix(strings.ToLower(b[1]), strings.ToLower(x.tableName(x.columns[i].table))+".") {
					col = i
				}
			}
			if col < 0 {
				return false
			}
			rest, d.date = b[1], col
		}
	}
	over := ""
	if o := overForm.FindStringSubmatch(rest); o != nil {
		rest, over = o[1], o[2]
	}
	if q := quotientForm.FindStringSubmatch(rest); q != nil {
		second := aggregateForm.FindStringSubmatch(q[2])
		if second == nil || agg != queryplan.Sum || !strings.EqualFold(second[1], m[1]) {
			return false
		}
		d.col, d.other, d.form = x.columnNamed(q[1], -1), x.columnNamed(second[2], -1), quotientOf
		if d.col < 0 || d.other < 0 || x.columns[d.col].table != x.columns[d.other].table {
			return false
		}
	} else {
		if agg == "" {
			return false
		}
		d.col, d.form, d.agg = x.columnNamed(rest, -1), aggregateOf, agg
		if d.formula = x.readFormula(rest); d.formula != nil {
			d.col = d.formula.columns()[0]
		}
		if d.col < 0 {
			return false
		}
	}
	d.base = x.columns[d.col].table
	if over == "" {
		return x.excludeUncounted(d)
	}
	if r := rangeForm.FindStringSubmatch(over); r != nil {
		low, _ := strconv.ParseFloat(r[2], 64)
		high, _ := strconv.ParseFloat(r[3], 64)
		d.conds = []condition{{table: d.base, col: d.col, op: queryplan.Between, values: []any{low, high}, other: -1}}
		return true
	}
	conds, ok := x.phraseConditions(over, d.base)
	d.conds = conds
	return ok && (len(conds) > 0 || x.excludeUncounted(d))
}

// excludeUncounted reads the sentence of a definition which says that some rows do not count: cancelled orders
// do not count. Where a definition has conditions already such a sentence repeats what they leave out; else it
// must be understood.
func (x *Index) excludeUncounted(d *definition) bool {
	for _, s := range sentenceEnd.Split(d.text, -1) {
		m := uncountedForm.FindStringSubmatch(strings.TrimSpace(s))
		if m == nil {
			continue
		}
		conds, ok := x.phraseConditions(bracketForm.ReplaceAllString(m[1], ""), d.base)
		if !ok || len(conds) == 0 {
			conds, ok = x.phraseConditions(strings.NewReplacer("(", "with ", ")", "").Replace(m[1]), d.base)
		}
		if !ok || len(conds) != 1 || !conds[0].negate() {
			return false
		}
		d.conds = append(d.conds, conds[0])
	}
	return true
}

var opposites = map[queryplan.Operator]queryplan.Operator{
	queryplan.Eq: queryplan.Ne, queryplan.Ne: queryplan.Eq, queryplan.In: queryplan.NotIn, queryplan.NotIn: queryplan.In,
	queryplan.IsNull: queryplan.IsNotNull, queryplan.IsNotNull: queryplan.IsNull,
}

// negate turns a condition round, and reports whether it can be.
func (c *condition) negate() bool {
	op, ok := opposites[c.op]
	if !ok || c.exists || c.def != nil || c.other >= 0 {
		return false
	}
	c.op = op
	return true
}

// defineSums reads `sum of hours of billable entries divided by sum of all hours`: a sum over some of
// the rows and one over all of them.
func (x *Index) defineSums(d *definition, s string) bool {
	m := sumsForm.FindStringSubmatch(s)
	if m == nil || m[2] == "" {
		return false
	}
	d.col, d.other, d.form = x.columnNamed(m[1], -1), x.columnNamed(m[3], -1), quotientOf
	if d.col < 0 || d.other < 0 || x.columns[d.col].table != x.columns[d.other].table {
		return false
	}
	d.base = x.columns[d.col].table
	part, ok := x.phraseConditions(m[2], d.base)
	d.part = part
	return ok && len(part) > 0
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

// tableOfPhrase is the table that a phrase begins by naming, perhaps after values of it.
func (x *Index) tableOfPhrase(phrase string) int {
	for _, p := range x.findPieces(readNumbers(tokenise(phrase), false), x.reference()) {
		switch {
		case p.role == pName && p.table >= 0 && (len(p.cols) == 0 || p.tscore >= p.cols[0].score):
			return p.table
		case p.role == pName && len(p.vals) > 0, p.role == pHarmless:
			continue
		}
		break
	}
	return -1
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

func (x *Index) defineShare(d *definition, s string) bool {
	m := shareForm.FindStringSubmatch(s)
	if m == nil {
		m = shareWithForm.FindStringSubmatch(s)
	}
	if m == nil {
		return false
	}
	d.base = x.tableOfPhrase(m[1])
	if d.base < 0 {
		return false
	}
	all, ok := x.phraseConditions(m[1], d.base)
	part, ok2 := x.phraseConditions("with "+strings.TrimPrefix(strings.TrimPrefix(strings.TrimPrefix(m[2], "have "), "has "), "had "), d.base)
	d.form, d.conds, d.part = ratioOfRows, all, part
	return ok && ok2 && len(part) > 0
}

func (x *Index) defineQuotient(d *definition, s string) bool {
	m := quotientForm.FindStringSubmatch(s)
	if m == nil {
		return false
	}
	m[1], m[2] = bracketForm.ReplaceAllString(m[1], ""), bracketForm.ReplaceAllString(m[2], "")
	a, b := x.tableOfPhrase(m[1]), x.tableOfPhrase(m[2])
	if a < 0 && b < 0 {
		a, b = x.valueTable(m[1]), x.valueTable(m[2])
	}
	if a < 0 || a != b {
		return false
	}
	part, ok := x.phraseConditions(m[1], a)
	all, ok2 := x.phraseConditions(m[2], a)
	d.base, d.form, d.conds, d.part = a, ratioOfRows, all, part
	return ok && ok2 && len(part) > 0
}

func (x *Index) defineLess(d *definition, s string) bool {
	m := lessForm.FindStringSubmatch(s)
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

func (x *Index) defineCondition(d *definition, name, s string) bool {
	var phrase string
	if m := whenForm.FindStringSubmatch(s); m != nil {
		d.base, phrase = x.tableOfPhrase(m[1]), m[3]
	} else {
		if !articleForm.MatchString(s) {
			return false
		}
		phrase, d.noun = articleForm.ReplaceAllString(s, ""), isNounPhrase(name)
		if d.base = x.tableOfPhrase(phrase); d.base < 0 {
			d.base = x.valueTable(phrase)
		}
	}
	if d.base < 0 {
		return false
	}
	// Of several sentences the first must say it all; others may only repeat what it leaves out.
	conds, ok := x.phraseConditions(phrase, d.base)
	if !ok || len(conds) == 0 {
		return false
	}
	d.conds = conds
	words := splitIdentifier(name)
	core := x.tables[d.base].core
	d.noun = d.noun || len(words) > 1 && (words[len(words)-1] == core[len(core)-1] || x.called[words[len(words)-1]] == d.base+1)
	return true
}
