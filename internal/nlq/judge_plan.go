package nlq

import (
	"math"
	"slices"
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
		ok = ok || slices.ContainsFunc(splitIdentifier(name), func(w string) bool { return stem(w) == j.r.toks[c.from].stem }) && len(j.facts.bounds) > 0
	}
	if !ok {
		j.addObjection("Add a condition on it.", "The question speaks of %q, but no condition of the plan does.", j.r.chunkText(c))
	}
}

// checkNumber checks that a number of the question is in the plan and compared the
// way the words say.
func (j *judge) checkNumber(i int) {
	r := j.r
	n := r.chunks[i].number
	word := r.toks[r.chunks[i].from].lower
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
	last := p.until.AddDate(0, 0, -1)
	begins := func(b dateBound) bool {
		return b.op == queryplan.Ge && b.day.Equal(p.from) || b.op == queryplan.Gt && b.day.Equal(p.from.AddDate(0, 0, -1)) || b.op == queryplan.Eq && b.day.Equal(p.from) && last.Equal(p.from)
	}
	ends := func(b dateBound) bool {
		return b.op == queryplan.Lt && b.day.Equal(p.until) || b.op == queryplan.Le && b.day.Equal(last) || b.op == queryplan.Eq && b.day.Equal(p.from) && last.Equal(p.from)
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
	if !ok {
		j.addObjection("Cut the period where the words say.", "The question says %s %s; the plan does not begin or end there.", r.chunkText(&r.chunks[max(before, 0)]), p)
	}
}

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
	zero := slices.ContainsFunc(j.facts.compares, func(c comparedNumber) bool { return c.n == 0 })
	low := slices.ContainsFunc(j.facts.compares, func(c comparedNumber) bool { return directionOf(c.op) < 0 }) && !lower
	switch {
	case said && !j.facts.negative && !zero && !low:
		j.addObjection("Exclude what the question excludes.", "The question excludes something; the plan does not.")
	case !said && j.facts.negative:
		j.addObjection("Leave the exclusion out.", "The plan excludes rows that the question does not exclude.")
	}
}

// checkInvented finds conditions on texts that the question does not speak of.
func (j *judge) checkInvented() {
	var words []string
	for _, t := range j.r.toks {
		words = append(words, strings.Fields(normaliseValue(t.text))...)
		words = append(words, t.lemma, t.stem)
		for _, place := range demonyms[t.lower] {
			words = append(words, strings.Fields(normaliseValue(place))...)
		}
	}
	for _, t := range j.facts.texts {
		if len(t) <= 1 || t == "true" || t == "false" || t == "yes" || t == "no" {
			continue // a flag
		}
		known := slices.ContainsFunc(strings.Fields(t), func(w string) bool {
			return slices.Contains(words, w) || slices.Contains(words, stem(w))
		})
		if !known {
			j.addObjection("Leave the condition out.", "The plan has a condition on %q, of which the question does not speak.", t)
		}
	}
}
