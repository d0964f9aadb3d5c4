// Package figure links the numbers of an answer to what they come from. It decides by the
// data alone and asks no model, so that a number which a model made up is seen as such.
//
// The order of evidence for one figure, the best first (a number inside a name of the data,
// such as iPhone 15, comes from that name):
//
//  1. A passage that the answer quotes word for word, or the measure of a result, such as the
//     relevancy of a passage, that the figure is said to be.
//  2. The size of a result, where the words beside the figure speak of rows, of those that
//     are shown or of the rest.
//  3. A cell that holds the figure exactly, if the sentence names its row, if the figure
//     stands beside the name of its column, or if so many digits do not agree by chance.
//  4. What the person said in this turn. It comes before every cell where the figure is a
//     limit ("above 100", "the top 5").
//  5. A cell that holds the figure rounded, or in another unit.
//  6. The size of a table of the data, a year or a day of a month that is a condition of the
//     statement, a formula over cells, a document, a line of the schema about what the sentence
//     names, a date of the schema.
//  7. Another condition of the statement that ran.
//  8. A constant that the statement or the code put into its own result: it is stated, and
//     counts as a figure without an origin.
//  9. A cell or a formula that may fit by chance.
//
// What is data and what is a constant: a cell supports a figure only if a column or the
// rows of a table feed it. For a statement that the embedded engine's parser read, the
// lineage says so for each column (package sqlpolicy); of other statements the text is
// read, and what is not understood counts as a column. A cell is stated if nothing of a
// table feeds it, or if it equals a number of the statement that may come out as it is. A
// figure is mixed if its cell was computed with a number of the statement that is no change
// of units: it is told with that number, and is no plain data. Conditions do not mix. What
// reads an earlier result has the lineage of that result. Code gives data only if it names
// one of the tables that it was handed; then the numbers that it multiplies, divides, adds
// or subtracts mix with all that it gives. A schema that code returned describes no data.
package figure

// Support is what a figure rests on.
type Support string

// The kinds of support. FromSize is the size of a result or a table. Weak is a value that
// fits but may do so by chance, because many others could have. None is a number without an
// origin; Stated is one whose only origin is a constant of the statement or the code that
// gave the result, which is no data. Mixed is one that the statement or the code computed
// of data and of numbers of its own, such as sum(total) * 1.37: Factors has those.
// Contradicted is one that stands in the data, beside a word that the data denies: "rose
// from 120 to 100", or the name of another row.
const (
	FromCell      Support = "cell"
	FromFormula   Support = "formula"
	FromDocument  Support = "document"
	FromQuestion  Support = "question"
	FromStatement Support = "statement"
	FromSize      Support = "size"
	Mixed         Support = "mixed"
	Stated        Support = "stated"
	Contradicted  Support = "contradicted"
	Weak          Support = "weak"
	None          Support = "none"
)

// A Figure is a number in an answer and its origin.
type Figure struct {
	Start   int     `json:"start"` // in bytes of the answer
	End     int     `json:"end"`
	Text    string  `json:"text"`
	Support Support `json:"support"`
	Cells   []Cell  `json:"cells,omitempty"`   // that it was read from or computed of, at most a few
	Formula string  `json:"formula,omitempty"` // how it follows from them, such as sum(amount)
	Source  string  `json:"source,omitempty"`  // the document, or the table that was counted
	// Factors are the numbers of the statement or the code with which a mixed figure was
	// computed.
	Factors []string `json:"factors,omitempty"`
	// Denies is the word of a contradicted figure that its cells deny, such as rose, or the
	// name of a row that is not theirs.
	Denies string `json:"denies,omitempty"`
}

// A Cell is a place in a table.
type Cell struct {
	Table  string `json:"table"`
	Row    int    `json:"row"` // from 0
	Column string `json:"column"`
}

// maxFigures bounds the work for one answer; a list of more numbers is a table. maxWork
// bounds the cells that are looked at, for all figures together.
const (
	maxFigures = 500
	maxWork    = 1_000_000
)

// Holds reports whether a text has figures at all.
func Holds(text string) bool {
	found, _ := scanBounded(text)
	return len(found) > 0
}

// Rules is the version of the rules by which Trace finds origins. It must be raised with
// every change of what Trace returns for some text: runs that were traced by other rules
// are replayed with the origins that their log holds.
const Rules = 6

