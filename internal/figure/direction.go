package figure

import (
	"math"
	"regexp"
	"slices"
	"strconv"
	"strings"
)

// The direction of a change that an answer states, against the values that its figures come
// from. Only where both ends are known and their order is plain: "rose from A to B", "rose
// by D to B", "B, up from A", and "rose by D" where the cells of D stand in an order of time.

// A direction is 1 for up, -1 for down, and 0 for none or one that is not plain.
type direction int

// rising and falling are words that say which way a value went. A noun counts only right
// before the values, as "growth fell" speaks of the growth.
var (
	rising       = wordSet("rose rises risen rising increased increases increasing grew grows grown growing climbed climbs surged jumped soared gestiegen stieg steigt stiegen steigen wuchs wächst wuchsen gewachsen zugenommen erhöhte erhöht erhöhten kletterte geklettert angestiegen")
	falling      = wordSet("fell falls fallen falling dropped drops dropping declined declines declining decreased decreases decreasing sank sunk shrank shrunk slumped plunged gesunken sank sanken sinkt sinken fiel fielen fällt gefallen zurückgegangen abgenommen verringerte verringert schrumpfte geschrumpft")
	risingNouns  = wordSet("increase rise growth gain anstieg zuwachs zunahme steigerung erhöhung plus")
	fallingNouns = wordSet("decrease decline drop fall reduction rückgang abnahme verringerung minus")
	// unclear are words with which a direction may be that of something else, or denied.
	unclear = wordSet("not no never neither nor without instead nicht kein keine keinen keiner nie ohne statt if would could should wenn würde könnte sollte slowed slowing narrowed eased weakened abgeschwächt verlangsamt loss losses deficit debt verlust verluste defizit schulden although whereas während obwohl")
)

// changeLinks are the words before the two ends of a change and before its amount.
var (
	fromWords = wordSet("from von")
	toWords   = wordSet("to auf")
	byWords   = wordSet("by um of")
	// amountWords stand before the amount of a change and nothing else.
	amountWords = wordSet("by um")
)

// A claim is what a sentence says about two values.
type claim struct {
	word     string // that says it
	says     direction
	from, to float64
	figure   int // that is marked
}

// markDirections marks figures beside which a direction is stated that the values of their
// cells deny.
func (t *tracer) markDirections(found []mention, figures []Figure) {
	for i := range found {
		for _, read := range []func([]mention, []Figure, int) (claim, bool){t.fromTo, t.upFrom, t.byTo, t.byAlone} {
			c, ok := read(found, figures, i)
			if !ok {
				continue
			}
			if c.says > 0 && c.to < c.from || c.says < 0 && c.to > c.from {
				f := &figures[c.figure]
				f.Support, f.Denies = Contradicted, c.word
			}
			break
		}
	}
}

// fromTo reads "rose from A to B" and "von A auf B gestiegen".
func (t *tracer) fromTo(found []mention, figures []Figure, i int) (claim, bool) {
	if !fromWords[found[i].before] {
		return claim{}, false
	}
	j := nextOf(found, i, toWords)
	a, okA := t.endOf(found, figures, i)
	b, okB := t.endOf(found, figures, j)
	if !okA || !okB || a.Table != b.Table || a.Column != b.Column && a.Row != b.Row {
		return claim{}, false
	}
	word, says := t.directionAround(found[i].start, found[j].end)
	return claim{word, says, a.value, b.value, j}, says != 0
}

// upFrom reads "B, up from A".
func (t *tracer) upFrom(found []mention, figures []Figure, i int) (claim, bool) {
	if i == 0 || found[i].before != "from" {
		return claim{}, false
	}
	before := strings.TrimRight(textBefore(t.answer, found[i].start), " €$£*_(")
	word := strings.ToLower(strings.TrimSpace(lastWord(strings.TrimSpace(strings.TrimSuffix(before, "from")))))
	says := map[string]direction{"up": 1, "down": -1}[strings.Trim(word, "(,*_")]
	a, okA := t.endOf(found, figures, i)
	for j := i - 1; says != 0 && okA && j >= 0 && found[j].written == found[i].written; j-- {
		b, ok := t.endOf(found, figures, j)
		if ok && b.Table == a.Table && b.Column == a.Column && b.Row != a.Row {
			return claim{strings.Trim(word, "(,*_"), says, a.value, b.value, i}, true
		}
	}
	return claim{}, false
}

