package figure

import (
	"cmp"
	"maps"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"
)

// A mention is a number as an answer writes it.
type mention struct {
	start, end int
	text       string
	readings   []reading
	share      bool // written as a percentage or a fraction: a value of 0.12 is 12 %
	points     bool // percentage points, or points of a mark
	inWords    bool // "a third"
	ratio      bool // "twice", "3 times"
	unit       string
	whole      reading // in seconds, of a length of time in several units
	near       closeness
	before     string   // the word before it, in lower case
	after      []string // the two words after it
	date       *day
	sentence   string // around it, in lower case
	written    string // the same in its own case
	lead       string // the line above the list that it stands in, in its own case
	cues       cue
	limits     []limit // of its sentence
	largest    []int   // numbers of rows of an order that its sentence speaks of: the top two
	falls      bool    // the sentence says that something fell or is negative
	rises      bool
	bracketed  bool // (1,234): negative in accounts
	stated     bool // of a document: the code that printed it states it
	repeated   bool // and that code is a text that the caller wrote
}

// A day is a date of which the end may be missing: a month or a year.
type day struct{ year, month, day int }

var (
	// A token is a number, with what is glued to it: thousands are apart by spaces, or by
	// points, commas and apostrophes.
	tokens = regexp.MustCompile(`[\p{L}_#]?[+\-−]?(?:\d{1,3}(?:[ \x{00a0}\x{202f}\x{2007}\x{2009}]\d{3})+\b(?:[.,]\d+)?|\d+(?:[.,'’]\d+)*)(?:[eE][+\-]?\d{1,3}\b)?`)
	dates  = regexp.MustCompile(`(?i)\b(\d{4})-(\d{2})-(\d{2})\b|\b(\d{1,2})\.(\d{1,2})\.(\d{4})\b|\b(\d{1,2})/(\d{1,2})/(\d{4})\b|\b(\d{4})-(\d{2})\b|\b(?:(\d{1,2})(?:st|nd|rd|th|\.)? )?(` + monthNames() + `)\.? (?:(\d{1,2})(?:st|nd|rd|th)?, )?(\d{4})\b`)
	// Days without a year: 6 March, am 6. März, on March 6, March 6th. Others are a month and a number: in June 98 joined.
	days  = regexp.MustCompile(`\b(?:(\d{1,2})(\.?(?:[–-]| [–-] | to | bis | und | and )))?(\d{1,2})(?:st|nd|rd|th|\.)?(?: of)? (` + capitalMonths() + `)\b|(\b[Oo]n )?\b(` + capitalMonths() + `) (\d{1,2})(st|nd|rd|th)?\b`)
	signs = regexp.MustCompile(`\d{0,6}[½¼¾⅐-⅞]`)
	words = regexp.MustCompile(`[\p{L}\p{M}ß]+`)
	// What makes one of several a number.
	oneOf = regexp.MustCompile(`(?i)^ (?:of|von|der|of the|von den) (?:\d|(?:` + strings.Join(slices.Sorted(maps.Keys(numberWords)), "|") + `)\b)`)
	// firstWord is a word at the beginning of a text.
	firstWord = regexp.MustCompile(`^[\p{L}\p{M}ß]+`)
)

// scanBounded finds the numbers of a text, in order, as far as it is read; cut reports that
// it is longer.
func scanBounded(text string) (found []mention, cut bool) {
	if cut = len(text) > maxScanned; cut {
		text = text[:maxScanned]
	}
	return scan(text), cut
}

// readSentence adds what the words around the number say.
func (m *mention) readSentence(text string) {
	m.written = sentence(text, m.start, m.end)
	m.sentence = strings.ToLower(m.written)
	m.lead = leadIn(text, m.start)
	m.cues = cuesIn(m.sentence)
	if amountWords[m.before] {
		m.cues |= differenceCue
	}
	m.falls, m.rises = containsOneOf(m.sentence, fallWords), containsOneOf(m.sentence, riseWords)
}

// scan finds the numbers of a text, in order. It looks only a little way around each.
func scan(text string) []mention {
	plain := newPlainText(text)
	out := scanPlain(plain.text)
	if plain.starts != nil {
		for i := range out {
			m := &out[i]
			m.start, m.end = plain.place(m.start, m.end)
			m.text = text[m.start:m.end]
		}
	}
	return out
}

