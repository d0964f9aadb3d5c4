package document

import (
	"bytes"
	"encoding/csv"
	"errors"
	"fmt"
	"io"
	"strings"
	"unicode/utf8"

	"golang.org/x/text/encoding"
	"golang.org/x/text/encoding/charmap"
	"golang.org/x/text/encoding/unicode"
)

// decodeText reads UTF-8 and UTF-16 with their marks, and takes other bytes for Windows-1252.
func decodeText(content []byte) (string, error) {
	var from encoding.Encoding
	switch {
	case bytes.HasPrefix(content, []byte("\xEF\xBB\xBF")):
		content = content[3:]
	case bytes.HasPrefix(content, []byte("\xFF\xFE")), bytes.HasPrefix(content, []byte("\xFE\xFF")):
		from = unicode.UTF16(unicode.LittleEndian, unicode.UseBOM)
	}
	if from == nil && bytes.IndexByte(content, 0) >= 0 {
		return "", problem("it is not text")
	}
	if from == nil && !utf8.Valid(content) {
		from = charmap.Windows1252
	}
	if from == nil {
		return string(content), nil
	}
	out, err := from.NewDecoder().Bytes(content)
	if err != nil {
		return "", problem("its characters cannot be decoded")
	}
	return string(out), nil
}

// parseText makes a part of each paragraph. Form feeds separate pages.
func (b *builder) parseText(text string) error {
	pages := strings.Split(text, "\f")
	for n, page := range pages {
		line, begin := 0, 1
		var paragraph strings.Builder
		first := true
		flush := func() error {
			place := fmt.Sprintf("line %d", begin)
			if len(pages) > 1 {
				place = fmt.Sprintf("page %d", n+1)
			}
			part := Part{Place: place, Text: paragraph.String(), Continues: !first}
			paragraph.Reset()
			first = false
			return b.add(part)
		}
		for row := range strings.Lines(page) {
			line++
			if strings.TrimSpace(row) == "" {
				if paragraph.Len() > 0 {
					if err := flush(); err != nil {
						return err
					}
				}
				begin = line + 1
				continue
			}
			paragraph.WriteString(row)
		}
		if paragraph.Len() > 0 {
			if err := flush(); err != nil {
				return err
			}
		}
	}
	return nil
}

// parseMarkdown makes a part of each section.
func (b *builder) parseMarkdown(text string) error {
	var section strings.Builder
	fenced := ""
	flush := func() error {
		err := b.add(Part{Place: b.section(), Text: section.String()})
		section.Reset()
		return err
	}
	var before string // the line above, which an underline makes a heading
	for row := range strings.Lines(text) {
		line := strings.TrimSpace(row)
		if fence := fenceOf(line); fence != "" && (fenced == "" || fenced == fence) {
			fenced = fence[:len(fence)-len(fenced)]
		}
		level, title := 0, ""
		if fenced == "" {
			level, title = markdownHeading(row, before)
		}
		if level == 0 {
			section.WriteString(row)
			before = line
			continue
		}
		if title == "" { // the line above is the title
			title = before
			kept := strings.TrimRight(section.String(), " \t\r\n")
			kept = kept[:len(kept)-len(before)]
			section.Reset()
			section.WriteString(kept)
		}
		if err := flush(); err != nil {
			return err
		}
		b.enterHeading(level, title)
		before = ""
	}
	return flush()
}

func fenceOf(line string) string {
	for _, fence := range []string{"```", "~~~"} {
		if strings.HasPrefix(line, fence) {
			return fence
		}
	}
	return ""
}

// markdownHeading gives the level of a heading, 0 for none. The title of an underlined one is "".
func markdownHeading(row, before string) (level int, title string) {
	line := strings.TrimRight(row, " \t\r\n")
	if strings.HasPrefix(line, "    ") || strings.HasPrefix(line, "\t") {
		return 0, ""
	}
	line = strings.TrimLeft(line, " ")
	rest := strings.TrimLeft(line, "#")
	if n := len(line) - len(rest); n >= 1 && n <= 6 && (rest == "" || rest[0] == ' ' || rest[0] == '\t') {
		title = strings.TrimSpace(strings.TrimRight(strings.TrimSpace(rest), "#"))
		if title == "" {
			return 0, ""
		}
		return n, title
	}
	switch {
	case before == "" || len(line) < 3 || strings.HasPrefix(before, "|") || strings.HasPrefix(before, "- "):
	case strings.Trim(line, "=") == "":
		return 1, ""
	case strings.Trim(line, "-") == "":
		return 2, ""
	}
	return 0, ""
}

// rowsInPart is how many rows of a CSV file are cited together.
const rowsInPart = 10

// parseCSV makes a part of each few rows, in which every value has the name of its column.
func (b *builder) parseCSV(text string) error {
	r := csv.NewReader(strings.NewReader(text))
	r.Comma, r.LazyQuotes, r.FieldsPerRecord, r.ReuseRecord = delimiterOf(text), true, -1, true
	var head []string
	var rows []string
	begin, row := 2, 1
	flush := func() error {
		part := Part{Place: fmt.Sprintf("rows %d-%d", begin, row), Text: strings.Join(rows, "\n"), Continues: begin > 2}
		rows, begin = rows[:0], row+1
		return b.add(part)
	}
	for {
		record, err := r.Read()
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			return problem("its row " + fmt.Sprint(row+1) + " cannot be read")
		}
		if head == nil {
			head = append([]string{}, record...)
			continue
		}
		row++
		var values []string
		for i, v := range record {
			if v = strings.TrimSpace(v); v == "" {
				continue
			}
			if i < len(head) && head[i] != "" {
				v = head[i] + ": " + v
			}
			values = append(values, v)
		}
		rows = append(rows, strings.Join(values, "; "))
		if len(rows) == rowsInPart {
			if err := flush(); err != nil {
				return err
			}
		}
	}
	if row == 1 && len(head) > 0 {
		return b.add(Part{Place: "row 1", Text: strings.Join(head, "; ")})
	}
	return flush()
}

// delimiterOf is the most frequent delimiter of the first line.
func delimiterOf(text string) rune {
	first, _, _ := strings.Cut(text, "\n")
	best, most := ',', 0
	for _, d := range []rune{',', ';', '\t', '|'} {
		if n := strings.Count(first, string(d)); n > most {
			best, most = d, n
		}
	}
	return best
}
