package nlq

import (
	"math"
	"slices"
	"strconv"
	"strings"
	"time"

	"interlock/internal/queryplan"
)

// checkConditions compares the values, numbers and dates of the question with those of
// the plan, both ways.
func (j *judge) checkConditions() {
	r := j.r
	for i := range r.chunks {
		c := &r.chunks[i]
		switch {
		case c.role == rMention && c.isValue:
			j.checkValue(c)
		case c.role == rNumber:
			j.checkNumber(i)
		case c.role == rPeriod:
			j.checkPeriod(i, c.period)
		}
	}
	j.checkNegation()
	j.checkInvented()
}

func (j *judge) checkValue(c *chunk) {
	ok := slices.Contains(j.facts.texts, normaliseValue(j.r.chunkText(c)))
	for _, v := range c.mention.values {
		ok = ok || slices.Contains(j.facts.texts, normaliseValue(v.value))
	}
	for _, t := range j.facts.texts {
		ok = ok || strings.Contains(t, normaliseValue(j.r.chunkText(c)))
	}
	if n := j.r.toks[c.from]; n.quoted && n.number {
		ok = ok || slices.ContainsFunc(j.facts.compares, func(x comparedNumber) bool { return x.n == n.value })
	}
	// What was shipped in March is told by the date of shipping as well.
	for _, name := range j.facts.columns {
		ok = ok || slices.ContainsFunc(splitIdentifier(name), func(w string) bool { return stem(w) == j.r.toks[c.from].stem })
	}
	if len(c.mention.values) == 0 || c.mention.values[0].score < sureValue || j.isCodeOf(c) || j.isGroupedValue(c) || j.isWordLikeCode(c) {
		return
	}
	if !ok {
		j.addObjection("Add a condition on it.", "The question speaks of %q, but no condition of the plan does.", j.r.chunkText(c))
	}
}

// sureValue is the least score of a value that a plan is held to.
const sureValue = 0.9

// isCodeOf reports whether the plan has a condition on a column that refers to the table of a value:
// the code of what the question calls by its name.
func (j *judge) isCodeOf(c *chunk) bool {
	x := j.r.x
	for _, v := range c.mention.values {
		t := x.columns[v.column].table
		for _, f := range allFilters(j.plan) {
			name := f.Column[strings.LastIndexByte(f.Column, '.')+1:]
			if i := slices.IndexFunc(x.columns, func(o column) bool {
				return strings.EqualFold(o.name, name) && (o.ref == t || o.table == t && o.key)
			}); name != "" && i >= 0 {
				return true
			}
		}
	}
	return false
}

// allFilters are the conditions of a plan and of the plans within them.
func allFilters(p *queryplan.Plan) []queryplan.Filter {
	var out []queryplan.Filter
	var walk func(fs []queryplan.Filter)
	walk = func(fs []queryplan.Filter) {
		for _, f := range fs {
			out = append(out, f)
			walk(f.Any)
			walk(f.All)
			if f.Not != nil {
				walk([]queryplan.Filter{*f.Not})
			}
			if f.Plan != nil {
				walk(f.Plan.Filters)
			}
		}
	}
	walk(p.Filters)
	return out
}

// isGroupedValue reports whether the question compares values of a column that the plan groups
// by, so that each has a row of its own: online against classroom.
func (j *judge) isGroupedValue(c *chunk) bool {
	of := func(c *chunk, name string) bool {
		return c.role == rMention && c.isValue && slices.ContainsFunc(c.mention.values, func(v scoredValue) bool { return strings.EqualFold(name, j.r.x.columns[v.column].name) })
	}
	return slices.ContainsFunc(j.plan.GroupBy, func(t queryplan.Term) bool {
		e := j.resolveAlias(t.Expr)
		name, said := e.Column[strings.LastIndexByte(e.Column, '.')+1:], 0
		for i := range j.r.chunks {
			if of(&j.r.chunks[i], name) {
				said++
			}
		}
		return said > 1 && of(c, name)
	})
}

// maxCode is up to how many letters a value is a code, which is meant only where it is written as it is kept.
const maxCode = 3

