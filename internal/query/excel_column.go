package query

import (
	"math"
	"strconv"
	"strings"

	"interlock/internal/schema"
)

// A sheetColumn is what the cells of a column are, all of them.
type sheetColumn struct {
	name   string
	absent bool // it has neither name nor values
	asText bool // the import asks for text

	texts, blanks, bools, numbers int64
	errors, uncomputed, percents  int64
	dates, moments, times, spans  int64 // numbers by their format
	whole, beyond, odd            int64 // numbers without a fraction, from 1 up, and dates that are none
	digits                        digits
	inexact                       bool // some number has more digits than fifteen
	large                         bool // some number is beyond 2^53
	errorText                     string
	example                       sheetCell // of a date or number beside texts
	exampleText                   string    // as it is stored in a column of text

	stored   schema.Column
	duration bool
}

// total counts the cells that have a value.
func (c *sheetColumn) total() int64 { return c.texts + c.blanks + c.bools + c.numbers }

func (c *sheetColumn) countCell(w *workbook, v sheetCell) {
	switch v.kind {
	case cellText:
		if v.text == "" {
			c.blanks++
		} else {
			c.texts++
		}
	case cellBool:
		c.bools++
	case cellError:
		c.errors++
		c.errorText = v.text
	case cellUncomputed:
		c.uncomputed++
	case cellNumber:
		c.seeNumber(w, v)
	}
}

func (c *sheetColumn) seeNumber(w *workbook, v sheetCell) {
	c.numbers++
	if c.exampleText == "" || v.format.isDate() && !c.example.format.isDate() {
		c.example, c.exampleText = v, w.readable(v)
	}
	if v.number == math.Trunc(v.number) {
		c.whole++
	}
	if v.number >= 1 {
		c.beyond++
	}
	switch v.format {
	case formatDate:
		c.dates++
	case formatMoment:
		c.moments++
	case formatTime:
		c.times++
	case formatDuration:
		c.spans++
	case formatPercent:
		c.percents++
	}
	if v.format.isDate() {
		if _, _, ok := w.moment(v.number); !ok || w.isDayZero(v) {
			c.odd++
		}
		return
	}
	if math.Abs(v.number) >= 1<<53 {
		c.large = true
	}
	text := strconv.FormatFloat(v.number, 'f', -1, 64)
	before, after, _ := strings.Cut(strings.TrimPrefix(text, "-"), ".")
	d := digits{len(before), len(after)}
	if d.before+d.after > 16 || d.before+d.after == 16 && before != "0" || v.number == 0 && math.Signbit(v.number) {
		c.inexact = true
	}
	c.digits = c.digits.widest(d)
}

// decide gives the column the type of its cells: one that all of them have, or text.
func (c *sheetColumn) decide() schema.Column {
	t := schema.Type{Kind: schema.Text}
	shown := c.dates + c.moments + c.times + c.spans
	switch {
	case c.asText || c.texts > 0 || c.bools > 0 && c.numbers > 0 || c.bools+c.numbers == 0:
	case c.bools > 0:
		t.Kind = schema.Bool
	case shown == 0 && c.whole == c.numbers && !c.large:
		t.Kind = schema.Int
	case shown == 0 && !c.inexact && c.digits.after <= maxScale && c.digits.before+c.digits.after <= 18:
		t = schema.Type{Kind: schema.Decimal, Width: 18, Scale: c.digits.after}
	case shown == 0:
		t.Kind = schema.Float
	case shown < c.numbers: // dates beside numbers
	case c.spans+c.times == c.numbers && (c.spans > 0 || c.beyond > 0):
		t.Kind, c.duration = schema.Int, true
	case c.times == c.numbers && c.odd == 0:
		t.Kind = schema.Time
	case c.spans+c.times > 0 || c.odd > 0: // times beside dates, or dates that are none
	case c.moments == 0 && c.whole == c.numbers:
		t.Kind = schema.Date
	default:
		t.Kind = schema.Timestamp
	}
	return schema.Column{Name: c.name, Type: t}
}

// addNotes says what was decided about the sheet and its columns.
func (s *sheetTableReader) addNotes(r *TableReport) {
	if s.titles > 0 {
		r.addNote(schema.Note{Rule: schema.RuleHeader, Count: int64(s.titles), Before: clipText(s.title)}, "Rows above the header that were left out: %d.", s.titles)
	}
	if s.empty > 0 {
		r.addNote(schema.Note{Rule: schema.RuleEmptyRows, Count: int64(s.empty)}, "%d rows have no value and were left out; the first is row %d.", s.empty, s.gap)
	}
	if s.filled > 0 {
		r.addNote(schema.Note{Rule: schema.RuleMerged, Count: int64(s.filled)}, "Merged cells of the header name %d further columns.", s.filled)
	}
	if s.inMerges > 0 {
		r.addNote(schema.Note{Rule: schema.RuleMerged, Count: int64(s.inMerges)}, "%d groups of merged cells have their value in the first of their cells; the others are empty.", s.inMerges)
	}
	if s.sheet.hidden {
		r.addNote(schema.Note{Rule: schema.RuleHidden}, "The sheet %s is hidden in the workbook.", s.sheet.name)
	}
	if s.facts.hiddenRows > 0 {
		r.addNote(schema.Note{Rule: schema.RuleHidden, Count: s.facts.hiddenRows}, "%d rows are hidden in the workbook; they are part of the table.", s.facts.hiddenRows)
	}
	if s.facts.hiddenColumns > 0 {
		r.addNote(schema.Note{Rule: schema.RuleHidden, Count: int64(s.facts.hiddenColumns)}, "%d columns are hidden in the workbook; they are part of the table.", s.facts.hiddenColumns)
	}
	for i := range s.columns {
		if !s.columns[i].absent {
			s.columns[i].addNotes(r)
		}
	}
}

func (c *sheetColumn) addNotes(r *TableReport) {
	note := func(rule schema.Rule, count int64, before, after string) schema.Note {
		return schema.Note{Column: c.name, Rule: rule, Count: count, Before: clipText(before), After: clipText(after)}
	}
	if c.errors > 0 {
		r.addNote(note(schema.RuleMissing, c.errors, c.errorText, ""), "The column %s has %d errors, such as %s; they are empty.", c.name, c.errors, c.errorText)
	}
	if c.uncomputed > 0 {
		r.addNote(note(schema.RuleFormula, c.uncomputed, "", ""), "The column %s has %d formulas whose values the workbook does not hold; they are empty. Open and save it in Excel to have them.", c.name, c.uncomputed)
	}
	if c.percents > 0 && c.stored.Type.Kind != schema.Text {
		r.addNote(note(schema.RuleNumberFormat, c.percents, plainFloat(c.example.number*100)+"%", plainFloat(c.example.number)), "The column %s is shown as percent; its values are fractions: %s is %s%%.", c.name, plainFloat(c.example.number), plainFloat(math.Round(c.example.number*1e10)/1e8))
	}
	if c.stored.Type.Kind == schema.Text && c.numbers > 0 && !c.asText {
		r.addNote(note(schema.RuleKeptText, c.numbers, c.example.text, c.exampleText), "The column %s holds more than one kind of values and was kept as text; %d numbers or dates in it are written like %s.", c.name, c.numbers, c.exampleText)
	}
}
