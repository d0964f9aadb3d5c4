// Package nlq turns a question in English and a schema into a query plan, without a model
// and without I/O. The answer has a calibrated confidence, the words that were and were not
// understood, and questions back if the question can be read in two ways. The package knows
// general English and nothing about particular data: it names no table, column or value.
//
// A question passes through five steps:
//
//	token     words, numbers, quoted texts
//	link      what words may name: tables, columns, values (link, linkvalue)
//	chunk     the best cover of the question by names and grammar (phrase, adjective)
//	reader    passes that fill a frame: compare, superlative, group, value, negation, ask
//	assemble  the frame as a plan: base table, joins, filters, order (condition, join)
//
// Each pass marks the words that it has understood as used. If unused words change what is
// asked, the answer is a refusal (missing.go); other unused words lower the confidence.
package nlq

import (
	"fmt"
	"regexp"
	"slices"
	"strings"
	"time"
	"unicode"

	"interlock/internal/queryplan"
	"interlock/internal/schema"
)

// A Question is the input of Plan.
type Question struct {
	Text       string
	Schema     schema.Dataset
	Values     []ColumnValues
	Dictionary schema.Dictionary
	// Index is the prepared form of schema, values and dictionary; if nil, Plan makes it.
	Index *Index
	// History are the earlier questions, the latest last, for follow-ups such as `and by month?`.
	History []Turn
	// Clarification holds the person's answers to questions back, one per line: one of the
	// alternatives, its number, yes, or free text.
	Clarification string
	// Avoid are plans, as SQL, that were judged wrong before. Plan does not return them.
	Avoid   []string
	settled []string // ambiguous terms of the semantic model that were put into other words
	// Now is the reference of `last month`. Default: the present time.
	Now time.Time
}

// A Turn is an earlier question.
type Turn struct {
	Text string `json:"text"`
}

// A Quality grades an answer.
type Quality string

// The grades. A plan of high quality may run at once; others must be confirmed first.
const (
	High   Quality = "high"
	Medium Quality = "medium"
	Low    Quality = "low"
)

// The least confidence of high and medium answers. They were chosen so that more than 85 of
// 100 high answers are right on databases that were not used for the calibration.
const (
	highFrom   = 0.78
	mediumFrom = 0.5
)

// An Answer is the result of Plan: a plan, questions back, or the reason why there is
// neither.
type Answer struct {
	Plan *queryplan.Plan `json:"plan,omitempty"`
	SQL  string          `json:"sql,omitempty"`
	// Confidence is the probability that the plan says what was asked.
	Confidence    float64     `json:"confidence"`
	Quality       Quality     `json:"quality"`
	Understood    []Word      `json:"understood,omitempty"`
	NotUnderstood []string    `json:"not_understood,omitempty"`
	Explain       string      `json:"explain,omitempty"`
	Questions     []Ambiguity `json:"questions,omitempty"`
	Declined      string      `json:"declined,omitempty"`
	// Chosen is what the person's answer to a question back chose, where it can be remembered.
	Chosen *schema.Choice `json:"chosen,omitempty"`
}

// Sure reports whether the answer may be given without asking back.
func (a Answer) Sure() bool {
	return a.Declined == "" && a.Quality == High && len(a.Questions) == 0
}

// A Word is a piece of the question with the meaning that it was given.
type Word struct {
	Text    string `json:"text"`
	Meaning string `json:"meaning"`
}

var yes = regexp.MustCompile(`(?i)^\s*(yes|yep|y|ok|okay|right|correct|exactly|sure|that is it|confirmed?)\b`)

