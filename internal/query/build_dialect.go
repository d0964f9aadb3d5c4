package query

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"
	"regexp"
	"slices"
	"strconv"
	"strings"
)

// A layout is where the table is in a file of delimited text, and some of its rows.
type layout struct {
	dialect
	skip   int64 // lines above the header or the first row
	header bool
	names  []string // of the columns
	sample []record // rows below the header
	title  string   // the first line above the header
	// longest is the size of the longest row, where it is known.
	longest int
}

// noDelimiter separates the cells of a table with one column: it is in no text.
const noDelimiter = "\x1f"

// Bounds of the look that finds a layout.
const (
	sampleBytes   = 1 << 20
	sampleRecords = 2000
)

// findLayout finds out how a file is laid out from its first rows.
func findLayout(path, compression string, o ImportOptions) (layout, error) {
	text, whole, err := firstBytes(path, compression, sampleBytes)
	if err != nil {
		return layout{}, err
	}
	text = bytes.TrimPrefix(text, []byte("\xef\xbb\xbf"))
	if !whole {
		if i := bytes.LastIndexAny(text, "\r\n"); i > 0 {
			text = text[:i+1]
		}
	}
	var l layout
	var records []record
	if l.dialect, records, err = findDialect(text, o); err != nil {
		return l, err
	}
	first := slices.IndexFunc(records, func(r record) bool { return !r.blank && r.fault == "" })
	if first < 0 {
		return l, errors.New("the file has no rows")
	}
	width := usualWidth(records)
	start := first
	if o.Header == nil {
		start = tableStart(records, first, width)
	}
	l.skip = records[start].line - 1
	if start > first {
		l.title = strings.Join(texts(records[first]), " ")
	}
	records = records[start:]
	below := slices.DeleteFunc(slices.Clone(records[1:]), func(r record) bool { return r.fault != "" || r.blank && width > 1 })
	top := texts(records[0])
	width = max(width, len(top))
	if o.Header != nil {
		l.header = *o.Header
	} else {
		l.header = isHeader(top, below)
	}
	if l.header {
		l.names, l.sample = columnNames(top, width), below
	} else {
		l.names, l.sample = columnNames(nil, width), append([]record{records[0]}, below...)
	}
	return l, nil
}

// firstBytes reads the beginning of a file and says whether that is all of it.
func firstBytes(path, compression string, most int64) (text []byte, whole bool, err error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, false, err
	}
	defer f.Close()
	r, done, err := decompress(f, compression)
	if err != nil {
		return nil, false, err
	}
	defer done()
	text, err = io.ReadAll(io.LimitReader(r, most+1))
	if int64(len(text)) > most {
		return text[:most], false, err
	}
	return text, true, err
}

var delimiters = []string{",", ";", "\t", "|"}

// rareDelimiters are tried where none of the usual ones splits the rows. Texts have them
// too, so that nearly all rows must have the same number of cells, at least three.
var rareDelimiters = []string{"%", "^", "~", "#"}

// findDialect tries the ways in which the text can be split and takes the one under
// which most rows have the same number of cells, more than one. If none is so, the
// table has one column.
func findDialect(text []byte, o ImportOptions) (dialect, []record, error) {
	quotes := []byte{'"', '\''}
	if len(o.Quote) == 1 {
		quotes = []byte{o.Quote[0]}
	} else if o.Quote != "" {
		return dialect{}, nil, fmt.Errorf("the quote %q is not one character", o.Quote)
	}
	tried, usual := slices.Concat(delimiters, rareDelimiters), len(delimiters)
	if o.Delimiter != "" {
		tried, usual = []string{o.Delimiter}, 1
	}
	var best dialect
	var records []record
	most := 0.0
	for i, d := range tried {
		if i >= usual && records != nil {
			break
		}
		found, rows := findQuote(text, d, quotes)
		width := usualWidth(rows)
		if o.Delimiter == "" && (width < 2 || i >= usual && width < 3) {
			continue
		}
		same, all := 0, 0
		for _, r := range rows {
			if r.blank || r.fault != "" {
				continue
			}
			all++
			if len(r.cells) == width {
				same++
			}
		}
		first := slices.IndexFunc(rows, func(r record) bool { return !r.blank && r.fault == "" })
		if first < 0 {
			continue
		}
		// A first row that is not split is the name of one column, unless it is a title.
		if o.Delimiter == "" && len(rows[first].cells) == 1 && tableStart(rows, first, width) == first {
			continue
		}
		if share := float64(same) / float64(max(1, all)); share > most && (i < usual || share > 0.95) {
			best, records, most = found, rows, share
		}
	}
	if records == nil {
		best, records = findQuote(text, noDelimiter, quotes)
	}
	return best, records, nil
}

// findQuote splits the text and finds the quote and its escape under which the least
// lines are malformed. Single quotes are quotes only where no double ones are.
func findQuote(text []byte, delimiter string, quotes []byte) (dialect, []record) {
	var best dialect
	var records []record
	least := -1
	for i, q := range quotes {
		for _, escape := range []byte{q, '\\'} {
			d := dialect{delimiter, q, escape}
			if escape != q && !bytes.Contains(text, []byte{'\\', q}) || i > 0 && bytes.Contains(text, quotes[:1]) {
				continue
			}
			rows, faults, quoted := splitText(text, d)
			if i > 0 && (faults > 0 || quoted < 2) {
				continue
			}
			if least < 0 || faults < least || i > 0 {
				best, records, least = d, rows, faults
			}
		}
	}
	return best, records
}