// isWordLikeCode reports whether a value is a code that only sounds like the word: `es` is not ES.
func (j *judge) isWordLikeCode(c *chunk) bool {
	text := j.r.toks[c.from].text
	return c.to == c.from+1 && len(text) <= maxCode && !slices.ContainsFunc(c.mention.values, func(v scoredValue) bool { return v.value == text })
}

// checkNumber checks that a number of the question is in the plan and compared the
// way the words say.
func (j *judge) checkNumber(i int) {
	r := j.r
	n := r.chunks[i].number
	word := r.toks[r.chunks[i].from].lower
	if n := r.nextChunk(i); len(j.facts.bounds) > 0 && n >= 0 && unitWords[r.toks[r.chunks[n].from].lemma] != "" {
		return // the next 6 weeks
	}
	if !strings.Contains(j.said, r.toks[r.chunks[i].from].text) || j.isPartOfDate(i) || slices.ContainsFunc(j.facts.compares, func(x comparedNumber) bool { return x.n == n*1000 }) {
		return // of a definition, of a date, or 3.000 for three thousand
	}
	if yearLike(n) && slices.ContainsFunc(j.plan.GroupBy, func(t queryplan.Term) bool { e := j.resolveAlias(t.Expr); return e.Part != "" || e.Truncate != "" }) && len(j.facts.bounds) == 0 {
		return // 2024 against 2025: one row for each year
	}
	if part, err := strconv.ParseFloat(strings.Replace(word, ",", ".", 1), 64); err == nil && slices.ContainsFunc(j.facts.compares, func(x comparedNumber) bool { return x.n == part }) {
		return // 6,0 is six
	}
	if word == "one" || word == "single" || word == "once" || word == "first" {
		return
	}
	if float64(j.plan.Limit) == n || j.plan.Top != nil && float64(j.plan.Top.N) == n {
		return
	}
	before := i - 1
	for before >= 0 && r.chunks[before].filler {
		before--
	}
	if yearLike(n) && len(j.facts.bounds) > 0 {
		from := time.Date(int(n), 1, 1, 0, 0, 0, 0, time.UTC)
		j.checkPeriod(i, period{from: from, until: from.AddDate(1, 0, 0)})
		return
	}
	k := slices.IndexFunc(j.facts.compares, func(x comparedNumber) bool { return x.n == n })
	if k < 0 {
		if slices.ContainsFunc(j.facts.compares, func(x comparedNumber) bool { return math.Abs(x.n-n) == 1 }) && r.hasRole(before, rCompare) {
			return // more than 3 is at least 4
		}
		if slices.Contains(j.facts.texts, normaliseValue(r.chunkText(&r.chunks[i]))) {
			return
		}
		if r.hasRole(before, rTop) || r.hasRole(r.nextChunk(i), rSup) || r.hasRole(before, rSup) {
			j.addObjection("Set the limit to the number that was said.", "The question wants %s rows; the plan does not.", r.chunkText(&r.chunks[i]))
			return
		}
		j.addObjection("Add the condition.", "The number %s of the question is in no condition of the plan.", r.chunkText(&r.chunks[i]))
		return
	}
	if !r.hasRole(before, rCompare) {
		return
	}
	want := r.chunks[before].phrase.op
	if p := r.prevChunk(before); r.hasRole(p, rNot) && r.areNear(p, before, 3) {
		want = oppositeOp(want)
	}
	if adj := r.chunks[before].phrase.adj; fewest[adj] {
		want = mirrorOp(want)
	} else if adj != "" && adj != "date" && slices.ContainsFunc(adjectives[adj].hints, func(h hint) bool { return !h.more }) {
		return // older than: an age above or a birth before
	}
	got := j.facts.compares[k].op
	for _, x := range j.facts.compares {
		if x.n == n && x.op == want {
			return
		}
	}
	if directionOf(want)*directionOf(got) < 0 {
		j.addObjection("Turn the comparison round.", "The question says %s %s, the plan the opposite.", r.chunkText(&r.chunks[before]), r.chunkText(&r.chunks[i]))
	} else if (want == queryplan.Gt && got == queryplan.Ge || want == queryplan.Ge && got == queryplan.Gt || want == queryplan.Lt && got == queryplan.Le || want == queryplan.Le && got == queryplan.Lt) && want != got {
		j.addObjection("Include or leave out the limit itself as the words say.", "The question says %s %s; the plan says %s.", r.chunkText(&r.chunks[before]), r.chunkText(&r.chunks[i]), operatorWords[got])
	} else if want != queryplan.Eq && directionOf(want) != 0 && got == queryplan.Eq {
		j.addObjection("Use the comparison of the question.", "The question says %s %s, the plan compares for equality.", r.chunkText(&r.chunks[before]), r.chunkText(&r.chunks[i]))
	}
}

