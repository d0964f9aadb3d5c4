package query

import (
	"context"
	"encoding/xml"
	"errors"
	"fmt"
	"io"
	"math"
	"strconv"
	"strings"
	"time"
)

// A sheetCell is a cell as the workbook holds it.
type sheetCell struct {
	kind   cellKind
	text   string // of a text, a number or an error
	number float64
	format cellFormat // of a number
}

type cellKind uint8

const (
	cellEmpty cellKind = iota
	cellText
	cellNumber
	cellBool
	cellError
	cellUncomputed // a formula without a value
)

// sheetFacts are what is known of a sheet once all of it was read.
type sheetFacts struct {
	merges        []mergedCells
	hiddenRows    int64
	hiddenColumns int
}

// mergedCells are shown as one; the first holds their value.
type mergedCells struct{ top, left, bottom, right int }

// readSheet calls each with the cells of every row that has some, until it says stop.
func (w *workbook) readSheet(ctx context.Context, s bookSheet, each func(row int, cells []sheetCell) (more bool, err error)) (facts sheetFacts, err error) {
	r, err := w.part(s.part)
	if err != nil {
		return facts, err
	}
	if r == nil {
		return facts, fmt.Errorf("the workbook has lost its sheet %s", s.name)
	}
	defer r.Close()
	p := sheetParser{book: w, decoder: xml.NewDecoder(r)}
	for {
		done, err := p.step(each, &facts)
		if err != nil {
			return facts, fmt.Errorf("reading row %d of the sheet %s: %w", p.row+1, s.name, err)
		}
		if done {
			return facts, nil
		}
		if p.tokens++; p.tokens%4096 == 0 && ctx.Err() != nil {
			return facts, ctx.Err()
		}
	}
}

// A sheetParser goes through the XML of a sheet.
type sheetParser struct {
	book    *workbook
	decoder *xml.Decoder
	tokens  int

	row     int // from 0
	column  int
	cells   []sheetCell
	filled  bool
	kind    string // of the cell: s, str, inlineStr, b, e, d, n
	style   int
	formula bool
	value   []byte
	valued  bool // it has a value, even if that is empty
	reading bool // in v or t
	silent  int  // in marks of pronunciation
}

// step takes one token.
func (p *sheetParser) step(each func(int, []sheetCell) (bool, error), facts *sheetFacts) (done bool, err error) {
	t, err := p.decoder.RawToken()
	if errors.Is(err, io.EOF) {
		return true, nil
	}
	if err != nil {
		return false, err
	}
	switch t := t.(type) {
	case xml.StartElement:
		return false, p.start(t, facts)
	case xml.CharData:
		if p.reading {
			p.value = append(p.value, t...)
		}
	case xml.EndElement:
		switch t.Name.Local {
		case "v", "t":
			p.reading = false
		case "rPh":
			p.silent--
		case "c":
			return false, p.endCell()
		case "row":
			if p.filled {
				more, err := each(p.row, p.cells)
				return !more, err
			}
		}
	}
	return false, nil
}

func (p *sheetParser) start(t xml.StartElement, facts *sheetFacts) error {
	switch t.Name.Local {
	case "row":
		p.cells, p.filled, p.column = p.cells[:0], false, -1
		p.row++
		for _, a := range t.Attr {
			switch a.Name.Local {
			case "r":
				if n, err := strconv.Atoi(a.Value); err == nil && n > 0 {
					p.row = n
				}
			case "hidden":
				if a.Value == "1" || a.Value == "true" {
					facts.hiddenRows++
				}
			}
		}
	case "c":
		p.column++
		p.kind, p.style, p.formula, p.value, p.valued = "", 0, false, p.value[:0], false
		for _, a := range t.Attr {
			switch a.Name.Local {
			case "r":
				if n, ok := columnIndex(a.Value); ok {
					p.column = n
				}
			case "t":
				p.kind = a.Value
			case "s":
				p.style, _ = strconv.Atoi(a.Value)
			}
		}
		if p.column >= maxColumns {
			return fmt.Errorf("it has more than %d columns", maxColumns)
		}
	case "f":
		p.formula = true
	case "v":
		p.reading, p.valued = true, true
	case "t":
		p.reading = p.silent == 0
		p.valued = true
	case "rPh":
		p.silent++
	case "mergeCell":
		for _, a := range t.Attr {
			if m, ok := parseMerge(a.Value); a.Name.Local == "ref" && ok {
				facts.merges = append(facts.merges, m)
			}
		}
	case "col":
		facts.countHidden(t.Attr)
	}
	return nil
}

