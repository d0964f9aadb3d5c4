package nlq

import (
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strings"
	"time"

	"interlock/internal/queryplan"
	"interlock/internal/schema"
)

// A conversation is what the messages of a thread came to so far.
type conversation struct {
	x       *Index
	now     time.Time
	last    *inquiry // what was answered last, or nil; a message that is not understood leaves it
	current *resolved
	pending *pendingChoice
	failed  bool   // the message before was not answered
	typed   bool   // the message before was a statement, which no question goes on from
	unread  string // a follow-up since the last answer that was not understood
}

// A resolved message has a plan, alternatives to ask about, or reasons why there is neither.
type resolved struct {
	u            *understanding
	plan         *queryplan.Plan
	sql          string
	alternatives []*resolved
	about        string
	reason       string
	orphaned     bool           // it goes on from a question that was not answered
	chosen       *schema.Choice // by the answer to a question back
	question     string         // what to ask, where it is not what a word means
}

// A pendingChoice is a question back that the next message may answer.
type pendingChoice struct {
	text string
	last *inquiry
	from *resolved
}

// maxMessages is how many messages of a thread are read again.
const maxMessages = 12

// converse reads the messages of a thread, the latest last.
func (x *Index) converse(texts []string, now time.Time) *conversation {
	c := &conversation{x: x, now: now}
	if !x.today.IsZero() {
		c.now = x.today
	}
	if n := len(texts); n > maxMessages {
		texts = texts[n-maxMessages:]
	}
	for i, text := range texts {
		if i < len(texts)-1 && (IsStatement(text) || codePrefix.MatchString(text)) {
			c.hearStatement()
			continue
		}
		c.hear(text)
	}
	return c
}

// hearAll reads the history of a question, the question, and the answers to questions back.
func (x *Index) hearAll(q Question, now time.Time) *conversation {
	var texts []string
	for _, t := range q.History {
		if !x.asksNothing(t.Text) { // thanks change nothing
			texts = append(texts, t.Text)
		}
	}
	talk := x.converse(append(texts, q.Text), now)
	for line := range strings.Lines(q.Clarification) {
		if line = strings.TrimSpace(line); line != "" && !talk.failed && (!yes.MatchString(line) || talk.asksYes()) {
			talk.hear(line)
		}
	}
	return talk
}

// hear reads the next message.
func (c *conversation) hear(text string) {
	r := c.resolve(text)
	c.failed = r.plan == nil && len(r.alternatives) == 0
	c.current = r
	switch {
	case c.failed && c.pending != nil:
		c.last, c.pending = c.pending.last, nil
	case c.failed:
	case len(r.alternatives) > 0:
		c.pending = &pendingChoice{text: text, last: c.last, from: r}
		c.last = nil
	default:
		c.pending = nil
		c.last = r.u.q
	}
	c.typed = c.typed && c.failed
	switch {
	case !c.failed:
		c.unread = ""
	case c.last != nil && c.x.goesOn(text, r):
		c.unread = text
	}
}

// goesOn reports whether a message goes on from the one before.
func (x *Index) goesOn(text string, r *resolved) bool {
	english, _ := x.translate(text)
	return followWords.MatchString(english) || r.u != nil && (r.u.refersBack() || r.u.find(0, pInstead) >= 0)
}

// asksYes reports whether the question that is open is whether one reading is meant.
func (c *conversation) asksYes() bool {
	return c.pending != nil && len(c.pending.from.alternatives) == 1
}

// followWords begin a message that goes on from the one before.
var followWords = regexp.MustCompile(`(?i)^\s*(and\b|what about|how about|only\b|just\b|same\b|now\b|by\b|per\b|split\b|broken down|as a|as percent|in percent|in %|top\b|best \d|exclude|excluding|without|leave out|except|sort|order by|add\b|show (me )?(their|the|how|them)|instead|also\b|but\b|no,|i mean|who\?|when\?|which ones|how many (are|is|were|of) (that|those|them|these)|how much is that|how much money is that|in total|compare (that|this|it)|cheapest first|highest first|lowest first|per\b|und\b|nur\b|what share of (their|those|them|that)|spread|davon|of (those|these|them)\b|with (the|their|its)\b|not counting|which (one|of (those|these|them)|month|year|quarter|week) was)`)

// changeWords begin a message that changes what was answered before, and is no question of its own.
var changeWords = regexp.MustCompile(`(?i)^\s*(add\b|only\b|just\b|exclud|without|leave out|except|sort|split|spread|with (the|their|its)\b|not counting|as a |as percent|in percent|same\b)`)