func scanPlain(text string) []mention {
	var out []mention
	taken := mask(text)
	add := func(m mention) {
		for i := m.start; i < m.end; i++ {
			taken[i] = true
		}
		m.text = text[m.start:m.end]
		m.before, m.after = wordBefore(text, m.start), wordsAfter(text, m.end)
		if len(m.after) > 0 && isPoints(m.after) {
			m.share, m.points = true, true
		}
		m.bracketed = strings.HasSuffix(strings.TrimRight(text[:m.start], "€$£ "), "(") && strings.HasPrefix(text[m.end:], ")")
		out = append(out, m)
	}
	for _, loc := range dates.FindAllStringSubmatchIndex(text, -1) {
		if d, ok := parseDay(text, loc); ok && !taken[loc[0]] {
			add(mention{start: loc[0], end: loc[1], date: &d})
		}
	}
	for _, loc := range days.FindAllStringSubmatchIndex(text, -1) {
		for _, m := range daysAt(text, loc) {
			if !taken[m.start] && !taken[m.end-1] {
				add(m)
			}
		}
	}
	for _, loc := range signs.FindAllStringIndex(text, -1) {
		sign, _ := utf8.DecodeLastRuneInString(text[loc[0]:loc[1]])
		if m, ok := signAt(text, loc[0], loc[1], sign); ok && !taken[loc[0]] {
			add(m)
		}
	}
	for _, loc := range tokens.FindAllStringIndex(text, -1) {
		if taken[loc[0]] || taken[loc[1]-1] {
			continue
		}
		if m, ok := numberAt(text, loc[0], loc[1]); ok {
			add(m)
		}
	}
	for _, loc := range words.FindAllStringIndex(text, -1) {
		if taken[loc[0]] {
			continue
		}
		if m, ok := wordAt(text, loc[0], loc[1]); ok {
			add(m)
		}
	}
	slices.SortStableFunc(out, func(a, b mention) int { return cmp.Compare(a.start, b.start) })
	joinDurations(text, out)
	return out
}

// between is what may stand between the parts of a length of time, behind the unit of the
// first.
var between = regexp.MustCompile(`^[\p{L}]*\.?,?(?: and| und)? $`)

// joinDurations gives the parts of a length of time the whole: 21 minutes and 24 seconds.
func joinDurations(text string, all []mention) {
	for i := 0; i+1 < len(all); i++ {
		a, b := &all[i], &all[i+1]
		large, small := unitsOf[a.unit], unitsOf[b.unit]
		if large.kind != "time" || small.kind != "time" || large.base <= small.base || len(a.readings) == 0 || len(b.readings) == 0 || b.start-a.end > maxWord || !between.MatchString(strings.TrimLeft(text[a.end:b.start], " ")) {
			continue
		}
		whole := a.readings[0].value*large.base + b.readings[0].value*small.base
		if a.whole.value > 0 { // one hour, 2 minutes and 3 seconds
			whole = a.whole.value + b.readings[0].value*small.base
		}
		r := reading{value: whole, unit: small.base * b.readings[0].unit, digits: a.digits() + b.digits()}
		a.whole, b.whole = r, r
	}
}

// maxWord is how far words are looked for before and after a number.
const maxWord = 100

// textBefore and textAfter give what stands right before and after a place.
func textBefore(text string, start int) string { return text[max(0, start-maxWord):start] }
func textAfter(text string, end int) string    { return text[end:min(len(text), end+maxWord)] }

// isPoints says that a figure counts percentage points.
func isPoints(after []string) bool {
	switch after[0] {
	case "point", "points", "pp", "punkte", "punkten", "prozentpunkte", "prozentpunkten", "percentage":
		return true
	}
	return false
}

func wordBefore(text string, start int) string {
	before := strings.TrimRight(textBefore(text, start), " \u00a0\u202f€$£*_(#")
	i := strings.LastIndexFunc(before, func(r rune) bool { return !unicode.IsLetter(r) && r != '_' })
	return strings.ToLower(before[i+1:])
}

func wordsAfter(text string, end int) []string {
	var out []string
	after := textAfter(text, end)
	for _, loc := range words.FindAllStringIndex(after, 2) {
		if strings.ContainsAny(after[:loc[0]], ".;:!?\n") {
			break
		}
		out = append(out, strings.ToLower(after[loc[0]:loc[1]]))
	}
	return out
}