// isPartOfDate reports whether a number belongs to a day: between 1 and 15 June.
func (j *judge) isPartOfDate(i int) bool {
	if n := j.r.chunks[i].number; n < 1 || n > 31 || n != math.Trunc(n) || len(j.facts.bounds) == 0 {
		return false
	}
	return slices.ContainsFunc(j.facts.bounds, func(b dateBound) bool { return b.day.Day() == int(j.r.chunks[i].number) })
}

// directionOf is 1 for comparisons with what is above, -1 below, 0 for neither.
func directionOf(op queryplan.Operator) int {
	switch op {
	case queryplan.Gt, queryplan.Ge:
		return 1
	case queryplan.Lt, queryplan.Le:
		return -1
	}
	return 0
}

// checkPeriod checks that a stretch of time is cut where the words say.
func (j *judge) checkPeriod(i int, p period) {
	r := j.r
	before := r.prevChunk(i)
	want := queryplan.Eq
	if r.hasRole(before, rCompare) && r.areNear(before, i, 3) {
		want = r.chunks[before].phrase.op
	}
	if len(j.facts.bounds) > 0 && slices.ContainsFunc(r.toks, func(t token) bool { return relativeWords[t.lower] }) {
		return // where last month begins is a matter of taste
	}
	if j.comparesPeriods() {
		return // the two may be cut by parts of the date, or counted side by side
	}
	last := p.until.AddDate(0, 0, -1)
	begins := func(b dateBound) bool {
		return b.op == queryplan.Eq && b.day.Equal(p.from) && p.from.Day() == 1 || b.op == queryplan.Ge && b.day.Equal(p.from) || b.op == queryplan.Gt && b.day.Equal(p.from.AddDate(0, 0, -1)) || b.op == queryplan.Eq && b.day.Equal(p.from) && last.Equal(p.from)
	}
	ends := func(b dateBound) bool {
		return b.op == queryplan.Eq && b.day.Equal(p.from) && p.from.Day() == 1 || b.op == queryplan.Lt && b.day.Equal(p.until) || b.op == queryplan.Le && b.day.Equal(last) || b.op == queryplan.Eq && b.day.Equal(p.from) && last.Equal(p.from)
	}
	after := func(b dateBound) bool {
		return b.op == queryplan.Ge && b.day.Equal(p.until) || b.op == queryplan.Gt && b.day.Equal(last)
	}
	until := func(b dateBound) bool {
		return b.op == queryplan.Lt && b.day.Equal(p.from) || b.op == queryplan.Le && b.day.Equal(p.from.AddDate(0, 0, -1))
	}
	has := func(f func(dateBound) bool) bool { return slices.ContainsFunc(j.facts.bounds, f) }
	ok := false
	switch want {
	case queryplan.Gt:
		ok = has(after)
	case queryplan.Ge:
		ok = has(begins)
	case queryplan.Lt:
		ok = has(until)
	case queryplan.Le:
		ok = has(ends)
	case queryplan.Between:
		ok = has(begins)
	default:
		ok = has(begins) && has(ends) || has(begins) && j.spanGoesOn(i) || has(ends) && j.spanCameBefore(i)
	}
	if within := !slices.ContainsFunc(j.facts.bounds, func(b dateBound) bool { return b.day.Before(p.from) || b.day.After(p.until) }); within && j.vague && len(j.facts.bounds) > 0 {
		return // a word that became nothing may say which part of it
	}
	if !ok {
		j.addObjection("Cut the period where the words say.", "The question says %s %s; the plan does not begin or end there.", r.chunkText(&r.chunks[max(before, 0)]), p)
	}
}