// Plan plans a query that answers a question. Where it declines a word of a semantic model
// that has errors, it says so.
func Plan(q Question) Answer {
	if q.Index == nil {
		q.Index = NewIndex(q.Schema, q.Values, q.Dictionary)
	}
	a := plan(q)
	verified := q.Index.verified[questionKey(q.Text)] != nil // what a person approved needs no doubt
	if a.Sure() && strings.TrimSpace(q.Clarification) == "" && !verified {
		if reason := q.Index.unclearScope(q.Text, a.Plan); reason != "" {
			a = Answer{Quality: Low, Declined: reason}
		}
	}
	if a.Sure() && !verified && asksWho.MatchString(q.Text) && !q.Index.showsWho(a.Plan) {
		a = Answer{Quality: Low, Declined: "it is not clear who is meant: nothing that the question names is called by a name"}
	}
	if a.Plan != nil {
		for _, note := range slices.Compact(paddedNotes(a.Plan.Filters)) {
			a.Explain += " " + note
		}
	}
	s := q.Schema
	if q.Index != nil {
		s = q.Index.Schema()
	}
	if a.Declined != "" && s.Broken != nil && s.Broken.Mentions(declinedWords(q, a)) {
		a.Declined = strings.TrimSuffix(a.Declined, ".") + fmt.Sprintf(". %s has a problem and may define it: run `interlock meaning check %s`", s.Broken.File, s.ID)
	}
	return a
}

// declinedWords are the words of a question that the reason for declining it names.
func declinedWords(q Question, a Answer) []string {
	reason := strings.ToLower(a.Declined)
	words := strings.FieldsFunc(strings.ToLower(q.Text+" "+q.Clarification), func(r rune) bool { return !unicode.IsLetter(r) && !unicode.IsDigit(r) })
	return append(slices.DeleteFunc(words, func(w string) bool { return len(w) < 4 || !strings.Contains(reason, w) }), a.NotUnderstood...)
}

func plan(q Question) Answer {
	for _, text := range []string{q.Text, q.Clarification} {
		if IsStatement(text) {
			return Answer{Quality: Low, Declined: StatementHint(text)}
		}
	}
	x := q.Index
	if x == nil {
		x = NewIndex(q.Schema, q.Values, q.Dictionary)
	}
	now := q.Now
	if now.IsZero() {
		now = time.Now()
	}
	if a, ok := x.answerByMeaning(q); ok {
		return a
	}
	talk := x.hearAll(q, now)
	if !talk.failed && talk.current.drop(q.Avoid) {
		return talk.current.toAnswer(x)
	}
	if (talk.current.orphaned || x.goesOn(q.Text, talk.current) && len(q.History) > 0) && q.Clarification == "" {
		return Answer{Quality: Low, Declined: talk.current.reason}
	}
	if !x.today.IsZero() {
		now = x.today
	}
	a, r := x.planLoosely(q, now)
	if w := dropped(talk.current.u, r); w != "" && a.Sure() && q.Clarification == "" {
		return Answer{Quality: Low, Declined: fmt.Sprintf("it is not clear what %q refers to in this data", w), NotUnderstood: []string{w}}
	}
	if a.Sure() && q.Clarification == "" && x.described && len(a.Plan.Joins) > 0 {
		// The grammar of sentences knows names and values only. Where a dictionary says what they mean, more
		// of its readings over several tables were wrong than right.
		return Answer{Quality: Low, Declined: talk.current.reason}
	}
	if a.Sure() && q.Clarification == "" {
		if reason := x.doubtful(r, a.Plan); reason != "" {
			return Answer{Quality: Low, Declined: reason}
		}
	}
	if n := len(q.History); n > 0 && a.Plan != nil && follows.MatchString(q.Text) {
		if before := plan(Question{Text: q.History[n-1].Text, Index: x, History: q.History[:n-1], Now: q.Now}); before.SQL == a.SQL {
			return Answer{Quality: Low, Declined: "it is not clear what should change"} // for whom? says nothing new to the grammar
		}
	}
	if a.Declined != "" {
		a.Declined = talk.current.reason
	}
	if a.Declined == "" && a.Plan != nil && len(a.Plan.Having) > 0 && len(a.Plan.GroupBy) == 0 {
		return Answer{Quality: Low, Declined: talk.current.reason} // a number of all rows is no condition
	}
	if a.Sure() && x.listsAmounts(q.Text, a.Plan) {
		return Answer{Quality: Low, Declined: "it is not clear whether each of the amounts is asked for or all of them together; say `total` or `list`"}
	}
	if name := x.findUngrounded(q.Text, a); name != "" && a.Sure() && len(q.History) == 0 && q.Clarification == "" {
		return Answer{Quality: Low, Declined: fmt.Sprintf("I could only read this as a question about %s, which it does not name", name)}
	}
	if a.Declined == "" && slices.ContainsFunc(a.NotUnderstood, func(w string) bool { return changesMeaning(w, q.Text) }) {
		return Answer{Quality: Low, Declined: "it is not clear what " + quoteAll(a.NotUnderstood) + " refers to in this data", NotUnderstood: a.NotUnderstood}
	}
	return a
}

