package nlq

import (
	"slices"
	"strings"
	"time"

	"interlock/internal/schema"
)

// Learned is what the dictionary and the values of a dataset say about its meaning: the
// ground of a draft of its semantic model.
type Learned struct {
	Today     string // "" where nothing says it
	MainDates []LearnedColumn
	Unknown   []LearnedColumn // columns in which 0 means unknown
	Spellings []LearnedColumn // columns whose values differ in case only
	Same      []LearnedSame
	Metrics   []LearnedMetric
	Sentences []string // terms that sentences of the glossary compute and no metric can
	Undefined []string // terms whose sentences are not understood
}

// A LearnedColumn is a column with what speaks for it.
type LearnedColumn struct {
	Table, Column, Because string
}

// A LearnedSame is values of a column that are spelt in several ways.
type LearnedSame struct {
	Table, Column string
	Same          schema.SameValue
}

// A LearnedMetric is a sentence of the glossary as an expression.
type LearnedMetric struct {
	schema.Metric
	Because string
}

// Learned gives what was learned, in the order of tables and columns.
func (x *Index) Learned() Learned {
	var out Learned
	if !x.today.IsZero() {
		out.Today = x.today.Format(time.DateOnly)
	}
	for t := range x.tables {
		x.learnedDates(&out, t)
		for _, c := range x.tables[t].columns {
			x.learnedValues(&out, c)
		}
	}
	for _, d := range x.definitions {
		text := ""
		if d.isMeasure() {
			text = x.definitionText(d)
		}
		if text == "" {
			out.Sentences = append(out.Sentences, d.name)
			continue
		}
		out.Metrics = append(out.Metrics, LearnedMetric{schema.Metric{Name: d.name, Expression: text, Description: d.text, Table: x.tableName(d.base)}, "the glossary: " + d.text})
	}
	out.Undefined = slices.Clone(x.undefined)
	return out
}

func (x *Index) learnedDates(out *Learned, t int) {
	d := x.mainDate(t)
	if d < 0 {
		return
	}
	because := "the date of these rows by its name"
	if _, said := x.mainDates[t]; said {
		because = "the dictionary says that rows count by it"
	} else if n := len(slices.DeleteFunc(slices.Clone(x.tables[t].columns), func(c int) bool { return !x.columns[c].date })); n == 1 {
		because = "the only date of the table"
	}
	out.MainDates = append(out.MainDates, LearnedColumn{x.tableName(t), x.columns[d].name, because})
}

func (x *Index) learnedValues(out *Learned, c int) {
	table, name := x.tableName(x.columns[c].table), x.columns[c].name
	if x.sentinels[c] {
		out.Unknown = append(out.Unknown, LearnedColumn{table, name, "the dictionary says what 0 means"})
	}
	forms := map[string][]string{} // by spelling in small letters
	for _, refs := range x.values {
		for _, r := range refs {
			if r.column == c {
				forms[normaliseValue(r.value)] = append(forms[normaliseValue(r.value)], r.value)
			}
		}
	}
	keys := make([]string, 0, len(forms))
	for k := range forms {
		keys = append(keys, k)
	}
	slices.Sort(keys)
	folded := ""
	for _, k := range keys {
		slices.Sort(forms[k])
		list := slices.CompactFunc(slices.Clone(forms[k]), strings.EqualFold)
		if len(list) < len(forms[k]) && folded == "" {
			folded = "there are " + quoteAll(forms[k][:min(3, len(forms[k]))])
		}
		if len(list) > 1 && x.distinct[c] <= maxEnumerated {
			out.Same = append(out.Same, LearnedSame{table, name, schema.SameValue{Value: list[0], Spellings: list[1:]}})
		}
	}
	if x.folded[c] && folded != "" {
		out.Spellings = append(out.Spellings, LearnedColumn{table, name, folded})
	}
}

// maxEnumerated is how many values a column may have whose spellings are compared.
const maxEnumerated = 200