// comparesPeriods reports whether the question sets two periods against each other and the plan gives a
// number for each.
func (j *judge) comparesPeriods() bool {
	said := 0
	for i := range j.r.chunks {
		if c := &j.r.chunks[i]; c.role == rPeriod || c.role == rNumber && yearLike(c.number) {
			said++
		}
	}
	versus := slices.ContainsFunc(j.r.toks, func(t token) bool { return wordSet("vs versus against compare compared comparing comparison")[t.lower] })
	return said > 1 && versus && len(j.plan.GroupBy)+len(j.plan.Select) > 1
}

// relativeWords make a period one that counts from today.
var relativeWords = wordSet("last next this past previous current coming recent ago since until till by")

// spanGoesOn reports whether the period is the first of two: from March to May.
func (j *judge) spanGoesOn(i int) bool {
	for k := i + 1; k < len(j.r.chunks) && k <= i+3; k++ {
		if role := j.r.chunks[k].role; role == rPeriod || role == rNumber {
			return true
		}
	}
	return false
}

func (j *judge) spanCameBefore(i int) bool {
	for k := i - 1; k >= 0 && k >= i-3; k-- {
		if role := j.r.chunks[k].role; role == rPeriod || role == rNumber {
			return true
		}
	}
	return false
}

// checkNegation compares `not` in the words with `not` in the plan.
func (j *judge) checkNegation() {
	r := j.r
	said, lower := false, false
	for i := range r.chunks {
		c := &r.chunks[i]
		switch c.role {
		case rNot:
			if n := r.nextChunk(i); r.hasRole(n, rCompare) {
				continue // not more than: a comparison
			}
			said = true
		case rEmpty:
			said = true
		case rCompare:
			lower = lower || directionOf(c.phrase.op) < 0
		}
	}
	for _, t := range r.toks {
		said = said || setApart[t.lower]
	}
	nested := slices.ContainsFunc(j.plan.Filters, func(f queryplan.Filter) bool { return f.Plan != nil && directionOf(f.Operator) != 0 })
	zero := nested || slices.ContainsFunc(j.facts.compares, func(c comparedNumber) bool { return c.n == 0 })
	low := slices.ContainsFunc(j.facts.compares, func(c comparedNumber) bool { return directionOf(c.op) < 0 }) && !lower
	plainly := slices.ContainsFunc(r.chunks, func(c chunk) bool { return c.role == rNot || c.role == rEmpty })
	switch {
	case plainly && said && !j.facts.negative && !zero && !low && !j.saysEnded():
		j.addObjection("Exclude what the question excludes.", "The question excludes something; the plan does not.")
	case !said && j.facts.excludes && !j.vague:
		j.addObjection("Leave the exclusion out.", "The plan excludes rows that the question does not exclude.")
	}
}

// saysEnded reports whether the question asks for what is no longer so, and the plan for rows that have a value: an end.
func (j *judge) saysEnded() bool {
	return strings.Contains(strings.ToLower(j.said), "no longer") && slices.ContainsFunc(allFilters(j.plan), func(f queryplan.Filter) bool { return f.Operator == queryplan.IsNotNull })
}

// setApart are words that may set something apart without saying not.
var setApart = wordSet("not no never without but except other different differs unlike excluding exclude n't besides outside cannot neither nor none missing empty lack lacks lacking unpaid only still")

// checkInvented finds conditions on texts that the question does not speak of.
func (j *judge) checkInvented() {
	var words []string
	for _, t := range append(j.r.toks, j.defined...) {
		words = append(words, strings.Fields(normaliseValue(t.text))...)
		words = append(words, t.lemma, t.stem)
		for _, place := range demonyms[t.lower] {
			words = append(words, strings.Fields(normaliseValue(place))...)
		}
	}
	for _, t := range j.facts.texts {
		if len(t) <= 2 || t == "true" || t == "false" || t == "yes" || t == "no" {
			continue // a flag
		}
		known := slices.ContainsFunc(strings.Fields(t), func(w string) bool {
			return slices.Contains(words, w) || slices.Contains(words, stem(w)) ||
				slices.ContainsFunc(j.r.toks, func(tok token) bool { return similar(&tok, w) > 0 })
		}) || strings.Contains(strings.Join(words, ""), strings.ReplaceAll(t, " ", ""))
		if !known && (len(j.defined) == 0 || !j.vague) && len(j.r.unknownWords()) == 0 {
			j.addObjection("Leave the condition out.", "The plan has a condition on %q, of which the question does not speak.", t)
		}
	}
}