// Trace finds the figures of an answer with their origins, in the order of the text. cut
// reports that a bound left figures or evidence out.
func Trace(answer string, e Evidence) (figures []Figure, cut bool) {
	found, cut := scanBounded(answer)
	cut = cut || e.Cut || len(found) > maxFigures
	found = found[:min(len(found), maxFigures)]
	if len(found) == 0 {
		return nil, cut
	}
	for i := range found {
		found[i].readSentence(answer)
	}
	readLimits(answer, found)
	t := newTracer(answer, e, len(found))
	t.scanTexts()
	out := make([]Figure, len(found))
	// Formulas may be built on cells that other figures of the answer name, so all cells
	// are linked before any formula is tried; and what is left of a result depends on the
	// rows that the answer names.
	for _, ofRows := range []bool{false, true} {
		for i, m := range found {
			if (m.countsRows() || m.countsRest()) != ofRows {
				continue
			}
			out[i] = Figure{Start: m.start, End: m.end, Text: m.text, Support: None}
			if o, ok := t.fromResults(m); ok {
				out[i].link(o)
			}
		}
	}
	for i := range 2 * len(found) { // twice: a share may stand before its whole
		i %= len(found)
		m := found[i]
		if strong(out[i].Support) {
			continue
		}
		for _, try := range []func(mention) (origin, bool){t.fromSchema, t.fromYears, t.fromMonthDays, t.fromFormulas, t.fromDocuments, t.fromDescriptions, t.fromQuestions, t.fromStatements} {
			o, ok := try(m)
			if ok && (out[i].Support == None || strong(o.support)) {
				out[i].link(o)
			}
			if strong(out[i].Support) {
				if _, ok := t.fromYears(m); !ok {
					t.know(m) // later figures may follow from this one
				}
				break
			}
		}
	}
	t.markMixed(out)
	t.markDirections(found, out)
	t.markNames(found, out)
	return out, cut || t.cut
}

// fromResults looks for the figure in quotations, the sizes of results, their cells and the question:
// the first steps of the order of evidence.
func (t *tracer) fromResults(m mention) (origin, bool) {
	for _, try := range []func(mention) (origin, bool){t.fromQuotation, t.fromMeasures} {
		if o, ok := try(m); ok {
			return o, true
		}
	}
	if o, ok := t.fromNames(m); ok {
		return o, true
	}
	if m.near != rounded || limitWords[m.before] { // the person's own limit rather than a value near it
		if o, ok := t.fromQuestions(m); ok {
			return o, true
		}
	}
	if o, ok := t.fromSizes(m); ok {
		return o, true
	}
	cell, found := t.fromCells(m)
	if !found || cell.support != FromCell || !cell.exact || !cell.pointed && chance(t.numbers, m.digits()) {
		if o, ok := t.fromQuestions(m); ok {
			return o, true
		}
	}
	if found && cell.support == FromCell && m.date == nil && cell.cell.number {
		t.linked = append(t.linked, cell.cell)
	}
	return cell.origin, found
}

func strong(s Support) bool { return s != None && s != Weak && s != Stated }

// Unsupported says that a person must check the figure: nothing in the data supports it.
func (f Figure) Unsupported() bool { return f.Support == None || f.Support == Stated }

// chance says whether a figure that fits one of n candidates may do so by chance.
// A figure of d significant digits fits a random value once in 10^d.
func chance(n, digits int) bool {
	if n <= 3 {
		return false
	}
	p := float64(n)
	for range digits {
		p /= 10
	}
	return p > 0.05
}

// maxSentence bounds how far before and after a figure its sentence is looked for. The
// bounds of a longer sentence are multiples of it, so that the figures beside each other in
// it have the same one, which is then read only once.
const maxSentence = 500

// sentence gives the sentence of a text around a place.
func sentence(text string, start, end int) string {
	from, to := max(0, (start/maxSentence-1)*maxSentence), min(len(text), (end/maxSentence+2)*maxSentence)
	for i := start - 1; i > from; i-- {
		if endsSentence(text, i) {
			from = i
			break
		}
	}
	for i := end; i < to; i++ {
		if endsSentence(text, i+1) {
			to = i
			break
		}
	}
	return text[from:to]
}

// endsSentence says whether the byte before a place ends a sentence.
func endsSentence(text string, i int) bool {
	switch text[i-1] {
	case '\n':
		return true
	case '.', '!', '?', ';':
		return i < len(text) && text[i] == ' ' && (text[i-1] != '.' || !isAbbreviated(wordBefore(text, i-1)))
	}
	return false
}

// isAbbreviated says that the point behind a word ends no sentence: of approx., or of a
// single letter, such as the last one of i.e.
func isAbbreviated(word string) bool {
	return abbreviations[word] || len(word) == 1
}
