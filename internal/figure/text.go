package figure

// fromDocuments looks for the figure in passages that were quoted.
func (t *tracer) fromDocuments(m mention) (origin, bool) {
	numbers := 0
	var hit *origin
	for _, d := range t.e.Documents {
		for _, other := range scan(d.Text) {
			numbers++
			if hit == nil && m.same(other) {
				hit = &origin{support: FromDocument, source: d.ID}
			}
		}
	}
	if hit == nil {
		return origin{}, false
	}
	if m.date == nil && chance(numbers, m.digits()) {
		hit.support = Weak
	}
	return *hit, true
}

// fromQuestions looks for the figure in what the person said.
func (t *tracer) fromQuestions(m mention) (origin, bool) {
	return inTexts(m, t.e.Questions, FromQuestion)
}

// fromStatements looks for the figure among the constants of what ran.
func (t *tracer) fromStatements(m mention) (origin, bool) {
	return inTexts(m, t.e.Statements, FromStatement)
}

func inTexts(m mention, texts []string, s Support) (origin, bool) {
	for _, text := range texts {
		for _, other := range scan(text) {
			if m.same(other) {
				return origin{support: s}, true
			}
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
