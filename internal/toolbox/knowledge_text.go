package toolbox

import (
	"cmp"
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"
	"unicode"

	"interlock/internal/nlq"
	"interlock/internal/queryplan"
	"interlock/internal/schema"
)

// Bounds of what a model reads of one column.
const (
	listedValues = 30  // values of a column that are all listed
	listedChars  = 240 // bytes of that list
	exampleCount = 3   // values of a longer list that are shown
	valueChars   = 40  // bytes of one value
	textChars    = 400 // bytes of one description
)

// A Description is a dataset in words, as models read it.
type Description struct {
	DatasetID string `json:"dataset_id"`
	// About is the text: tables, columns with types, values, ranges and meaning, relations,
	// terms.
	About string `json:"about"`
	// Complete says that all tables are described; else the rest is listed by name.
	Complete bool `json:"complete"`
}

// Describe writes what is known about a dataset in at most so many bytes. Where that is not
// enough for all tables, those that fit the question come first, and the rest by name.
func (k *Knowledge) Describe(ctx context.Context, dataset, dictionary, question string, budget int) (Description, error) {
	known, err := k.load(ctx, dataset, dictionary)
	if err != nil {
		return Description{}, err
	}
	w := describer{known: known, ranges: known.loadRanges(ctx, k.data), relations: relationsOf(known.schema)}
	head, tail := w.opening(), w.terms()
	parts := make([]string, len(known.schema.Tables))
	size := len(head) + len(tail)
	for i, t := range known.schema.Tables {
		parts[i] = w.table(t)
		size += len(parts[i])
	}
	out := Description{DatasetID: known.schema.ID, Complete: size <= budget}
	if !out.Complete {
		parts = w.fitting(parts, question, budget-len(head)-len(tail))
	}
	out.About = strings.TrimSpace(head + strings.Join(parts, "") + tail)
	return out, nil
}

// relationsOf gives the declared relations, then those that the names of columns show.
func relationsOf(d schema.Dataset) []schema.Relation {
	return append(slices.Clone(d.Relations), queryplan.Discover(d)...)
}

// A describer writes the description of one dataset.
type describer struct {
	known     *datasetKnowledge
	ranges    map[columnName]columnRange
	relations []schema.Relation
}

// opening names the dataset and says where its days end.
func (w describer) opening() string {
	d := w.known.schema
	var b strings.Builder
	fmt.Fprintf(&b, "Dataset `%s`", d.ID)
	if d.Name != "" && d.Name != d.ID {
		fmt.Fprintf(&b, ", %s", oneLine(d.Name, valueChars))
	}
	if d.Description != "" {
		b.WriteString(": " + oneLine(d.Description, textChars))
	}
	b.WriteString("\n")
	if d.Dialect != "" {
		fmt.Fprintf(&b, "The tables stay in a database of their own: write SQL in the dialect %s.\n", d.Dialect)
	}
	if !d.CopiedAt.IsZero() {
		fmt.Fprintf(&b, "The rows were copied from their database on %s.\n", d.CopiedAt.UTC().Format("2006-01-02 15:04 UTC"))
	}
	if last := w.lastDay(); last != "" {
		fmt.Fprintf(&b, "Most columns of days end about %s.\n", last)
	}
	return b.String() + "\n"
}

// lastDay finds the day about which most columns of days end. Deadlines and contracts reach
// further and births end earlier, so one column alone says nothing.
func (w describer) lastDay() string {
	const near = 7 * 24 * time.Hour
	var ends []time.Time
	for _, r := range w.ranges {
		if day, err := time.Parse(time.DateOnly, r.max[:min(10, len(r.max))]); r.days && err == nil {
			ends = append(ends, day)
		}
	}
	slices.SortFunc(ends, time.Time.Compare)
	best, at := 1, time.Time{}
	for i, first := range ends {
		n := 0
		for _, day := range ends[i:] {
			if day.Sub(first) <= near {
				n++
			}
		}
		if n > best {
			best, at = n, ends[i+(n-1)/2]
		}
	}
	if at.IsZero() {
		return ""
	}
	return at.Format(time.DateOnly)
}

