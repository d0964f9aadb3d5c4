package meaning

import (
	"fmt"
	"regexp"
	"slices"
	"strings"
	"unicode"

	"interlock/internal/schema"
)

// A word is what a person may write for one thing of a model.
type word struct {
	text    string
	thing   string // the metric "net revenue"
	column  string // of a field, in small letters
	path    string // "" for a table that the model does not describe
	synonym bool
}

// words reports synonyms that are also the name or a synonym of another thing: a question
// with such a word would be read as either.
func (c *checker) words(m Model, path string) {
	known := map[string][]word{}
	var synonyms []word
	for _, w := range c.collectWords(m, path) {
		key := strings.Join(strings.Fields(strings.ReplaceAll(strings.ToLower(w.text), "_", " ")), " ")
		w.text = key
		known[key] = append(known[key], w)
		if w.synonym {
			synonyms = append(synonyms, w)
		}
	}
	for _, w := range synonyms {
		for _, other := range known[w.text] {
			if other.thing == w.thing || w.column != "" && other.column == w.column || other.synonym && c.places.lineOf(other.path) > c.places.lineOf(w.path) {
				continue // the same thing, the same column of another table, or reported at the later place
			}
			what, place := "the name of", ""
			if other.synonym {
				what = "a synonym of"
			}
			if other.path != "" {
				place = fmt.Sprintf(" (line %d, %s)", c.places.lineOf(other.path), other.path)
			}
			c.warn("name-taken", w.path, "take the synonym out of one of them", "the synonym %q of %s is also %s %s%s", w.text, w.thing, what, other.thing, place)
			break
		}
	}
}

// collectWords lists the names and synonyms of a model, and the names of all tables.
func (c *checker) collectWords(m Model, path string) []word {
	var out []word
	add := func(thing, column, at, name string, synonyms ...string) {
		out = append(out, word{text: name, thing: thing, column: column, path: at})
		for i, s := range synonyms {
			out = append(out, word{s, thing, column, fmt.Sprintf("%s.ai_context.synonyms[%d]", at, i), true})
		}
	}
	described := map[string]bool{}
	for i, d := range m.Datasets {
		at, thing := fmt.Sprintf("%s.datasets[%d]", path, i), fmt.Sprintf("the table %q", d.Name)
		if t := c.tables[strings.ToLower(d.Name)]; t != nil {
			described[t.Name] = true
			out = append(out, word{text: t.Name, thing: thing, path: at})
		}
		add(thing, "", at, d.Name, d.Context.Synonyms...)
		for k, f := range d.Fields {
			add(fmt.Sprintf("the field %q", d.Name+"."+f.Name), strings.ToLower(f.Name), fmt.Sprintf("%s.fields[%d]", at, k), f.Name, f.Context.Synonyms...)
		}
	}
	for _, t := range c.dataset.Tables {
		if !described[t.Name] {
			add(fmt.Sprintf("the table %q", t.Name), "", "", t.Name)
		}
	}
	for i, metric := range m.Metrics {
		add(fmt.Sprintf("the metric %q", metric.Name), "", fmt.Sprintf("%s.metrics[%d]", path, i), metric.Name, metric.Context.Synonyms...)
	}
	return out
}

// choices checks the remembered choices. A reading that names nothing of the tables may be a term
// of the dictionary; where it is none, nothing is ever read so.
func (c *checker) choices(list []schema.Choice, path string) {
	names := c.out.Names(c.dataset)
	for i, choice := range list {
		if slices.ContainsFunc(list[:i], choice.Excludes) {
			c.add("name-taken", path, "keep one of them", "there are two choices for %q", choice.Term)
			continue
		}
		c.out.Meaning.Chosen = append(c.out.Meaning.Chosen, choice)
		if !NamesTerm(choice.Reading, names) {
			c.warn("unknown-reading", path, "take the choice out, or name a column, a table or a metric", "the reading %q of the choice for %q names no column, table or metric", choice.Reading, choice.Term)
		}
	}
}

// Names lists what a reading of a question may name: tables, columns, metrics, and the readings of
// terms that are asked about.
func (c *Checked) Names(d schema.Dataset) []string {
	var names []string
	for _, t := range d.Tables {
		names = append(append(names, t.Name), schema.Names(t.Columns)...)
	}
	for _, m := range c.Meaning.Metrics {
		names = append(append(names, m.Name), m.Synonyms...)
	}
	for _, t := range c.Meaning.Ambiguous {
		names = append(names, t.Readings...)
	}
	return names
}

// containsName reports whether plain words have a name among them.
func containsName(words, name string) bool {
	name = plainWords(name)
	return name != "" && strings.Contains(" "+words+" ", " "+name+" ")
}

// NamesTerm reports whether a reading has one of the terms in it.
func NamesTerm(reading string, terms []string) bool {
	return slices.ContainsFunc(terms, func(t string) bool { return containsName(plainWords(reading), t) })
}

// plainWords is a name as words in small letters, without the ends of plurals.
func plainWords(name string) string {
	words := strings.FieldsFunc(strings.ToLower(splitCapitals.ReplaceAllString(name, "$1 $2")), func(r rune) bool { return !unicode.IsLetter(r) && !unicode.IsDigit(r) })
	for i, w := range words {
		words[i] = strings.TrimSuffix(strings.TrimSuffix(w, "s"), "e")
	}
	return strings.Join(words, " ")
}

var splitCapitals = regexp.MustCompile(`(\p{Ll})(\p{Lu})`)
