package nlq

import (
	"fmt"
	"slices"
	"strings"

	"interlock/internal/queryplan"
)

// orders are words that ask to change data.
var orders = wordSet("delete drop update insert create remove truncate alter grant revoke rename attach")

// isNoun reports whether an unknown word stands where a thing does: it is no verb form
// and no word that says nothing.
func (r *reader) isNoun(i int) bool {
	t := &r.toks[r.chunks[i].from]
	return !harmless[t.lemma] && !harmless[t.lower] && !strings.HasSuffix(t.lower, "ed") && !strings.HasSuffix(t.lower, "ing") && !strings.HasSuffix(t.lower, "ly") && !t.number
}

// isAskedFor reports whether an unknown word is what the question asks for: the email of
// each customer.
func (r *reader) isAskedFor(i int) bool {
	c := &r.chunks[i]
	if c.from == 0 || c.to >= len(r.toks) {
		return false
	}
	before, after := r.toks[c.from-1].lower, r.toks[c.to].lower
	return (before == "the" || before == "and" || before == "their" || before == "its" || r.toks[c.from].comma) && (after == "of" || after == "for" || after == "and" && len(r.items) > 0 || r.toks[c.to].comma)
}

// isQualifier reports whether an unknown word makes the next, vaguely matched name
// something else: phone number is no number of staff.
func (r *reader) isQualifier(i int) bool {
	n := i + 1
	if n >= len(r.chunks) || !r.isNamed(n) || r.toks[r.chunks[n].from].comma {
		return false
	}
	m := r.chunks[n].mention
	return len(m.columns) > 0 && m.columns[0].score < 0.8 && (len(m.tables) == 0 || m.tables[0].score < 0.6)
}

// repeatsGivenValue reports whether all that is shown is a value that the question gave.
func (r *reader) repeatsGivenValue() bool {
	if len(r.items) != 1 || r.items[0].agg != "" || len(r.toks) > 0 && wordSet("is are does do")[r.toks[0].lower] {
		return false
	}
	return slices.ContainsFunc(r.conds, func(c cond) bool {
		return c.col == r.items[0].col && c.op == queryplan.Eq && !c.neg && !c.or && len(c.values) == 1 && r.items[0].at >= 0
	})
}

// hasLostColumn reports whether a column is named in a condition that nothing came of.
func (r *reader) hasLostColumn(i int) bool {
	c := &r.chunks[i]
	if !c.cond || len(c.mention.columns) == 0 || c.mention.columns[0].score < 0.95 || r.isVerbLike(i) {
		return false
	}
	if len(c.mention.tables) > 0 && c.mention.tables[0].score > 0.5 {
		return false
	}
	// A column that the plan uses anyway, or that only says what kind of thing a value
	// is, is not lost.
	for _, m := range c.mention.columns {
		if r.usesColumn(m.id) {
			return false
		}
	}
	p, n := r.prevChunk(i), r.nextChunk(i)
	return !(r.hasRole(p, rMention) && r.chunks[p].isValue) && !(r.hasRole(n, rMention) && r.chunks[n].isValue)
}

// unanswerableReason returns the reason why no query answers what a question asks: why something
// happened, or what will happen.
func (r *reader) unanswerableReason() string {
	for i := range r.chunks {
		t := &r.toks[r.chunks[i].from]
		if r.chunks[i].role != rWord || t.quoted {
			continue
		}
		switch t.lower {
		case "why":
			return "the data say what happened, not why"
		case "will", "forecast", "predict":
			return "the data say what happened, not what will"
		}
	}
	return ""
}

// untilNow are words that say that something holds at this time.
var untilNow = wordSet("still currently now already yet presently")

// isSelector reports whether an unknown word is what rows are chosen by: it ends a
// sentence after `are`, or is a superlative.
func (r *reader) isSelector(i int) bool {
	c := &r.chunks[i]
	t := &r.toks[c.from]
	if c.filler || begins[t.lower] || t.number || c.from == 0 {
		return false
	}
	at := c.from - 1
	for at > 0 && untilNow[r.toks[at].lower] {
		at--
	}
	before := r.toks[at].lower
	have := wordSet("have has had")[before] && pastForm(t)
	be := have || wordSet("is are was were not been")[before]
	if harmless[t.lemma] && !have && (!be || t.lower != t.lemma || pastForm(t)) {
		return false // which are held; but not: which are open, which have left
	}
	if strings.HasSuffix(t.lower, "est") && len(t.lower) > 5 && before == "the" {
		return true
	}
	return be && (c.to == len(r.toks) || r.toks[c.to].sentence != t.sentence || r.toks[c.to].comma)
}