// byTo reads "rose by D to B" and "um D auf B gestiegen": D is the difference of B and
// another cell, or its change.
func (t *tracer) byTo(found []mention, figures []Figure, i int) (claim, bool) {
	if !byWords[found[i].before] {
		return claim{}, false
	}
	j := nextOf(found, i, toWords)
	b, ok := t.endOf(found, figures, j)
	pair := t.pairOf(figures[i])
	if !ok || pair == nil {
		return claim{}, false
	}
	n := slices.IndexFunc(pair, func(c cell) bool { return c.Cell == b.Cell })
	if n < 0 || found[i].share && n != 0 { // a share of the other end would be another number
		return claim{}, false
	}
	word, says := t.directionAround(found[i].start, found[j].end)
	return claim{word, says, pair[1-n].value, b.value, i}, says != 0
}

// byAlone reads "rose by D" and "um D gestiegen" where it is plain which cell of D is the
// later one.
func (t *tracer) byAlone(found []mention, figures []Figure, i int) (claim, bool) {
	if !byWords[found[i].before] || nextOf(found, i, toWords) >= 0 || found[i].digits() < 2 {
		return claim{}, false
	}
	pair := t.pairOf(figures[i])
	if pair == nil || !t.bothNamed(found[i], pair[0], pair[1]) {
		return claim{}, false
	}
	from, to, ok := t.inTime(pair[0], pair[1])
	if !ok || found[i].share && to.Cell != pair[0].Cell { // the change of the earlier one
		return claim{}, false
	}
	word, says := t.directionAround(found[i].start, found[i].end)
	return claim{word, says, from.value, to.value, i}, says != 0
}

// nextOf finds the next figure of the same sentence before which one of the words stands; -1
// if there is none.
func nextOf(found []mention, i int, words map[string]bool) int {
	for j := i + 1; j < len(found) && found[j].written == found[i].written; j++ {
		switch {
		case words[found[j].before]:
			return j
		case fromWords[found[j].before]:
			return -1
		}
	}
	return -1
}

// endOf is the one cell that a figure was read from; of no share, and of no negative value,
// which people speak of without its sign.
func (t *tracer) endOf(found []mention, figures []Figure, i int) (cell, bool) {
	if i < 0 || found[i].date != nil || figures[i].Support != FromCell && figures[i].Support != Mixed || len(figures[i].Cells) != 1 {
		return cell{}, false
	}
	c, ok := t.cellAt(figures[i].Cells[0])
	return c, ok && c.number && c.value >= 0 && !c.column.time && !c.column.key && !c.column.delta
}

// pairOf are the two cells of a difference or a change, in the order of its formula.
func (t *tracer) pairOf(f Figure) []cell {
	if f.Support != FromFormula && f.Support != Mixed || len(f.Cells) != 2 || !strings.Contains(f.Formula, " - ") {
		return nil
	}
	var out []cell
	for _, at := range f.Cells {
		c, ok := t.cellAt(at)
		if !ok || !c.number || c.value < 0 || c.column.delta {
			return nil
		}
		out = append(out, c)
	}
	return out
}

func (t *tracer) cellAt(at Cell) (cell, bool) {
	for i := range t.grids {
		g := &t.grids[i]
		if g.table.ID != at.Table || at.Row >= len(g.cells) {
			continue
		}
		for _, c := range g.cells[at.Row] {
			if c.Cell == at {
				return c, true
			}
		}
	}
	return cell{}, false
}

// clauseEnds part what is said about one change from what is said about another.
var clauseEnds = regexp.MustCompile(`(?i)[.;:!?()\n]|,\s| (?:and|but|while|then|und|aber|dann|sondern) `)

