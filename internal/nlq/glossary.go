package nlq

import (
	"cmp"
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strings"
)

// A term is an entry of the glossary, prepared.
type term struct {
	name  string
	means string         // as it was written
	words string         // what may stand for it in a question; "" where it is no such thing
	found *regexp.Regexp // where the name occurs
}

// maxMeaning is how many words may stand for a term.
const maxMeaning = 15

// prepareTerms prepares a glossary, the longest names first. A term that is the name of a
// table or column needs no explanation.
func (x *Index) prepareTerms(glossary map[string]string) []term {
	var out []term
	for _, name := range slices.Sorted(maps.Keys(glossary)) {
		ws := splitIdentifier(name)
		if len(ws) == 0 || x.isName(ws) {
			continue
		}
		t := term{name: name, means: glossary[name], found: regexp.MustCompile(`(?i)\b` + regexp.QuoteMeta(name) + `(s|es)?\b`)}
		plain := strings.TrimSuffix(strings.TrimSpace(t.means), ".")
		for _, article := range []string{"a ", "an ", "the "} {
			if rest, ok := strings.CutPrefix(strings.ToLower(plain), article); ok {
				plain = plain[len(plain)-len(rest):]
			}
		}
		if len(strings.Fields(plain)) <= maxMeaning && !strings.ContainsAny(plain, ",;:()") && !strings.Contains(plain, ". ") {
			t.words = plain
		}
		out = append(out, t)
	}
	slices.SortStableFunc(out, func(a, b term) int { return cmp.Compare(len(b.name), len(a.name)) })
	return out
}

// isName reports whether words are the whole name of a table or column.
func (x *Index) isName(ws []string) bool {
	return slices.ContainsFunc(x.tables, func(t table) bool { return slices.Equal(t.words, ws) }) ||
		slices.ContainsFunc(x.columns, func(c column) bool { return slices.Equal(c.words, ws) })
}

// explainTerms puts what the glossary says in the place of its terms, and notes it.
func (x *Index) explainTerms(text string) (string, []Word) {
	var notes []Word
	for _, t := range x.glossary {
		if t.words != "" && t.found.MatchString(text) {
			text = t.found.ReplaceAllLiteralString(text, t.words)
			notes = append(notes, Word{t.name, fmt.Sprintf("%s, by the glossary", t.words)})
		}
	}
	return text, notes
}

// findUnexplained finds a term in a question whose meaning is too much for one query.
func (x *Index) findUnexplained(text string) string {
	for _, t := range x.glossary {
		if t.words == "" && t.found.MatchString(text) {
			return fmt.Sprintf("%q has a meaning of its own here (%s), which is more than I can put into a query", t.name, strings.TrimSuffix(t.means, "."))
		}
	}
	return ""
}

// refuseTerm says why a term is not computed: which part of its definition is not read.
func (x *Index) refuseTerm(name string) string {
	said := strings.TrimSuffix(strings.TrimSpace(x.meanings[name]), ".")
	part := ""
	if unread := x.unread[name]; unread != "" && unread != said {
		part = fmt.Sprintf(", of which I do not read %q", unread)
	}
	return fmt.Sprintf("%q has a meaning of its own here (%s)%s, so that I cannot compute it: write it as sentences such as `Sum of x over y with z. Cancelled y do not count`, or add a metric to the semantic model", name, said, part)
}

// definedWords are the words by which the glossary and the semantic model define terms of a text,
// and the terms of those definitions.
func (x *Index) definedWords(text string) []token {
	var out []token
	for range 2 {
		found := text
		for name, means := range x.meanings {
			if containsTerm(text, name) {
				found += " " + means
			}
		}
		if x.schema.Meaning != nil {
			for _, m := range x.schema.Meaning.Metrics {
				if slices.ContainsFunc(append([]string{m.Name}, m.Synonyms...), func(name string) bool { return containsTerm(text, name) }) {
					found += " " + m.Description + " " + m.Expression
				}
			}
		}
		out = tokenise(found[len(text):])
		text = found
	}
	return out
}

// containsTerm reports whether a text has a term in it, in the singular or the plural.
func containsTerm(text, name string) bool {
	words := strings.Join(splitIdentifier(name), " ")
	return words != "" && regexp.MustCompile(`(?i)\b`+regexp.QuoteMeta(words)+`(s|es)?\b`).MatchString(strings.ReplaceAll(text, "_", " "))
}
