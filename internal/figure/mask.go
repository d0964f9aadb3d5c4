package figure

import (
	"html"
	"regexp"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"

	"golang.org/x/text/unicode/norm"
)

var (
	fences     = regexp.MustCompile("(?m)^[ \t>]*(?:```+|~~~+)[ \t]*([\\w+-]*)[^\n`]*$")
	inlineCode = regexp.MustCompile("`+([^`\n]+)`+")
	// Links, whose target has no blank: other brackets are text that people read.
	addresses = regexp.MustCompile(`https?://\S+|\]\((?:<[^>\n]*>|[^)\s]*)(?:[ \t]+"[^"\n]*")?\)`)
	// Numbers of items at the beginning of a line, with the rest of the line.
	items = regexp.MustCompile(`(?m)^[ \t>*#-]*((?:\d{1,3}[.)])+)(?:[ \t]+([^\n]*))?$`)
	// A month after a number makes it a day.
	monthFirst = regexp.MustCompile(`(?i)^(?:` + monthNames() + `)\b`)

	programWords = regexp.MustCompile(`(?i)\b(?:select|from|where|limit|offset|join|having|group by|order by|import|def|return|lambda|print)\b`)
	programLine  = regexp.MustCompile(`(?im)^\s*(?:select|with|from|import|def|for|if|print|insert|create|update|delete)\b|\w\s*=\s*[\w.]+[(\[]|\w\(.*\)\s*$`)
)

// programLanguages are names of languages after a code fence whose text is a program.
var programLanguages = wordSet("sql python py python3 bash sh shell r js javascript ts typescript go java c cpp yaml toml ini regex mermaid vega vega-lite html css xml dax m")

// queryLanguages are those whose programs have words that are known.
var queryLanguages = wordSet("sql python py python3")

// mask marks the bytes whose numbers are no figures of the answer: programs, addresses and
// the numbers of list items. A number in backticks, or in a block that holds no program, is
// a figure like any other.
func mask(text string) []bool {
	skip := make([]bool, len(text))
	hide := func(start, end int) {
		for i := start; i < end; i++ {
			skip[i] = true
		}
	}
	hidePrograms(text, hide)
	for _, loc := range inlineCode.FindAllStringSubmatchIndex(text, -1) {
		if isProgramText(text[loc[2]:loc[3]]) {
			hide(loc[0], loc[1])
		}
	}
	for _, loc := range addresses.FindAllStringIndex(text, -1) {
		hide(loc[0], loc[1])
	}
	hideItems(text, hide)
	return skip
}

// hidePrograms hides the blocks of code that are programs. One that is not closed ends at
// the next fence or the first empty line, so that an answer cannot hide behind it.
func hidePrograms(text string, hide func(start, end int)) {
	all := fences.FindAllStringSubmatchIndex(text, -1)
	for i := 0; i < len(all); i++ {
		opens := all[i]
		language := strings.ToLower(text[opens[2]:opens[3]])
		hide(opens[0], opens[1])
		end := len(text)
		closed := i+1 < len(all) && all[i+1][2] == all[i+1][3]
		if i+1 < len(all) {
			end = all[i+1][0]
		}
		if closed {
			hide(all[i+1][0], all[i+1][1])
			i++
		}
		if blank := strings.Index(text[opens[1]:end], "\n\n"); !closed && blank >= 0 {
			end = opens[1] + blank
		}
		body := text[opens[1]:end]
		isProgram := programWords.MatchString(body)
		if programLanguages[language] && (isProgram || closed && !queryLanguages[language]) || language == "" && programLine.MatchString(body) {
			hide(opens[1], end)
		}
	}
}

// isProgramText tells a piece of a program or a name in backticks from a figure there.
func isProgramText(code string) bool {
	if !strings.ContainsFunc(code, unicode.IsLetter) {
		return false
	}
	return strings.ContainsAny(code, `()[]{};"_\/*`) || programWords.MatchString(code)
}

// smallItem is up to which number a single item is taken for one.
const smallItem = 20

// hideItems hides the numbers of list items. A number alone in its line, or a large one
// without another item beside it, is a figure.
func hideItems(text string, hide func(start, end int)) {
	all := items.FindAllStringSubmatchIndex(text, -1)
	numbers := map[int]bool{}
	number := func(loc []int) int {
		marks := strings.FieldsFunc(text[loc[2]:loc[3]], func(r rune) bool { return r == '.' || r == ')' })
		n, _ := strconv.Atoi(marks[len(marks)-1])
		return n
	}
	for _, loc := range all {
		numbers[number(loc)] = true
	}
	for _, loc := range all {
		n, rest := number(loc), ""
		if loc[4] >= 0 {
			rest = text[loc[4]:loc[5]]
		}
		inList := numbers[n-1] || numbers[n+1]
		if monthFirst.MatchString(rest) || !inList && (n > smallItem || strings.TrimSpace(rest) == "") {
			continue
		}
		hide(loc[2], loc[3])
	}
}

// A plainText is a text with the digits of all scripts as ASCII, with the characters that
// entities of HTML stand for, and without characters that have no width. It knows where its
// bytes stand in the text as it was written.
type plainText struct {
	text         string
	starts, ends []int // by byte; nil if nothing was changed
}