// numberAt understands the digits of a token with the words around them.
func numberAt(text string, start, end int) (mention, bool) {
	first, size := utf8.DecodeRuneInString(text[start:])
	if unicode.IsLetter(first) || first == '_' || first == '#' {
		if i := strings.IndexFunc(text[start:end], unicode.IsSpace); i >= 0 && first != '#' { // Q1 873: a name before a number
			_, blank := utf8.DecodeRuneInString(text[start+i:])
			return numberAt(text, start+i+blank, end)
		}
		if numbersThing := first == '#' && end-start-size >= statedDigits; !numbersThing && !currencies[wordBefore(text, start+size)] {
			return mention{}, false // part of a name, such as Q3 or INV-7; order #48211 has a number
		}
		start += size // EUR48211.37
		first, size = utf8.DecodeRuneInString(text[start:])
	}
	sign := 1.0
	if first == '-' || first == '−' || first == '+' {
		before, _ := utf8.DecodeLastRuneInString(text[:start])
		if start > 0 && (unicode.IsLetter(before) || before == '_') && !currencies[wordBefore(text, start)] {
			return mention{}, false // INV-1001
		}
		if isDigitBefore(text, start) && isInName(text, start) {
			return mention{}, false // INV-2024-00160
		}
		if first != '+' && (start == 0 || !unicode.IsDigit(before)) {
			sign = -1
		}
		if sign > 0 {
			start += size
		} else {
			size = len(string(first))
		}
		if sign < 0 {
			return spread(text, mention{start: start, end: end, readings: negated(readings(text[start+size : end]))})
		}
	}
	return spread(text, mention{start: start, end: end, readings: readings(text[start:end])})
}

// isInName says whether what stands right before a place, up to a blank, has letters joined
// to it by hyphens.
func isInName(text string, start int) bool {
	before := textBefore(text, start)
	i := strings.LastIndexFunc(before, func(r rune) bool { return !unicode.IsLetter(r) && !unicode.IsDigit(r) && r != '-' && r != '_' })
	name := before[i+1:]
	return strings.ContainsFunc(name, unicode.IsLetter)
}

func negated(all []reading) []reading {
	for i := range all {
		all[i].value = -all[i].value
	}
	return all
}

// spread widens a number to the scale, the percent sign and the unit that follow it.
func spread(text string, m mention) (mention, bool) {
	if len(m.readings) == 0 {
		return m, false
	}
	m.near = closenessBefore(text, m.start)
	rest := textAfter(text, m.end)
	for _, half := range []string{" and a half", "-and-a-half", " einhalb"} {
		if hasPrefixFold(rest, half) && !letterAt(rest, len(half)) && m.readings[0].unit == 1 { // seven and a half
			m.readings = []reading{{value: m.readings[0].value + 0.5, unit: 0.1, digits: m.readings[0].digits + 1}}
			m.end += len(half)
			rest = textAfter(text, m.end)
		}
	}
	next, gap := nextWord(rest)
	switch {
	case gap == 0 && next == "ish":
		m.near = about
	case gap == 0 && next != "" && !isSuffix(next):
		return m, false // 3rd, 2x4, 12abc: a name or an ordinal
	case strings.HasPrefix(strings.TrimLeft(rest, " \u00a0\u202f"), "%"):
		m.share = true
		m.end += strings.Index(rest, "%") + 1
		return m, true
	}
	lower := strings.ToLower(next)
	if lower == "percent" || lower == "prozent" || lower == "percentage" {
		m.share = true
		m.end += gap + len(next)
		return m, true
	}
	if by, ok := scales[lower]; ok {
		var scaled []reading
		for _, r := range m.readings {
			scaled = append(scaled, r.scaled(by))
		}
		m.end += gap + len(next)
		if _, unit := unitsOf[lower]; unit { // 5 m: metres or millions
			scaled = append(scaled, m.readings...)
			m.unit = lower
		}
		m.readings = scaled
		if m.unit == "" {
			m.unit = unitAfter(textAfter(text, m.end))
		}
		return m, true
	}
	if lower == "times" || lower == "x" || lower == "mal" || lower == "fold" || lower == "fache" {
		m.ratio = true
	}
	m.unit = lower
	if _, ok := unitsOf[m.unit]; !ok {
		m.unit = unitBefore(text, m.start)
	}
	return m, true
}