// table describes a table: what it holds, then a line for each column.
func (w describer) table(t schema.Table) string {
	var b strings.Builder
	fmt.Fprintf(&b, "## %s", t.Name)
	if t.Rows >= 0 {
		fmt.Fprintf(&b, " (%s rows)", groupThousands(t.Rows))
	}
	if text := cmp.Or(w.known.dict.Tables[t.Name].Text, t.Description); text != "" {
		b.WriteString(": " + oneLine(text, textChars))
	}
	b.WriteString("\n")
	for _, c := range t.Columns {
		b.WriteString(w.column(t, c))
	}
	for _, n := range t.Notes[:min(maxNotes, len(t.Notes))] {
		b.WriteString("Note of the import: " + oneLine(n.Line(), textChars) + "\n")
	}
	return b.String() + "\n"
}

// column writes one line: name, type, key or reference, values or range, how many are NULL,
// and the meaning unless it only repeats what stands there already.
func (w describer) column(t schema.Table, c schema.Column) string {
	line := "- " + c.Name + " " + c.Type.String()
	key := len(t.Key) == 1 && slices.Contains(t.Key, c.Name)
	if slices.Contains(t.Key, c.Name) {
		line += ", key"
	}
	values := ""
	r := slices.IndexFunc(w.relations, func(r schema.Relation) bool {
		return strings.EqualFold(r.Table, t.Name) && strings.EqualFold(r.Column, c.Name)
	})
	if r >= 0 { // the values are those of the other table
		line += ", refers to " + w.relations[r].RefTable + "." + w.relations[r].RefColumn
	} else if values = w.columnValues(t, c, key); values != "" {
		line += ", " + values
	}
	if nulls := w.ranges[columnName{t.Name, c.Name}].nulls; nulls > 0 {
		line += fmt.Sprintf(", %s of them NULL", groupThousands(nulls))
	}
	if text := w.known.dict.Tables[t.Name].Columns[c.Name]; !repeats(text, c.Name+" "+line+" "+values) {
		line += ": " + oneLine(text, textChars)
	}
	return line + "\n"
}

// columnValues says which values a column has: all of a few, examples of many, or the range.
// Of a key it shows the form of the values, if that is no number.
func (w describer) columnValues(t schema.Table, c schema.Column, key bool) string {
	if r := w.ranges[columnName{t.Name, c.Name}]; r.min != "" {
		if key && !r.days {
			return ""
		}
		return r.min + " to " + r.max
	}
	i := slices.IndexFunc(w.known.values, func(v nlq.ColumnValues) bool { return v.Table == t.Name && v.Column == c.Name })
	if i < 0 || len(w.known.values[i].Values) == 0 {
		return ""
	}
	v := w.known.values[i]
	if v.Complete && len(v.Values) <= listedValues {
		if list := quoteValues(v.Values); len(list) <= listedChars {
			return "one of " + list
		}
	}
	if key {
		return "such as " + quoteValues(v.Values[:1])
	}
	text := "e.g. " + quoteValues(v.Values[:min(exampleCount, len(v.Values))])
	if v.Complete {
		text += fmt.Sprintf(" (%s values)", groupThousands(int64(len(v.Values))))
	}
	if unknown := slices.DeleteFunc(slices.Clone(v.Values), func(s string) bool { return !meansUnknown(s) }); len(unknown) > 0 {
		text += ", also " + quoteValues(unknown[:min(exampleCount, len(unknown))])
	}
	return text
}

// fillerWords are words of a description that say nothing by themselves.
var fillerWords = []string{"a", "an", "and", "die", "das", "der", "of", "or", "the", "und", "oder"}

