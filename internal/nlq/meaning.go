package nlq

import (
	"cmp"
	"fmt"
	"regexp"
	"slices"
	"strings"
	"time"

	"interlock/internal/queryplan"
	"interlock/internal/schema"
)

// useMeaning takes over what the semantic model of the dataset declares. It stands above what
// the dictionary says in sentences.
func (x *Index) useMeaning() {
	m := x.schema.Meaning
	x.verified = map[string]*queryplan.Plan{}
	if m == nil {
		return
	}
	if day, err := time.Parse(time.DateOnly, m.Today); err == nil {
		x.today = day
	}
	for _, t := range m.Tables {
		if id := x.findTable(t.Table); id >= 0 {
			x.useTableMeaning(id, t)
		}
	}
	for _, metric := range m.Metrics {
		x.useMetric(metric)
	}
	for _, a := range m.Ambiguous {
		x.ambiguous = append(x.ambiguous, ambiguousTerm{a, phraseForm(a.Term)})
	}
	x.useChoices(m.Chosen)
	for _, v := range m.Verified {
		if plan, err := queryplan.Parse(v.Plan); err == nil {
			x.verified[questionKey(v.Question)] = plan
		}
	}
}

func phraseForm(phrase string) *regexp.Regexp {
	return regexp.MustCompile(`(?i)\b` + regexp.QuoteMeta(phrase) + `(s|es)?\b`)
}

func (x *Index) useTableMeaning(id int, t schema.TableMeaning) {
	for _, name := range t.Synonyms {
		if words := x.learnName(name); len(words) > 0 {
			x.tables[id].aliases = append(x.tables[id].aliases, words)
		}
	}
	if c := x.findColumn(t.Table, t.MainDate); c >= 0 {
		x.mainDates[id] = c
	}
	for _, f := range t.Fields {
		c := x.findColumn(t.Table, f.Column)
		if c < 0 {
			continue
		}
		for _, name := range append([]string{f.Label}, f.Synonyms...) {
			words := x.learnName(name)
			if len(words) == 0 || slices.Equal(words, x.columns[c].words) {
				continue
			}
			x.columns[c].names = append(x.columns[c].names, words)
			if !x.isName(words) {
				x.glossary = append(x.glossary, term{name: name, means: f.Column, words: humanName(f.Column), found: phraseForm(name)})
			}
		}
		x.useFieldValues(c, f)
	}
}

func (x *Index) useFieldValues(c int, f schema.FieldMeaning) {
	if len(f.Unknown) > 0 { // the model stands above the dictionary
		delete(x.sentinels, c)
		delete(x.unknown, c)
	}
	if len(f.Unknown) == 1 && f.Unknown[0] == 0.0 {
		x.sentinels[c] = true
	} else if len(f.Unknown) > 0 {
		x.unknown[c] = f.Unknown
	}
	if f.IgnoreCase {
		x.folded[c] = true
	}
	if len(f.Same) > 0 {
		x.same[c] = f.Same
	}
	for _, s := range f.Same {
		for _, spelling := range append([]string{s.Value}, s.Spellings...) {
			key := normaliseValue(spelling)
			if ref := (valueRef{c, s.Value}); key != "" && !slices.ContainsFunc(x.values[key], func(r valueRef) bool { return r.column == c }) {
				x.values[key] = append(x.values[key], ref)
				x.longest = max(x.longest, min(strings.Count(key, " ")+1, 10))
			}
		}
	}
}

// learnName gives the words of a name that the model declares, and makes them known.
func (x *Index) learnName(name string) []string {
	words := splitIdentifier(name)
	for _, w := range words {
		x.vocabulary[w], x.named[w], x.stemmed[stem(w)] = true, true, true
	}
	return words
}

