package nlq

import (
	_ "embed" // the lexicon
	"regexp"
	"slices"
	"strings"
	"sync"
	"unicode"
)

//go:embed german.txt
var germanText string

// A germanEntry is what a German word or phrase means: English words that mean the same, of which the data know one.
type germanEntry []string

// A germanPhrase is several words that mean something together; with a gap, others stand between the first
// of them and the last, which ends the message: gingen 2025 ein.
type germanPhrase struct {
	words []string
	gap   bool
	means germanEntry
}

// A germanLexicon leads from German to the English that the planner reads. Words are folded.
type germanLexicon struct {
	words   map[string]germanEntry
	parts   map[string]germanEntry    // first parts of compounds
	phrases map[string][]germanPhrase // by their first word, the longest first
}

var lexicon = sync.OnceValue(func() *germanLexicon {
	l := &germanLexicon{map[string]germanEntry{}, map[string]germanEntry{}, map[string][]germanPhrase{}}
	for line := range strings.Lines(germanText) {
		english, german, ok := strings.Cut(strings.TrimSpace(line), ":")
		if !ok || strings.HasPrefix(line, "#") {
			continue
		}
		means := germanEntry(strings.Split(strings.TrimSpace(english), "|"))
		for phrase := range strings.SplitSeq(german, ",") {
			l.add(strings.Fields(foldGerman(phrase)), means)
		}
	}
	for _, list := range l.phrases {
		slices.SortStableFunc(list, func(a, b germanPhrase) int { return len(b.words) - len(a.words) })
	}
	return l
})

func (l *germanLexicon) add(words []string, means germanEntry) {
	switch {
	case len(words) == 0:
	case len(words) > 1:
		p := germanPhrase{words: slices.DeleteFunc(words, func(w string) bool { return w == "..." }), means: means}
		p.gap = len(p.words) < len(words)
		l.phrases[words[0]] = append(l.phrases[words[0]], p)
	default:
		into, word := l.words, words[0]
		if part, ok := strings.CutSuffix(word, "-"); ok {
			into, word = l.parts, part
		}
		if _, known := into[word]; !known {
			into[word] = means
		}
	}
}

var foldUmlauts = strings.NewReplacer("ä", "ae", "ö", "oe", "ü", "ue", "ß", "ss")

// foldGerman is a word as it is looked up: small, umlauts as two letters.
func foldGerman(word string) string { return foldUmlauts.Replace(strings.ToLower(word)) }

// find gives what a folded word means, in one of its forms.
func (l *germanLexicon) find(word string) (germanEntry, bool) {
	if means, ok := l.words[word]; ok {
		return means, true
	}
	for _, ending := range []string{"en", "er", "es", "em", "e", "n", "s"} { // offene, des Lagers
		if rest, ok := strings.CutSuffix(word, ending); ok && len(rest) > 2 {
			if means, ok := l.words[rest]; ok && means[0] != "" {
				return means, true
			}
		}
	}
	return nil, false
}

// firstPart gives what the first part of a compound means, with or without the letters that join it to the second.
func (l *germanLexicon) firstPart(part string) (germanEntry, bool) {
	if means, ok := l.parts[part]; ok {
		return means, true
	}
	for _, joint := range []string{"", "s", "n", "en", "es", "e", "er", "-"} {
		if rest, ok := strings.CutSuffix(part, joint); ok && len(rest) > 2 {
			if means, ok := l.words[rest]; ok && means[0] != "" {
				return means, true
			}
		}
	}
	return nil, false
}

// split divides a compound into two parts that are known, the longest first part; nil where there are none.
func (l *germanLexicon) split(folded string) (first, second germanEntry, tail string) {
	for at := len(folded) - 3; at >= 3; at-- {
		if first, ok := l.firstPart(folded[:at]); ok {
			if second, ok := l.find(folded[at:]); ok && second[0] != "" {
				return first, second, folded[at:]
			}
		}
	}
	return nil, nil, ""
}

// knows reports whether a folded word is in the lexicon, by itself or in parts.
func (l *germanLexicon) knows(folded string) bool {
	_, ok := l.find(folded)
	_, second, _ := l.split(folded)
	return ok || second != nil
}

