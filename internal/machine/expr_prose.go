package machine

import (
	"regexp"
	"slices"
	"strconv"
	"strings"

	"interlock/internal/figure"
)

// Bounds of what counts as a repetition of rows. A list of a few rows names patterns and
// outliers; one of half of them, or of many, repeats them.
const (
	fewRepeated  = 3
	manyRepeated = 10
	proseRows    = 2000 // that a text is compared with
	proseBytes   = 1 << 18
)

// withoutRows is the function `prose`: the text without the tables and lists in it that
// repeat these rows, in Markdown, HTML, blocks of code or lines. A table that says
// something new stays.
func withoutRows(f *frame, args []any) any {
	text, ok := args[0].(string)
	rows, _ := args[1].([]any)
	if !ok || len(rows) == 0 || len(text) > proseBytes {
		return args[0]
	}
	known := knownRows(rows[:min(len(rows), proseRows)])
	if !f.useFuel(1 + len(text)/8 + len(known)) {
		return args[0]
	}
	cut := htmlTable.ReplaceAllStringFunc(text, func(table string) string {
		if lines := htmlRows(table); repeats(f, lines, known, 1) {
			return "\n\n"
		}
		return table
	})
	blocks := splitBlocks(cut)
	kept := slices.DeleteFunc(slices.Clone(blocks), func(b block) bool {
		least := 1
		if b.kind == listBlock {
			least = max(fewRepeated, min((len(known)+1)/2, manyRepeated))
		}
		return b.kind != proseBlock && repeats(f, b.rows, known, least)
	})
	if f.fuel < 0 || cut == text && len(kept) == len(blocks) {
		return text // as it was written
	}
	var b strings.Builder
	for _, k := range kept {
		b.WriteString(k.text)
	}
	return strings.TrimSpace(blankLines.ReplaceAllString(b.String(), "\n\n"))
}

var (
	htmlTable  = regexp.MustCompile(`(?is)<table\b.*?</table\s*>`)
	htmlRow    = regexp.MustCompile(`(?is)<tr\b.*?</tr\s*>`)
	htmlCell   = regexp.MustCompile(`(?is)<td\b[^>]*>(.*?)</td\s*>`)
	blankLines = regexp.MustCompile(`\n[ \t]*\n\s*`)
	listMark   = regexp.MustCompile(`^\s*(?:[-*+•]|\d{1,4}[.)])\s+`)
	columnGap  = regexp.MustCompile(`\t|\s{2,}`)
	ruleLine   = regexp.MustCompile(`^[\s|:+=─-]+$`)
	listGap    = regexp.MustCompile(`\s*(?::|→|–|—|=|;|,\s|\s-\s|\||\(|\))\s*`)
)

func htmlRows(table string) [][]string {
	var out [][]string
	for _, row := range htmlRow.FindAllString(table, -1) {
		var cells []string
		for _, c := range htmlCell.FindAllStringSubmatch(row, -1) {
			cells = append(cells, c[1])
		}
		if len(cells) > 0 {
			out = append(out, cells)
		}
	}
	return out
}

// A block is consecutive lines of one kind, with the cells of those that may be rows.
type block struct {
	kind blockKind
	text string
	rows [][]string
}

type blockKind int

const (
	proseBlock blockKind = iota
	tableBlock           // lines with |
	codeBlock            // a fenced block
	listBlock            // items of a list
)

// splitBlocks divides a text into its blocks; together they are the text.
func splitBlocks(text string) []block {
	var out []block
	fence := ""
	for line := range strings.Lines(text) {
		bare := strings.TrimSpace(line)
		kind, cells := proseBlock, []string(nil)
		switch mark := fenceOf(bare); {
		case fence != "":
			kind = codeBlock
			if strings.HasPrefix(bare, fence) && strings.Trim(bare, fence[:1]) == "" {
				fence = ""
			} else {
				cells = codeCells(bare)
			}
		case mark != "":
			kind, fence = codeBlock, mark
			out = append(out, block{kind: codeBlock}) // two blocks of code are two
		case strings.Count(bare, "|") >= 2 || strings.Contains(bare, "|") && len(out) > 0 && out[len(out)-1].kind == tableBlock:
			kind, cells = tableBlock, strings.Split(strings.Trim(bare, "|"), "|")
		case listMark.MatchString(line):
			kind, cells = listBlock, listGap.Split(listMark.ReplaceAllString(line, ""), -1)
		}
		if len(out) == 0 || out[len(out)-1].kind != kind {
			out = append(out, block{kind: kind})
		}
		last := &out[len(out)-1]
		last.text += line
		if len(cells) > 0 && !ruleLine.MatchString(bare) {
			last.rows = append(last.rows, cells)
		}
	}
	return out
}

func fenceOf(line string) string {
	for _, mark := range []string{"```", "~~~"} {
		if strings.HasPrefix(line, mark) {
			return mark
		}
	}
	return ""
}

// codeCells divides a line of a block of code at the first mark of a table that it has.
func codeCells(line string) []string {
	for _, sep := range []string{"|", "\t", ";", ","} {
		if strings.Contains(line, sep) {
			return strings.Split(strings.Trim(line, "|"), sep)
		}
	}
	return columnGap.Split(line, -1)
}

// A knownRow is a row as a text may repeat it.
type knownRow struct {
	texts   []string
	numbers []float64
}

func knownRows(rows []any) []knownRow {
	out := make([]knownRow, 0, len(rows))
	for _, r := range rows {
		cells, _ := r.([]any)
		var k knownRow
		for _, c := range cells {
			text := plainCell(valueText(c))
			k.texts = append(k.texts, text)
			if n, err := strconv.ParseFloat(text, 64); err == nil {
				k.numbers = append(k.numbers, n)
			}
		}
		out = append(out, k)
	}
	return out
}

// repeats reports whether at least so many lines, and half of them, are rows that are known.
func repeats(f *frame, lines [][]string, known []knownRow, least int) bool {
	n := 0
	for i, cells := range lines {
		if isKnownRow(f, cells, known, i+1) {
			n++
		}
	}
	return n >= least && 2*n >= len(lines)
}

// isKnownRow reports whether one row holds every cell of a line, but for a number that
// only counts the lines.
func isKnownRow(f *frame, cells []string, known []knownRow, number int) bool {
	var words []string
	for i, c := range cells {
		c = plainCell(c)
		if counts := c == strconv.Itoa(number) || c == strconv.Itoa(number-1); c != "" && !(i == 0 && len(cells) > 1 && counts) {
			words = append(words, c)
		}
	}
	if len(words) == 0 || !f.useFuel(len(words)*len(known)) {
		return false
	}
	return slices.ContainsFunc(known, func(k knownRow) bool {
		return !slices.ContainsFunc(words, func(w string) bool { return !k.holds(w) })
	})
}

func (k knownRow) holds(word string) bool {
	if slices.Contains(k.texts, word) {
		return true
	}
	shown := figure.ShownIn(word)
	return len(shown) == 1 && slices.ContainsFunc(k.numbers, shown[0].Quotes)
}

// plainCell is a cell without the marks of Markdown.
func plainCell(s string) string {
	return strings.ToLower(strings.Trim(s, " \t\r\n*_`\"'"))
}