// dropped is a word that the account of words could not place, and of which nothing became in a reading by the
// grammar of sentences either. A verb only links the things that the reading uses: two of them before it, or one
// behind it. It is "" where there is none.
func dropped(u *understanding, r *reader) string {
	if u == nil || r == nil {
		return ""
	}
	for i := range u.ps {
		p := &u.ps[i]
		if p.role != pUnknown || p.used || lightVerbs[p.text] {
			continue
		}
		at := slices.IndexFunc(r.chunks, func(c chunk) bool {
			return slices.ContainsFunc(r.toks[c.from:c.to], func(t token) bool { return t.text == u.toks[p.from].text })
		})
		if at < 0 || r.chunks[at].used || r.chunks[at].role != rWord || r.countUsedNames(at+1, len(r.chunks)) > 0 || r.countUsedNames(0, at) > 1 {
			continue
		}
		return u.toks[p.from].text
	}
	return ""
}

// countUsedNames counts the names and values among some chunks that are a part of the plan.
func (r *reader) countUsedNames(from, to int) int {
	n := 0
	for _, c := range r.chunks[from:to] {
		if c.role == rMention && c.used {
			n++
		}
	}
	return n
}

// changesMeaning reports whether words that became nothing may change what is asked. Verbs only say
// how the things are linked that a question names; behind an article they are nouns, as in the training.
func changesMeaning(words, text string) bool {
	verb := !strings.Contains(words, " ") && (strings.HasSuffix(words, "ed") || strings.HasSuffix(words, "ing"))
	return words == "nothing" || !verb || slices.ContainsFunc(nounBefore.FindAllStringSubmatch(text, -1), func(m []string) bool { return strings.EqualFold(m[1], words) })
}

// nounBefore is a word in -ing behind an article.
var nounBefore = regexp.MustCompile(`(?i)\b(?:the|a|an|our|my|their|this|each|every|per|by) (\w+ing)\b`)

func quoteAll(words []string) string {
	var out []string
	for _, w := range words {
		out = append(out, fmt.Sprintf("%q", w))
	}
	return strings.Join(out, ", ")
}

// politeFrame is politeness whose words may be names elsewhere.
var politeFrame = regexp.MustCompile(`(?i)\b(be )?so kind( as to)?( and)?\b|\bthank you\b|\bsorry (to bother|for bothering)( you)?\b`)

// planLoosely reads a question by the grammar of single sentences, which leaves room for words that it does not know.
func (x *Index) planLoosely(q Question, now time.Time) (Answer, *reader) {
	text, notes := x.rephrase(q, now)
	text = x.dropPurpose(politeFrame.ReplaceAllString(text, " "))
	if reason := x.findUnexplained(text); reason != "" {
		return Answer{Quality: Low, Declined: reason}, nil
	}
	first := readWithRemembered(x, text, now)
	alternatives := first.alternatives(now)
	confirmed := false
	for line := range strings.Lines(q.Clarification) {
		if confirmed = yes.MatchString(line); !confirmed && strings.TrimSpace(line) != "" {
			offered := alternatives
			first, alternatives = first.applyClarification(offered, strings.TrimSpace(line), now)
			confirmed = slices.Contains(offered, first) // a reading that was chosen needs no second yes
		}
	}
	first, alternatives = dropRejected(first, alternatives, q.Avoid)
	a := first.toAnswer()
	a.Understood = append(notes, a.Understood...)
	switch {
	case a.Declined != "":
	case len(alternatives) > 0:
		a.Questions = askBack(first, alternatives)
		a.Confidence = min(a.Confidence, 1/float64(len(alternatives)))
		if a.Quality == High {
			a.Quality = Medium
		}
	case a.Quality != High && confirmed:
		a.Quality = High // the person has confirmed the reading
	case a.Quality == Medium:
		a.Questions = []Ambiguity{{Question: "Is this what you mean?", Alternatives: []Alternative{{Text: a.Explain, Plan: a.Plan, SQL: a.SQL}}}}
	}
	return a, first.r
}