// germanSigns are words that only a German sentence has.
var germanSigns = wordSet(`wie viele viel wieviel wieviele der dem des und oder nicht kein keine keinen im zum zur für mit ohne nach je gab gibt wurde wurden waren sind haben hat wir welche welcher welches welchen
	wer seit bis über ist von vom aus bei beim anzahl umsatz durchschnittliche durchschnittlicher durchschnittlichen davon noch auch nie alle unsere unseren letzten letztes letzte dieses diesem werden wird habe zwischen als bitte danke nur jahr monat`)

// englishSigns are words that only an English sentence has.
var englishSigns = wordSet(`the of how what which who by with and are is were does did do many much show list please for from our we have has had than that their there per all not between`)

// isGerman reports whether a message is German: it has more words that only German has than of those that only English has.
func isGerman(text string) bool {
	german, english := 0, 0
	for _, w := range strings.FieldsFunc(strings.ToLower(text), func(r rune) bool { return !unicode.IsLetter(r) }) {
		switch {
		case englishSigns[w]:
			english++
		case germanSigns[w]:
			german += 2
		case w == "pro" || len(w) > 3 && !isOrdinary(w) && lexicon().knows(foldGerman(w)):
			german++
		}
	}
	return german > 1 && german > 2*english
}

// translate writes a German message in English, word by word. Messages in other languages stay as they are, and so
// do names and values of the data.
func (x *Index) translate(text string) (string, bool) {
	if !isGerman(text) {
		return text, strings.Contains(text, "€") && decimalInText(text)
	}
	g := &germanMessage{x: x, fields: strings.Fields(endMarks.ReplaceAllString(text, " $0"))}
	for _, f := range g.fields {
		g.words = append(g.words, foldGerman(coreOf(f)))
	}
	g.findGaps()
	for g.at < len(g.fields) {
		g.step()
	}
	return strings.Join(g.out, " "), true
}

// A germanMessage is a message on its way to English.
type germanMessage struct {
	x      *Index
	fields []string // as they are written
	words  []string // folded, without marks
	out    []string
	at     int
	quoted bool
}

// endMarks are marks behind a word, which part it from the phrases that it ends.
var endMarks = regexp.MustCompile(`[?!,;:]+(\s|$)`)

// dayMark is the day of a date before its month: 3. Mai.
var dayMark = regexp.MustCompile(`^\d{1,2}\.$`)

func coreOf(field string) string {
	return strings.TrimFunc(field, func(r rune) bool { return !unicode.IsLetter(r) && !unicode.IsDigit(r) })
}

// findGaps puts the second half of a phrase with a gap, which ends the message, behind its first.
func (g *germanMessage) findGaps() {
	last := len(g.words) - 1
	for last > 0 && g.words[last] == "" {
		last--
	}
	for i := range max(last, 0) {
		for _, p := range lexicon().phrases[g.words[i]] {
			n := len(p.words) - 1
			if p.gap && i+n-1 < last && slices.Equal(g.words[i:i+n], p.words[:n]) && g.words[last] == p.words[n] {
				g.fields[i], g.words[i] = p.means.in(g.x), "" // it stands for itself from here on
				g.fields, g.words = slices.Delete(g.fields, last, last+1), slices.Delete(g.words, last, last+1)
				g.fields, g.words = slices.Delete(g.fields, i+1, i+n), slices.Delete(g.words, i+1, i+n)
				return
			}
		}
	}
}

// step translates the next words.
func (g *germanMessage) step() {
	field, word := g.fields[g.at], g.words[g.at]
	rest := g.words[g.at:]
	take := func(n int, to string) {
		if to != "" {
			g.out = append(g.out, to)
		}
		g.at += n
	}
	if strings.ContainsAny(field, `"„“`) {
		g.quoted = g.quoted != (strings.Count(field, `"`)+strings.Count(field, "„")+strings.Count(field, "“") == 1)
		take(1, field)
		return
	}
	if n := g.valueHere(); n > 1 || g.quoted || word == "" {
		take(max(n, 1), strings.Join(g.fields[g.at:g.at+max(n, 1)], " "))
		return
	}
	switch {
	case word == "nach" && beginsNumber(rest[1:]):
		take(1, "after")
		return
	case word == "nach" && g.leadsTo(rest[1:]):
		take(1, "to")
		return
	case word == "noch" && slices.Contains(g.words[:g.at], "weder"):
		take(1, "nor")
		return
	case word == "weder":
		take(1, "neither")
		return
	case dayMark.MatchString(field) && len(rest) > 1 && lexicon().words[rest[1]] != nil && months[strings.ToLower(lexicon().words[rest[1]][0])] != 0:
		take(1, word)
		return
	}
	for _, p := range lexicon().phrases[word] {
		if n := len(p.words); !p.gap && n <= len(rest) && slices.Equal(rest[:n], p.words) {
			take(n, p.means.in(g.x))
			return
		}
	}
	core := coreOf(field)
	if to, ok := g.x.germanWord(core); ok {
		field = strings.TrimSpace(strings.Replace(field, core, to, 1))
	}
	take(1, field)
}