func hasPrefixFold(s, prefix string) bool {
	return len(s) >= len(prefix) && strings.EqualFold(s[:len(prefix)], prefix)
}

// isSuffix says whether letters right behind digits belong to a number.
func isSuffix(word string) bool {
	lower := strings.ToLower(word)
	_, scale := scales[lower]
	_, unit := unitsOf[strings.TrimRight(lower, "²³")]
	return scale && word != "b" || unit || lower == "x" // 8b is a name, 8B are billions
}

// nextWord gives the word at the start of a text after at most a space or a hyphen,
// and where it begins.
func nextWord(rest string) (string, int) {
	gap := 0
	for _, space := range []string{" ", "\u00a0", "\u202f", "-"} {
		if strings.HasPrefix(rest, space) {
			gap = len(space)
			break
		}
	}
	for _, sign := range []string{"€", "$", "£"} {
		if strings.HasPrefix(rest[gap:], sign) {
			return sign, gap
		}
	}
	word := firstWord.FindString(rest[gap:])
	if word == "" {
		return "", 0
	}
	after := rest[gap+len(word):]
	for _, sign := range []string{"€", "²", "³"} { // T€, m²
		if strings.HasPrefix(after, sign) {
			return word + sign, gap
		}
	}
	return word, gap
}

func unitAfter(rest string) string {
	next, _ := nextWord(strings.TrimPrefix(rest, "."))
	return strings.ToLower(next)
}

// unitBefore finds a sign of money before a number.
func unitBefore(text string, start int) string {
	before := strings.TrimRight(textBefore(text, start), " \u00a0\u202f")
	for _, sign := range []string{"€", "$", "£", "EUR", "USD", "CHF", "GBP"} {
		if strings.HasSuffix(before, sign) {
			return strings.ToLower(sign)
		}
	}
	return ""
}

// closenessBefore looks at the word before a number, past a sign of money.
func closenessBefore(text string, start int) closeness {
	before := strings.TrimRight(textBefore(text, start), " \u00a0\u202f€$£*_(")
	if strings.HasSuffix(before, "~") || strings.HasSuffix(before, "≈") {
		return about
	}
	before = strings.TrimRight(before, ".")
	if strings.HasSuffix(strings.ToLower(before), "close to") {
		return about
	}
	i := strings.LastIndexFunc(before, func(r rune) bool { return !unicode.IsLetter(r) })
	return closenessWords[strings.ToLower(before[i+1:])]
}

// daysAt reads a day of a month without its year, or two: 5 to 6 March.
func daysAt(text string, loc []int) []mention {
	number := func(group int) int {
		n, _ := strconv.Atoi(text[loc[2*group]:loc[2*group+1]])
		return n
	}
	var out []mention
	add := func(start, end, of, month int) {
		if d := number(of); d >= 1 && d <= 31 {
			out = append(out, mention{start: start, end: end, date: &day{month: months[strings.ToLower(text[loc[2*month]:loc[2*month+1]])], day: d}})
		}
	}
	switch {
	case loc[6] >= 0:
		if loc[2] >= 0 {
			add(loc[2], loc[3], 1, 4)
		}
		add(loc[6], loc[1], 3, 4)
	case loc[10] >= 0 || loc[16] >= 0: // on March 6, March 6th
		add(loc[12], loc[1], 7, 6)
	}
	return out
}

// parseDay reads the groups of a date.
func parseDay(text string, loc []int) (day, bool) {
	at := func(group int) int {
		if loc[2*group] < 0 {
			return 0
		}
		n, _ := strconv.Atoi(text[loc[2*group]:loc[2*group+1]])
		return n
	}
	var d day
	switch {
	case loc[2] >= 0:
		d = day{at(1), at(2), at(3)}
	case loc[8] >= 0:
		d = day{at(6), at(5), at(4)}
	case loc[14] >= 0:
		if d = (day{at(9), at(7), at(8)}); d.month > 12 { // day first
			d.month, d.day = d.day, d.month
		}
	case loc[20] >= 0:
		d = day{at(10), at(11), 0}
	default:
		d = day{at(15), months[strings.ToLower(text[loc[26]:loc[27]])], at(12) + at(14)}
		if d.month == 0 {
			return d, false
		}
	}
	return d, d.month >= 1 && d.month <= 12 && d.day <= 31
}