// isDescription reports whether an unknown word stands right before the name of a table, and so
// chooses among its rows: overdue loans are not all loans.
func (r *reader) isDescription(i int) bool {
	c, n := &r.chunks[i], i+1
	t := &r.toks[c.from]
	if c.filler || harmless[t.lemma] || harmless[t.stem] || begins[t.lower] || t.number || n >= len(r.chunks) || r.toks[r.chunks[n].from].comma {
		return false
	}
	m := r.chunks[n]
	return m.role == rMention && m.from == c.to && !m.isValue && len(m.mention.tables) > 0 && m.mention.tables[0].score > 0.8
}

// asksUnknown reports whether an unknown word is the heart of the question or of its last
// condition: how satisfied, who approved, the debt per country, on holiday.
func (r *reader) asksUnknown(i int) bool {
	c := &r.chunks[i]
	t := &r.toks[c.from]
	if c.filler || harmless[t.lemma] || harmless[t.stem] || begins[t.lower] || t.number || c.from == 0 {
		return false
	}
	before := r.toks[c.from-1].lower
	if c.from == 1 && (before == "how" || before == "who") {
		return true
	}
	if !r.isNoun(i) {
		return false
	}
	if n := i + 1; n < len(r.chunks) && r.chunks[n].role == rEach && r.toks[r.chunks[n].from].lower != "each" {
		return true
	}
	last := c.to == len(r.toks) || r.toks[c.to].sentence != t.sentence
	return last && wordSet("on at in about for with of during by to")[before]
}

// isCount reports whether rows are counted.
func (r *reader) isCount() bool {
	return slices.ContainsFunc(r.items, func(it item) bool { return it.agg == queryplan.Count || it.agg == queryplan.CountDistinct })
}

// missingReason returns the reason why a plan must not be shown as an answer: words that
// change what is asked and that no part of the plan comes from.
func (r *reader) missingReason() string {
	if w := r.toks; len(w) > 0 && orders[w[0].lower] {
		return fmt.Sprintf("%q is not a question: data are only read here, never changed", w[0].text)
	}
	if reason := r.unanswerableReason(); reason != "" {
		return reason
	}
	if r.repeatsGivenValue() {
		return "the answer would only repeat a value that the question names"
	}
	var lost []string
	for _, w := range r.lost {
		lost = append(lost, fmt.Sprintf("%q", w))
	}
	for i := range r.chunks {
		c := &r.chunks[i]
		if c.used {
			continue
		}
		word := r.toks[c.from].lower
		switch c.role {
		case rSup, rNot, rPeriod, rEmpty, rBoth:
		case rAnd:
			if c.phrase.words[0] != "with" || slices.ContainsFunc(r.items, func(it item) bool { return it.at < i }) {
				continue // the partners with their rates: the partners are asked for as well
			}
		case rShare:
			if word == "share" {
				continue // also a verb
			}
		case rWord:
			if t := &r.toks[c.from]; len([]rune(t.text)) == 1 && !c.filler && !t.bracket {
				break // a letter that stands for something
			}
			if t := &r.toks[c.from]; t.capital && !c.filler && c.from > 0 && r.toks[c.from-1].sentence == t.sentence && len([]rune(t.text)) > 2 && !harmless[t.lemma] {
				break // a name that is not in the data
			}
			if r.isSelector(i) || r.isDescription(i) || r.asksUnknown(i) {
				break // which are stale, the friendliest; who approved it
			}
			if c.filler || c.cond || !r.isNoun(i) || !r.isAskedFor(i) && !r.isQualifier(i) {
				continue
			}
		case rTrend:
		case rLike:
			if len(c.phrase.words) < 2 {
				continue // contains, like: ordinary verbs
			}
		case rAgg:
			if c.phrase.agg == queryplan.Sum && r.isCount() {
				continue // how many in total
			}
		case rCompare:
			if c.phrase.op == queryplan.Eq || word == "from" || word == "following" {
				continue
			}
		case rNumber:
			if word == "one" || word == "single" || word == "once" && c.from > 0 && r.toks[c.from-1].lower == "at" {
				continue
			}
		case rMention:
			if !c.isValue && !r.hasLostColumn(i) {
				continue
			}
		default:
			continue
		}
		if text := fmt.Sprintf("%q", r.chunkText(c)); !slices.Contains(lost, text) {
			lost = append(lost, text)
		}
	}
	if len(lost) == 0 {
		return ""
	}
	return "it is not clear what " + strings.Join(lost, ", ") + " refers to in this data"
}