func (f *sheetFacts) countHidden(attributes []xml.Attr) {
	first, last, hidden := 0, -1, false
	for _, a := range attributes {
		switch a.Name.Local {
		case "min":
			first, _ = strconv.Atoi(a.Value)
		case "max":
			last, _ = strconv.Atoi(a.Value)
		case "hidden":
			hidden = a.Value == "1" || a.Value == "true"
		}
	}
	if hidden {
		f.hiddenColumns += min(max(0, last-first+1), maxColumns)
	}
}

func (p *sheetParser) endCell() error {
	c, err := p.cell()
	if err != nil || c.kind == cellEmpty {
		return err
	}
	for len(p.cells) <= p.column {
		p.cells = append(p.cells, sheetCell{})
	}
	p.cells[p.column] = c
	p.filled = true
	return nil
}

// cell makes a value of what the XML says.
func (p *sheetParser) cell() (sheetCell, error) {
	text := string(p.value)
	if !p.valued || text == "" && p.kind != "inlineStr" && p.kind != "str" {
		if p.formula {
			return sheetCell{kind: cellUncomputed}, nil
		}
		return sheetCell{}, nil
	}
	switch p.kind {
	case "s":
		i, err := strconv.Atoi(strings.TrimSpace(text))
		if err != nil || i < 0 || i >= len(p.book.shared) {
			return sheetCell{}, fmt.Errorf("a cell names the text %s, which is not there", cleanMessage(text))
		}
		return sheetCell{kind: cellText, text: p.book.shared[i]}, nil
	case "str", "inlineStr":
		return sheetCell{kind: cellText, text: unescapeCell(text)}, nil
	case "b":
		n := 0.0
		if t := strings.TrimSpace(text); t == "1" || strings.EqualFold(t, "true") {
			n = 1
		}
		return sheetCell{kind: cellBool, number: n}, nil
	case "e":
		return sheetCell{kind: cellError, text: text}, nil
	case "d":
		return p.isoDate(text), nil
	}
	text = strings.TrimSpace(text)
	f, err := strconv.ParseFloat(text, 64)
	if err != nil || math.IsInf(f, 0) || math.IsNaN(f) {
		return sheetCell{kind: cellText, text: text}, nil
	}
	c := sheetCell{kind: cellNumber, text: text, number: f}
	if p.style >= 0 && p.style < len(p.book.formats) {
		c.format = p.book.formats[p.style]
	}
	return c, nil
}

// isoDate is a date that is written as such, not as a number.
func (p *sheetParser) isoDate(text string) sheetCell {
	for _, layout := range []string{"2006-01-02T15:04:05.999", "2006-01-02T15:04:05Z", "2006-01-02"} {
		if t, err := time.Parse(layout, text); err == nil {
			format := formatMoment
			if layout == "2006-01-02" {
				format = formatDate
			}
			days := t.Sub(time.Date(1899, 12, 30, 0, 0, 0, 0, time.UTC)).Hours() / 24
			if p.book.from04 {
				days -= 1462
			}
			return sheetCell{kind: cellNumber, text: text, number: days, format: format}
		}
	}
	return sheetCell{kind: cellText, text: text}
}