// repeats reports whether a description has no word beside those that were said already.
func repeats(text, said string) bool {
	split := func(s string) []string {
		return strings.FieldsFunc(strings.ToLower(s), func(r rune) bool { return !unicode.IsLetter(r) && !unicode.IsDigit(r) })
	}
	known := split(said)
	return !slices.ContainsFunc(split(text), func(word string) bool {
		return !slices.Contains(known, word) && !slices.Contains(fillerWords, word)
	})
}

// meansUnknown says whether a text stands where a value is not known.
func meansUnknown(value string) bool {
	switch strings.ToLower(strings.TrimSpace(value)) {
	case "", "-", "?", "n/a", "na", "n.a.", "null", "none", "unknown", "unbekannt", "not known", "tbd":
		return true
	}
	return false
}

// terms lists what the semantic model declares, then the glossary.
func (w describer) terms() string {
	var b strings.Builder
	if text := w.known.schema.Meaning.Text(); text != "" {
		b.WriteString("## Meaning\nThe people of this data declared it; a query plan may name a metric, as {\"metric\": \"name\"}.\n" + text + "\n")
	}
	if len(w.known.dict.Glossary) == 0 {
		return b.String()
	}
	b.WriteString("## Terms\nThey mean what stands here, whatever they mean elsewhere.\n")
	for _, term := range slices.Sorted(maps.Keys(w.known.dict.Glossary)) {
		fmt.Fprintf(&b, "- %s: %s\n", oneLine(term, textChars), oneLine(w.known.dict.Glossary[term], textChars))
	}
	return b.String()
}

// fitting keeps the tables that fit the question best, as many as the budget allows, and
// names the others.
func (w describer) fitting(parts []string, question string, budget int) []string {
	tables := w.known.schema.Tables
	order := make([]int, len(tables))
	for i := range order {
		order[i] = i
	}
	words := wordsOf(question)
	scores := make([]int, len(tables))
	for i := range tables {
		scores[i] = countWords(words, parts[i])
	}
	slices.SortStableFunc(order, func(a, b int) int { return scores[b] - scores[a] })
	kept := make([]string, 0, len(parts))
	var others []string
	for _, i := range order {
		if len(parts[i]) <= budget {
			budget -= len(parts[i])
			kept = append(kept, parts[i])
			continue
		}
		others = append(others, tables[i].Name)
	}
	if len(others) > 0 {
		kept = append(kept, fmt.Sprintf("## %d more tables, which `get_dataset_schema` describes\n%s\n\n", len(others), oneLine(strings.Join(others, ", "), max(budget, 1000))))
	}
	return kept
}

// wordsOf splits a text into words of more than two letters, in lower case.
func wordsOf(text string) []string {
	return slices.DeleteFunc(strings.FieldsFunc(strings.ToLower(text), func(r rune) bool { return !unicode.IsLetter(r) && !unicode.IsDigit(r) }),
		func(w string) bool { return len(w) < 3 })
}

// countWords counts the words, or their stems, that occur in a text.
func countWords(words []string, text string) int {
	text, n := strings.ToLower(text), 0
	for _, w := range words {
		if strings.Contains(text, strings.TrimRight(w, "se")) {
			n++
		}
	}
	return n
}

// quoteValues writes values as SQL would, so that their spelling is beyond doubt.
func quoteValues(values []string) string {
	out := make([]string, len(values))
	for i, v := range values {
		out[i] = "'" + strings.ReplaceAll(oneLine(v, valueChars), "'", "''") + "'"
	}
	return strings.Join(out, ", ")
}

// oneLine puts a text that comes from outside on one line of at most n bytes.
func oneLine(text string, n int) string {
	text = strings.Join(strings.FieldsFunc(text, func(r rune) bool { return unicode.IsControl(r) }), " ")
	if len(text) > n {
		return strings.ToValidUTF8(text[:n], "") + "…"
	}
	return text
}

// groupThousands writes 4312 as 4,312.
func groupThousands(n int64) string {
	text := fmt.Sprint(n)
	for i := len(text) - 3; i > 0; i -= 3 {
		text = text[:i] + "," + text[i:]
	}
	return text
}