// directionAround finds the word that says which way it went, from where the clause of the
// values begins to where it ends. Words for both ways, or one that makes it unclear, say
// nothing.
func (t *tracer) directionAround(start, end int) (string, direction) {
	lead := t.answer[max(0, start-maxWord):start]
	for _, loc := range clauseEnds.FindAllStringIndex(lead, -1) {
		lead = strings.Repeat(" ", loc[1]) + lead[loc[1]:]
	}
	tail := textAfter(t.answer, end)
	if loc := clauseEnds.FindStringIndex(tail); loc != nil {
		tail = tail[:loc[0]]
	}
	if unclearIn(sentence(t.answer, start, end)) {
		return "", 0
	}
	up, down := "", ""
	spoken := words.FindAllString(lead, -1)
	for k, w := range append(slices.Clone(spoken), words.FindAllString(tail, -1)...) {
		lower := strings.ToLower(w)
		noun := k < len(spoken) && k >= len(spoken)-2 // einen Rückgang um 18,3 % von
		switch {
		case rising[lower], noun && risingNouns[lower]:
			up = w
		case falling[lower], noun && fallingNouns[lower]:
			down = w
		case risingNouns[lower], fallingNouns[lower]:
			return "", 0 // it may be the growth that fell
		}
	}
	switch {
	case up != "" && down == "":
		return up, 1
	case down != "" && up == "":
		return down, -1
	}
	return "", 0
}

func unclearIn(text string) bool {
	return slices.ContainsFunc(words.FindAllString(strings.ToLower(text), -1), func(w string) bool { return unclear[w] }) || strings.Contains(text, "n't")
}

// inTime orders two cells: of one row in columns that differ in a year, or of one column in
// rows that differ only in what says when.
func (t *tracer) inTime(a, b cell) (earlier, later cell, ok bool) {
	at := func(c cell) (float64, bool) {
		if a.Row == b.Row {
			return yearOf(c.column.words)
		}
		return t.timeOf(c)
	}
	same := a.Row == b.Row && slices.Equal(withoutYear(a.column.words), withoutYear(b.column.words)) || a.Column == b.Column && t.differInTime(a, b)
	x, okX := at(a)
	y, okY := at(b)
	if a.Table != b.Table || !same || !okX || !okY || x == y {
		return a, b, false
	}
	if x > y {
		return b, a, true
	}
	return a, b, true
}

func yearOf(words []string) (float64, bool) {
	for _, w := range words {
		if y, err := strconv.Atoi(w); err == nil && y >= 1900 && y < 2100 {
			return float64(y), true
		}
	}
	return 0, false
}

func withoutYear(words []string) []string {
	return slices.DeleteFunc(slices.Clone(words), func(w string) bool { _, ok := yearOf([]string{w}); return ok })
}

// differInTime says that two rows have the same names but for those of periods.
func (t *tracer) differInTime(a, b cell) bool {
	g := t.gridOf(a.Table)
	if g == nil || len(g.cells[a.Row]) != len(g.cells[b.Row]) {
		return false
	}
	for j := range g.cells[a.Row] {
		x, y := g.cells[a.Row][j], g.cells[b.Row][j]
		if _, isTime := periodOf(x); !isTime && !x.number && x.text != y.text {
			return false
		}
	}
	return true
}

// timeOf is when the row of a cell is from, by its periods taken together.
func (t *tracer) timeOf(c cell) (float64, bool) {
	g := t.gridOf(c.Table)
	if g == nil {
		return 0, false
	}
	when, found := 0.0, 0
	for _, x := range g.cells[c.Row] {
		if p, ok := periodOf(x); ok {
			when, found = when+p, found+1
		}
	}
	return when, found == 1
}

func (t *tracer) gridOf(table string) *grid {
	for i := range t.grids {
		if t.grids[i].table.ID == table {
			return &t.grids[i]
		}
	}
	return nil
}

var quarterName = regexp.MustCompile(`^(?:(\d{4})[- /]?)?q([1-4])$`)

// periodOf reads a cell that says when: a date, a year, or a quarter such as Q3.
func periodOf(c cell) (float64, bool) {
	switch {
	case c.date != nil:
		return float64(c.date.time().Unix()), true
	case c.number && c.column.time && c.value == math.Trunc(c.value):
		return c.value, true
	}
	if m := quarterName.FindStringSubmatch(c.text); m != nil {
		year, _ := strconv.Atoi(m[1])
		quarter, _ := strconv.Atoi(m[2])
		return float64(year*4 + quarter), true
	}
	return 0, false
}
