// Package nlq reads a question in words against a schema and gives a query plan,
// with a calibrated confidence, the words it understood and did not, and questions
// back where two readings are possible. It knows general English and nothing about
// any particular data: no table, column or value is named in it. No model, no I/O.
//
// A question passes through five steps, one file or two each:
//
//	token     words, numbers, quoted texts
//	link      what words may name: tables, columns, values (link, linkvalue)
//	chunk     the best cover of the question by names and grammar (phrase, adjective)
//	reader    passes that fill a frame: compare, superlative, group, value, negation, ask
//	assemble  the frame as a plan: base table, joins, filters, order (condition, join)
//
// What a pass understood it marks as used. Words that change what is asked and that
// nothing used make the answer a refusal (missing); the rest weighs on the confidence.
package nlq

import (
	"fmt"
	"regexp"
	"strings"
	"time"

	"interlock/internal/queryplan"
	"interlock/internal/schema"
)

// A Question is all that a reading may use.
type Question struct {
	Text       string
	Schema     schema.Dataset
	Values     []ColumnValues
	Dictionary schema.Dictionary
	// Index spares preparing schema, values and dictionary again; nil makes one.
	Index *Index
	// History is what was asked before, the latest last, for `and by month?`.
	History []Turn
	// Clarification is what the person answered when asked back, a line for each time:
	// one of the alternatives, or its number, or yes, or free words.
	Clarification string
	// Avoid are plans, as SQL, that were judged wrong before; they are not given again.
	Avoid []string
	// Now is what `last month` is measured from; the present when zero.
	Now time.Time
}

// A Turn is an earlier question.
type Turn struct {
	Text string `json:"text"`
}

// Quality grades an answer.
type Quality string

// The grades: high may run at once; medium and low are to be confirmed.
const (
	High   Quality = "high"
	Medium Quality = "medium"
	Low    Quality = "low"
)

// The confidence from which on an answer is high or medium. They were chosen so that
// on databases left out of the fit more than 85 in 100 high answers are right.
const (
	highFrom   = 0.75
	mediumFrom = 0.5
)

// An Answer is what became of a question: a plan, a question back, or a reason why
// there is neither.
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
}

// Sure reports whether the answer may be given without asking back.
func (a Answer) Sure() bool {
	return a.Declined == "" && a.Quality == High && len(a.Questions) == 0
}

// A Word is a piece of the question and what it was taken for.
type Word struct {
	Text    string `json:"text"`
	Meaning string `json:"meaning"`
}

var yes = regexp.MustCompile(`(?i)^\s*(yes|yep|y|ok|okay|right|correct|exactly|sure|that is it|confirmed?)\b`)

// Plan reads a question.
func Plan(q Question) Answer {
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
	text, notes := x.rephrase(q, now)
	if reason := x.findUnexplained(text); reason != "" {
		return Answer{Quality: Low, Declined: reason}
	}
	first := readQuestion(x, text, now, nil)
	alternatives := first.alternatives(now)
	confirmed := false
	for line := range strings.Lines(q.Clarification) {
		if confirmed = yes.MatchString(line); !confirmed && strings.TrimSpace(line) != "" {
			first, alternatives = first.applyClarification(alternatives, strings.TrimSpace(line), now)
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
	return a
}

// A reading is one way to understand a question, as far as it got.
type reading struct {
	r      *reader
	text   string
	plan   *queryplan.Plan
	sql    string
	reason string // why there is no plan
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
	if g.reason = r.missingReason(); g.reason != "" {
		g.plan = nil
		return g
	}
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
	a.Plan, a.SQL = g.plan, g.sql
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
