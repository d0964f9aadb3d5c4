package figure

import "slices"

// maxMentions bounds the numbers of all texts of the evidence, maxScanned the bytes of one
// text in which numbers are looked for.
const (
	maxMentions = 10_000
	maxScanned  = 64 << 10
)

// A scannedText is a text of the evidence with its numbers.
type scannedText struct {
	source   string // of a document
	mentions []mention
}

// scanTexts finds the numbers of the evidence's texts, as many as may be looked at.
func (t *tracer) scanTexts() {
	left := maxMentions
	scanOne := func(source, text string) scannedText {
		if left == 0 {
			t.cut = t.cut || text != ""
			return scannedText{source: source}
		}
		mentions, cut := scanBounded(text)
		if len(mentions) > left {
			mentions, cut = mentions[:left], true
		}
		left -= len(mentions)
		t.cut = t.cut || cut
		return scannedText{source, mentions}
	}
	for _, text := range t.e.Questions {
		t.questions = append(t.questions, scanOne("", text))
	}
	for _, text := range t.e.Statements {
		t.statements = append(t.statements, scanOne("", text))
	}
	for _, d := range t.e.Documents {
		text := scanOne(d.ID, d.Text)
		for i := range text.mentions {
			m := &text.mentions[i]
			m.stated = d.made != nil && (d.made.known && !d.made.readsData ||
				slices.ContainsFunc(m.readings, func(r reading) bool { return slices.Contains(d.made.values, r.value) }))
			m.repeated = m.stated && d.made.isText
		}
		t.documents = append(t.documents, text)
	}
	for _, d := range t.e.Descriptions {
		t.readDescription(d, scanOne(d.ID, d.Text))
	}
}

// fromDocuments looks for the figure in passages that were quoted.
func (t *tracer) fromDocuments(m mention) (origin, bool) {
	numbers := 0
	var hit, stated *origin
	for _, d := range t.documents {
		numbers += len(d.mentions)
		for _, other := range d.mentions {
			switch {
			case hit != nil || !m.same(other):
			case other.stated && other.repeated: // what the caller wrote says nothing about the reason
			case other.stated:
				stated = &origin{support: Stated, source: d.source}
			default:
				hit = &origin{support: FromDocument, source: d.source}
			}
		}
	}
	switch {
	case hit == nil && stated == nil:
		return origin{}, false
	case hit == nil:
		return *stated, true
	}
	if m.date == nil && chance(numbers, m.digits()) {
		hit.support = Weak
	}
	return *hit, true
}

// fromQuestions looks for the figure in what the person said.
func (t *tracer) fromQuestions(m mention) (origin, bool) {
	return inTexts(m, t.questions, FromQuestion)
}

// fromStatements looks for the figure among the constants of what ran.
func (t *tracer) fromStatements(m mention) (origin, bool) {
	return inTexts(m, t.statements, FromStatement)
}

// fromYears looks for a year among the conditions and the names of columns: a formula that gives it does so by chance.
func (t *tracer) fromYears(m mention) (origin, bool) {
	if _, ok := m.year(); !ok {
		return origin{}, false
	}
	if o, ok := t.fromStatements(m); ok {
		return o, true
	}
	for i := range t.grids {
		for _, c := range t.grids[i].columns {
			if slices.Contains(c.words, m.text) { // revenue_2024
				return origin{support: FromStatement}, true
			}
		}
	}
	return origin{}, false
}

func inTexts(m mention, texts []scannedText, s Support) (origin, bool) {
	for _, text := range texts {
		if slices.ContainsFunc(text.mentions, m.same) {
			return origin{support: s}, true
		}
	}
	return origin{}, false
}

// same says whether two mentions are the same number or the same date.
func (m mention) same(other mention) bool {
	if m.date != nil || other.date != nil {
		switch {
		case m.date != nil && other.date != nil:
			return m.date.covers(*other.date) || other.date.covers(*m.date)
		case m.date != nil:
			y, ok := other.year()
			return ok && y == m.date.year
		}
		y, ok := m.year()
		return ok && y == other.date.year
	}
	for _, a := range m.readings {
		for _, b := range other.readings {
			if a.value == b.value || m.share && !other.share && a.fits(b.value*100, m.near) {
				return true
			}
		}
	}
	return false
}