// useMetric makes a metric a definition, under its name and its synonyms. A sentence of the
// dictionary that says the same computes it already.
func (x *Index) useMetric(m schema.Metric) {
	base := x.findTable(m.Table)
	body, err := queryplan.ParseMetric(m.Expression)
	if base < 0 || err != nil {
		return
	}
	name := strings.ReplaceAll(m.Name, "_", " ")
	d := &definition{name: name, text: m.Definition(), form: metricOf, base: base, col: -1, other: -1, date: -1, agg: body.Function, metric: m.Name, body: body}
	if old := x.defined[defineKey(name)]; old != nil && old.isMeasure() && x.definitionText(old) == m.Expression {
		d = old
	} else {
		if old != nil {
			x.definitions = slices.DeleteFunc(x.definitions, func(o *definition) bool { return o == old })
		}
		x.definitions = append(x.definitions, d)
	}
	for _, called := range append([]string{name}, m.Synonyms...) {
		x.learnName(called)
		key := defineKey(called)
		x.defined[key] = d
		x.undefined = slices.DeleteFunc(x.undefined, func(term string) bool { return defineKey(term) == key })
		if d.form != metricOf {
			continue
		}
		x.glossary = slices.DeleteFunc(x.glossary, func(t term) bool { return defineKey(t.name) == key })
		// The grammar of single sentences cannot use a metric, and says so.
		x.glossary = append(x.glossary, term{name: called, means: m.Definition(), found: phraseForm(called)})
	}
	slices.SortStableFunc(x.glossary, func(a, b term) int { return cmp.Compare(len(b.name), len(a.name)) })
}

func defineKey(name string) string {
	return joinLemmas(tokenise(strings.ToLower(strings.ReplaceAll(name, "_", " "))))
}

// definitionText is what a sentence of the dictionary computes, as the expression of a metric.
// It is "" where no expression says it.
func (x *Index) definitionText(d *definition) string {
	q := newInquiry()
	q.base = d.base
	p := &planner{x: x, q: q, in: []int{d.base}}
	var where []queryplan.Filter
	for _, c := range d.conds {
		where = append(where, p.filter(c))
	}
	e := p.definedExpr(measure{table: d.base, col: -1, def: d}, where)
	if p.err != "" {
		return ""
	}
	return queryplan.MetricText(e)
}

// metricExpr names a metric in the plan, and joins the other tables that it is about.
func (p *planner) metricExpr(d *definition, where []queryplan.Filter) queryplan.Expr {
	queryplan.MapColumns(d.body, func(e queryplan.Expr) queryplan.Expr {
		if table, _, ok := strings.Cut(e.Column, "."); ok {
			if t := p.x.findTable(table); t >= 0 {
				p.join(t)
			}
		}
		return e
	})
	return queryplan.Expr{Metric: d.metric, Where: where}
}

// keepMetricRows leaves out groups that have no row of the metric: where all of its aggregates
// are about the same rows, only these are grouped.
func (p *planner) keepMetricRows() {
	if len(p.q.groups) == 0 || len(p.q.measures) != 1 || p.q.measures[0].def == nil || p.q.measures[0].def.form != metricOf {
		return
	}
	if e := p.q.measures[0].def.body; e.Function != "" {
		p.plan.Filters = append(p.plan.Filters, e.Where...)
	}
}

// leftOut is the condition that keeps values out of a measure that mean unknown.
func (x *Index) leftOut(col int) (condition, bool) {
	values := x.unknown[col]
	return condition{table: x.columns[col].table, col: col, op: queryplan.NotIn, values: values, other: -1}, len(values) > 0
}

// leaveOutUnknown keeps numbers that mean unknown out of what a plan computes, where it has no
// condition on their column.
func (x *Index) leaveOutUnknown(p *queryplan.Plan) {
	for _, e := range p.Select {
		name := e.Column[strings.LastIndexByte(e.Column, '.')+1:]
		owner := strings.TrimSuffix(e.Column[:len(e.Column)-len(name)], ".")
		if owner == "" {
			owner = p.Table
		}
		col := x.findColumn(owner, name)
		if col < 0 || e.Function == queryplan.Count || e.Function == queryplan.CountDistinct || !(queryplan.Expr{Function: e.Function}).Aggregate() ||
			slices.ContainsFunc(p.Filters, func(f queryplan.Filter) bool { return f.Column == e.Column }) {
			continue
		}
		switch c, ok := x.leftOut(col); {
		case x.sentinels[col]:
			p.Filters = append(p.Filters, queryplan.Filter{Expr: queryplan.Col(e.Column), Operator: queryplan.Gt, Value: queryplan.Literal(0)})
		case ok:
			p.Filters = append(p.Filters, queryplan.Filter{Expr: queryplan.Col(e.Column), Operator: queryplan.NotIn, Value: queryplan.Literal(c.values)})
		}
	}
}