// A reading is one way to understand a question.
type reading struct {
	r      *reader
	text   string
	plan   *queryplan.Plan
	sql    string
	reason string // why there is no plan
	chosen *schema.Choice
}

// readQuestion reads a text; choices decide what would otherwise be a guess.
func readQuestion(x *Index, text string, now time.Time, choices map[string]int) *reading {
	r := newReader(x, text, now)
	r.choices = choices
	r.runPasses()
	g := &reading{r: r, text: text}
	g.plan, g.reason = r.build()
	if g.plan == nil {
		return g
	}
	if g.reason = r.missingReason(); g.reason == "" && len(r.sups) > 0 && len(g.plan.GroupBy) == 0 && !slices.ContainsFunc(g.plan.Select, func(e queryplan.Expr) bool { return !e.Aggregate() }) {
		g.reason = "it is not clear what to rank: there is one number only"
	}
	if g.reason != "" {
		g.plan = nil
		return g
	}
	x.leaveOutUnknown(g.plan)
	var err error
	if g.sql, err = g.plan.SQL(x.schema); err != nil {
		g.plan, g.reason = nil, "the question asks for something that a query plan cannot say"
	}
	return g
}

func (g *reading) toAnswer() Answer {
	a := Answer{Quality: Low, Understood: g.r.explainWords(), NotUnderstood: g.r.unknownWords()}
	if g.plan == nil {
		a.Declined = g.reason
		return a
	}
	a.Plan, a.SQL, a.Chosen = g.plan, g.sql, g.chosen
	a.Confidence = confidence(&evidence{g.r, g.plan})
	a.Explain = Describe(g.plan, g.r.x.schema)
	switch {
	case a.Confidence >= highFrom:
		a.Quality = High
	case a.Confidence >= mediumFrom:
		a.Quality = Medium
	}
	return a
}

// explainWords says what each used piece was taken for.
func (r *reader) explainWords() []Word {
	var out []Word
	for i := range r.chunks {
		c := &r.chunks[i]
		if !c.used {
			continue
		}
		if m := r.meaning(i); m != "" {
			out = append(out, Word{r.chunkText(c), m})
		}
	}
	return out
}

func (r *reader) meaning(i int) string {
	c := &r.chunks[i]
	switch c.role {
	case rMention:
		if c.isValue {
			for _, k := range r.conds {
				if k.at == i && k.col >= 0 {
					return fmt.Sprintf("the value of %s.%s", r.x.tableName(r.x.columns[k.col].table), r.x.columns[k.col].name)
				}
			}
			return "a value"
		}
		t, ts := r.asTable(i)
		col, cs := r.asColumn(i, r.nearTable(i), nil)
		if col >= 0 && cs > ts {
			return fmt.Sprintf("the column %s.%s", r.x.tableName(r.x.columns[col].table), r.x.columns[col].name)
		}
		if t >= 0 {
			return "the table " + r.x.tableName(t)
		}
	case rCount:
		return "a number of rows"
	case rAgg:
		return string(c.phrase.agg)
	case rSup, rTop:
		return "the first by some measure"
	case rCompare:
		return operatorWords[c.phrase.op]
	case rEach:
		return "one row for each"
	case rNot:
		return "the opposite"
	case rPeriod:
		return c.period.String()
	case rOrder, rDir:
		return "the order of rows"
	case rDistinct:
		return "each only once"
	}
	return ""
}