// entities are characters as HTML writes them: &#52; or &frac12;.
var entities = regexp.MustCompile(`&(?:#\d{1,7}|#[xX][0-9a-fA-F]{1,6}|[a-zA-Z][a-zA-Z0-9]{1,20});`)

// newPlainText rewrites the digits of a text.
func newPlainText(text string) plainText {
	escaped := strings.Contains(text, "&") && entities.MatchString(text)
	if !escaped && !strings.ContainsFunc(text, func(r rune) bool {
		return r > unicode.MaxASCII && (unicode.Is(unicode.Nd, r) || unicode.Is(unicode.No, r) || hasNoWidth(r) || r == '％' || r == '，' || r == '．')
	}) {
		return plainText{text: text}
	}
	p := plainText{}
	var b strings.Builder
	write := func(written string, start, end int) {
		b.WriteString(written)
		for k := range len(written) {
			if len(written) == end-start { // unchanged: every byte stands for itself
				p.starts, p.ends = append(p.starts, start+k), append(p.ends, start+k+1)
			} else {
				p.starts, p.ends = append(p.starts, start), append(p.ends, end)
			}
		}
	}
	var next []int // the next entity
	if escaped {
		next = entities.FindStringIndex(text)
	}
	digits := odd(text)
	for i := 0; i < len(text); {
		if next != nil && i == next[0] {
			meant := html.UnescapeString(text[next[0]:next[1]])
			if hasNoWidth(firstRune(meant)) {
				meant = ""
			}
			write(strings.Map(asciiDigit, meant), next[0], next[1])
			i = next[1]
			if next = entities.FindStringIndex(text[i:]); next != nil {
				next = []int{next[0] + i, next[1] + i}
			}
			continue
		}
		r, size := utf8.DecodeRuneInString(text[i:])
		written := text[i : i+size]
		switch d, isOdd := digits[i]; {
		case isOdd:
			written = d
		case hasNoWidth(r):
			written = ""
		case r > unicode.MaxASCII && unicode.Is(unicode.Nd, r):
			written = string('0' + digitOf(r))
		case r == '％':
			written = "%"
		case (r == '，' || r == '．') && isDigitBefore(text, i) && isDigitAfter(text, i+size):
			written = map[rune]string{'，': ",", '．': "."}[r]
		}
		write(written, i, i+size)
		i += size
	}
	p.text = b.String()
	return p
}

func firstRune(s string) rune {
	r, _ := utf8.DecodeRuneInString(s)
	return r
}

func asciiDigit(r rune) rune {
	if r > unicode.MaxASCII && unicode.Is(unicode.Nd, r) {
		return '0' + digitOf(r)
	}
	return r
}

// oddDigits is how many raised or circled digits in a row are a number: one or two are a
// power, a note or the number of a point.
const oddDigits = 3

// odd are the digits of numbers that are written raised, lowered or circled, by their place.
func odd(text string) map[int]string {
	var all map[int]string
	var run []int
	digits := map[int]string{}
	end := func() {
		for _, i := range run {
			if len(run) >= oddDigits {
				if all == nil {
					all = map[int]string{}
				}
				all[i] = digits[i]
			}
		}
		run = run[:0]
	}
	for i, r := range text {
		if d := ""; r > unicode.MaxASCII && unicode.Is(unicode.No, r) {
			if d = norm.NFKC.String(string(r)); len(d) == 1 {
				digits[i], run = d, append(run, i)
				continue
			}
		}
		if !hasNoWidth(r) {
			end()
		}
	}
	end()
	return all
}

// hasNoWidth says that a character is not seen: joiners, marks of direction, and what makes
// a digit a picture.
func hasNoWidth(r rune) bool {
	switch {
	case r == '\u00ad', r == '\u061c', r == '\u2060', r == '\ufeff', r == '\ufe0e', r == '\ufe0f', r == '\u20e3':
		return true
	}
	return r >= '\u200b' && r <= '\u200f' || r >= '\u202a' && r <= '\u202e' || r >= '\u2066' && r <= '\u2069'
}

// digitOf gives the value of a decimal digit of any script. Each script has its ten in a row.
func digitOf(r rune) rune {
	for _, t := range unicode.Nd.R16 {
		if r >= rune(t.Lo) && r <= rune(t.Hi) {
			return (r - rune(t.Lo)) % 10
		}
	}
	for _, t := range unicode.Nd.R32 {
		if r >= rune(t.Lo) && r <= rune(t.Hi) {
			return (r - rune(t.Lo)) % 10
		}
	}
	return 0
}

func isDigitBefore(text string, i int) bool {
	r, _ := utf8.DecodeLastRuneInString(text[:i])
	return unicode.IsDigit(r)
}

func isDigitAfter(text string, i int) bool {
	r, _ := utf8.DecodeRuneInString(text[i:])
	return unicode.IsDigit(r)
}

// place finds where a part stands in the text as it was written.
func (p plainText) place(start, end int) (int, int) {
	if p.starts == nil {
		return start, end
	}
	return p.starts[start], p.ends[end-1]
}
