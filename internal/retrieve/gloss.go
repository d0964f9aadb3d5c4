package retrieve

import (
	"context"
	_ "embed" // the glossary
	"slices"
	"strings"
	"sync"
	"unicode"
	"unicode/utf8"

	"interlock/internal/embed"
)

// The model knows English. A German text is embedded word for word in English, by a glossary of the words of
// offices and everyday life: that gives the model what the text is about. Words that the glossary lacks stay as
// they are.

// glossaryVersion is part of the name of the vectors: raise it when the glossary or its use changes.
const glossaryVersion = "German glossary 3"

//go:embed german.txt
var germanGlossary string

// A glossary finds the English words of a German one by its stem.
type glossary struct {
	exact map[string]string // by the folded word
	stems map[string]string
}

var loadGlossary = sync.OnceValue(func() *glossary {
	g := &glossary{map[string]string{}, map[string]string{}}
	for line := range strings.Lines(germanGlossary) {
		english, german, both := strings.Cut(strings.TrimSpace(line), ": ")
		if !both || strings.HasPrefix(line, "#") {
			continue
		}
		for word := range strings.FieldsSeq(german) {
			folded := foldGerman(word)
			if _, known := g.exact[folded]; !known {
				g.exact[folded] = english
			}
			if stem := germanStem(folded); len(stem) >= 3 && g.stems[stem] == "" {
				g.stems[stem] = english
			}
		}
	}
	return g
})

// A glossing encoder embeds German texts word for word in English.
type glossing struct{ embed.Encoder }

// Name implements [embed.Encoder].
func (g glossing) Name() string { return g.Encoder.Name() + ", " + glossaryVersion }

// Embed implements [embed.Encoder].
func (g glossing) Embed(ctx context.Context, texts []string) ([]embed.Vector, error) {
	english := make([]string, len(texts))
	for i, text := range texts {
		english[i] = inEnglish(text)
	}
	return g.Encoder.Embed(ctx, english)
}

// inEnglish gives a German text word for word in English, and other texts as they are.
func inEnglish(text string) string {
	if !isGerman(questionWords(text)) {
		return text
	}
	return loadGlossary().translate(text)
}

// germanFillers are left out: word for word they say nothing, and make texts alike that are not.
var germanFillers = strings.Fields(`ab aber als am an auch auf aus bei da das dass dem den der des die dies diese dieser dieses ein eine einem einen einer eines es hat haben im in ist ja man mein meine
mich mir mit sein seine sich sie sind so um und vom von vor werden wird wurde zu zum zur über`)

func (g *glossary) translate(text string) string {
	var out strings.Builder
	word := func(w string) {
		if slices.Contains(germanFillers, strings.ToLower(w)) {
			return
		}
		if english := g.find(w); english != "" {
			w = english
		}
		out.WriteString(w)
	}
	begin := -1
	for i, r := range text {
		letter := unicode.IsLetter(r)
		switch {
		case letter && begin < 0:
			begin = i
		case !letter && begin >= 0:
			word(text[begin:i])
			begin = -1
		}
		if !letter {
			out.WriteRune(r)
		}
	}
	if begin >= 0 {
		word(text[begin:])
	}
	return out.String()
}

// longWord is the length from which a word tells its language: many short ones are words of both.
const longWord = 4

// knowsMost reports whether two of the long words or more, and more than half of them, are German ones.
func (g *glossary) knowsMost(words []string) bool {
	long, known := 0, 0
	for _, w := range words {
		if utf8.RuneCountInString(w) < longWord || strings.ContainsFunc(w, unicode.IsNumber) {
			continue
		}
		long++
		if english := g.find(w); english != "" && english != w {
			known++
		}
	}
	return known >= 2 && 2*known > long
}

const (
	maxGlossed     = 60 // letters of a word that is looked up
	compoundLength = 7  // letters of a word that may be a compound
)