func splitText(text []byte, d dialect) (rows []record, faults, quoted int) {
	for r := newRecordReader(bytes.NewReader(text), d); len(rows) < sampleRecords; {
		rec, err := r.next()
		if err != nil {
			break
		}
		if rec.fault != "" {
			faults++
		}
		for _, c := range rec.cells {
			if c.quoted {
				quoted++
			}
		}
		rows = append(rows, rec)
	}
	return rows, faults, quoted
}

// usualWidth is the number of cells that most records have; of two that are as usual,
// the greater.
func usualWidth(records []record) int {
	counts := map[int]int{}
	for _, r := range records {
		if !r.blank && r.fault == "" {
			counts[len(r.cells)]++
		}
	}
	width := 0
	for n, rows := range counts {
		if width == 0 || rows > counts[width] || rows == counts[width] && n > width {
			width = n
		}
	}
	return width
}

// tableStart finds the row of names below lines that are no part of the table: it has
// as many cells as most rows, all of them names, and something says that what is
// above it is a title: an empty line or cells, or below it a column of values.
func tableStart(records []record, first, width int) int {
	if width < 2 {
		return first
	}
	apart := false // an empty line or empty cells beside a title
	for i := first; i < len(records)-1; i++ {
		r := records[i]
		if r.blank {
			apart = true
			continue
		}
		if r.fault != "" {
			continue
		}
		filled := r.filled()
		if len(r.cells) == width && filled == width && areNames(texts(r)) {
			if i == first || apart || hasValues(records[i+1:], width) {
				return i
			}
			return first
		}
		if len(r.cells) == width && filled > 1 {
			return first
		}
		apart = apart || filled <= 1 && len(r.cells) > 1
	}
	return first
}

// hasValues says that some column below a header holds numbers or dates only.
func hasValues(records []record, width int) bool {
	for column := range width {
		if k := kindBelow(records, column); k == lookNumber || k == lookDate {
			return true
		}
	}
	return false
}

// areNames says that cells can be the names of columns: each another text, none a number.
func areNames(row []string) bool {
	for i, c := range row {
		if lookOf(c) == lookNumber || slices.Contains(row[:i], c) {
			return false
		}
	}
	return true
}

// texts are the cells of a record without blanks around them.
func texts(r record) []string {
	row := make([]string, len(r.cells))
	for i, c := range r.cells {
		row[i] = strings.TrimSpace(strings.ToValidUTF8(string(c.text), "\uFFFD"))
	}
	return row
}

// A cellLook is what a cell seems to hold, for telling names from values.
type cellLook int

const (
	lookEmpty cellLook = iota
	lookText
	lookNumber
	lookDate
)

var (
	numberLook = regexp.MustCompile(`^[($€£¥+-]{0,3} ?[0-9][0-9.,']*([eE][+-]?[0-9]+)?[ %$€£¥)]{0,3}$`)
	dateLook   = regexp.MustCompile(`^[0-9]{1,4}[-/.][0-9]{1,2}[-/.][0-9]{1,4}([T ][0-9:.]+.*)?$|^[0-9]{1,2}:[0-9]{2}(:[0-9]{2}.*)?$`)
)

func lookOf(text string) cellLook {
	switch text = strings.TrimSpace(text); {
	case isMissing(text):
		return lookEmpty
	case numberLook.MatchString(text):
		return lookNumber
	case dateLook.MatchString(text), strings.EqualFold(text, "true"), strings.EqualFold(text, "false"):
		return lookDate
	}
	return lookText
}

// kindBelow is what all cells of a column look like; text where they differ.
func kindBelow(records []record, column int) cellLook {
	kind := lookEmpty
	for _, r := range records {
		if r.fault != "" || column >= len(r.cells) {
			continue
		}
		switch k := lookOf(string(r.cells[column].text)); {
		case k == lookEmpty:
		case kind == lookEmpty:
			kind = k
		case kind != k:
			return lookText
		}
	}
	return kind
}

// isHeader says whether a row names columns. It does where it is text above values; it
// does not where it is values above values, unless they are years in their order; and
// where all is text, the first row is the header.
func isHeader(top []string, below []record) bool {
	names, values := false, false
	for i, c := range top {
		k, under := lookOf(c), kindBelow(below, i)
		switch {
		case under == lookNumber || under == lookDate:
			names = names || k == lookText
			values = values || k == under
		case len(below) == 0:
			values = values || k == lookNumber || k == lookDate
		}
	}
	return names || !values || yearsIn(top)
}

// yearsIn says that a row names columns of which some are years, in their order.
func yearsIn(row []string) bool {
	last, years, names := 0, 0, 0
	for _, p := range row {
		y, err := strconv.Atoi(p)
		switch {
		case err != nil && p != "" && years == 0:
			names++
		case err != nil || y < 1900 || y > 2100 || y <= last:
			return false
		default:
			last, years = y, years+1
		}
	}
	return years > 1 && names > 0
}

// columnNames are the names of a table's columns: those of the header, a number behind
// those that are doubled, and made ones where there is none.
func columnNames(header []string, width int) []string {
	names := make([]string, width)
	seen := map[string]bool{}
	for i := range names {
		name := ""
		if i < len(header) {
			name = header[i]
		}
		if name == "" {
			name = "column" + strconv.Itoa(i)
		}
		plain := name
		for k := 1; seen[strings.ToLower(name)]; k++ {
			name = fmt.Sprintf("%s_%d", plain, k)
		}
		seen[strings.ToLower(name)] = true
		names[i] = name
	}
	return names
}