// sameValues are the other values of a column that stand for the same thing.
func (x *Index) sameValues(col int, value string) []string {
	var out []string
	for _, s := range x.same[col] {
		all := append([]string{s.Value}, s.Spellings...)
		if slices.Contains(all, value) {
			out = append(out, slices.DeleteFunc(all, func(v string) bool { return v == value })...)
		}
	}
	return out
}

// groupSame groups by a column whose values are declared to be one: they have one row, under the
// value that is shown.
func (p *planner) groupSame(col int) {
	name := p.x.columns[col].name
	e := queryplan.Expr{Column: p.ref(col)}
	for _, s := range p.x.same[col] {
		e.Replace = append(e.Replace, queryplan.Replacement{Value: s.Value, Spellings: s.Spellings})
		p.q.notes = append(p.q.notes, fmt.Sprintf("%s is counted as %s, as the dictionary or the semantic model says", strings.Join(s.Spellings, " and "), s.Value))
	}
	if p.x.foldsCase(col) {
		shown, key := queryplan.Expr{Of: &e, Function: queryplan.Max, Alias: name}, queryplan.Expr{Of: &e, Function: queryplan.Lower}
		p.plan.Select, p.plan.GroupBy = append(p.plan.Select, shown), append(p.plan.GroupBy, queryplan.Term{Expr: key})
		p.q.notes = append(p.q.notes, "spellings of "+humanName(name)+" that differ only in case are counted together")
		return
	}
	shown := e
	shown.Alias = name
	p.plan.Select, p.plan.GroupBy = append(p.plan.Select, shown), append(p.plan.GroupBy, queryplan.Term{Expr: e})
}

// An ambiguousTerm is a word that the model says must be asked about.
type ambiguousTerm struct {
	schema.AmbiguousTerm
	found *regexp.Regexp
}

// answerByMeaning answers what the semantic model decides before any grammar does: a question
// that a person has verified, and a term that must be asked about.
func (x *Index) answerByMeaning(q Question) (Answer, bool) {
	if plan := x.verified[questionKey(q.Text)]; plan != nil && strings.TrimSpace(q.Clarification) == "" {
		if sql, err := plan.SQL(x.schema); err == nil && !slices.Contains(q.Avoid, sql) {
			return Answer{Plan: plan, SQL: sql, Confidence: verifiedConfidence, Quality: High, Explain: Describe(plan, x.schema) + " A person has verified this plan for this question."}, true
		}
	}
	q.Text, _ = x.translate(q.Text)
	for _, t := range x.ambiguous {
		if slices.Contains(q.settled, t.Term) || !x.mustAsk(t, q.Text) {
			continue
		}
		return x.askTerm(t, q)
	}
	return Answer{}, false
}

// verifiedConfidence is that of a plan that a person approved for the very words.
const verifiedConfidence = 0.99

// mustAsk says that a question has the term, and neither one of its readings nor a longer term.
func (x *Index) mustAsk(t ambiguousTerm, text string) bool {
	if !t.found.MatchString(text) || slices.ContainsFunc(t.Readings, func(r string) bool { return phraseForm(r).MatchString(text) }) {
		return false
	}
	return !slices.ContainsFunc(x.definitions, func(d *definition) bool {
		return t.found.MatchString(d.name) && len(d.name) > len(t.Term) && phraseForm(d.name).MatchString(text)
	})
}