// leaningWords make a message speak of what was said before, wherever they stand in it.
var leaningWords = regexp.MustCompile(`(?i)\b(is|are|was|were|makes?) (that|this|it)\b|\beach\s*\??$|\bas well\b|\btoo\s*\??$`)

// isFragment reports whether a message is a few words that only list rows: "which units?" or "3 rooms?".
// After a question that was not answered it is more likely the rest of that one.
func (r *resolved) isFragment(text string) bool {
	if r.plan == nil || len(strings.Fields(text)) > 3 || len(r.plan.GroupBy) > 0 {
		return false
	}
	return !slices.ContainsFunc(r.plan.Select, func(e queryplan.Expr) bool { return e.Function != "" })
}

// GoesOn reports whether a message begins like one that goes on from the message before it.
func GoesOn(text string) bool { return followWords.MatchString(text) }

// rankWords begin a message that changes a ranking, or asks for a new one in full.
var rankWords = regexp.MustCompile(`(?i)^\s*(top|best \d)\b`)

func (c *conversation) resolve(text string) *resolved {
	if c.pending != nil {
		if r := c.choose(text); r != nil {
			return r
		}
		if r := c.x.resolve(c.pending.text+" "+text, c.now, nil, c.pending.last); r.plan != nil && len(r.alternatives) == 0 {
			return r
		}
	}
	english, _ := c.x.translate(text)
	leans := leaningWords.MatchString(english)
	follows := leans || followWords.MatchString(english)
	alone := c.x.resolve(text, c.now, nil, nil)
	if c.last == nil {
		switch {
		case follows && alone.plan == nil && c.typed:
			alone.reason = "this goes on from a statement that was typed, which I cannot change; ask in full"
		case c.failed && (follows && alone.plan == nil || leans || changeWords.MatchString(text) || alone.u.refersBack() || alone.isFragment(text)):
			alone.plan, alone.alternatives, alone.orphaned = nil, nil, true
			alone.reason = "this goes on from a question that was not answered; ask it in full"
		}
		return alone
	}
	if (!follows || rankWords.MatchString(english)) && (alone.plan != nil || len(alone.alternatives) > 0) && !alone.u.refersBack() {
		return alone
	}
	edited := c.x.resolve(text, c.now, nil, c.last)
	switch {
	case edited.plan != nil && len(edited.alternatives) == 0 && c.unread != "":
		return c.askWithout(edited)
	case edited.plan != nil || len(edited.alternatives) > 0:
		return edited
	case alone.plan != nil && !follows && !alone.u.refersBack():
		return alone
	}
	return edited
}

// askWithout asks whether a follow-up is meant without the one before it, which was not understood:
// the answer would leave that out.
func (c *conversation) askWithout(edited *resolved) *resolved {
	asked := *edited
	edited.about = Describe(edited.plan, c.x.schema)
	asked.alternatives = []*resolved{edited}
	asked.question = fmt.Sprintf("%q was not understood and is left out. Is this what you mean?", c.unread)
	return &asked
}

// pronouns stand for what was answered before.
var pronouns = []string{"them", "those", "these", "they", "ones", "of them", "of those", "of these", "which of those", "which of these"}

// refersBack reports whether a message speaks of what was answered before: by a pronoun for it, or by
// `their` and `its` where the message has named nothing yet.
func (u *understanding) refersBack() bool {
	named := false
	for _, p := range u.ps {
		if p.role == pPronoun && (slices.Contains(pronouns, p.text) || !named && (p.text == "their" || p.text == "its")) {
			return true
		}
		named = named || slices.Contains([]pieceRole{pName, pUnknown, pWhich}, p.role)
	}
	return false
}

// choose takes the alternative that a message chooses; what the message says besides changes it.
func (c *conversation) choose(text string) *resolved {
	r := c.pick(text)
	if r == nil || Chooses(text, c.offered()) {
		return r
	}
	names := splitIdentifier(r.about)
	more := slices.ContainsFunc(tokenise(text), func(t token) bool {
		return t.number && t.lower != "one" && ordinals[t.lower] == 0 && !slices.Contains(names, t.lower)
	})
	if !more || len(splitIdentifier(text)) < 2 {
		return r
	}
	if edited := c.x.resolve(text, c.now, nil, r.u.q); edited.plan != nil && len(edited.alternatives) == 0 {
		return edited
	}
	return nil
}

// pick reads a message as the choice of one of the alternatives: its number, or words of it.
func (c *conversation) pick(text string) *resolved {
	alternatives := c.pending.from.alternatives
	if c.asksYes() && yes.MatchString(text) {
		return alternatives[0]
	}
	if i := pickReading(text, c.offered(), false); i >= 0 {
		return alternatives[i]
	}
	return nil
}

