package query

import (
	"bufio"
	"compress/gzip"
	"context"
	"fmt"
	"io"
	"os"
	"regexp"
	"slices"
	"strconv"
	"strings"
)

// madeName is a name that the engine gives to a column that has none.
var madeName = regexp.MustCompile(`^column\d+$`)

// headLines are looked at to find where a table begins.
const headLines = 200

// head looks for what the engine's own look misses at the top of a file: lines above
// the header, and a header of years, which is like the numbers below it.
func (b *builder) head(ctx context.Context, table string, in inputs, o reading, rejects rejects) (reading, error) {
	var r TableReport
	if err := b.measure(ctx, table, &r); err != nil {
		return o, err
	}
	made := 0 // names that the engine gave
	for _, c := range r.Columns {
		if madeName.MatchString(c.Name) {
			made++
		}
	}
	nameless := o.Header == nil && made == len(r.Columns)
	above := o.Header == nil && o.Delimiter == "" && (made > 0 || len(r.Columns) == 1 && rejects.long > 0)
	if len(in.files) != 1 || !nameless && !above {
		return o, nil
	}
	lines, err := in.lines(headLines)
	if err != nil {
		return o, fmt.Errorf("looking at the first lines: %w", err)
	}
	if above {
		if skip, delimiter := tableStart(lines); skip > 0 {
			o.skip, o.Delimiter = skip, delimiter
			return o, nil
		}
	}
	if nameless && len(lines) > 1 && yearsAbove(lines[0]) {
		yes := true
		o.Header = &yes
	}
	return o, nil
}

// lines gives the first lines of the first file; none of a file that is compressed in a
// way of its own.
func (in inputs) lines(most int) ([]string, error) {
	f, err := os.Open(in.files[0])
	if err != nil {
		return nil, err
	}
	defer f.Close()
	var text io.Reader = f
	switch in.compression {
	case "", "none":
	case "gzip":
		if text, err = gzip.NewReader(f); err != nil {
			return nil, err
		}
	default:
		return nil, nil
	}
	var lines []string
	for scan := bufio.NewScanner(text); len(lines) < most && scan.Scan(); {
		lines = append(lines, scan.Text()) // a line too long for it ends the look
	}
	return lines, nil
}

var delimiters = []string{",", ";", "\t", "|"}

// tableStart finds the line of names below lines that are no part of the table: it has
// as many cells as most lines, all of them names, and what is above it has another
// number of cells or only one that is not empty.
func tableStart(lines []string) (skip int, delimiter string) {
	best, width := 1, 0
	for _, d := range delimiters {
		counts := map[int]int{}
		for _, l := range lines {
			counts[len(cells(l, d))]++
		}
		for n, lines := range counts {
			if n > 1 && (lines > best || lines == best && n > width) {
				best, width, delimiter = lines, n, d
			}
		}
	}
	if width == 0 {
		return 0, ""
	}
	for i, l := range lines[:len(lines)-1] {
		row := cells(l, delimiter)
		filled := slices.DeleteFunc(slices.Clone(row), func(c string) bool { return c == "" })
		if len(row) == width && len(filled) == width && areNames(row) {
			return i, delimiter
		}
		if len(row) == width && len(filled) > 1 {
			break
		}
	}
	return 0, ""
}

// areNames says that cells can be the names of columns: each another text, none a number.
func areNames(row []string) bool {
	for i, c := range row {
		if _, err := strconv.ParseFloat(strings.ReplaceAll(c, ",", "."), 64); err == nil || slices.Contains(row[:i], c) {
			return false
		}
	}
	return true
}

// cells splits a line, outside of quotes.
func cells(line, delimiter string) []string {
	var row []string
	quoted, from := false, 0
	for i := range len(line) + 1 {
		switch {
		case i == len(line) || line[i] == delimiter[0] && !quoted:
			row = append(row, strings.Trim(strings.TrimSpace(line[from:i]), `"`))
			from = i + 1
		case line[i] == '"':
			quoted = !quoted
		}
	}
	return row
}

// yearsAbove says that a line names columns of which some are years, in their order.
func yearsAbove(line string) bool {
	for _, d := range delimiters {
		parts := cells(line, d)
		last, years, names := 0, 0, 0
		for _, p := range parts {
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
		if len(parts) > 1 && years > 1 && names > 0 {
			return true
		}
	}
	return false
}