// askTerm asks which reading of a term is meant, or takes the one that was chosen.
func (x *Index) askTerm(t ambiguousTerm, q Question) (Answer, bool) {
	chosen, own, rest := x.chooseReading(t, q)
	asked := Ambiguity{Question: fmt.Sprintf("What does %q mean here?", t.Term)}
	var answers []Answer
	if always := x.rememberedReading(t); always != "" {
		q.Index, q.settled = x, append(slices.Clone(q.settled), t.Term)
		q.Text = t.found.ReplaceAllLiteralString(q.Text, always)
		a := Plan(q)
		if a.Plan != nil {
			a.Explain += " " + Sentence(capitalise(rememberedNote(t.Term, always)))
		}
		return a, true
	}
	if own != nil {
		return *own, true
	}
	for i, reading := range t.Readings {
		one := x.withReading(t, q, reading)
		if i == chosen {
			one.Clarification = rest
			a := Plan(one)
			if a.Plan != nil && a.Chosen == nil {
				a.Chosen = &schema.Choice{Term: t.Term, Reading: reading}
			}
			return a, true
		}
		a := Plan(one)
		if a.Plan != nil {
			answers = append(answers, a)
		}
		asked.Alternatives = append(asked.Alternatives, Alternative{Text: reading, Plan: a.Plan, SQL: a.SQL})
	}
	if len(answers) == 0 {
		return Answer{}, false
	}
	// All readings are asked about, also those that cannot be planned: one of these may be meant.
	a := answers[0]
	a.Quality, a.Confidence, a.Questions = Medium, 1/float64(len(t.Readings)), []Ambiguity{asked}
	return a, true
}

// withReading is the question with a reading in the place of a term.
func (x *Index) withReading(t ambiguousTerm, q Question, reading string) Question {
	q.Index, q.settled = x, append(slices.Clone(q.settled), t.Term)
	q.Text, q.Clarification = t.found.ReplaceAllLiteralString(q.Text, reading), ""
	return q
}

// chooseReading finds the first answer to a question back that chooses a reading of a term, by words
// of the reading or of its definition, or that says another one which can be planned. What was
// answered after it is left.
func (x *Index) chooseReading(t ambiguousTerm, q Question) (chosen int, own *Answer, rest string) {
	defined := make([]string, len(t.Readings))
	for i, reading := range t.Readings {
		defined[i] = reading
		if x.schema.Meaning == nil {
			continue
		}
		for _, m := range x.schema.Meaning.Metrics {
			if slices.Equal(splitIdentifier(m.Name), splitIdentifier(reading)) {
				defined[i] += " " + m.Description
			}
		}
	}
	lines := strings.Split(q.Clarification, "\n")
	for i, line := range lines {
		rest = strings.Join(lines[i+1:], "\n")
		if strings.TrimSpace(line) == "" {
			continue
		}
		if chosen = pickReading(line, t.Readings, false); chosen >= 0 {
			return chosen, nil, rest
		}
		if chosen = pickReading(line, defined, true); chosen >= 0 {
			return chosen, nil, rest
		}
		said := noneOfThem.ReplaceAllString(answerFrame.ReplaceAllString(line, ""), "")
		if AsksAnew(line) || t.found.MatchString(said) {
			continue
		}
		if a := Plan(x.withReading(t, q, strings.Trim(said, " .!,"))); a.Sure() {
			return -1, &a, ""
		}
	}
	return -1, nil, ""
}

// noneOfThem is how people say that another reading follows.
var noneOfThem = regexp.MustCompile(`(?i)^\s*(?:neither|none(?: of (?:them|these|those|both))?|something else|weder noch|keine[rs]?(?: von beiden)?)\b[\s,.:;-]*(?:but|rather|sondern)?\s*`)

// questionKey is the same for two wordings of a question that differ in case, punctuation and
// polite words only.
func questionKey(text string) string {
	var words []string
	for _, t := range tokenise(strings.ToLower(text)) {
		if !harmlessWords[t.lower] || t.quoted {
			words = append(words, t.lower)
		}
	}
	return strings.Join(words, " ")
}