func parseMerge(ref string) (m mergedCells, ok bool) {
	from, to, found := strings.Cut(ref, ":")
	if !found {
		return m, false
	}
	var ok1, ok2 bool
	m.left, ok1 = columnIndex(from)
	m.right, ok2 = columnIndex(to)
	if !ok1 || !ok2 {
		return m, false
	}
	var err1, err2 error
	m.top, err1 = strconv.Atoi(strings.TrimLeft(from, "ABCDEFGHIJKLMNOPQRSTUVWXYZ"))
	m.bottom, err2 = strconv.Atoi(strings.TrimLeft(to, "ABCDEFGHIJKLMNOPQRSTUVWXYZ"))
	return m, err1 == nil && err2 == nil && m.right >= m.left && m.bottom >= m.top
}

// Days of the two calendars, and the last that either knows.
const (
	epoch1900 = -25_569 // days from 1899-12-30 to 1970
	epoch1904 = -24_107
	lastDay   = 2_958_465
)

// moment gives the day since 1970 and the microseconds of that day that a number means,
// to the millisecond, which is what such numbers hold. The 29th of February 1900, which
// only Excel knows, is none.
func (w *workbook) moment(serial float64) (day int64, micros int64, ok bool) {
	if serial < 0 || serial >= lastDay+1 {
		return 0, 0, false
	}
	whole := math.Floor(serial)
	millis := math.Round((serial - whole) * 86_400_000)
	if millis >= 86_400_000 {
		whole, millis = whole+1, 0
	}
	day = int64(whole)
	switch {
	case w.from04:
		day += epoch1904
	case day == 60:
		return 0, 0, false
	case day < 60:
		day += epoch1900 + 1
	default:
		day += epoch1900
	}
	return day, int64(millis) * 1000, true
}

// isDayZero says that a cell under a format of dates is below 1: Excel shows it on the day
// 0 of January 1900. It is a time of day, and no date.
func (w *workbook) isDayZero(c sheetCell) bool {
	return !w.from04 && c.number >= 0 && c.number < 1 && (c.format == formatDate || c.format == formatMoment)
}

// readable is a cell as text: dates in ISO, numbers with the digits that they have.
func (w *workbook) readable(c sheetCell) string {
	switch c.kind {
	case cellText:
		return c.text
	case cellBool:
		return strings.ToUpper(strconv.FormatBool(c.number != 0))
	case cellNumber:
		if c.format.isDate() {
			if s, ok := w.readableDate(c); ok {
				return s
			}
		}
		return plainFloat(c.number)
	}
	return ""
}

func (w *workbook) readableDate(c sheetCell) (string, bool) {
	if c.format == formatDuration || c.format == formatTime && c.number >= 1 {
		return clockText(c.number), c.number >= 0
	}
	day, micros, ok := w.moment(c.number)
	if !ok {
		return "", false
	}
	t := time.Unix(day*86_400, micros*1000).UTC()
	switch {
	case c.format == formatTime || w.isDayZero(c):
		return t.Format("15:04:05.999"), true
	case c.format == formatDate && micros == 0:
		return t.Format("2006-01-02"), true
	}
	return t.Format("2006-01-02 15:04:05.999"), true
}

// clockText writes days as hours, minutes and seconds.
func clockText(days float64) string {
	millis := int64(math.Round(days * 86_400_000))
	s := fmt.Sprintf("%02d:%02d:%02d", millis/3_600_000, millis/60_000%60, millis/1000%60)
	if millis%1000 != 0 {
		s += strings.TrimRight(fmt.Sprintf(".%03d", millis%1000), "0")
	}
	return s
}

// plainFloat writes a number with all of its digits and no exponent where that is short.
func plainFloat(f float64) string {
	if a := math.Abs(f); a != 0 && (a < 1e-7 || a >= 1e21) {
		return strconv.FormatFloat(f, 'g', -1, 64)
	}
	return strconv.FormatFloat(f, 'f', -1, 64)
}
