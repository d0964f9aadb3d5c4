package document

import (
	"cmp"
	"fmt"
	"maps"
	"math"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"
)

// A PDF file says how large letters are and not what they are for. A short line in letters that are larger than most is
// taken for a heading: it tells what the text below it is about, on the following pages as well.
const (
	headingGrowth = 1.15 // beside the size that most characters have
	headingLength = 120  // characters at most
	headingMark   = '\x01'
)

// A pdfLine is where a line of a page begins, and the size of its letters.
type pdfLine struct {
	begin int
	size  float64
}

// A pdfPage is a page as it was drawn.
type pdfPage struct {
	text  string
	lines []pdfLine
}

// markHeadings gives the texts of pages in which headings stand alone, after a mark and their level.
func markHeadings(pages []pdfPage) []string {
	levels := headingLevels(pages)
	out := make([]string, len(pages))
	for i, p := range pages {
		var b strings.Builder
		before := 0 // the level of the line before, where a heading may go on
		p.eachLine(func(line string, size float64) {
			text := strings.TrimSpace(line)
			level := levels[roundSize(size)]
			if level == 0 || !looksLikeHeading(text) {
				if before > 0 {
					b.WriteString("\n\n")
				}
				b.WriteString(line)
				before = 0
				return
			}
			if before == level {
				b.WriteString(" " + text)
			} else {
				fmt.Fprintf(&b, "\n\n%c%d%s", headingMark, level, text)
			}
			if before = level; strings.HasSuffix(line, "\n\n") {
				b.WriteString("\n\n")
				before = 0
			}
		})
		out[i] = reflow(b.String())
	}
	return out
}

// eachLine calls do for every line with what ends it.
func (p pdfPage) eachLine(do func(line string, size float64)) {
	text := strings.ReplaceAll(p.text, string(headingMark), " ") // as long as before
	for i, line := range p.lines {
		end := len(text)
		if i+1 < len(p.lines) {
			end = p.lines[i+1].begin
		}
		do(text[line.begin:end], line.size)
	}
}

func roundSize(size float64) float64 { return math.Round(2*size) / 2 }

// headingLevels are the sizes of headings, the largest being level 1.
func headingLevels(pages []pdfPage) map[float64]int {
	letters := map[float64]int{}
	for _, p := range pages {
		p.eachLine(func(line string, size float64) { letters[roundSize(size)] += utf8.RuneCountInString(line) })
	}
	body, most := 0.0, 0
	for size, n := range letters {
		if n > most || n == most && size < body {
			body, most = size, n
		}
	}
	sizes := slices.SortedFunc(maps.Keys(letters), func(a, b float64) int { return cmp.Compare(b, a) })
	out := map[float64]int{}
	for _, size := range sizes {
		if size >= headingGrowth*body {
			out[size] = min(len(out)+1, len(builder{}.headings))
		}
	}
	return out
}

func looksLikeHeading(text string) bool {
	letters := 0
	for _, r := range text {
		if unicode.IsLetter(r) {
			letters++
		}
	}
	return letters >= 3 && utf8.RuneCountInString(text) <= headingLength
}

// addPage makes a part of each section of a page, which continue each other: a page is cited as a whole. Headings without
// a text go with the section after them.
func (b *builder) addPage(place, text string) error {
	var section []string
	filled, continues := false, false
	flush := func() error {
		part := Part{Place: place, Heading: b.section(), Text: strings.Join(section, "\n\n"), Continues: continues}
		section, filled, continues = nil, false, true
		return b.add(part)
	}
	for paragraph := range strings.SplitSeq(text, "\n\n") {
		marked, ok := strings.CutPrefix(paragraph, string(headingMark))
		if !ok {
			section = append(section, paragraph)
			filled = filled || strings.TrimSpace(paragraph) != ""
			continue
		}
		if filled {
			if err := flush(); err != nil {
				return err
			}
		}
		level, title := int(marked[0]-'0'), marked[1:]
		b.enterHeading(level, title)
		section = append(section, title)
	}
	return flush()
}