// beginsNumber reports whether a number follows, with or without an article.
func beginsNumber(words []string) bool {
	if len(words) > 1 && (words[0] == "dem" || words[0] == "der") {
		words = words[1:]
	}
	return len(words) > 0 && words[0] != "" && unicode.IsDigit(rune(words[0][0]))
}

// leadsTo reports whether the next word is a value of the data and no name in it: nach Polen, not nach Land.
func (g *germanMessage) leadsTo(words []string) bool {
	if len(words) == 0 {
		return false
	}
	to, ok := g.x.germanWord(words[0])
	if !ok {
		to = words[0]
	}
	return len(g.x.values[normaliseValue(to)]) > 0 && !g.x.names(to)
}

// valueHere is how many of the next words are a value of the data, as it is written; 0 is none.
func (g *germanMessage) valueHere() int {
	for n := min(g.x.longest, len(g.fields)-g.at, 6); n > 1; n-- {
		if len(g.x.values[normaliseValue(strings.Join(g.fields[g.at:g.at+n], " "))]) > 0 {
			return n
		}
	}
	return 0
}

// in is the English of an entry that the data know, else the first.
func (e germanEntry) in(x *Index) string {
	for _, english := range e {
		if len(e) > 1 && x.names(english) {
			return english
		}
	}
	return e[0]
}

// names reports whether all words are words of names in the data, or of terms.
func (x *Index) names(english string) bool {
	words := strings.Fields(strings.ToLower(english))
	if slices.ContainsFunc(x.undefined, func(term string) bool { return defineKey(term) == defineKey(english) }) {
		return true
	}
	return len(words) > 0 && !slices.ContainsFunc(words, func(w string) bool { return !x.named[w] && !x.named[lemma(w)] })
}

// germanWord translates a word, or a compound part by part. Words that the data know stay, where they are none of grammar.
func (x *Index) germanWord(word string) (string, bool) {
	lower, folded := strings.ToLower(word), foldGerman(word)
	means, known := lexicon().find(folded)
	if grammatical := known && (means[0] == "" || isGrammar(means[0]) || harmlessWords[means[0]]); !grammatical && !germanSigns[lower] {
		if x.named[lower] || x.named[lemma(lower)] || len(x.values[normaliseValue(word)]) > 0 && !(known && (x.names(means.in(x)) || len(x.values[normaliseValue(means[0])]) > 0)) {
			return word, false
		}
	}
	if known {
		return means.in(x), true
	}
	return x.germanCompound(folded)
}

// germanCompound translates a compound part by part: an average price; a Kundenzahl is the number of customers.
func (x *Index) germanCompound(folded string) (string, bool) {
	first, second, tail := lexicon().split(folded)
	if second == nil {
		return "", false
	}
	if of := compoundHeads[tail]; of != "" {
		return of + first.in(x), true
	}
	words := strings.Fields(first.in(x))
	words[len(words)-1] = lemma(words[len(words)-1])
	return strings.Join(words, " ") + " " + second.in(x), true
}

// compoundHeads are second parts that stand before the first in English.
var compoundHeads = map[string]string{"zahl": "number of ", "anzahl": "number of ", "zahlen": "number of ", "anteil": "share of "}

func decimalInText(text string) bool {
	for _, w := range strings.Fields(text) {
		if v := strings.Trim(w, "€ ?.!,"); decimalComma.MatchString(v) || germanNumber.MatchString(v) {
			return true
		}
	}
	return false
}
