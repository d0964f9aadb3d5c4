package nlq

import (
	"maps"
	"regexp"
	"slices"
	"strings"

	"interlock/internal/schema"
)

// describedScore is how surely the noun of a description names its column: less than any part of a name.
const describedScore = 0.72

// learnNouns lets columns be called by the nouns of their descriptions: "Our sales representative for the buyer" makes
// rep a sales representative, "Day of delivery" a date the one of delivery. Names of the data stay what they are.
func (x *Index) learnNouns(dict schema.Dictionary) {
	for _, name := range slices.Sorted(maps.Keys(dict.Tables)) {
		for column, said := range dict.Tables[name].Columns {
			c := x.findColumn(name, column)
			if c < 0 || x.columns[c].ref >= 0 || x.columns[c].key || x.columns[c].part {
				continue
			}
			nouns := describedNouns(said)
			if x.columns[c].number {
				nouns = append(nouns, countedNouns(said)...)
			}
			for _, noun := range nouns {
				if x.mayCall(noun) {
					x.columns[c].nouns = append(x.columns[c].nouns, noun)
				}
			}
		}
	}
	for i := range x.columns {
		for _, noun := range x.columns[i].nouns {
			for _, w := range noun {
				x.vocabulary[w], x.named[w] = true, true
			}
		}
	}
}

// mayCall reports whether words may be another name of a column: they say something, and name nothing else.
func (x *Index) mayCall(noun []string) bool {
	if len(noun) == 0 || len(noun) > 3 || x.isName(noun) || len(x.values[strings.Join(noun, " ")]) > 0 {
		return false
	}
	if len(noun) > 1 {
		return true
	}
	w := noun[0]
	return len(w) > 3 && !x.named[w] && !generalNouns[w] && !isGrammar(w) && !harmlessWords[w] && !fillers[w] && !units[w] && x.called[w] == 0 && months[w] == 0
}

// generalNouns say of what kind a column is, and name none.
var generalNouns = wordSet("key day date time year month name number code price cost amount value type kind list place thing part rest sum total share percent size state status text note flag answer line level reference figure unit piece everything somebody someone whatever letter first last true false null")

// describedNouns are the nouns that a description begins with, in base forms: the whole phrase, its last word, and
// `odometer reading` for "Reading of the odometer".
func describedNouns(said string) [][]string {
	end := strings.IndexAny(said+".", ".;:,(=")
	head, rest := nounPhrase(tokenise(strings.ToLower(said[:end])))
	if len(head) == 0 || end < len(said) && said[end] == '=' { // 10 = open
		return nil
	}
	var out [][]string
	last := head[len(head)-1:]
	if len(rest) > 1 && rest[0].lower == "of" {
		if of, _ := nounPhrase(rest[1:]); len(of) > 0 {
			out = append(out, slices.Concat(of, last))
			if whenWords[last[0]] || last[0] == "year" {
				return append(out, of) // the day of delivery
			}
		}
	}
	if len(head) > 1 {
		out = append(out, head)
	}
	return append(out, last)
}

// countedForm are the things that a number counts, in brackets behind what it is: Units ordered (bottles, pieces).
var countedForm = regexp.MustCompile(`^[^.;:=(]*\(((?:\p{L}+s(?:, | or | and )?)+)\)`)

// countedNouns are the things that a description says a number counts.
func countedNouns(said string) [][]string {
	var out [][]string
	if m := countedForm.FindStringSubmatch(said); m != nil {
		for _, t := range tokenise(strings.ToLower(m[1])) {
			if t.lemma != t.lower {
				out = append(out, []string{t.lemma})
			}
		}
	}
	return out
}

// nounPhrase takes the noun with what stands before it off the front of words, and gives what follows.
func nounPhrase(toks []token) (noun []string, rest []token) {
	for i := range toks {
		t := &toks[i]
		switch {
		case len(noun) == 0 && determiners[t.lower]:
		case phraseEnds[t.lower], pastForm(t), t.number, t.quoted:
			return noun, toks[i:]
		default:
			noun = append(noun, t.lemma)
		}
	}
	return noun, nil
}

var (
	determiners = wordSet("a an the our its their this every each all any one")
	phraseEnds  = wordSet("of in on at for from to by with without per and or that which who whom whose where when what how is are was were be has have had we it they as if not no after before since until between than about through under over still can could may must do does did")
)