// offered are the readings that the last question back offers.
func (c *conversation) offered() []string {
	readings := make([]string, len(c.pending.from.alternatives))
	for i, alt := range c.pending.from.alternatives {
		readings[i] = alt.about
	}
	return readings
}

// resolve reads a text with choices made, by itself or as an edit of last.
func (x *Index) resolve(text string, now time.Time, choices map[string]int, last *inquiry) *resolved {
	u := x.understand(text, now, choices, last)
	r := &resolved{u: u}
	if len(u.lost) > 0 {
		r.reason = u.lost[0]
		return r
	}
	plan, reason := x.compileInquiry(u.q)
	if plan == nil {
		r.reason = reason
		return r
	}
	sql, err := plan.SQL(x.schema)
	if err != nil {
		r.reason = "the question asks for something that a query plan cannot say"
		return r
	}
	if last != nil {
		if before, _ := x.compileInquiry(last); before != nil {
			if old, err := before.SQL(x.schema); err == nil && old == sql {
				r.reason = "it is not clear what should change"
				return r
			}
		}
	}
	r.plan, r.sql = plan, sql
	for _, o := range u.open {
		if opt, ok := x.remembered(o); ok {
			with := map[string]int{o.key: opt.id}
			maps.Copy(with, choices)
			always := x.resolve(text, now, with, last)
			if always.plan != nil {
				always.u.q.notes = append(always.u.q.notes, rememberedNote(o.about, opt.text))
			}
			return always
		}
	}
	if len(u.open) > 0 {
		o := u.open[0]
		for _, opt := range o.options {
			with := map[string]int{o.key: opt.id}
			for k, v := range choices {
				with[k] = v
			}
			alt := x.resolve(text, now, with, last)
			if alt.plan == nil || slices.ContainsFunc(r.alternatives, func(a *resolved) bool { return a.sql == alt.sql }) {
				continue
			}
			alt.about, alt.chosen = opt.text, chosenAs(o, opt.text)
			if len(alt.alternatives) > 0 {
				alt.alternatives = nil // one question at a time
			}
			r.alternatives = append(r.alternatives, alt)
		}
		if len(r.alternatives) == 1 && o.key != "measure" {
			one := r.alternatives[0]
			one.alternatives, one.chosen = nil, nil
			return one
		}
	}
	return r
}

// drop leaves out readings that were judged wrong before, and reports whether one is left.
func (r *resolved) drop(wrong []string) bool {
	r.alternatives = slices.DeleteFunc(r.alternatives, func(a *resolved) bool { return slices.Contains(wrong, a.sql) })
	return !slices.Contains(wrong, r.sql)
}

// toAnswer is a resolved message as the answer of the planner.
func (r *resolved) toAnswer(x *Index) Answer {
	a := Answer{Plan: r.plan, SQL: r.sql, Confidence: wordForWord, Quality: High, Explain: Describe(r.plan, x.schema), Chosen: r.chosen}
	a.Understood = append(a.Understood, r.u.notes...)
	for _, w := range r.u.definitionsUsed() {
		a.Explain += fmt.Sprintf(" By your definition of %s: %s.", w.Text, strings.TrimSuffix(w.Meaning, "."))
		a.Understood = append(a.Understood, w)
	}
	for _, n := range slices.Compact(r.u.q.notes) {
		a.Explain += " " + strings.ToUpper(n[:1]) + n[1:] + "."
	}
	if len(r.alternatives) == 0 {
		return a
	}
	q := Ambiguity{Question: r.question}
	if r.question == "" {
		q.Question = fmt.Sprintf("What does %q mean here?", r.u.open[0].about)
		if r.u.open[0].about == "when" {
			q.Question = "Which date do you mean?"
		}
	}
	for _, alt := range r.alternatives {
		q.Alternatives = append(q.Alternatives, Alternative{Text: alt.about, Plan: alt.plan, SQL: alt.sql})
	}
	a.Questions = []Ambiguity{q}
	a.Quality = Medium
	a.Confidence = min(a.Confidence, 1/float64(max(2, len(r.alternatives))))
	return a
}

// wordForWord is the confidence of a reading in which every word became something.
const wordForWord = 0.93

// definitionsUsed are the terms of the dictionary that the inquiry rests on.
func (u *understanding) definitionsUsed() []Word {
	var out []Word
	add := func(d *definition) {
		if d != nil && !slices.ContainsFunc(out, func(w Word) bool { return w.Text == d.name }) {
			out = append(out, Word{d.name, d.text})
		}
	}
	for _, m := range u.q.measures {
		add(m.def)
	}
	for _, c := range u.q.conds {
		add(c.def)
	}
	return out
}