// find gives the English of a word or of the parts of a compound, or "".
func (g *glossary) find(word string) string {
	if len(word) > maxGlossed {
		return ""
	}
	folded := foldGerman(word)
	if english := g.one(folded); english != "" {
		return english
	}
	if len(folded) < compoundLength {
		return ""
	}
	return g.compound(folded, 3)
}

// one looks up a word that is no compound.
func (g *glossary) one(folded string) string {
	if english := g.exact[folded]; english != "" {
		return english
	}
	for _, form := range germanVerbForms(folded) {
		if english := g.exact[form]; english != "" {
			return english
		}
		for _, ending := range germanStemEndings {
			if rest, ok := strings.CutSuffix(form, ending); ok && len(rest) >= 3 && g.exact[rest] != "" {
				return g.exact[rest]
			}
		}
		if english := g.stems[germanStem(form)]; english != "" {
			return english
		}
	}
	return ""
}

// compound divides a word into parts that the glossary has, a long first part before a short one.
func (g *glossary) compound(folded string, parts int) string {
	for at := len(folded) - 3; at >= 3; at-- {
		first := g.compoundPart(folded[:at])
		if first == "" {
			continue
		}
		rest := folded[at:]
		second := g.one(rest)
		if second == "" && parts > 2 && len(rest) >= compoundLength {
			second = g.compound(rest, parts-1)
		}
		if second != "" {
			return first + " " + second
		}
	}
	return ""
}

// compoundPart looks up a first part, which may end in a linking s, n, en, es or er.
func (g *glossary) compoundPart(part string) string {
	if english := g.exact[part]; english != "" {
		return english
	}
	for _, ending := range []string{"en", "n"} { // the stem of a verb: Fahrweg, Wohnraum
		if len(part) >= 3 {
			if english := g.exact[part+ending]; english != "" {
				return english
			}
		}
	}
	for _, link := range []string{"s", "n", "en", "es", "er", "e"} {
		if rest, ok := strings.CutSuffix(part, link); ok && len(rest) >= 3 {
			if english := g.exact[rest]; english != "" {
				return english
			}
		}
	}
	return ""
}

var foldUmlauts = strings.NewReplacer("ä", "a", "ö", "o", "ü", "u", "ß", "ss", "é", "e")

func foldGerman(word string) string { return foldUmlauts.Replace(strings.ToLower(word)) }

// germanVerbPrefixes are those that a verb can lose; ge and zu stand behind them.
var germanVerbPrefixes = []string{"", "ab", "an", "auf", "aus", "bei", "ein", "fest", "her", "hin", "mit", "nach", "um", "unter", "uber", "vor", "weg", "weiter", "wieder", "zu", "zuruck", "zusammen"}

// germanVerbForms are the word and, of participles and infinitives with zu, the verb's own form; ae, oe and ue may be umlauts.
func germanVerbForms(folded string) []string {
	out := []string{folded}
	for _, prefix := range germanVerbPrefixes {
		for _, mid := range []string{"ge", "zu"} {
			if rest, ok := strings.CutPrefix(folded, prefix+mid); ok && len(rest) >= 4 {
				out = append(out, prefix+rest)
			}
		}
	}
	if plain := strings.NewReplacer("ae", "a", "oe", "o", "ue", "u").Replace(folded); plain != folded {
		out = append(out, plain)
	}
	return out
}

// germanStemEndings are those of nouns, verbs and adjectives, longer ones first.
var germanStemEndings = []string{"innen", "esten", "eren", "ern", "ten", "tet", "est", "ste", "end", "en", "er", "es", "em", "te", "et", "st", "e", "n", "s", "t"}

// germanStem cuts one ending off a folded word.
func germanStem(folded string) string {
	for _, ending := range germanStemEndings {
		if rest, ok := strings.CutSuffix(folded, ending); ok && len(rest) >= 3 {
			return rest
		}
	}
	return folded
}
